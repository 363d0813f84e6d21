//===- window.h - sliding windows over images ----------------------*- C++ -*-===//
//
// TTNN's convolutions and pools take images as one matrix [1, 1, N * H * W, C];
// the sizes are attributes.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "op.h"

namespace tt::ttnn {

/// One spatial dimension of a window.
struct Axis {
  int64_t size, kernel, stride, dilation, low, high; // low, high: padding before and after
  int64_t extent() const { return dilation * (kernel - 1) + 1; }
  int64_t out = 0; // positions of the window
};

struct Window {
  int64_t batch, channels;
  Axis height, width;
};

/// Reads batch_size, input_height, input_width, kernel_size, stride, padding ([h, w] or [top, bottom, left, right]) and
/// dilation, and checks operand 0. `channels`: the attribute's name.
Window windowOf(const OpCall &call, std::string_view channels);
/// Checks that the result is N * OH * OW rows of `channels`.
void expectWindowResult(const OpCall &call, const Window &window, int64_t channels, size_t index = 0);

/// Checks operand 1, the weights: of that shape, or as many elements [1, 1, rows, columns] as prepared weights may be.
void expectFilter(const OpCall &call, const Shape &expected);

} // namespace tt::ttnn
