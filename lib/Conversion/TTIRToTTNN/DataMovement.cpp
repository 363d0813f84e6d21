//===- DataMovement.cpp - lowering of creation, movement and reductions ---===//
// SPDX-License-Identifier: Apache-2.0

#include "Patterns.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/ArangeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ArgMaxOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/EmptyOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/PadOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ProdOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/RearrangeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SqueezeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ToLayoutOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/UnsqueezeOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/ArangeOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/ArgMaxOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/EmptyOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/PadOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/ProdOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/RepeatOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/ReshapeOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/ToLayoutOp.h"
#include "ttmlir/shapes/Rearrange.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

namespace {
/// squeeze and unsqueeze are reshapes to the result's shape.
template <class OpT> struct LowerToReshape : OpConversionPattern<OpT> {
  using OpConversionPattern<OpT>::OpConversionPattern;
  LogicalResult matchAndRewrite(OpT op, typename OpT::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    RankedTensorType type = typeOf(op.getResult());
    SmallVector<int32_t> shape(type.getShape().begin(), type.getShape().end());
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, type, adaptor.getInput(), rewriter.getI32ArrayAttr(shape));
    return success();
  }
};

/// A permute, and a reshape that merges each group into one dimension.
struct LowerRearrange : OpConversionPattern<ttir::RearrangeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ttir::RearrangeOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    const auto parsed = ::tt::shapes::rearrangement(std::string_view(op.getPattern()), shapeOf(adaptor.getInput()));
    Value value = adaptor.getInput();
    ArrayRef order(parsed.order.data(), parsed.order.size());
    // The reshape alone adds and removes dimensions of size 1.
    SmallVector<int64_t> moved(order);
    llvm::erase_if(moved, [&](int64_t dim) { return shapeOf(value)[dim] == 1; });
    if (!llvm::is_sorted(moved))
      value = permute(builder, value, order);
    rewriter.replaceOp(op, reshape(builder, value, typeOf(op.getResult())));
    return success();
  }
};

struct LowerEmpty : OpConversionPattern<ttir::EmptyOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ttir::EmptyOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    Value device = findDevice(rewriter, op);
    if (!device)
      return failure();
    auto shape = ShapeAttr::get(getContext(), shapeOf(op.getResult()));
    rewriter.replaceOpWithNewOp<EmptyOp>(op, op.getType(), device, shape, /*dtype=*/nullptr);
    return success();
  }
};

/// The output operand only states the placement of the result, as does the result type.
struct LowerToLayout : OpConversionPattern<ttir::ToLayoutOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ttir::ToLayoutOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (op.getNumResults() != 1)
      return notifyMatchFailure(rewriter, op, "it writes to a buffer; expected a tensor as its result");
    rewriter.replaceOpWithNewOp<ToLayoutOp>(op, op->getResult(0).getType(), adaptor.getInput());
    return success();
  }
};

struct LowerPad : OpConversionPattern<ttir::PadOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ttir::PadOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    // Negative padding is removed first.
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    SmallVector<int32_t> padding(op.getPadding());
    Value value = adaptor.getInput();
    for (int64_t dim = 0; dim < static_cast<int64_t>(padding.size()) / 2; ++dim) {
      int32_t &before = padding[2 * dim], &after = padding[2 * dim + 1];
      if (before >= 0 && after >= 0)
        continue;
      SmallVector<int64_t> shape(shapeOf(value));
      const int64_t begin = -std::min<int64_t>(before, 0), end = shape[dim] + std::min<int64_t>(after, 0);
      shape[dim] = end - begin;
      value = slice(builder, value, typeLike(value, shape), dim, begin, end);
      before = std::max(before, 0);
      after = std::max(after, 0);
    }
    // Padding by nothing may be the copy from which a cache starts; otherwise it folds.
    if (value != adaptor.getInput() && llvm::all_of(padding, [](int32_t size) { return size == 0; }) &&
        value.getType() == op.getType()) {
      rewriter.replaceOp(op, value);
      return success();
    }
    rewriter.replaceOpWithNewOp<PadOp>(op, op.getType(), value, rewriter.getDenseI32ArrayAttr(padding),
                                       op.getValueAttr(), /*use_multicore=*/rewriter.getBoolAttr(true));
    return success();
  }
};

/// A product over several dimensions, one after the other; TTNN takes one dimension, or all.
struct LowerProdOfSeveral : OpConversionPattern<ttir::ProdOp> {
  explicit LowerProdOfSeveral(MLIRContext *context) : OpConversionPattern(context, /*benefit=*/2) {}
  LogicalResult matchAndRewrite(ttir::ProdOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ArrayAttr dims = op.getDimArgAttr();
    SmallVector<int64_t> shape(typeOf(op.getInput()).getShape());
    const int64_t rank = shape.size();
    if (!dims || dims.size() < 2 || static_cast<int64_t>(dims.size()) == rank)
      return failure();
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Value value = adaptor.getInput();
    for (Attribute attribute : dims) {
      const int64_t dim = cast<IntegerAttr>(attribute).getValue().getSExtValue();
      shape[dim < 0 ? dim + rank : dim] = 1;
      value = ProdOp::create(builder, typeLike(op.getResult(), shape), value,
                             builder.getIntegerAttr(builder.getIntegerType(64, /*isSigned=*/true), dim),
                             builder.getBoolAttr(true));
    }
    rewriter.replaceOp(op, reshape(builder, value, typeOf(op.getResult())));
    return success();
  }
};

/// The position of the greatest value over several dimensions, in their row-major order; TTNN takes one dimension, or
/// all.
struct LowerArgMaxOfSeveral : OpConversionPattern<ttir::ArgMaxOp> {
  explicit LowerArgMaxOfSeveral(MLIRContext *context) : OpConversionPattern(context, /*benefit=*/2) {}
  LogicalResult matchAndRewrite(ttir::ArgMaxOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ArrayRef<int64_t> shape = shapeOf(adaptor.getInput());
    const int64_t rank = shape.size();
    ArrayAttr dims = op.getDimArgAttr();
    if (!dims || dims.size() < 2)
      return failure();
    SmallVector<bool> reduced(rank);
    for (Attribute attribute : dims) {
      const int64_t dim = cast<IntegerAttr>(attribute).getValue().getSExtValue();
      reduced[dim < 0 ? dim + rank : dim] = true;
    }
    // They are moved last and merged.
    SmallVector<int64_t> order, joined, kept;
    int64_t count = 1;
    for (bool last : {false, true})
      for (int64_t dim = 0; dim < rank; ++dim)
        if (reduced[dim] == last)
          order.push_back(dim);
    for (int64_t dim : order) {
      if (reduced[dim])
        count *= shape[dim];
      else
        kept.push_back(shape[dim]);
    }
    joined = kept;
    joined.push_back(count);
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Value rows = reshape(builder, permute(builder, adaptor.getInput(), order), joined);
    auto dim = builder.getIntegerAttr(builder.getIntegerType(32, /*isSigned=*/true), -1);
    Value found = ArgMaxOp::create(builder, typeLike(op.getResult(), kept), rows, dim, builder.getBoolAttr(false));
    rewriter.replaceOp(op, reshape(builder, found, typeOf(op.getResult())));
    return success();
  }
};

/// argmax and prod reduce one dimension, given as an integer of `width` bits, or all.
template <class From, class To, unsigned width> struct LowerOneDimReduction : OpConversionPattern<From> {
  using OpConversionPattern<From>::OpConversionPattern;
  LogicalResult matchAndRewrite(From op, typename From::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    IntegerAttr dim;
    if (ArrayAttr dims = op.getDimArgAttr(); dims && !dims.empty()) {
      if (dims.size() != 1)
        return notifyMatchFailure(rewriter, op,
                                  "dim_arg has " + Twine(dims.size()) + " dimensions; TTNN takes one, or none for all");
      dim = rewriter.getIntegerAttr(rewriter.getIntegerType(width, /*isSigned=*/true),
                                    cast<IntegerAttr>(dims[0]).getValue().getSExtValue());
    }
    rewriter.replaceOpWithNewOp<To>(op, op.getType(), adaptor.getInput(), dim, op.getKeepDimAttr());
    return success();
  }
};

/// A sequence along one dimension, repeated along the others.
struct LowerArange : OpConversionPattern<ttir::ArangeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ttir::ArangeOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    RankedTensorType type = typeOf(op.getResult());
    ArrayRef<int64_t> shape = type.getShape();
    int64_t dim = op.getArangeDimension();
    if (dim < 0 || dim >= type.getRank())
      return notifyMatchFailure(rewriter, op,
                                "arange_dimension " + Twine(dim) + " is not one of its " + Twine(type.getRank()) +
                                    " dimensions");
    Value device = findDevice(rewriter, op);
    if (!device)
      return failure();
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    SmallVector<int64_t> row(shape.size(), 1), repeats(shape);
    row[dim] = shape[dim];
    repeats[dim] = 1;
    Value value = ArangeOp::create(builder, typeLike(op.getResult(), {shape[dim]}), device, op.getStartAttr(),
                                   op.getEndAttr(), op.getStepAttr(), /*dtype=*/nullptr);
    value = reshape(builder, value, row);
    if (llvm::any_of(repeats, [](int64_t count) { return count != 1; }))
      value = RepeatOp::create(builder, type, value, ShapeAttr::get(getContext(), repeats));
    rewriter.replaceOp(op, value);
    return success();
  }
};

} // namespace

void ttnn::addShapePatterns(RewritePatternSet &patterns) {
  patterns.add<LowerArange, LowerArgMaxOfSeveral, LowerEmpty, LowerOneDimReduction<ttir::ArgMaxOp, ArgMaxOp, 32>,
               LowerOneDimReduction<ttir::ProdOp, ProdOp, 64>, LowerPad, LowerProdOfSeveral, LowerRearrange,
               LowerToLayout, LowerToReshape<ttir::SqueezeOp>, LowerToReshape<ttir::UnsqueezeOp>>(
      patterns.getContext());
}
