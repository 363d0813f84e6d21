//===- Pipeline.cpp - from annotated StableHLO to what devices compute ----===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/StableHLO/Transforms/Pipeline.h"
#include "ttmlir/Dialect/Sdy/Transforms/Passes.h"
#include "ttmlir/Dialect/StableHLO/Transforms/Sharding.h"
#include "ttmlir/Dialect/TTCore/Transforms/Pipelines.h"

#include "mlir/Transforms/Passes.h"

namespace mlir::tt::shlo {
#define GEN_PASS_DEF_PARTITIONSTABLEHLO
#include "ttmlir/Dialect/StableHLO/Transforms/Passes.h.inc"
} // namespace mlir::tt::shlo

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::shlo;

namespace {
/// Partitions a module whose devices do not have their parts yet.
struct PartitionStableHLO : shlo::impl::PartitionStableHLOBase<PartitionStableHLO> {
  using PartitionStableHLOBase::PartitionStableHLOBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    PartitionStableHLOBase::getDependentDialects(registry);
    passes(/*wholeAxes=*/false).getDependentDialects(registry);
  }

  void runOnOperation() override {
    if (isSolved(getOperation()) || hasGspmdAnnotations(getOperation()))
      return;
    OpPassManager manager = passes(wholeAxes && !isGivenPartsOfAxes(getOperation()));
    if (failed(runPipeline(manager, getOperation())))
      signalPassFailure();
  }

private:
  static bool isGivenPartsOfAxes(ModuleOp module) {
    auto hasParts = [](Attribute attribute) {
      auto sharding = dyn_cast_if_present<sdy::TensorShardingAttr>(attribute);
      return sharding && llvm::any_of(sharding.getDimShardings(), [](sdy::DimensionShardingAttr dim) {
               return llvm::any_of(dim.getAxes(), [](sdy::AxisRefAttr axis) { return bool(axis.getSubAxisInfo()); });
             });
    };
    return llvm::any_of(module.getOps<func::FuncOp>(), [&](func::FuncOp function) {
      return llvm::any_of(llvm::seq(function.getNumArguments()),
                          [&](unsigned i) { return hasParts(function.getArgAttr(i, shardingName)); }) ||
             llvm::any_of(llvm::seq(function.getNumResults()),
                          [&](unsigned i) { return hasParts(function.getResultAttr(i, shardingName)); });
    });
  }

  static OpPassManager passes(bool wholeAxes) {
    OpPassManager manager(ModuleOp::getOperationName());
    manager.addPass(createDecomposeCustomCallTuples());
    manager.addPass(createFlattenOrConvertComposites());
    manager.addPass(createRegisterUserShardingRule());
    // Axes that split nothing would exclude others.
    manager.addPass(sdy::createSdyRemoveSizeOneAxes());
    // Each use of a constant is split its own way.
    manager.addPass(sdy::createSdyConstantOrScalarSplitter());
    manager.addPass(sdy::createSdyAddDataFlowEdges());
    manager.addPass(sdy::createSdyApplyShardingConstraints());
    manager.addPass(sdy::createSdyShardingGroupImport());
    sdy::SdyUserPriorityPropagateOptions propagation;
    propagation.isConservative = true;
    propagation.enableHaloExchange = true;
    manager.addPass(sdy::createSdyUserPriorityPropagate(propagation));
    manager.addNestedPass<func::FuncOp>(sdy::createSdySinkDataFlowEdges());
    manager.addPass(sdy::createSdyRemoveShardingGroups());
    manager.addNestedPass<func::FuncOp>(sdy::createSdyShardingConstraintToReshard());
    manager.addPass(createPartiallyConvertSdyToStableHLO());
    manager.addNestedPass<func::FuncOp>(sdy::createSdyPopulateOpShardingRules());
    manager.addPass(createReplicateNonSplittableValues({wholeAxes}));
    manager.addPass(createInsertReshardsForUnpropagatedOps());
    manager.addNestedPass<func::FuncOp>(
        sdy::createSdyInsertExplicitReshards({/*enableFullVersion=*/true, /*enableHaloExchange=*/true}));
    // Arguments of functions have shardings; those of regions are reached through edges only.
    manager.addNestedPass<func::FuncOp>(sdy::createSdyReshardToCollectives());
    manager.addPass(createShardyCCLCanonicalization());
    manager.addPass(createWrapUnderManualComputation());
    return manager;
  }
};
} // namespace

void shlo::createStableHLOPipeline(OpPassManager &manager, const StableHLOPipelineOptions &options) {
  manager.addPass(createInlineCalls());
  if (!options.argumentTypes.empty())
    manager.addPass(ttcore::createTTPopulateArgumentTypes({options.argumentTypes}));
  manager.addPass(createConvertXlaSdyToSdy());
  manager.addPass(sdy::createSdyLiftInlinedMeshes());
  if (options.enableAggressiveSimplification)
    manager.addPass(createCanonicalizerPass());
  manager.addPass(createStableHLOFusing());
  manager.addPass(createPartiallyConvertSdyToStableHLO());
  manager.addPass(createApplyArgumentShardStatus({llvm::to_vector(ArrayRef<int64_t>(options.resultPresharded))}));
  manager.addPass(
      createAnalyzeMesh({llvm::to_vector(ArrayRef<int64_t>(options.meshShape)), options.automaticArgAnalysis}));
  if (options.enableAutoSharding) {
    // What partitioning sees.
    manager.addPass(createDecomposeCustomCallTuples());
    manager.addPass(createFlattenOrConvertComposites());
    manager.addPass(createRegisterUserShardingRule());
    AutoShardingPassOptions search;
    search.dumpVariants = options.autoShardingDumpVariants;
    search.dumpDir = options.autoShardingDumpDir;
    manager.addPass(createAutoShardingPass(search));
  }
  manager.addPass(createPartitionStableHLO({/*wholeAxes=*/true}));
  manager.addPass(createAnnotateLocalShapes());
  manager.addNestedPass<func::FuncOp>(sdy::createSdyPopulateOpShardingRules());
  manager.addPass(createUpdateGlobalToLocalShapes());
  manager.addPass(createReoutlineComposite());
  manager.addPass(createFuseDistributedCustomCalls());
  manager.addPass(sdy::createSdyCloseShardings());
  manager.addNestedPass<func::FuncOp>(sdy::createSdyConstantOrScalarMerger());
  manager.addPass(createCanonicalizerPass());
}

void shlo::createStableHLOSpmdPipeline(OpPassManager &manager) {
  manager.addPass(createGspmdToSdy());
  manager.addPass(createInlineCalls());
  manager.addPass(sdy::createSdyLiftInlinedMeshes());
  manager.addPass(createPrepareSpmd());
  manager.addPass(createPartitionStableHLO());
  manager.addPass(createAnnotateLocalShapes());
  manager.addNestedPass<func::FuncOp>(sdy::createSdyPopulateOpShardingRules());
  manager.addPass(createUpdateGlobalToLocalShapes());
  manager.addPass(createAnnotateXlaShardings());
  manager.addPass(createReoutlineComposite());
  manager.addPass(createFuseDistributedCustomCalls());
  manager.addPass(createCanonicalizerPass());
}

void shlo::registerStableHLOPipeline() {
  ttcore::registerPipeline<>("stablehlo-spmd-pipeline",
                             "Partition a module for many devices as JAX hands it over, with its shardings in Shardy",
                             ttcore::Inside::None, createStableHLOSpmdPipeline);
  ttcore::registerPipeline<StableHLOPipelineOptions>(
      "stablehlo-pipeline", "Partition StableHLO with shardings of the sdy dialect over the mesh", ttcore::Inside::None,
      createStableHLOPipeline);
}
