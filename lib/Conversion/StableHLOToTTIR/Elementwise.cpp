//===- Elementwise.cpp - lowering of elementwise StableHLO ops ------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Patterns.h"

#include "ttmlir/Dialect/TTIR/IR/TTIROps.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

namespace {
/// The op `from` becomes `to`, of the same operands in the same order; where it computes with i1, it becomes `logical`.
struct Row {
  StringRef from, to, logical;
};

template <class From, class To> constexpr Row row() { return {From::getOperationName(), To::getOperationName(), {}}; }

/// One op for i1, where StableHLO computes logically, and one for all other element types.
template <class From, class Logical, class Other> constexpr Row logicalRow() {
  return {From::getOperationName(), Other::getOperationName(), Logical::getOperationName()};
}

class LowerByRow : public ConversionPattern {
public:
  LowerByRow(MLIRContext *context, const Row &row)
      : ConversionPattern(row.from, /*benefit=*/1, context, madeBy(row)), to(row.to, context),
        logical(row.logical.empty() ? row.to : row.logical, context) {}

  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                                ConversionPatternRewriter &rewriter) const override {
    bool isLogical = typeOf(op->getOperand(0)).getElementType().isInteger(1);
    OperationState state(op->getLoc(), isLogical ? logical : to, operands, op->getResultTypes());
    return replace(rewriter, op, rewriter.create(state)->getResult(0));
  }

private:
  static SmallVector<StringRef> madeBy(const Row &row) {
    return row.logical.empty() ? SmallVector<StringRef>{row.to} : SmallVector<StringRef>{row.to, row.logical};
  }
  OperationName to, logical;
};
} // namespace

static constexpr Row rows[] = {
    row<stablehlo::AbsOp, ttir::AbsOp>(),
    row<stablehlo::CbrtOp, ttir::CbrtOp>(),
    row<stablehlo::CeilOp, ttir::CeilOp>(),
    row<stablehlo::CosineOp, ttir::CosOp>(),
    row<stablehlo::ExpOp, ttir::ExpOp>(),
    row<stablehlo::Expm1Op, ttir::Expm1Op>(),
    row<stablehlo::FloorOp, ttir::FloorOp>(),
    row<stablehlo::IsFiniteOp, ttir::IsFiniteOp>(),
    row<stablehlo::Log1pOp, ttir::Log1pOp>(),
    row<stablehlo::LogOp, ttir::LogOp>(),
    row<stablehlo::LogisticOp, ttir::SigmoidOp>(),
    row<stablehlo::NegOp, ttir::NegOp>(),
    row<stablehlo::RsqrtOp, ttir::RsqrtOp>(),
    row<stablehlo::SineOp, ttir::SinOp>(),
    row<stablehlo::SqrtOp, ttir::SqrtOp>(),
    row<stablehlo::TanOp, ttir::TanOp>(),
    row<stablehlo::TanhOp, ttir::TanhOp>(),
    logicalRow<stablehlo::NotOp, ttir::LogicalNotOp, ttir::BitwiseNotOp>(),

    row<stablehlo::Atan2Op, ttir::Atan2Op>(),
    row<stablehlo::DivOp, ttir::DivOp>(),
    row<stablehlo::PowOp, ttir::PowOp>(),
    row<stablehlo::ShiftLeftOp, ttir::LogicalLeftShiftOp>(),
    row<stablehlo::ShiftRightLogicalOp, ttir::LogicalRightShiftOp>(),
    row<stablehlo::SubtractOp, ttir::SubtractOp>(),
    logicalRow<stablehlo::AddOp, ttir::LogicalOrOp, ttir::AddOp>(),
    logicalRow<stablehlo::AndOp, ttir::LogicalAndOp, ttir::BitwiseAndOp>(),
    logicalRow<stablehlo::MaxOp, ttir::LogicalOrOp, ttir::MaximumOp>(),
    logicalRow<stablehlo::MinOp, ttir::LogicalAndOp, ttir::MinimumOp>(),
    logicalRow<stablehlo::MulOp, ttir::LogicalAndOp, ttir::MultiplyOp>(),
    logicalRow<stablehlo::OrOp, ttir::LogicalOrOp, ttir::BitwiseOrOp>(),
    logicalRow<stablehlo::XorOp, ttir::LogicalXorOp, ttir::BitwiseXorOp>(),

    row<stablehlo::SelectOp, ttir::WhereOp>(),

    row<chlo::AcosOp, ttir::AcosOp>(),
    row<chlo::AsinOp, ttir::AsinOp>(),
    row<chlo::AsinhOp, ttir::AsinhOp>(),
    row<chlo::AtanOp, ttir::AtanOp>(),
    row<chlo::ErfOp, ttir::ErfOp>(),
    row<chlo::ErfcOp, ttir::ErfcOp>(),
    row<chlo::TanOp, ttir::TanOp>(),
};

//===----------------------------------------------------------------------===//
// Ops that differ
//===----------------------------------------------------------------------===//

static Value compare(ImplicitLocOpBuilder &builder, stablehlo::ComparisonDirection direction, Type type,
                     ValueRange operands) {
  switch (direction) {
  case stablehlo::ComparisonDirection::EQ:
    return make<ttir::EqualOp>(builder, type, operands);
  case stablehlo::ComparisonDirection::NE:
    return make<ttir::NotEqualOp>(builder, type, operands);
  case stablehlo::ComparisonDirection::GE:
    return make<ttir::GreaterEqualOp>(builder, type, operands);
  case stablehlo::ComparisonDirection::GT:
    return make<ttir::GreaterThanOp>(builder, type, operands);
  case stablehlo::ComparisonDirection::LE:
    return make<ttir::LessEqualOp>(builder, type, operands);
  case stablehlo::ComparisonDirection::LT:
    return make<ttir::LessThanOp>(builder, type, operands);
  }
  llvm_unreachable("every direction is handled");
}

namespace {
struct LowerCompare : OpConversionPattern<stablehlo::CompareOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::CompareOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (op.getCompareType() == stablehlo::ComparisonType::TOTALORDER)
      return notifyMatchFailure(rewriter, op, "TTIR does not order NaN, nor -0 before 0, as TOTALORDER does");
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    return replace(rewriter, op, compare(builder, op.getComparisonDirection(), op.getType(), adaptor.getOperands()));
  }
};

struct LowerClamp : OpConversionPattern<stablehlo::ClampOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::ClampOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    return replace(rewriter, op,
                   ttir::ClampTensorOp::create(rewriter, op.getLoc(), op.getType(), adaptor.getOperand(),
                                               adaptor.getMin(), adaptor.getMax()));
  }
};

/// StableHLO's remainder has the sign of the dividend, TTIR's that of the divisor. Of integers it is what truncating
/// division leaves, also where that wraps around or divides by 0. Of floats it is taken of absolute values, where both
/// agree, and gets its sign afterwards.
struct LowerRemainder : OpConversionPattern<stablehlo::RemOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::RemOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    RankedTensorType type = typeOf(op.getResult());
    Value lhs = adaptor.getLhs(), rhs = adaptor.getRhs();
    if (type.getElementType().isUnsignedInteger())
      return replace(rewriter, op, make<ttir::RemainderOp>(builder, type, {lhs, rhs}));
    if (isa<IntegerType>(type.getElementType())) {
      Value quotient = make<ttir::DivOp>(builder, type, {lhs, rhs});
      Value product = make<ttir::MultiplyOp>(builder, type, {quotient, rhs});
      return replace(rewriter, op, make<ttir::SubtractOp>(builder, type, {lhs, product}));
    }
    Value absoluteLhs = make<ttir::AbsOp>(builder, type, lhs);
    Value absoluteRhs = make<ttir::AbsOp>(builder, type, rhs);
    Value remainder = make<ttir::RemainderOp>(builder, type, {absoluteLhs, absoluteRhs});
    return replace(rewriter, op, withSign(builder, remainder, lhs));
  }
};

/// Copies of the highest bit come in, also where it is no sign: an unsigned operand is shifted as the signed integer of
/// its bits.
struct LowerShiftRightArithmetic : OpConversionPattern<stablehlo::ShiftRightArithmeticOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::ShiftRightArithmeticOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    RankedTensorType type = typeOf(op.getResult());
    Type element = type.getElementType();
    Type plain = element.isUnsignedInteger() ? rewriter.getIntegerType(element.getIntOrFloatBitWidth()) : element;
    Value value = typecast(builder, adaptor.getLhs(), plain);
    Value shifted = make<ttir::RightShiftOp>(builder, type.clone(plain), {value, adaptor.getRhs()});
    return replace(rewriter, op, typecast(builder, shifted, element));
  }
};

/// TTIR's sign of NaN and of -0 is 0, as in torch; StableHLO's is the operand.
struct LowerSign : OpConversionPattern<stablehlo::SignOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::SignOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    RankedTensorType type = typeOf(op.getResult());
    Value operand = adaptor.getOperand();
    Value sign = make<ttir::SignOp>(builder, type, operand);
    if (!isa<FloatType>(type.getElementType()))
      return replace(rewriter, op, sign);
    Value magnitude = make<ttir::AbsOp>(builder, type, operand);
    Value hasSign =
        make<ttir::GreaterThanOp>(builder, type.clone(rewriter.getI1Type()), {magnitude, zeros(builder, type)});
    return replace(rewriter, op, make<ttir::WhereOp>(builder, type, {hasSign, sign, operand}));
  }
};

struct LowerConvert : OpConversionPattern<stablehlo::ConvertOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::ConvertOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    RankedTensorType from = typeOf(op.getOperand()), type = typeOf(op.getResult());
    // A typecast would round to 0 or 1; here every value but 0 is true.
    if (type.getElementType().isInteger(1) && !from.getElementType().isInteger(1)) {
      Value zero = zeros(builder, from);
      return replace(rewriter, op, make<ttir::NotEqualOp>(builder, type, {adaptor.getOperand(), zero}));
    }
    return replace(rewriter, op,
                   ttir::TypecastOp::create(builder, type, adaptor.getOperand(), /*conservative_folding=*/false));
  }
};

struct LowerBitcast : OpConversionPattern<stablehlo::BitcastConvertOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::BitcastConvertOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (typeOf(op.getOperand()).getShape() != typeOf(op.getResult()).getShape())
      return notifyMatchFailure(rewriter, op,
                                "elements are split into parts or joined, which ttir.bitcast_convert does not do");
    return replace(rewriter, op,
                   ttir::BitcastConvertOp::create(rewriter, op.getLoc(), op.getType(), adaptor.getOperand()));
  }
};
} // namespace

void hlo::addElementwisePatterns(RewritePatternSet &patterns) {
  for (const Row &row : rows)
    patterns.add(std::make_unique<LowerByRow>(patterns.getContext(), row));
  patterns
      .add<LowerBitcast, LowerClamp, LowerCompare, LowerConvert, LowerRemainder, LowerShiftRightArithmetic, LowerSign>(
          patterns.getContext());
}
