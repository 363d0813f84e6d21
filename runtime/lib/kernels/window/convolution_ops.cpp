//===- convolution_ops.cpp - ttnn's convolutions --------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/window/convolution.h"
#include "kernels/window/weights.h"

namespace tt::ttnn {
namespace {

/// A row's convolution, with its attributes and operands read and checked.
using Reader = Convolution (*)(const OpCall &);

/// Prepared weights are a matrix with a column for each output channel.
void expectFilter(const OpCall &call, const Shape &expected, int64_t out) {
  if (out < 1 || operand(call, 1).shape != Shape{1, 1, volume(expected) / out, out})
    expectOperandShape(call, 1, expected);
}

template <size_t rank, bool transposed = false> Convolution flat(const OpCall &call) {
  Convolution c = convolutionOf(call, rank, transposed);
  expectFilter(call, c.filter(), c.out);
  return c;
}

/// Weights of sequences may have a fourth dimension, of size 1.
Convolution sequence(const OpCall &call) {
  Convolution c = convolutionOf(call, 1);
  Shape filter = c.filter();
  if (operand(call, 1).shape.size() == 4)
    filter.push_back(1);
  expectFilter(call, filter, c.out);
  return c;
}

template <Reader read> std::unique_ptr<Kernel> make(const OpCall &call) {
  const Convolution c = read(call);
  return withTypedWeights(call, {c.window.channels, c.out, c.groups, c.transposed},
                          [&](const OpCall &typed) { return makeConvolution(typed, c); });
}

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

Convolution spreadVolumes(const OpCall &call) {
  Convolution c = convolutionOf(call, 3, true);
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
  return {
      {"ttnn.conv1d", make<sequence>},
      {"ttnn.conv2d", make<flat<2>>},
      {"ttnn.conv_transpose2d", make<flat<2, true>>},
      {"ttnn.conv3d", makeVolumes},
      {"ttnn.conv_transpose3d", make<spreadVolumes>},
  };
}

} // namespace tt::ttnn
