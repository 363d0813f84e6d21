//===- convolution.h - convolutions -----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Sequences, images and volumes, transposed or not. Weights are [O, I / groups, window...], transposed [I, O / groups,
// window...]; they are converted to the kernel's order once if they are constant, else in each run.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "kernels/window/window.h"

namespace tt::ttnn {

struct Convolution {
  Window window;
  int64_t out, groups;
  bool transposed = false;

  /// All operands and the result are integers.
  bool integers = false;

  /// Shape of the weights.
  Shape filter() const;
};

/// Reads the attributes of ops with `rank` spatial dimensions, and checks all operands except the weights, and the
/// result.
Convolution convolutionOf(const OpCall &call, size_t rank, bool transposed = false);

/// The changes to operands that kernels cannot read directly.
struct Adaptation {
  bool repeatsEdges = false;            // padding has the values of the nearest elements
  std::optional<int64_t> preparedBlock; // operand 1 is as prepare_conv3d_weights leaves it: channels of a block
};

/// Convolution, bias, activation and rounding to the result's type.
std::unique_ptr<Kernel> makeConvolution(const OpCall &call, const Convolution &c, const Adaptation &adaptation = {});
/// The same, of operands that need no adaptation.
std::unique_ptr<Kernel> makePlainConvolution(const OpCall &call, const Convolution &c);
/// The same of integers, modulo 2^32.
std::unique_ptr<Kernel> makeIntegerConvolution(const OpCall &call, const Convolution &c);
/// The same for constant weights of 8 or 16 bits, in panels; nullptr for other weights, or if that is not faster.
std::unique_ptr<Kernel> makeIntegerPanelConvolution(const OpCall &call, const Convolution &c, DataType produced);
/// Whether bf16 is convolved in bf16: without a unit for it, the library's bf16 is slower than its f32.
bool usesBf16();
/// The same in panels, and for as many groups as channels; nullptr if that is not faster than the kernel library.
std::unique_ptr<Kernel> makePanelConvolution(const OpCall &call, const Convolution &c);
/// The same of bf16 without a unit for it, of one pixel or few values in a line.
std::unique_ptr<Kernel> makePixelConvolution(const OpCall &call, const Convolution &c);
/// The same of bf16 with the matrix unit: of more than one pixel, or with a stride, in planes.
std::unique_ptr<Kernel> makePlaneConvolution(const OpCall &call, const Convolution &c);
std::unique_ptr<Kernel> makeTileConvolution(const OpCall &call, const Convolution &c);
std::unique_ptr<Kernel> makeDepthwiseConvolution(const OpCall &call, const Convolution &c);

} // namespace tt::ttnn
