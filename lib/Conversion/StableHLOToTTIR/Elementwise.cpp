//===- Elementwise.cpp - lowering of elementwise StableHLO ops ------------===//

#include "Lowering.h"

using namespace mlir;
using namespace mlir::tt;

/// One op for i1, where StableHLO computes logically, and one for all other element types.
template <typename From, typename Logical, typename Other> static std::pair<StringRef, Rule> logicalRow() {
  return {From::getOperationName(), [](OpLowering &lowering) {
            bool logical = OpLowering::typeOf(lowering.op->getOperand(0)).getElementType().isInteger(1);
            StringRef name = logical ? Logical::getOperationName() : Other::getOperationName();
            return lowering.replace(lowering.makeNamed(name, lowering.resultType(), lowering.op->getOperands()));
          }};
}

static StringRef comparison(stablehlo::ComparisonDirection direction) {
  switch (direction) {
  case stablehlo::ComparisonDirection::EQ:
    return ttir::EqualOp::getOperationName();
  case stablehlo::ComparisonDirection::NE:
    return ttir::NotEqualOp::getOperationName();
  case stablehlo::ComparisonDirection::GE:
    return ttir::GreaterEqualOp::getOperationName();
  case stablehlo::ComparisonDirection::GT:
    return ttir::GreaterThanOp::getOperationName();
  case stablehlo::ComparisonDirection::LE:
    return ttir::LessEqualOp::getOperationName();
  case stablehlo::ComparisonDirection::LT:
    return ttir::LessThanOp::getOperationName();
  }
  return {};
}

static LogicalResult lowerCompare(OpLowering &lowering, stablehlo::CompareOp op) {
  if (op.getCompareType() == stablehlo::ComparisonType::TOTALORDER)
    return lowering.refuse("TTIR does not order NaN, nor -0 before 0, as TOTALORDER does");
  return lowering.replace(
      lowering.makeNamed(comparison(op.getComparisonDirection()), lowering.resultType(), op->getOperands()));
}

static LogicalResult lowerClamp(OpLowering &lowering, stablehlo::ClampOp op) {
  return lowering.replace(
      lowering.make<ttir::ClampTensorOp>(lowering.resultType(), op.getOperand(), op.getMin(), op.getMax()));
}

/// StableHLO's remainder has the sign of the dividend, TTIR's that of the divisor. Of integers it is what truncating
/// division leaves, also where that wraps around or divides by 0. Of floats it is taken of absolute values, where both
/// agree, and gets its sign afterwards.
static LogicalResult lowerRemainder(OpLowering &lowering, stablehlo::RemOp op) {
  RankedTensorType type = lowering.resultType();
  if (type.getElementType().isUnsignedInteger())
    return lowering.replace(lowering.make<ttir::RemainderOp>(type, op.getLhs(), op.getRhs()));
  if (isa<IntegerType>(type.getElementType())) {
    Value quotient = lowering.make<ttir::DivOp>(type, op.getLhs(), op.getRhs());
    Value product = lowering.make<ttir::MultiplyOp>(type, quotient, op.getRhs());
    return lowering.replace(lowering.make<ttir::SubtractOp>(type, op.getLhs(), product));
  }
  Value lhs = lowering.make<ttir::AbsOp>(type, op.getLhs());
  Value rhs = lowering.make<ttir::AbsOp>(type, op.getRhs());
  Value remainder = lowering.make<ttir::RemainderOp>(type, lhs, rhs);
  Value negated = lowering.make<ttir::NegOp>(type, remainder);
  RankedTensorType pred = type.clone(lowering.attributes().getI1Type());
  Value negative = lowering.make<ttir::LessThanOp>(pred, op.getLhs(), lowering.zeros(type));
  return lowering.replace(lowering.make<ttir::WhereOp>(type, negative, negated, remainder));
}

/// Copies of the highest bit come in, also where it is no sign: an unsigned operand is shifted as the signed integer of
/// its bits.
static LogicalResult lowerShiftRightArithmetic(OpLowering &lowering, stablehlo::ShiftRightArithmeticOp op) {
  RankedTensorType type = lowering.resultType();
  Type element = type.getElementType();
  if (!element.isUnsignedInteger())
    return lowering.replace(lowering.make<ttir::RightShiftOp>(type, op.getLhs(), op.getRhs()));
  Type plain = lowering.attributes().getIntegerType(element.getIntOrFloatBitWidth());
  Value value = lowering.typecast(op.getLhs(), plain);
  Value shifted = lowering.make<ttir::RightShiftOp>(type.clone(plain), value, op.getRhs());
  return lowering.replace(lowering.typecast(shifted, element));
}

/// TTIR's sign of NaN is 0, as in torch; StableHLO's is NaN.
static LogicalResult lowerSign(OpLowering &lowering, stablehlo::SignOp op) {
  RankedTensorType type = lowering.resultType();
  Value operand = op.getOperand();
  Value sign = lowering.make<ttir::SignOp>(type, operand);
  if (!isa<FloatType>(type.getElementType()))
    return lowering.replace(sign);
  Value isNaN = lowering.make<ttir::NotEqualOp>(type.clone(lowering.attributes().getI1Type()), operand, operand);
  return lowering.replace(lowering.make<ttir::WhereOp>(type, isNaN, operand, sign));
}

static LogicalResult lowerConvert(OpLowering &lowering, stablehlo::ConvertOp op) {
  Type from = op.getOperand().getType().getElementType();
  RankedTensorType type = lowering.resultType();
  // A typecast would round to 0 or 1; here every value but 0 is true.
  if (type.getElementType().isInteger(1) && !from.isInteger(1))
    return lowering.replace(
        lowering.make<ttir::NotEqualOp>(type, op.getOperand(), lowering.zeros(op.getOperand().getType())));
  return lowering.replace(lowering.makeNamed("ttir.typecast", type, op.getOperand()));
}

static LogicalResult lowerBitcast(OpLowering &lowering, stablehlo::BitcastConvertOp op) {
  if (op.getOperand().getType().getShape() != lowering.resultType().getShape())
    return lowering.refuse("elements are split into parts or joined, which ttir.bitcast_convert does not do");
  return lowering.replace(lowering.make<ttir::BitcastConvertOp>(lowering.resultType(), op.getOperand()));
}

/// Ops that TTIR has no counterpart for.
template <typename... OpTs> static void addMissing(Rules &rules) {
  auto refuse = [](OpLowering &lowering) { return lowering.refuse("TTIR has no op that computes this"); };
  (rules.insert({OpTs::getOperationName(), Rule(refuse, "")}), ...);
}

void tt::addElementwiseRules(Rules &rules) {
  for (auto &entry : {
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
           rule(lowerBitcast),
           rule(lowerClamp),
           rule(lowerCompare),
           rule(lowerConvert),
           rule(lowerRemainder),
           rule(lowerShiftRightArithmetic),
           rule(lowerSign),
       })
    rules.insert(entry);
  addMissing<stablehlo::ClzOp, stablehlo::PopulationCountOp, stablehlo::ReducePrecisionOp,
             stablehlo::RoundNearestEvenOp, stablehlo::RoundOp, stablehlo::ComplexOp, stablehlo::ImagOp,
             stablehlo::RealOp>(rules);
}
