//===- Fusion.h - what patterns that fuse ops ask and leave -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A fusion looks at the last op of a group and puts one op in its place, with its location: its value is the one that
// is compared with a golden. The others of the group are dead then. They are erased after the walk, because the driver
// allows a pattern to erase no other op than its root; until then they do not count as users.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_DIALECT_TTCORE_TRANSFORMS_FUSION_H
#define TTMLIR_DIALECT_TTCORE_TRANSFORMS_FUSION_H

#include "ttmlir/Dialect/TTCore/Transforms/Constants.h"
#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::tt::ttcore {

class FusionState : public RewriterBase::Listener {
public:
  /// Of a module or function.
  explicit FusionState(Operation *op) : observed(op) {}

  /// The op that makes `value` if nobody else wants it, so that a fusion may drop it; else null.
  template <class Op> Op only(Value value) const {
    auto op = value.getDefiningOp<Op>();
    return op && isDroppable(op, value) ? op : Op();
  }
  bool isDroppable(Operation *op, Value value) const { return !observed.contains(op) && hasOneLiveUse(value); }
  /// The op that makes `value` if a fusion may read past it; it stays where others use it.
  template <class Op> Op passed(Value value) const {
    auto op = value.getDefiningOp<Op>();
    return op && !observed.contains(op) ? op : Op();
  }
  bool isObserved(Operation *op) const { return observed.contains(op); }
  bool isDead(Operation *op) const { return dead.contains(op); }
  bool isConstant(Value value) { return constants.isConstant(value); }

  /// To be called when `user` stops to use a value (nobody in particular: it has stopped already).
  void released(Value value, Operation *user = nullptr);
  /// Applies patterns to each op under `root` once, in program order, and erases what is dead then.
  ///
  /// One walk is enough: what one fusion makes is part of the group that a later op ends. The greedy driver folds, and
  /// erases ops that were dead before.
  void apply(Operation *root, const FrozenRewritePatternSet &patterns);
  void eraseDead();
  bool hasChanged() const { return changed; }

  void notifyOperationModified(Operation *) override { changed = true; }
  void notifyOperationErased(Operation *op) override;

private:
  bool hasOneLiveUse(Value value) const;

  ObservedSources observed;
  ConstantAnalysis constants;
  llvm::SetVector<Operation *> dead; // users before what they use
  bool changed = false;
};

} // namespace mlir::tt::ttcore

#endif // TTMLIR_DIALECT_TTCORE_TRANSFORMS_FUSION_H
