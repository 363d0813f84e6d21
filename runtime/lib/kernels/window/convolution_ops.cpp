//===- convolution_ops.cpp - ttnn.conv1d, conv2d, conv_transpose2d, conv3d ---===//

#include "kernels/window/convolution.h"
#include "kernels/window/weights.h"

namespace tt::ttnn {
namespace {

/// A row's convolution: its attributes and operands read and checked.
using Reader = Convolution (*)(const OpCall &);

/// Weights may come as many elements [1, 1, rows, columns], as prepared ones do.
void expectFilter(const OpCall &call, const Shape &expected) {
  const Shape &shape = operand(call, 1).shape;
  const bool prepared = shape.size() == 4 && shape[0] == 1 && shape[1] == 1 && volume(shape) == volume(expected);
  if (!prepared)
    expectOperandShape(call, 1, expected);
}

template <size_t rank, bool transposed = false> Convolution flat(const OpCall &call) {
  Convolution c = convolutionOf(call, rank, transposed);
  expectFilter(call, c.filter());
  return c;
}

/// Weights of sequences may have a fourth dimension, of 1.
Convolution sequence(const OpCall &call) {
  Convolution c = convolutionOf(call, 1);
  Shape filter = c.filter();
  if (operand(call, 1).shape.size() == 4)
    filter.push_back(1);
  expectFilter(call, filter);
  return c;
}

template <Reader read> std::unique_ptr<Kernel> make(const OpCall &call) { return makeConvolution(call, read(call)); }
template <Reader read> Cost cost(const OpCall &call) { return convolutionCost(call, read(call)); }

//===----------------------------------------------------------------------===//
// Volumes
//===----------------------------------------------------------------------===//

/// Channels of each prepared block, 0 for all in one.
int64_t blockOf(const OpCall &call) {
  const Attribute *block = field(call, "conv3d_config", "c_in_block");
  const auto *value = block ? std::get_if<int64_t>(&block->value) : nullptr;
  return value ? *value : 0;
}

std::string_view paddingMode(const OpCall &call) {
  const auto *mode = call.attributes.find<std::string>("padding_mode");
  return mode ? std::string_view(*mode) : "zeros";
}

bool isPrepared(const OpCall &call) { return operand(call, 1).shape.size() == 2; }

Convolution volumes(const OpCall &call) {
  Convolution c = convolutionOf(call, 3);
  if (paddingMode(call) != "zeros" && paddingMode(call) != "replicate")
    fail(call, "attribute 'padding_mode' is '" + std::string(paddingMode(call)) + "'; expected 'zeros' or 'replicate'");
  if (isPrepared(call))
    (void)PreparedVolumes(call, operand(call, 1).shape, c.filter(), blockOf(call));
  else
    expectOperandShape(call, 1, c.filter());
  return c;
}

std::unique_ptr<Kernel> makeVolumes(const OpCall &call) {
  Adaptation adaptation;
  adaptation.repeatsEdges = paddingMode(call) == "replicate";
  if (isPrepared(call))
    adaptation.preparedBlock = blockOf(call);
  return makeConvolution(call, volumes(call), adaptation);
}

} // namespace

std::vector<OpInfo> convolutionOps() {
  using enum AttributeKind;
  auto row = [](std::string_view name, AttributeKind window, std::vector<std::string_view> sizes,
                std::vector<AttributeSpec> own, KernelMaker make, CostFunction cost) {
    std::vector<AttributeSpec> attributes = {required("in_channels", Int), required("out_channels", Int),
                                             required("batch_size", Int),  required("kernel_size", window),
                                             required("stride", window),   required("padding", IntArray),
                                             required("groups", Int)};
    for (std::string_view size : sizes)
      attributes.push_back(required(size, Int));
    attributes.insert(attributes.end(), own.begin(), own.end());
    return OpInfo{name, 2, 3, 1, std::move(attributes), make, nullptr, cost};
  };
  const std::vector<AttributeSpec> configs = {optional("conv2d_config", Struct),
                                              optional("conv2d_slice_config", Struct)};
  auto with = [&](std::vector<AttributeSpec> own) {
    own.insert(own.end(), configs.begin(), configs.end());
    return own;
  };
  return {
      row("ttnn.conv1d", Int, {"input_length"}, with({required("dilation", Int)}), make<sequence>, cost<sequence>),
      row("ttnn.conv2d", IntArray, {"input_height", "input_width"}, with({required("dilation", IntArray)}),
          make<flat<2>>, cost<flat<2>>),
      row("ttnn.conv_transpose2d", IntArray, {"input_height", "input_width"},
          with({required("dilation", IntArray), required("output_padding", IntArray)}), make<flat<2, true>>,
          cost<flat<2, true>>),
      row("ttnn.conv3d", IntArray, {"input_depth", "input_height", "input_width"},
          {optional("padding_mode", String), optional("conv3d_config", Struct)}, makeVolumes, cost<volumes>),
  };
}

} // namespace tt::ttnn
