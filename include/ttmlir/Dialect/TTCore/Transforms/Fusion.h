//===- Fusion.h - what patterns that fuse ops ask and leave -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A fusion starts at the last op of a group and replaces it by one op at its location, because its value is the one
// that is compared with a golden. The other ops of the group are then dead. They are erased after the walk, because the
// driver allows a pattern to erase only its root; until then they do not count as users.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_DIALECT_TTCORE_TRANSFORMS_FUSION_H
#define TTMLIR_DIALECT_TTCORE_TRANSFORMS_FUSION_H

#include "ttmlir/Dialect/TTCore/Transforms/Constants.h"
#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::tt::ttcore {

class FusionState : public RewriterBase::Listener {
public:
  /// Builds the state of a module or function.
  explicit FusionState(Operation *op);

  /// The op that produces `value` if it has no other users, so that a fusion may drop it; else null.
  template <class Op> Op only(Value value) const {
    auto op = value.getDefiningOp<Op>();
    return op && isDroppable(op, value) ? op : Op();
  }
  bool isDroppable(Operation *op, Value value) const { return mayReadPast(op) && hasOneLiveUse(value); }
  /// The op that produces `value` if a fusion may read past it; it stays if others use it.
  template <class Op> Op passed(Value value) const {
    auto op = value.getDefiningOp<Op>();
    return op && mayReadPast(op) ? op : Op();
  }
  /// Whether users of an op may read the op's operands in place of its results: the results are not observed, and
  /// nothing writes to the operands after the op.
  bool mayReadPast(Operation *op) const {
    auto isWritten = [&](Value operand) { return isWrittenAfter(operand, op); };
    return !observed.contains(op) && (written.empty() || llvm::none_of(op->getOperands(), isWritten));
  }
  bool isObserved(Operation *op) const { return observed.contains(op); }
  bool isDead(Operation *op) const { return dead.contains(op); }
  bool isConstant(Value value) { return constants.isConstant(value); }

  /// Records that `user` stops using a value; without `user`, that some user has stopped.
  void released(Value value, Operation *user = nullptr);
  /// Applies patterns to each op under `root` once, in program order, and then erases dead ops. One walk is enough,
  /// because the result of a fusion belongs to the group that a later op ends. The greedy driver would also fold, and
  /// erase ops that were dead before.
  void apply(Operation *root, const FrozenRewritePatternSet &patterns);
  void eraseDead();
  bool hasChanged() const { return changed; }

  void notifyOperationModified(Operation *) override { changed = true; }
  void notifyOperationReplaced(Operation *op, ValueRange values) override;
  void notifyOperationErased(Operation *op) override;

private:
  bool hasOneLiveUse(Value value) const;
  bool isWrittenAfter(Value value, Operation *op) const;

  ObservedSources observed;
  ConstantAnalysis constants;
  llvm::DenseSet<Value> written;     // in place, or freed
  llvm::SetVector<Operation *> dead; // users before what they use
  Operation *replacement = nullptr;  // of the op that is erased next
  bool changed = false;
};

} // namespace mlir::tt::ttcore

#endif // TTMLIR_DIALECT_TTCORE_TRANSFORMS_FUSION_H
