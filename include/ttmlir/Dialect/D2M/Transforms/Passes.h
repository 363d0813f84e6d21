//===- Passes.h - passes on D2M ---------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_D2M_TRANSFORMS_PASSES_H
#define TTMLIR_DIALECT_D2M_TRANSFORMS_PASSES_H

#include "ttmlir/Dialect/D2M/IR/D2M.h"
#include "ttmlir/Dialect/D2M/Transforms/Policies.h"

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

/// The attribute of a memref.alloc that holds its address in the L1 of every core, in bytes.
inline constexpr llvm::StringLiteral addressName = "address";
/// The attribute of a d2m.generic whose sums need registers of 32 bits, whatever types its operands have.
inline constexpr llvm::StringLiteral f32RegistersName = "f32_registers";
/// The attribute of a d2m.generic whose threads are functions: the numbers of the operands that the functions see as
/// circular buffers, in the order of their ports.
inline constexpr llvm::StringLiteral cbOperandsName = "cb_operands";
/// The attribute of such a d2m.generic that holds the numbers of the operands whose tiles the matrix unit reads.
inline constexpr llvm::StringLiteral sourceOperandsName = "source_operands";

/// The attribute of a d2m.generic with the numbers of the operands that its kernels address by a TensorAccessor. On the
/// function of a thread: pairs of the number of an address among the arguments, and of the first compile-time argument
/// of its accessor.
inline constexpr llvm::StringLiteral tensorAccessorsName = "tensor_accessors";
/// The compile-time arguments of an accessor.
inline constexpr int64_t argumentsOfAccessor = 2;

/// The buffers whose tiles an op of a thread gives to the matrix unit, once its registers are assigned.
SmallVector<Value> matrixUnitSources(Operation *op);

/// The attribute of a d2m.generic whose kernels know the addresses of its operands when they are compiled.
inline constexpr llvm::StringLiteral compileTimeArgsName = "compile_time_args";

} // namespace mlir::tt::d2m

#endif // TTMLIR_DIALECT_D2M_TRANSFORMS_PASSES_H
