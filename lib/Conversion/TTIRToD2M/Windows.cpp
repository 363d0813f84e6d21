//===- Windows.cpp - convolutions and pools as ops on shifted inputs ------===//
// SPDX-License-Identifier: Apache-2.0
//
// For each place of the window there is a slice of the padded input that has
// this place of all windows. A pool joins the slices; a convolution is the
// product of the slices side by side and the weights.
//
//===----------------------------------------------------------------------===//

#include "Expressions.h"
#include "Patterns.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/AvgPool2dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/Conv2dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MaxPool2dOp.h"
#include "ttmlir/Dialect/TTIR/IR/TTIR.h"

#include <limits>

using namespace mlir;
using namespace mlir::tt;

/// Two numbers, or one for both.
static std::array<int64_t, 2> pairOf(Attribute attribute) {
  if (auto integer = dyn_cast<IntegerAttr>(attribute))
    return {integer.getInt(), integer.getInt()};
  ArrayRef<int32_t> values = cast<DenseI32ArrayAttr>(attribute).asArrayRef();
  return {values.front(), values.back()};
}

/// Top, left, bottom and right.
static std::array<int64_t, 4> paddingOf(Attribute attribute) {
  auto array = dyn_cast<DenseI32ArrayAttr>(attribute);
  if (array && array.size() == 4)
    return {array[0], array[1], array[2], array[3]};
  auto [height, width] = pairOf(attribute);
  return {height, width, height, width};
}

namespace {
/// Windows over images of [batch, height, width, channels].
struct Windows {
  std::array<int64_t, 2> kernel, stride, dilation, out;
  std::array<int64_t, 4> padding;

  template <class OpT>
  Windows(OpT op, std::array<int64_t, 2> kernel, std::array<int64_t, 2> out)
      : kernel(kernel), stride(pairOf(op.getStride())), dilation(pairOf(op.getDilation())), out(out),
        padding(paddingOf(op.getPadding())) {}

  /// The slices, in row-major order of places.
  SmallVector<Tensor> of(Tensor x, double fill) const {
    SmallVector<int64_t> before = {0, padding[0], padding[1], 0}, after(4, 0);
    for (size_t dim : {0, 1}) {
      const int64_t needed = (out[dim] - 1) * stride[dim] + (kernel[dim] - 1) * dilation[dim] + 1;
      after[dim + 1] = std::max<int64_t>(0, needed - x.shape()[dim + 1] - padding[dim]);
    }
    x = x.pad(before, after, fill);
    SmallVector<Tensor> slices;
    for (int64_t row = 0; row < kernel[0]; ++row)
      for (int64_t column = 0; column < kernel[1]; ++column) {
        const int64_t top = row * dilation[0], left = column * dilation[1];
        slices.push_back(x.slice(1, top, top + (out[0] - 1) * stride[0] + 1, stride[0])
                             .slice(2, left, left + (out[1] - 1) * stride[1] + 1, stride[1]));
      }
    return slices;
  }

  /// How many places of the window at a position of a dimension are within [-margin, size + margin after).
  int64_t countOf(size_t dim, int64_t position, int64_t size, bool withPadding) const {
    int64_t count = 0;
    const int64_t first = withPadding ? -padding[dim] : 0, end = size + (withPadding ? padding[dim + 2] : 0);
    for (int64_t place = 0; place < kernel[dim]; ++place) {
      const int64_t at = position * stride[dim] - padding[dim] + place * dilation[dim];
      count += at >= first && at < end;
    }
    return count;
  }
};

/// Why an op has another form than these.
template <class OpT> StringRef refusalOf(OpT op, RankedTensorType input) {
  if (op.getFlattenedCompatInfo() || input.getRank() != 4)
    return "its images are flattened";
  if (!isa<FloatType>(input.getElementType()))
    return "it has integers";
  return {};
}

template <class OpT> std::array<int64_t, 2> sizesOf(OpT op) {
  return {op.getType().getDimSize(1), op.getType().getDimSize(2)};
}

struct LowerMaxPool : TilePattern<ttir::MaxPool2dOp> {
  using TilePattern::TilePattern;
  LogicalResult matchAndRewrite(ttir::MaxPool2dOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    if (StringRef refusal = refusalOf(op, op.getInput().getType()); !refusal.empty())
      return notifyMatchFailure(rewriter, op, refusal);
    Expressions e(rewriter, op.getLoc());
    Windows windows(op, pairOf(op.getKernel()), sizesOf(op));
    SmallVector<Tensor> slices = windows.of(e(op.getInput()), -std::numeric_limits<double>::infinity());
    Tensor most = slices.front();
    for (Tensor slice : ArrayRef(slices).drop_front())
      most = most.maximum(slice);
    rewriter.replaceOp(op, most.as(op.getType().getElementType()).value);
    return success();
  }
};

struct LowerAvgPool : TilePattern<ttir::AvgPool2dOp> {
  using TilePattern::TilePattern;
  LogicalResult matchAndRewrite(ttir::AvgPool2dOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    if (StringRef refusal = refusalOf(op, op.getInput().getType()); !refusal.empty())
      return notifyMatchFailure(rewriter, op, refusal);
    Expressions e(rewriter, op.getLoc());
    Windows windows(op, pairOf(op.getKernel()), sizesOf(op));
    Tensor x = e(op.getInput()).wide();
    SmallVector<Tensor> slices = windows.of(x, 0);
    Tensor sum = slices.front();
    for (Tensor slice : ArrayRef(slices).drop_front())
      sum = sum + slice;
    auto [rows, columns] = windows.out;
    SmallVector<double> factors;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columns; ++column)
        factors.push_back(1.0 / static_cast<double>(windows.countOf(0, row, x.shape()[1], op.getCountIncludePad()) *
                                                    windows.countOf(1, column, x.shape()[2], op.getCountIncludePad())));
    Tensor mean = sum * e.constant(RankedTensorType::get({1, rows, columns, 1}, rewriter.getF32Type()), factors);
    rewriter.replaceOp(op, mean.as(op.getType().getElementType()).value);
    return success();
  }
};

struct LowerConv : TilePattern<ttir::Conv2dOp> {
  using TilePattern::TilePattern;
  LogicalResult matchAndRewrite(ttir::Conv2dOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    if (StringRef refusal = refusalOf(op, op.getInput().getType()); !refusal.empty())
      return notifyMatchFailure(rewriter, op, refusal);
    if (op.getBatchDim() != 0 || op.getHeightDim() != 1 || op.getWidthDim() != 2 || op.getChannelDim() != 3)
      return notifyMatchFailure(rewriter, op, "its images are not [batch, height, width, channels]");
    Expressions e(rewriter, op.getLoc());
    Tensor x = e(op.getInput()), weight = e(op.getWeight());
    const int64_t groups = op.getGroups(), outputs = weight.shape()[0] / groups, inputs = weight.shape()[1];
    const std::array<int64_t, 2> kernel = {weight.shape()[2], weight.shape()[3]};
    Windows windows(op, kernel, sizesOf(op));
    const int64_t rows = x.shape()[0] * windows.out[0] * windows.out[1], inner = kernel[0] * kernel[1] * inputs;
    SmallVector<Tensor> results;
    for (int64_t group = 0; group < groups; ++group) {
      Tensor part = groups == 1 ? x : x.slice(3, group * inputs, (group + 1) * inputs, 1);
      Tensor filters = groups == 1 ? weight : weight.slice(0, group * outputs, (group + 1) * outputs, 1);
      Tensor patches = e.concat(windows.of(part, 0), 3).reshape({rows, inner});
      results.push_back(patches.matmul(filters.permute({2, 3, 1, 0}).reshape({inner, outputs}), false, /*wide=*/true));
    }
    Tensor result = e.concat(results, 1).reshape(op.getType().getShape());
    if (op.getBias())
      result = result + e(op.getBias()).wide();
    rewriter.replaceOp(op, result.as(op.getType().getElementType()).value);
    return success();
  }
};
} // namespace

void tt::addWindowPatterns(RewritePatternSet &patterns, const TileTypes &types) {
  patterns.add<LowerAvgPool, LowerConv, LowerMaxPool>(types, patterns.getContext());
}
