//===- Passes.h - passes on StableHLO for meshes ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_STABLEHLO_TRANSFORMS_PASSES_H
#define TTMLIR_DIALECT_STABLEHLO_TRANSFORMS_PASSES_H

#include "ttmlir/Dialect/Chlo/IR/Chlo.h"
#include "ttmlir/Dialect/Sdy/IR/Sdy.h"
#include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.h"
#include "ttmlir/Dialect/TTCore/IR/TTCore.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::tt::shlo {

#define GEN_PASS_DECL
#include "ttmlir/Dialect/StableHLO/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "ttmlir/Dialect/StableHLO/Transforms/Passes.h.inc"

} // namespace mlir::tt::shlo

#endif // TTMLIR_DIALECT_STABLEHLO_TRANSFORMS_PASSES_H
