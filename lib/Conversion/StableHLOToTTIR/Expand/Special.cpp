//===- Special.cpp - special functions of CHLO ----------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Computed in f32 for narrower types, too.
//
//===----------------------------------------------------------------------===//

#include "Expressions.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

//===----------------------------------------------------------------------===//
// Gamma: C. Lanczos, "A precision approximation of the gamma function" (1964), with g = 7 and P. Godfrey's nine
// coefficients
//===----------------------------------------------------------------------===//

static constexpr double lanczosBase = 0.99999999999980993227684700473478;
static constexpr double lanczos[] = {676.520368121885098567009190444019, -1259.13921672240287047156078755283,
                                     771.3234287776530788486528258894,   -176.61502916214059906584551354,
                                     12.507343278686904814458936853,     -0.13857109526572011689554707,
                                     9.984369578019570859563e-6,         1.50563273514931155834e-7};
static constexpr double gPlusHalf = 7.5;

static Expr logGamma(Expr x) {
  const double pi = std::numbers::pi;
  Expr isLow = x < 0.5;
  Expr z = isLow.select(-x, x - 1);
  Expr sum = z.number(lanczosBase);
  for (auto [i, coefficient] : llvm::enumerate(lanczos))
    sum = sum + coefficient / (z + static_cast<double>(i + 1));
  Expr t = z + gPlusHalf, logT = log1p(z / gPlusHalf) + std::log(gPlusHalf);
  Expr value = ((z + 0.5) - t / logT) * logT + log(sum) + 0.5 * std::log(2 * pi);
  // Reflection; the sine has the period of the fraction and is most accurate near 0.
  Expr fraction = abs(x) - floor(abs(x));
  Expr reduced = (fraction > 0.5).select(1 - fraction, fraction);
  Expr sine = log(sin(reduced * pi));
  Expr isPole = sine == -INFINITY;
  Expr reflected = isPole.select(sine.number(INFINITY), (std::log(pi) - sine) - value);
  return (abs(x) == INFINITY).select(x.number(INFINITY), isLow.select(reflected, value));
}

static Expr digamma(Expr x) {
  const double pi = std::numbers::pi;
  Expr isLow = x < 0.5;
  Expr z = isLow.select(-x, x - 1);
  Expr numerator = z.number(0), denominator = z.number(lanczosBase);
  for (auto [i, coefficient] : llvm::enumerate(lanczos)) {
    Expr at = z + static_cast<double>(i + 1);
    numerator = numerator - coefficient / (at * at);
    denominator = denominator + coefficient / at;
  }
  Expr t = z + gPlusHalf, logT = log1p(z / gPlusHalf) + std::log(gPlusHalf);
  Expr value = logT + numerator / denominator - (gPlusHalf - 0.5) / t;
  Expr reduced = (x + abs(floor(x + 0.5))) * pi;
  Expr reflected = value - (cos(reduced) * pi) / sin(reduced);
  Expr result = isLow.select(reflected, value);
  Expr isPole = (x <= x.number(0)) & (x == floor(x));
  result = isPole.select(x.number(NAN), result);
  return (x == INFINITY).select(x, result);
}

//===----------------------------------------------------------------------===//
// Zeta: the Euler-Maclaurin sum (S. Moshier, "Methods and Programs for Mathematical Functions", 1989)
//===----------------------------------------------------------------------===//

static Expr zeta(Expr x, Expr q) {
  // (2k)! / B_2k for k = 1, 2, ...
  constexpr double terms[] = {12.0,
                              -720.0,
                              30240.0,
                              -1209600.0,
                              47900160.0,
                              -1.8924375803183791606e9,
                              7.47242496e10,
                              -2.950130727918164224e12,
                              1.1646782814350067249e14};
  constexpr int direct = 9;
  Expr power = pow(q, -x), sum = power, at = q;
  for (int i = 0; i < direct; ++i) {
    at = at + 1;
    power = pow(at, -x);
    sum = sum + power;
  }
  sum = sum + power * at / (x - 1) - power * 0.5;
  Expr factor = power * x / at;
  for (auto [i, term] : llvm::enumerate(terms)) {
    sum = sum + factor / term;
    const double k = 2.0 * static_cast<double>(i) + 1;
    factor = factor * ((x + k) / at) * ((x + (k + 1)) / at);
  }
  Expr zero = q.number(0), isWhole = q == floor(q);
  // Below 0, powers are real for integer exponents only; at integers there is a pole.
  Expr isEven = (x * 0.5) == floor(x * 0.5);
  Expr pole = (isEven | (q == zero)).select(q.number(INFINITY), q.number(NAN));
  Expr result = ((q <= zero) & isWhole).select(pole, sum);
  result = ((q < zero) & ~isWhole & (x != floor(x))).select(q.number(NAN), result);
  result = (x == 1).select(q.number(INFINITY), result);
  return (x < 1).select(q.number(NAN), result);
}

static Expr polygamma(Expr n, Expr x) {
  Expr isOdd = ((n * 0.5) != floor(n * 0.5));
  Expr value = exp(logGamma(n + 1)) * zeta(n + 1, x);
  Expr result = (n == 0).select(digamma(x), isOdd.select(value, -value));
  return ((n < 0) | (n != floor(n))).select(n.number(NAN), result);
}

//===----------------------------------------------------------------------===//
// Bessel functions: Chebyshev series in x / 2 - 2 up to 8, in 32 / x - 2 above (Moshier, as above)
//===----------------------------------------------------------------------===//

static Expr chebyshev(Expr y, ArrayRef<double> coefficients) {
  Expr b0 = y.number(coefficients.front()), b1 = y.number(0), b2 = b1;
  for (double coefficient : coefficients.drop_front()) {
    b2 = b1;
    b1 = b0;
    b0 = y * b1 - b2 + coefficient;
  }
  return (b0 - b2) * 0.5;
}

static Expr besselI1e(Expr x) {
  constexpr double low[] = {9.38153738649577178388e-9,  -4.44505912879632808065e-8, 2.00329475355213526229e-7,
                            -8.56872026469545474066e-7, 3.47025130813767847674e-6,  -1.32731636560394358279e-5,
                            4.78156510755005422638e-5,  -1.61760815825896745588e-4, 5.12285956168575772895e-4,
                            -1.51357245063125314899e-3, 4.15642294431288815669e-3,  -1.05640848946261981558e-2,
                            2.47264490306265168283e-2,  -5.29459812080949914269e-2, 1.02643658689847095384e-1,
                            -1.76416518357834055153e-1, 2.52587186443633654823e-1};
  constexpr double high[] = {-3.83538038596423702205e-9, -2.63146884688951950684e-8, -2.51223623787020892529e-7,
                             -3.88256480887769039346e-6, -1.10588938762623716291e-4, -9.76109749136146840777e-3,
                             7.78576235018280120474e-1};
  Expr a = abs(x);
  Expr near = chebyshev(a * 0.5 - 2, low) * a;
  Expr far = chebyshev(32 / a - 2, high) / a.apply<stablehlo::SqrtOp>();
  return withSign((a <= a.number(8)).select(near, far), x);
}

namespace {
template <class OpT> struct ExpandUnary : OpRewritePattern<OpT> {
  using Function = Expr (*)(Expr);
  ExpandUnary(MLIRContext *context, Function function) : OpRewritePattern<OpT>(context), function(function) {}
  LogicalResult matchAndRewrite(OpT op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Expr x(builder, op.getOperand());
    if (!x.isFloat() || !x.type().hasStaticShape())
      return failure();
    rewriter.replaceOp(op, function(x.convert(builder.getF32Type())).convert(x.element()).value());
    return success();
  }

private:
  Function function;
};

template <class OpT> struct ExpandBinary : OpRewritePattern<OpT> {
  using Function = Expr (*)(Expr, Expr);
  ExpandBinary(MLIRContext *context, Function function) : OpRewritePattern<OpT>(context), function(function) {}
  LogicalResult matchAndRewrite(OpT op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Expr x(builder, op->getOperand(0)), y(builder, op->getOperand(1));
    if (!x.type().hasStaticShape())
      return failure();
    Type wide = builder.getF32Type();
    rewriter.replaceOp(op, function(x.convert(wide), y.convert(wide)).convert(x.element()).value());
    return success();
  }

private:
  Function function;
};
} // namespace

void hlo::addSpecialExpansions(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.add<ExpandUnary<chlo::BesselI1eOp>>(context, besselI1e);
  patterns.add<ExpandUnary<chlo::DigammaOp>>(context, digamma);
  patterns.add<ExpandUnary<chlo::LgammaOp>>(context, logGamma);
  patterns.add<ExpandBinary<chlo::PolygammaOp>>(context, polygamma);
  patterns.add<ExpandBinary<chlo::ZetaOp>>(context, zeta);
}
