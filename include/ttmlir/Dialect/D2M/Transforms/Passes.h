//===- Passes.h - passes on D2M ---------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_D2M_TRANSFORMS_PASSES_H
#define TTMLIR_DIALECT_D2M_TRANSFORMS_PASSES_H

#include "ttmlir/Dialect/D2M/IR/D2M.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::tt::d2m {

#define GEN_PASS_DECL
#include "ttmlir/Dialect/D2M/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "ttmlir/Dialect/D2M/Transforms/Passes.h.inc"

/// The attribute of a memref.alloc that has its address in the L1 of every core, in bytes.
inline constexpr llvm::StringLiteral addressName = "address";

} // namespace mlir::tt::d2m

#endif // TTMLIR_DIALECT_D2M_TRANSFORMS_PASSES_H
