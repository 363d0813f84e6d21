//===- ShardingConstraints.cpp - constraints that hold from the start -----===//
// SPDX-License-Identifier: Apache-2.0

#include "../Common/DataFlow.h"
#include "ttmlir/Dialect/Sdy/Transforms/Passes.h"

namespace mlir::sdy {
#define GEN_PASS_DEF_SDYAPPLYSHARDINGCONSTRAINTS
#include "ttmlir/Dialect/Sdy/Transforms/Passes.h.inc"
} // namespace mlir::sdy

using namespace mlir;
using namespace mlir::sdy;

namespace {
bool isFullyClosed(TensorShardingAttr sharding) {
  return llvm::all_of(sharding.getDimShardings(), [](DimensionShardingAttr dim) { return dim.getIsClosed(); });
}

/// Returns the sharding that a use requests of a value; null if none.
TensorShardingAttr getWish(OpOperand &use) {
  if (auto constraint = dyn_cast<ShardingConstraintOp>(use.getOwner()))
    return constraint.getSharding();
  if (auto manual = dyn_cast<ManualComputationOp>(use.getOwner()))
    return manual.getInShardings().getShardings()[use.getOperandNumber()];
  return {};
}

struct ApplyShardingConstraints : sdy::impl::SdyApplyShardingConstraintsBase<ApplyShardingConstraints> {
  using Base::Base;

  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (isa<ShardingConstraintOp, ManualComputationOp>(op))
        for (OpOperand &operand : op->getOpOperands())
          apply(operand);
      if (auto constraint = dyn_cast<ShardingConstraintOp>(op))
        applyChain(constraint);
    });
  }

  /// The value is produced in the sharding that its only constraint requests.
  static void apply(OpOperand &operand) {
    Value value = operand.get();
    TensorShardingAttr wish = getWish(operand);
    bool isBehindEdge = value.getDefiningOp<DataFlowEdgeOp>() != nullptr;
    if (!canHoldSharding(value) || getShardingAttr(value) || !wish || !isFullyClosed(wish))
      return;
    for (OpOperand &use : value.getUses())
      if (TensorShardingAttr other = getWish(use); other && other != wish)
        return;
    if (!isBehindEdge) {
      setShardingAttr(value, wish);
      return;
    }
    // The value of an edge may be split differently on other paths; in the end, all take the constraint.
    auto constraint = dyn_cast<ShardingConstraintOp>(operand.getOwner());
    Operation *edge = value.getDefiningOp();
    if (constraint) {
      constraint->moveAfter(edge);
    } else {
      OpBuilder builder(edge);
      builder.setInsertionPointAfter(edge);
      constraint = ShardingConstraintOp::create(builder, value.getLoc(), value, wish);
    }
    value.replaceAllUsesExcept(constraint.getResult(), constraint);
  }

  /// Users of a value take the result of the last of a chain of constraints; propagation determines the values in
  /// between.
  static void applyChain(ShardingConstraintOp first) {
    Value value = first.getInput();
    if (value.getDefiningOp<ShardingConstraintOp>() || !canHoldSharding(value) || getShardingAttr(value))
      return;
    ShardingConstraintOp last = first;
    while (last.getResult().hasOneUse()) {
      auto next = dyn_cast<ShardingConstraintOp>(*last->user_begin());
      if (!next)
        break;
      last = next;
    }
    auto isConstraint = [](Operation *user) { return isa<ShardingConstraintOp>(user); };
    if (last == first || llvm::count_if(value.getUsers(), isConstraint) != 1 ||
        llvm::any_of(last->getUsers(), isConstraint))
      return;
    value.replaceUsesWithIf(last.getResult(), [&](OpOperand &use) {
      Operation *user = use.getOwner();
      return user->getBlock() == last->getBlock() && last->isBeforeInBlock(user) && !isa<func::ReturnOp>(user);
    });
  }
};
} // namespace
