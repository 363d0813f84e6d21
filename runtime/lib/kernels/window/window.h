//===- window.h - sliding windows over images ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// TTNN's convolutions and pools take sequences and images as one matrix
// [1, 1, N * H * W, C] and volumes as [N, D, H, W, C]; the sizes are attributes.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "core/op.h"

namespace tt::ttnn {

/// One spatial dimension of a window.
struct Axis {
  int64_t size, kernel, stride, dilation, low, high; // low, high: padding before and after
  int64_t extent() const { return dilation * (kernel - 1) + 1; }
  int64_t out = 0; // positions of the window; of a spread one, the places that it covers
};

struct Window {
  int64_t batch, channels;
  std::vector<Axis> axes; // outermost first
  /// Pixels of the input and of the result, over all images.
  int64_t sources() const;
  int64_t positions() const;
  /// Elements under the window in one channel.
  int64_t area() const;
};

/// Reads batch_size, input_height, input_width, kernel_size, stride, padding ([h, w] or [top, bottom, left, right]) and
/// dilation, and checks operand 0. `channels`: the attribute's name. With three dimensions there is input_depth before
/// the others, with one input_length in their place.
Window windowOf(const OpCall &call, std::string_view channels, size_t rank = 2);
/// The same for a transposed convolution, which overlaps windows; with output_padding.
Window spreadWindowOf(const OpCall &call, std::string_view channels, size_t rank = 2);
/// Checks that the result is the window's positions by `channels`.
void expectWindowResult(const OpCall &call, const Window &window, int64_t channels, size_t index = 0);

} // namespace tt::ttnn
