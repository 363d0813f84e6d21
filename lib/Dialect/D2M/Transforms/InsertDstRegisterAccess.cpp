//===- InsertDstRegisterAccess.cpp - allocation of destination registers --===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/D2M/Transforms/Passes.h"

namespace mlir::tt::d2m {
#define GEN_PASS_DEF_D2MINSERTDSTREGISTERACCESSUNSCHEDULED
#include "ttmlir/Dialect/D2M/Transforms/Passes.h.inc"
} // namespace mlir::tt::d2m

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::d2m;

/// Tiles of f32 that the registers hold while the packer has the other half.
static constexpr int64_t registerCount = 4;

/// An op that computes a tile of tiles.
static bool isTileOp(Operation &op) {
  return op.getNumResults() == 1 && isa<ttcore::TileType>(op.getResult(0).getType()) &&
         isa_and_nonnull<D2MDialect>(op.getDialect());
}

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
    SmallVector<int64_t> read;
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<ttcore::TileType>(operand.get().getType()))
        continue;
      Value tile = operand.get();
      auto held = holds.find(tile);
      if (held == holds.end()) {
        FailureOr<int64_t> slot = take(op);
        if (failed(slot))
          return failure();
        memref::StoreOp::create(builder, op->getLoc(), tile, registers(tile.getType()), index(*slot));
        held = holds.try_emplace(tile, *slot).first;
      }
      read.push_back(held->second);
      operand.set(load(op->getLoc(), tile.getType(), held->second));
    }
    // What is not read any more has left its register; an op of one operand works in it.
    SmallVector<std::pair<Value, int64_t>> over;
    for (auto [tile, slot] : holds)
      if (tile.getDefiningOp() != op && isOver(tile, op))
        over.emplace_back(tile, slot);
    std::optional<int64_t> reused;
    for (auto [tile, slot] : over) {
      if (!reused && llvm::is_contained(read, slot))
        reused = slot;
      else
        used[slot] = false;
      holds.erase(tile);
    }
    const size_t operands = read.size();
    if (operands == 1 && !reused)
      return op->emitOpError("computes in the place of its operand, which is used again");
    FailureOr<int64_t> slot = reused ? FailureOr<int64_t>(*reused) : take(op);
    if (failed(slot))
      return failure();
    builder.setInsertionPointAfter(op);
    Value result = op->getResult(0);
    auto store = memref::StoreOp::create(builder, op->getLoc(), result, registers(result.getType()), index(*slot));
    holds[result] = *slot;
    // Uses by the ops to come load it themselves; other uses do here.
    Value loaded;
    for (OpOperand &use : llvm::make_early_inc_range(result.getUses())) {
      if (use.getOwner() == store || isTileOp(*use.getOwner()))
        continue;
      if (!loaded)
        loaded = load(op->getLoc(), result.getType(), *slot);
      use.set(loaded);
    }
    return success();
  }

  /// Whether no tile op after this one reads a tile.
  static bool isOver(Value tile, Operation *op) {
    return llvm::none_of(tile.getUsers(), [&](Operation *user) {
      return isTileOp(*user) && user->getBlock() == op->getBlock() && op->isBeforeInBlock(user);
    });
  }

  FailureOr<int64_t> take(Operation *op) {
    for (int64_t slot = 0; slot < registerCount; ++slot)
      if (!used[slot]) {
        used[slot] = true;
        return slot;
      }
    return op->emitOpError() << "needs more than the " << registerCount << " registers there are";
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
  llvm::MapVector<Value, int64_t> holds;
  bool used[registerCount] = {};
  DenseMap<Type, Value> acquiredAs;
  DenseMap<int64_t, Value> indices;
};

struct InsertDstRegisterAccess : d2m::impl::D2MInsertDstRegisterAccessUnscheduledBase<InsertDstRegisterAccess> {
  void runOnOperation() override {
    SmallVector<Block *> blocks;
    getOperation()->walk([&](GenericOp generic) {
      generic->walk([&](Block *block) {
        if (!llvm::any_of(*block, isTileOp) || !block->getOps<AcquireDstOp>().empty())
          return;
        Region *region = block->getParent();
        // Loops of a section that has its registers are scheduled.
        for (; region->getParentOp() != generic; region = region->getParentRegion())
          if (!region->getParentOp()->getBlock()->getOps<AcquireDstOp>().empty())
            return;
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
