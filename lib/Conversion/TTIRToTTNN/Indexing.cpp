//===- Indexing.cpp - parts of tensors ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Patterns.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/GetDimensionSizeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/IndexOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/IndexSelectOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReverseOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SliceStaticOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/ArangeOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/ConcatOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/EmbeddingOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/FullOp.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

/// A dimension of `value`; negative ones count from the end.
static int64_t positive(int64_t dim, Value value) { return dim < 0 ? dim + typeOf(value).getRank() : dim; }

namespace {
struct LowerIndex : OpConversionPattern<ttir::IndexOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ttir::IndexOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    rewriter.replaceOp(op, slice(builder, adaptor.getInput(), op.getType(),
                                 positive(op.getDimAttr().getInt(), op.getInput()), op.getBeginAttr().getInt(),
                                 op.getEndAttr().getInt(), op.getStepAttr().getInt()));
    return success();
  }
};

/// Runs of `length` from `begin`, one every `stride` elements, the last one cut at the end; stride 0 means a single
/// run.
struct LowerIndexSelect : OpConversionPattern<ttir::IndexSelectOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ttir::IndexSelectOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value input = adaptor.getInput();
    ArrayRef<int64_t> shape = shapeOf(input);
    const int64_t dim = positive(op.getDim(), input), begin = op.getBegin(), rest = shape[dim] - begin,
                  stride = op.getStride() > 0 ? op.getStride() : rest, length = std::min<int64_t>(op.getLength(), rest);
    if (rest <= 0)
      return notifyMatchFailure(rewriter, op, "it selects no elements");
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    if (rest <= stride) {
      rewriter.replaceOp(op, slice(builder, input, op.getType(), dim, begin, begin + length));
      return success();
    }
    // The runs with a whole stride are the first columns of a matrix that has one row for each stride.
    const int64_t count = rest / stride, left = std::min(length, rest - count * stride);
    SmallVector<int64_t> strides(shape), matrix(shape), runs(shape), last(shape);
    strides[dim] = count * stride, runs[dim] = count * length, last[dim] = left;
    matrix[dim] = stride;
    matrix.insert(matrix.begin() + dim, count);
    Value whole = slice(builder, input, typeLike(input, strides), dim, begin, begin + count * stride);
    whole = reshape(builder, whole, matrix);
    matrix[dim + 1] = length;
    whole = slice(builder, whole, typeLike(input, matrix), dim + 1, 0, length);
    whole = reshape(builder, whole, runs);
    if (left == 0) {
      rewriter.replaceOp(op, whole);
      return success();
    }
    Value end =
        slice(builder, input, typeLike(input, last), dim, begin + count * stride, begin + count * stride + left);
    rewriter.replaceOpWithNewOp<ConcatOp>(op, op.getType(), ValueRange{whole, end}, static_cast<int32_t>(dim));
    return success();
  }
};

/// Looks up the rows of the dimension in descending order.
struct LowerReverse : OpConversionPattern<ttir::ReverseOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ttir::ReverseOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value device = findDevice(rewriter, op);
    if (!device)
      return failure();
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Value value = adaptor.getInput();
    for (int64_t named : op.getDimensions()) {
      SmallVector<int64_t> shape(shapeOf(value));
      int64_t dim = positive(named, value);
      int64_t size = shape[dim], inner = 1, outer = 1;
      for (auto [d, extent] : llvm::enumerate(shape))
        if (static_cast<int64_t>(d) != dim)
          (static_cast<int64_t>(d) < dim ? outer : inner) *= extent;
      RankedTensorType positionType = typeLike(value, {size}, ttcore::DataType::Int32);
      positionType = withLayout(positionType, TTNNLayoutAttr::of(positionType).withMesh({}));
      Value positions = ArangeOp::create(builder, positionType, device, /*start=*/size - 1, /*end=*/int64_t(-1),
                                         /*step=*/int64_t(-1), /*dtype=*/nullptr);
      auto moved = [&](Value rows, ArrayRef<int64_t> from) {
        return permute(builder, reshape(builder, rows, from), {1, 0, 2});
      };
      Value rows = reshape(builder, moved(value, {outer, size, inner}), ArrayRef<int64_t>{size, outer * inner});
      rows = EmbeddingOp::create(builder, typeLike(value, {size, outer * inner}), positions, rows);
      value = reshape(builder, moved(rows, {size, outer, inner}), shape);
    }
    rewriter.replaceOp(op, reshape(builder, value, typeOf(op.getResult())));
    return success();
  }
};

/// Takes the elements of a slice that goes backward in the order of the input, and reverses them: emitted programs
/// slice forward only.
struct LowerBackwardSlice : OpConversionPattern<ttir::SliceStaticOp> {
  explicit LowerBackwardSlice(MLIRContext *context) : OpConversionPattern(context, /*benefit=*/2) {}
  LogicalResult matchAndRewrite(ttir::SliceStaticOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    SmallVector<int32_t> begins, ends, steps;
    SmallVector<int64_t> reversed;
    const auto number = [](Attribute value) { return static_cast<int32_t>(cast<IntegerAttr>(value).getInt()); };
    for (auto [dim, size] : llvm::enumerate(shapeOf(op.getInput()))) {
      begins.push_back(number(op.getBegins()[dim]));
      ends.push_back(number(op.getEnds()[dim]));
      steps.push_back(number(op.getStep()[dim]));
      if (steps.back() > 0)
        continue;
      const auto count = static_cast<int32_t>(shapeOf(op.getResult())[dim]);
      const int32_t from = begins.back() + (begins.back() < 0 ? static_cast<int32_t>(size) : 0);
      begins.back() = count ? from + (count - 1) * steps.back() : 0;
      ends.back() = count ? from + 1 : 0;
      steps.back() = count > 1 ? -steps.back() : 1;
      reversed.push_back(static_cast<int64_t>(dim));
    }
    if (reversed.empty())
      return rewriter.notifyMatchFailure(op, "goes forward");
    Value part = ttir::SliceStaticOp::create(rewriter, op.getLoc(), op.getType(), op.getInput(),
                                             rewriter.getI32ArrayAttr(begins), rewriter.getI32ArrayAttr(ends),
                                             rewriter.getI32ArrayAttr(steps));
    rewriter.replaceOpWithNewOp<ttir::ReverseOp>(op, op.getType(), part, reversed);
    return success();
  }
};

/// A constant, because shapes are known.
struct LowerGetDimensionSize : OpConversionPattern<ttir::GetDimensionSizeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ttir::GetDimensionSizeOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value device = findDevice(rewriter, op);
    if (!device)
      return failure();
    int64_t size = shapeOf(op.getOperand())[positive(op.getDimensionAttr().getInt(), op.getOperand())];
    rewriter.replaceOpWithNewOp<FullOp>(op, op.getType(), device, ShapeAttr::get(getContext(), shapeOf(op.getResult())),
                                        rewriter.getI32IntegerAttr(size), /*dtype=*/nullptr);
    return success();
  }
};
} // namespace

void ttnn::addSelectionPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerBackwardSlice, LowerGetDimensionSize, LowerIndex, LowerIndexSelect, LowerReverse>(
      patterns.getContext());
}
