//===- Matmul.cpp - StableHLO matrix products -----------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Shape.h"

using namespace mlir;
using namespace mlir::stablehlo;

/// A precision for each of the two operands, or none.
template <typename OpT> static LogicalResult checkPrecision(OpT op) {
  std::optional<ArrayAttr> precision = op.getPrecisionConfig();
  if (precision && !precision->empty() && precision->size() != 2)
    return op.emitOpError() << "has " << precision->size() << " precisions; expected one for each of 2 operands";
  return checkResultKind(op, op.getLhs().getType(), op.getType());
}

LogicalResult DotOp::verify() { return checkPrecision(*this); }
LogicalResult DotGeneralOp::verify() { return checkPrecision(*this); }

/// Pairs of dimensions of equal size, one of each operand.
static LogicalResult checkPairs(OptionalLoc loc, StringRef op, StringRef name, RankedTensorType lhs,
                                RankedTensorType rhs, ArrayRef<int64_t> lhsDimensions,
                                ArrayRef<int64_t> rhsDimensions) {
  if (lhsDimensions.size() != rhsDimensions.size())
    return emitOptionalError(loc, op, ": has ", lhsDimensions.size(), " ", name, " dimensions of lhs and ",
                             rhsDimensions.size(), " of rhs; expected the same number");
  for (auto [i, j] : llvm::zip_equal(lhsDimensions, rhsDimensions)) {
    int64_t left = lhs.getDimSize(i), right = rhs.getDimSize(j);
    if (left != right && !ShapedType::isDynamic(left) && !ShapedType::isDynamic(right))
      return emitOptionalError(loc, op, ": ", name, " dimensions ", i, " of lhs and ", j, " of rhs have sizes ", left,
                               " and ", right);
  }
  return success();
}

/// The batch dimensions, then those of each operand that are neither batch nor contracting.
static LogicalResult inferDot(OptionalLoc loc, StringRef op, ValueRange operands, ArrayRef<int64_t> lhsBatching,
                              ArrayRef<int64_t> rhsBatching, ArrayRef<int64_t> lhsContracting,
                              ArrayRef<int64_t> rhsContracting, ResultTypes &types) {
  FailureOr<RankedTensorType> lhs = rankedOperand(loc, op, operands, 0), rhs = rankedOperand(loc, op, operands, 1);
  if (failed(lhs) || failed(rhs))
    return failure();
  SmallVector<int64_t> lhsUsed(lhsBatching), rhsUsed(rhsBatching);
  llvm::append_range(lhsUsed, lhsContracting);
  llvm::append_range(rhsUsed, rhsContracting);
  if (failed(checkDimensions(loc, op, "lhs", lhsUsed, lhs->getRank())) ||
      failed(checkDimensions(loc, op, "rhs", rhsUsed, rhs->getRank())) ||
      failed(checkPairs(loc, op, "batching", *lhs, *rhs, lhsBatching, rhsBatching)) ||
      failed(checkPairs(loc, op, "contracting", *lhs, *rhs, lhsContracting, rhsContracting)))
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t dimension : lhsBatching)
    shape.push_back(lhs->getDimSize(dimension));
  auto appendOthers = [&](RankedTensorType type, ArrayRef<int64_t> used) {
    for (int64_t dimension = 0; dimension < type.getRank(); ++dimension)
      if (!llvm::is_contained(used, dimension))
        shape.push_back(type.getDimSize(dimension));
  };
  appendOthers(*lhs, lhsUsed);
  appendOthers(*rhs, rhsUsed);
  types.push_back(RankedTensorType::get(shape, lhs->getElementType()));
  return success();
}

LogicalResult DotOp::inferTypes(OptionalLoc loc, Adaptor adaptor, ResultTypes &types) {
  StringRef op = getOperationName();
  for (size_t index : {0, 1}) {
    FailureOr<RankedTensorType> type = rankedOperand(loc, op, adaptor.getOperands(), index);
    if (failed(type))
      return failure();
    if (type->getRank() != 1 && type->getRank() != 2)
      return emitOptionalError(loc, op, ": operand ", index, " is ", *type, "; expected a vector or a matrix");
  }
  int64_t last = cast<RankedTensorType>(adaptor.getLhs().getType()).getRank() - 1;
  return inferDot(loc, op, adaptor.getOperands(), {}, {}, {last}, {0}, types);
}

LogicalResult DotGeneralOp::inferTypes(OptionalLoc loc, Adaptor adaptor, ResultTypes &types) {
  DotDimensionNumbersAttr numbers = adaptor.getDotDimensionNumbers();
  return inferDot(loc, getOperationName(), adaptor.getOperands(), numbers.getLhsBatchingDimensions(),
                  numbers.getRhsBatchingDimensions(), numbers.getLhsContractingDimensions(),
                  numbers.getRhsContractingDimensions(), types);
}
