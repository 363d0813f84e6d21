//===- Fusion.cpp - what patterns that fuse ops ask and leave -------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTCore/Transforms/Fusion.h"

#include "ttmlir/Dialect/Families/Effects.h"
#include "ttmlir/Dialect/TTCore/Transforms/MergedOps.h"

#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::tt;

ttcore::FusionState::FusionState(Operation *op) : observed(op) {
  op->walk([&](Operation *inner) {
    if (affectsOperands(inner))
      written.insert(inner->operand_begin(), inner->operand_end());
  });
}

bool ttcore::FusionState::isWrittenAfter(Value value, Operation *op) const {
  return written.contains(value) && isAffectedAfter(value, op);
}

bool ttcore::FusionState::hasOneLiveUse(Value value) const {
  unsigned live = 0;
  for (OpOperand &use : value.getUses())
    if (!dead.contains(use.getOwner()) && ++live > 1)
      return false;
  return live == 1;
}

void ttcore::FusionState::released(Value value, Operation *user) {
  SmallVector<Operation *> producers = {value.getDefiningOp()};
  while (!producers.empty()) {
    Operation *op = producers.pop_back_val();
    auto isGone = [&](Operation *reader) { return reader == user || dead.contains(reader); };
    if (!op || dead.contains(op) || !isMemoryEffectFree(op) || observed.contains(op) ||
        !llvm::all_of(op->getUsers(), isGone))
      continue;
    dead.insert(op);
    for (Value operand : op->getOperands())
      producers.push_back(operand.getDefiningOp());
  }
}

void ttcore::FusionState::notifyOperationReplaced(Operation *op, ValueRange values) {
  replacement = values.empty() ? nullptr : computingOp(values.front());
  if (replacement)
    recordMerged(op, replacement);
  if (!written.empty())
    for (auto [result, value] : llvm::zip_equal(op->getResults(), values))
      if (written.contains(result))
        written.insert(value);
}

void ttcore::FusionState::notifyOperationErased(Operation *op) {
  changed = true;
  constants.forget(op);
  const size_t before = dead.size();
  for (Value operand : op->getOperands())
    released(operand, op);
  if (Operation *into = std::exchange(replacement, nullptr))
    for (Operation *part : llvm::drop_begin(dead, before))
      recordMerged(part, into);
}

void ttcore::FusionState::eraseDead() {
  for (Operation *op : dead) {
    constants.forget(op);
    op->erase();
  }
  dead.clear();
}

void ttcore::FusionState::apply(Operation *root, const FrozenRewritePatternSet &patterns) {
  walkAndApplyPatterns(root, patterns, this);
  eraseDead();
}
