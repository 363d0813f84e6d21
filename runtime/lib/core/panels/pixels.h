//===- pixels.h - products of pixels and weights in bf16 ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// For AVX2, which has no products of bf16. A block of widened pixels is multiplied with sixteen columns of weights that
// its first rows widen into the first-level cache. Sums are finished in registers, and bf16 alone is written.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "core/panels/panels.h"

namespace tt::ttnn::panels {

/// Columns of a panel of weights.
constexpr int64_t pixelColumns = 16;
/// The values of k that are multiplied at a time: sixteen columns of them take half of the first-level cache.
constexpr int64_t pixelDepth = 256;
/// Bytes of the widened weights.
constexpr int64_t pixelCopyBytes = 24 << 10;

/// Packs bf16 as panels of k rows of 16 values, `nextPanel` bytes from one to the next; columns that the last one lacks
/// become zeros.
void packPixelWeights(const std::byte *from, Strides strides, int64_t k, int64_t columns, std::byte *to,
                      int64_t nextPanel);

/// Rows of pixels, and all columns of some panels.
struct PixelBlock {
  const float *a;
  const int64_t *offsets; // of each row from `a` on, in values
  int64_t rows;
  int64_t parts, k, nextPart; // a row has this many parts of k values each, so far apart; one if they exceed pixelDepth
  const std::byte *weights;   // panels of parts * k rows
  int64_t columns;
  float *copy;            // of pixelCopyBytes
  float *sums;            // rows * pixelColumns, if k exceeds pixelDepth
  const float *bias;      // [panel, 16], in each panel even columns first; or nullptr
  bool relu, relu6;       // NaN stays NaN; relu6 implies relu
  const std::byte *added; // bf16 to add to the rounded results, rows as far apart as these, or nullptr
  bool reluOfSum;
  std::byte *to;
  int64_t rowBytes;
};
void multiplyPixels(const PixelBlock &block);

} // namespace tt::ttnn::panels
