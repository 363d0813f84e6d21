//===- Passes.h - propagation and partitioning ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_SDY_TRANSFORMS_PASSES_H
#define TTMLIR_DIALECT_SDY_TRANSFORMS_PASSES_H

#include "ttmlir/Dialect/Sdy/IR/Sdy.h"
#include "ttmlir/Dialect/TTCore/Transforms/PipelineOptions.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::sdy {

/// The strategy that chooses between two shardings that exclude each other.
enum class PropagationStrategy { Aggressive, Basic, BasicThenAggressive };

#define GEN_PASS_DECL
#include "ttmlir/Dialect/Sdy/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "ttmlir/Dialect/Sdy/Transforms/Passes.h.inc"

/// The options that the propagation pipeline shares with its last part, the export pipeline.
template <class Options> struct PartitioningOptions : tt::ttcore::PipelineOptions<Options> {
  template <class T> using Option = tt::ttcore::DescribedOptions::Option<T>;

  Option<bool> avoidExportForPartitioning{*this, "avoid-export-for-partitioning",
                                          llvm::cl::desc("Leave constraints, groups and disagreements as they are"),
                                          llvm::cl::init(false)};
  Option<bool> enableInsertExplicitCollectives{*this, "enable-insert-explicit-collectives",
                                               llvm::cl::desc("Say all movement of data by collectives"),
                                               llvm::cl::init(false)};
  Option<bool> keepShardingRules{*this, "keep-sharding-rules", llvm::cl::desc("Leave sharding rules on the ops"),
                                 llvm::cl::init(false)};
};

struct ExportPipelineOptions : PartitioningOptions<ExportPipelineOptions> {
  Option<bool> updateNonDivisibleInputOutputShardings{*this, "update-non-divisible-input-output-shardings",
                                                      llvm::cl::desc("Cut what does not divide an argument or result"),
                                                      llvm::cl::init(true)};
  Option<bool> inlineMeshes{*this, "inline-meshes", llvm::cl::desc("Write meshes where they are used"),
                            llvm::cl::init(true)};
};

struct PropagationPipelineOptions : PartitioningOptions<PropagationPipelineOptions> {
  Option<bool> conservativePropagation{*this, "conservative-propagation",
                                       llvm::cl::desc("Split no axis, and nothing that needs data of its neighbours"),
                                       llvm::cl::init(false)};
};

void buildImportPipeline(OpPassManager &manager);
void buildPropagationPipeline(OpPassManager &manager, const PropagationPipelineOptions &options);
void buildExportPipeline(OpPassManager &manager, const ExportPipelineOptions &options);
void registerSdyPipelines();

} // namespace mlir::sdy

#endif // TTMLIR_DIALECT_SDY_TRANSFORMS_PASSES_H
