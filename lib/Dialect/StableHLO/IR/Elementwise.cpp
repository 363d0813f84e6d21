//===- Elementwise.cpp - elementwise StableHLO ops ------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Shape.h"

using namespace mlir;
using namespace mlir::stablehlo;

/// Whether elements of this type can be compared in this way.
static bool canCompare(Type element, ComparisonType type) {
  switch (type) {
  case ComparisonType::NOTYPE:
    return true;
  case ComparisonType::FLOAT:
    return isa<FloatType, ComplexType>(element);
  case ComparisonType::TOTALORDER:
    return isa<FloatType>(element);
  case ComparisonType::SIGNED:
    return element.isSignlessInteger() && !element.isInteger(1);
  case ComparisonType::UNSIGNED:
    return element.isUnsignedInteger() || element.isInteger(1);
  }
  return false;
}

LogicalResult CompareOp::verify() {
  Type element = getLhs().getType().getElementType();
  if (std::optional<ComparisonType> type = getCompareType(); type && !canCompare(element, *type))
    return emitOpError() << "compares elements of type " << element << " as " << stringifyComparisonType(*type);
  ComparisonDirection direction = getComparisonDirection();
  if (isa<ComplexType>(element) && direction != ComparisonDirection::EQ && direction != ComparisonDirection::NE)
    return emitOpError() << "compares complex numbers with " << stringifyComparisonDirection(direction)
                         << "; only EQ and NE are defined";
  return success();
}

/// An operand that is a scalar, or has the shape of `type`.
static LogicalResult checkScalarOr(OptionalLoc loc, StringRef op, ValueRange operands, size_t index,
                                   RankedTensorType type) {
  FailureOr<RankedTensorType> operand = rankedOperand(loc, op, operands, index);
  if (failed(operand))
    return failure();
  if (operand->getRank() == 0 || succeeded(verifyCompatibleShape(*operand, type)))
    return success();
  return emitOptionalError(loc, op, ": operand ", index, " is ", *operand, "; expected a scalar or the shape of ",
                           type);
}

LogicalResult SelectOp::inferTypes(OptionalLoc loc, Adaptor adaptor, ResultTypes &types) {
  StringRef op = getOperationName();
  FailureOr<RankedTensorType> type = mergeTypes(loc, op, adaptor.getOperands().drop_front(), 1);
  if (failed(type) || failed(checkScalarOr(loc, op, adaptor.getOperands(), 0, *type)))
    return failure();
  types.push_back(*type);
  return success();
}

LogicalResult ClampOp::inferTypes(OptionalLoc loc, Adaptor adaptor, ResultTypes &types) {
  StringRef op = getOperationName();
  FailureOr<RankedTensorType> type = rankedOperand(loc, op, adaptor.getOperands(), 1);
  if (failed(type))
    return failure();
  for (size_t bound : {0, 2}) {
    if (failed(checkScalarOr(loc, op, adaptor.getOperands(), bound, *type)))
      return failure();
    Type boundType = adaptor.getOperands()[bound].getType();
    if (cast<RankedTensorType>(boundType).getElementType() != type->getElementType())
      return emitOptionalError(loc, op, ": operand ", bound, " is ", boundType, "; expected the element type of ",
                               *type, ", which operand 1 has");
  }
  types.push_back(*type);
  return success();
}

LogicalResult UniformQuantizeOp::verify() {
  Type from = getOperand().getType().getElementType();
  if (auto quantized = dyn_cast<quant::QuantizedType>(from))
    from = quantized.getExpressedType();
  Type to = cast<quant::QuantizedType>(getType().getElementType()).getExpressedType();
  if (from != to)
    return emitOpError() << "has an operand of " << from << " and a result that stands for " << to
                         << "; expected the same float type";
  return success();
}
