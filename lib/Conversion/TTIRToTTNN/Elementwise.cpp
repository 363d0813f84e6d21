//===- Elementwise.cpp - decompositions of elementwise ops ----------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Each decomposition is an equation of TTNN ops. Intermediate values are f32, so the result is rounded once.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/Exp2Op.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/FracOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/GeluOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SeluOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SoftsignOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SquareOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/TruncOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/AbsOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/AddOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/CeilOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/DivideOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/Expm1Op.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/FloorOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/GeluOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/GreaterThanOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/LessThanOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/MultiplyOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/PowTensorOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/SubtractOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/TanhOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/WhereOp.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

namespace {
/// The values of an equation in one unknown.
class Equation {
public:
  Equation(ImplicitLocOpBuilder &builder, Value unknown, Value device, RankedTensorType result)
      : x(unknown), builder(builder), device(device), resultType(result) {}

  const Value x;
  Value constant(double value) { return scalar(builder, device, value, shapeOf(x).size(), x); }
  Value constant(const APFloat &value) { return constant(value.convertToDouble()); }
  template <class OpT> Value make(ValueRange operands) {
    return ttnn::make<OpT>(builder, typeLike(x, shapeOf(x), ttcore::DataType::Float32), operands);
  }
  /// The last op of the equation produces the result's type.
  template <class OpT> Value result(ValueRange operands) { return ttnn::make<OpT>(builder, resultType, operands); }

private:
  ImplicitLocOpBuilder &builder;
  Value device;
  RankedTensorType resultType;
};

template <class OpT> class LowerByEquation : public OpConversionPattern<OpT> {
public:
  using Solve = Value (*)(Equation &, OpT);
  LowerByEquation(MLIRContext *context, Solve solve) : OpConversionPattern<OpT>(context), solve(solve) {}

  LogicalResult matchAndRewrite(OpT op, typename OpT::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    // Every constant of an equation is created on a device.
    Value device = findDevice(rewriter, op);
    if (!device)
      return failure();
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Equation equation(builder, adaptor.getOperands().front(), device, typeOf(op.getResult()));
    rewriter.replaceOp(op, solve(equation, op));
    return success();
  }

private:
  Solve solve;
};
} // namespace

static Value exp2(Equation &e, ttir::Exp2Op) { return e.result<PowTensorOp>({e.constant(2), e.x}); }

/// The operands of a `where` that rounds x toward 0 and keeps its sign: -0.5 becomes -0.
static SmallVector<Value, 3> truncated(Equation &e) {
  return {e.make<LessThanOp>({e.x, e.constant(0)}), e.make<CeilOp>(e.x), e.make<FloorOp>(e.x)};
}

static Value frac(Equation &e, ttir::FracOp) { return e.result<SubtractOp>({e.x, e.make<WhereOp>(truncated(e))}); }

static Value selu(Equation &e, ttir::SeluOp op) {
  Value negative = e.make<MultiplyOp>({e.constant(op.getAlpha()), e.make<Expm1Op>(e.x)});
  Value both = e.make<WhereOp>({e.make<GreaterThanOp>({e.x, e.constant(0)}), e.x, negative});
  return e.result<MultiplyOp>({e.constant(op.getScale()), both});
}

static Value softsign(Equation &e, ttir::SoftsignOp) {
  return e.result<DivideOp>({e.x, e.make<AddOp>({e.make<AbsOp>(e.x), e.constant(1)})});
}

static Value square(Equation &e, ttir::SquareOp) { return e.result<MultiplyOp>({e.x, e.x}); }

static Value trunc(Equation &e, ttir::TruncOp) { return e.result<WhereOp>(truncated(e)); }

template <class OpT> static void add(RewritePatternSet &patterns, Value (*solve)(Equation &, OpT)) {
  patterns.add<LowerByEquation<OpT>>(patterns.getContext(), solve);
}

/// 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
static Value geluByTanh(Equation &e, ttir::GeluOp) {
  Value cubic = e.make<MultiplyOp>({e.make<MultiplyOp>({e.make<MultiplyOp>({e.x, e.x}), e.x}), e.constant(0.044715)});
  Value inner = e.make<MultiplyOp>({e.make<AddOp>({e.x, cubic}), e.constant(std::sqrt(2 / std::numbers::pi))});
  Value outer = e.make<AddOp>({e.make<TanhOp>(inner), e.constant(1)});
  return e.result<MultiplyOp>({e.make<MultiplyOp>({e.x, e.constant(0.5)}), outer});
}

namespace {
/// Front ends mark a gelu with `approximate`, "none" or "tanh", which is not an attribute of the op itself.
struct LowerGelu : LowerByEquation<ttir::GeluOp> {
  explicit LowerGelu(MLIRContext *context) : LowerByEquation(context, geluByTanh) {}
  LogicalResult matchAndRewrite(ttir::GeluOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Attribute mark = op->getAttr("approximate");
    if (auto how = dyn_cast_or_null<StringAttr>(mark); how && how == "tanh")
      return LowerByEquation::matchAndRewrite(op, adaptor, rewriter);
    else if (mark && (!how || how != "none"))
      return notifyMatchFailure(rewriter, op, "attribute 'approximate' is neither \"none\" nor \"tanh\"");
    auto gelu = GeluOp::create(rewriter, op.getLoc(), op.getType(), adaptor.getInput());
    for (NamedAttribute attribute : op->getAttrs())
      if (attribute.getName().strref().contains('.')) // of a dialect, which any op may have
        gelu->setAttr(attribute.getName(), attribute.getValue());
    rewriter.replaceOp(op, gelu);
    return success();
  }
};
} // namespace

void ttnn::addElementwisePatterns(RewritePatternSet &patterns) {
  patterns.add<LowerGelu>(patterns.getContext());
  add(patterns, exp2);
  add(patterns, frac);
  add(patterns, selu);
  add(patterns, softsign);
  add(patterns, square);
  add(patterns, trunc);
}
