//===- Formulas.cpp - functions computed from others ----------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Rounding, for which TTIR has no op, is computed from other ops, in f32 if the elements are narrower; and the other
// ops of CHLO.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/AbsOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/AddOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConstantOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/FloorOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/GatherOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/LessThanOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SubtractOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/TopKOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/WhereOp.h"

#include <cmath>

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

namespace {
/// Values of one type, with the operators of a formula.
class Formula {
public:
  Formula(ImplicitLocOpBuilder &builder, RankedTensorType type) : builder(builder), type(type) {}

  template <class OpT> Value of(Value a) { return make<OpT>(builder, type, a); }
  template <class OpT> Value of(Value a, Value b) { return make<OpT>(builder, type, {a, b}); }
  Value add(Value a, Value b) { return of<ttir::AddOp>(a, b); }
  Value subtract(Value a, Value b) { return of<ttir::SubtractOp>(a, b); }
  Value abs(Value a) { return of<ttir::AbsOp>(a); }
  Value withSign(Value magnitude, Value sign) { return hlo::withSign(builder, magnitude, sign); }
  template <class OpT> Value compare(Value a, Value b) {
    return make<OpT>(builder, type.clone(builder.getI1Type()), {a, b});
  }
  Value isLess(Value a, Value b) { return compare<ttir::LessThanOp>(a, b); }
  Value where(Value condition, Value a, Value b) { return make<ttir::WhereOp>(builder, type, {condition, a, b}); }
  Value number(double value) {
    auto element = cast<FloatType>(type.getElementType());
    return ttir::ConstantOp::create(builder, type, DenseElementsAttr::get(type, builder.getFloatAttr(element, value)));
  }

private:
  ImplicitLocOpBuilder &builder;
  RankedTensorType type;
};

/// To the nearest integer: f32 numbers from 2^23 on are integers, and smaller ones have their last place at 1 after
/// adding 2^23, which rounds halves to even.
Value roundEven(Formula &f, Value x) {
  Value a = f.abs(x), whole = f.number(8388608);
  Value rounded = f.subtract(f.add(a, whole), whole);
  return f.where(f.isLess(a, whole), f.withSign(rounded, x), x);
}

/// Halves away from zero. Adding a half before truncating is wrong: 0.49999997 + 0.5 is 1 in f32.
Value roundAway(Formula &f, Value x) {
  Value a = f.abs(x), below = f.of<ttir::FloorOp>(a);
  Value rounded = f.where(f.isLess(f.subtract(a, below), f.number(0.5)), below, f.add(below, f.number(1)));
  return f.where(f.isLess(a, f.number(8388608)), f.withSign(rounded, x), x);
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

struct LowerTopK : OpConversionPattern<chlo::TopKOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(chlo::TopKOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (op.getK() == 0) {
      SmallVector<Value> none;
      for (Value result : op->getResults())
        none.push_back(ttir::ConstantOp::create(rewriter, op.getLoc(), result.getType(),
                                                DenseElementsAttr::get(typeOf(result), ArrayRef<Attribute>())));
      rewriter.replaceOp(op, none);
      return success();
    }
    if (failed(checkNarrow(rewriter, op, static_cast<int64_t>(op.getK()))))
      return failure();
    const auto k = static_cast<int32_t>(op.getK());
    Value x = adaptor.getOperand();
    if (!isa<FloatType>(typeOf(x).getElementType())) {
      rewriter.replaceOp(op, ttir::TopKOp::create(rewriter, op.getLoc(), op->getResultTypes(), x, k));
      return success();
    }
    // TTIR has PyTorch's order: any NaN is the largest, and zeros are equal.
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    RankedTensorType type = typeOf(op->getResult(0));
    Type keys = type.clone(builder.getI32Type());
    auto created =
        ttir::TopKOp::create(builder, TypeRange{keys, op->getResult(1).getType()}, totalOrder(builder, x), k);
    Value values = ttir::GatherOp::create(builder, type, x, created->getResult(1),
                                          builder.getI32IntegerAttr(static_cast<int32_t>(type.getRank() - 1)));
    rewriter.replaceOp(op, {values, created->getResult(1)});
    return success();
  }
};
} // namespace

void hlo::addFormulaPatterns(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.add<LowerByFormula<stablehlo::RoundNearestEvenOp>>(context, roundEven);
  patterns.add<LowerByFormula<stablehlo::RoundOp>>(context, roundAway);
  patterns.add<LowerTopK>(context);
}
