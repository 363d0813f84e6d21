//===- DstRegisters.cpp - use of the destination registers ----------------===//
// SPDX-License-Identifier: Apache-2.0

#include "DstRegisters.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::d2m;

bool d2m::isTileOp(Operation &op) {
  return op.getNumResults() == 1 && isa<ttcore::TileType>(op.getResult(0).getType()) &&
         isa_and_nonnull<D2MDialect>(op.getDialect());
}

/// The buffer that a tile is loaded from, or null for a tile of a register.
static Value bufferOf(Value tile) {
  auto load = tile.getDefiningOp<memref::LoadOp>();
  return load && !liesIn(load.getMemRefType(), ttcore::MemorySpace::RegisterDst) ? load.getMemRef() : Value();
}

bool d2m::isForMatrixUnit(Operation &op) {
  return op.hasTrait<OnMatrixUnit>() && llvm::all_of(op.getOperands(), [](Value operand) {
           auto tile = dyn_cast<ttcore::TileType>(operand.getType());
           return tile && isa<FloatType>(tile.getElementType()) && tile.getDataType() != ttcore::DataType::Float32 &&
                  bufferOf(operand);
         });
}

bool d2m::readsRegisters(Operation &op) { return isTileOp(op) && !isa<TileBcastOp>(op) && !isForMatrixUnit(op); }

SmallVector<Value> d2m::matrixUnitSources(Operation *op) {
  if (auto matmul = dyn_cast<TileMatmulBlockOp>(op))
    return {matmul.getA(), matmul.getB()};
  SmallVector<Value> buffers;
  if (isTileOp(*op) && !isa<TileBcastOp>(op))
    for (Value operand : op->getOperands())
      if (Value buffer = bufferOf(operand))
        buffers.push_back(buffer);
  return buffers;
}

bool d2m::isLoadedTile(Value tile) { return tile.getDefiningOp<memref::LoadOp>() != nullptr; }

bool d2m::isInSection(Operation *op) {
  for (; op && !isa<GenericOp>(op); op = op->getParentOp())
    if (llvm::any_of(op->getBlock()->getOps<AcquireDstOp>(),
                     [&](AcquireDstOp acquire) { return acquire->isBeforeInBlock(op); }))
      return true;
  return false;
}

/// Whether no later tile op reads a tile from a register.
static bool isOver(Value tile, Operation *op) {
  return llvm::none_of(tile.getUsers(), [&](Operation *user) {
    return readsRegisters(*user) && user->getBlock() == op->getBlock() && op->isBeforeInBlock(user);
  });
}

FailureOr<int64_t> RegisterAssignment::take() {
  for (int64_t slot = 0; slot < registerCount; ++slot)
    if (!used[slot]) {
      used[slot] = true;
      return slot;
    }
  return failure();
}

FailureOr<RegisterAssignment::Access> RegisterAssignment::assign(Operation *op,
                                                                 llvm::function_ref<InFlightDiagnostic()> emitError) {
  const auto tooMany = [&]() -> LogicalResult {
    if (emitError)
      return emitError() << "needs more than the " << registerCount << " registers there are";
    return failure();
  };
  Access access;
  if (readsRegisters(*op))
    for (Value tile : op->getOperands()) {
      if (!isa<ttcore::TileType>(tile.getType()))
        continue;
      auto held = holds.find(tile);
      access.copied.push_back(held == holds.end());
      if (held == holds.end()) {
        FailureOr<int64_t> slot = take();
        if (failed(slot))
          return tooMany();
        held = holds.try_emplace(tile, *slot).first;
      }
      access.read.push_back(held->second);
    }
  // An operand that is not read later has left its register; an op with one operand works in place.
  std::optional<int64_t> reused;
  for (auto [tile, slot] : llvm::to_vector(holds)) {
    if (!isOver(tile, op))
      continue;
    if (!reused && llvm::is_contained(access.read, slot))
      reused = slot;
    else
      used[slot] = false;
    holds.erase(tile);
  }
  if (!reused && access.read.size() == 1) {
    // The op takes a copy of its operand.
    Value tile = *llvm::find_if(op->getOperands(), [](Value each) { return isa<ttcore::TileType>(each.getType()); });
    if (!isLoadedTile(tile)) {
      if (emitError)
        return LogicalResult(emitError() << "computes in the place of its operand, which is used again");
      return failure();
    }
    if (access.copied.front()) { // the later ones copy it again
      holds.erase(tile);
      reused = access.read.front();
    } else {
      FailureOr<int64_t> slot = take();
      if (failed(slot))
        return tooMany();
      access.read.front() = *slot;
      access.copied.front() = true;
      reused = *slot;
    }
  }
  FailureOr<int64_t> slot = reused ? FailureOr<int64_t>(*reused) : take();
  if (failed(slot))
    return tooMany();
  holds[op->getResult(0)] = access.written = *slot;
  return access;
}

namespace {
/// Orders the ops of a block so that few tiles are live at a time (Sethi and Ullman).
class Order {
public:
  explicit Order(Block &block) : block(block) {}

  void apply(memref::StoreOp store) { visit(store.getValueToStore().getDefiningOp(), store); }

private:
  int64_t need(Operation *op) {
    if (!op || op->getBlock() != &block || !isTileOp(*op))
      return 1;
    if (auto known = needs.find(op); known != needs.end())
      return known->second;
    SmallVector<int64_t> operands;
    for (Value operand : op->getOperands())
      if (isa<ttcore::TileType>(operand.getType()))
        operands.push_back(need(operand.getDefiningOp()));
    llvm::sort(operands, std::greater<>());
    int64_t most = 1;
    for (auto [held, each] : llvm::enumerate(operands))
      most = std::max(most, each + static_cast<int64_t>(held));
    return needs[op] = most;
  }

  void visit(Operation *op, Operation *before) {
    if (!op || op->getBlock() != &block || !isTileOp(*op) || !seen.insert(op).second)
      return;
    SmallVector<std::pair<int64_t, unsigned>> operands;
    for (OpOperand &operand : op->getOpOperands())
      operands.emplace_back(-need(operand.get().getDefiningOp()), operand.getOperandNumber());
    llvm::sort(operands);
    for (auto [need, number] : operands)
      visit(op->getOperand(number).getDefiningOp(), before);
    op->moveBefore(before);
  }

  Block &block;
  DenseMap<Operation *, int64_t> needs;
  DenseSet<Operation *> seen;
};
} // namespace

void d2m::scheduleTiles(memref::StoreOp store) { Order(*store->getBlock()).apply(store); }
