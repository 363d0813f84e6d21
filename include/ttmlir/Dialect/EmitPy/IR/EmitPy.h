//===- EmitPy.h - the emitpy dialect ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_EMITPY_IR_EMITPY_H
#define TTMLIR_DIALECT_EMITPY_IR_EMITPY_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "ttmlir/Dialect/EmitPy/IR/EmitPyOpsDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "ttmlir/Dialect/EmitPy/IR/EmitPyTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "ttmlir/Dialect/EmitPy/IR/EmitPyAttrs.h.inc"

#define GET_OP_CLASSES
#include "ttmlir/Dialect/EmitPy/IR/EmitPyOps.h.inc"

namespace mlir::tt::emitpy {
/// A valid Python name: letters, digits and underscores, not starting with a digit, not a keyword.
bool isIdentifier(StringRef name);
/// Whether `name` consists of identifiers with dots between them.
bool isDottedName(StringRef name);
/// Words that cannot name anything in Python.
bool isKeyword(StringRef name);
} // namespace mlir::tt::emitpy

#endif // TTMLIR_DIALECT_EMITPY_IR_EMITPY_H
