//===- Passes.h - passes from StableHLO to StableHLO ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_STABLEHLO_TRANSFORMS_REWRITE_PASSES_H
#define TTMLIR_DIALECT_STABLEHLO_TRANSFORMS_REWRITE_PASSES_H

#include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::tt::shlo {

#define GEN_PASS_DECL
#include "ttmlir/Dialect/StableHLO/Transforms/Rewrite/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "ttmlir/Dialect/StableHLO/Transforms/Rewrite/Passes.h.inc"

} // namespace mlir::tt::shlo

#endif // TTMLIR_DIALECT_STABLEHLO_TRANSFORMS_REWRITE_PASSES_H
