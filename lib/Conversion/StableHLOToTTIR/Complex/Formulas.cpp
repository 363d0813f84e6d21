//===- Formulas.cpp - functions of complex numbers ------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Complex.h"

#include <cmath>

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

static Expr expm1(Expr x) { return x.apply<stablehlo::Expm1Op>(); }
static Expr angle(Complex z) { return atan2(z.im, z.re); }
static Complex constant(Complex like, double re) { return {like.re.number(re), like.re.number(0)}; }

/// R. Smith, "Algorithm 116: Complex division" (1962): divides by the larger part of the divisor, so that its square
/// does not overflow.
Complex hlo::operator/(Complex a, Complex b) {
  Expr isReal = abs(b.re) >= abs(b.im);
  Expr ratio = isReal.select(b.im / b.re, b.re / b.im);
  Expr divisor = isReal.select(b.re + b.im * ratio, b.re * ratio + b.im);
  Expr re = isReal.select(a.re + a.im * ratio, a.re * ratio + a.im);
  Expr im = isReal.select(a.im - a.re * ratio, a.im * ratio - a.re);
  return {re / divisor, im / divisor};
}

Expr hlo::modulus(Complex z) {
  Expr re = abs(z.re), im = abs(z.im);
  Expr large = re.apply<stablehlo::MaxOp>(im), small = re.apply<stablehlo::MinOp>(im);
  Expr ratio = small / large;
  Expr value = large * sqrt(ratio * ratio + 1);
  // 0 / 0 and infinity / infinity are not ratios.
  value = (large == 0).select(large, value);
  return ((re == INFINITY) | (im == INFINITY)).select(large.number(INFINITY), value);
}

static Complex exponential(Complex z) {
  Expr scale = exp(z.re);
  return {scale * cos(z.im), scale * sin(z.im)};
}

static Complex logarithm(Complex z) { return {log(modulus(z)), angle(z)}; }

static Complex squareRoot(Complex z) {
  Expr root = sqrt((modulus(z) + abs(z.re)) * 0.5), other = abs(z.im) / (root * 2);
  Expr isRight = z.re >= z.re.number(0), isZero = root == 0;
  Expr re = isRight.select(root, other), im = isRight.select(other, root);
  im = (z.im < 0).select(-im, im);
  return {isZero.select(root, re), isZero.select(z.im, im)};
}

static Expr hyperbolic(Expr x, bool isSine) {
  ImplicitLocOpBuilder &builder = x.build();
  return {builder, isSine ? chlo::SinhOp::create(builder, x.type(), x.value())->getResult(0)
                          : chlo::CoshOp::create(builder, x.type(), x.value())->getResult(0)};
}

/// (tanh x + i tan y) / (1 + i tanh x tan y)
static Complex tangent(Expr tanhRe, Expr tanIm) {
  return Complex{tanhRe, tanIm} / Complex{tanhRe.number(1), tanhRe * tanIm};
}
static Complex hyperbolicTangent(Complex z) {
  return tangent(z.re.apply<stablehlo::TanhOp>(), z.im.apply<stablehlo::TanOp>());
}

static Complex logarithm1p(Complex z) { return {log1p(z.re * (z.re + 2) + z.im * z.im) * 0.5, atan2(z.im, z.re + 1)}; }
static Complex timesI(Complex z) { return {-z.im, z.re}; }
static Complex timesMinusI(Complex z) { return {z.im, -z.re}; }
static Expr signedAs(Expr x, Expr sign) { return (sign < 0).select(-x, x); }

/// W. Kahan, "Branch cuts for complex elementary functions" (1987): the common part of asin and acos.
static Complex arcKernel(Complex z) {
  Complex one = constant(z, 1), u = squareRoot(one - z), v = squareRoot(one + z);
  Expr im = u.re * v.im - u.im * v.re; // of conj(u) v
  Expr inverse(im.build(), chlo::AsinhOp::create(im.build(), im.type(), im.value())->getResult(0));
  return {u.re * v.re - u.im * v.im, abs(inverse)};
}
static Complex arcSine(Complex z) {
  Complex w = arcKernel(z);
  return {z.re.apply<stablehlo::Atan2Op>(w.re), signedAs(w.im, z.im)};
}
static Complex hyperbolicArcTangent(Complex z) {
  Complex a = logarithm1p(z), b = logarithm1p(-z);
  return {(a.re - b.re) * 0.5, (a.im - b.im) * 0.5};
}

std::optional<Complex> hlo::complexFormula(Operation *op, ArrayRef<Complex> x) {
  if (isa<stablehlo::AddOp>(op))
    return x[0] + x[1];
  if (isa<stablehlo::SubtractOp>(op))
    return x[0] - x[1];
  if (isa<stablehlo::MulOp>(op))
    return x[0] * x[1];
  if (isa<stablehlo::DivOp>(op))
    return x[0] / x[1];
  if (isa<stablehlo::NegOp>(op))
    return -x[0];
  if (isa<chlo::ConjOp>(op))
    return Complex{x[0].re, -x[0].im};
  if (isa<chlo::SquareOp>(op))
    return x[0] * x[0];
  if (isa<stablehlo::ExpOp>(op))
    return exponential(x[0]);
  if (isa<stablehlo::Expm1Op>(op)) {
    Expr half = sin(x[0].im * 0.5);
    return Complex{expm1(x[0].re) * cos(x[0].im) - half * half * 2, exp(x[0].re) * sin(x[0].im)};
  }
  if (isa<stablehlo::LogOp>(op))
    return logarithm(x[0]);
  if (isa<stablehlo::Log1pOp>(op))
    return logarithm1p(x[0]);
  if (isa<stablehlo::SqrtOp>(op))
    return squareRoot(x[0]);
  if (isa<stablehlo::RsqrtOp>(op))
    return constant(x[0], 1) / squareRoot(x[0]);
  if (isa<stablehlo::PowOp>(op)) {
    Complex power = exponential(x[1] * logarithm(x[0]));
    Expr isZero = (x[0].re == 0) & (x[0].im == 0), one = ((x[1].re == 0) & (x[1].im == 0));
    Expr re = isZero.select(one.select(power.re.number(1), power.re.number(0)), power.re);
    return Complex{re, isZero.select(power.im.number(0), power.im)};
  }
  if (isa<stablehlo::SineOp>(op))
    return Complex{sin(x[0].re) * hyperbolic(x[0].im, false), cos(x[0].re) * hyperbolic(x[0].im, true)};
  if (isa<stablehlo::CosineOp>(op))
    return Complex{cos(x[0].re) * hyperbolic(x[0].im, false), -(sin(x[0].re) * hyperbolic(x[0].im, true))};
  if (isa<chlo::SinhOp>(op))
    return Complex{hyperbolic(x[0].re, true) * cos(x[0].im), hyperbolic(x[0].re, false) * sin(x[0].im)};
  if (isa<chlo::CoshOp>(op))
    return Complex{hyperbolic(x[0].re, false) * cos(x[0].im), hyperbolic(x[0].re, true) * sin(x[0].im)};
  if (isa<stablehlo::TanhOp>(op))
    return hyperbolicTangent(x[0]);
  if (isa<stablehlo::TanOp, chlo::TanOp>(op)) { // tan z = -i tanh(i z)
    Complex value = hyperbolicTangent({-x[0].im, x[0].re});
    return Complex{value.im, -value.re};
  }
  if (isa<chlo::AsinAcosKernelOp>(op))
    return arcKernel(x[0]);
  if (isa<chlo::AsinOp>(op))
    return arcSine(x[0]);
  if (isa<chlo::AsinhOp>(op))
    return timesMinusI(arcSine(timesI(x[0])));
  if (isa<chlo::AcosOp, chlo::AcoshOp>(op)) {
    Complex w = arcKernel(x[0]);
    Expr angle = w.re.apply<stablehlo::Atan2Op>(x[0].re);
    return isa<chlo::AcosOp>(op) ? Complex{angle, -signedAs(w.im, x[0].im)} : Complex{w.im, signedAs(angle, x[0].im)};
  }
  if (isa<chlo::AtanhOp>(op))
    return hyperbolicArcTangent(x[0]);
  if (isa<chlo::AtanOp>(op))
    return timesMinusI(hyperbolicArcTangent(timesI(x[0])));
  if (isa<stablehlo::LogisticOp>(op))
    return constant(x[0], 1) / (constant(x[0], 1) + exponential(-x[0]));
  if (isa<stablehlo::SignOp>(op)) {
    Expr size = modulus(x[0]), isZero = size == 0;
    return Complex{isZero.select(size, x[0].re / size), isZero.select(size, x[0].im / size)};
  }
  return std::nullopt;
}
