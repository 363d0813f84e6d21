//===- TTKernel.h - the TTKernel dialect ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_TTKERNEL_IR_TTKERNEL_H
#define TTMLIR_DIALECT_TTKERNEL_IR_TTKERNEL_H

#include "ttmlir/Dialect/Families/Rows.h"
#include "ttmlir/Dialect/TTCore/IR/TTCore.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "ttmlir/Dialect/TTKernel/IR/TTKernelEnums.h.inc"
#include "ttmlir/Dialect/TTKernel/IR/TTKernelOpsDialect.h.inc"

namespace mlir::tt::ttkernel {
/// The attribute of a function that is a kernel: a #d2m.thread.
inline constexpr llvm::StringLiteral threadName = "d2m.thread";
} // namespace mlir::tt::ttkernel

#define GET_TYPEDEF_CLASSES
#include "ttmlir/Dialect/TTKernel/IR/TTKernelTypes.h.inc"

namespace mlir::tt::ttkernel {
/// Registers all ops of the dialect (tools/opgen/split.py).
void registerTTKernelOps(Dialect &dialect);
} // namespace mlir::tt::ttkernel

#include "ttmlir/Dialect/TTKernel/IR/TTKernelOps.h"

#endif // TTMLIR_DIALECT_TTKERNEL_IR_TTKERNEL_H
