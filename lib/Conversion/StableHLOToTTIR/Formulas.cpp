//===- Formulas.cpp - functions computed from others ----------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Functions of StableHLO and CHLO that TTIR has no op for are computed from
// those it has, in f32 where the elements are narrower; and CHLO's other ops.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

#include <cmath>

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

namespace {
/// Values of one type, as in a formula.
class Formula {
public:
  Formula(ImplicitLocOpBuilder &builder, RankedTensorType type) : builder(builder), type(type) {}

  template <class OpT> Value of(Value a) { return make<OpT>(builder, type, a); }
  template <class OpT> Value of(Value a, Value b) { return make<OpT>(builder, type, {a, b}); }
  Value add(Value a, Value b) { return of<ttir::AddOp>(a, b); }
  Value subtract(Value a, Value b) { return of<ttir::SubtractOp>(a, b); }
  Value multiply(Value a, Value b) { return of<ttir::MultiplyOp>(a, b); }
  Value divide(Value a, Value b) { return of<ttir::DivOp>(a, b); }
  Value exp(Value a) { return of<ttir::ExpOp>(a); }
  Value log(Value a) { return of<ttir::LogOp>(a); }
  Value log1p(Value a) { return of<ttir::Log1pOp>(a); }
  Value sqrt(Value a) { return of<ttir::SqrtOp>(a); }
  Value abs(Value a) { return of<ttir::AbsOp>(a); }
  Value negate(Value a) { return of<ttir::NegOp>(a); }
  template <class OpT> Value compare(Value a, Value b) {
    return make<OpT>(builder, type.clone(builder.getI1Type()), {a, b});
  }
  Value isLess(Value a, Value b) { return compare<ttir::LessThanOp>(a, b); }
  Value isEqual(Value a, Value b) { return compare<ttir::EqualOp>(a, b); }
  Value where(Value condition, Value a, Value b) { return make<ttir::WhereOp>(builder, type, {condition, a, b}); }
  Value number(double value) {
    auto element = cast<FloatType>(type.getElementType());
    return ttir::ConstantOp::create(builder, type, DenseElementsAttr::get(type, builder.getFloatAttr(element, value)));
  }

private:
  ImplicitLocOpBuilder &builder;
  RankedTensorType type;
};

constexpr double ln2 = 0.693147180559945309417;
// Above this, the square of an f32 overflows.
constexpr double largeSquare = 1.8446742e19;

/// e^x and e^-x, halved in the exponent, so that they are finite as long as the result is.
Value hyperbolicCosine(Formula &f, Value x) {
  Value half = f.number(-ln2);
  return f.add(f.exp(f.add(x, half)), f.exp(f.subtract(half, x)));
}

Value hyperbolicSine(Formula &f, Value x) {
  Value half = f.number(-ln2);
  Value large = f.subtract(f.exp(f.add(x, half)), f.exp(f.subtract(half, x)));
  // (e^x - e^-x) / 2 without the cancellation of values near 1.
  Value e = f.of<ttir::Expm1Op>(x), one = f.number(1);
  Value small = f.multiply(f.number(0.5), f.add(e, f.divide(e, f.add(e, one))));
  return f.where(f.isLess(f.abs(x), one), small, large);
}

Value inverseCosh(Formula &f, Value x) {
  Value one = f.number(1);
  Value small = f.log(f.add(x, f.sqrt(f.multiply(f.add(x, one), f.subtract(x, one)))));
  Value large = f.add(f.log(x), f.number(ln2));
  Value result = f.where(f.isLess(x, f.number(largeSquare)), small, large);
  return f.where(f.isLess(x, one), f.number(NAN), result);
}

Value inverseSinh(Formula &f, Value x) {
  Value a = f.abs(x), one = f.number(1), square = f.multiply(a, a);
  Value small = f.log1p(f.add(a, f.divide(square, f.add(one, f.sqrt(f.add(square, one))))));
  Value large = f.add(f.log(a), f.number(ln2));
  Value result = f.where(f.isLess(a, f.number(largeSquare)), small, large);
  return f.where(f.isLess(x, f.number(0)), f.negate(result), result);
}

Value inverseTanh(Formula &f, Value x) {
  return f.multiply(f.number(0.5), f.subtract(f.log1p(x), f.log1p(f.negate(x))));
}

/// M. Giles, "Approximating the erfinv function" (GPU Computing Gems, 2011): two polynomials in -log(1 - x^2), for f32.
Value inverseErf(Formula &f, Value x) {
  constexpr double near[] = {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                             -0.00125372503, -0.00417768164, 0.246640727,    1.50140941};
  constexpr double far[] = {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                            -0.0076224613,   0.00943887047,  1.00167406,    2.83297682};
  Value w = f.negate(f.log1p(f.negate(f.multiply(x, x))));
  Value isNear = f.isLess(w, f.number(5));
  Value at = f.where(isNear, f.subtract(w, f.number(2.5)), f.subtract(f.sqrt(w), f.number(3)));
  Value sum = f.where(isNear, f.number(near[0]), f.number(far[0]));
  for (auto [a, b] : llvm::drop_begin(llvm::zip_equal(near, far)))
    sum = f.add(f.where(isNear, f.number(a), f.number(b)), f.multiply(sum, at));
  Value result = f.multiply(sum, x);
  return f.where(f.isEqual(f.abs(x), f.number(1)), f.multiply(x, f.number(INFINITY)), result);
}

Value squareOf(Formula &f, Value x) { return f.multiply(x, x); }

/// To the nearest integer: f32 from 2^23 on are integers, and below have their last place at 1 once 2^23 is added,
/// which rounds halves to even.
Value roundEven(Formula &f, Value x) {
  Value a = f.abs(x), whole = f.number(8388608);
  Value rounded = f.subtract(f.add(a, whole), whole);
  Value result = f.where(f.isLess(x, f.number(0)), f.negate(rounded), rounded);
  return f.where(f.isLess(a, whole), result, x);
}

/// Halves away from zero, which adding a half before cutting is not: 0.49999997 + 0.5 is 1 in f32.
Value roundAway(Formula &f, Value x) {
  Value a = f.abs(x), below = f.of<ttir::FloorOp>(a);
  Value rounded = f.where(f.isLess(f.subtract(a, below), f.number(0.5)), below, f.add(below, f.number(1)));
  Value result = f.where(f.isLess(x, f.number(0)), f.negate(rounded), rounded);
  return f.where(f.isLess(a, f.number(8388608)), result, x);
}

template <class OpT> struct LowerByFormula : OpConversionPattern<OpT> {
  using Function = Value (*)(Formula &, Value);
  LowerByFormula(MLIRContext *context, Function function) : OpConversionPattern<OpT>(context), function(function) {}

  LogicalResult matchAndRewrite(OpT op, typename OpT::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    RankedTensorType type = typeOf(op.getResult());
    auto element = cast<FloatType>(type.getElementType());
    Type wide = element.getWidth() < 32 ? Type(builder.getF32Type()) : Type(element);
    Formula formula(builder, type.clone(wide));
    Value result = function(formula, typecast(builder, adaptor.getOperand(), wide));
    return replace(rewriter, op, typecast(builder, result, element));
  }

private:
  Function function;
};

/// Whether the operand, or its absolute value, is an infinity.
template <class OpT> struct LowerIsInf : OpConversionPattern<OpT> {
  using OpConversionPattern<OpT>::OpConversionPattern;
  LogicalResult matchAndRewrite(OpT op, typename OpT::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    RankedTensorType type = typeOf(adaptor.getOperand());
    Value x = typecast(builder, adaptor.getOperand(), builder.getF32Type());
    Formula f(builder, type.clone(builder.getF32Type()));
    if constexpr (std::is_same_v<OpT, chlo::IsInfOp>)
      x = f.abs(x);
    constexpr double sign = std::is_same_v<OpT, chlo::IsNegInfOp> ? -1 : 1;
    return replace(rewriter, op, f.isEqual(x, f.number(sign * INFINITY)));
  }
};

struct LowerConj : OpConversionPattern<chlo::ConjOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(chlo::ConjOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    return replace(rewriter, op, adaptor.getOperand()); // a real number, or the conversion refuses the type
  }
};

struct LowerTopK : OpConversionPattern<chlo::TopKOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(chlo::TopKOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (op.getK() == 0)
      return notifyMatchFailure(rewriter, op, "it takes no elements");
    if (failed(checkNarrow(rewriter, op, static_cast<int64_t>(op.getK()))))
      return failure();
    auto made = ttir::TopKOp::create(rewriter, op.getLoc(), op->getResultTypes(), adaptor.getOperand(),
                                     static_cast<int32_t>(op.getK()));
    rewriter.replaceOp(op, made);
    return success();
  }
};
} // namespace

void hlo::addFormulaPatterns(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.add<LowerByFormula<chlo::AcoshOp>>(context, inverseCosh);
  patterns.add<LowerByFormula<chlo::AsinhOp>>(context, inverseSinh);
  patterns.add<LowerByFormula<chlo::AtanhOp>>(context, inverseTanh);
  patterns.add<LowerByFormula<chlo::CoshOp>>(context, hyperbolicCosine);
  patterns.add<LowerByFormula<chlo::ErfInvOp>>(context, inverseErf);
  patterns.add<LowerByFormula<stablehlo::RoundNearestEvenOp>>(context, roundEven);
  patterns.add<LowerByFormula<stablehlo::RoundOp>>(context, roundAway);
  patterns.add<LowerByFormula<chlo::SinhOp>>(context, hyperbolicSine);
  patterns.add<LowerByFormula<chlo::SquareOp>>(context, squareOf);
  patterns
      .add<LowerIsInf<chlo::IsInfOp>, LowerIsInf<chlo::IsNegInfOp>, LowerIsInf<chlo::IsPosInfOp>, LowerConj, LowerTopK>(
          context);
}
