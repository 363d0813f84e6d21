//===- Scalars.h - StableHLO ops as functions of numbers --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_STABLEHLO_TRANSFORMS_SCALARS_H
#define TTMLIR_DIALECT_STABLEHLO_TRANSFORMS_SCALARS_H

#include "ttmlir/scalars/Scalars.h"

#include "mlir/IR/Operation.h"

namespace mlir::tt::shlo {

/// The function that an elementwise op computes for operands of an element type, or null.
const ::ttmlir::scalars::Function *scalarFunctionOf(Operation *op, Type element);

/// Whether integers of an element type have no sign.
inline bool isUnsigned(Type element) { return element.isUnsignedInteger() || element.isInteger(1); }

} // namespace mlir::tt::shlo

#endif // TTMLIR_DIALECT_STABLEHLO_TRANSFORMS_SCALARS_H
