//===- FuseDistributedCalls.cpp - calls that compute on shards ------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.h"
#include "ttmlir/Dialect/StableHLO/Transforms/Attributes.h"
#include "ttmlir/Dialect/StableHLO/Transforms/Sharding.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::tt::shlo {
#define GEN_PASS_DEF_FUSEDISTRIBUTEDCUSTOMCALLS
#define GEN_PASS_DEF_REGISTERCUSTOMSHARDINGRULE
#include "ttmlir/Dialect/StableHLO/Transforms/Passes.h.inc"
} // namespace mlir::tt::shlo

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::shlo;

namespace {
/// all_gather of the last dimension -> rms_norm of it -> each device keeps its part: the devices exchange the sums of
/// squares instead, one number for each row.
struct FuseRMSNorm : OpRewritePattern<stablehlo::CustomCallOp> {
  FuseRMSNorm(MLIRContext *context, sdy::MeshAttr mesh) : OpRewritePattern(context), mesh(mesh) {}

  LogicalResult matchAndRewrite(stablehlo::CustomCallOp op, PatternRewriter &rewriter) const override {
    auto attributes = op->getAttrOfType<DictionaryAttr>("tt.composite_attributes");
    if (op.getCallTargetName() != "tenstorrent.rms_norm" || !attributes || op->getNumOperands() > 2 ||
        op->getNumResults() != 1 || !op->hasOneUse())
      return failure();
    auto slice = dyn_cast<stablehlo::CompositeOp>(*op->user_begin());
    if (!slice || slice.getName() != "sdy.all_slice" || !slice.getCompositeAttributes())
      return rewriter.notifyMatchFailure(op, "its result is not sliced");
    std::optional<int64_t> axis = onlyAxis(*slice.getCompositeAttributes());
    if (!axis)
      return rewriter.notifyMatchFailure(op, "its result is not sliced along one axis of the last dimension");
    auto normalized = integersOf(attributes.get("normalized_shape"));
    if (!normalized || normalized->size() != 1)
      return rewriter.notifyMatchFailure(op, "it normalizes other dimensions than the last one");
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      auto gather = operand.getDefiningOp<stablehlo::AllGatherOp>();
      if (!gather || gather->getNumOperands() != 1 || !isLastDim(gather) || !hasGroups(gather, *axis))
        return rewriter.notifyMatchFailure(op, "an operand is not gathered as the result is sliced");
      operands.push_back(gather->getOperand(0));
    }
    if (operands.empty() || slice->getResult(0).getType() != operands[0].getType())
      return rewriter.notifyMatchFailure(op, "the result's part is not the operand's");
    // The chips of one mesh axis form a row.
    const int64_t clusterAxis = mesh.getAxes().size() == 1 ? 1 : *axis;
    NamedAttrList kept(attributes);
    kept.erase("normalized_shape");
    kept.set("cluster_axis", rewriter.getI32IntegerAttr(static_cast<int32_t>(clusterAxis)));
    OperationState state(op->getLoc(), op->getName(), operands, slice->getResultTypes(), op->getAttrs());
    state.attributes.set("call_target_name", rewriter.getStringAttr("tenstorrent.distributed_rms_norm"));
    state.attributes.set("tt.composite_attributes", kept.getDictionary(getContext()));
    rewriter.setInsertionPoint(slice);
    rewriter.replaceOp(slice, rewriter.create(state));
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// The number of the mesh axis along which the last dimension is sliced, if nothing else is sliced.
  std::optional<int64_t> onlyAxis(DictionaryAttr attributes) const {
    auto lists = attributes.getAs<sdy::ListOfAxisRefListsAttr>("slicing_axes");
    if (!lists || lists.getValue().empty() || lists.getValue().back().getValue().size() != 1 ||
        llvm::any_of(lists.getValue().drop_back(), [](sdy::AxisRefListAttr list) { return !list.getValue().empty(); }))
      return std::nullopt;
    sdy::AxisRefAttr axis = lists.getValue().back().getValue().front();
    if (axis.getSubAxisInfo())
      return std::nullopt;
    for (auto [number, each] : llvm::enumerate(mesh.getAxes()))
      if (each.getName() == axis.getName())
        return number;
    return std::nullopt;
  }

  static bool isLastDim(stablehlo::AllGatherOp gather) {
    auto type = dyn_cast<RankedTensorType>(gather->getOperand(0).getType());
    return type && static_cast<int64_t>(gather.getAllGatherDim()) == type.getRank() - 1;
  }

  bool hasGroups(stablehlo::AllGatherOp gather, int64_t axis) const {
    auto given = dyn_cast<DenseIntElementsAttr>(gather.getReplicaGroups());
    if (!given)
      return false;
    SmallVector<int64_t> expected;
    auto reference = sdy::AxisRefAttr::get(getContext(), mesh.getAxes()[axis].getName(), sdy::SubAxisInfoAttr());
    for (ArrayRef<int64_t> group : groupsAlong(mesh, reference))
      llvm::append_range(expected, group);
    return llvm::equal(given.getValues<int64_t>(), expected);
  }

  sdy::MeshAttr mesh;
};

struct FuseDistributedCustomCalls : shlo::impl::FuseDistributedCustomCallsBase<FuseDistributedCustomCalls> {
  void runOnOperation() override {
    auto meshes = getOperation().getOps<sdy::MeshOp>();
    if (meshes.empty())
      return markAllAnalysesPreserved();
    FailureOr<sdy::MeshOp> mesh = findMesh(getOperation());
    if (failed(mesh))
      return signalPassFailure();
    // An axis of a cluster is a row or a column.
    if (mesh->getMesh().getAxes().size() > 2)
      return markAllAnalysesPreserved();
    RewritePatternSet patterns(&getContext());
    patterns.add<FuseRMSNorm>(&getContext(), mesh->getMesh());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
  }
};

struct RegisterCustomShardingRule : shlo::impl::RegisterCustomShardingRuleBase<RegisterCustomShardingRule> {
  void runOnOperation() override { markAllAnalysesPreserved(); }
};
} // namespace
