//===- convolution_transposed.cpp - ttnn.conv_transpose2d -------------------===//
//
// Images are [N, H, W, C] in memory; weights are [I, O / groups, KH, KW] and go
// into the library's order once when they are constant, else at each run.
//
//===----------------------------------------------------------------------===//

#include "chain.h"
#include "library.h"
#include "storage.h"
#include "window.h"

namespace tt::ttnn {
namespace {

/// One spatial dimension: what it grows to when `size` windows are laid over one another.
struct Growth {
  int64_t size, kernel, stride, dilation, low, high, extra, out;
};

struct Transposed {
  int64_t batch, in, outChannels, groups;
  Growth height, width;
};

int64_t positive(const OpCall &call, std::string_view name) {
  const auto value = call.attributes.get<int64_t>(name);
  if (value < 1 || value > INT32_MAX)
    fail(call, "attribute '" + std::string(name) + "' is " + std::to_string(value) + "; expected a positive number");
  return value;
}

Transposed transposedOf(const OpCall &call) {
  const auto kernel = integers(call, "kernel_size", 2, 1), stride = integers(call, "stride", 2, 1),
             dilation = integers(call, "dilation", 2, 1), extra = integers(call, "output_padding", 2, 0);
  const bool four = call.attributes.get<std::vector<int64_t>>("padding").size() == 4;
  auto padding = integers(call, "padding", four ? 4 : 2, 0);
  if (!four)
    padding = {padding[0], padding[0], padding[1], padding[1]};
  auto axis = [&](size_t d, std::string_view sizeName) {
    Growth g{positive(call, sizeName), kernel[d],          stride[d], dilation[d],
             padding[2 * d],           padding[2 * d + 1], extra[d],  0};
    g.out = (g.size - 1) * g.stride + g.dilation * (g.kernel - 1) + 1 + g.extra - g.low - g.high;
    if (g.out < 1)
      fail(call,
           "attribute 'padding' leaves " + std::to_string(g.out) + " elements of '" + std::string(sizeName) + "'");
    return g;
  };
  Transposed t{positive(call, "batch_size"), positive(call, "in_channels"), positive(call, "out_channels"),
               positive(call, "groups"),     axis(0, "input_height"),       axis(1, "input_width")};
  if (t.in % t.groups != 0 || t.outChannels % t.groups != 0)
    fail(call, "attribute 'groups' is " + std::to_string(t.groups) + "; expected a divisor of " + std::to_string(t.in) +
                   " input and " + std::to_string(t.outChannels) + " output channels");
  const Shape &image = operand(call, 0).shape, &out = result(call).shape;
  if (image.empty() || image.back() != t.in || volume(image) != volume({t.batch, t.height.size, t.width.size, t.in}))
    fail(call, "operand 0 has shape " + toString(image) + "; expected [1, 1, " +
                   std::to_string(t.batch * t.height.size * t.width.size) + ", " + std::to_string(t.in) + "]");
  expectFilter(call, {t.in, t.outChannels / t.groups, t.height.kernel, t.width.kernel});
  if (const TensorSpec *bias = optionalOperand(call, 2); bias && volume(bias->shape) != t.outChannels)
    fail(call,
         "the bias has shape " + toString(bias->shape) + "; expected [1, 1, 1, " + std::to_string(t.outChannels) + "]");
  const int64_t rows = volume({t.batch, t.height.out, t.width.out});
  if (out.empty() || out.back() != t.outChannels || volume(out) != volume({rows, t.outChannels}))
    fail(call, "the result has shape " + toString(out) + "; expected [1, 1, " + std::to_string(rows) + ", " +
                   std::to_string(t.outChannels) + "]");
  return t;
}

class TransposedConvolution final : public Kernel {
public:
  /// Throws dnnl::error where the machine has no implementation for the type.
  TransposedConvolution(const OpCall &call, const Transposed &t, DataType type, DataType produced, bool relu)
      : biased(optionalOperand(call, 2) != nullptr) {
    using dnnl::memory;
    const Growth &h = t.height, &w = t.width;
    input = library::Packed(call, 0, type, layout);
    weights = library::Packed(call, 1, type, layout);
    if (biased)
      bias = library::Packed(call, 2, DataType::Float32, layout);

    const memory::desc source({t.batch, t.in, h.size, w.size}, library::dataType(type), memory::format_tag::nhwc);
    const memory::desc target({t.batch, t.outChannels, h.out, w.out}, library::dataType(produced),
                              memory::format_tag::nhwc);
    // The library names output channels first; in memory the input's are.
    const int64_t in = t.in / t.groups, out = t.outChannels / t.groups, window = h.kernel * w.kernel;
    memory::dims filter = {t.groups, out, in, h.kernel, w.kernel};
    memory::dims strides = {in * out * window, window, out * window, w.kernel, 1};
    if (t.groups == 1) {
      filter.erase(filter.begin());
      strides.erase(strides.begin());
    }
    const memory::desc given(filter, library::dataType(type), strides);
    const memory::desc anyOrder(filter, library::dataType(type), memory::format_tag::any);
    const memory::desc biasDesc({t.outChannels}, memory::data_type::f32, memory::format_tag::a);
    const memory::dims steps = {h.stride, w.stride}, dilations = {h.dilation - 1, w.dilation - 1},
                       before = {h.low, w.low}, behind = {h.high - h.extra, w.high - w.extra};
    constexpr auto kind = dnnl::prop_kind::forward_inference;
    constexpr auto algorithm = dnnl::algorithm::deconvolution_direct;
    using Forward = dnnl::deconvolution_forward;
    const auto description =
        biased ? Forward::desc(kind, algorithm, source, anyOrder, biasDesc, target, steps, dilations, before, behind)
               : Forward::desc(kind, algorithm, source, anyOrder, target, steps, dilations, before, behind);
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

private:
  ScratchLayout layout;
  library::Packed input, weights, bias;
  library::Ordered ordered;
  library::Primitive convolution;
  size_t scratchpad = 0;
  bool biased;
};

std::unique_ptr<Kernel> makeConvTranspose2d(const OpCall &call) {
  const Transposed t = transposedOf(call);
  for (size_t i : {0, 1})
    if (isInteger(operand(call, i).dtype))
      fail(call, "operand " + std::to_string(i) + " is of type " + std::string(toString(operand(call, i).dtype)) +
                     "; expected floats");
  Epilogue epilogue;
  epilogue.activation = activationOf(call);
  const bool relu = epilogue.activation == "relu";
  if (relu)
    epilogue.activation.clear();
  constexpr DataType f32 = DataType::Float32;
  if (storageType(operand(call, 0).dtype) == StorageType::BF16 &&
      storageType(operand(call, 1).dtype) == StorageType::BF16) {
    const DataType produced = result(call).dtype == DataType::BFloat16 && epilogue.empty() ? DataType::BFloat16 : f32;
    try {
      return withEpilogue(call, std::make_unique<TransposedConvolution>(call, t, DataType::BFloat16, produced, relu),
                          produced, epilogue);
    } catch (const dnnl::error &) {
      // This CPU has no bf16 products: bf16 values are exact in f32.
    }
  }
  try {
    return withEpilogue(call, std::make_unique<TransposedConvolution>(call, t, f32, f32, relu), f32, epilogue);
  } catch (const dnnl::error &error) {
    fail(call, "the kernel library refuses input " + toString(operand(call, 0).shape) + " with weights " +
                   toString(operand(call, 1).shape) + ": " + error.what());
  }
}

/// As the chip does it: a convolution with stride 1 over the input spread out by the stride.
Cost transposedCost(const OpCall &call) {
  const Transposed t = transposedOf(call);
  Cost cost = traffic(call);
  auto tilesOf = [](int64_t size) { return (size + 31) / 32; };
  const int64_t rows = t.batch * t.height.out * t.width.out;
  const int64_t depth = t.in / t.groups * t.height.kernel * t.width.kernel;
  cost.matmulTiles = tilesOf(rows) * tilesOf(depth) * tilesOf(t.outChannels / t.groups) * t.groups;
  return cost;
}

} // namespace

std::vector<OpInfo> transposedConvolutionOps() {
  using enum AttributeKind;
  return {
      {"ttnn.conv_transpose2d",
       2,
       3,
       1,
       {required("in_channels", Int), required("out_channels", Int), required("batch_size", Int),
        required("input_height", Int), required("input_width", Int), required("kernel_size", IntArray),
        required("stride", IntArray), required("padding", IntArray), required("output_padding", IntArray),
        required("dilation", IntArray), required("groups", Int), optional("conv2d_config", Struct),
        optional("conv2d_slice_config", Struct)},
       makeConvTranspose2d,
       nullptr,
       transposedCost},
  };
}

} // namespace tt::ttnn
