//===- ops.h - the simulated TTNN library as C++ functions --------*- C++ -*-===//
//
// One function per op, for programs that call the library themselves:
//
//   auto device = tt::runtime::openMeshDevice();
//   auto x = ttnn::to_device(ttnn::full({32, 32}, 2.0), device);
//   auto y = ttnn::relu(ttnn::matmul(x, x));
//
// Each is a thin caller of `invoke`, which keeps the kernels it made and uses
// them again for equal operands and attributes. Operands and attributes come in
// the order of the dialect. All throw the errors of tt/types.h. Safe for
// threads; calls of one kernel follow one another.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/ttnn/kernel.h"
#include "tt/ttnn/tensor.h"

namespace tt::ttnn {

/// What the result shall be; what is not set is as in operand 0.
struct Output {
  std::optional<DataType> dtype;
  std::optional<MemoryConfig> memory;
  std::optional<Layout> layout;
};
using Device = std::shared_ptr<sim::MeshDevice>;

/// Runs an op with one result of the given shape (of each shard). An empty tensor is an absent operand. The result lies
/// on the device of the operands, or on the host. `distributed`: one shard per device; by default as the operands.
Tensor invoke(std::string_view op, std::span<const Tensor> operands, std::vector<NamedAttribute> attributes,
              const Shape &shape, const Output &output = {}, std::optional<bool> distributed = std::nullopt);
/// Kernels kept for later calls.
size_t cachedKernels();
void clearKernelCache();

//===- Elementwise ----------------------------------------------------------===//

// clang-format off: it does not settle on a layout of these lists
#define TTNN_UNARY_OPS(X)                                                                                              \
  X(abs) X(acos) X(asin) X(asinh) X(assign) X(atan) X(bitwise_not) X(cbrt) X(ceil) X(cos) X(erf) X(erfc) X(exp)        \
  X(expm1) X(floor) X(gelu) X(hardsigmoid) X(isfinite) X(log) X(log1p) X(logical_not) X(mish) X(neg) X(reciprocal)     \
  X(relu) X(relu6) X(rsqrt) X(sigmoid) X(sign) X(silu) X(sin) X(sqrt) X(tan) X(tanh)
#define TTNN_BINARY_OPS(X)                                                                                             \
  X(add) X(atan2) X(bitwise_and) X(bitwise_or) X(bitwise_xor) X(divide) X(eq) X(ge) X(gt) X(le) X(logical_and)         \
  X(logical_left_shift) X(logical_or) X(logical_right_shift) X(logical_xor) X(lt) X(maximum) X(minimum) X(multiply)    \
  X(ne) X(pow_tensor) X(remainder) X(subtract)
// clang-format on

#define TTNN_DECLARE_UNARY(name) Tensor name(const Tensor &input, const Output &output = {});
#define TTNN_DECLARE_BINARY(name) Tensor name(const Tensor &lhs, const Tensor &rhs, const Output &output = {});
TTNN_UNARY_OPS(TTNN_DECLARE_UNARY)
TTNN_BINARY_OPS(TTNN_DECLARE_BINARY)
#undef TTNN_DECLARE_UNARY
#undef TTNN_DECLARE_BINARY

Tensor leaky_relu(const Tensor &input, double parameter, const Output &output = {});
Tensor clamp_scalar(const Tensor &input, double min, double max, const Output &output = {});
Tensor clamp_tensor(const Tensor &input, const Tensor &min, const Tensor &max, const Output &output = {});
Tensor pow_scalar(const Tensor &lhs, double rhs, const Output &output = {});
Tensor gelu_bw(const Tensor &lhs, const Tensor &rhs, const std::string &approximate = "none",
               const Output &output = {});
/// The data type is that of `second`.
Tensor where(const Tensor &first, const Tensor &second, const Tensor &third, const Output &output = {});
Tensor typecast(const Tensor &input, DataType dtype);

//===- Reductions -----------------------------------------------------------===//

/// No dims: all of them.
using Dims = std::vector<int64_t>;
Tensor sum(const Tensor &input, bool keepDim, const Dims &dims = {}, const Output &output = {});
Tensor mean(const Tensor &input, bool keepDim, const Dims &dims = {}, const Output &output = {});
Tensor max(const Tensor &input, bool keepDim, const Dims &dims = {}, const Output &output = {});
Tensor min(const Tensor &input, bool keepDim, const Dims &dims = {}, const Output &output = {});
Tensor prod(const Tensor &input, bool keepDim, std::optional<int64_t> dim = {}, const Output &output = {});
/// Indices are UInt32 unless `output` says otherwise.
Tensor argmax(const Tensor &input, std::optional<int64_t> dim = {}, bool keepDim = false, const Output &output = {});

//===- Products, windows ------------------------------------------------------===//

struct MatmulOptions {
  bool transposeA = false, transposeB = false;
  std::string activation; // a unary elementwise op
};
Tensor matmul(const Tensor &a, const Tensor &b, const MatmulOptions &options = {}, const Output &output = {});
Tensor linear(const Tensor &a, const Tensor &b, const Tensor &bias, const MatmulOptions &options = {},
              const Output &output = {});

/// Images are [1, 1, batch * height * width, channels].
struct WindowOptions {
  int64_t batch = 1, height = 1, width = 1;
  Dims kernel = {1, 1}, stride = {1, 1}, padding = {0, 0}, dilation = {1, 1}; // padding: 2, or top, bottom, left, right
};
Tensor conv2d(const Tensor &input, const Tensor &weight, const Tensor &bias, const WindowOptions &window,
              int64_t groups = 1, const std::string &activation = {}, const Output &output = {});
Tensor max_pool2d(const Tensor &input, const WindowOptions &window, bool ceilMode = false, const Output &output = {});
Tensor avg_pool2d(const Tensor &input, const WindowOptions &window, bool ceilMode = false, bool countIncludePad = true,
                  const Output &output = {});
Tensor global_avg_pool2d(const Tensor &input, const Output &output = {});

//===- Normalization ----------------------------------------------------------===//

Tensor softmax(const Tensor &input, int64_t dimension, bool numericStable = false, const Output &output = {});
/// runningMean and runningVar are updated in place.
Tensor batch_norm_training(const Tensor &input, const Tensor &runningMean, const Tensor &runningVar,
                           const Tensor &weight = {}, const Tensor &bias = {}, double epsilon = 1e-5,
                           double momentum = 0.1, const Output &output = {});
Tensor batch_norm_inference(const Tensor &input, const Tensor &runningMean, const Tensor &runningVar,
                            const Tensor &weight = {}, const Tensor &bias = {}, double epsilon = 1e-5,
                            const Output &output = {});
Tensor layer_norm(const Tensor &input, const Tensor &weight = {}, const Tensor &bias = {}, double epsilon = 1e-12,
                  const Output &output = {});
Tensor rms_norm(const Tensor &input, const Tensor &weight = {}, const Tensor &bias = {}, double epsilon = 1e-12,
                const Output &output = {});

//===- Data movement ------------------------------------------------------------===//

Tensor reshape(const Tensor &input, const Shape &shape, const Output &output = {});
Tensor permute(const Tensor &input, const Dims &permutation, const Output &output = {});
Tensor transpose(const Tensor &input, int64_t dim0, int64_t dim1, const Output &output = {});
Tensor slice_static(const Tensor &input, const Dims &begins, const Dims &ends, const Dims &step,
                    const Output &output = {});
Tensor repeat(const Tensor &input, const Dims &repeatDims, const Output &output = {});
Tensor repeat_interleave(const Tensor &input, int64_t repeats, int64_t dim, const Output &output = {});
Tensor concat(std::span<const Tensor> inputs, int64_t dim, const Output &output = {});
/// padding: low and high of each dimension.
Tensor pad(const Tensor &input, const Dims &padding, double value = 0, const Output &output = {});

//===- Creation, on the host; f32 unless `output` says otherwise ------------------===//

Tensor zeros(const Shape &shape, const Output &output = {});
Tensor ones(const Shape &shape, const Output &output = {});
Tensor empty(const Shape &shape, const Output &output = {});
Tensor full(const Shape &shape, double value, const Output &output = {});
Tensor arange(int64_t start, int64_t end, int64_t step = 1, const Output &output = {});
Tensor rand(const Shape &size, double low = 0, double high = 1, uint32_t seed = 0, const Output &output = {});

//===- Layouts and memories ---------------------------------------------------------===//

Tensor to_layout(const Tensor &input, Layout layout, std::optional<DataType> dtype = {});
Tensor to_memory_config(const Tensor &input, const MemoryConfig &memory);
Tensor to_device(const Tensor &input, const Device &device, std::optional<MemoryConfig> memory = {});
Tensor from_device(const Tensor &input);
void deallocate(Tensor &input, bool force = false);

//===- The mesh ------------------------------------------------------------------------===//

/// What a mesh axis does: cuts a dimension, or copies.
using Placement = std::optional<int64_t>;
Tensor distribute_tensor(const Tensor &input, const Device &device, const std::vector<Placement> &placements);
/// A negative dimension is an axis along which the shards are the same.
Tensor aggregate_tensor(const Tensor &input, const Dims &dims);
enum class ReduceType : int64_t { Sum = 0, Mean = 1, Max = 2, Min = 3, Prod = 6 };
Tensor all_gather(const Tensor &input, int64_t dim, int64_t clusterAxis, const Output &output = {});
Tensor all_reduce(const Tensor &input, ReduceType type, int64_t clusterAxis, const Output &output = {});
Tensor reduce_scatter(const Tensor &input, ReduceType type, int64_t scatterDim, int64_t clusterAxis,
                      const Output &output = {});
Tensor mesh_partition(const Tensor &input, int64_t dim, std::optional<int64_t> clusterAxis = {},
                      const Output &output = {});

} // namespace tt::ttnn
