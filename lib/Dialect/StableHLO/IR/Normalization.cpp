//===- Normalization.cpp - StableHLO batch norms --------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Shape.h"

using namespace mlir;
using namespace mlir::stablehlo;

/// The type of the operand and that of its features, if all operands fit: those at `likeOperand` have the operand's
/// shape, the others one value for each feature.
template <class Adaptor>
static LogicalResult inferBatchNorm(OptionalLoc loc, StringRef op, Adaptor adaptor, size_t likeOperand,
                                    RankedTensorType &tensor, RankedTensorType &features) {
  ValueRange operands = adaptor.getOperands();
  FailureOr<RankedTensorType> first = rankedOperand(loc, op, operands, 0);
  if (failed(first))
    return failure();
  const size_t feature = adaptor.getFeatureIndex();
  if (feature >= static_cast<size_t>(first->getRank()))
    return emitOptionalError(loc, op, ": feature_index is ", feature, "; expected less than the rank ",
                             first->getRank());
  const int64_t size = first->getDimSize(feature);
  for (size_t i = 1; i < operands.size(); ++i) {
    FailureOr<RankedTensorType> type = rankedOperand(loc, op, operands, i);
    if (failed(type))
      return failure();
    if (type->getElementType() != first->getElementType())
      return emitOptionalError(loc, op, ": operand ", i, " is ", *type, "; expected the element type of ", *first);
    if (i == likeOperand) {
      if (failed(verifyCompatibleShape(*type, *first)))
        return emitOptionalError(loc, op, ": operand ", i, " is ", *type, "; expected the shape of ", *first);
      continue;
    }
    if (type->getRank() != 1 || (!ShapedType::isDynamic(size) && !type->isDynamicDim(0) && type->getDimSize(0) != size))
      return emitOptionalError(loc, op, ": operand ", i, " is ", *type, "; expected a value for each of ", size,
                               " features");
  }
  tensor = *first;
  features = RankedTensorType::get({size}, first->getElementType());
  return success();
}

LogicalResult BatchNormInferenceOp::inferTypes(OptionalLoc loc, Adaptor adaptor, ResultTypes &types) {
  RankedTensorType tensor, features;
  if (failed(inferBatchNorm(loc, getOperationName(), adaptor, 0, tensor, features)))
    return failure();
  types.push_back(tensor);
  return success();
}

LogicalResult BatchNormTrainingOp::inferTypes(OptionalLoc loc, Adaptor adaptor, ResultTypes &types) {
  RankedTensorType tensor, features;
  if (failed(inferBatchNorm(loc, getOperationName(), adaptor, 0, tensor, features)))
    return failure();
  types.append({tensor, features, features});
  return success();
}

LogicalResult BatchNormGradOp::inferTypes(OptionalLoc loc, Adaptor adaptor, ResultTypes &types) {
  RankedTensorType tensor, features;
  if (failed(inferBatchNorm(loc, getOperationName(), adaptor, 4, tensor, features)))
    return failure();
  types.append({tensor, features, features});
  return success();
}
