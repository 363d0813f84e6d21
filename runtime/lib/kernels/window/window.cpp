//===- window.cpp - sliding windows over images ----------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/window/window.h"

namespace tt::ttnn {
namespace {

/// [1, 1, N * H * W, C], or for volumes [N, D, H, W, C]; `size` selects the size of an axis.
Shape imagesOf(const Window &window, int64_t channels, int64_t Axis::*size) {
  Shape shape = {window.batch};
  for (const Axis &axis : window.axes)
    shape.push_back(axis.*size);
  if (window.axes.size() < 3)
    shape = {1, 1, volume(shape)};
  shape.push_back(channels);
  return shape;
}

/// The shape that is expected, or another with the same rows of channels.
void expectImages(const OpCall &call, const std::string &what, const Shape &shape, const Shape &expected) {
  if (shape.empty() || shape.back() != expected.back() || volume(shape) != volume(expected))
    fail(call, what + " has shape " + toString(shape) + "; expected " + toString(expected));
}

int64_t positive(const OpCall &call, std::string_view name) {
  const auto value = call.attributes.get<int64_t>(name);
  if (value < 1 || value > INT32_MAX)
    fail(call, "attribute '" + std::string(name) + "' is " + std::to_string(value) + "; expected a positive size");
  return value;
}

/// One number for each axis; a single axis may have a number without a list.
std::vector<int64_t> perAxis(const OpCall &call, std::string_view name, size_t rank, int64_t least) {
  const auto *one = rank == 1 ? call.attributes.find<int64_t>(name) : nullptr;
  if (!one)
    return integers(call, name, rank, least);
  if (*one < least || *one > INT32_MAX)
    fail(call, "attribute '" + std::string(name) + "' is " + std::to_string(*one) + "; expected at least " +
                   std::to_string(least));
  return {*one};
}

std::string_view sizeName(size_t axis, size_t rank) {
  constexpr std::string_view names[] = {"input_depth", "input_height", "input_width"};
  return rank == 1 ? "input_length" : names[3 - rank + axis];
}

/// Reads the window from the attributes; `out` is not set.
Window readWindow(const OpCall &call, std::string_view channels, size_t rank) {
  const auto kernel = perAxis(call, "kernel_size", rank, 1), stride = perAxis(call, "stride", rank, 1);
  // Volumes may leave it out.
  const bool plain = rank == 3 && !call.attributes.find<std::vector<int64_t>>("dilation");
  const auto dilation = plain ? std::vector<int64_t>(3, 1) : perAxis(call, "dilation", rank, 1);
  const bool sides = call.attributes.get<std::vector<int64_t>>("padding").size() == 2 * rank;
  const auto padding = integers(call, "padding", sides ? 2 * rank : rank, 0);
  Window window{call.attributes.get<int64_t>("batch_size"), positive(call, channels), {}};
  if (window.batch < 0)
    fail(call, "attribute 'batch_size' is " + std::to_string(window.batch) + "; expected no negative number");
  for (size_t d = 0; d < rank; ++d)
    window.axes.push_back({positive(call, sizeName(d, rank)), kernel[d], stride[d], dilation[d],
                           padding[sides ? 2 * d : d], padding[sides ? 2 * d + 1 : d]});
  expectImages(call, "operand 0", operand(call, 0).shape, imagesOf(window, window.channels, &Axis::size));
  return window;
}

int64_t productOf(const Window &window, int64_t Axis::*size, int64_t first) {
  Shape sizes = {first};
  for (const Axis &axis : window.axes)
    sizes.push_back(axis.*size);
  return volume(sizes);
}

} // namespace

int64_t Window::sources() const { return productOf(*this, &Axis::size, batch); }
int64_t Window::positions() const { return productOf(*this, &Axis::out, batch); }
int64_t Window::area() const { return productOf(*this, &Axis::kernel, 1); }

Window windowOf(const OpCall &call, std::string_view channels, size_t rank) {
  const bool ceil = call.attributes.get<bool>("ceil_mode", false);
  Window window = readWindow(call, channels, rank);
  for (size_t d = 0; d < rank; ++d) {
    Axis &a = window.axes[d];
    const int64_t room = a.size + a.low + a.high - a.extent();
    if (room < 0)
      fail(call, "attribute 'kernel_size': the window covers " + std::to_string(a.extent()) + " of " +
                     std::to_string(a.size + a.low + a.high) + " padded elements of '" +
                     std::string(sizeName(d, rank)) + "'");
    a.out = (room + (ceil ? a.stride - 1 : 0)) / a.stride + 1;
    // As in torch, the last window starts inside of the image or the padding before it.
    if (ceil && (a.out - 1) * a.stride >= a.size + a.low)
      --a.out;
  }
  return window;
}

Window spreadWindowOf(const OpCall &call, std::string_view channels, size_t rank) {
  Window window = readWindow(call, channels, rank);
  const auto extra = integers(call, "output_padding", rank, 0);
  for (size_t d = 0; d < rank; ++d) {
    Axis &a = window.axes[d];
    a.out = (a.size - 1) * a.stride + a.extent() + extra[d] - a.low - a.high;
    if (a.out < 1)
      fail(call, "attribute 'padding' leaves " + std::to_string(a.out) + " elements of '" +
                     std::string(sizeName(d, rank)) + "'");
  }
  return window;
}

void expectWindowResult(const OpCall &call, const Window &window, int64_t channels, size_t index) {
  expectImages(call, "result " + std::to_string(index), result(call, index).shape,
               imagesOf(window, channels, &Axis::out));
}

} // namespace tt::ttnn
