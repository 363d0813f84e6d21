//===- Reduction.cpp - reductions as generics -----------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// A reduction is brought into one of two forms. Floats are reduced along the last two dimensions by the matrix unit,
// which reduces the elements of a tile. Earlier dimensions, integers and products are combined tile by tile, element by
// element, after a permutation that moves the reduced dimensions to the front. The padding of tiles has the neutral
// value.
//
//===----------------------------------------------------------------------===//

#include "../Composites/Shapes.h"
#include "Generics.h"
#include "Patterns.h"

#include "ttmlir/Dialect/D2M/IR/D2M.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/BitwiseNotOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConstantOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/FullOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MaxOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MeanOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MinOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MultiplyOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/NegOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ProdOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SumOp.h"
#include "ttmlir/Dialect/TTIR/IR/TTIR.h"
#include "ttmlir/Dialect/TTIR/Transforms/SizeAttributes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::tt;

static constexpr int64_t tileSize = 32;

/// The dimensions that an op reduces, in order.
template <class OpT> static SmallVector<int64_t> reducedBy(OpT op) {
  return ttir::reducedDims(op.getInput().getType().getRank(), op.getDimArgAttr());
}

template <class OpT>
static Value reduce(OpBuilder &builder, Location loc, Value input, ArrayRef<int64_t> dims, Type element) {
  auto type = cast<RankedTensorType>(input.getType());
  SmallVector<int64_t> shape(type.getShape());
  for (int64_t dim : dims)
    shape[dim] = 1;
  return OpT::create(builder, loc, RankedTensorType::get(shape, element), input, /*keep_dim=*/true,
                     builder.getI32ArrayAttr(SmallVector<int32_t>(dims.begin(), dims.end())));
}

namespace {
/// The combining function of a reduction, and its neutral value.
template <class OpT> struct Joining;
template <> struct Joining<ttir::SumOp> {
  static constexpr double identity = 0;
  static Value join(OpBuilder &b, Location loc, Value x, Value y) {
    return d2m::TileAddOp::create(b, loc, x.getType(), x, y);
  }
};
template <> struct Joining<ttir::MaxOp> {
  static constexpr double identity = -std::numeric_limits<double>::infinity();
  static Value join(OpBuilder &b, Location loc, Value x, Value y) {
    return d2m::TileMaximumOp::create(b, loc, x.getType(), x, y);
  }
};
template <> struct Joining<ttir::ProdOp> {
  static constexpr double identity = 1;
  static Value join(OpBuilder &b, Location loc, Value x, Value y) {
    return d2m::TileMulOp::create(b, loc, x.getType(), x, y);
  }
};

template <class OpT> struct LowerReduction : TilePattern<OpT> {
  using TilePattern<OpT>::TilePattern;
  static constexpr bool onMatrixUnit = std::is_same_v<OpT, ttir::SumOp> || std::is_same_v<OpT, ttir::MaxOp>;

  LogicalResult matchAndRewrite(OpT op, typename OpT::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    RankedTensorType from = op.getInput().getType(), to = op.getType();
    Location loc = op.getLoc();
    const SmallVector<int64_t> dims = reducedBy(op);
    Value input = op.getInput();
    if (dims.empty()) {
      rewriter.replaceOp(op, reshaped(rewriter, loc, castTo(rewriter, loc, input, to.getElementType()), to.getShape()));
      return success();
    }
    if (from.getNumElements() == 0) {
      rewriter.replaceOp(op, identity(rewriter, loc, to));
      return success();
    }
    const int64_t rank = from.getRank();
    if (isa<FloatType>(from.getElementType()) != isa<FloatType>(to.getElementType()))
      return notifyMatchFailure(rewriter, op, [&](Diagnostic &reason) {
        reason << "it reduces " << from << " to " << to << "; expected both of floats or of integers";
      });
    const bool isFloat = isa<FloatType>(from.getElementType());
    const bool joinsTiles = isFloat && onMatrixUnit && rank >= 2;
    const auto isLast = [&](int64_t dim) { return dim >= rank - 2; };
    // Sums of several tiles are kept in f32.
    Type wide = isFloat && !std::is_same_v<OpT, ttir::MaxOp> ? Type(rewriter.getF32Type()) : from.getElementType();
    if (rank < 2) {
      input = reshaped(rewriter, loc, input, {1, from.getNumElements()});
      Value result = reduce<OpT>(rewriter, loc, input, {1}, to.getElementType());
      rewriter.replaceOp(op, reshaped(rewriter, loc, result, to.getShape()));
      return success();
    }
    if (joinsTiles && llvm::all_of(dims, isLast))
      return reduceTiles(op, adaptor.getInput(), dims, rewriter);
    if (dims.size() == 1 && dims.front() == 0 && rank == 3 && from.getDimSize(1) % tileSize == 0)
      return accumulate(op, adaptor.getInput(), rewriter);

    // First the dimensions before the last two, or all of them, as one leading dimension.
    SmallVector<int64_t> first, then, kept, keptShape;
    for (int64_t dim : dims)
      (joinsTiles && isLast(dim) ? then : first).push_back(dim);
    for (int64_t dim = 0; dim < rank; ++dim)
      if (!llvm::is_contained(first, dim)) {
        kept.push_back(dim);
        keptShape.push_back(from.getDimSize(static_cast<unsigned>(dim)));
      }
    SmallVector<int64_t> permutation(first);
    permutation.append(kept);
    const int64_t columns = keptShape.empty() ? 1 : keptShape.back();
    const int64_t rows = ShapedType::getNumElements(keptShape) / columns;
    input = castTo(rewriter, loc, input, wide);
    input = permuted(rewriter, loc, input, permutation);
    const int64_t count = from.getNumElements() / rows / columns;
    input = reshaped(rewriter, loc, input, {count, rows, columns});
    Value result;
    if (rows < tileSize && count > 2 * tileSize) {
      // Many matrices of few rows: 32 rows are combined at the same time, and then to one.
      input = alignedTo(rewriter, loc, input, 0, identityOf(wide));
      const int64_t groups = llvm::divideCeil(count, tileSize);
      input = reshaped(rewriter, loc, input, {groups, tileSize * rows, columns});
      result = reduce<OpT>(rewriter, loc, input, {0}, wide);
      result = reduce<OpT>(rewriter, loc, reshaped(rewriter, loc, result, {tileSize, rows, columns}), {0}, wide);
    } else {
      result = reduce<OpT>(rewriter, loc, alignedTo(rewriter, loc, input, 1), {0}, wide);
      result = firstOf(rewriter, loc, result, RankedTensorType::get({1, rows, columns}, wide));
    }
    SmallVector<int64_t> shape(from.getShape());
    for (int64_t dim : first)
      shape[dim] = 1;
    result = reshaped(rewriter, loc, result, shape);
    if (!then.empty())
      result = reduce<OpT>(rewriter, loc, result, then, wide);
    rewriter.replaceOp(op, reshaped(rewriter, loc, castTo(rewriter, loc, result, to.getElementType()), to.getShape()));
    return success();
  }

private:
  /// Whether values may be negative; those of booleans are not.
  static bool hasSign(IntegerType type) { return !type.isUnsigned() && type.getWidth() > 1; }
  /// Returns the identity of the join for a type.
  static double identityOf(Type element) {
    if (isa<FloatType>(element) || std::isfinite(Joining<OpT>::identity))
      return Joining<OpT>::identity;
    auto integer = cast<IntegerType>(element);
    return hasSign(integer) ? -std::ldexp(1.0, static_cast<int>(integer.getWidth()) - 1) : 0;
  }

  /// [n, rows, columns], of whole tiles of rows, reduced over n.
  LogicalResult accumulate(OpT op, Value tiled, ConversionPatternRewriter &rewriter) const {
    RankedTensorType from = op.getInput().getType(), to = op.getType();
    Location loc = op.getLoc();
    Value output = memref::AllocOp::create(rewriter, loc, placeOf(this->types, to.clone(from.getElementType())).tiled);
    const int64_t rows = from.getDimSize(1) / tileSize, columns = llvm::divideCeil(from.getDimSize(2), tileSize);
    const int64_t count = from.getDimSize(0);
    MLIRContext *context = op.getContext();
    AffineExpr row = getAffineDimExpr(0, context), place = getAffineDimExpr(1, context);
    createAccumulation(rewriter, loc,
                       {tiled,
                        {rows, columns * count},
                        {1, 1},
                        AffineMap::get(4, 0, {place % count * rows + row, place.floorDiv(count)}, context),
                        this->types.options.streamBuffers},
                       count, output,
                       [](OpBuilder &b, Location loc, Value x, Value y) { return Joining<OpT>::join(b, loc, x, y); });
    Value result =
        UnrealizedConversionCastOp::create(rewriter, loc, to.clone(from.getElementType()), output).getResult(0);
    rewriter.replaceOp(op, castTo(rewriter, loc, result, to.getElementType()));
    return success();
  }

  /// The result of a reduction of no elements.
  static Value identity(OpBuilder &builder, Location loc, RankedTensorType type) {
    TypedAttr value;
    if (auto integer = dyn_cast<IntegerType>(type.getElementType())) {
      const unsigned width = integer.getWidth();
      const APInt least = hasSign(integer) ? APInt::getSignedMinValue(width) : APInt::getZero(width);
      value = IntegerAttr::get(integer, std::isinf(Joining<OpT>::identity)
                                            ? least
                                            : APInt(width, static_cast<uint64_t>(Joining<OpT>::identity)));
    } else {
      value = FloatAttr::get(type.getElementType(), Joining<OpT>::identity);
    }
    return ttir::ConstantOp::create(builder, loc, type, DenseElementsAttr::get(type, Attribute(value)));
  }

  /// One or both of the last two dimensions.
  LogicalResult reduceTiles(OpT op, Value tiled, ArrayRef<int64_t> dims, ConversionPatternRewriter &rewriter) const {
    RankedTensorType from = op.getInput().getType(), to = op.getType();
    Location loc = op.getLoc();
    MLIRContext *context = op.getContext();
    const int64_t rank = from.getRank();
    const bool alongRows = llvm::is_contained(dims, rank - 1), alongColumns = llvm::is_contained(dims, rank - 2);
    const int64_t rows = from.getDimSize(static_cast<unsigned>(rank - 2)), columns = from.getShape().back();
    const int64_t batch = from.getNumElements() / rows / columns;
    Value input = op.getInput(), aligned = input;
    if (alongRows)
      aligned = alignedTo(rewriter, loc, aligned, static_cast<size_t>(rank - 1), Joining<OpT>::identity);
    if (alongColumns)
      aligned = alignedTo(rewriter, loc, aligned, static_cast<size_t>(rank - 2), Joining<OpT>::identity);
    if (aligned != input) {
      Value result = reduce<OpT>(rewriter, loc, aligned, dims, to.getElementType());
      rewriter.replaceOp(op, reshaped(rewriter, loc, result, to.getShape()));
      return success();
    }
    // Rows are the first of their tiles: the result of each matrix is a row of tiles.
    const bool isSparse = alongColumns && batch > 1;
    SmallVector<int64_t> shape = {alongColumns ? (isSparse ? batch * tileSize : 1) : batch * rows,
                                  alongRows ? 1 : columns};
    auto keptType = RankedTensorType::get(shape, to.getElementType());
    Placement target = placeOf(this->types, keptType);
    Value output = memref::AllocOp::create(rewriter, loc, target.tiled);

    const int64_t tileRows = llvm::divideCeil(rows, tileSize), tileColumns = llvm::divideCeil(columns, tileSize);
    AffineExpr row = getAffineDimExpr(0, context), place = getAffineDimExpr(1, context);
    Reduction reduction;
    reduction.join = std::is_same_v<OpT, ttir::MaxOp> ? Join::Max : Join::Sum;
    if (alongRows && alongColumns) {
      reduction.steps = tileRows * tileColumns;
      reduction.dim = d2m::ReduceDim::RC;
      row = row * tileRows + place.floorDiv(tileColumns);
      place = place % tileColumns;
    } else if (alongRows) {
      reduction.steps = tileColumns;
      reduction.dim = d2m::ReduceDim::R;
    } else {
      reduction.steps = tileRows;
      reduction.dim = d2m::ReduceDim::C;
      row = row * tileRows + place % tileRows;
      place = place.floorDiv(tileRows);
    }
    reduction.input = {tiled,
                       {target.grid[0] * target.tiles[0], target.grid[1] * target.tiles[1] * reduction.steps},
                       {1, 1},
                       AffineMap::get(4, 0, {row, place}, context),
                       this->types.options.streamBuffers};
    Placement one = placeOf(this->types, RankedTensorType::get({tileSize, tileSize}, rewriter.getF32Type()));
    reduction.scaler = memref::AllocOp::create(rewriter, loc, one.tiled);
    createElementwise(rewriter, loc, {}, reduction.scaler, [&](OpBuilder &b, Location loc, ValueRange) -> Value {
      Value value = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(1));
      return d2m::TileFillOp::create(b, loc, one.tile(), value);
    });
    createReduction(rewriter, loc, reduction, output);

    if (!isSparse && collapsed(shape) == collapsed(to.getShape()) && target.tiled == placeOf(this->types, to).tiled) {
      rewriter.replaceOp(op, output);
      return success();
    }
    Value sparse = UnrealizedConversionCastOp::create(rewriter, loc, keptType, output).getResult(0);
    if (!isSparse) { // without the dimensions
      rewriter.replaceOp(op, reshaped(rewriter, loc, sparse, to.getShape()));
      return success();
    }
    sparse = reshaped(rewriter, loc, sparse, {batch, tileSize, shape.back()});
    sparse = firstOf(rewriter, loc, sparse, RankedTensorType::get({batch, 1, shape.back()}, to.getElementType()));
    rewriter.replaceOp(op, reshaped(rewriter, loc, sparse, to.getShape()));
    return success();
  }
};

/// The maximum in the opposite order.
struct LowerMin : TilePattern<ttir::MinOp> {
  using TilePattern::TilePattern;
  LogicalResult matchAndRewrite(ttir::MinOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    const auto reversed = [&](Value value) -> Value {
      if (isa<FloatType>(getElementTypeOrSelf(value.getType())))
        return ttir::NegOp::create(rewriter, loc, value.getType(), value);
      return ttir::BitwiseNotOp::create(rewriter, loc, value.getType(), value);
    };
    Type element = op.getInput().getType().getElementType();
    Value result = reversed(reduce<ttir::MaxOp>(rewriter, loc, reversed(op.getInput()), reducedBy(op), element));
    result = castTo(rewriter, loc, result, op.getType().getElementType());
    rewriter.replaceOp(op, reshaped(rewriter, loc, result, op.getType().getShape()));
    return success();
  }
};

/// The sum, multiplied.
struct LowerMean : TilePattern<ttir::MeanOp> {
  using TilePattern::TilePattern;
  LogicalResult matchAndRewrite(ttir::MeanOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    if (!isa<FloatType>(op.getType().getElementType()))
      return notifyMatchFailure(rewriter, op, "it has integers");
    Type wide = rewriter.getF32Type();
    int64_t count = 1;
    for (int64_t dim : reducedBy(op))
      count *= op.getInput().getType().getDimSize(static_cast<unsigned>(dim));
    Value sum = reduce<ttir::SumOp>(rewriter, loc, castTo(rewriter, loc, op.getInput(), wide), reducedBy(op), wide);
    auto type = cast<RankedTensorType>(sum.getType());
    Value factor =
        ttir::FullOp::create(rewriter, loc, type, rewriter.getDenseI32ArrayAttr(SmallVector<int32_t>(type.getShape())),
                             rewriter.getF32FloatAttr(1.0f / static_cast<float>(count)));
    Value mean = ttir::MultiplyOp::create(rewriter, loc, type, sum, factor);
    mean = castTo(rewriter, loc, mean, op.getType().getElementType());
    rewriter.replaceOp(op, reshaped(rewriter, loc, mean, op.getType().getShape()));
    return success();
  }
};
} // namespace

void tt::addReductionPatterns(RewritePatternSet &patterns, const TileTypes &types) {
  patterns
      .add<LowerMean, LowerMin, LowerReduction<ttir::MaxOp>, LowerReduction<ttir::ProdOp>, LowerReduction<ttir::SumOp>>(
          types, patterns.getContext());
}
