//===- Shapes.h - TTIR ops that change shapes -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Patterns convert operands by TTIR ops to a form with which a target computes; the same conversion lowers these ops.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_LIB_CONVERSION_COMPOSITES_SHAPES_H
#define TTMLIR_LIB_CONVERSION_COMPOSITES_SHAPES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::tt {

/// The tensor with one dimension padded to whole tiles by a value.
Value alignedTo(OpBuilder &builder, Location loc, Value tensor, size_t dim, double fill = 0);

/// The first elements of a tensor, in each dimension as many as `type` has, in its shape.
Value firstOf(OpBuilder &builder, Location loc, Value tensor, RankedTensorType type);

Value permuted(OpBuilder &builder, Location loc, Value tensor, ArrayRef<int64_t> permutation);

/// The tensor with its last two dimensions exchanged.
Value swapLast(OpBuilder &builder, Location loc, Value tensor);

Value reshaped(OpBuilder &builder, Location loc, Value tensor, ArrayRef<int64_t> shape);

/// The tensor converted to an element type; itself if it already has it.
Value castTo(OpBuilder &builder, Location loc, Value tensor, Type element);

} // namespace mlir::tt

#endif // TTMLIR_LIB_CONVERSION_COMPOSITES_SHAPES_H
