//===- Complex.h - complex numbers as two real ones -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_CONVERSION_STABLEHLOTOTTIR_COMPLEX_COMPLEX_H
#define TTMLIR_LIB_CONVERSION_STABLEHLOTOTTIR_COMPLEX_COMPLEX_H

#include "../Expand/Expressions.h"

namespace mlir::tt::hlo {

struct Complex {
  Expr re, im;

  friend Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
  friend Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
  friend Complex operator*(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
  friend Complex operator/(Complex a, Complex b);
  Complex operator-() const { return {-re, -im}; }
};

/// The elementwise op of StableHLO or CHLO on complex operands, or nothing for an op that has no formula here.
std::optional<Complex> complexFormula(Operation *op, ArrayRef<Complex> operands);
/// The absolute value, which overflows only if the result itself does.
Expr modulus(Complex z);

/// Transforms of this many elements are products with a matrix of as many rows.
inline constexpr int64_t maxFourierLength = 4096;

/// A discrete Fourier transform of the last dimensions, as matrix products. The imaginary part of a real operand is not
/// read, and that of a real result is not set.
Complex fourier(stablehlo::FftType type, ArrayRef<int64_t> lengths, Complex x);

} // namespace mlir::tt::hlo

#endif // TTMLIR_LIB_CONVERSION_STABLEHLOTOTTIR_COMPLEX_COMPLEX_H
