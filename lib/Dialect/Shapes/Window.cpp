//===- Window.cpp - shapes of convolution and pooling ---------------------===//

#include "Detail.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tt::shapes;

namespace {
/// A window along one dimension.
struct Window {
  int64_t size, stride = 1, before = 0, after = 0, dilation = 1;
};
} // namespace

/// One number per spatial dimension, from a number for all or an array.
static FailureOr<Shape> perDimension(const Reporter &report, Attribute attr, StringRef name, size_t count,
                                     int64_t neutral, int64_t least) {
  Shape values(count, neutral);
  if (auto all = dyn_cast_or_null<IntegerAttr>(attr)) {
    values.assign(count, all.getValue().getSExtValue());
  } else if (auto each = dyn_cast_or_null<DenseI32ArrayAttr>(attr)) {
    if (each.size() != static_cast<int64_t>(count))
      return report.error("attribute '", name, "' has ", each.size(), " numbers; expected one, or ",
                          static_cast<int64_t>(count));
    llvm::copy(each.asArrayRef(), values.begin());
  }
  for (int64_t value : values)
    if (value < least)
      return report.error("attribute '", name, "' has ", value, "; expected ", least, " or more");
  return values;
}

/// Padding before each dimension, then after each.
static FailureOr<Shape> paddingOf(const Reporter &report, Attribute attr, size_t count) {
  auto each = dyn_cast_or_null<DenseI32ArrayAttr>(attr);
  if (each && each.size() != static_cast<int64_t>(count) && each.size() != static_cast<int64_t>(2 * count))
    return report.error("attribute 'padding' has ", each.size(), " numbers; expected one, ",
                        static_cast<int64_t>(count), " or ", static_cast<int64_t>(2 * count));
  bool isWhole = each && each.size() == static_cast<int64_t>(2 * count);
  FailureOr<Shape> values = perDimension(report, attr, "padding", isWhole ? 2 * count : count, 0, 0);
  if (succeeded(values) && !isWhole)
    values->append(Shape(*values));
  return values;
}

/// How much input a window spans; nothing when that overflows.
static std::optional<int64_t> span(const Window &window) {
  std::optional<int64_t> gaps = multiply(window.size - 1, window.dilation);
  return gaps ? add(*gaps, 1) : std::nullopt;
}

/// How many windows fit into `size` values.
static FailureOr<int64_t> windowCount(const Reporter &report, int64_t size, const Window &window, bool ceilMode,
                                      StringRef what) {
  std::optional<int64_t> padded = add(size, window.before + window.after), spanned = span(window);
  if (!padded || !spanned)
    return report.error(what, " ", size, " with its padding and window does not fit into 64 bits");
  if (window.size < 1)
    return report.error("the window's ", what, " is ", window.size, "; expected 1 or more");
  if (*spanned > *padded)
    return report.error("the window spans ", *spanned, " in ", what, ", but the padded input is only ", *padded);
  int64_t room = *padded - *spanned;
  if (!ceilMode)
    return room / window.stride + 1;
  // As in PyTorch: a last, partial window must start inside the input or the padding before it.
  int64_t count = static_cast<int64_t>(llvm::divideCeil(room, window.stride)) + 1;
  if ((count - 1) * window.stride >= size + window.before)
    --count;
  return count;
}

static FailureOr<int64_t> transposedCount(const Reporter &report, int64_t size, const Window &window,
                                          int64_t outputPadding, StringRef what) {
  std::optional<int64_t> spread = multiply(size - 1, window.stride), spanned = span(window);
  std::optional<int64_t> whole = spread && spanned ? add(*spread, *spanned) : std::nullopt;
  whole = whole ? add(*whole, outputPadding) : std::nullopt;
  if (!whole)
    return report.error(what, " ", size, " with its padding and window does not fit into 64 bits");
  int64_t count = *whole - window.before - window.after;
  if (size < 1 || window.size < 1 || count < 0)
    return report.error(what, " of the result would be ", count, "; expected 0 or more");
  return count;
}

/// The weight is [out, in / groups, kernel...], transposed [in, out / groups, kernel...]; the bias has `out` values.
static LogicalResult checkWeight(const Reporter &report, Value weight, Value bias, int64_t inChannels,
                                 int64_t outChannels, int64_t groups, ArrayRef<int32_t> kernel, bool transposed) {
  FailureOr<RankedTensorType> type = ranked(report, weight, "weight", kernel.size() + 2);
  if (failed(type))
    return failure();
  if (groups < 1 || inChannels % groups != 0 || outChannels % groups != 0)
    return report.error("attribute 'groups' is ", groups, ", which does not divide ", inChannels, " input and ",
                        outChannels, " output channels");
  Shape expected = transposed ? Shape{inChannels, outChannels / groups} : Shape{outChannels, inChannels / groups};
  expected.append(kernel.begin(), kernel.end());
  if (type->getShape() != ArrayRef<int64_t>(expected))
    return report.error("operand 'weight' has shape ", text(type->getShape()), "; expected ", text(expected));
  if (!bias)
    return success();
  FailureOr<RankedTensorType> biasType = ranked(report, bias, "bias");
  if (failed(biasType))
    return failure();
  // One dimension holds the channels, the others are 1.
  bool isVector = product(biasType->getShape()) == outChannels &&
                  (outChannels == 1 || llvm::is_contained(biasType->getShape(), outChannels));
  if (!isVector)
    return report.error("operand 'bias' has shape ", text(biasType->getShape()), "; expected ", outChannels,
                        " values, one per output channel");
  return success();
}

/// Names of the last `count` spatial dimensions.
static ArrayRef<StringRef> spatialNames(size_t count) {
  static const StringRef names[] = {"depth", "height", "width"};
  static const StringRef length[] = {"length"};
  return count == 1 ? ArrayRef<StringRef>(length) : ArrayRef<StringRef>(names).take_back(count);
}

static LogicalResult checkDims(const Reporter &report, ArrayRef<int64_t> dims, int64_t rank) {
  SmallVector<bool> seen(rank);
  for (int64_t dim : dims) {
    if (dim < 0 || dim >= rank)
      return report.error("has dimension attribute ", dim, "; expected 0 to ", rank - 1);
    if (std::exchange(seen[dim], true))
      return report.error("has two dimension attributes with ", dim);
  }
  return success();
}

namespace {
/// A convolution whose attributes are read.
struct Convolution {
  Shape stride, padding, dilation, outputPadding;
  int64_t groups;
  bool transposed;
};
} // namespace

/// Sizes of the result, in order [batch, spatial..., channel], from those of
/// the input in the same order.
static FailureOr<Shape> convolutionSizes(const Reporter &report, ArrayRef<int64_t> sizes, Value weight, Value bias,
                                         const Convolution &config) {
  size_t count = sizes.size() - 2;
  FailureOr<RankedTensorType> weightType = ranked(report, weight, "weight", sizes.size());
  if (failed(weightType))
    return failure();
  SmallVector<int32_t> kernel;
  for (int64_t size : weightType->getShape().drop_front(2)) {
    if (size < 1 || size > INT32_MAX)
      return report.error("operand 'weight' is ", *weightType, "; expected kernel sizes of 1 or more");
    kernel.push_back(size);
  }
  int64_t outChannels = weightType->getDimSize(0);
  if (config.transposed) {
    std::optional<int64_t> all = multiply(weightType->getDimSize(1), std::max<int64_t>(config.groups, 1));
    if (!all)
      return report.error("the number of output channels does not fit into 64 bits");
    outChannels = *all;
  }
  if (failed(checkWeight(report, weight, bias, sizes.back(), outChannels, config.groups, kernel, config.transposed)))
    return failure();

  Shape result = {sizes.front()};
  for (size_t i = 0; i < count; ++i) {
    Window window{kernel[i], config.stride[i], config.padding[i], config.padding[count + i], config.dilation[i]};
    StringRef what = spatialNames(count)[i];
    FailureOr<int64_t> size = config.transposed
                                  ? transposedCount(report, sizes[i + 1], window, config.outputPadding[i], what)
                                  : windowCount(report, sizes[i + 1], window, /*ceilMode=*/false, what);
    if (failed(size))
      return failure();
    result.push_back(*size);
  }
  result.push_back(outChannels);
  return result;
}

static FailureOr<Convolution> readConvolution(const Reporter &report, const ConvolutionConfig &config, size_t count,
                                              std::optional<Attribute> outputPadding = std::nullopt) {
  FailureOr<Shape> stride = perDimension(report, config.stride, "stride", count, 1, 1);
  if (failed(stride))
    return failure();
  FailureOr<Shape> padding = paddingOf(report, config.padding, count);
  if (failed(padding))
    return failure();
  FailureOr<Shape> dilation = perDimension(report, config.dilation, "dilation", count, 1, 1);
  if (failed(dilation))
    return failure();
  FailureOr<Shape> extra = perDimension(report, outputPadding.value_or(Attribute()), "output_padding", count, 0, 0);
  if (failed(extra))
    return failure();
  return Convolution{*stride, *padding, *dilation, *extra, config.groups, outputPadding.has_value()};
}

LogicalResult tt::shapes::convolution(const Reporter &report, Value input, Value weight, Value bias,
                                      const ConvolutionConfig &config, int64_t batchDim, ArrayRef<int64_t> spatialDims,
                                      int64_t channelDim, Types &results) {
  FailureOr<RankedTensorType> type = ranked(report, input, "input", spatialDims.size() + 2);
  if (failed(type))
    return failure();
  Shape dims = {batchDim};
  dims.append(spatialDims.begin(), spatialDims.end());
  dims.push_back(channelDim);
  if (failed(checkDims(report, dims, type->getRank())))
    return failure();
  FailureOr<Convolution> read = readConvolution(report, config, spatialDims.size());
  if (failed(read))
    return failure();
  Shape sizes;
  for (int64_t dim : dims)
    sizes.push_back(type->getDimSize(dim));
  FailureOr<Shape> result = convolutionSizes(report, sizes, weight, bias, *read);
  if (failed(result))
    return failure();
  Shape shape(dims.size());
  for (auto [dim, size] : llvm::zip(dims, *result))
    shape[dim] = size;
  return push(report, shape, *type, results);
}

/// [batch, height, width, channels] of an image, flattened or not.
static FailureOr<Shape> imageSizes(const Reporter &report, RankedTensorType type, ArrayRef<int64_t> dims,
                                   std::optional<Flattened> flattened) {
  if (failed(checkDims(report, dims, type.getRank())))
    return failure();
  if (!flattened) {
    Shape sizes;
    for (int64_t dim : dims)
      sizes.push_back(type.getDimSize(dim));
    return sizes;
  }
  if (dims != ArrayRef<int64_t>{0, 1, 2, 3})
    return report.error("attribute 'flattened_compat_info' needs dimensions in order batch, height, width, channel");
  auto [batch, height, width] = *flattened;
  Shape sizes = {batch, height, width, type.getDimSize(3)};
  for (int64_t size : {batch, height, width})
    if (size < 0)
      return report.error("attribute 'flattened_compat_info' has ", size, "; expected 0 or more");
  if (failed(checkSize(report, sizes)))
    return failure();
  Shape expected = {1, 1, product({batch, height, width}), type.getDimSize(3)};
  if (type.getShape() != ArrayRef<int64_t>(expected))
    return report.error("operand 'input' has shape ", text(type.getShape()), "; expected ", text(expected),
                        " by 'flattened_compat_info'");
  return sizes;
}

/// Appends the type with `sizes` = [batch, spatial..., channels].
static LogicalResult pushImage(const Reporter &report, ArrayRef<int64_t> sizes, RankedTensorType like,
                               ArrayRef<int64_t> dims, bool flattened, Types &results) {
  if (failed(checkSize(report, sizes)))
    return failure();
  Shape shape(sizes.size());
  for (auto [dim, size] : llvm::zip(dims, sizes))
    shape[dim] = size;
  if (flattened)
    shape = {1, 1, product(sizes.drop_back()), sizes.back()};
  return push(report, shape, like, results);
}

static LogicalResult convolution2d(const Reporter &report, Value input, Value weight, Value bias,
                                   const Conv2dConfig &config, std::optional<Attribute> outputPadding, Types &results) {
  FailureOr<RankedTensorType> type = ranked(report, input, "input", 4);
  if (failed(type))
    return failure();
  Shape dims = {config.dims.batch, config.dims.height, config.dims.width, config.dims.channel};
  FailureOr<Shape> sizes = imageSizes(report, *type, dims, config.flattened);
  if (failed(sizes))
    return failure();
  FailureOr<Convolution> read =
      readConvolution(report, {config.stride, config.padding, config.dilation, config.groups}, 2, outputPadding);
  if (failed(read))
    return failure();
  FailureOr<Shape> result = convolutionSizes(report, *sizes, weight, bias, *read);
  if (failed(result))
    return failure();
  return pushImage(report, *result, *type, dims, config.flattened.has_value(), results);
}

LogicalResult tt::shapes::conv2d(const Reporter &report, Value input, Value weight, Value bias,
                                 const Conv2dConfig &config, Types &results) {
  return convolution2d(report, input, weight, bias, config, std::nullopt, results);
}

LogicalResult tt::shapes::convTranspose2d(const Reporter &report, Value input, Value weight, Value bias,
                                          const Conv2dConfig &config, Attribute outputPadding, Types &results) {
  return convolution2d(report, input, weight, bias, config, outputPadding, results);
}

/// Positions in a window's plane are i32.
static LogicalResult pushIndices(const Reporter &report, bool withIndices, Types &results) {
  if (!withIndices)
    return success();
  auto type = cast<RankedTensorType>(results.back());
  return push(report, type.getShape(), IntegerType::get(type.getContext(), 32), results);
}

LogicalResult tt::shapes::pool2d(const Reporter &report, Value input, const Pool2dConfig &config, bool withIndices,
                                 Types &results) {
  FailureOr<RankedTensorType> type = ranked(report, input, "input", 4);
  if (failed(type))
    return failure();
  const int64_t dims[] = {0, 1, 2, 3};
  FailureOr<Shape> sizes = imageSizes(report, *type, dims, config.flattened);
  if (failed(sizes))
    return failure();
  FailureOr<Shape> kernel = perDimension(report, config.kernel, "kernel", 2, 1, 1);
  if (failed(kernel))
    return failure();
  FailureOr<Convolution> read =
      readConvolution(report, {config.stride, config.padding, config.dilation, /*groups=*/1}, 2);
  if (failed(read))
    return failure();
  Shape result(*sizes);
  for (size_t i = 0; i < 2; ++i) {
    Window window{(*kernel)[i], read->stride[i], read->padding[i], read->padding[2 + i], read->dilation[i]};
    FailureOr<int64_t> size = windowCount(report, (*sizes)[i + 1], window, config.ceilMode, spatialNames(2)[i]);
    if (failed(size))
      return failure();
    result[i + 1] = *size;
  }
  return success(succeeded(pushImage(report, result, *type, dims, config.flattened.has_value(), results)) &&
                 succeeded(pushIndices(report, withIndices, results)));
}

LogicalResult tt::shapes::globalPool2d(const Reporter &report, Value input, Types &results) {
  FailureOr<RankedTensorType> type = ranked(report, input, "input", 4);
  if (failed(type))
    return failure();
  return push(report, {type->getDimSize(0), 1, 1, type->getDimSize(3)}, *type, results);
}

/// Sequences and images may come flattened or as they are, volumes only as they are.
static FailureOr<RankedTensorType> imagesOfAttributes(const Reporter &report, Value input,
                                                      const WindowAttributes &window) {
  const size_t count = window.sizes.size();
  FailureOr<RankedTensorType> type =
      count == 1 ? ranked(report, input, "input") : ranked(report, input, "input", count + 2);
  if (failed(type))
    return failure();
  Shape image = {window.batch};
  image.append(window.sizes.begin(), window.sizes.end());
  image.push_back(window.inChannels);
  for (int64_t size : image)
    if (size < 0)
      return report.error("attributes give an input of shape ", text(image), "; sizes cannot be negative");
  if (failed(checkSize(report, image)))
    return failure();
  const Shape flat = {1, 1, product(ArrayRef<int64_t>(image).drop_back()), window.inChannels};
  const bool isVolume = count == 3, isFlat = !isVolume && type->getShape() == ArrayRef<int64_t>(flat);
  if (!isFlat && type->getShape() != ArrayRef<int64_t>(image))
    return report.error("operand 'input' has shape ", text(type->getShape()), "; expected ",
                        isVolume ? std::string() : text(flat) + " or ", text(image), " by the attributes");
  return type;
}

LogicalResult tt::shapes::windowOfAttributes(const Reporter &report, Value input, const WindowAttributes &window,
                                             bool withIndices, Types &results) {
  FailureOr<RankedTensorType> type = imagesOfAttributes(report, input, window);
  if (failed(type))
    return failure();
  static constexpr StringRef words[] = {"", "one number", "two numbers", "three numbers"};
  const size_t count = window.sizes.size();
  auto fits = [&](ArrayRef<int32_t> values, int32_t least) {
    return values.size() == count && llvm::all_of(values, [&](int32_t value) { return value >= least; });
  };
  for (auto [name, values] : {std::pair<StringRef, ArrayRef<int32_t>>("kernel_size", window.kernel),
                              {"stride", window.stride},
                              {"dilation", window.dilation}})
    if (!fits(values, 1))
      return report.error("attribute '", name, "' is [", values, "]; expected ", words[count], " of 1 or more");
  ArrayRef<int32_t> padding = window.padding, extra = window.outputPadding;
  const bool hasSides = padding.size() == 2 * count;
  if ((!hasSides && padding.size() != count) || llvm::any_of(padding, [](int32_t n) { return n < 0; })) {
    static constexpr StringRef either[] = {"", "one or two", "two or four", "three or six"};
    return report.error("attribute 'padding' is [", padding, "]; expected ", either[count], " numbers of 0 or more");
  }
  if (window.transposed && !fits(extra, 0))
    return report.error("attribute 'output_padding' is [", extra, "]; expected ", words[count], " of 0 or more");

  Shape result = {window.batch};
  for (size_t i = 0; i < count; ++i) {
    Window one{window.kernel[i], window.stride[i], padding[hasSides ? 2 * i : i], padding[hasSides ? 2 * i + 1 : i],
               window.dilation[i]};
    FailureOr<int64_t> size = window.transposed
                                  ? transposedCount(report, window.sizes[i], one, extra[i], spatialNames(count)[i])
                                  : windowCount(report, window.sizes[i], one, window.ceilMode, spatialNames(count)[i]);
    if (failed(size))
      return failure();
    result.push_back(*size);
  }
  if (window.outChannels < 0)
    return report.error("attribute 'out_channels' is ", window.outChannels, "; expected 0 or more");
  result.push_back(window.outChannels);
  Shape inOrder = llvm::to_vector(llvm::seq<int64_t>(0, result.size()));
  return success(succeeded(pushImage(report, result, *type, inOrder, /*flattened=*/count < 3, results)) &&
                 succeeded(pushIndices(report, withIndices, results)));
}

LogicalResult tt::shapes::convolutionOfAttributes(const Reporter &report, Value input, Value weight, Value bias,
                                                  int64_t groups, const WindowAttributes &window, Types &results) {
  if (failed(windowOfAttributes(report, input, window, /*withIndices=*/false, results)))
    return failure();
  SmallVector<int32_t> kernel(window.kernel);
  FailureOr<RankedTensorType> type = ranked(report, weight, "weight");
  if (failed(type))
    return failure();
  if (type->getRank() == 4 && kernel.size() < 3) {
    if (type->getDimSize(0) == 1 && type->getDimSize(1) == 1) // prepared
      return success();
    if (kernel.size() == 1) // of a sequence, as of an image one pixel wide
      kernel.push_back(1);
  }
  return checkWeight(report, weight, bias, window.inChannels, window.outChannels, groups, kernel, window.transposed);
}

LogicalResult tt::shapes::convolution3dOfAttributes(const Reporter &report, Value input, Value weight, Value bias,
                                                    int64_t groups, const WindowAttributes &window,
                                                    StringRef paddingMode, Types &results) {
  if (paddingMode != "zeros" && paddingMode != "replicate")
    return report.error("attribute 'padding_mode' is '", paddingMode, "'; expected 'zeros' or 'replicate'");
  auto type = dyn_cast<RankedTensorType>(weight.getType());
  if (!type || type.getRank() != 2)
    return convolutionOfAttributes(report, input, weight, bias, groups, window, results);
  if (failed(windowOfAttributes(report, input, window, /*withIndices=*/false, results)))
    return failure();
  int64_t places = product({window.kernel[0], window.kernel[1], window.kernel[2]});
  if (groups < 1 || window.inChannels % groups != 0 || type.getDimSize(0) % places != 0 ||
      type.getDimSize(0) / places < window.inChannels / groups || type.getDimSize(1) != window.outChannels)
    return report.error("operand 'weight' has shape ", text(type.getShape()), "; expected ", places,
                        " times at least as many rows as the channels of a group, ", window.inChannels, " / ", groups,
                        ", and ", window.outChannels, " columns");
  return success();
}

LogicalResult tt::shapes::prepareVolumes(const Reporter &report, Value weight, int64_t groups, int64_t block,
                                         int64_t alignment, Types &results) {
  FailureOr<RankedTensorType> type = ranked(report, weight, "weight_tensor", 5);
  if (failed(type))
    return failure();
  ArrayRef<int64_t> shape = type->getShape();
  if (groups < 1 || shape[0] % groups != 0)
    return report.error("attribute 'groups' is ", groups, ", which does not divide ", shape[0], " output channels");
  if (alignment < 1)
    return report.error("attribute 'alignment' is ", alignment, "; expected 1 or more");
  std::optional<int64_t> padded = add(shape[1], alignment - 1);
  if (!padded)
    return report.error("the number of input channels does not fit into 64 bits");
  int64_t channels = *padded / alignment * alignment;
  if (block < 0 || (block > 0 && channels % block != 0))
    return report.error("attribute 'c_in_block' is ", block, "; expected 0, or a divisor of ", channels,
                        " input channels");
  Shape rows = {channels, shape[2], shape[3], shape[4]};
  if (failed(checkSize(report, rows)))
    return failure();
  return push(report, {product(rows), shape[0]}, *type, results);
}
