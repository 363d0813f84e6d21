//===- Broadcasts.cpp - operands that are broadcast -----------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Cores read the tiles of a broadcast operand in place, and the unpacker repeats a column, a row or a value within a
// tile. If rows of the operand are at other positions in tiles than those of the result, the operand is copied to the
// result's shape instead.
//
//===----------------------------------------------------------------------===//

#include "DataMovement.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

#include <numeric>

using namespace mlir;
using namespace mlir::tt;

static constexpr int64_t tileSize = 32;

AffineMap tt::broadcastMap(ArrayRef<int64_t> from, ArrayRef<int64_t> to, MLIRContext *context) {
  SmallVector<AffineExpr> indices;
  for (auto [dim, size] : llvm::enumerate(to)) {
    auto at = static_cast<unsigned>(from.size() - to.size() + dim);
    indices.push_back(size == 1 ? getAffineConstantExpr(0, context) : getAffineDimExpr(at, context));
  }
  return AffineMap::get(static_cast<unsigned>(from.size()), 0, indices, context);
}

/// The value with which a generic fills a buffer, or nothing.
static std::optional<FloatAttr> filledWith(Value tiled) {
  Value produced = producedBuffer(tiled);
  for (Operation *user : produced.getUsers()) {
    auto generic = dyn_cast<d2m::GenericOp>(user);
    if (!generic || generic.getOutputs().front() != produced)
      continue;
    FloatAttr value;
    if (!generic.getInputs().empty())
      return std::nullopt;
    generic.walk([&](d2m::TileFillOp fill) { (void)matchPattern(fill.getValue(), m_Constant(&value)); });
    return value ? std::optional(value) : std::nullopt;
  }
  return std::nullopt;
}

/// The tile row of the operand for that of the result, or null if rows have other positions in tiles.
static AffineExpr tileRow(AffineExpr row, ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  ArrayRef<int64_t> fromRows = from.drop_back(), toRows = to.drop_back();
  SmallVector<int64_t> padded(toRows.size() - fromRows.size(), 1);
  llvm::append_range(padded, fromRows);
  if (llvm::equal(padded, toRows))
    return row;
  if (toRows.empty() || padded.back() != toRows.back() || toRows.back() % tileSize)
    return nullptr;
  const int64_t tiles = toRows.back() / tileSize;
  AffineExpr place = row % tiles, batch = row.floorDiv(tiles);
  int64_t stride = tiles;
  for (size_t dim = toRows.size() - 1; dim-- > 0;) {
    if (padded[dim] != 1) {
      place = place + (dim ? batch % toRows[dim] : batch) * stride;
      stride *= padded[dim];
    }
    batch = batch.floorDiv(toRows[dim]);
  }
  return place;
}

TileOperand tt::broadcastOperand(OpBuilder &builder, Location loc, const TileTypes &types, Value tiled,
                                 RankedTensorType from, RankedTensorType to) {
  if (from.getShape() == to.getShape())
    return TileOperand::inPlace(tiled);
  Placement target = placeOf(types, to.clone(from.getElementType()));
  if (std::optional<FloatAttr> value = filledWith(tiled)) {
    Value filled = memref::AllocOp::create(builder, loc, target.tiled);
    createElementwise(builder, loc, {}, filled, [&](OpBuilder &b, Location at, ValueRange) -> Value {
      Value number = arith::ConstantOp::create(b, at, *value);
      return d2m::TileFillOp::create(b, at, target.tile(), number);
    });
    return TileOperand::inPlace(filled);
  }
  MLIRContext *context = builder.getContext();
  const auto dim = [&](unsigned number) { return getAffineDimExpr(number, context); };
  const auto [rows, columns] = collapsed(from.getShape());
  const auto [toRows, toColumns] = collapsed(to.getShape());
  TileOperand operand;
  operand.isStream = true;
  operand.isShared = {rows == 1, columns == 1 && toColumns != 1};
  AffineExpr row = operand.isShared[0] ? getAffineConstantExpr(0, context)
                                       : tileRow(dim(0) * target.tiles[0] + dim(2), from.getShape(), to.getShape());
  if (!row)
    return TileOperand::inPlace(pull(builder, loc, types, tiled, from, to.clone(from.getElementType()),
                                     broadcastMap(to.getShape(), from.getShape(), context)));
  AffineExpr column = operand.isShared[1] ? getAffineConstantExpr(0, context) : dim(1) * target.tiles[1] + dim(3);
  using d2m::TileBcastType;
  const bool repeatsRow = operand.isShared[0] && toRows != 1;
  operand.bcast = repeatsRow            ? operand.isShared[1] ? TileBcastType::Scalar : TileBcastType::Row
                  : operand.isShared[1] ? TileBcastType::Col
                                        : TileBcastType::None;
  operand.stream.buffer = tiled;
  operand.stream.map = AffineMap::get(4, 0, {row, column}, context);
  for (size_t number : {0, 1}) {
    operand.stream.blocks[number] = operand.isShared[number] ? 1 : target.grid[number];
    operand.stream.block[number] = operand.isShared[number] ? 1 : target.tiles[number];
  }
  return operand;
}
