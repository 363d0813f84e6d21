//===- DataMovement.cpp - data movement as copies between cores -----------===//
// SPDX-License-Identifier: Apache-2.0
//
// An op that only moves elements copies them from core to core, in rows: its operands are untilized before it and its
// results tilized after it. If the op maps elements of the result to those of an input, the copy reads through this
// map; if it maps elements of an input to those of the result, the copy writes through it.
//
//===----------------------------------------------------------------------===//

#include "DataMovement.h"

#include "Generics.h"

#include "ttmlir/Dialect/D2M/IR/D2M.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/BitcastConvertOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/BroadcastOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConcatOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/PadOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/PermuteOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/RepeatInterleaveOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/RepeatOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReshapeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReverseOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SliceStaticOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SqueezeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/TransposeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/UnsqueezeOp.h"
#include "ttmlir/Dialect/TTIR/IR/TTIR.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::tt;

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

/// (row, column) of the matrix form of a tensor -> its indices.
static AffineMap indicesOf(ArrayRef<int64_t> shape, MLIRContext *context) {
  AffineExpr row = getAffineDimExpr(0, context), column = getAffineDimExpr(1, context);
  SmallVector<AffineExpr> indices(shape.size());
  if (!shape.empty())
    indices.back() = column;
  for (size_t dim = shape.size() - std::min<size_t>(1, shape.size()); dim-- > 0;) {
    indices[dim] = dim == 0 ? row : row % shape[dim];
    row = row.floorDiv(shape[dim]);
  }
  return AffineMap::get(2, 0, indices, context);
}

/// Indices of a tensor -> (row, column).
static AffineMap matrixOf(ArrayRef<int64_t> shape, MLIRContext *context) {
  const auto rank = static_cast<unsigned>(shape.size());
  AffineExpr row = getAffineConstantExpr(0, context), column = row;
  for (unsigned dim = 0; dim + 1 < rank; ++dim)
    row = row * shape[dim] + getAffineDimExpr(dim, context);
  if (rank)
    column = getAffineDimExpr(rank - 1, context);
  return AffineMap::get(rank, 0, {row, column}, context);
}

/// The map of matrices that one of indices is.
static AffineMap matrixMap(ArrayRef<int64_t> from, ArrayRef<int64_t> to, AffineMap map) {
  MLIRContext *context = map.getContext();
  return matrixOf(to, context).compose(map.compose(indicesOf(from, context)));
}

/// The indices in `to` of the element with the same number in row-major order.
static AffineMap reshapeMap(ArrayRef<int64_t> from, ArrayRef<int64_t> to, MLIRContext *context) {
  AffineExpr number = getAffineConstantExpr(0, context);
  for (auto [dim, size] : llvm::enumerate(from))
    number = number * size + getAffineDimExpr(static_cast<unsigned>(dim), context);
  SmallVector<AffineExpr> indices(to.size());
  for (size_t dim = to.size(); dim-- > 0;) {
    indices[dim] = dim == 0 ? number : number % to[dim];
    number = number.floorDiv(to[dim]);
  }
  return AffineMap::get(static_cast<unsigned>(from.size()), 0, indices, context);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

Value tt::producedBuffer(Value tiled) {
  Value buffer = tiled;
  while (auto cast = buffer.getDefiningOp<UnrealizedConversionCastOp>()) {
    if (cast.getInputs().size() != 1)
      break;
    buffer = cast.getInputs().front();
  }
  return buffer.getType() == tiled.getType() ? buffer : tiled;
}

Value tt::rowsOf(OpBuilder &builder, Location loc, const TileTypes &types, Value tiled, const Placement &placement) {
  // The rows from which tiles were converted still exist.
  Value produced = producedBuffer(tiled);
  for (Operation *user : produced.getUsers()) {
    if (!types.options.foldsLayouts)
      break;
    auto generic = dyn_cast<d2m::GenericOp>(user);
    if (generic && generic.getOutputs().front() == produced && generic.getInputs().size() == 1 &&
        cast<MemRefType>(generic.getInputs().front().getType()) == placement.rowMajor)
      return generic.getInputs().front();
  }
  Value rows = memref::AllocOp::create(builder, loc, placement.rowMajor);
  createUntilize(builder, loc, tiled, rows);
  return rows;
}

/// Returns the values of the host that rows of the device were made of; null if something else wrote them.
static Value writtenFrom(Value rows) {
  Value host;
  for (Operation *user : rows.getUsers())
    if (auto write = dyn_cast<d2m::ToDeviceOp>(user); write && write.getOutput() == rows)
      host = write.getInput();
    else if (auto generic = dyn_cast<d2m::GenericOp>(user); generic && llvm::is_contained(generic.getOutputs(), rows))
      return {};
  return host;
}

Value tt::hostOf(OpBuilder &builder, Location loc, const TileTypes &types, Value tiled, const Placement &placement) {
  Value rows = rowsOf(builder, loc, types, tiled, placement);
  if (Value host = writtenFrom(rows))
    return host;
  Value host = memref::AllocOp::create(builder, loc, placement.host);
  d2m::ToHostOp::create(builder, loc, TypeRange(), rows, host, placement.layout);
  return host;
}

static Value tilesOf(OpBuilder &builder, Location loc, Value rows, const Placement &placement) {
  Value tiled = memref::AllocOp::create(builder, loc, placement.tiled);
  createTilize(builder, loc, rows, tiled);
  return tiled;
}

Value tt::pull(OpBuilder &builder, Location loc, const TileTypes &types, Value tiled, RankedTensorType from,
               RankedTensorType to, AffineMap map) {
  Placement source = placeOf(types, from), target = placeOf(types, to);
  Value input = rowsOf(builder, loc, types, tiled, source);
  Value output = memref::AllocOp::create(builder, loc, target.rowMajor);
  createCopy(builder, loc, {output, collapsed(to.getShape()), input, matrixMap(to.getShape(), from.getShape(), map)});
  return tilesOf(builder, loc, output, target);
}

Value tt::pullAt(OpBuilder &builder, Location loc, const TileTypes &types, const Choice &choice, RankedTensorType to) {
  MLIRContext *context = builder.getContext();
  auto from = choice.from;
  Placement target = placeOf(types, to);
  Value input = rowsOf(builder, loc, types, choice.tiled, placeOf(types, from));
  Value index = rowsOf(builder, loc, types, choice.index, placeOf(types, choice.indexType));
  Value output = memref::AllocOp::create(builder, loc, target.rowMajor);
  // (row, column, index) -> row and column of the source.
  SmallVector<AffineExpr> indices(indicesOf(to.getShape(), context).getResults());
  indices.push_back(getAffineDimExpr(2, context));
  AffineMap map =
      matrixOf(from.getShape(), context).compose(choice.map.compose(AffineMap::get(3, 0, indices, context)));
  createCopy(builder, loc,
             {output, collapsed(to.getShape()), input, map, /*read=*/true, index, choice.indexPerElement});
  return tilesOf(builder, loc, output, target);
}

Value tt::exchanged(OpBuilder &builder, Location loc, const TileTypes &types, Value tiled, RankedTensorType from,
                    RankedTensorType to, AffineMap map, const Exchange &exchange) {
  MLIRContext *context = builder.getContext();
  Placement target = placeOf(types, to);
  Value input = rowsOf(builder, loc, types, tiled, placeOf(types, from));
  Value output = memref::AllocOp::create(builder, loc, target.rowMajor);
  const bool reads = exchange.targets.empty();
  RankedTensorType own = reads ? to : from, other = reads ? from : to;
  if (from.getNumElements()) {
    SmallVector<AffineExpr> indices(indicesOf(own.getShape(), context).getResults());
    indices.push_back(getAffineDimExpr(2, context));
    AffineMap places = AffineMap::get(3, 0, indices, context);
    Exchange ofRows = exchange;
    if (exchange.target)
      ofRows.target = exchange.target.compose(places);
    createCopy(builder, loc,
               {reads ? output : input, collapsed(own.getShape()), reads ? input : output,
                matrixOf(other.getShape(), context).compose(map.compose(places)), reads, Value(), false, &ofRows});
  }
  return tilesOf(builder, loc, output, target);
}

namespace {
/// A part of a result: the position of each element of an input.
struct Part {
  Value tiled;
  RankedTensorType type;
  AffineMap map;
};
} // namespace

/// Rows that contain `parts`, some of which may be empty, and elsewhere the previous contents, which are initially
/// zero.
static void push(OpBuilder &builder, Location loc, const TileTypes &types, ArrayRef<Part> parts, Value rows,
                 RankedTensorType to) {
  for (const Part &part : parts)
    if (part.type.getNumElements())
      createCopy(builder, loc,
                 {rowsOf(builder, loc, types, part.tiled, placeOf(types, part.type)), collapsed(part.type.getShape()),
                  rows, matrixMap(part.type.getShape(), to.getShape(), part.map), /*read=*/false});
}

//===----------------------------------------------------------------------===//
// Ops whose results are read
//===----------------------------------------------------------------------===//

static AffineMap mapOf(ttir::PermuteOp op) {
  SmallVector<AffineExpr> indices(op.getPermutation().size());
  for (auto [dim, from] : llvm::enumerate(op.getPermutation()))
    indices[static_cast<size_t>(from)] = getAffineDimExpr(static_cast<unsigned>(dim), op.getContext());
  return AffineMap::get(static_cast<unsigned>(indices.size()), 0, indices, op.getContext());
}

static AffineMap mapOf(ttir::TransposeOp op) {
  const int64_t rank = op.getType().getRank();
  SmallVector<AffineExpr> indices;
  for (int64_t dim = 0; dim < rank; ++dim)
    indices.push_back(getAffineDimExpr(static_cast<unsigned>(dim), op.getContext()));
  const auto at = [&](int64_t dim) { return static_cast<size_t>(dim < 0 ? dim + rank : dim); };
  std::swap(indices[at(op.getDim0())], indices[at(op.getDim1())]);
  return AffineMap::get(static_cast<unsigned>(rank), 0, indices, op.getContext());
}

static AffineMap mapOf(ttir::SliceStaticOp op) {
  SmallVector<AffineExpr> indices;
  const auto number = [](Attribute value) { return cast<IntegerAttr>(value).getInt(); };
  for (auto [dim, size] : llvm::enumerate(op.getInput().getType().getShape())) {
    int64_t begin = number(op.getBegins()[dim]);
    begin = std::clamp<int64_t>(begin < 0 ? begin + size : begin, 0, size);
    indices.push_back(getAffineDimExpr(static_cast<unsigned>(dim), op.getContext()) * number(op.getStep()[dim]) +
                      begin);
  }
  return AffineMap::get(static_cast<unsigned>(indices.size()), 0, indices, op.getContext());
}

static AffineMap mapOf(ttir::RepeatOp op) {
  SmallVector<AffineExpr> indices;
  for (auto [dim, size] : llvm::enumerate(op.getInput().getType().getShape()))
    indices.push_back(getAffineDimExpr(static_cast<unsigned>(dim), op.getContext()) % size);
  return AffineMap::get(static_cast<unsigned>(indices.size()), 0, indices, op.getContext());
}

static AffineMap mapOf(ttir::RepeatInterleaveOp op) {
  const int64_t rank = op.getType().getRank();
  SmallVector<AffineExpr> indices;
  for (int64_t dim = 0; dim < rank; ++dim) {
    AffineExpr index = getAffineDimExpr(static_cast<unsigned>(dim), op.getContext());
    const int64_t repeated = op.getDim() < 0 ? op.getDim() + rank : op.getDim();
    indices.push_back(dim == repeated ? index.floorDiv(op.getRepeats()) : index);
  }
  return AffineMap::get(static_cast<unsigned>(rank), 0, indices, op.getContext());
}

static AffineMap mapOf(ttir::ReverseOp op) {
  SmallVector<AffineExpr> indices;
  for (auto [dim, size] : llvm::enumerate(op.getType().getShape())) {
    AffineExpr index = getAffineDimExpr(static_cast<unsigned>(dim), op.getContext());
    const auto number = static_cast<int64_t>(dim);
    const bool reversed = llvm::is_contained(op.getDimensions(), number) ||
                          llvm::is_contained(op.getDimensions(), number - op.getType().getRank());
    indices.push_back(reversed ? (size - 1) - index : index);
  }
  return AffineMap::get(static_cast<unsigned>(indices.size()), 0, indices, op.getContext());
}

namespace {
template <class OpT> struct LowerMovement : TilePattern<OpT> {
  using TilePattern<OpT>::TilePattern;
  LogicalResult matchAndRewrite(OpT op, typename OpT::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, pull(rewriter, op.getLoc(), this->types, adaptor.getInput(), op.getInput().getType(),
                                op.getType(), mapOf(op)));
    return success();
  }
};

struct LowerBroadcast : TilePattern<ttir::BroadcastOp> {
  using TilePattern::TilePattern;
  LogicalResult matchAndRewrite(ttir::BroadcastOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    RankedTensorType to = op.getType();
    TileOperand operand =
        broadcastOperand(rewriter, op.getLoc(), types, adaptor.getInput(), op.getInput().getType(), to);
    // A kernel repeats rows and columns within tiles; whole tiles are copied.
    if (operand.isStream && operand.bcast != d2m::TileBcastType::None) {
      Value output = memref::AllocOp::create(rewriter, op.getLoc(), placeOf(types, to).tiled);
      createElementwiseFrom(rewriter, op.getLoc(), operand, output,
                            [](OpBuilder &, Location, ValueRange tiles) { return tiles.front(); });
      rewriter.replaceOp(op, output);
    } else if (operand.isStream) {
      rewriter.replaceOp(op, pull(rewriter, op.getLoc(), types, adaptor.getInput(), op.getInput().getType(), to,
                                  broadcastMap(to.getShape(), op.getInput().getType().getShape(), op.getContext())));
    } else {
      rewriter.replaceOp(op, operand.stream.buffer);
    }
    return success();
  }
};

template <class OpT> struct LowerReshape : TilePattern<OpT> {
  using TilePattern<OpT>::TilePattern;
  LogicalResult matchAndRewrite(OpT op, typename OpT::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    RankedTensorType from = op.getInput().getType(), to = op.getType();
    if (collapsed(from.getShape()) == collapsed(to.getShape()) &&
        placeOf(this->types, from).tiled == placeOf(this->types, to).tiled)
      rewriter.replaceOp(op, adaptor.getInput());
    else
      rewriter.replaceOp(op, pull(rewriter, op.getLoc(), this->types, adaptor.getInput(), from, to,
                                  reshapeMap(to.getShape(), from.getShape(), op.getContext())));
    return success();
  }
};

/// The bytes of rows are copied to rows of elements of the same size.
struct LowerBitcast : TilePattern<ttir::BitcastConvertOp> {
  using TilePattern::TilePattern;
  LogicalResult matchAndRewrite(ttir::BitcastConvertOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    RankedTensorType from = op.getInput().getType(), to = op.getType();
    Placement source = placeOf(types, from), target = placeOf(types, to);
    if (source.tile().getSizeBytes() != target.tile().getSizeBytes())
      return notifyMatchFailure(rewriter, op, [&](Diagnostic &reason) {
        reason << "its elements are " << from.getElementType() << " and " << to.getElementType()
               << "; expected types of one size";
      });
    Value rows = memref::AllocOp::create(rewriter, op.getLoc(), target.rowMajor);
    createCopy(rewriter, op.getLoc(),
               {rows, collapsed(to.getShape()), rowsOf(rewriter, op.getLoc(), types, adaptor.getInput(), source),
                AffineMap::getMultiDimIdentityMap(2, op.getContext())});
    rewriter.replaceOp(op, tilesOf(rewriter, op.getLoc(), rows, target));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Ops whose operands are written
//===----------------------------------------------------------------------===//

struct LowerConcat : TilePattern<ttir::ConcatOp> {
  using TilePattern::TilePattern;
  LogicalResult matchAndRewrite(ttir::ConcatOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    const int64_t rank = op.getType().getRank();
    const auto joined = static_cast<unsigned>(op.getDim() < 0 ? op.getDim() + rank : op.getDim());
    SmallVector<Part> parts;
    int64_t begin = 0;
    for (auto [value, tiled] : llvm::zip_equal(op.getInputs(), adaptor.getInputs())) {
      auto type = cast<RankedTensorType>(value.getType());
      SmallVector<AffineExpr> indices;
      for (unsigned dim = 0; dim < rank; ++dim)
        indices.push_back(getAffineDimExpr(dim, op.getContext()) + (dim == joined ? begin : 0));
      parts.push_back({tiled, type, AffineMap::get(static_cast<unsigned>(rank), 0, indices, op.getContext())});
      begin += type.getDimSize(joined);
    }
    Placement target = placeOf(types, op.getType());
    Value rows = memref::AllocOp::create(rewriter, op.getLoc(), target.rowMajor);
    push(rewriter, op.getLoc(), types, parts, rows, op.getType());
    rewriter.replaceOp(op, tilesOf(rewriter, op.getLoc(), rows, target));
    return success();
  }
};

struct LowerPad : TilePattern<ttir::PadOp> {
  using TilePattern::TilePattern;
  LogicalResult matchAndRewrite(ttir::PadOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    const auto rank = static_cast<unsigned>(op.getType().getRank());
    Location loc = op.getLoc();
    if (llvm::any_of(op.getPadding(), [](int32_t size) { return size < 0; })) {
      cropFirst(op, rewriter);
      return success();
    }
    SmallVector<AffineExpr> indices;
    for (unsigned dim = 0; dim < rank; ++dim)
      indices.push_back(getAffineDimExpr(dim, op.getContext()) + op.getPadding()[2 * dim]);
    Placement target = placeOf(types, op.getType());
    const float value = op.getValue().convertToFloat();
    // A new buffer holds zeros.
    Value rows;
    if (value == 0 && !std::signbit(value)) {
      rows = memref::AllocOp::create(rewriter, loc, target.rowMajor);
    } else {
      Value filled = memref::AllocOp::create(rewriter, loc, target.tiled);
      createElementwise(rewriter, loc, {}, filled, [&](OpBuilder &b, Location loc, ValueRange) -> Value {
        Value number = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
        return d2m::TileFillOp::create(b, loc, target.tile(), number);
      });
      rows = memref::AllocOp::create(rewriter, loc, target.rowMajor);
      createUntilize(rewriter, loc, filled, rows);
    }
    push(rewriter, loc, types,
         Part{adaptor.getInput(), op.getInput().getType(), AffineMap::get(rank, 0, indices, op.getContext())}, rows,
         op.getType());
    rewriter.replaceOp(op, tilesOf(rewriter, loc, rows, target));
    return success();
  }

private:
  /// A negative size crops the input, and the other sizes pad it.
  static void cropFirst(ttir::PadOp op, ConversionPatternRewriter &rewriter) {
    RankedTensorType type = op.getInput().getType();
    SmallVector<int32_t> begins, ends, steps(type.getRank(), 1), padding;
    SmallVector<int64_t> shape;
    for (auto [dim, size] : llvm::enumerate(type.getShape())) {
      const int32_t before = op.getPadding()[2 * dim], after = op.getPadding()[2 * dim + 1];
      begins.push_back(std::max(0, -before));
      ends.push_back(static_cast<int32_t>(size) + std::min(0, after));
      shape.push_back(ends.back() - begins.back());
      padding.append({std::max(0, before), std::max(0, after)});
    }
    Value cropped = ttir::SliceStaticOp::create(rewriter, op.getLoc(), type.clone(shape), op.getInput(),
                                                rewriter.getI32ArrayAttr(begins), rewriter.getI32ArrayAttr(ends),
                                                rewriter.getI32ArrayAttr(steps));
    rewriter.replaceOpWithNewOp<ttir::PadOp>(op, op.getType(), cropped, rewriter.getDenseI32ArrayAttr(padding),
                                             op.getValueAttr());
  }
};
} // namespace

void tt::addMovementPatterns(RewritePatternSet &patterns, const TileTypes &types) {
  patterns.add<LowerBitcast, LowerConcat, LowerBroadcast, LowerMovement<ttir::PermuteOp>,
               LowerMovement<ttir::RepeatInterleaveOp>, LowerMovement<ttir::RepeatOp>, LowerMovement<ttir::ReverseOp>,
               LowerMovement<ttir::SliceStaticOp>, LowerMovement<ttir::TransposeOp>, LowerPad,
               LowerReshape<ttir::ReshapeOp>, LowerReshape<ttir::SqueezeOp>, LowerReshape<ttir::UnsqueezeOp>>(
      types, patterns.getContext());
}
