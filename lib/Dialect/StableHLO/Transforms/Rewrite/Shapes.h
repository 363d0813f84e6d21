//===- Shapes.h - types of results whose operands became static -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_DIALECT_STABLEHLO_TRANSFORMS_REWRITE_SHAPES_H
#define TTMLIR_LIB_DIALECT_STABLEHLO_TRANSFORMS_REWRITE_SHAPES_H

#include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.h"

namespace mlir::tt::shlo {

/// On a custom call: the numbers of the operands that are the shapes of its results.
inline constexpr llvm::StringLiteral shapeOperandsAttr = "indices_of_shape_operands";

/// On a custom call of a window: its padding depends on sizes.
inline constexpr llvm::StringLiteral computedPaddingAttr = "computed_padding";

/// The types of an op's results, with the sizes that follow from operands and regions.
SmallVector<Type> refinedTypes(Operation *op);

/// The numbers of a constant of integers.
std::optional<SmallVector<int64_t>> constantNumbers(Value value);

/// The operands that are the shapes of the results of a custom call, or nothing if it does not state them.
std::optional<SmallVector<int64_t>> shapeOperands(stablehlo::CustomCallOp call);

} // namespace mlir::tt::shlo

#endif // TTMLIR_LIB_DIALECT_STABLEHLO_TRANSFORMS_REWRITE_SHAPES_H
