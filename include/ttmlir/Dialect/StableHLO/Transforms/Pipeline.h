//===- Pipeline.h - the pipeline that partitions StableHLO ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_STABLEHLO_TRANSFORMS_PIPELINE_H
#define TTMLIR_DIALECT_STABLEHLO_TRANSFORMS_PIPELINE_H

#include "ttmlir/Dialect/TTCore/Transforms/PipelineOptions.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace mlir::tt::shlo {

struct StableHLOPipelineOptions : ttcore::PipelineOptions<StableHLOPipelineOptions> {
  ListOption<int64_t> meshShape{*this, "mesh-shape",
                                llvm::cl::desc("Rows and columns of the mesh, for modules that have none")};
  ListOption<int64_t> resultPresharded{
      *this, "result-presharded",
      llvm::cl::desc("1 for each result that the caller takes as one tensor per device, else 0; none: all 0")};
  Option<bool> automaticArgAnalysis{*this, "automatic-arg-analysis",
                                    llvm::cl::desc("Split batches of inputs over a mesh of one row"),
                                    llvm::cl::init(false)};
  Option<bool> enableAggressiveSimplification{*this, "enable-aggressive-simplification",
                                              llvm::cl::desc("Fold, and remove dead ops, first"),
                                              llvm::cl::init(false)};
  Option<bool> enableAutoSharding{*this, "enable-auto-sharding", llvm::cl::desc("Choose shardings by estimated time"),
                                  llvm::cl::init(false)};
  Option<bool> autoShardingDumpVariants{*this, "dump-variants",
                                        llvm::cl::desc("Write the variants that auto-sharding compared to dump-dir"),
                                        llvm::cl::init(false)};
  Option<std::string> autoShardingDumpDir{*this, "dump-dir", llvm::cl::desc("Where auto-sharding writes variants"),
                                          llvm::cl::init("/tmp/")};
  Option<std::string> argumentTypes{
      *this, "argument-types", llvm::cl::desc("Kinds of the arguments: main=input,parameter,constant;other=input")};
};

/// Lowers annotated StableHLO to manual computations on the parts of devices.
void createStableHLOPipeline(OpPassManager &manager, const StableHLOPipelineOptions &options);

/// Lowers a module for many partitions, as JAX provides it, to one manual computation on the parts of devices.
void createStableHLOSpmdPipeline(OpPassManager &manager);

/// Registers stablehlo-pipeline and stablehlo-spmd-pipeline.
void registerStableHLOPipeline();

} // namespace mlir::tt::shlo

#endif // TTMLIR_DIALECT_STABLEHLO_TRANSFORMS_PIPELINE_H
