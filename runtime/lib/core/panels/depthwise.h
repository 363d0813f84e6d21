//===- depthwise.h - convolutions of as many groups as channels -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Each channel has its own window. Vectors hold 32 adjacent channels of bf16 (AVX2: 16), which are widened to two
// vectors of f32, of the even and of the odd ones. Some adjacent results are computed together, so that each pixel is
// widened once for all of them, and rounded in registers.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <cstdint>

namespace tt::ttnn::panels {

/// Channels of a vector. Weights and biases of each are [even ones, odd ones].
constexpr int64_t depthwiseWidth = 32, depthwiseWidth256 = 16;

/// A line of results, in some channels.
struct DepthwiseLine {
  const std::byte *image; // the pixel under the first column of the first window, which may be outside
  int64_t rows, rowBytes; // of the window inside of the image, and from one to the next
  int64_t low, size;      // columns before the image, and columns of the image
  int64_t results;        // of the line
  int64_t channels;       // of a pixel
  int64_t first, last;    // vectors of channels
  const float *weights;   // [vector, row, column, width], from the first row on
  int64_t vectorWeights;  // from one vector to the next
  const float *bias;      // [vector, width], or nullptr
  std::byte *to;          // bf16
  bool relu, relu6;       // NaN stays NaN; relu6 implies relu
};

/// Computes a line with windows of some columns, without dilation.
using Depthwise = void (*)(const DepthwiseLine &line);
/// A function, and the channels of its vectors.
struct DepthwiseFunction {
  Depthwise compute = nullptr;
  int64_t width = depthwiseWidth;
};
/// Returns that of this machine, or none: it needs AVX-512, and 3, 5 or 7 columns with stride 1 or 2, or AVX2, and 3 or
/// 5 columns and whole vectors. With products of bf16, subnormal results become 0.
DepthwiseFunction findDepthwise(int64_t columns, int64_t stride, int64_t channels);

} // namespace tt::ttnn::panels
