//===- Folds.h - laws by which ops fold -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A fold preserves every bit of every result: -0.0, NaN, infinities and the rounding of the format count. What folds
// only for "ordinary" numbers does not fold here.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_DIALECT_FAMILIES_FOLDS_H
#define TTMLIR_DIALECT_FAMILIES_FOLDS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"

namespace mlir::tt::folds {

/// The largest number of elements that folding computes ahead, unless all are equal. Larger constants are resources,
/// which no pass reads.
inline constexpr int64_t maxElements = 1024;

/// Whether `value` may be read in place of `result`, whatever the types: nothing writes to one of them in place, and
/// nothing frees one of them before the last use of the other.
bool mayReplace(Value result, Value value);
/// Returns `value` in place of `result`, if they have the same type and one may replace the other; else nothing.
OpFoldResult forward(Value result, Value value);

/// Whether every value of one element type is a value of the other.
bool holds(Type wide, Type narrow);

/// The element that a constant holds everywhere.
Attribute splatOf(Attribute constant);
/// The same for the op that produces `value`.
Attribute splatOf(Value value);
/// Whether a splat is the number; -0.0 is not 0.
bool isNumber(Attribute splat, double number);
/// Returns a constant with one number, rounded to the element type, in all elements. Element types that cannot hold
/// values keep the number's type.
DenseElementsAttr filled(RankedTensorType type, Attribute number);
DenseElementsAttr filled(RankedTensorType type, double number);

/// A view of a constant: the element at index i of the result is the one at offset + sum of i[d] * strides[d].
struct View {
  int64_t offset = 0;
  SmallVector<int64_t> strides;
};
/// Strides of a row-major tensor.
SmallVector<int64_t> rowMajor(ArrayRef<int64_t> shape);
/// The values of a constant in another order or shape, if they are few enough to compute ahead.
OpFoldResult viewOf(Attribute constant, Value input, Value result, const View &view);
OpFoldResult reshapeOf(Attribute constant, Value input, Value result);

} // namespace mlir::tt::folds

#endif // TTMLIR_DIALECT_FAMILIES_FOLDS_H
