//===- Passes.h - the lowering of StableHLO to TTIR -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_CONVERSION_STABLEHLOTOTTIR_PASSES_H
#define TTMLIR_CONVERSION_STABLEHLOTOTTIR_PASSES_H

#include "ttmlir/Dialect/Chlo/IR/Chlo.h"
#include "ttmlir/Dialect/Debug/IR/Debug.h"
#include "ttmlir/Dialect/Sdy/IR/Sdy.h"
#include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.h"
#include "ttmlir/Dialect/TTCore/IR/TTCore.h"
#include "ttmlir/Dialect/TTCore/Transforms/PipelineOptions.h"
#include "ttmlir/Dialect/TTIR/IR/TTIR.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::tt {

#define GEN_PASS_DECL
#include "ttmlir/Conversion/StableHLOToTTIR/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "ttmlir/Conversion/StableHLOToTTIR/Passes.h.inc"

/// Accepts the value that disables a part that this project does not have.
struct AbsentPartParser : llvm::cl::parser<bool> {
  using parser::parser;
  /// Returns true after an error, which is reported.
  bool parse(llvm::cl::Option &option, StringRef name, StringRef value, bool &out);
  static ttcore::OptionValues values(const llvm::cl::Option &option);
};

struct StableHLOToTTIRPipelineOptions : ttcore::PipelineOptions<StableHLOToTTIRPipelineOptions> {
  Option<bool> enableAggressiveSimplification{*this, "enable-aggressive-simplification",
                                              llvm::cl::desc("Fold and remove dead ops before lowering"),
                                              llvm::cl::init(true)};
  Option<bool> arithDialectConversionsEnabled{*this, "enable-arith-to-stablehlo",
                                              llvm::cl::desc("Accept constant tensors of the arith dialect"),
                                              llvm::cl::init(true)};
  // The other options of the guide's pipeline are accepted, so that a command line that disables them is valid.
  Option<bool> legalizeCompositeToCallEnabled{*this, "enable-composite-to-call",
                                              llvm::cl::desc("Call the decompositions of composites that have no op"),
                                              llvm::cl::init(true)};
  Option<bool, AbsentPartParser> enableCPUFallback{
      *this, "enable-cpu-fallback", llvm::cl::desc("Only false: no op runs on the host"), llvm::cl::init(false)};
};

/// Lowers StableHLO, with meshes of the sdy dialect, to TTIR in a device module.
void createStableHLOToTTIRPipeline(OpPassManager &manager, const StableHLOToTTIRPipelineOptions &options);

/// Registers stablehlo-to-ttir-pipeline.
void registerStableHLOToTTIRPipeline();

} // namespace mlir::tt

#endif // TTMLIR_CONVERSION_STABLEHLOTOTTIR_PASSES_H
