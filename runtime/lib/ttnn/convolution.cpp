//===- convolution.cpp - ttnn.conv2d ----------------------------------------===//
//
// Images are [N, H, W, C] in memory; weights are [O, I / groups, KH, KW] and go
// into the library's order once when they are constant, else at each run.
//
//===----------------------------------------------------------------------===//

#include "chain.h"
#include "library.h"
#include "storage.h"
#include "window.h"

#include <cstring>

namespace tt::ttnn {
namespace {

struct Convolution {
  Window window;
  int64_t out, groups;
};

Convolution convolutionOf(const OpCall &call) {
  Convolution c{windowOf(call, "in_channels"), call.attributes.get<int64_t>("out_channels"),
                call.attributes.get<int64_t>("groups")};
  if (c.groups < 1 || c.out < 1 || c.window.channels % c.groups != 0 || c.out % c.groups != 0)
    fail(call, "attribute 'groups' is " + std::to_string(c.groups) + "; expected a divisor of " +
                   std::to_string(c.window.channels) + " input and " + std::to_string(c.out) + " output channels");
  const Axis &h = c.window.height, &w = c.window.width;
  expectFilter(call, {c.out, c.window.channels / c.groups, h.kernel, w.kernel});
  if (const TensorSpec *bias = optionalOperand(call, 2))
    if (bias->shape.empty() || bias->shape.back() != c.out || volume(bias->shape) != c.out)
      fail(call, "the bias has shape " + toString(bias->shape) + "; expected [1, 1, 1, " + std::to_string(c.out) + "]");
  expectWindowResult(call, c.window, c.out);
  return c;
}

class LibraryConvolution final : public Kernel {
public:
  /// Throws dnnl::error where the machine has no implementation for the type.
  LibraryConvolution(const OpCall &call, const Convolution &c, DataType type, DataType produced, bool relu)
      : biased(optionalOperand(call, 2) != nullptr) {
    using dnnl::memory;
    const Axis &h = c.window.height, &w = c.window.width;
    const int64_t n = c.window.batch, in = c.window.channels;
    input = library::Packed(call, 0, type, layout);
    weights = library::Packed(call, 1, type, layout);
    if (biased)
      bias = library::Packed(call, 2, DataType::Float32, layout);

    const memory::desc source({n, in, h.size, w.size}, library::dataType(type), memory::format_tag::nhwc);
    const memory::desc target({n, c.out, h.out, w.out}, library::dataType(produced), memory::format_tag::nhwc);
    const memory::dims filter = c.groups == 1
                                    ? memory::dims{c.out, in, h.kernel, w.kernel}
                                    : memory::dims{c.groups, c.out / c.groups, in / c.groups, h.kernel, w.kernel};
    const memory::desc given(filter, library::dataType(type),
                             c.groups == 1 ? memory::format_tag::oihw : memory::format_tag::goihw);
    const memory::desc anyOrder(filter, library::dataType(type), memory::format_tag::any);
    const memory::desc biasDesc({c.out}, memory::data_type::f32, memory::format_tag::a);
    // The padding after the image is what the last window needs: less than asked for when the stride skips some.
    auto after = [](const Axis &a) { return (a.out - 1) * a.stride + a.extent() - a.size - a.low; };
    const memory::dims strides = {h.stride, w.stride}, dilations = {h.dilation - 1, w.dilation - 1},
                       before = {h.low, w.low}, behind = {after(h), after(w)};
    constexpr auto kind = dnnl::prop_kind::forward_inference;
    constexpr auto algorithm = dnnl::algorithm::convolution_direct;
    using Forward = dnnl::convolution_forward;
    const auto description =
        biased ? Forward::desc(kind, algorithm, source, anyOrder, biasDesc, target, strides, dilations, before, behind)
               : Forward::desc(kind, algorithm, source, anyOrder, target, strides, dilations, before, behind);
    const Forward::primitive_desc plan(description, library::attributes(relu), library::engine());
    convolution = library::Primitive(Forward(plan));
    convolution.add(DNNL_ARG_SRC, source);
    convolution.add(DNNL_ARG_WEIGHTS, plan.weights_desc());
    convolution.add(DNNL_ARG_DST, target);
    convolution.add(DNNL_ARG_SCRATCHPAD, plan.scratchpad_desc());
    if (biased)
      convolution.add(DNNL_ARG_BIAS, biasDesc);
    scratchpad = layout.take(plan.scratchpad_desc().get_size());
    ordered = library::Ordered(weights, given, plan.weights_desc(), layout);
  }

  void run(const Buffers &buffers) const override {
    std::byte *scratch = buffers.scratch;
    const std::byte *source = input.get(buffers.ins[0], scratch);
    const std::byte *filter = ordered.get(weights, buffers.ins[1], scratch);
    if (biased)
      convolution.run({source, filter, buffers.outs[0], scratch + scratchpad, bias.get(buffers.ins[2], scratch)});
    else
      convolution.run({source, filter, buffers.outs[0], scratch + scratchpad});
  }
  size_t scratchBytes() const override { return layout.bytes(); }
  bool reads(size_t operand) const override {
    return operand == 0 ? input.reads() : operand == 1 ? ordered.reads(weights) : bias.reads();
  }

private:
  ScratchLayout layout;
  library::Packed input, weights, bias;
  library::Ordered ordered;
  library::Primitive convolution;
  size_t scratchpad = 0;
  bool biased;
};

std::unique_ptr<Kernel> makeConv2d(const OpCall &call) {
  const Convolution c = convolutionOf(call);
  const TensorSpec &out = result(call);
  if (isInteger(operand(call, 0).dtype) || isInteger(operand(call, 1).dtype))
    fail(call, "operands are of type " + std::string(toString(operand(call, 0).dtype)) + " and " +
                   std::string(toString(operand(call, 1).dtype)) + "; expected floats");
  if (c.window.batch == 0)
    return kernelOf([](const Buffers &) {});
  Epilogue epilogue;
  epilogue.activation = activationOf(call);
  const bool relu = epilogue.activation == "relu";
  if (relu)
    epilogue.activation.clear();
  if (storageType(operand(call, 0).dtype) == StorageType::BF16 &&
      storageType(operand(call, 1).dtype) == StorageType::BF16) {
    const DataType produced = out.dtype == DataType::BFloat16 && epilogue.empty() ? out.dtype : DataType::Float32;
    try {
      return withEpilogue(call, std::make_unique<LibraryConvolution>(call, c, DataType::BFloat16, produced, relu),
                          produced, epilogue);
    } catch (const dnnl::error &) {
      // This CPU has no bf16 products: bf16 values are exact in f32.
    }
  }
  try {
    constexpr DataType f32 = DataType::Float32;
    return withEpilogue(call, std::make_unique<LibraryConvolution>(call, c, f32, f32, relu), f32, epilogue);
  } catch (const dnnl::error &error) {
    fail(call, "the kernel library refuses input " + toString(operand(call, 0).shape) + " with weights " +
                   toString(operand(call, 1).shape) + ": " + error.what());
  }
}

Cost convolutionCost(const OpCall &call) {
  const Convolution c = convolutionOf(call);
  Cost cost = traffic(call);
  auto tilesOf = [](int64_t size) { return (size + 31) / 32; };
  // As the chip does it: a matrix of window contents times the weights, group by group.
  const int64_t rows = c.window.batch * c.window.height.out * c.window.width.out;
  const int64_t depth = c.window.channels / c.groups * c.window.height.kernel * c.window.width.kernel;
  cost.matmulTiles = tilesOf(rows) * tilesOf(depth) * tilesOf(c.out / c.groups) * c.groups;
  if (!activationOf(call).empty())
    cost.sfpuTiles += tiles(result(call));
  return cost;
}

/// Weights and biases are prepared when a convolution's kernel is made, which knows the machine: these ops leave the
/// values in their order, in the type and shape that the result has.
std::unique_ptr<Kernel> makePrepare(const OpCall &call) {
  const TensorSpec &in = operand(call, 0), &out = result(call);
  if (volume(in.shape) != volume(out.shape))
    fail(call, "the result has shape " + toString(out.shape) + "; expected as many elements as " + toString(in.shape));
  TensorSpec given = in;
  given.shape = out.shape;
  return given.dtype == out.dtype ? aliasKernel(in.bytes()) : conversionKernel(given, out);
}

/// A row of one of the ops that prepare a convolution's weights or bias.
OpInfo prepareOp(std::string_view name, std::vector<AttributeSpec> more) {
  using enum AttributeKind;
  std::vector<AttributeSpec> attributes = {optional("input_memory_config", Struct),
                                           optional("input_tensor_layout", Enum),
                                           required("in_channels", Int),
                                           required("out_channels", Int),
                                           required("batch_size", Int),
                                           required("input_height", Int),
                                           required("input_width", Int),
                                           required("kernel_size", IntArray),
                                           required("stride", IntArray),
                                           required("padding", IntArray),
                                           required("dilation", IntArray),
                                           required("groups", Int),
                                           optional("input_dtype", Enum),
                                           optional("conv2d_config", Struct),
                                           optional("conv2d_slice_config", Struct)};
  attributes.insert(attributes.end(), more.begin(), more.end());
  return {name, 1, 1, 1, std::move(attributes), makePrepare, nullptr, traffic};
}

} // namespace

std::vector<OpInfo> convolutionOps() {
  using enum AttributeKind;
  const std::vector<AttributeSpec> weights = {optional("weights_format", String), optional("has_bias", Bool)};
  std::vector<AttributeSpec> transposed = weights;
  transposed.push_back(optional("output_padding", IntArray));
  transposed.push_back(optional("mirror_kernel", Bool));
  return {
      prepareOp("ttnn.prepare_conv2d_weights", weights),
      prepareOp("ttnn.prepare_conv2d_bias", {}),
      prepareOp("ttnn.prepare_conv_transpose2d_weights", transposed),
      prepareOp("ttnn.prepare_conv_transpose2d_bias", {}),
      {"ttnn.conv2d",
       2,
       3,
       1,
       {required("in_channels", Int), required("out_channels", Int), required("batch_size", Int),
        required("input_height", Int), required("input_width", Int), required("kernel_size", IntArray),
        required("stride", IntArray), required("padding", IntArray), required("dilation", IntArray),
        required("groups", Int), optional("conv2d_config", Struct), optional("conv2d_slice_config", Struct)},
       makeConv2d,
       nullptr,
       convolutionCost},
  };
}

} // namespace tt::ttnn
