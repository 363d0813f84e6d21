//===- FusingActivations.cpp - recognition of decomposed activations ------===//
// SPDX-License-Identifier: Apache-2.0

#include "Fusing.h"

#include "ttmlir/Dialect/Families/Folds.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/BroadcastOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ClampScalarOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MaximumOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MinimumOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MultiplyOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/Relu6Op.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReluOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReshapeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SigmoidOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SiluOp.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttir;

/// The one value of a constant tensor that holds nothing else.
static std::optional<double> splat(Value value) {
  while (isa_and_nonnull<BroadcastOp, ReshapeOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  Attribute number = folds::splatOf(value);
  if (auto real = dyn_cast_or_null<FloatAttr>(number))
    return real.getValueAsDouble();
  if (auto integer = dyn_cast_or_null<IntegerAttr>(number))
    return static_cast<double>(integer.getValue().getSExtValue());
  return std::nullopt;
}

static bool isFloat(Value value) { return isa<FloatType, ttcore::TileType>(tensorType(value).getElementType()); }

/// The operand of a commutative op whose other operand is `number` everywhere; null if there is none of the result's
/// type.
static Value besides(Operation *op, double number) {
  for (unsigned i : {0, 1})
    if (haveSameType(op->getOperand(1 - i), op->getResult(0)) && isFloat(op->getResult(0)) &&
        splat(op->getOperand(i)) == number)
      return op->getOperand(1 - i);
  return {};
}

namespace {
/// max(x, 0)
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
    if (!relu || !haveSameType(relu.getInput(), x))
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
      return real && real.getValueAsDouble() == number;
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
          !haveSameType(x, op.getResult()))
        continue;
      rewriter.replaceOpWithNewOp<SiluOp>(op, op.getType(), x);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no operand is the sigmoid of the other, for this op alone");
  }
};
} // namespace

void ttir::populateActivationFusions(RewritePatternSet &patterns, FusionState &state) {
  patterns.add<FuseRelu, FuseRelu6, FuseClamp, FuseSilu>(patterns.getContext(), state);
}
