//===- Window.cpp - convolution and pooling -------------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// TTIR's forms state the positions of batch, spatial dimensions and channels, and have sizes as one number or a list.
// TTNN's forms state everything in attributes and work on images that may be flattened to 1 x 1 x (batch * height *
// width) x channels.
//
//===----------------------------------------------------------------------===//

#include "Rules.h"

#include <utility>

namespace tt::shapes {
namespace {

constexpr int64_t most = INT32_MAX; // of what an attribute gives

/// A window along one dimension.
struct Window {
  int64_t size, stride, before, after, dilation, outputPadding;
};
using Windows = Small<Window, 3>;

/// Names of the last `count` spatial dimensions.
std::span<const std::string_view> spatialNames(size_t count) {
  static constexpr std::string_view names[] = {"depth", "height", "width"}, length[] = {"length"};
  return count == 1 ? std::span<const std::string_view>(length) : std::span<const std::string_view>(names).last(count);
}

/// The number of windows that fit into `size` values or, transposed, of values into which they spread; at least one.
int64_t windowCount(const Op &op, int64_t size, const Window &window, bool ceilMode, bool transposed,
                    std::string_view what) {
  if (window.size < 1)
    fail(op, "the window's ", what, " is ", window.size, "; expected 1 or more");
  const auto gaps = multiply(window.size - 1, window.dilation), span = gaps ? add(*gaps, 1) : gaps;
  const auto doesNotFit = [&] { fail(op, what, " ", size, " with its padding and window does not fit into 64 bits"); };
  if (transposed) {
    const auto spread = multiply(size - 1, window.stride);
    auto whole = spread && span ? add(*spread, *span) : std::nullopt;
    whole = whole ? add(*whole, window.outputPadding) : std::nullopt;
    if (!whole)
      doesNotFit();
    const int64_t count = *whole - window.before - window.after;
    if (size < 1 || count < 1)
      fail(op, what, " of the result would be ", size < 1 ? 0 : count, "; expected 1 or more");
    return count;
  }
  const auto padded = add(size, window.before + window.after);
  if (!padded || !span)
    doesNotFit();
  if (*span > *padded)
    fail(op, "the window spans ", *span, " in ", what, ", but the padded input is only ", *padded);
  const int64_t room = *padded - *span;
  if (!ceilMode)
    return room / window.stride + 1;
  // As in PyTorch: a last, partial window must start inside the input or the padding before it.
  const int64_t count = ceilDivide(room, window.stride) + 1;
  const auto last = multiply(count - 1, window.stride);
  return !last || *last >= size + window.before ? count - 1 : count;
}

int64_t checkedGroups(const Op &op, int64_t inChannels, int64_t outChannels) {
  const int64_t groups = integer(op, "groups");
  if (groups < 1 || inChannels % groups != 0 || outChannels % groups != 0)
    failAttribute(op, "groups", "is ", groups, ", which does not divide ", inChannels, " input and ", outChannels,
                  " output channels");
  return groups;
}

/// [out, in / groups, kernel...], transposed [in, out / groups, kernel...].
Sizes filterOf(const Op &op, int64_t inChannels, int64_t outChannels, View kernel, bool transposed) {
  const int64_t groups = checkedGroups(op, inChannels, outChannels);
  Sizes filter = {transposed ? inChannels : outChannels, (transposed ? outChannels : inChannels) / groups};
  for (const int64_t size : kernel)
    filter.push_back(size);
  return filter;
}

void checkWeight(const Op &op, int64_t inChannels, int64_t outChannels, View kernel, bool transposed,
                 std::string_view name = "weight") {
  operand(op, name, kernel.size() + 2);
  expectShape(op, name, filterOf(op, inChannels, outChannels, kernel, transposed));
}

/// Checks a weight that may also be prepared, as a matrix [1, 1, values of a filter, out].
void checkPreparedWeight(const Op &op, int64_t inChannels, int64_t outChannels, View kernel, bool transposed) {
  const Sizes filter = filterOf(op, inChannels, outChannels, kernel, transposed); // checks groups
  const View weight = shapeOf(op, "weight");
  Sizes column(kernel);
  column.push_back(inChannels / integer(op, "groups"));
  const Sizes matrix = {1, 1, volume(op, column), outChannels};
  if (!equal(weight, filter) && !equal(weight, matrix))
    failOperand(op, "weight", "has shape ", weight, "; expected ", View(filter), ", or prepared ", View(matrix));
}

void checkBias(const Op &op, int64_t outChannels) {
  const Operand *bias = optionalOperand(op, "bias");
  if (!bias)
    return;
  // One dimension has the channels, the others are 1.
  const View shape = bias->shape;
  if (volume(op, shape) != outChannels ||
      (outChannels != 1 && std::find(shape.begin(), shape.end(), outChannels) == shape.end()))
    failOperand(op, "bias", "has shape ", shape, "; expected ", outChannels, " values, one per output channel");
}

//===----------------------------------------------------------------------===//
// TTIR: sizes of operands
//===----------------------------------------------------------------------===//

/// One number per spatial dimension, from a number for all or a list; if absent, the neutral value.
Sizes perDimension(const Op &op, std::string_view name, size_t count, int64_t neutral, int64_t least) {
  Attribute found = op.attribute(name);
  Sizes values(count, neutral);
  if (found.kind == Attribute::Kind::Integer)
    values = Sizes(count, found.integer);
  else if (found.kind == Attribute::Kind::Integers)
    values = std::move(found.integers);
  else if (found.kind != Attribute::Kind::Absent)
    failAttribute(op, name, "is neither an integer nor a list of integers");
  if (values.size() != count)
    failAttribute(op, name, "has ", values.size(), " numbers; expected one, or ", count);
  for (const int64_t value : values) {
    if (value < least)
      failAttribute(op, name, "has ", value, "; expected ", least, " or more");
    if (value > most)
      failAttribute(op, name, "has ", value, "; expected ", least, " to ", most);
  }
  return values;
}

/// Padding may also be two numbers per dimension: all those before the dimensions, then all those after.
Windows windowsOf(const Op &op, View kernel) {
  const size_t count = kernel.size();
  const Attribute given = op.attribute("padding");
  const bool sides = given.kind == Attribute::Kind::Integers && given.integers.size() == 2 * count;
  if (given.kind == Attribute::Kind::Integers && !sides && given.integers.size() != count)
    failAttribute(op, "padding", "has ", given.integers.size(), " numbers; expected one, ", count, " or ", 2 * count);
  const Sizes stride = perDimension(op, "stride", count, 1, 1),
              padding = perDimension(op, "padding", sides ? 2 * count : count, 0, 0),
              dilation = perDimension(op, "dilation", count, 1, 1),
              more = perDimension(op, "output_padding", count, 0, 0);
  Windows windows;
  for (size_t i = 0; i < count; ++i)
    windows.push_back({kernel[i], stride[i], padding[i], padding[sides ? count + i : i], dilation[i], more[i]});
  return windows;
}

/// Sizes of an input in the order [batch, spatial..., channels], and their positions.
struct Image {
  Sizes sizes, dims;
  bool flattened = false;
};

Image imageOf(const Op &op, std::initializer_list<std::string_view> dimNames) {
  const View input = shapeOf(op, "input", dimNames.size());
  const auto rank = static_cast<int64_t>(input.size());
  Image image;
  Sizes seen(input.size(), 0);
  int64_t position = 0;
  for (const std::string_view name : dimNames) {
    const int64_t dim = optionalInteger(op, name).value_or(position++);
    if (dim < 0 || dim >= rank)
      failAttribute(op, name, "is ", dim, "; expected 0 to ", rank - 1);
    if (std::exchange(seen[static_cast<size_t>(dim)], 1))
      failAttribute(op, name, "is ", dim, ", as another dimension attribute");
    image.dims.push_back(dim);
    image.sizes.push_back(input[static_cast<size_t>(dim)]);
  }
  const auto batch = optionalInteger(op, "flattened_compat_info.batch_size");
  if (!batch)
    return image;
  image.flattened = true;
  if (!equal(image.dims, Sizes{0, 1, 2, 3}))
    failAttribute(op, "flattened_compat_info", "needs dimensions in order batch, height, width, channel");
  image.sizes = {*batch, integer(op, "flattened_compat_info.input_height"),
                 integer(op, "flattened_compat_info.input_width"), input[3]};
  for (const int64_t size : image.sizes)
    if (size < 0)
      failAttribute(op, "flattened_compat_info", "has ", size, "; expected 0 or more");
  volume(op, image.sizes);
  const Sizes expected = {1, 1, volume(op, View(image.sizes).first(3)), input[3]};
  if (!equal(input, expected))
    failOperand(op, "input", "has shape ", input, "; expected ", View(expected), " by ", Name{"flattened_compat_info"});
  return image;
}

/// The shape of an image of these sizes.
Sizes shapeOf(const Op &op, const Image &image, View sizes) {
  volume(op, sizes);
  if (image.flattened)
    return {1, 1, volume(op, sizes.first(sizes.size() - 1)), sizes.back()};
  Sizes shape(sizes.size(), 0);
  for (size_t i = 0; i < sizes.size(); ++i)
    shape[static_cast<size_t>(image.dims[i])] = sizes[i];
  return shape;
}

void convolve(const Op &op, Results &results, std::initializer_list<std::string_view> dimNames, bool transposed) {
  const Image image = imageOf(op, dimNames);
  const size_t count = image.sizes.size() - 2;
  const Operand &weight = operand(op, "weight", image.sizes.size());
  const View kernel = weight.shape.subspan(2);
  for (const int64_t size : kernel)
    if (size < 1 || size > most)
      failOperand(op, "weight", op.describe(weight), "; expected kernel sizes of 1 or more");
  const Windows windows = windowsOf(op, kernel);
  int64_t outChannels = weight.shape[0];
  if (transposed) {
    const auto all = multiply(weight.shape[1], std::max<int64_t>(integer(op, "groups"), 1));
    if (!all)
      fail(op, "the number of output channels does not fit into 64 bits");
    outChannels = *all;
  }
  checkWeight(op, image.sizes.back(), outChannels, kernel, transposed);
  checkBias(op, outChannels);
  expectChoice(op, "padding_mode", "zeros", "replicate");
  Sizes sizes = {image.sizes[0]};
  for (size_t i = 0; i < count; ++i)
    sizes.push_back(windowCount(op, image.sizes[i + 1], windows[i], false, transposed, spatialNames(count)[i]));
  sizes.push_back(outChannels);
  results.push_back(shapeOf(op, image, sizes));
}

void convolution1d(const Op &op, Results &results) {
  convolve(op, results, {"batch_dim", "length_dim", "channel_dim"}, false);
}
void convolution2d(const Op &op, Results &results) {
  convolve(op, results, {"batch_dim", "height_dim", "width_dim", "channel_dim"}, false);
}
void convolution3d(const Op &op, Results &results) {
  convolve(op, results, {"batch_dim", "depth_dim", "height_dim", "width_dim", "channel_dim"}, false);
}
void transposedConvolution2d(const Op &op, Results &results) {
  convolve(op, results, {"batch_dim", "height_dim", "width_dim", "channel_dim"}, true);
}
void transposedConvolution3d(const Op &op, Results &results) {
  convolve(op, results, {"batch_dim", "depth_dim", "height_dim", "width_dim", "channel_dim"}, true);
}

void slide(const Op &op, Results &results, std::initializer_list<std::string_view> dimNames) {
  const Image image = imageOf(op, dimNames);
  const size_t count = image.sizes.size() - 2;
  const Windows windows = windowsOf(op, perDimension(op, "kernel", count, 1, 1));
  Sizes sizes = image.sizes;
  for (size_t i = 0; i < count; ++i)
    sizes[i + 1] = windowCount(op, sizes[i + 1], windows[i], boolean(op, "ceil_mode"), false, spatialNames(count)[i]);
  results.push_back(shapeOf(op, image, sizes));
}

void pooling2d(const Op &op, Results &results) {
  slide(op, results, {"batch_dim", "height_dim", "width_dim", "channel_dim"});
}
void pooling2dWithIndices(const Op &op, Results &results) {
  pooling2d(op, results);
  results.push_back(Sizes(results.back()));
}
void pooling3d(const Op &op, Results &results) {
  slide(op, results, {"batch_dim", "depth_dim", "height_dim", "width_dim", "channel_dim"});
}
void pooling3dWithIndices(const Op &op, Results &results) {
  pooling3d(op, results);
  results.push_back(Sizes(results.back()));
}

//===----------------------------------------------------------------------===//
// TTNN: sizes of attributes
//===----------------------------------------------------------------------===//

/// The attributes of the input and the window, outermost first.
struct Described {
  int64_t batch, inChannels;
  Sizes sizes, kernel;
  Windows windows;
};

Sizes describedImage(const Op &op, const Described &all) {
  Sizes image = {all.batch};
  for (const int64_t size : all.sizes)
    image.push_back(size);
  image.push_back(all.inChannels);
  for (const int64_t size : image)
    if (size < 0 || size > most)
      fail(op, "attributes give an input of shape ", View(image), "; sizes are 0 to ", most);
  volume(op, image);
  return image;
}

/// The numbers of attributes; those of the windows are within bounds.
Described describedNumbers(const Op &op, std::initializer_list<std::string_view> sizeNames, std::string_view channels,
                           bool transposed, int64_t neutral = -1) {
  const size_t count = sizeNames.size();
  Described all{integer(op, "batch_size"), integer(op, channels), {}, {}, {}};
  for (const std::string_view name : sizeNames)
    all.sizes.push_back(integer(op, name));
  static constexpr std::string_view words[] = {"", "one number", "two numbers", "three numbers"},
                                    either[] = {"", "one or two", "two or four", "three or six"};
  // A single dimension may have its number without a list. Absent if the op has no such attribute.
  const auto read = [&](std::string_view name, int64_t least, int64_t absent) {
    Attribute found = op.attribute(name);
    if (found.kind == Attribute::Kind::Absent && absent >= 0)
      return Sizes(count, absent);
    if (found.kind == Attribute::Kind::Integer && count == 1)
      found.integers = {found.integer};
    const bool sides = name == "padding" && found.integers.size() == 2 * count;
    const auto any = [&](auto is) { return std::any_of(found.integers.begin(), found.integers.end(), is); };
    if (any([&](int64_t value) { return value > most; }))
      failAttribute(op, name, "is ", list(found.integers), "; expected numbers from ", least, " to ", most);
    if ((found.integers.size() != count && !sides) || any([&](int64_t value) { return value < least; })) {
      if (name == "padding")
        failAttribute(op, name, "is ", list(found.integers), "; expected ", either[count], " numbers of 0 or more");
      failAttribute(op, name, "is ", list(found.integers), "; expected ", words[count], " of ", least, " or more");
    }
    return std::move(found.integers);
  };
  const Sizes stride = (all.kernel = read("kernel_size", 1, -1), read("stride", 1, -1)),
              dilation = read("dilation", 1, count == 3 ? 1 : -1), padding = read("padding", 0, -1),
              more = transposed ? read("output_padding", 0, neutral) : Sizes(count, 0);
  const bool sides = padding.size() == 2 * count;
  for (size_t i = 0; i < count; ++i)
    all.windows.push_back(
        {all.kernel[i], stride[i], padding[sides ? 2 * i : i], padding[sides ? 2 * i + 1 : i], dilation[i], more[i]});
  return all;
}

Described describedWindows(const Op &op, std::initializer_list<std::string_view> sizeNames, std::string_view channels,
                           bool transposed) {
  Described all = describedNumbers(op, sizeNames, channels, transposed);
  const size_t count = sizeNames.size();
  const Sizes image = describedImage(op, all);
  // Sequences and images may be flattened or not, volumes never are.
  const Operand &from = operand(op, "input");
  const Sizes flat = {1, 1, volume(op, View(image).first(count + 1)), all.inChannels};
  const bool isVolume = count == 3, isFlat = !isVolume && equal(from.shape, flat);
  if (!isFlat && !equal(from.shape, image))
    failOperand(op, "input", "has shape ", from.shape, "; expected ", isVolume ? std::string() : op.text(flat) + " or ",
                View(image), " by the attributes");
  return all;
}

/// The result is flattened, but that of volumes.
void pushWindows(const Op &op, Results &results, const Described &all, int64_t outChannels, bool ceilMode,
                 bool transposed) {
  if (outChannels < 0)
    failAttribute(op, "out_channels", "is ", outChannels, "; expected 0 or more");
  if (outChannels > most)
    failAttribute(op, "out_channels", "is ", outChannels, "; expected 0 to ", most);
  const size_t count = all.sizes.size();
  Sizes shape = {all.batch};
  for (size_t i = 0; i < count; ++i)
    shape.push_back(windowCount(op, all.sizes[i], all.windows[i], ceilMode, transposed, spatialNames(count)[i]));
  shape.push_back(outChannels);
  volume(op, shape);
  if (count < 3)
    shape = {1, 1, volume(op, View(shape).first(count + 1)), outChannels};
  results.push_back(shape);
}

/// The blocks of window contents that a core computes at a time: rows of tiles, and a part of their columns.
void checkBlocks(const Op &op) {
  if (auto divisor = optionalInteger(op, "conv2d_config.act_block_w_div"); divisor && *divisor < 1)
    failAttribute(op, "conv2d_config", "has act_block_w_div = ", *divisor, "; expected a divisor of at least 1");
  if (auto rows = optionalInteger(op, "conv2d_config.act_block_h_override"); rows && (*rows < 0 || *rows % 32 != 0))
    failAttribute(op, "conv2d_config", "has act_block_h_override = ", *rows, "; expected a multiple of 32");
}

/// The bias of a convolution with attributes for sizes has its channels in the last dimension.
void checkLastBias(const Op &op, int64_t outChannels) {
  if (const Operand *bias = optionalOperand(op, "bias"))
    if (bias->shape.empty() || bias->shape.back() != outChannels || volume(op, bias->shape) != outChannels)
      failOperand(op, "bias", "has shape ", bias->shape, "; expected ", outChannels,
                  " values, one per output channel, in the last dimension");
}

void convolveDescribed(const Op &op, Results &results, std::initializer_list<std::string_view> sizeNames,
                       bool transposed) {
  checkBlocks(op);
  // Empty images and channels have empty results, or the bias; functions called by hand refuse them.
  for (const std::string_view name : {"in_channels", "out_channels"})
    if (const int64_t value = integer(op, name); value < 0)
      failAttribute(op, name, "is ", value, "; expected 0 or more");
  const Described all = describedWindows(op, sizeNames, "in_channels", transposed);
  const int64_t outChannels = integer(op, "out_channels");
  pushWindows(op, results, all, outChannels, false, transposed);
  const View weight = shapeOf(op, "weight");
  Sizes kernel = all.kernel;
  if (sizeNames.size() == 3) {
    expectChoice(op, "padding_mode", "zeros", "replicate");
    if (weight.size() == 2 && !transposed) { // prepared, as a matrix
      const int64_t places = volume(op, kernel), groups = integer(op, "groups");
      if (groups < 1 || all.inChannels % groups != 0 || weight[0] % places != 0 ||
          weight[0] / places < all.inChannels / groups || weight[1] != outChannels)
        failOperand(op, "weight", "has shape ", weight, "; expected ", places,
                    " times at least as many rows as the channels of a group, ", all.inChannels, " / ", groups,
                    ", and ", outChannels, " columns");
      return checkLastBias(op, outChannels);
    }
  } else if (weight.size() == 4) {
    if (kernel.size() == 1) // of a sequence, as of an image one pixel wide
      kernel.push_back(1);
    if (weight[0] == 1 && weight[1] == 1) {
      checkPreparedWeight(op, all.inChannels, outChannels, kernel, transposed);
      return checkLastBias(op, outChannels);
    }
  }
  checkWeight(op, all.inChannels, outChannels, kernel, transposed);
  checkLastBias(op, outChannels);
}

void conv1d(const Op &op, Results &results) { convolveDescribed(op, results, {"input_length"}, false); }
void conv2d(const Op &op, Results &results) { convolveDescribed(op, results, {"input_height", "input_width"}, false); }
void convTranspose2d(const Op &op, Results &results) {
  convolveDescribed(op, results, {"input_height", "input_width"}, true);
}
void conv3d(const Op &op, Results &results) {
  convolveDescribed(op, results, {"input_depth", "input_height", "input_width"}, false);
}
void convTranspose3d(const Op &op, Results &results) {
  convolveDescribed(op, results, {"input_depth", "input_height", "input_width"}, true);
}

void pool2d(const Op &op, Results &results) {
  const Described all = describedWindows(op, {"input_height", "input_width"}, "channels", false);
  pushWindows(op, results, all, all.inChannels, boolean(op, "ceil_mode"), false);
}
void pool2dWithIndices(const Op &op, Results &results) {
  pool2d(op, results);
  results.push_back(Sizes(results.back()));
}

void globalPool2d(const Op &op, Results &results) {
  const View input = shapeOf(op, "input", 4);
  results.push_back({input[0], 1, 1, input[3]});
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

void prepareVolumes(const Op &op, Results &results) {
  const View weight = shapeOf(op, "weight_tensor", 5);
  const int64_t groups = integer(op, "groups"), alignment = integer(op, "alignment"), block = integer(op, "c_in_block");
  if (groups < 1 || weight[0] % groups != 0)
    failAttribute(op, "groups", "is ", groups, ", which does not divide ", weight[0], " output channels");
  if (alignment < 1 || alignment > most)
    failAttribute(op, "alignment", "is ", alignment, "; expected 1 or more");
  const auto padded = add(weight[1], alignment - 1);
  if (!padded)
    fail(op, "the number of input channels does not fit into 64 bits");
  const int64_t channels = *padded / alignment * alignment;
  if (block < 0 || (block > 0 && channels % block != 0))
    failAttribute(op, "c_in_block", "is ", block, "; expected 0, or a divisor of ", channels, " input channels");
  results.push_back({volume(op, Sizes{channels, weight[2], weight[3], weight[4]}), weight[0]});
}

/// Infers the shape that the result declares, if it has the same number of values, or else `otherwise`.
void prepareAs(const Op &op, Results &results, const Sizes &otherwise) {
  const View from = operandAt(op, 0).shape, to = op.declared.empty() ? View(otherwise) : op.declared[0];
  if (volume(op, from) != volume(op, to))
    fail(op, "has a result of shape ", to, "; expected as many values as ", from);
  results.push_back(Sizes(to));
}

void prepareBias(const Op &op, Results &results) {
  const View from = operandAt(op, 0).shape;
  prepareAs(op, results, Sizes(from));
}

/// The library's matrix has a column for each output channel.
void prepareWeights(const Op &op, Results &results) {
  const int64_t outs = integer(op, "out_channels"), all = volume(op, operandAt(op, 0).shape);
  if (op.declared.empty() && (outs < 1 || all % outs != 0))
    failAttribute(op, "out_channels", "is ", outs, "; expected a divisor of the ", all, " values of the weight");
  prepareAs(op, results, op.declared.empty() ? Sizes{1, 1, all / outs, outs} : Sizes());
}

/// Checks a weight or bias of a convolution whose attributes state sizes, and that a window fits into the image. The
/// library determines the shape of the result: a matrix with at least as many values.
void prepareConvolution(const Op &op, bool transposed, bool isWeight) {
  checkBlocks(op);
  const Described all = describedNumbers(op, {"input_height", "input_width"}, "in_channels", transposed, /*neutral=*/0);
  const int64_t outChannels = integer(op, "out_channels");
  describedImage(op, all);
  Results result;
  pushWindows(op, result, all, outChannels, false, transposed);
  if (isWeight) {
    const std::string_view format = transposed ? "IOHW" : "OIHW";
    expectChoice(op, "weights_format", format, format);
    checkWeight(op, all.inChannels, outChannels, all.kernel, transposed, "weight_tensor");
  } else {
    checkedGroups(op, all.inChannels, outChannels);
    const Operand &bias = operand(op, "bias_tensor");
    if (volume(op, bias.shape) != outChannels)
      failOperand(op, "bias_tensor", "has shape ", bias.shape, "; expected ", outChannels,
                  " values, one per output channel");
  }
  if (op.declared.empty())
    return;
  const View from = operandAt(op, 0).shape, to = op.declared[0];
  if (to.size() != 4 || to[0] != 1 || to[1] != 1 || volume(op, to) < volume(op, from))
    fail(op, "has a result of shape ", to, "; expected 1x1xMxN with the ", volume(op, from), " values of ",
         Name{op.operands[0].name});
}

void prepareConv2dWeights(const Op &op, Results &) { prepareConvolution(op, false, true); }
void prepareConv2dBias(const Op &op, Results &) { prepareConvolution(op, false, false); }
void prepareConvTranspose2dWeights(const Op &op, Results &) { prepareConvolution(op, true, true); }
void prepareConvTranspose2dBias(const Op &op, Results &) { prepareConvolution(op, true, false); }

} // namespace

std::span<const Rule> windowRules() {
  static constexpr Rule rows[] = {
      {"conv1d", conv1d},
      {"conv2d", conv2d},
      {"conv3d", conv3d},
      {"convTranspose2d", convTranspose2d},
      {"convTranspose3d", convTranspose3d},
      {"convolution1d", convolution1d},
      {"convolution2d", convolution2d},
      {"convolution3d", convolution3d},
      {"globalPool2d", globalPool2d},
      {"pool2d", pool2d},
      {"pool2dWithIndices", pool2dWithIndices},
      {"pooling2d", pooling2d},
      {"pooling2dWithIndices", pooling2dWithIndices},
      {"pooling3d", pooling3d},
      {"pooling3dWithIndices", pooling3dWithIndices},
      {"prepareBias", prepareBias},
      {"prepareVolumes", prepareVolumes},
      {"prepareWeights", prepareWeights},
      {"prepare_conv2d_bias", prepareConv2dBias},
      {"prepare_conv2d_weights", prepareConv2dWeights},
      {"prepare_conv_transpose2d_bias", prepareConvTranspose2dBias},
      {"prepare_conv_transpose2d_weights", prepareConvTranspose2dWeights},
      {"transposedConvolution2d", transposedConvolution2d},
      {"transposedConvolution3d", transposedConvolution3d},
  };
  return rows;
}

} // namespace tt::shapes
