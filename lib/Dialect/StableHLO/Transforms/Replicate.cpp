//===- Replicate.cpp - what is computed whole -----------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Factors.h"
#include "ttmlir/Dialect/StableHLO/IR/Windows.h"

#include "mlir/IR/SymbolTable.h"

namespace mlir::tt::shlo {
#define GEN_PASS_DEF_INSERTRESHARDSFORUNPROPAGATEDOPS
#define GEN_PASS_DEF_REPLICATENONSPLITTABLEVALUES
#include "ttmlir/Dialect/StableHLO/Transforms/Passes.h.inc"
} // namespace mlir::tt::shlo

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::shlo;

using AxisLists = SmallVector<SmallVector<sdy::AxisRefAttr>>;

static AxisLists axesOf(sdy::TensorShardingAttr sharding) {
  AxisLists lists;
  for (sdy::DimensionShardingAttr dim : sharding.getDimShardings())
    lists.emplace_back(dim.getAxes());
  return lists;
}

/// The sharding with some dimensions whole.
static sdy::TensorShardingAttr without(sdy::TensorShardingAttr sharding, ArrayRef<int64_t> dims) {
  AxisLists lists = axesOf(sharding);
  for (int64_t dim : dims)
    lists[dim].clear();
  return withAxes(sharding, lists);
}

/// The axes of each dimension up to the first one that is not kept.
static sdy::TensorShardingAttr cut(sdy::TensorShardingAttr sharding,
                                   function_ref<bool(size_t dim, sdy::AxisRefAttr axis)> isKept) {
  AxisLists lists = axesOf(sharding);
  bool changed = false;
  for (auto [dim, list] : llvm::enumerate(lists)) {
    auto *end = llvm::find_if(list, [&, dim = dim](sdy::AxisRefAttr axis) { return !isKept(dim, axis); });
    changed |= end != list.end();
    list.erase(end, list.end());
  }
  return changed ? withAxes(sharding, lists) : sharding;
}

/// Returns the axes of a sharding whose parts are equally large.
static sdy::TensorShardingAttr divisible(Type type, sdy::TensorShardingAttr sharding, sdy::MeshAttr mesh) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !sharding || sharding.getDimShardings().size() != static_cast<size_t>(tensor.getRank()))
    return sharding;
  SmallVector<int64_t> parts(tensor.getRank(), 1);
  return cut(sharding, [&](size_t dim, sdy::AxisRefAttr axis) {
    parts[dim] *= sizeOf(axis, mesh);
    return !tensor.isDynamicDim(dim) && tensor.getDimSize(dim) % parts[dim] == 0;
  });
}

static sdy::TensorShardingAttr alongWholeAxes(sdy::TensorShardingAttr sharding) {
  return cut(sharding, [](size_t, sdy::AxisRefAttr axis) { return !axis.getSubAxisInfo(); });
}

namespace {
struct ReplicateNonSplittableValues : shlo::impl::ReplicateNonSplittableValuesBase<ReplicateNonSplittableValues> {
  using ReplicateNonSplittableValuesBase::ReplicateNonSplittableValuesBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<sdy::MeshOp> found = shlo::findMesh(module);
    if (failed(found))
      return signalPassFailure();
    if (!*found || isSolved(module))
      return;
    sdy::MeshAttr mesh = found->getMesh();
    for (auto function : module.getOps<func::FuncOp>())
      makeDivisible(function, mesh);
    SmallVector<Operation *> ops;
    module.walk([&](Operation *op) {
      // Constants and iotas are sliced when they become local.
      if (op->hasTrait<trait::Creation>())
        return;
      if (op->getNumRegions() == 0 || op->hasTrait<trait::AppliesRegion>())
        ops.push_back(op);
    });
    for (Operation *op : ops)
      makeWhole(op, mesh);
  }

private:
  /// Propagated shardings need not divide. Those of arguments and results that the caller exchanges in parts are not
  /// changed, and are errors later.
  void makeDivisible(func::FuncOp function, sdy::MeshAttr mesh) const {
    auto bounded = [&](Type type, Attribute attribute, Attribute status) -> sdy::TensorShardingAttr {
      auto sharding = dyn_cast_if_present<sdy::TensorShardingAttr>(attribute);
      if (sharding && wholeAxes)
        sharding = alongWholeAxes(sharding);
      auto given = dyn_cast_if_present<ttcore::ShardStatusAttr>(status);
      const bool isPresharded = given && given.getValue() == ttcore::ShardStatus::Presharded;
      return isPresharded ? sharding : divisible(type, sharding, mesh);
    };
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (auto sharding = bounded(function.getArgumentTypes()[i], function.getArgAttr(i, shardingName),
                                  function.getArgAttr(i, ttcore::shardStatusName)))
        function.setArgAttr(i, shardingName, sharding);
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (auto sharding = bounded(function.getResultTypes()[i], function.getResultAttr(i, shardingName),
                                  function.getResultAttr(i, ttcore::shardStatusName)))
        function.setResultAttr(i, shardingName, sharding);
    function.walk([&](Operation *op) {
      if (auto reshard = dyn_cast<sdy::ReshardOp>(op))
        reshard.setShardingAttr(divisible(reshard.getType(), reshard.getSharding(), mesh));
      for (Value result : op->getResults())
        if (op->hasAttr(shardingName))
          if (sdy::TensorShardingAttr sharding = shardingOf(result)) {
            sdy::TensorShardingAttr kept = divisible(result.getType(), sharding, mesh);
            if (kept != sharding)
              setSharding(result, kept);
          }
    });
  }

  /// Along windows, edges of neighbors may be all that a device needs.
  static void leaveExchanged(Operation *op, sdy::MeshAttr mesh, MutableArrayRef<SmallVector<int64_t>> dims) {
    for (const stablehlo::WindowedDim &window : stablehlo::getWindowedDims(op)) {
      auto leave = [&](Value value, int64_t dim, SmallVector<int64_t> &whole) {
        if (stablehlo::getFootprint(op, window, partsOf(shardingOf(value), dim, mesh)))
          llvm::erase(whole, dim);
      };
      for (unsigned i = 0; i < stablehlo::getNumWindowedOperands(op); ++i)
        leave(op->getOperand(i), window.operand, dims[i]);
      if (window.kind == stablehlo::WindowKind::Contraction)
        leave(op->getOperand(1), window.result, dims[1]);
      else
        for (OpResult result : op->getResults())
          leave(result, window.result, dims[op->getNumOperands() + result.getResultNumber()]);
    }
  }

  static void makeWhole(Operation *op, sdy::MeshAttr mesh) {
    SmallVector<SmallVector<int64_t>> dims = wholeDims(op);
    leaveExchanged(op, mesh, dims);
    OpBuilder builder(op);
    auto changed = [&](Value value, ArrayRef<int64_t> whole) -> sdy::TensorShardingAttr {
      sdy::TensorShardingAttr sharding = shardingOf(value);
      if (!sharding || llvm::none_of(whole, [&](int64_t dim) { return partsOf(sharding, dim, mesh) > 1; }))
        return {};
      return without(sharding, whole);
    };
    for (OpOperand &operand : op->getOpOperands())
      if (auto sharding = changed(operand.get(), dims[operand.getOperandNumber()]))
        operand.set(sdy::ReshardOp::create(builder, op->getLoc(), operand.get().getType(), operand.get(), sharding));
    builder.setInsertionPointAfter(op);
    for (OpResult result : op->getResults()) {
      sdy::TensorShardingAttr before = shardingOf(result),
                              sharding = changed(result, dims[op->getNumOperands() + result.getResultNumber()]);
      if (!sharding)
        continue;
      setSharding(result, sharding);
      auto back = sdy::ReshardOp::create(builder, op->getLoc(), result.getType(), result, before);
      result.replaceAllUsesExcept(back, back);
    }
  }
};

struct InsertReshardsForUnpropagatedOps
    : shlo::impl::InsertReshardsForUnpropagatedOpsBase<InsertReshardsForUnpropagatedOps> {
  void runOnOperation() override {
    FailureOr<sdy::MeshOp> found = shlo::findMesh(getOperation());
    if (failed(found))
      return signalPassFailure();
    if (!*found)
      return markAllAnalysesPreserved();
    sdy::MeshAttr mesh = found->getMesh();
    auto reference = FlatSymbolRefAttr::get(found->getSymNameAttr());
    SmallVector<stablehlo::ReshapeOp> reshapes;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<sdy::ManualComputationOp>(op))
        return WalkResult::skip();
      if (auto reshape = dyn_cast<stablehlo::ReshapeOp>(op); reshape && !shardingOf(reshape.getResult()))
        reshapes.push_back(reshape);
      return WalkResult::advance();
    });
    for (stablehlo::ReshapeOp reshape : reshapes) {
      OpOperand &operand = reshape->getOpOperand(0);
      if (!isSplit(shardingOf(operand.get()), mesh))
        continue;
      OpBuilder builder(reshape);
      operand.set(sdy::ReshardOp::create(builder, reshape.getLoc(), operand.get().getType(), operand.get(),
                                         replicated(reference, operand.get())));
    }
  }
};
} // namespace
