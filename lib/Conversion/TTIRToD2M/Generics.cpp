//===- Generics.cpp - TTIR ops as d2m.generic -----------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Generics.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::tt;

/// Returns the second half of a buffer's dimensions: the part of each core.
static ArrayRef<int64_t> shardOf(Value buffer) {
  ArrayRef<int64_t> shape = cast<MemRefType>(buffer.getType()).getShape();
  return shape.drop_front(shape.size() / 2);
}

/// A generic with one thread, whose arguments are circular buffers of blocks of the operands, `blocks` per core.
static d2m::GenericOp createGeneric(OpBuilder &builder, Location loc, ValueRange inputs, Value output, int64_t blocks) {
  MLIRContext *context = builder.getContext();
  auto outputType = cast<MemRefType>(output.getType());
  const int64_t dims = outputType.getRank() / 2;
  SmallVector<Attribute> maps(inputs.size() + 1, AffineMapAttr::get(AffineMap::getMultiDimIdentityMap(dims, context)));
  SmallVector<Attribute> parallel(dims, ttcore::IteratorTypeAttr::get(context, ttcore::IteratorType::Parallel));
  SmallVector<int64_t> factors(dims, 1);
  factors.front() = blocks;
  auto generic = d2m::GenericOp::create(
      builder, loc, TypeRange(), inputs, output, ValueRange(),
      ttcore::GridAttr::get(context, outputType.getShape().take_front(dims), AffineMap::get(context),
                            AffineMap::get(context)),
      builder.getI64ArrayAttr(factors), builder.getArrayAttr(maps), builder.getArrayAttr(parallel),
      builder.getArrayAttr(d2m::ThreadAttr::get(context, d2m::ThreadType::Unified, SymbolRefAttr(), -1)), nullptr, 1);
  Block *body = builder.createBlock(&generic.getRegion(0));
  for (Value operand : generic->getOperands()) {
    auto type = cast<MemRefType>(operand.getType());
    SmallVector<int64_t> block(shardOf(operand));
    block.front() /= blocks;
    body->addArgument(d2m::CBType::get(context, MemRefType::get(block, type.getElementType(),
                                                                MemRefLayoutAttrInterface(), type.getMemorySpace())),
                      operand.getLoc());
  }
  return generic;
}

static Type blockOf(Value cb) { return cast<d2m::CBType>(cb.getType()).getUnderlying(); }

/// A loop over indices below `end`; leaves the builder inside it.
static Value createLoop(OpBuilder &builder, Location loc, int64_t end) {
  const auto index = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(builder, loc, value); };
  Value from = index(0), to = index(end), step = index(1);
  auto loop = scf::ForOp::create(builder, loc, from, to, step);
  builder.setInsertionPointToStart(loop.getBody());
  return loop.getInductionVar();
}

void tt::createElementwise(OpBuilder &builder, Location loc, ValueRange inputs, Value output, TileBody body) {
  OpBuilder::InsertionGuard guard(builder);
  d2m::GenericOp generic = createGeneric(builder, loc, inputs, output, 1);
  auto cbs = generic.getRegion(0).getArguments();
  SmallVector<Value> blocks;
  for (Value cb : cbs.drop_back())
    blocks.push_back(d2m::WaitOp::create(builder, loc, blockOf(cb), cb));
  Value room = d2m::ReserveOp::create(builder, loc, blockOf(cbs.back()), cbs.back());
  {
    OpBuilder::InsertionGuard inner(builder);
    SmallVector<Value> at;
    for (int64_t size : shardOf(output))
      at.push_back(createLoop(builder, loc, size));
    SmallVector<Value> tiles;
    for (Value block : blocks)
      tiles.push_back(memref::LoadOp::create(builder, loc, block, at));
    memref::StoreOp::create(builder, loc, body(builder, loc, tiles), room, at);
  }
  d2m::PushOp::create(builder, loc, cbs.back());
  for (Value cb : cbs.drop_back())
    d2m::PopOp::create(builder, loc, cb);
}

/// A row of tiles after the other.
template <class BlockOp> static void createByRows(OpBuilder &builder, Location loc, Value input, Value output) {
  OpBuilder::InsertionGuard guard(builder);
  const bool isTilize = std::is_same_v<BlockOp, d2m::TileTilizeBlockOp>;
  const int64_t rows = shardOf(isTilize ? output : input).front();
  d2m::GenericOp generic = createGeneric(builder, loc, input, output, rows);
  Value in = generic.getRegion(0).getArgument(0), out = generic.getRegion(0).getArgument(1);
  createLoop(builder, loc, rows);
  Value block = d2m::WaitOp::create(builder, loc, blockOf(in), in);
  Value room = d2m::ReserveOp::create(builder, loc, blockOf(out), out);
  BlockOp::create(builder, loc, Type(), block, room);
  d2m::PushOp::create(builder, loc, out);
  d2m::PopOp::create(builder, loc, in);
}

void tt::createTilize(OpBuilder &builder, Location loc, Value rows, Value tiles) {
  createByRows<d2m::TileTilizeBlockOp>(builder, loc, rows, tiles);
}
void tt::createUntilize(OpBuilder &builder, Location loc, Value tiles, Value rows) {
  createByRows<d2m::TileUntilizeBlockOp>(builder, loc, tiles, rows);
}
