//===- Pipelines.cpp - import, propagation and export ---------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTCore/Transforms/Pipelines.h"
#include "ttmlir/Dialect/Sdy/Transforms/Passes.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::sdy;

void sdy::buildImportPipeline(OpPassManager &manager) {
  manager.addPass(createSymbolDCEPass());
  manager.addPass(createSdyLiftInlinedMeshes());
  manager.addPass(createSdyRemoveSizeOneAxes());
  manager.addPass(createSdyPropagateShardingFromFuncToCall());
  manager.addPass(createSdyConstantOrScalarSplitter());
  manager.addPass(createSymbolDCEPass());
  manager.addPass(createSdyManualAxesCleanup());
  manager.addPass(createSdyAddDataFlowEdges());
  manager.addPass(createSdyApplyShardingConstraints());
  manager.addPass(createSdyShardingGroupImport());
}

void sdy::buildExportPipeline(OpPassManager &manager, const ExportPipelineOptions &options) {
  manager.addNestedPass<func::FuncOp>(createSdyConstantOrScalarMerger());
  manager.addNestedPass<func::FuncOp>(createSdySinkDataFlowEdges());
  if (!options.avoidExportForPartitioning) {
    manager.addPass(createSdyRemoveShardingGroups());
    manager.addNestedPass<func::FuncOp>(createSdyShardingConstraintToReshard());
  }
  if (options.updateNonDivisibleInputOutputShardings) {
    manager.addPass(createSdyUpdateNonDivisibleInputOutputShardings());
    manager.addPass(createSdyRemoveSubAxesInInputOutputShardings());
  }
  manager.addPass(createSdyCloseShardings());
  if (!options.avoidExportForPartitioning) {
    manager.addNestedPass<func::FuncOp>(createSdyInsertExplicitReshards({options.enableInsertExplicitCollectives}));
    if (options.enableInsertExplicitCollectives) {
      manager.addNestedPass<func::FuncOp>(createSdyCanonicalizeCollectives());
      manager.addNestedPass<func::FuncOp>(createSdyReshardToCollectives());
    }
    manager.addNestedPass<func::FuncOp>(createSdyCanonicalizeCollectives());
  }
  if (!options.keepShardingRules)
    manager.addNestedPass<func::FuncOp>(createSdyDropShardingRules());
  if (options.inlineMeshes)
    manager.addPass(createSdyInlineMeshes());
}

void sdy::buildPropagationPipeline(OpPassManager &manager, const PropagationPipelineOptions &options) {
  buildImportPipeline(manager);
  manager.addPass(createSdyPreOrderFuncs());
  SdyUserPriorityPropagateOptions propagation;
  propagation.keepsShardingRules = options.keepShardingRules;
  propagation.isConservative = options.conservativePropagation;
  manager.addPass(createSdyUserPriorityPropagate(propagation));
  manager.addPass(createSdyPropagateToFuncResults());
  if (!options.avoidExportForPartitioning)
    manager.addPass(createSdyInsertFuncCallReshards());
  ExportPipelineOptions exported;
  exported.avoidExportForPartitioning = options.avoidExportForPartitioning;
  exported.enableInsertExplicitCollectives = options.enableInsertExplicitCollectives;
  exported.keepShardingRules = options.keepShardingRules;
  exported.inlineMeshes = false;
  buildExportPipeline(manager, exported);
}

void sdy::registerSdyPipelines() {
  using tt::ttcore::Inside;
  tt::ttcore::registerPipeline<>("sdy-import-pipeline", "Prepare a module for the propagation of shardings",
                                 Inside::None, buildImportPipeline);
  tt::ttcore::registerPipeline<PropagationPipelineOptions>("sdy-propagation-pipeline",
                                                           "Import, spread shardings by priority, and export",
                                                           Inside::None, buildPropagationPipeline);
  tt::ttcore::registerPipeline<ExportPipelineOptions>("sdy-export-pipeline", "Close shardings and say what moves data",
                                                      Inside::None, buildExportPipeline);
}
