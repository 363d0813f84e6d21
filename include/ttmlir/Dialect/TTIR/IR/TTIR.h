//===- TTIR.h - the TTIR dialect --------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_TTIR_IR_TTIR_H
#define TTMLIR_DIALECT_TTIR_IR_TTIR_H

#include "ttmlir/Dialect/Families/Traits.h"
#include "ttmlir/Dialect/Shapes/Shapes.h"
#include "ttmlir/Dialect/TTCore/IR/TTCore.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "ttmlir/Dialect/TTIR/IR/TTIREnums.h.inc"
#include "ttmlir/Dialect/TTIR/IR/TTIROpsDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "ttmlir/Dialect/TTIR/IR/TTIRAttrs.h.inc"

namespace mlir::tt::ttir {
/// The numbers of configs that shape rules ask for.
std::optional<shapes::ConfigNumbers> readConfig(Attribute config, StringRef field);
} // namespace mlir::tt::ttir

namespace mlir::tt::ttir {
/// All ops of the dialect: Ops/<class>.h declares one, TTIROps.h all of them (tools/opgen/split.py).
void registerTTIROps(Dialect &dialect);
} // namespace mlir::tt::ttir

#endif // TTMLIR_DIALECT_TTIR_IR_TTIR_H
