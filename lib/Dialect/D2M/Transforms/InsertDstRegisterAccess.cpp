//===- InsertDstRegisterAccess.cpp - allocation of destination registers --===//
// SPDX-License-Identifier: Apache-2.0

#include "DstRegisters.h"

namespace mlir::tt::d2m {
#define GEN_PASS_DEF_D2MINSERTDSTREGISTERACCESSUNSCHEDULED
#include "ttmlir/Dialect/D2M/Transforms/Passes.h.inc"
} // namespace mlir::tt::d2m

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::d2m;

namespace {
/// The registers of one block.
class Registers {
public:
  Registers(Block &block) : block(block), builder(OpBuilder::atBlockBegin(&block)), start(&block.front()) {}

  LogicalResult insert() {
    SmallVector<Operation *> ops;
    for (Operation &op : block)
      if (isTileOp(op))
        ops.push_back(&op);
    for (Operation *op : ops)
      if (failed(insert(op)))
        return failure();
    return success();
  }

private:
  LogicalResult insert(Operation *op) {
    builder.setInsertionPoint(op);
    FailureOr<RegisterAssignment::Access> access = assignment.assign(op, [&] { return op->emitOpError(); });
    if (failed(access))
      return failure();
    if (readsRegisters(*op)) {
      size_t number = 0;
      for (OpOperand &operand : op->getOpOperands()) {
        Value tile = operand.get();
        if (!isa<ttcore::TileType>(tile.getType()))
          continue;
        const int64_t slot = access->read[number];
        if (access->copied[number])
          memref::StoreOp::create(builder, op->getLoc(), tile, registers(tile.getType()), index(slot));
        operand.set(load(op->getLoc(), tile.getType(), slot));
        ++number;
      }
    }
    builder.setInsertionPointAfter(op);
    Value result = op->getResult(0);
    auto store =
        memref::StoreOp::create(builder, op->getLoc(), result, registers(result.getType()), index(access->written));
    // Later users load it themselves; other uses load it here.
    Value loaded;
    for (OpOperand &use : llvm::make_early_inc_range(result.getUses())) {
      if (use.getOwner() == store || readsRegisters(*use.getOwner()))
        continue;
      if (!loaded)
        loaded = load(op->getLoc(), result.getType(), access->written);
      use.set(loaded);
    }
    return success();
  }

  /// The registers as tiles of a type.
  Value registers(Type tile) {
    Value &acquired = acquiredAs[tile];
    if (!acquired) {
      OpBuilder atStart(start);
      auto dst = ttcore::MemorySpaceAttr::get(tile.getContext(), ttcore::MemorySpace::RegisterDst);
      acquired = AcquireDstOp::create(atStart, start->getLoc(),
                                      MemRefType::get({registerCount}, tile, MemRefLayoutAttrInterface(), dst));
    }
    return acquired;
  }
  Value index(int64_t slot) {
    Value &constant = indices[slot];
    if (!constant) {
      OpBuilder atStart(start);
      constant = arith::ConstantIndexOp::create(atStart, start->getLoc(), slot);
    }
    return constant;
  }
  Value load(Location loc, Type tile, int64_t slot) {
    return memref::LoadOp::create(builder, loc, registers(tile), index(slot));
  }

  Block &block;
  OpBuilder builder;
  Operation *start; // what the block began with
  RegisterAssignment assignment;
  DenseMap<Type, Value> acquiredAs;
  DenseMap<int64_t, Value> indices;
};

struct InsertDstRegisterAccess : d2m::impl::D2MInsertDstRegisterAccessUnscheduledBase<InsertDstRegisterAccess> {
  void runOnOperation() override {
    SmallVector<Block *> blocks;
    getOperation()->walk([&](GenericOp generic) {
      generic->walk([&](Block *block) {
        auto tileOp = llvm::find_if(*block, isTileOp);
        if (tileOp == block->end() || isInSection(&*tileOp))
          return;
        Region *region = block->getParent();
        while (region->getParentOp() != generic)
          region = region->getParentRegion();
        if (generic.threadOf(*region).getThreadType() == ThreadType::Compute)
          blocks.push_back(block);
      });
    });
    for (Block *block : blocks)
      if (failed(Registers(*block).insert()))
        return signalPassFailure();
  }
};
} // namespace
