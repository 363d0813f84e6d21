//===- ReshardToCollectives.cpp - reshards as collectives -----------------===//
// SPDX-License-Identifier: Apache-2.0

#include "../Common/DataFlow.h"
#include "../Common/Sharding.h"
#include "Planner.h"
#include "ttmlir/Dialect/Sdy/Transforms/Passes.h"

namespace mlir::sdy {
#define GEN_PASS_DEF_SDYRESHARDTOCOLLECTIVES
#include "ttmlir/Dialect/Sdy/Transforms/Passes.h.inc"
} // namespace mlir::sdy

using namespace mlir;
using namespace mlir::sdy;

namespace {
struct ReshardToCollectives : sdy::impl::SdyReshardToCollectivesBase<ReshardToCollectives> {
  using Base::Base;

  void runOnOperation() override {
    plans.clear();
    Meshes meshes(getOperation());
    SmallVector<ReshardOp> reshards;
    getOperation().walk([&](ReshardOp op) { reshards.push_back(op); });
    for (ReshardOp op : reshards)
      if (failed(lower(op, meshes)))
        return signalPassFailure();
  }

  LogicalResult lower(ReshardOp op, const Meshes &meshes) {
    auto tensor = dyn_cast<RankedTensorType>(op.getType());
    Sharding target = resolve(op.getSharding(), meshes);
    TensorShardingAttr attribute = findSharding(op.getInput());
    Sharding source = attribute ? resolve(attribute, meshes) : target.replicatedLike();
    if (!tensor || source.isMaximal() || target.isMaximal())
      return success();
    if (source.isReplicated() && target.isReplicated()) {
      if (!keepRedundantReshards)
        replace(op, op.getInput());
      return success();
    }
    // A replicated tensor is the same on any mesh.
    if (target.isReplicated())
      target = source.replicatedLike();
    if (source.isReplicated())
      source = target.replicatedLike();
    if (!haveSameAxes(source.mesh, target.mesh))
      return success();
    Axes introduced = difference(target.unreduced, source.unreduced),
         removed = difference(source.unreduced, target.unreduced);
    // The value itself on the first device, and zeros on the others, are the partial values of a sum.
    if (!introduced.empty() && target.reductionOp != ReductionOp::SUM)
      return op.emitOpError() << "asks for partial values of " << stringifyReductionOp(target.reductionOp) << " in "
                              << op.getSharding() << "; only a computation gives these";
    OpBuilder builder(op);
    Value value = op.getInput();
    if (!removed.empty()) {
      sortAndMerge(removed);
      source.unreduced = difference(source.unreduced, removed);
      value = AllReduceOp::create(builder, op.getLoc(), value.getType(), value,
                                  toListAttribute(op.getContext(), removed, source.mesh), source.reductionOp,
                                  toAttribute(closed(source)));
    }
    SmallVector<Axes> from, to;
    for (auto [a, b] : llvm::zip(source.dims, target.dims))
      from.push_back(a.axes), to.push_back(b.axes);
    SmallVector<int64_t> sizes =
        llvm::map_to_vector(source.mesh.getAxes(), [](MeshAxisAttr axis) { return axis.getSize(); });
    Sharding current = closed(source);
    bool changesMesh = source.mesh != target.mesh;
    // The layers of a model repeat the same requests.
    auto &plan = plans[{tensor, toAttribute(closed(source)), toAttribute(closed(target))}];
    if (!plan)
      plan = planReshard(tensor.getShape(), from, to, sizes, changesMesh);
    for (const CollectiveStep &step : *plan) {
      for (auto [dim, axes] : llvm::zip(current.dims, step.dims))
        dim.axes = axes;
      if (step.kind == CollectiveStep::Permute && changesMesh)
        current.mesh = target.mesh, current.meshOrRef = target.meshOrRef;
      value = create(builder, op.getLoc(), step, value, current);
    }
    if (!introduced.empty()) {
      sortAndMerge(introduced);
      target = closed(target);
      value = ReplicatedToUnreducedOp::create(builder, op.getLoc(), value.getType(), value,
                                              toListAttribute(op.getContext(), introduced, target.mesh),
                                              toAttribute(target));
    }
    if (value == op.getInput() && keepRedundantReshards)
      return success();
    replace(op, value);
    return success();
  }

  /// A barrier passes its operands on.
  static TensorShardingAttr findSharding(Value value) {
    while (auto barrier = value.getDefiningOp<PropagationBarrierOp>()) {
      if (getShardingAttr(value))
        break;
      value = barrier.getInput();
    }
    // Values that a loop or a computation passes to its region, and results of a computation.
    auto argument = dyn_cast<BlockArgument>(value);
    Operation *owner = argument ? argument.getOwner()->getParentOp() : value.getDefiningOp();
    if (argument ? !isa<FunctionOpInterface>(owner) : owner->hasTrait<tt::trait::ListsShardings>())
      for (const Edge &edge : getEdges(owner))
        if (llvm::is_contained(edge.targets, value))
          return getOwnerSharding(edge);
    return getShardingAttr(value);
  }

  static Sharding closed(Sharding sharding) {
    for (DimSharding &dim : sharding.dims)
      dim = {dim.axes, /*isClosed=*/true, std::nullopt};
    sharding.replicated.clear();
    return sharding;
  }

  using Key = std::tuple<Type, Attribute, Attribute>;
  DenseMap<Key, std::optional<SmallVector<CollectiveStep, 0>>> plans;

  static void replace(ReshardOp op, Value value) {
    op.replaceAllUsesWith(value);
    op.erase();
  }

  static Value create(OpBuilder &builder, Location loc, const CollectiveStep &step, Value value,
                      const Sharding &sharding) {
    MLIRContext *context = builder.getContext();
    TensorShardingAttr out = toAttribute(sharding);
    auto lists = [&] { return toListsAttribute(context, step.axes, sharding.mesh); };
    switch (step.kind) {
    case CollectiveStep::Slice:
      return AllSliceOp::create(builder, loc, value.getType(), value, lists(), out);
    case CollectiveStep::Gather:
      return AllGatherOp::create(builder, loc, value.getType(), value, lists(), out);
    case CollectiveStep::Permute:
      return CollectivePermuteOp::create(builder, loc, value.getType(), value, out);
    case CollectiveStep::AllToAll:
      break;
    }
    SmallVector<AllToAllParamAttr> params;
    for (const CollectiveStep::Move &move : step.moves)
      params.push_back(
          AllToAllParamAttr::get(context, toAttributes(context, move.axes, sharding.mesh), move.from, move.to));
    return AllToAllOp::create(builder, loc, value.getType(), value, AllToAllParamListAttr::get(context, params), out);
  }
};
} // namespace
