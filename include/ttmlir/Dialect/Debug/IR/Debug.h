//===- Debug.h - the debug dialect -----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_DEBUG_IR_DEBUG_H
#define TTMLIR_DIALECT_DEBUG_IR_DEBUG_H

#include "ttmlir/Dialect/Families/Facts.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "ttmlir/Dialect/Debug/IR/DebugOpsDialect.h.inc"

#define GET_OP_CLASSES
#include "ttmlir/Dialect/Debug/IR/DebugOps.h.inc"

#endif // TTMLIR_DIALECT_DEBUG_IR_DEBUG_H
