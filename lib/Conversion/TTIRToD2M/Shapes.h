//===- Shapes.h - TTIR ops that change shapes -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Patterns bring operands into a form that cores compute with by ops of TTIR,
// which the same conversion lowers.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_LIB_CONVERSION_TTIRTOD2M_SHAPES_H
#define TTMLIR_LIB_CONVERSION_TTIRTOD2M_SHAPES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::tt {

/// The tensor with a dimension that is padded to whole tiles by a value.
Value alignedTo(OpBuilder &builder, Location loc, Value tensor, size_t dim, double fill = 0);

/// The first elements of a tensor, of each dimension as many as `type` has, in its shape.
Value firstOf(OpBuilder &builder, Location loc, Value tensor, RankedTensorType type);

Value permuted(OpBuilder &builder, Location loc, Value tensor, ArrayRef<int64_t> permutation);

/// The tensor with its last two dimensions exchanged.
Value swapLast(OpBuilder &builder, Location loc, Value tensor);

Value reshaped(OpBuilder &builder, Location loc, Value tensor, ArrayRef<int64_t> shape);

/// The tensor in another element type; itself if it has this one.
Value castTo(OpBuilder &builder, Location loc, Value tensor, Type element);

} // namespace mlir::tt

#endif // TTMLIR_LIB_CONVERSION_TTIRTOD2M_SHAPES_H
