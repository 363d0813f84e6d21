//===- Chlo.h - the CHLO dialect ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_CHLO_IR_CHLO_H
#define TTMLIR_DIALECT_CHLO_IR_CHLO_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.h"

#include "ttmlir/Dialect/Chlo/IR/ChloEnums.h.inc"
#include "ttmlir/Dialect/Chlo/IR/ChloOpsDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "ttmlir/Dialect/Chlo/IR/ChloAttrs.h.inc"

#define GET_OP_CLASSES
#include "ttmlir/Dialect/Chlo/IR/ChloOps.h.inc"

#endif // TTMLIR_DIALECT_CHLO_IR_CHLO_H
