//===- Windows.cpp - convolutions and pools as ops on shifted inputs ------===//
// SPDX-License-Identifier: Apache-2.0
//
// For each position of the window, there is a slice of the padded input with this position of all windows. A pool joins
// the slices; a convolution is the product of the concatenated slices and the weights. A transposed convolution is a
// convolution of the input with zeros between its elements and the reversed kernel.
//
//===----------------------------------------------------------------------===//

#include "Composites.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/AvgPool2dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/AvgPool3dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/Conv1dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/Conv2dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/Conv3dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConvTranspose2dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConvTranspose3dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MaxPool2dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MaxPool2dWithIndicesOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MaxPool3dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MaxPool3dWithIndicesOp.h"
#include "ttmlir/Dialect/TTIR/IR/TTIR.h"

#include <limits>
#include <numeric>

using namespace mlir;
using namespace mlir::tt;

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// Numbers for all of `count` dimensions, or one that applies to each.
static SmallVector<int64_t> numbersOf(Attribute attribute, size_t count) {
  if (auto integer = dyn_cast<IntegerAttr>(attribute))
    return SmallVector<int64_t>(count, integer.getInt());
  ArrayRef<int32_t> values = cast<DenseI32ArrayAttr>(attribute).asArrayRef();
  return values.size() == 1 ? SmallVector<int64_t>(count, values[0])
                            : SmallVector<int64_t>(values.begin(), values.end());
}

/// The padding before `count` dimensions, then that behind them.
static SmallVector<int64_t> sidesOf(Attribute attribute, size_t count) {
  SmallVector<int64_t> sides = numbersOf(attribute, count);
  if (sides.size() == count)
    sides.append(SmallVector<int64_t>(sides));
  return sides;
}

static int64_t productOf(ArrayRef<int64_t> sizes) { return ShapedType::getNumElements(sizes); }

namespace {
/// Windows over tensors of [batch, sizes, channels].
struct Windows {
  SmallVector<int64_t> kernel, stride, dilation, sides, out;

  size_t count() const { return kernel.size(); }
  /// The number of elements from the first to the last position of a window.
  int64_t span(size_t dim) const { return (kernel[dim] - 1) * dilation[dim] + 1; }

  /// The slices, in row-major order of places.
  SmallVector<Tensor> of(Tensor x, double fill) const {
    SmallVector<int64_t> before(x.rank(), 0), after(x.rank(), 0);
    for (size_t dim = 0; dim < count(); ++dim) {
      before[dim + 1] = sides[dim];
      // The part that the windows read, which is less than the whole if the last ones do not fit.
      after[dim + 1] = (out[dim] - 1) * stride[dim] + span(dim) - x.shape()[dim + 1] - sides[dim];
    }
    SmallVector<Tensor> slices = {x.pad(before, after, fill)};
    for (size_t dim = 0; dim < count(); ++dim) {
      SmallVector<Tensor> shorter;
      for (Tensor slice : slices)
        for (int64_t place = 0; place < kernel[dim]; ++place) {
          const int64_t begin = place * dilation[dim];
          shorter.push_back(
              slice.slice(static_cast<int64_t>(dim) + 1, begin, begin + (out[dim] - 1) * stride[dim] + 1, stride[dim]));
        }
      slices = shorter;
    }
    return slices;
  }

  /// The number of window positions, for a position of a dimension, that are within the input, or its padding.
  int64_t placesInside(size_t dim, int64_t position, int64_t size, bool withPadding) const {
    int64_t places = 0;
    const int64_t first = withPadding ? -sides[dim] : 0, end = size + (withPadding ? sides[count() + dim] : 0);
    for (int64_t place = 0; place < kernel[dim]; ++place) {
      const int64_t at = position * stride[dim] - sides[dim] + place * dilation[dim];
      places += at >= first && at < end;
    }
    return places;
  }
};
} // namespace

static SmallVector<int64_t> middleOf(ArrayRef<int64_t> shape) {
  return SmallVector<int64_t>(shape.slice(1).drop_back());
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

template <class OpT> static SmallVector<int64_t> orderOf(OpT op) {
  SmallVector<uint64_t> dims = {op.getBatchDim()};
  if constexpr (std::is_same_v<OpT, ttir::Conv1dOp>)
    dims.push_back(op.getLengthDim());
  else if constexpr (std::is_same_v<OpT, ttir::Conv2dOp> || std::is_same_v<OpT, ttir::ConvTranspose2dOp>)
    dims.append({op.getHeightDim(), op.getWidthDim()});
  else
    dims.append({op.getDepthDim(), op.getHeightDim(), op.getWidthDim()});
  dims.push_back(op.getChannelDim());
  return SmallVector<int64_t>(dims.begin(), dims.end());
}

static SmallVector<int64_t> inverse(ArrayRef<int64_t> order) {
  SmallVector<int64_t> result(order.size());
  for (auto [to, from] : llvm::enumerate(order))
    result[from] = static_cast<int64_t>(to);
  return result;
}

template <class OpT> static ttir::FlattenedCompatInfoAttr flattenedBy(OpT op) {
  if constexpr (requires { op.getFlattenedCompatInfoAttr(); })
    return op.getFlattenedCompatInfoAttr();
  return {};
}

/// The input as [batch, sizes, channels].
template <class OpT> static Tensor imagesOf(OpT op, Tensor input) {
  if (ttir::FlattenedCompatInfoAttr info = flattenedBy(op))
    return input.reshape({info.getBatchSize(), info.getInputHeight(), info.getInputWidth(), input.shape().back()});
  if constexpr (requires { op.getBatchDim(); })
    return input.permute(orderOf(op));
  return input;
}

/// The sizes of the op's result: those of its type or, if that is flattened, the number of whole windows.
template <class OpT>
static SmallVector<int64_t> sizesOf(OpT op, Tensor images, const Windows &windows, ArrayRef<int64_t> more,
                                    RankedTensorType type) {
  SmallVector<int64_t> sizes = middleOf(images.shape());
  if (!flattenedBy(op)) {
    SmallVector<int64_t> shape(type.getShape());
    if constexpr (requires { op.getBatchDim(); })
      shape = llvm::map_to_vector(orderOf(op), [&](int64_t dim) { return type.getShape()[dim]; });
    return middleOf(shape);
  }
  for (size_t dim = 0; dim < windows.count(); ++dim) {
    const int64_t sides = windows.sides[dim] + windows.sides[windows.count() + dim];
    sizes[dim] = more.empty() ? (sizes[dim] + sides - windows.span(dim)) / windows.stride[dim] + 1
                              : (sizes[dim] - 1) * windows.stride[dim] - sides + windows.span(dim) + more[dim];
  }
  return sizes;
}

/// Inserts zeros between the elements of a dimension, so that they are `step` apart.
static Tensor spread(Tensor x, int64_t dim, int64_t step) {
  if (step == 1)
    return x;
  const SmallVector<int64_t> shape(x.shape());
  SmallVector<int64_t> split(shape), none(shape.size() + 1, 0), joined(shape);
  split.insert(split.begin() + dim + 1, 1);
  SmallVector<int64_t> after(none);
  after[dim + 1] = step - 1;
  joined[dim] *= step;
  return x.reshape(split).pad(none, after, 0).reshape(joined).slice(dim, 0, joined[dim] - step + 1, 1);
}

/// Repeats the outermost elements as padding.
static Tensor replicated(Tensor x, ArrayRef<int64_t> sides) {
  const size_t count = sides.size() / 2;
  for (size_t i = 0; i < count; ++i) {
    const auto dim = static_cast<int64_t>(i) + 1;
    const int64_t size = x.shape()[dim];
    SmallVector<Tensor> parts = {x};
    if (sides[i])
      parts.insert(parts.begin(), x.slice(dim, 0, 1, 1).repeatInterleave(dim, sides[i]));
    if (sides[count + i])
      parts.push_back(x.slice(dim, size - 1, size, 1).repeatInterleave(dim, sides[count + i]));
    x = x.e->concat(parts, dim);
  }
  return x;
}

/// The sums of products of slices and filters [positions..., inputs, outputs], for each group of channels.
static Tensor convolved(Tensor x, const Windows &windows, ArrayRef<Tensor> filters, bool isReversed) {
  const auto groups = static_cast<int64_t>(filters.size());
  const int64_t channels = static_cast<int64_t>(windows.count()) + 1, inputs = x.shape().back() / groups;
  const int64_t rows = x.shape()[0] * productOf(windows.out), inner = productOf(windows.kernel) * inputs;
  SmallVector<Tensor> results;
  for (auto [group, filter] : llvm::enumerate(filters)) {
    const int64_t first = static_cast<int64_t>(group) * inputs;
    Tensor part = groups == 1 ? x : x.slice(channels, first, first + inputs, 1);
    SmallVector<Tensor> slices = windows.of(part, 0);
    if (isReversed)
      std::reverse(slices.begin(), slices.end());
    Tensor patches = x.e->concat(slices, channels).reshape({rows, inner});
    results.push_back(patches.matmul(filter.reshape({inner, filter.shape().back()}), false, /*wide=*/true));
  }
  SmallVector<int64_t> shape = {x.shape()[0]};
  shape.append(windows.out);
  Tensor result = x.e->concat(results, 1);
  shape.push_back(result.shape().back());
  return result.reshape(shape);
}

/// The same for groups with one input each: sums of slices times rows of [positions, outputs].
static Tensor convolvedByChannel(Tensor x, const Windows &windows, Tensor factors, bool isReversed) {
  const int64_t channels = static_cast<int64_t>(windows.count()) + 1, outputs = factors.shape().back();
  SmallVector<Tensor> slices = windows.of(x.repeatInterleave(channels, outputs / x.shape().back()), 0);
  if (isReversed)
    std::reverse(slices.begin(), slices.end());
  Tensor sum = x;
  for (auto [place, slice] : llvm::enumerate(slices)) {
    const auto number = static_cast<int64_t>(place);
    Tensor product = slice.wide() * factors.slice(0, number, number + 1, 1).wide().reshape({outputs});
    sum = place == 0 ? product : sum + product;
  }
  return sum;
}

template <class OpT> static SmallVector<Tensor> convolution(OpT op, Expressions &e, std::string &refusal) {
  constexpr bool isTransposed = requires { op.getOutputPadding(); };
  Tensor x = imagesOf(op, e(op.getInput())), weight = e(op.getWeight());
  const auto count = static_cast<size_t>(x.rank() - 2);
  Attribute one = e.builder.getI32IntegerAttr(1);
  Windows windows{SmallVector<int64_t>(weight.shape().drop_front(2)),
                  numbersOf(op.getStride(), count),
                  numbersOf(op.getDilationAttr() ? Attribute(op.getDilationAttr()) : one, count),
                  sidesOf(op.getPadding(), count),
                  {}};
  SmallVector<int64_t> more;
  if constexpr (isTransposed)
    more = numbersOf(op.getOutputPadding(), count);
  windows.out = sizesOf(op, x, windows, more, op.getType());

  const auto groups = static_cast<int64_t>(op.getGroups());
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(2, weight.rank()));
  order.append({isTransposed ? 0 : 1, isTransposed ? 1 : 0}); // inputs, then outputs
  const bool isByChannel = groups > 1 && (isTransposed ? weight.shape()[0] == groups : weight.shape()[1] == 1);
  SmallVector<Tensor> filters;
  for (int64_t group = 0, each = weight.shape()[0] / groups; group < groups && !isByChannel; ++group)
    filters.push_back((groups == 1 ? weight : weight.slice(0, group * each, (group + 1) * each, 1)).permute(order));
  if constexpr (isTransposed) {
    for (size_t dim = 0; dim < count; ++dim) {
      x = spread(x, static_cast<int64_t>(dim) + 1, windows.stride[dim]);
      windows.stride[dim] = 1;
      windows.sides[dim] = windows.span(dim) - 1 - windows.sides[dim];
    }
  }
  if constexpr (std::is_same_v<OpT, ttir::Conv3dOp>) {
    if (op.getPaddingMode() != "zeros" && op.getPaddingMode() != "replicate") {
      refusal = "padding_mode is '" + op.getPaddingMode().str() + "'; expected 'zeros' or 'replicate'";
      return {};
    }
    if (op.getPaddingMode() == "replicate") {
      x = replicated(x, windows.sides);
      windows.sides.assign(windows.sides.size(), 0);
    }
  }
  const int64_t places = productOf(windows.kernel);
  Tensor result =
      isByChannel
          ? convolvedByChannel(x, windows,
                               weight.reshape({weight.type().getNumElements() / places, places}).permute({1, 0}),
                               isTransposed)
          : convolved(x, windows, filters, isTransposed);
  if (op.getBias())
    result = result + e(op.getBias()).wide().reshape({result.shape().back()});
  if (flattenedBy(op))
    return {result};
  return {result.permute(inverse(orderOf(op)))};
}

//===----------------------------------------------------------------------===//
// Pools
//===----------------------------------------------------------------------===//

template <class OpT> static Windows poolOf(OpT op, Tensor x) {
  const auto count = static_cast<size_t>(x.rank() - 2);
  Windows windows{numbersOf(op.getKernel(), count),
                  numbersOf(op.getStride(), count),
                  numbersOf(op.getDilation(), count),
                  sidesOf(op.getPadding(), count),
                  {}};
  windows.out = sizesOf(op, x, windows, {}, cast<RankedTensorType>(op->getResult(0).getType()));
  return windows;
}

/// The reason why an op has another form than these.
template <class OpT> static bool isRefused(OpT op, std::string &refusal) {
  if (flattenedBy(op) && op.getCeilMode())
    refusal = "its images are flattened, and windows that are not whole count";
  return !refusal.empty();
}

template <class OpT> static SmallVector<Tensor> greatest(OpT op, Expressions &e, std::string &refusal) {
  if (isRefused(op, refusal))
    return {};
  Tensor x = imagesOf(op, e(op.getInput()));
  SmallVector<Tensor> slices = poolOf(op, x).of(x, -std::numeric_limits<double>::infinity());
  Tensor most = slices.front();
  for (Tensor slice : ArrayRef(slices).drop_front())
    most = most.maximum(slice);
  return {most};
}

/// The first position of the greatest value; NaN is the greatest, and the last of several.
template <class OpT> static SmallVector<Tensor> greatestWithIndices(OpT op, Expressions &e, std::string &refusal) {
  if (isRefused(op, refusal))
    return {};
  Tensor x = imagesOf(op, e(op.getInput())).wide();
  if (!isa<FloatType>(x.type().getElementType())) {
    refusal = "it has integers";
    return {};
  }
  SmallVector<int64_t> shape(x.shape());
  shape.front() = shape.back() = 1;
  constexpr int64_t exactIntegers = int64_t(1) << 24; // of f32
  if (productOf(shape) > exactIntegers) {
    refusal = "its input has " + std::to_string(productOf(shape)) + " positions, more than f32 holds";
    return {};
  }
  SmallVector<double> numbers(productOf(shape));
  std::iota(numbers.begin(), numbers.end(), 0);
  const Windows windows = poolOf(op, x);
  SmallVector<Tensor> values = windows.of(x, -std::numeric_limits<double>::infinity());
  SmallVector<Tensor> positions =
      windows.of(e.constant(RankedTensorType::get(shape, e.builder.getF32Type()), numbers), -1);
  Tensor most = values.front(), position = positions.front() + e.full(0, most);
  for (auto [value, at] : llvm::drop_begin(llvm::zip_equal(values, positions))) {
    Tensor isNext = most.less(value).maximum(value.notEqual(value)).maximum(position.less(0));
    isNext = isNext * (at.less(0).equal(0));
    most = isNext.select(value, most);
    position = isNext.select(at, position);
  }
  return {most, position};
}

template <class OpT> static SmallVector<Tensor> average(OpT op, Expressions &e, std::string &refusal) {
  if (isRefused(op, refusal))
    return {};
  if (!isa<FloatType>(op.getInput().getType().getElementType())) {
    refusal = "it has integers";
    return {};
  }
  Tensor x = imagesOf(op, e(op.getInput())).wide();
  const Windows windows = poolOf(op, x);
  SmallVector<Tensor> slices = windows.of(x, 0);
  Tensor sum = slices.front();
  for (Tensor slice : ArrayRef(slices).drop_front())
    sum = sum + slice;
  SmallVector<int64_t> shape = {1};
  shape.append(windows.out);
  shape.push_back(1);
  SmallVector<double> factors;
  for (int64_t number = 0; number < productOf(shape); ++number) {
    int64_t places = 1, rest = number;
    for (size_t dim = windows.count(); dim-- > 0; rest /= windows.out[dim])
      places *= windows.placesInside(dim, rest % windows.out[dim], x.shape()[dim + 1], op.getCountIncludePad());
    factors.push_back(1.0 / static_cast<double>(places));
  }
  return {sum * e.constant(RankedTensorType::get(shape, e.builder.getF32Type()), factors)};
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

void tt::addWindowComposites(CompositeTable &table) {
  addComposite<ttir::AvgPool2dOp>(table, average);
  addComposite<ttir::AvgPool3dOp>(table, average);
  addComposite<ttir::Conv1dOp>(table, convolution);
  addComposite<ttir::Conv2dOp>(table, convolution);
  addComposite<ttir::Conv3dOp>(table, convolution);
  addComposite<ttir::ConvTranspose2dOp>(table, convolution);
  addComposite<ttir::ConvTranspose3dOp>(table, convolution);
  addComposite<ttir::MaxPool2dOp>(table, greatest);
  addComposite<ttir::MaxPool2dWithIndicesOp>(table, greatestWithIndices);
  addComposite<ttir::MaxPool3dOp>(table, greatest);
  addComposite<ttir::MaxPool3dWithIndicesOp>(table, greatestWithIndices);
}
