//===- Constants.cpp - constants split from and merged with each other ----===//
// SPDX-License-Identifier: Apache-2.0

#include "../Common/Rules.h"
#include "../Common/Sharding.h"
#include "ttmlir/Dialect/Sdy/Transforms/Passes.h"
#include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.h"

#include "mlir/IR/IRMapping.h"

namespace mlir::sdy {
#define GEN_PASS_DEF_SDYCONSTANTORSCALARSPLITTER
#define GEN_PASS_DEF_SDYCONSTANTORSCALARMERGER
#include "ttmlir/Dialect/Sdy/Transforms/Passes.h.inc"
} // namespace mlir::sdy

using namespace mlir;
using namespace mlir::sdy;
namespace hlo = mlir::stablehlo;

namespace {
bool isScalar(Value value) {
  auto shaped = dyn_cast<ShapedType>(value.getType());
  return shaped && shaped.hasRank() && shaped.getRank() == 0;
}

bool isBroadcastOfScalar(Operation *op) { return isa<hlo::BroadcastInDimOp>(op) && isScalar(op->getOperand(0)); }

struct ConstantOrScalarSplitter : sdy::impl::SdyConstantOrScalarSplitterBase<ConstantOrScalarSplitter> {
  using Base::Base;

  void runOnOperation() override {
    getOperation().walk([](hlo::ConstantOp op) {
      OpBuilder builder(op);
      auto constant = ConstantOp::create(builder, op.getLoc(), op.getType(), op.getValue());
      constant->setDiscardableAttrs(op->getDiscardableAttrDictionary());
      op->replaceAllUsesWith(constant);
      op->erase();
    });
    DenseSet<Operation *> expressions;
    SmallVector<Operation *> order, users;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      bool isLeaf = op->hasTrait<tt::trait::Creation>();
      bool isPart = op->getNumOperands() > 0 && op->getNumRegions() == 0 && op->getNumResults() == 1 && isPure(op) &&
                    (isElementwise(op) || op->hasTrait<tt::trait::KeepsConstants>()) &&
                    llvm::all_of(op->getOperands(), [&](Value operand) {
                      return operand.getDefiningOp() && expressions.contains(operand.getDefiningOp());
                    });
      if (isLeaf || isPart) {
        expressions.insert(op);
        order.push_back(op);
        return;
      }
      if (!isa<ShardingGroupOp>(op)) // it names a member, and its copies
        users.push_back(op);
      if (isBroadcastOfScalar(op))
        order.push_back(op);
    });
    for (Operation *user : users)
      for (OpOperand &operand : user->getOpOperands()) {
        Operation *op = operand.get().getDefiningOp();
        bool isExpression = op && expressions.contains(op);
        const bool isLast =
            llvm::count_if(operand.get().getUsers(), [](Operation *user) { return !isa<ShardingGroupOp>(user); }) == 1;
        if (!op || isScalar(operand.get()) || isLast || !(isExpression || isBroadcastOfScalar(op)))
          continue;
        OpBuilder builder(op);
        builder.setInsertionPointAfter(op);
        IRMapping copies;
        operand.set(copy(operand.get(), isExpression, expressions, builder, copies));
      }
    for (Operation *op : llvm::reverse(order))
      if (isOpTriviallyDead(op))
        op->erase();
  }

  /// Scalars are shared: they are not split.
  static Value copy(Value value, bool isExpression, const DenseSet<Operation *> &expressions, OpBuilder &builder,
                    IRMapping &copies) {
    if (Value known = copies.lookupOrNull(value))
      return known;
    Operation *op = value.getDefiningOp();
    if (isExpression)
      for (Value operand : op->getOperands())
        if (!isScalar(operand))
          copy(operand, isExpression, expressions, builder, copies);
    Operation *clone = builder.clone(*op, copies);
    // A group names its members one by one.
    for (Operation *user : llvm::to_vector(value.getUsers()))
      if (auto group = dyn_cast<ShardingGroupOp>(user))
        ShardingGroupOp::create(builder, group.getLoc(), clone->getResult(0), group.getGroupIdAttr());
    return clone->getResult(0);
  }
};

struct ConstantOrScalarMerger : sdy::impl::SdyConstantOrScalarMergerBase<ConstantOrScalarMerger> {
  using Base::Base;

  void runOnOperation() override {
    // Attributes are uniqued, so their pointers tell whether two ops are equal.
    using Key = std::tuple<Region *, Attribute, Attribute, Type, Value>;
    DenseMap<Key, Operation *> seen;
    SmallVector<Operation *> merged;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (!isa<ConstantOp, hlo::ConstantOp>(op) && !isBroadcastOfScalar(op))
        return;
      Value operand = op->getNumOperands() ? op->getOperand(0) : Value();
      Attribute value = op->getNumOperands() ? Attribute(op->getPropertiesAsAttribute()) : op->getAttr("value");
      Key key = {op->getParentRegion(), op->getDiscardableAttrDictionary(), value, op->getResult(0).getType(), operand};
      auto [entry, isNew] = seen.try_emplace(key, op);
      if (isNew)
        return;
      op->replaceAllUsesWith(entry->second);
      merged.push_back(op);
    });
    for (Operation *op : merged)
      op->erase();
  }
};
} // namespace
