//===- Expressions.h - TTIR ops as expressions ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Tensors with operators that create TTIR ops, so that the decomposition of an op reads like its formula.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_LIB_CONVERSION_COMPOSITES_EXPRESSIONS_H
#define TTMLIR_LIB_CONVERSION_COMPOSITES_EXPRESSIONS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::tt {

class Expressions;

/// A value of a ranked tensor type. Operands of a binary op are broadcast; the result has the element type of the
/// first.
struct Tensor {
  Value value;
  Expressions *e;

  RankedTensorType type() const { return cast<RankedTensorType>(value.getType()); }
  ArrayRef<int64_t> shape() const { return type().getShape(); }
  int64_t rank() const { return type().getRank(); }
  /// A dimension; a negative one counts from the end.
  int64_t dim(int64_t number) const { return number < 0 ? number + rank() : number; }

  /// Casts to another element type; to f32 if it has floats.
  Tensor as(Type element) const;
  Tensor wide() const;
  /// Casts to a type that has the positions of a long dimension as well: floats to f32, integers to 32 bits.
  Tensor withPositions() const;

  Tensor operator+(Tensor other) const;
  Tensor operator-(Tensor other) const;
  Tensor operator*(Tensor other) const;
  Tensor operator/(Tensor other) const;
  Tensor operator+(double number) const;
  Tensor operator*(double number) const;
  Tensor maximum(Tensor other) const;
  Tensor minimum(Tensor other) const;
  Tensor pow(Tensor other) const;
  /// 1 or 0.
  Tensor less(Tensor other) const;
  Tensor equal(Tensor other) const;
  Tensor notEqual(Tensor other) const;
  Tensor less(double number) const;
  Tensor equal(double number) const;
  Tensor notEqual(double number) const;
  /// Elements of `yes` where this value is not 0. All three are broadcast.
  Tensor select(Tensor yes, Tensor no) const;
  /// Elements of `x` where this value is 1, of which there is at most one along a dimension; else the lowest value.
  Tensor chosen(Tensor x, int64_t dim) const;
  /// The greatest elements along a dimension, with all their bits: cores compare tiles instead of the elements of a
  /// tile, which the matrix unit would round to TF32.
  Tensor greatest(int64_t dim) const;

  Tensor abs() const;
  Tensor ceil() const;
  Tensor erf() const;
  Tensor exp() const;
  Tensor expm1() const;
  Tensor floor() const;
  Tensor rsqrt() const;
  Tensor sqrt() const;
  Tensor tanh() const;

  // Reductions keep the dimensions.
  Tensor max(ArrayRef<int64_t> dims) const;
  Tensor mean(ArrayRef<int64_t> dims) const;
  Tensor min(ArrayRef<int64_t> dims) const;
  Tensor sum(ArrayRef<int64_t> dims) const;

  Tensor permute(ArrayRef<int64_t> permutation) const;
  Tensor reshape(ArrayRef<int64_t> shape) const;
  Tensor pad(ArrayRef<int64_t> before, ArrayRef<int64_t> after, double fill) const;
  Tensor slice(int64_t dim, int64_t begin, int64_t end, int64_t step) const;
  Tensor repeatInterleave(int64_t dim, int64_t count) const;
  /// `wide`: the result of floats is of f32.
  Tensor matmul(Tensor other, bool transposeB = false, bool wide = false) const;
};

/// Creates the ops of one expression, at the place of the builder. What targets do differently are its functions.
class Expressions {
public:
  Expressions(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}
  virtual ~Expressions() = default;

  Tensor operator()(Value value) { return {value, this}; }
  /// A splat tensor with the shape and type of another.
  Tensor full(double number, Tensor like);
  Tensor concat(ArrayRef<Tensor> parts, int64_t dim);
  /// Integers are exact up to 2^53.
  Tensor constant(RankedTensorType type, ArrayRef<double> values);
  /// 0, 1, 2 ...
  Tensor positions(Type element, ArrayRef<int64_t> shape);
  /// The indices that `op` reads, each a position in a dimension of `size` elements; errors call them `what`.
  virtual Tensor checked(Tensor index, int64_t size, Operation *op, StringRef what = "an index") = 0;
  /// The rows of a table [rows, width] at the indices [count] that `op` reads: [count, width].
  virtual Tensor rowsAt(Tensor table, Tensor index, Operation *op) = 0;

  OpBuilder &builder;
  Location loc;
};

} // namespace mlir::tt

#endif // TTMLIR_LIB_CONVERSION_COMPOSITES_EXPRESSIONS_H
