//===- Passes.h - propagation and partitioning ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_SDY_TRANSFORMS_PASSES_H
#define TTMLIR_DIALECT_SDY_TRANSFORMS_PASSES_H

#include "ttmlir/Dialect/Sdy/IR/Sdy.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::sdy {

/// Who wins where two shardings exclude each other.
enum class PropagationStrategy { Aggressive, Basic, BasicThenAggressive };

#define GEN_PASS_DECL
#include "ttmlir/Dialect/Sdy/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "ttmlir/Dialect/Sdy/Transforms/Passes.h.inc"

} // namespace mlir::sdy

#endif // TTMLIR_DIALECT_SDY_TRANSFORMS_PASSES_H
