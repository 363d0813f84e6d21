//===- Matrices.h - formulas of real and complex matrices -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A factorization is written once for real and complex elements: `conjugated` of a real matrix is the matrix itself.
// Vectors keep two dimensions, [..., m, 1] or [..., 1, n]; scalars of a batch are [..., 1, 1].
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_LIB_CONVERSION_STABLEHLOTOTTIR_EXPAND_MATRICES_H
#define TTMLIR_LIB_CONVERSION_STABLEHLOTOTTIR_EXPAND_MATRICES_H

#include "Expressions.h"

namespace mlir::tt::hlo {

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Returns a letter that a function of LAPACK takes, such as `uplo = 76 : ui8`; 0 if the call lacks it.
char letterOf(stablehlo::CustomCallOp op, StringRef name);

/// Returns whether a value is a tensor of at least `rank` dimensions with elements of the computed kinds: floats, or
/// complex numbers of floats.
bool isNumeric(Value value, int64_t rank);

/// Returns whether all results are tensors of numbers.
bool givesNumbers(stablehlo::CustomCallOp op);

/// Creates a call of a factorization that this folder expands.
Operation *createCall(ImplicitLocOpBuilder &builder, StringRef target, TypeRange results, ValueRange operands);

/// Creates zeros of the type of a value.
Value zerosLike(ImplicitLocOpBuilder &builder, Value value);

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

inline bool isComplex(Expr x) { return isa<ComplexType>(x.element()); }

/// Returns the numbers with the element type of another tensor; f64 and bf16 become f32, also as parts of complex
/// numbers.
Expr inSinglePrecision(Expr x);
/// Returns the numbers with the element type of a result, which may be complex.
Expr withElements(Expr x, Type element);

Expr complexNumber(Expr re, Expr im);
Expr realPart(Expr x);
/// Returns 0 for real numbers.
Expr imaginaryPart(Expr x);
Expr conjugated(Expr x);
/// Returns |x|, which is real.
Expr magnitude(Expr x);
/// Returns |x|^2, which is real.
Expr squaredMagnitude(Expr x);
/// Returns x times, or by, a real number.
Expr scaled(Expr x, Expr real);
Expr divided(Expr x, Expr real);
/// Returns a real number as an element of the type of another tensor.
inline Expr asElementOf(Expr real, Expr other) { return withElements(real, other.element()); }

//===----------------------------------------------------------------------===//
// Rows and columns
//===----------------------------------------------------------------------===//

inline Expr adjoint(Expr x) { return transposed(conjugated(x)); }

/// Returns a column of a matrix as [..., m, 1], or a row as [..., 1, n].
Expr columnAt(Expr matrix, Expr number);
Expr rowAt(Expr matrix, Expr number);

/// Returns the slice of size 1 along a dimension that begins at a scalar.
Expr partAt(Expr x, int64_t dimension, Expr at);
/// Returns the tensor with another part of size 1.
Expr withPart(Expr x, Expr part, int64_t dimension, Expr at);

/// Returns the matrix extended by rows and columns of zeros.
Expr padded(Expr x, int64_t rows, int64_t columns);

/// Returns the last dimension in ascending order, and the original position of each number.
std::pair<Expr, Expr> ascending(Expr x);

/// Returns the Hermitian matrix, of which one triangle is read.
Expr hermitian(Expr matrix, bool lower);

} // namespace mlir::tt::hlo

#endif // TTMLIR_LIB_CONVERSION_STABLEHLOTOTTIR_EXPAND_MATRICES_H
