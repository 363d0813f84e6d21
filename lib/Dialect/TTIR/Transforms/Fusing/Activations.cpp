//===- Activations.cpp - recognition of decomposed activations ------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Fusing.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/AbsOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/AddOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ClampScalarOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/DivOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ErfOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ErfcOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ExpOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/GeluOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/GreaterThanOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/HardsigmoidOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/Log1pOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/LogOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MaximumOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MinimumOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MishOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MultiplyOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/NegOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/Relu6Op.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReluOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SigmoidOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SiluOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/TanhOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/WhereOp.h"

#include <cmath>

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttir;

/// The operand of a commutative op whose other operand is a splat of `number`; null if none has the result's type.
static Value besides(Operation *op, double number) {
  for (unsigned i : {0, 1})
    if (haveSameType(op->getOperand(1 - i), op->getResult(0)) && isFloat(op->getResult(0)) &&
        splat(op->getOperand(i)) == number && !std::signbit(*splat(op->getOperand(i))))
      return op->getOperand(1 - i);
  return {};
}

/// Whether `value` is a splat of a number in the element type of `like`.
static bool isNumber(Value value, Value like, double number) {
  APFloat rounded(number);
  bool isLost = false;
  if (auto type = dyn_cast<FloatType>(tensorType(like).getElementType()))
    rounded.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &isLost);
  std::optional<double> found = splat(value);
  return found && std::abs(*found - rounded.convertToDouble()) < 1e-6;
}

namespace {
/// max(x, 0); max(x, -0) would keep -0
struct FuseRelu : Fusion<MaximumOp> {
  using Fusion::Fusion;
  LogicalResult matchAndRewrite(MaximumOp op, PatternRewriter &rewriter) const override {
    Value x = besides(op, 0);
    if (!x)
      return rewriter.notifyMatchFailure(op, "no operand is 0");
    rewriter.replaceOpWithNewOp<ReluOp>(op, op.getType(), x);
    return success();
  }
};

/// min(relu(x), 6)
struct FuseRelu6 : Fusion<MinimumOp> {
  using Fusion::Fusion;
  LogicalResult matchAndRewrite(MinimumOp op, PatternRewriter &rewriter) const override {
    Value x = besides(op, 6);
    auto relu = x ? state.only<ReluOp>(x) : ReluOp();
    if (!relu || !haveSameType(relu.getInput(), x) || !ttcore::mayFuse(relu, op))
      return rewriter.notifyMatchFailure(op, "is no minimum of 6 and a relu that nothing else uses");
    rewriter.replaceOpWithNewOp<Relu6Op>(op, op.getType(), relu.getInput());
    return success();
  }
};

/// clamp(x, 0, 6)
struct FuseClamp : Fusion<ClampScalarOp> {
  using Fusion::Fusion;
  LogicalResult matchAndRewrite(ClampScalarOp op, PatternRewriter &rewriter) const override {
    auto is = [](Attribute attr, double number) {
      auto real = dyn_cast<FloatAttr>(attr);
      return real && real.getValueAsDouble() == number && !real.getValue().isNegative();
    };
    if (!is(op.getMin(), 0) || !is(op.getMax(), 6) || !isFloat(op.getInput()) ||
        !haveSameType(op.getInput(), op.getResult()))
      return rewriter.notifyMatchFailure(op, "does not clamp floats to [0, 6]");
    rewriter.replaceOpWithNewOp<Relu6Op>(op, op.getType(), op.getInput());
    return success();
  }
};

/// x * sigmoid(x)
struct FuseSilu : Fusion<MultiplyOp> {
  using Fusion::Fusion;
  LogicalResult matchAndRewrite(MultiplyOp op, PatternRewriter &rewriter) const override {
    for (unsigned i : {0, 1}) {
      Value x = op->getOperand(1 - i);
      auto sigmoid = state.only<SigmoidOp>(op->getOperand(i));
      if (!sigmoid || sigmoid.getInput() != x || !isFloat(x) || !haveSameType(x, sigmoid.getResult()) ||
          !haveSameType(x, op.getResult()) || !ttcore::mayFuse(sigmoid, op))
        continue;
      rewriter.replaceOpWithNewOp<SiluOp>(op, op.getType(), x);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no operand is the sigmoid of the other, for this op alone");
  }
};

/// 0.5 * x * (1 + erf(x / sqrt(2))), or 0.5 * x * erfc(-x / sqrt(2)), multiplied in any order
struct FuseGelu : Fusion<MultiplyOp> {
  using Fusion::Fusion;
  LogicalResult matchAndRewrite(MultiplyOp op, PatternRewriter &rewriter) const override {
    for (unsigned i : {0, 1}) {
      Group group(state, op);
      Value x = valueOf(group, op, i);
      if (!x || !haveSameType(x, op.getResult()) || !group.isClosed())
        continue;
      rewriter.replaceOpWithNewOp<GeluOp>(op, op.getType(), x);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "is no gelu written out, for this op alone");
  }

private:
  /// Returns the operand of the gelu; null if this order of operands is not one.
  static Value valueOf(Group &group, MultiplyOp op, unsigned i) {
    Value first = op->getOperand(i), second = op->getOperand(1 - i);
    if (Value product = besides(op, 0.5)) { // (x * sum) * 0.5
      auto inner = group.take<MultiplyOp>(product);
      return inner && isSum(group, inner->getOperand(1 - i), inner->getOperand(i)) ? inner->getOperand(i) : Value();
    }
    if (auto half = group.take<MultiplyOp>(first)) // (x * 0.5) * sum
      if (Value x = besides(half, 0.5); x && isSum(group, second, x))
        return x;
    if (auto half = group.take<MultiplyOp>(second)) // x * (sum * 0.5)
      if (Value sum = besides(half, 0.5); sum && isSum(group, sum, first))
        return first;
    return {};
  }
  /// 1 + erf(x / sqrt(2)), or erfc(-x / sqrt(2))
  static bool isSum(Group &group, Value value, Value x) {
    if (!haveSameType(value, x))
      return false;
    if (auto erfc = group.take<ErfcOp>(value))
      return isScaled(group, erfc.getInput(), x, -1);
    auto add = group.take<AddOp>(value);
    Value one = add ? besides(add, 1) : Value();
    auto erf = one ? group.take<ErfOp>(one) : ErfOp();
    return erf && isScaled(group, erf.getInput(), x, 1);
  }
  /// sign * x / sqrt(2)
  static bool isScaled(Group &group, Value value, Value x, double sign) {
    if (!haveSameType(value, x))
      return false;
    auto isX = [&](Value operand, Value factor, double number) {
      if (operand == x)
        return isNumber(factor, x, sign * number);
      auto neg = group.take<NegOp>(operand);
      return neg && neg.getInput() == x && isNumber(factor, x, -sign * number);
    };
    if (auto neg = group.take<NegOp>(value))
      return isScaled(group, neg.getInput(), x, -sign);
    if (auto div = group.take<DivOp>(value))
      return isX(div.getLhs(), div.getRhs(), std::sqrt(2.0));
    auto multiply = group.take<MultiplyOp>(value);
    return multiply && llvm::any_of(ArrayRef<unsigned>{0, 1}, [&](unsigned k) {
             return isX(multiply->getOperand(k), multiply->getOperand(1 - k), std::sqrt(0.5));
           });
  }
};

/// relu6(x + 3) / 6, or y * relu6(x + 3) / 6, which is y * hardsigmoid(x)
template <class Op> struct FuseHardsigmoid : Fusion<Op> {
  using Fusion<Op>::Fusion;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    constexpr bool divides = std::is_same_v<Op, DivOp>;
    for (unsigned i : {0, 1}) {
      if (divides && i == 1)
        break;
      Value scaled = op->getOperand(i);
      if (!haveSameType(scaled, op.getResult()) || !isFloat(scaled) ||
          !isNumber(op->getOperand(1 - i), scaled, divides ? 6.0 : 1.0 / 6))
        continue;
      Group group(this->state, op);
      if (Value x = clampedOf(group, scaled); x && group.isClosed()) {
        rewriter.replaceOpWithNewOp<HardsigmoidOp>(op, op.getType(), x);
        return success();
      }
      Group product(this->state, op);
      auto multiply = product.template take<MultiplyOp>(scaled);
      for (unsigned k : {0, 1}) {
        Group whole = product;
        Value x = multiply ? clampedOf(whole, multiply->getOperand(k)) : Value();
        if (!x || !haveSameType(x, op.getResult()) || !whole.isClosed())
          continue;
        Location loc = ttcore::withoutSourceNumber(op.getLoc());
        auto gate = HardsigmoidOp::create(rewriter, loc, op.getType(), x);
        ttcore::passRequestsOn(op, gate);
        rewriter.replaceOpWithNewOp<MultiplyOp>(op, op.getType(), multiply->getOperand(1 - k), gate);
        return success();
      }
    }
    return rewriter.notifyMatchFailure(op, "scales no relu6(x + 3) to [0, 1]");
  }

private:
  /// x, if `value` is relu6(x + 3); null otherwise.
  static Value clampedOf(Group &group, Value value) {
    auto relu6 = group.take<Relu6Op>(value);
    auto add = relu6 ? group.take<AddOp>(relu6.getInput()) : AddOp();
    return add && haveSameType(add.getResult(), value) ? besides(add, 3) : Value();
  }
};

/// x * tanh(log(1 + e^x))
struct FuseMish : Fusion<MultiplyOp> {
  using Fusion::Fusion;
  LogicalResult matchAndRewrite(MultiplyOp op, PatternRewriter &rewriter) const override {
    for (unsigned i : {0, 1}) {
      Value x = op->getOperand(1 - i);
      Group group(state, op);
      auto tanh = group.take<TanhOp>(op->getOperand(i));
      if (!tanh || !isFloat(x) || !haveSameType(x, op.getResult()) || !isSoftplus(group, tanh.getInput(), x) ||
          !group.isClosed())
        continue;
      rewriter.replaceOpWithNewOp<MishOp>(op, op.getType(), x);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no operand is the tanh of the other's softplus, for this op alone");
  }

private:
  /// log1p(e^x), log(e^x + 1), one of them below a threshold and x above it, or max(x, 0) + log1p(e^-|x|).
  static bool isSoftplus(Group &group, Value value, Value x) {
    if (!haveSameType(value, x))
      return false;
    if (auto where = group.take<WhereOp>(value)) {
      // Above it, 1 is too small compared with e^x.
      auto above = group.take<GreaterThanOp>(where.getFirst());
      std::optional<double> threshold = above ? splat(above.getRhs()) : std::nullopt;
      return threshold && *threshold >= 17 && above.getLhs() == x && where.getSecond() == x &&
             isPlain(group, where.getThird(), x);
    }
    if (auto add = group.take<AddOp>(value)) {
      for (unsigned i : {0, 1}) {
        Value positive = add->getOperand(i);
        auto relu = group.take<ReluOp>(positive);
        auto log = relu && relu.getInput() == x ? group.take<Log1pOp>(add->getOperand(1 - i)) : Log1pOp();
        auto exp = log ? group.take<ExpOp>(log.getInput()) : ExpOp();
        auto neg = exp ? group.take<NegOp>(exp.getInput()) : NegOp();
        auto abs = neg ? group.take<AbsOp>(neg.getInput()) : AbsOp();
        if (abs && abs.getInput() == x)
          return true;
      }
      return false;
    }
    return isPlain(group, value, x);
  }
  static bool isPlain(Group &group, Value value, Value x) {
    Value inside;
    if (auto log1p = group.take<Log1pOp>(value)) {
      inside = log1p.getInput();
    } else if (auto log = group.take<LogOp>(value)) {
      auto add = group.take<AddOp>(log.getInput());
      for (unsigned i : {0, 1})
        if (add && splat(add->getOperand(i)) == 1.0)
          inside = add->getOperand(1 - i);
    }
    auto exp = inside ? group.take<ExpOp>(inside) : ExpOp();
    return exp && exp.getInput() == x && haveSameType(exp.getResult(), x);
  }
};
} // namespace

void ttir::populateActivationFusions(RewritePatternSet &patterns, FusionState &state) {
  patterns.add<FuseRelu, FuseRelu6, FuseClamp, FuseSilu, FuseGelu, FuseHardsigmoid<MultiplyOp>, FuseHardsigmoid<DivOp>,
               FuseMish>(patterns.getContext(), state);
}
