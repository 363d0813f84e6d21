//===- Passes.h - the lowering of StableHLO to TTIR -------------*- C++ -*-===//
#ifndef TTMLIR_CONVERSION_STABLEHLOTOTTIR_PASSES_H
#define TTMLIR_CONVERSION_STABLEHLOTOTTIR_PASSES_H

#include "ttmlir/Dialect/Sdy/IR/Sdy.h"
#include "ttmlir/Dialect/StableHLO/IR/StableHLO.h"
#include "ttmlir/Dialect/TTCore/IR/TTCore.h"
#include "ttmlir/Dialect/TTIR/IR/TTIR.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::tt {

#define GEN_PASS_DECL
#include "ttmlir/Conversion/StableHLOToTTIR/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "ttmlir/Conversion/StableHLOToTTIR/Passes.h.inc"

struct StableHLOToTTIRPipelineOptions : PassPipelineOptions<StableHLOToTTIRPipelineOptions> {
  Option<bool> enableAggressiveSimplification{*this, "enable-aggressive-simplification",
                                              llvm::cl::desc("Simplify before lowering: fold, and remove dead ops"),
                                              llvm::cl::init(true)};
  // Whoever calls the pipeline by its text form may set these; there is nothing they could turn off here.
  Option<bool> arithDialectConversionsEnabled{
      *this, "enable-arith-to-stablehlo",
      llvm::cl::desc("Accepted for compatibility: arith ops are not read, and are reported if there are any"),
      llvm::cl::init(true)};
  Option<bool> legalizeCompositeToCallEnabled{
      *this, "enable-composite-to-call", llvm::cl::desc("Accepted for compatibility: stablehlo.composite is not read"),
      llvm::cl::init(true)};
  Option<bool> enableCPUFallback{
      *this, "enable-cpu-fallback",
      llvm::cl::desc("Accepted for compatibility: an op without a lowering is an error, it does not run on the host"),
      llvm::cl::init(true)};
};

/// StableHLO, with meshes of the sdy dialect, to TTIR in a device module.
void createStableHLOToTTIRPipeline(OpPassManager &manager, const StableHLOToTTIRPipelineOptions &options);

/// The op that takes the place of the StableHLO op of this name, "rule" where that depends on the op, and "" for an op
/// that is not lowered.
std::string stableHLOLowering(StringRef op);

/// Registers stablehlo-to-ttir-pipeline.
void registerStableHLOToTTIRPipeline();

} // namespace mlir::tt

#endif // TTMLIR_CONVERSION_STABLEHLOTOTTIR_PASSES_H
