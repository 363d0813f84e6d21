//===- Passes.h - ops of TTIR as native code of the host --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_CONVERSION_TTIRTOLINALG_PASSES_H
#define TTMLIR_CONVERSION_TTIRTOLINALG_PASSES_H

#include "ttmlir/Dialect/TTCore/IR/TTCore.h"
#include "ttmlir/Dialect/TTCore/Transforms/PipelineOptions.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::tt {

#define GEN_PASS_DECL
#include "ttmlir/Conversion/TTIRToLinalg/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "ttmlir/Conversion/TTIRToLinalg/Passes.h.inc"

struct LinalgToLLVMPipelineOptions : ttcore::PipelineOptions<LinalgToLLVMPipelineOptions> {
  Option<bool> optimizations{*this, "enable-optimization-passes",
                             llvm::cl::desc("Fuse elementwise ops, and simplify, on the way"), llvm::cl::init(true)};
};

/// Lowers linalg on tensors to the LLVM dialect, in a module of functions for the host.
void createLinalgToLLVMPipeline(OpPassManager &manager, const LinalgToLLVMPipelineOptions &options);
void registerLinalgToLLVMPipeline();
/// Lowers TTIR in `ttcore.cpu_module` to the LLVM dialect, and replaces the calls of ops of the host in programs.
/// `manager` belongs to the module that contains both.
void addHostPasses(OpPassManager &manager);

/// Adds the MLIR dialects that native code is lowered through, and their bufferization interfaces.
void registerHostDialects(DialectRegistry &registry);

/// The dialects of ops that the chip lacks and the host computes.
inline constexpr llvm::StringLiteral hostDialects[] = {"arith", "linalg", "math", "scf", "tensor"};

/// The suffix of a native function's name. The function takes a pointer to the pointers of operands and results.
inline constexpr llvm::StringLiteral hostWrapperSuffix = "_helper";

} // namespace mlir::tt

#endif // TTMLIR_CONVERSION_TTIRTOLINALG_PASSES_H
