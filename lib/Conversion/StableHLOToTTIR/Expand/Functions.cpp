//===- Functions.cpp - elementwise functions of CHLO ----------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Computed in f32 if the elements are narrower.
//
//===----------------------------------------------------------------------===//

#include "Expressions.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

constexpr static double ln2 = std::numbers::ln2;
// Above this, the square of an f32 overflows.
constexpr static double largeSquare = 1.8446742e19;

//===----------------------------------------------------------------------===//
// Hyperbolic functions
//===----------------------------------------------------------------------===//

/// e^x and e^-x, halved in the exponent, so that they are finite whenever the result is.
static Expr hyperbolicCosine(Expr x) { return exp(x - ln2) + exp(-ln2 - x); }

static Expr hyperbolicSine(Expr x) {
  Expr large = exp(x - ln2) - exp(-ln2 - x);
  // (e^x - e^-x) / 2 without the cancellation of values near 1.
  Expr e = x.apply<stablehlo::Expm1Op>();
  Expr small = (e + e / (e + 1)) * 0.5;
  return (abs(x) < 1).select(small, large);
}

static Expr inverseCosh(Expr x) {
  Expr small = log(x + sqrt((x + 1) * (x - 1))), large = log(x) + ln2;
  Expr result = (x < largeSquare).select(small, large);
  return (x < 1).select(x.number(NAN), result);
}

static Expr inverseSinh(Expr x) {
  Expr a = abs(x), square = a * a;
  Expr small = log1p(a + square / (sqrt(square + 1) + 1)), large = log(a) + ln2;
  Expr result = (a < largeSquare).select(small, large);
  return withSign(result, x);
}

static Expr inverseTanh(Expr x) { return (log1p(x) - log1p(-x)) * 0.5; }

//===----------------------------------------------------------------------===//
// The error function
//===----------------------------------------------------------------------===//

static Expr polynomial(Expr x, ArrayRef<double> highestLast) {
  Expr sum = x.number(highestLast.back());
  for (double coefficient : llvm::reverse(highestLast.drop_back()))
    sum = sum * x + coefficient;
  return sum;
}

/// Up to 1: erf(x) / x, an even function, interpolated at the Chebyshev nodes of x^2 to 4e-11.
static Expr nearErf(Expr x) {
  constexpr double coefficients[] = {1.128379167,   -0.3761263848,    0.1128378262,    -0.02686543831,
                                     0.00522105341, -0.0008484396519, 0.0001126825367, -9.67359017e-06};
  return x * polynomial(x * x, coefficients);
}

/// M. Shepherd and J. Laframboise, "Chebyshev approximation of (1 + 2x) exp(x^2) erfc x" (1981), with their variable
/// (x - 3.75) / (x + 3.75), interpolated from 0.5 to 10.2 to 1.1e-8.
static Expr farErfc(Expr x) {
  constexpr double coefficients[] = {1.237512621,   -0.1402406982, 0.003586826634, 0.0822817631,   -0.1088336699,
                                     0.09222563795, -0.0585014606, 0.02886230788,  -0.01006930992, 0.0006019092249};
  Expr t = (x - 3.75) / (x + 3.75);
  // The square in two parts: its rounding error would be multiplied by the exponential.
  Expr high = x;
  if (x.element().isF32()) {
    Type bits = x.build().getIntegerType(32, /*isSigned=*/false);
    high = (x.bitcast(bits) & 4294963200.0).bitcast(x.element());
  }
  Expr gauss = exp(-(high * high)) * exp((high - x) * (high + x));
  return gauss * polynomial(t, coefficients) / (x * 2 + 1);
}

static Expr errorFunction(Expr x) {
  Expr a = abs(x), far = 1 - farErfc(a.apply<stablehlo::MinOp>(a.number(10)));
  Expr result = (a < 1).select(nearErf(x), (x < 0).select(-far, far));
  return (x != x).select(x, result);
}

static Expr complementaryError(Expr x) {
  Expr a = abs(x), far = farErfc(a.apply<stablehlo::MinOp>(a.number(10.2)));
  // e^-(10.2^2) is below the f32 range.
  far = (a > 10.2).select(a.number(0), far);
  Expr result = (a < 0.5).select(1 - nearErf(x), (x < 0).select(2 - far, far));
  return (x != x).select(x, result);
}

/// M. Giles, "Approximating the erfinv function" (GPU Computing Gems, 2011): two polynomials in -log(1 - x^2), for f32.
static Expr inverseErf(Expr x) {
  constexpr double near[] = {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                             -0.00125372503, -0.00417768164, 0.246640727,    1.50140941};
  constexpr double far[] = {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                            -0.0076224613,   0.00943887047,  1.00167406,    2.83297682};
  Expr w = -log1p(-(x * x)), isNear = w < 5;
  Expr at = isNear.select(w - 2.5, sqrt(w) - 3);
  Expr sum = isNear.select(x.number(near[0]), x.number(far[0]));
  for (auto [a, b] : llvm::drop_begin(llvm::zip_equal(near, far)))
    sum = isNear.select(x.number(a), x.number(b)) + sum * at;
  return (abs(x) == 1).select(x * INFINITY, sum * x);
}

//===----------------------------------------------------------------------===//
// Angles
//===----------------------------------------------------------------------===//

static Expr arcSine(Expr x) { return atan2(x, sqrt((1 - x) * (x + 1))); }
static Expr arcCosine(Expr x) { return atan2(sqrt((1 - x) * (x + 1)), x); }
static Expr arcTangent(Expr x) { return atan2(x, x.number(1)); }

static Expr square(Expr x) { return x * x; }

namespace {
template <class OpT> struct ExpandFunction : OpRewritePattern<OpT> {
  using Function = Expr (*)(Expr);
  ExpandFunction(MLIRContext *context, Function function) : OpRewritePattern<OpT>(context), function(function) {}
  LogicalResult matchAndRewrite(OpT op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Expr x(builder, op.getOperand());
    if (!x.isFloat() || !x.type().hasStaticShape())
      return failure();
    Type wide = x.element().getIntOrFloatBitWidth() < 32 ? Type(builder.getF32Type()) : x.element();
    rewriter.replaceOp(op, function(x.convert(wide)).convert(x.element()).value());
    return success();
  }

private:
  Function function;
};

/// Whether the operand, or its absolute value, is an infinity.
template <class OpT> struct ExpandIsInf : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpT op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Expr x(builder, op.getOperand());
    if (!x.isFloat() || !x.type().hasStaticShape())
      return failure();
    x = x.convert(builder.getF32Type());
    if constexpr (std::is_same_v<OpT, chlo::IsInfOp>)
      x = abs(x);
    constexpr double sign = std::is_same_v<OpT, chlo::IsNegInfOp> ? -1 : 1;
    rewriter.replaceOp(op, (x == sign * INFINITY).value());
    return success();
  }
};

struct ExpandTan : OpRewritePattern<chlo::TanOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(chlo::TanOp op, PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, make(op, rewriter));
    return success();
  }

private:
  static Value make(chlo::TanOp op, PatternRewriter &rewriter) {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    return Expr(builder, op.getOperand()).apply<stablehlo::TanOp>().value();
  }
};

/// A real number is its own conjugate.
struct ExpandConj : OpRewritePattern<chlo::ConjOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(chlo::ConjOp op, PatternRewriter &rewriter) const override {
    if (isa<ComplexType>(getElementTypeOrSelf(op.getType())))
      return failure();
    rewriter.replaceOp(op, op.getOperand());
    return success();
  }
};

/// The first k of a stable descending sort, and their positions.
struct ExpandTopK : OpRewritePattern<chlo::TopKOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(chlo::TopKOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Expr x(builder, op.getOperand());
    if (!x.type().hasStaticShape() || x.rank() == 0)
      return failure();
    const int64_t last = x.rank() - 1;
    Type index = typeOf(op->getResult(1)).getElementType();
    Expr places = Expr::iota(builder, x.type().clone(index), last);
    auto sorted = stablehlo::SortOp::create(builder, TypeRange{x.type(), places.type()},
                                            ValueRange{x.value(), places.value()}, static_cast<uint64_t>(last), true);
    {
      OpBuilder::InsertionGuard guard(builder);
      Type a = RankedTensorType::get({}, x.element()), b = RankedTensorType::get({}, index);
      Location loc = op.getLoc();
      Block *body = builder.createBlock(&sorted.getComparator(), {}, {a, a, b, b}, {loc, loc, loc, loc});
      Value isBefore = stablehlo::CompareOp::create(
          builder, RankedTensorType::get({}, builder.getI1Type()), body->getArgument(0), body->getArgument(1),
          stablehlo::ComparisonDirection::GT,
          x.isFloat() ? stablehlo::ComparisonTypeAttr::get(getContext(), stablehlo::ComparisonType::TOTALORDER)
                      : stablehlo::ComparisonTypeAttr());
      stablehlo::ReturnOp::create(builder, isBefore);
    }
    const auto k = static_cast<int64_t>(op.getK());
    rewriter.replaceOp(op, {Expr(builder, sorted->getResult(0)).slice(last, 0, k).value(),
                            Expr(builder, sorted->getResult(1)).slice(last, 0, k).value()});
    return success();
  }
};
} // namespace

void hlo::addFunctionExpansions(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.add<ExpandFunction<chlo::AcoshOp>>(context, inverseCosh);
  patterns.add<ExpandFunction<chlo::CoshOp>>(context, hyperbolicCosine);
  patterns.add<ExpandFunction<chlo::ErfInvOp>>(context, inverseErf);
  patterns.add<ExpandFunction<chlo::SinhOp>>(context, hyperbolicSine);
  patterns.add<ExpandFunction<chlo::SquareOp>>(context, square);
  patterns.add<ExpandConj, ExpandIsInf<chlo::IsInfOp>, ExpandIsInf<chlo::IsNegInfOp>, ExpandIsInf<chlo::IsPosInfOp>>(
      context);
}

void hlo::addChloExpansions(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.add<ExpandFunction<chlo::AcosOp>>(context, arcCosine);
  patterns.add<ExpandFunction<chlo::AsinOp>>(context, arcSine);
  patterns.add<ExpandFunction<chlo::AsinhOp>>(context, inverseSinh);
  patterns.add<ExpandFunction<chlo::AtanOp>>(context, arcTangent);
  patterns.add<ExpandFunction<chlo::AtanhOp>>(context, inverseTanh);
  patterns.add<ExpandFunction<chlo::ErfOp>>(context, errorFunction);
  patterns.add<ExpandFunction<chlo::ErfcOp>>(context, complementaryError);
  patterns.add<ExpandTan, ExpandTopK>(context);
}
