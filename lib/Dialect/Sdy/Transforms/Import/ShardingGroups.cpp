//===- ShardingGroups.cpp - groups of values that are split alike ---------===//
// SPDX-License-Identifier: Apache-2.0

#include "../Common/Sharding.h"
#include "ttmlir/Dialect/Sdy/Transforms/Passes.h"

#include "llvm/ADT/EquivalenceClasses.h"

namespace mlir::sdy {
#define GEN_PASS_DEF_SDYSHARDINGGROUPIMPORT
#include "ttmlir/Dialect/Sdy/Transforms/Passes.h.inc"
} // namespace mlir::sdy

using namespace mlir;
using namespace mlir::sdy;

namespace {
struct ShardingGroupImport : sdy::impl::SdyShardingGroupImportBase<ShardingGroupImport> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<ShardingGroupOp> ops;
    getOperation().walk([&](ShardingGroupOp op) { ops.push_back(op); });
    // Identifiers are any 64 bits, some of which LLVM's maps reserve, so their indices in sorted order represent them.
    SmallVector<uint64_t> ids = llvm::map_to_vector(ops, [](ShardingGroupOp op) { return op.getGroupId(); });
    llvm::sort(ids);
    ids.erase(llvm::unique(ids), ids.end());
    auto placeOf = [&](ShardingGroupOp op) -> uint64_t {
      return llvm::lower_bound(ids, op.getGroupId()) - ids.begin();
    };
    // Groups that share a value are merged; the smallest number names the result.
    llvm::EquivalenceClasses<uint64_t> classes;
    DenseMap<Value, uint64_t> groupOf;
    for (ShardingGroupOp op : ops) {
      classes.insert(placeOf(op));
      auto [entry, isNew] = groupOf.try_emplace(op.getInput(), placeOf(op));
      if (!isNew)
        classes.unionSets(entry->second, placeOf(op));
    }
    std::map<uint64_t, uint64_t> smallest; // leader to the smallest of its class
    for (ShardingGroupOp op : ops) {
      uint64_t leader = classes.getLeaderValue(placeOf(op));
      auto [entry, isNew] = smallest.try_emplace(leader, placeOf(op));
      entry->second = std::min(entry->second, placeOf(op));
    }
    SmallVector<uint64_t> ordered;
    for (auto [leader, number] : smallest)
      ordered.push_back(number);
    llvm::sort(ordered);
    std::map<uint64_t, SmallVector<Value>> members;
    for (ShardingGroupOp op : ops) {
      uint64_t old = smallest[classes.getLeaderValue(placeOf(op))];
      uint64_t number = llvm::find(ordered, old) - ordered.begin();
      SmallVector<Value> &values = members[number];
      if (llvm::is_contained(values, op.getInput())) {
        op.erase();
        continue;
      }
      if (failed(verifyMember(op, values)))
        return signalPassFailure();
      values.push_back(op.getInput());
      op.setGroupId(number);
    }
    for (auto &[number, values] : members)
      agree(number, values);
  }

  static LogicalResult verifyMember(ShardingGroupOp op, ArrayRef<Value> members) {
    if (members.empty())
      return success();
    auto shape = cast<ShapedType>(members.front().getType()).getShape();
    if (cast<ShapedType>(op.getInput().getType()).getShape() != shape)
      return op.emitOpError() << "puts " << op.getInput().getType() << " in a group with " << members.front().getType()
                              << "; expected one shape";
    auto parent = [](Value value) { return value.getParentRegion()->getParentOfType<ManualComputationOp>(); };
    if (parent(op.getInput()) != parent(members.front()))
      return op.emitOpError() << "is in another manual computation than the other members of its group";
    return success();
  }

  /// All members get the sharding of those that have one. If these differ, each is followed by an open constraint,
  /// which replaces it in the group.
  static void agree(uint64_t number, ArrayRef<Value> values) {
    TensorShardingAttr first;
    bool isConflict = false;
    for (Value value : values) {
      TensorShardingAttr sharding = getShardingAttr(value);
      bool isOpen = !sharding || llvm::all_of(sharding.getDimShardings(), [](DimensionShardingAttr dim) {
        return dim.getAxes().empty() && !dim.getIsClosed();
      });
      if (isOpen)
        continue;
      isConflict |= first && first != sharding;
      if (!first)
        first = sharding;
    }
    if (!first)
      return;
    if (!isConflict) {
      for (Value value : values)
        if (canHoldSharding(value))
          setShardingAttr(value, first);
      return;
    }
    mlir::emitWarning(values.front().getLoc())
        << "members of sharding group " << number << " have different shardings; each keeps its own";
    for (Value value : values) {
      OpBuilder builder(value.getContext());
      builder.setInsertionPointAfterValue(value);
      SmallVector<DimensionShardingAttr> dims(
          cast<ShapedType>(value.getType()).getRank(),
          DimensionShardingAttr::get(value.getContext(), {}, /*is_closed=*/false, std::nullopt));
      auto open = TensorShardingAttr::get(value.getContext(), first.getMeshOrRef(), dims, {}, {}, ReductionOp::SUM);
      auto constraint = ShardingConstraintOp::create(builder, value.getLoc(), value, open);
      value.replaceAllUsesExcept(constraint.getResult(), constraint);
    }
  }
};
} // namespace
