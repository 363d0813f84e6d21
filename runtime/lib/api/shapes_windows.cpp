//===- shapes_windows.cpp - shapes of convolutions and pools -----------------===//

#include "api/shapes.h"

#include "core/op.h"

#include <algorithm>

namespace tt::ttnn::shapes {
namespace {

using Shapes = std::vector<Shape>;

struct Window {
  int64_t size, kernel, stride, dilation, low, high;
};

/// Windows along the dimensions whose sizes `sizes` name. Padding is one number for each, or those before and after
/// each.
std::vector<Window> windowsOf(const ShapeQuery &query, std::initializer_list<std::string_view> sizes) {
  constexpr std::string_view words[] = {"", "one size", "two sizes", "three sizes"},
                             either[] = {"", "one or two sizes", "two or four sizes", "three or six sizes"};
  const size_t rank = sizes.size();
  const auto check = [&](std::string_view ods, const std::vector<int64_t> &values, int64_t least) {
    if ((values.size() != rank && !(ods == "padding" && values.size() == 2 * rank)) ||
        std::ranges::any_of(values, [&](int64_t value) { return value < least || value > INT32_MAX; }))
      query.fail(ods, "expected " + std::string(ods == "padding" ? either[rank] : words[rank]) + " of at least " +
                          std::to_string(least) + "; found " + quoted(values));
    return values;
  };
  // A single dimension may have its number by itself.
  const auto each = [&](std::string_view ods) {
    const auto one = rank == 1 ? query.optionalInteger(ods) : std::nullopt;
    return check(ods, one ? std::vector<int64_t>{*one} : query.integers(ods), 1);
  };
  const auto kernel = each("kernel_size"), stride = each("stride"),
             dilation = rank == 3 ? std::vector<int64_t>(3, 1) : each("dilation"),
             padding = check("padding", query.integers("padding"), 0);
  const bool sides = padding.size() == 2 * rank;
  std::vector<Window> windows;
  for (std::string_view name : sizes) {
    const size_t d = windows.size();
    const int64_t size = query.integer(name);
    if (size < 0 || size > INT32_MAX)
      query.fail(name, "a size of " + std::to_string(size));
    windows.push_back(
        {size, kernel[d], stride[d], dilation[d], padding[sides ? 2 * d : d], padding[sides ? 2 * d + 1 : d]});
  }
  return windows;
}

std::pair<Window, Window> imageWindowsOf(const ShapeQuery &query) {
  const std::vector<Window> windows = windowsOf(query, {"input_height", "input_width"});
  return {windows[0], windows[1]};
}

/// Places of a window over its dimension.
int64_t places(const Window &window, bool ceil) {
  const int64_t room = window.size + window.low + window.high - window.dilation * (window.kernel - 1) - 1;
  if (room < 0)
    return 0;
  const int64_t count = (room + (ceil ? window.stride - 1 : 0)) / window.stride + 1;
  // A window that would begin in the padding behind the input is left out.
  return ceil && (count - 1) * window.stride >= window.size + window.low ? count - 1 : count;
}

Shape images(const ShapeQuery &query, int64_t height, int64_t width, int64_t channels) {
  const int64_t batch = query.integer("batch_size");
  const int64_t pixels = query.product("batch_size", query.product("input_height", height, width), batch);
  return {1, 1, pixels, channels};
}

Shape pooled(const ShapeQuery &query) {
  const auto [rows, columns] = imageWindowsOf(query);
  const bool ceil = query.boolean("ceil_mode");
  const Shape &in = query.shape(0);
  return images(query, places(rows, ceil), places(columns, ceil), in.empty() ? 1 : in.back());
}

} // namespace

Shapes conv2d(const ShapeQuery &query) {
  const auto [rows, columns] = imageWindowsOf(query);
  return {images(query, places(rows, false), places(columns, false), query.integer("out_channels"))};
}

Shapes conv1d(const ShapeQuery &query) {
  const int64_t length = places(windowsOf(query, {"input_length"})[0], false);
  return {{1, 1, query.product("batch_size", length, query.integer("batch_size")), query.integer("out_channels")}};
}

Shapes conv3d(const ShapeQuery &query) {
  Shape shape = {query.integer("batch_size")};
  for (const Window &window : windowsOf(query, {"input_depth", "input_height", "input_width"}))
    shape.push_back(places(window, false));
  shape.push_back(query.integer("out_channels"));
  return {shape};
}

Shapes prepareVolumes(const ShapeQuery &query) {
  const Shape &weight = query.shape(0);
  const int64_t alignment = query.integer("alignment");
  if (weight.size() != 5)
    query.fail("weight_tensor",
               "shape " + toString(weight) + "; expected [out channels, in channels / groups, depth, height, width]");
  if (alignment < 1 || alignment > INT32_MAX)
    query.fail("alignment", std::to_string(alignment) + " channels");
  Shape rows = {(weight[1] + alignment - 1) / alignment * alignment, weight[2], weight[3], weight[4]};
  return {{volume(rows), weight[0]}};
}

Shapes convTranspose2d(const ShapeQuery &query) {
  const auto [rows, columns] = imageWindowsOf(query);
  const auto &more = query.integers("output_padding");
  if (more.size() != 2 || std::ranges::any_of(more, [](int64_t size) { return size < 0 || size > INT32_MAX; }))
    query.fail("output_padding", "expected two sizes of at least 0; found " + quoted(more));
  const auto size = [](const Window &window, int64_t more) {
    const int64_t spread = window.size > 0 ? (window.size - 1) * window.stride : 0;
    return std::max<int64_t>(spread + window.dilation * (window.kernel - 1) + 1 + more - window.low - window.high, 0);
  };
  return {images(query, size(rows, more[0]), size(columns, more[1]), query.integer("out_channels"))};
}

Shapes pool2d(const ShapeQuery &query) { return {pooled(query)}; }
Shapes pool2dWithIndices(const ShapeQuery &query) { return Shapes(2, pooled(query)); }

Shapes globalPool2d(const ShapeQuery &query) {
  const Shape &in = query.shape(0);
  if (in.size() != 4)
    query.fail("input", "shape " + toString(in) + "; expected [batch, height, width, channels]");
  return {{in[0], 1, 1, in[3]}};
}

} // namespace tt::ttnn::shapes
