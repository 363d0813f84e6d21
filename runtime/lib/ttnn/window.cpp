//===- window.cpp - sliding windows over images ----------------------------===//

#include "window.h"

namespace tt::ttnn {
namespace {

void expectRows(const OpCall &call, const std::string &what, const Shape &shape, int64_t rows, int64_t channels) {
  if (shape.empty() || shape.back() != channels || volume(shape) != volume({rows, channels}))
    fail(call, what + " has shape " + toString(shape) + "; expected [1, 1, " + std::to_string(rows) + ", " +
                   std::to_string(channels) + "]");
}

int64_t positive(const OpCall &call, std::string_view name) {
  const auto value = call.attributes.get<int64_t>(name);
  if (value < 1 || value > INT32_MAX)
    fail(call, "attribute '" + std::string(name) + "' is " + std::to_string(value) + "; expected a positive size");
  return value;
}

} // namespace

Window windowOf(const OpCall &call, std::string_view channels) {
  const auto kernel = integers(call, "kernel_size", 2, 1), stride = integers(call, "stride", 2, 1),
             dilation = integers(call, "dilation", 2, 1);
  const bool four = call.attributes.get<std::vector<int64_t>>("padding").size() == 4;
  const auto padding = integers(call, "padding", four ? 4 : 2, 0);
  const bool ceil = call.attributes.get<bool>("ceil_mode", false);
  auto axis = [&](size_t d, std::string_view sizeName) {
    Axis a{positive(call, sizeName),     kernel[d], stride[d], dilation[d], padding[four ? 2 * d : d],
           padding[four ? 2 * d + 1 : d]};
    const int64_t room = a.size + a.low + a.high - a.extent();
    if (room < 0)
      fail(call, "attribute 'kernel_size': the window covers " + std::to_string(a.extent()) + " of " +
                     std::to_string(a.size + a.low + a.high) + " padded elements of '" + std::string(sizeName) + "'");
    a.out = (room + (ceil ? a.stride - 1 : 0)) / a.stride + 1;
    // As in torch, the last window starts inside of the image or the padding before it.
    if (ceil && (a.out - 1) * a.stride >= a.size + a.low)
      --a.out;
    return a;
  };
  Window window{call.attributes.get<int64_t>("batch_size"), positive(call, channels), axis(0, "input_height"),
                axis(1, "input_width")};
  if (window.batch < 0)
    fail(call, "attribute 'batch_size' is " + std::to_string(window.batch) + "; expected no negative number");
  expectRows(call, "operand 0", operand(call, 0).shape, volume({window.batch, window.height.size, window.width.size}),
             window.channels);
  return window;
}

void expectWindowResult(const OpCall &call, const Window &window, int64_t channels, size_t index) {
  expectRows(call, "result " + std::to_string(index), result(call, index).shape,
             volume({window.batch, window.height.out, window.width.out}), channels);
}

void expectFilter(const OpCall &call, const Shape &expected) {
  const Shape &shape = operand(call, 1).shape;
  const bool prepared = shape.size() == 4 && shape[0] == 1 && shape[1] == 1 && volume(shape) == volume(expected);
  if (!prepared)
    expectOperandShape(call, 1, expected);
}

} // namespace tt::ttnn
