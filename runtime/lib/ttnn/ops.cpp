//===- ops.cpp - the simulated TTNN library as C++ functions ----------------===//
//
// Shapes of results, and one call of `invoke` each. What is wrong with operands
// or attributes is for the kernels to say; the shape functions only keep within
// bounds.
//
//===----------------------------------------------------------------------===//

#include "tt/ttnn/ops.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tt::ttnn {
namespace {

using Named = std::vector<NamedAttribute>;

Attribute enumOf(std::string type, std::string symbol, int64_t value) {
  return {EnumAttribute{std::move(type), std::move(symbol), value}};
}

size_t wrap(std::string_view op, int64_t dim, size_t rank) {
  const auto r = static_cast<int64_t>(rank);
  if (dim < -r || dim >= r)
    throw OpError(std::string(op) + ": dimension " + std::to_string(dim) + " of a tensor of rank " + std::to_string(r));
  return static_cast<size_t>(dim < 0 ? dim + r : dim);
}

Shape broadcast(std::initializer_list<const Tensor *> operands) {
  Shape shape;
  for (const Tensor *operand : operands) {
    const Shape &from = operand->shape();
    if (from.size() > shape.size())
      shape.insert(shape.begin(), from.size() - shape.size(), 1);
    for (size_t d = 0; d < from.size(); ++d) {
      int64_t &size = shape[d + shape.size() - from.size()];
      size = size == 1 ? from[d] : size;
    }
  }
  return shape;
}

/// An integer where the value is one, so that integer tensors stay integers.
Attribute number(double value) {
  if (std::trunc(value) == value && std::fabs(value) < 0x1p53)
    return {static_cast<int64_t>(value)};
  return {value};
}

Tensor one(std::string_view op, const Tensor &input, Named attributes, const Shape &shape, const Output &output) {
  return invoke(op, {&input, 1}, std::move(attributes), shape, output);
}

Tensor reduce(std::string_view op, const Tensor &input, bool keep, const Dims &dims, const Output &output,
              Named attributes) {
  std::vector<bool> reduced(input.shape().size(), dims.empty());
  for (int64_t dim : dims)
    reduced[wrap(op, dim, reduced.size())] = true;
  Shape shape;
  for (size_t d = 0; d < reduced.size(); ++d)
    if (!reduced[d])
      shape.push_back(input.shape()[d]);
    else if (keep)
      shape.push_back(1);
  attributes.push_back({"keep_dim", {keep}});
  return one(op, input, std::move(attributes), shape, output);
}

Tensor reduceSeveral(std::string_view op, const Tensor &input, bool keep, const Dims &dims, const Output &output) {
  return reduce(op, input, keep, dims, output, dims.empty() ? Named() : Named{{"dim_arg", {dims}}});
}

Tensor product(std::string_view op, std::span<const Tensor> operands, const MatmulOptions &options,
               const Output &output) {
  Shape a = operands[0].shape(), b = operands[1].shape();
  if (a.empty() || b.empty())
    throw OpError(std::string(op) + ": operands have shapes " + toString(a) + " and " + toString(b) +
                  "; expected at least one dimension");
  const bool vectorA = a.size() == 1, vectorB = b.size() == 1;
  if (vectorA)
    a.insert(a.begin(), 1);
  if (vectorB)
    b.push_back(1);
  const int64_t m = a[a.size() - (options.transposeA && !vectorA ? 1 : 2)];
  const int64_t n = b[b.size() - (options.transposeB && !vectorB ? 2 : 1)];
  a.resize(a.size() - 2);
  b.resize(b.size() - 2);
  Shape shape(std::max(a.size(), b.size()), 1);
  for (const Shape *batch : {&a, &b})
    for (size_t d = 0; d < batch->size(); ++d) {
      int64_t &size = shape[d + shape.size() - batch->size()];
      size = size == 1 ? (*batch)[d] : size;
    }
  if (!vectorA)
    shape.push_back(m);
  if (!vectorB)
    shape.push_back(n);
  Named attributes = {{"transpose_a", {options.transposeA}}, {"transpose_b", {options.transposeB}}};
  if (!options.activation.empty())
    attributes.push_back({"activation", {options.activation}});
  return invoke(op, operands, std::move(attributes), shape, output);
}

Named windowAttributes(const WindowOptions &window) {
  return {{"batch_size", {window.batch}},   {"input_height", {window.height}}, {"input_width", {window.width}},
          {"kernel_size", {window.kernel}}, {"stride", {window.stride}},       {"padding", {window.padding}},
          {"dilation", {window.dilation}}};
}

Shape windowShape(std::string_view op, const WindowOptions &window, int64_t channels, bool ceil) {
  const bool four = window.padding.size() == 4;
  bool bad = (!four && window.padding.size() != 2) || window.batch < 0;
  int64_t rows = window.batch;
  for (size_t d = 0; d < 2; ++d) {
    bad |= window.kernel.size() != 2 || window.stride.size() != 2 || window.dilation.size() != 2;
    if (bad || window.kernel[d] < 1 || window.stride[d] < 1 || window.dilation[d] < 1)
      throw OpError(std::string(op) + ": kernel, stride and dilation need two positive sizes, padding two or four");
    const int64_t size = d == 0 ? window.height : window.width, low = window.padding[four ? 2 * d : d];
    const int64_t room =
        size + low + (four ? window.padding[2 * d + 1] : low) - window.dilation[d] * (window.kernel[d] - 1) - 1;
    int64_t count = room < 0 ? 0 : (room + (ceil ? window.stride[d] - 1 : 0)) / window.stride[d] + 1;
    if (ceil && (count - 1) * window.stride[d] >= size + low)
      --count;
    rows = volume({rows, std::max<int64_t>(count, 0)});
  }
  return {1, 1, rows, channels};
}

int64_t lastOf(const Tensor &tensor) { return tensor.shape().empty() ? 1 : tensor.shape().back(); }

Tensor pool(std::string_view op, const Tensor &input, const WindowOptions &window, bool ceil, Named more,
            const Output &output) {
  Named attributes = windowAttributes(window);
  attributes.push_back({"channels", {lastOf(input)}});
  attributes.push_back({"ceil_mode", {ceil}});
  std::ranges::move(more, std::back_inserter(attributes));
  return one(op, input, std::move(attributes), windowShape(op, window, lastOf(input), ceil), output);
}

Output created(const Output &output) {
  Output result = output;
  result.dtype = output.dtype.value_or(DataType::Float32);
  return result;
}

/// The tensor with its values on a device, in other memory, or described anew.
Tensor moved(const Tensor &input, TensorSpec spec, const Device &device, const std::string &label) {
  std::vector<std::shared_ptr<std::byte>> shards;
  for (size_t i = 0; i < input.shards(); ++i)
    shards.push_back(input.share(i));
  spec.distributed = input.shards() > 1;
  if (!device)
    return Tensor::fromShards(spec, std::move(shards), input.meshShape());
  auto allocation = device->allocate(sim::footprint(device->chip(), spec), label);
  return Tensor::onDevice(spec, std::move(shards), device, std::move(allocation));
}

int64_t clusterSize(std::string_view op, const Tensor &input, int64_t axis) {
  const auto &mesh = input.device() ? input.device()->meshShape() : input.meshShape();
  if (axis < 0 || axis > 1)
    throw OpError(std::string(op) + ": cluster axis " + std::to_string(axis) + "; expected 0 (rows vary) or 1");
  return mesh.size() == 2 ? mesh[static_cast<size_t>(axis)] : 1;
}

Attribute reduceAttribute(ReduceType type) {
  constexpr std::string_view names[] = {"sum", "mean", "max", "min", "std", "var", "prod"};
  const auto value = static_cast<int64_t>(type);
  return enumOf("ttcore.reduce_type", std::string(value < 7 && value >= 0 ? names[value] : "invalid"), value);
}

} // namespace

//===- Elementwise ----------------------------------------------------------===//

#define TTNN_DEFINE_UNARY(name)                                                                                        \
  Tensor name(const Tensor &input, const Output &output) {                                                             \
    return one("ttnn." #name, input, {}, input.shape(), output);                                                       \
  }
#define TTNN_DEFINE_BINARY(name)                                                                                       \
  Tensor name(const Tensor &lhs, const Tensor &rhs, const Output &output) {                                            \
    return invoke("ttnn." #name, std::array{lhs, rhs}, {}, broadcast({&lhs, &rhs}), output);                           \
  }
TTNN_UNARY_OPS(TTNN_DEFINE_UNARY)
TTNN_BINARY_OPS(TTNN_DEFINE_BINARY)
#undef TTNN_DEFINE_UNARY
#undef TTNN_DEFINE_BINARY

Tensor leaky_relu(const Tensor &input, double parameter, const Output &output) {
  return one("ttnn.leaky_relu", input, {{"parameter", {parameter}}}, input.shape(), output);
}
Tensor clamp_scalar(const Tensor &input, double min, double max, const Output &output) {
  return one("ttnn.clamp_scalar", input, {{"min", number(min)}, {"max", number(max)}}, input.shape(), output);
}
Tensor clamp_tensor(const Tensor &input, const Tensor &min, const Tensor &max, const Output &output) {
  return invoke("ttnn.clamp_tensor", std::array{input, min, max}, {}, broadcast({&input, &min, &max}), output);
}
Tensor pow_scalar(const Tensor &lhs, double rhs, const Output &output) {
  return one("ttnn.pow_scalar", lhs, {{"rhs", number(rhs)}}, lhs.shape(), output);
}
Tensor gelu_bw(const Tensor &lhs, const Tensor &rhs, const std::string &approximate, const Output &output) {
  return invoke("ttnn.gelu_bw", std::array{lhs, rhs}, {{"approximate", {approximate}}}, broadcast({&lhs, &rhs}),
                output);
}
Tensor where(const Tensor &first, const Tensor &second, const Tensor &third, const Output &output) {
  Output typed = output;
  typed.dtype = output.dtype.value_or(second.dtype());
  return invoke("ttnn.where", std::array{first, second, third}, {}, broadcast({&first, &second, &third}), typed);
}
Tensor typecast(const Tensor &input, DataType dtype) {
  return one("ttnn.typecast", input, {}, input.shape(), {dtype, {}, {}});
}

//===- Reductions -----------------------------------------------------------===//

Tensor sum(const Tensor &input, bool keepDim, const Dims &dims, const Output &output) {
  return reduceSeveral("ttnn.sum", input, keepDim, dims, output);
}
Tensor mean(const Tensor &input, bool keepDim, const Dims &dims, const Output &output) {
  return reduceSeveral("ttnn.mean", input, keepDim, dims, output);
}
Tensor max(const Tensor &input, bool keepDim, const Dims &dims, const Output &output) {
  return reduceSeveral("ttnn.max", input, keepDim, dims, output);
}
Tensor min(const Tensor &input, bool keepDim, const Dims &dims, const Output &output) {
  return reduceSeveral("ttnn.min", input, keepDim, dims, output);
}
Tensor prod(const Tensor &input, bool keepDim, std::optional<int64_t> dim, const Output &output) {
  return reduce("ttnn.prod", input, keepDim, dim ? Dims{*dim} : Dims(), output,
                dim ? Named{{"dim_arg", {*dim}}} : Named());
}
Tensor argmax(const Tensor &input, std::optional<int64_t> dim, bool keepDim, const Output &output) {
  Output typed = output;
  typed.dtype = output.dtype.value_or(DataType::UInt32);
  return reduce("ttnn.argmax", input, keepDim, dim ? Dims{*dim} : Dims(), typed,
                dim ? Named{{"dim", {*dim}}} : Named());
}

//===- Products, windows ------------------------------------------------------===//

Tensor matmul(const Tensor &a, const Tensor &b, const MatmulOptions &options, const Output &output) {
  return product("ttnn.matmul", std::array{a, b}, options, output);
}
Tensor linear(const Tensor &a, const Tensor &b, const Tensor &bias, const MatmulOptions &options,
              const Output &output) {
  return product("ttnn.linear", std::array{a, b, bias}, options, output);
}

Tensor conv2d(const Tensor &input, const Tensor &weight, const Tensor &bias, const WindowOptions &window,
              int64_t groups, const std::string &activation, const Output &output) {
  const int64_t out = weight.shape().empty() ? 1 : weight.shape()[0];
  Named attributes = windowAttributes(window);
  attributes.push_back({"in_channels", {lastOf(input)}});
  attributes.push_back({"out_channels", {out}});
  attributes.push_back({"groups", {groups}});
  if (!activation.empty())
    attributes.push_back({"conv2d_config", {StructAttribute{"ttnn.conv2d_config", {{"activation", {activation}}}}}});
  return invoke("ttnn.conv2d", std::array{input, weight, bias}, std::move(attributes),
                windowShape("ttnn.conv2d", window, out, false), output);
}
Tensor max_pool2d(const Tensor &input, const WindowOptions &window, bool ceilMode, const Output &output) {
  return pool("ttnn.max_pool2d", input, window, ceilMode, {}, output);
}
Tensor avg_pool2d(const Tensor &input, const WindowOptions &window, bool ceilMode, bool countIncludePad,
                  const Output &output) {
  return pool("ttnn.avg_pool2d", input, window, ceilMode, {{"count_include_pad", {countIncludePad}}}, output);
}
Tensor global_avg_pool2d(const Tensor &input, const Output &output) {
  const Shape &from = input.shape();
  return one("ttnn.global_avg_pool2d", input, {}, from.size() == 4 ? Shape{from[0], 1, 1, from[3]} : from, output);
}

//===- Normalization ----------------------------------------------------------===//

Tensor softmax(const Tensor &input, int64_t dimension, bool numericStable, const Output &output) {
  return one("ttnn.softmax", input, {{"dimension", {dimension}}, {"numericStable", {numericStable}}}, input.shape(),
             output);
}
Tensor batch_norm_training(const Tensor &input, const Tensor &runningMean, const Tensor &runningVar,
                           const Tensor &weight, const Tensor &bias, double epsilon, double momentum,
                           const Output &output) {
  return invoke("ttnn.batch_norm_training", std::array{input, runningMean, runningVar, weight, bias},
                {{"epsilon", {epsilon}}, {"momentum", {momentum}}}, input.shape(), output);
}
Tensor batch_norm_inference(const Tensor &input, const Tensor &runningMean, const Tensor &runningVar,
                            const Tensor &weight, const Tensor &bias, double epsilon, const Output &output) {
  return invoke("ttnn.batch_norm_inference", std::array{input, runningMean, runningVar, weight, bias},
                {{"epsilon", {epsilon}}}, input.shape(), output);
}
Tensor layer_norm(const Tensor &input, const Tensor &weight, const Tensor &bias, double epsilon, const Output &output) {
  return invoke("ttnn.layer_norm", std::array{input, weight, bias}, {{"epsilon", {epsilon}}}, input.shape(), output);
}
Tensor rms_norm(const Tensor &input, const Tensor &weight, const Tensor &bias, double epsilon, const Output &output) {
  return invoke("ttnn.rms_norm", std::array{input, weight, bias}, {{"epsilon", {epsilon}}}, input.shape(), output);
}

//===- Data movement ------------------------------------------------------------===//

Tensor reshape(const Tensor &input, const Shape &shape, const Output &output) {
  return one("ttnn.reshape", input, {{"shape", {shape}}}, shape, output);
}
Tensor permute(const Tensor &input, const Dims &permutation, const Output &output) {
  Shape shape;
  for (int64_t dim : permutation)
    shape.push_back(input.shape()[wrap("ttnn.permute", dim, input.shape().size())]);
  return one("ttnn.permute", input, {{"permutation", {permutation}}}, shape, output);
}
Tensor transpose(const Tensor &input, int64_t dim0, int64_t dim1, const Output &output) {
  Shape shape = input.shape();
  std::swap(shape[wrap("ttnn.transpose", dim0, shape.size())], shape[wrap("ttnn.transpose", dim1, shape.size())]);
  return one("ttnn.transpose", input, {{"dim0", {dim0}}, {"dim1", {dim1}}}, shape, output);
}
Tensor slice_static(const Tensor &input, const Dims &begins, const Dims &ends, const Dims &step, const Output &output) {
  Shape shape = input.shape();
  for (size_t d = 0; d < shape.size() && d < begins.size() && d < ends.size() && d < step.size(); ++d) {
    const int64_t begin = begins[d] < 0 ? begins[d] + shape[d] : begins[d];
    const int64_t end = std::min(ends[d] < 0 ? ends[d] + shape[d] : ends[d], shape[d]);
    shape[d] = step[d] < 1 || end <= begin ? 0 : (end - begin - 1) / step[d] + 1;
  }
  return one("ttnn.slice_static", input, {{"begins", {begins}}, {"ends", {ends}}, {"step", {step}}}, shape, output);
}
Tensor repeat(const Tensor &input, const Dims &repeatDims, const Output &output) {
  Shape shape = input.shape();
  if (repeatDims.size() > shape.size())
    shape.insert(shape.begin(), repeatDims.size() - shape.size(), 1);
  for (size_t d = 0; d < repeatDims.size(); ++d)
    shape[d + shape.size() - repeatDims.size()] = volume({shape[d + shape.size() - repeatDims.size()], repeatDims[d]});
  return one("ttnn.repeat", input, {{"repeat_dims", {repeatDims}}}, shape, output);
}
Tensor repeat_interleave(const Tensor &input, int64_t repeats, int64_t dim, const Output &output) {
  Shape shape = input.shape();
  int64_t &size = shape[wrap("ttnn.repeat_interleave", dim, shape.size())];
  size = volume({size, repeats});
  return one("ttnn.repeat_interleave", input, {{"repeats", {repeats}}, {"dim", {dim}}}, shape, output);
}
Tensor concat(std::span<const Tensor> inputs, int64_t dim, const Output &output) {
  if (inputs.empty())
    throw OpError("ttnn.concat: no operands");
  Shape shape = inputs[0].shape();
  const size_t d = wrap("ttnn.concat", dim, shape.size());
  for (const Tensor &input : inputs.subspan(1))
    shape[d] += d < input.shape().size() ? input.shape()[d] : 0;
  return invoke("ttnn.concat", inputs, {{"dim", {dim}}}, shape, output);
}
Tensor pad(const Tensor &input, const Dims &padding, double value, const Output &output) {
  Shape shape = input.shape();
  for (size_t d = 0; d < shape.size() && 2 * d + 1 < padding.size(); ++d)
    shape[d] +=
        std::clamp<int64_t>(padding[2 * d], 0, INT32_MAX) + std::clamp<int64_t>(padding[2 * d + 1], 0, INT32_MAX);
  return one("ttnn.pad", input, {{"padding", {padding}}, {"value", {value}}}, shape, output);
}

//===- Creation -------------------------------------------------------------------===//

Tensor zeros(const Shape &shape, const Output &output) {
  return invoke("ttnn.zeros", {}, {{"shape", {shape}}}, shape, created(output));
}
Tensor ones(const Shape &shape, const Output &output) {
  return invoke("ttnn.ones", {}, {{"shape", {shape}}}, shape, created(output));
}
Tensor empty(const Shape &shape, const Output &output) {
  return invoke("ttnn.empty", {}, {{"shape", {shape}}}, shape, created(output));
}
Tensor full(const Shape &shape, double value, const Output &output) {
  return invoke("ttnn.full", {}, {{"shape", {shape}}, {"fill_value", number(value)}}, shape, created(output));
}
Tensor arange(int64_t start, int64_t end, int64_t step, const Output &output) {
  const double count = step == 0 ? 0 : std::ceil((double(end) - double(start)) / double(step));
  return invoke("ttnn.arange", {}, {{"start", {start}}, {"end", {end}}, {"step", {step}}},
                {static_cast<int64_t>(std::clamp(count, 0.0, 0x1p53))}, created(output));
}
Tensor rand(const Shape &size, double low, double high, uint32_t seed, const Output &output) {
  return invoke("ttnn.rand", {},
                {{"size", {size}}, {"low", {low}}, {"high", {high}}, {"seed", {static_cast<int64_t>(seed)}}}, size,
                created(output));
}

//===- Layouts and memories ---------------------------------------------------------===//

Tensor to_layout(const Tensor &input, Layout layout, std::optional<DataType> dtype) {
  return one("ttnn.to_layout", input, {}, input.shape(), {dtype, {}, layout});
}
Tensor to_memory_config(const Tensor &input, const MemoryConfig &memory) {
  if (!input.isOnDevice())
    throw OpError("ttnn.to_memory_config: the operand is on the host; move it with to_device");
  return one("ttnn.to_memory_config", input, {}, input.shape(), {{}, memory, {}});
}
Tensor to_device(const Tensor &input, const Device &device, std::optional<MemoryConfig> memory) {
  input.requireAllocated("ttnn.to_device");
  if (!device)
    throw DeviceError("ttnn.to_device: no device");
  device->requireOpen("ttnn.to_device");
  TensorSpec spec = input.spec();
  spec.memory = memory.value_or(MemoryConfig{BufferType::DRAM, MemoryLayout::Interleaved, {}, {}});
  return moved(input.clone(), spec, device, "result of ttnn.to_device");
}
Tensor from_device(const Tensor &input) {
  input.requireAllocated("ttnn.from_device");
  return input.clone();
}
void deallocate(Tensor &input, bool force) {
  if (force || !input.retained())
    input.deallocate();
}

//===- The mesh ------------------------------------------------------------------------===//

Tensor distribute_tensor(const Tensor &input, const Device &device, const std::vector<Placement> &placements) {
  if (!device)
    throw DeviceError("ttnn.distribute_tensor: no device");
  const std::vector<uint32_t> mesh = device->meshShape();
  Shape part = input.shape();
  std::vector<Attribute> list;
  for (size_t axis = 0; axis < placements.size(); ++axis) {
    StructAttribute placement{"ttnn.placement", {}};
    if (const Placement &dim = placements[axis]) {
      int64_t &size = part[wrap("ttnn.distribute_tensor", *dim, part.size())];
      size /= placements.size() == 1 ? int64_t(device->devices()) : axis < 2 ? int64_t(mesh[axis]) : 1;
      placement.fields = {{"type", enumOf("ttnn.placement_type", "shard", 1)}, {"dim", {*dim}}};
    } else {
      placement.fields = {{"type", enumOf("ttnn.placement_type", "replicate", 0)}};
    }
    list.push_back({std::move(placement)});
  }
  // The kernel runs on the host's side; the mesh is the device's.
  OpCall call{"ttnn.distribute_tensor", {input.spec()}, {input.spec()}, {}, mesh, {}};
  call.attributes = Attributes(
      call.name,
      {{"mapper_config", {StructAttribute{"ttnn.mesh_mapper_config", {{"placements", {ListAttribute{list}}}}}}}});
  call.outs[0].shape = part;
  call.outs[0].memory = {};
  call.outs[0].distributed = true;
  const OpInfo *info = findOp(call.name);
  check(*info, call);
  const auto kernel = info->makeMesh(call);
  TensorSpec spec = call.outs[0];
  spec.distributed = device->devices() > 1;
  Tensor result = Tensor::onHost(spec, spec.distributed ? mesh : std::vector<uint32_t>());
  const std::byte *from = input.data();
  std::vector<std::byte *> outs;
  for (size_t shard = 0; shard < result.shards(); ++shard)
    outs.push_back(result.data(shard));
  const std::span<const std::byte *const> in(&from, 1);
  const std::span<std::byte *const> out(outs);
  kernel->run({&in, 1}, {&out, 1});
  return result;
}

Tensor aggregate_tensor(const Tensor &input, const Dims &dims) {
  Shape whole = input.shape();
  for (size_t axis = 0; axis < dims.size(); ++axis)
    if (dims[axis] >= 0) {
      int64_t &size = whole[wrap("ttnn.aggregate_tensor", dims[axis], whole.size())];
      const int64_t parts = dims.size() == 1 ? static_cast<int64_t>(input.shards())
                            : axis < 2       ? clusterSize("ttnn.aggregate_tensor", input, static_cast<int64_t>(axis))
                                             : 1;
      size = volume({size, parts});
    }
  const StructAttribute config{"ttnn.mesh_composer_config", {{"dims", {dims}}}};
  const Output host{{}, MemoryConfig{}, {}};
  return invoke("ttnn.aggregate_tensor", {&input, 1}, {{"composer_config", {config}}}, whole, host, false);
}

Tensor all_gather(const Tensor &input, int64_t dim, int64_t clusterAxis, const Output &output) {
  Shape shape = input.shape();
  int64_t &size = shape[wrap("ttnn.all_gather", dim, shape.size())];
  size = volume({size, clusterSize("ttnn.all_gather", input, clusterAxis)});
  return one("ttnn.all_gather", input, {{"all_gather_dim", {dim}}, {"cluster_axis", {clusterAxis}}}, shape, output);
}
Tensor all_reduce(const Tensor &input, ReduceType type, int64_t clusterAxis, const Output &output) {
  return one("ttnn.all_reduce", input, {{"reduce_type", reduceAttribute(type)}, {"cluster_axis", {clusterAxis}}},
             input.shape(), output);
}
Tensor reduce_scatter(const Tensor &input, ReduceType type, int64_t scatterDim, int64_t clusterAxis,
                      const Output &output) {
  Shape shape = input.shape();
  shape[wrap("ttnn.reduce_scatter", scatterDim, shape.size())] /=
      clusterSize("ttnn.reduce_scatter", input, clusterAxis);
  return one("ttnn.reduce_scatter", input,
             {{"reduce_type", reduceAttribute(type)}, {"scatter_dim", {scatterDim}}, {"cluster_axis", {clusterAxis}}},
             shape, output);
}
Tensor mesh_partition(const Tensor &input, int64_t dim, std::optional<int64_t> clusterAxis, const Output &output) {
  Shape shape = input.shape();
  shape[wrap("ttnn.mesh_partition", dim, shape.size())] /=
      clusterAxis ? clusterSize("ttnn.mesh_partition", input, *clusterAxis) : static_cast<int64_t>(input.shards());
  Named attributes = {{"dim", {dim}}};
  if (clusterAxis)
    attributes.push_back({"cluster_axis", {*clusterAxis}});
  return one("ttnn.mesh_partition", input, std::move(attributes), shape, output);
}

} // namespace tt::ttnn
