//===- Elementwise.cpp - generics tile by tile ----------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Elementwise.h"

#include "DstRegisters.h"

#include "ttmlir/Dialect/TTMetal/IR/TTMetal.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::d2m;

std::optional<Elementwise> Elementwise::of(Operation *op) {
  auto generic = dyn_cast_or_null<GenericOp>(op);
  if (!generic || generic.getNumRegions() != 1 || generic.getOutputs().size() != 1 || generic.getNumResults() ||
      !generic.getRegion(0).hasOneBlock() || generic.getIteratorTypes().empty() ||
      generic.threadOf(generic.getRegion(0)).getThreadType() != ThreadType::Unified)
    return std::nullopt;
  for (Attribute iterator : generic.getIteratorTypes())
    if (cast<ttcore::IteratorTypeAttr>(iterator).getValue() != ttcore::IteratorType::Parallel)
      return std::nullopt;
  for (Attribute factor : generic.getBlockFactors())
    if (cast<IntegerAttr>(factor).getInt() != 1)
      return std::nullopt;
  Elementwise found{generic, {}, {}, {}};
  // Outside of the loops, a thread only passes blocks on.
  for (Operation &each : found.body()) {
    if (auto loop = dyn_cast<scf::ForOp>(each)) {
      if (!found.loops.empty())
        return std::nullopt;
      found.loops.push_back(loop);
    } else if (auto reserve = dyn_cast<ReserveOp>(each)) {
      if (found.reserve)
        return std::nullopt;
      found.reserve = reserve;
    } else if (!each.hasTrait<trait::AwaitsBlock>() && !each.hasTrait<trait::ReleasesBlock>() &&
               !isa<RemoteLoadOp, CoreIndexOp, arith::ConstantOp>(each)) {
      return std::nullopt;
    }
  }
  if (!found.reserve || found.loops.empty())
    return std::nullopt;
  const int64_t rank = cast<MemRefType>(found.output().getType()).getRank() / 2;
  while (static_cast<int64_t>(found.loops.size()) < rank) {
    scf::ForOp inner;
    for (Operation &each : found.loops.back().getBody()->without_terminator()) {
      if (auto loop = dyn_cast<scf::ForOp>(each); loop && !inner)
        inner = loop;
      else if (!isa<arith::ConstantOp>(each))
        return std::nullopt;
    }
    if (!inner)
      return std::nullopt;
    found.loops.push_back(inner);
  }
  for (Operation &each : found.loops.back().getBody()->without_terminator()) {
    if (auto store = dyn_cast<memref::StoreOp>(each)) {
      if (found.store || store.getMemRef() != found.reserve.getResult() || !found.isPlace(store.getIndices()) ||
          !store.getValueToStore().getDefiningOp() || !isTileOp(*store.getValueToStore().getDefiningOp()))
        return std::nullopt;
      found.store = store;
    } else if (!isa<memref::LoadOp, arith::ConstantOp>(each) && !isTileOp(each)) {
      return std::nullopt;
    }
  }
  return found.store ? std::optional(found) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Whether registers hold what buffers would
//===----------------------------------------------------------------------===//

static ttcore::DataType dataTypeOf(Value tile) { return cast<ttcore::TileType>(tile.getType()).getDataType(); }
static bool isFloat(ttcore::DataType type) {
  return type == ttcore::DataType::Float32 || type == ttcore::DataType::BFloat16;
}

bool d2m::isWide(Type type) {
  auto buffer = ttmetal::DeviceBuffer::of(type);
  if (!buffer)
    return true;
  const ttcore::DataType data = buffer->dataType();
  return data == ttcore::DataType::Float32 || data == ttcore::DataType::Int32 || data == ttcore::DataType::UInt32;
}

bool d2m::isExact(Operation *op, bool wide) {
  const ttcore::DataType type = dataTypeOf(op->getResult(0));
  if (ttcore::isBlockFormat(type)) // the packer finds the exponents
    return false;
  if (isa<TileTypecastOp, TileBcastOp>(op))
    return type != ttcore::DataType::Float32 || wide;
  if (!isFloat(type))
    return false;
  if (auto fill = dyn_cast<TileFillOp>(op)) {
    FloatAttr value;
    if (wide && type == ttcore::DataType::Float32)
      return true;
    if (!matchPattern(fill.getValue(), m_Constant(&value)))
      return false;
    APFloat number = value.getValue();
    bool loses = false;
    number.convert(APFloat::BFloat(), APFloat::rmNearestTiesToEven, &loses);
    return !loses;
  }
  for (Value operand : op->getOperands())
    if (!isa<ttcore::TileType>(operand.getType()) || !isFloat(dataTypeOf(operand)))
      return false;
  return wide == (type == ttcore::DataType::Float32);
}

/// Whether the tiles that an op reads are floats.
static bool readsFloats(Operation *op) {
  return llvm::all_of(op->getOperands(), [](Value operand) {
    return !isa<ttcore::TileType>(operand.getType()) || isFloat(dataTypeOf(operand));
  });
}

void d2m::roundTiles(memref::StoreOp store) {
  for (Operation &op : llvm::make_early_inc_range(*store->getBlock())) {
    if (!isTileOp(op) || op.getResult(0) == store.getValueToStore() || isExact(&op, /*wide=*/true) ||
        dataTypeOf(op.getResult(0)) != ttcore::DataType::BFloat16 || !readsFloats(&op))
      continue;
    Value tile = op.getResult(0);
    OpBuilder builder(op.getContext());
    builder.setInsertionPointAfter(&op);
    Type narrow = tile.getType();
    tile.setType(ttcore::TileType::get(op.getContext(), ttcore::DataType::Float32));
    auto rounded = TileTypecastOp::create(builder, op.getLoc(), narrow, tile);
    tile.replaceAllUsesExcept(rounded, rounded);
  }
}
