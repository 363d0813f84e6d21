//===- Ordering.cpp - StableHLO ops that order elements -------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Shape.h"

using namespace mlir;
using namespace mlir::stablehlo;

LogicalResult SortOp::inferTypes(OptionalLoc loc, Adaptor adaptor, ResultTypes &types) {
  StringRef op = getOperationName();
  ValueRange operands = adaptor.getOperands();
  if (operands.empty())
    return emitOptionalError(loc, op, ": has no operands; expected 1 or more");
  FailureOr<RankedTensorType> first = rankedOperand(loc, op, operands, 0);
  if (failed(first))
    return failure();
  const int64_t rank = first->getRank(), dimension = adaptor.getDimension();
  if (dimension < -rank || dimension >= rank)
    return emitOptionalError(loc, op, ": dimension is ", dimension, "; expected ", -rank, " to ", rank - 1);
  for (size_t i = 0; i < operands.size(); ++i) {
    FailureOr<RankedTensorType> type = rankedOperand(loc, op, operands, i);
    if (failed(type))
      return failure();
    if (failed(verifyCompatibleShape(*type, *first)))
      return emitOptionalError(loc, op, ": operand ", i, " is ", *type, "; expected the shape of ", *first);
    types.push_back(*type);
  }
  return success();
}

LogicalResult SortOp::verifyRegions() {
  Block &body = getComparator().front();
  const size_t count = 2 * getNumOperands();
  if (body.getNumArguments() != count)
    return emitOpError() << "has a region of " << body.getNumArguments() << " arguments; expected two for each of "
                         << getNumOperands() << " inputs";
  for (BlockArgument argument : body.getArguments()) {
    auto input = cast<RankedTensorType>(getOperand(argument.getArgNumber() / 2).getType());
    auto expected = RankedTensorType::get({}, input.getElementType());
    if (argument.getType() != expected)
      return emitOpError() << "has region argument " << argument.getArgNumber() << " of type " << argument.getType()
                           << "; expected " << expected;
  }
  ValueRange returned = body.getTerminator()->getOperands();
  auto expected = RankedTensorType::get({}, IntegerType::get(getContext(), 1));
  if (returned.size() != 1 || returned.front().getType() != expected)
    return body.getTerminator()->emitOpError() << "returns " << returned.getTypes() << "; expected " << expected;
  return success();
}
