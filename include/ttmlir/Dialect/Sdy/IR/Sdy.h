//===- Sdy.h - the Shardy dialect ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_SDY_IR_SDY_H
#define TTMLIR_DIALECT_SDY_IR_SDY_H

#include "ttmlir/Dialect/Families/FactorsInterface.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "ttmlir/Dialect/Sdy/IR/SdyEnums.h.inc"
#include "ttmlir/Dialect/Sdy/IR/SdyOpsDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "ttmlir/Dialect/Sdy/IR/SdyAttrs.h.inc"

#define GET_OP_CLASSES
#include "ttmlir/Dialect/Sdy/IR/SdyOps.h.inc"

#endif // TTMLIR_DIALECT_SDY_IR_SDY_H
