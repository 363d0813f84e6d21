//===- Canonicalize.cpp - fewer reshards and collectives ------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "../Common/Sharding.h"
#include "ttmlir/Dialect/Sdy/Transforms/Passes.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::sdy {
#define GEN_PASS_DEF_SDYCANONICALIZECOLLECTIVES
#include "ttmlir/Dialect/Sdy/Transforms/Passes.h.inc"
} // namespace mlir::sdy

using namespace mlir;
using namespace mlir::sdy;

namespace {
bool isEmpty(ListOfAxisRefListsAttr lists) {
  return llvm::all_of(lists.getValue(), [](AxisRefListAttr list) { return list.getValue().empty(); });
}

/// Nothing is moved, gathered or combined.
bool isTrivial(Operation *op) {
  if (auto gather = dyn_cast<AllGatherOp>(op))
    return isEmpty(gather.getGatheringAxes());
  if (auto slice = dyn_cast<AllSliceOp>(op))
    return isEmpty(slice.getSlicingAxes());
  if (auto reduce = dyn_cast<AllReduceOp>(op))
    return reduce.getReductionAxes().getValue().empty();
  if (auto scatter = dyn_cast<ReduceScatterOp>(op))
    return isEmpty(scatter.getReduceScatterAxes());
  return false;
}

template <typename OpT> struct RemoveTrivial : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpT op, PatternRewriter &rewriter) const override {
    if (op->use_empty()) {
      rewriter.eraseOp(op);
      return success();
    }
    TensorShardingAttr before = getShardingAttr(op->getOperand(0)), after = getShardingAttr(op->getResult(0));
    bool isSamePlace = isa<CollectivePermuteOp>(op) && before && before.getMeshOrRef() == after.getMeshOrRef() &&
                       llvm::equal(before.getDimShardings(), after.getDimShardings(),
                                   [](auto a, auto b) { return a.getAxes() == b.getAxes(); });
    if (!isTrivial(op) && !isSamePlace)
      return rewriter.notifyMatchFailure(op, "it moves data");
    rewriter.replaceOp(op, op->getOperand(0));
    return success();
  }
};

struct ReshardOfReshard : OpRewritePattern<ReshardOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReshardOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<ReshardOp>();
    if (!inner || !inner->hasOneUse())
      return rewriter.notifyMatchFailure(op, "no reshard, or one that others use");
    rewriter.modifyOpInPlace(op, [&] { op.getInputMutable().assign(inner.getInput()); });
    rewriter.eraseOp(inner);
    return success();
  }
};

/// A value that is resharded to one sharding several times is resharded once.
struct EqualReshards : OpRewritePattern<ReshardOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReshardOp op, PatternRewriter &rewriter) const override {
    for (Operation *user : op.getInput().getUsers())
      if (auto other = dyn_cast<ReshardOp>(user); other && other != op && other.getSharding() == op.getSharding() &&
                                                  other->getBlock() == op->getBlock() && other->isBeforeInBlock(op)) {
        rewriter.replaceOp(op, other.getResult());
        return success();
      }
    return rewriter.notifyMatchFailure(op, "no other");
  }
};

struct SliceOfGather : OpRewritePattern<AllSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AllSliceOp op, PatternRewriter &rewriter) const override {
    auto gather = op.getTensor().getDefiningOp<AllGatherOp>();
    if (!gather || gather.getGatheringAxes() != op.getSlicingAxes())
      return rewriter.notifyMatchFailure(op, "not what a gather brought together");
    rewriter.replaceOp(op, gather.getTensor());
    return success();
  }
};

struct ConsecutiveAllToAll : OpRewritePattern<AllToAllOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AllToAllOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getTensor().getDefiningOp<AllToAllOp>();
    if (!inner || !inner->hasOneUse())
      return rewriter.notifyMatchFailure(op, "no all-to-all, or one that others use");
    SmallVector<AllToAllParamAttr> params(inner.getParams().getValue());
    llvm::append_range(params, op.getParams().getValue());
    DenseSet<int64_t> dims;
    for (AllToAllParamAttr param : params)
      if (!dims.insert(param.getSrcDim()).second || !dims.insert(param.getTgtDim()).second)
        return rewriter.notifyMatchFailure(op, "both use a dimension");
    llvm::sort(params, [](AllToAllParamAttr a, AllToAllParamAttr b) { return a.getSrcDim() < b.getSrcDim(); });
    rewriter.replaceOpWithNewOp<AllToAllOp>(op, op.getType(), inner.getTensor(),
                                            AllToAllParamListAttr::get(op.getContext(), params), op.getOutSharding());
    rewriter.eraseOp(inner);
    return success();
  }
};

/// Each device keeps a part of the combined value.
struct SlicedAllReduce : OpRewritePattern<AllReduceOp> {
  SlicedAllReduce(MLIRContext *context, const Meshes &meshes) : OpRewritePattern(context), meshes(meshes) {}

  LogicalResult matchAndRewrite(AllReduceOp op, PatternRewriter &rewriter) const override {
    SmallVector<AllSliceOp> slices;
    for (Operation *user : op->getUsers()) {
      auto slice = dyn_cast<AllSliceOp>(user);
      if (!slice || (!slices.empty() && (slice.getSlicingAxes() != slices.front().getSlicingAxes() ||
                                         slice.getOutSharding() != slices.front().getOutSharding() ||
                                         slice->getBlock() != slices.front()->getBlock())))
        return rewriter.notifyMatchFailure(op, "a use that is not the same slice");
      slices.push_back(slice);
    }
    if (slices.empty())
      return rewriter.notifyMatchFailure(op, "no use");
    Sharding before = resolve(op.getOutSharding(), meshes);
    Axes reduced = resolve(op.getReductionAxes().getValue(), before.mesh), used;
    SmallVector<Axes> scattered, rest;
    for (AxisRefListAttr list : slices.front().getSlicingAxes().getValue()) {
      Axes axes = resolve(list.getValue(), before.mesh);
      auto *end = llvm::find_if(
          axes, [&](Axis axis) { return llvm::none_of(reduced, [&](Axis whole) { return contains(whole, axis); }); });
      scattered.emplace_back(axes.begin(), end);
      rest.emplace_back(end, axes.end());
      llvm::append_range(used, scattered.back());
    }
    if (used.empty() || !difference(reduced, used).empty())
      return rewriter.notifyMatchFailure(op, "an axis that is reduced and not sliced");
    Sharding after = before;
    for (auto [dim, axes] : llvm::zip(after.dims, scattered))
      addOrMerge(dim.axes, axes);
    rewriter.setInsertionPoint(op);
    MLIRContext *context = op.getContext();
    Value value = ReduceScatterOp::create(rewriter, op.getLoc(), op.getType(), op.getTensor(),
                                          toListsAttribute(context, scattered, before.mesh), op.getReductionOp(),
                                          toAttribute(after));
    if (llvm::any_of(rest, [](const Axes &axes) { return !axes.empty(); }))
      value = AllSliceOp::create(rewriter, op.getLoc(), op.getType(), value,
                                 toListsAttribute(context, rest, before.mesh), slices.front().getOutSharding());
    for (AllSliceOp slice : slices)
      rewriter.replaceOp(slice, value);
    rewriter.eraseOp(op);
    return success();
  }

  const Meshes &meshes;
};

/// Removes the split of a value into partial results that are only combined again.
struct AllReduceOfPartial : OpRewritePattern<AllReduceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AllReduceOp op, PatternRewriter &rewriter) const override {
    if (auto partial = op.getTensor().getDefiningOp<ReplicatedToUnreducedOp>();
        partial && partial.getAxes() == op.getReductionAxes()) {
      rewriter.replaceOp(op, partial.getTensor());
      return success();
    }
    auto partial = op.getTensor().getDefiningOp<ShardedToUnreducedOp>();
    if (!partial)
      return rewriter.notifyMatchFailure(op, "of a computation");
    SmallVector<AxisRefAttr> axes;
    for (AxisRefListAttr list : partial.getAxes().getValue())
      llvm::append_range(axes, list.getValue());
    auto isLess = [](AxisRefAttr a, AxisRefAttr b) { return a.getName() < b.getName(); };
    SmallVector<AxisRefAttr> reduced(op.getReductionAxes().getValue());
    llvm::sort(axes, isLess), llvm::sort(reduced, isLess);
    if (axes != reduced)
      return rewriter.notifyMatchFailure(op, "other axes");
    rewriter.replaceOpWithNewOp<AllGatherOp>(op, op.getType(), partial.getTensor(), partial.getAxes(),
                                             op.getOutSharding());
    return success();
  }
};

struct CanonicalizeCollectives : sdy::impl::SdyCanonicalizeCollectivesBase<CanonicalizeCollectives> {
  using Base::Base;

  void runOnOperation() override {
    Meshes meshes(getOperation());
    RewritePatternSet patterns(&getContext());
    patterns.add<RemoveTrivial<AllGatherOp>, RemoveTrivial<AllSliceOp>, RemoveTrivial<AllReduceOp>,
                 RemoveTrivial<ReduceScatterOp>, RemoveTrivial<CollectivePermuteOp>, RemoveTrivial<AllToAllOp>,
                 RemoveTrivial<ReplicatedToUnreducedOp>, RemoveTrivial<ShardedToUnreducedOp>, ReshardOfReshard,
                 EqualReshards, SliceOfGather, ConsecutiveAllToAll, AllReduceOfPartial>(&getContext());
    patterns.add<SlicedAllReduce>(&getContext(), meshes);
    // Nothing else is folded or moved: other ops keep their shardings.
    GreedyRewriteConfig config;
    config.enableFolding(false).enableConstantCSE(false).setRegionSimplificationLevel(
        GreedySimplifyRegionLevel::Disabled);
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<SdyDialect>(op->getDialect()) && !op->hasTrait<OpTrait::IsTerminator>())
        ops.push_back(op);
    });
    config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
    if (failed(applyOpPatternsGreedily(ops, std::move(patterns), config)))
      signalPassFailure();
  }
};
} // namespace
