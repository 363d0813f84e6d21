//===- Passes.h - passes between StableHLO and VHLO -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_VHLO_TRANSFORMS_PASSES_H
#define TTMLIR_DIALECT_VHLO_TRANSFORMS_PASSES_H

#include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.h"
#include "ttmlir/Dialect/Vhlo/IR/Vhlo.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::vhlo {

#define GEN_PASS_DECL
#include "ttmlir/Dialect/Vhlo/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "ttmlir/Dialect/Vhlo/Transforms/Passes.h.inc"

/// Run the conversions of the passes of the same names. If one fails, the module is left between the dialects.
LogicalResult legalizeToStableHLO(ModuleOp module);
LogicalResult legalizeToVhlo(ModuleOp module, bool allowOtherDialects);
LogicalResult convertToVersion(ModuleOp module, const Version &target);

} // namespace mlir::vhlo

#endif // TTMLIR_DIALECT_VHLO_TRANSFORMS_PASSES_H
