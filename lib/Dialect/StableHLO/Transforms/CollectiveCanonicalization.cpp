//===- CollectiveCanonicalization.cpp - fewer collectives -----------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/StableHLO/Transforms/Sharding.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::tt::shlo {
#define GEN_PASS_DEF_SHARDYCCLCANONICALIZATION
#include "ttmlir/Dialect/StableHLO/Transforms/Passes.h.inc"
} // namespace mlir::tt::shlo

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::shlo;

/// The number of axes in an attribute of a collective; nothing for an attribute of another kind.
static std::optional<size_t> numAxes(Attribute attribute) {
  if (auto list = dyn_cast_if_present<sdy::AxisRefListAttr>(attribute))
    return list.getValue().size();
  if (auto params = dyn_cast_if_present<sdy::AllToAllParamListAttr>(attribute))
    return params.getValue().size();
  auto lists = dyn_cast_if_present<sdy::ListOfAxisRefListsAttr>(attribute);
  if (!lists)
    return std::nullopt;
  size_t count = 0;
  for (sdy::AxisRefListAttr list : lists.getValue())
    count += list.getValue().size();
  return count;
}

/// The number of axes that a collective states; nothing for other ops, and for collectives that state none.
static std::optional<size_t> numAxes(Operation *op) {
  if (op->hasTrait<trait::ChangesSharding>())
    for (StringAttr name : op->getName().getAttributeNames())
      if (std::optional<size_t> count = numAxes(op->getInherentAttr(name).value_or(Attribute())))
        return count;
  return std::nullopt;
}

namespace {
/// Drops a collective without users, and one along no axes, which moves nothing.
struct DropEmpty : RewritePattern {
  explicit DropEmpty(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    std::optional<size_t> count = numAxes(op);
    if (!count)
      return failure();
    if (op->use_empty()) {
      rewriter.eraseOp(op);
      return success();
    }
    if (*count != 0)
      return failure();
    rewriter.replaceOp(op, op->getOperand(0));
    return success();
  }
};

/// Removes a gather that is sliced again.
struct SliceOfGather : OpRewritePattern<sdy::AllSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(sdy::AllSliceOp op, PatternRewriter &rewriter) const override {
    auto gather = op.getTensor().getDefiningOp<sdy::AllGatherOp>();
    if (!gather || gather.getGatheringAxes() != op.getSlicingAxes())
      return failure();
    rewriter.replaceOp(op, gather.getTensor());
    return success();
  }
};

/// Equal slices of a reduced value along its first axes are scattered instead. Axes that slice further stay.
struct ReduceThenSlice : OpRewritePattern<sdy::AllReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(sdy::AllReduceOp op, PatternRewriter &rewriter) const override {
    if (op->use_empty())
      return failure();
    auto first = dyn_cast<sdy::AllSliceOp>(*op->getUsers().begin());
    if (!first)
      return failure();
    for (Operation *user : op->getUsers())
      if (auto slice = dyn_cast<sdy::AllSliceOp>(user); !slice || slice.getSlicingAxes() != first.getSlicingAxes() ||
                                                        slice.getOutSharding() != first.getOutSharding())
        return failure();
    SmallVector<sdy::AxisRefAttr> reduced(op.getReductionAxes().getValue());
    SmallVector<sdy::AxisRefListAttr> scattered, sliced;
    SmallVector<sdy::DimensionShardingAttr> dims(first.getOutSharding().getDimShardings());
    MLIRContext *context = getContext();
    for (auto [dim, list] : llvm::enumerate(first.getSlicingAxes().getValue())) {
      ArrayRef<sdy::AxisRefAttr> axes = list.getValue();
      size_t count = 0;
      while (count < axes.size() && llvm::is_contained(reduced, axes[count]))
        llvm::erase(reduced, axes[count++]);
      scattered.push_back(sdy::AxisRefListAttr::get(context, axes.take_front(count)));
      sliced.push_back(sdy::AxisRefListAttr::get(context, axes.drop_front(count)));
      dims[dim] = sdy::DimensionShardingAttr::get(context, dims[dim].getAxes().drop_back(axes.size() - count),
                                                  dims[dim].getIsClosed(), std::nullopt);
    }
    if (!reduced.empty())
      return failure();
    sdy::TensorShardingAttr out = first.getOutSharding();
    auto between = sdy::TensorShardingAttr::get(context, out.getMeshOrRef(), dims, out.getReplicatedAxes(),
                                                out.getUnreducedAxes(), out.getReductionOp());
    auto remaining = sdy::ListOfAxisRefListsAttr::get(context, sliced);
    Value value = sdy::ReduceScatterOp::create(rewriter, op.getLoc(), op.getType(), op.getTensor(),
                                               sdy::ListOfAxisRefListsAttr::get(context, scattered),
                                               op.getReductionOp(), numAxes(remaining) == 0 ? out : between);
    if (numAxes(remaining) != 0)
      value = sdy::AllSliceOp::create(rewriter, op.getLoc(), op.getType(), value, remaining, out);
    for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
      rewriter.replaceOp(user, value);
    rewriter.eraseOp(op);
    return success();
  }
};

struct ShardyCCLCanonicalization : shlo::impl::ShardyCCLCanonicalizationBase<ShardyCCLCanonicalization> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    set.add<DropEmpty, ReduceThenSlice, SliceOfGather>(context);
    patterns = FrozenRewritePatternSet(std::move(set));
    return success();
  }

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (numAxes(op))
        ops.push_back(op);
    });
    GreedyRewriteConfig config;
    config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
    config.enableFolding(false);
    (void)applyOpPatternsGreedily(ops, patterns, config);
  }

private:
  FrozenRewritePatternSet patterns;
};
} // namespace
