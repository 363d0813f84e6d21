//===- winograd.h - 3x3 convolutions with fewer products ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/panels/panels.h"
#include "kernels/elementwise/residual.h"
#include "kernels/window/convolution.h"

namespace tt::ttnn {

/// Constant weights in panels of F32 whose rows are [window..., channels].
struct WeightPanels {
  const std::byte *values;
  int64_t columns; // of a panel
  bool narrow;     // as packNarrow leaves them
};

/// A convolution that can leave out images.
class ImagewiseConvolution : public Kernel, public AddsResidual {
public:
  /// Returns the weights if they are constant; else `values` is nullptr.
  virtual WeightPanels weightPanels() const = 0;
  /// Convolves the images of the batch whose element of `chosen` is not 0, with the bits of a run of all.
  virtual void runSome(const Buffers &buffers, const Residual &residual, const uint8_t *chosen) const = 0;
};

/// A convolution of windows of 3x3 with stride 1 in fewer products where weights and images allow that, else `direct`,
/// or nullptr if it has to be in large tiles; bias and activation included.
std::unique_ptr<Kernel> makeWinogradConvolution(const OpCall &call, const Convolution &c, DataType produced,
                                                std::unique_ptr<ImagewiseConvolution> direct, bool inLargeTiles);
/// Whether the products of large tiles take less time in f32 than all products with AVX512_BF16, which computes twice
/// as many in a cycle. The matrix unit computes more.
bool suitsWinogradInF32(const Convolution &c);

} // namespace tt::ttnn
