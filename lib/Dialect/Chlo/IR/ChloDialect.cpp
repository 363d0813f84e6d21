//===- ChloDialect.cpp - the CHLO dialect ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/Chlo/IR/Chlo.h"

using namespace mlir;
using namespace mlir::chlo;

#include "ttmlir/Dialect/Chlo/IR/ChloOpsDialect.cpp.inc"

void ChloDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "ttmlir/Dialect/Chlo/IR/ChloOps.cpp.inc"
      >();
}

/// Inference is called before any verifier, with operands of any number and type.
static FailureOr<RankedTensorType> onlyOperand(std::optional<Location> location, StringRef op, ValueRange operands) {
  auto type = operands.size() == 1 ? dyn_cast<RankedTensorType>(operands.front().getType()) : RankedTensorType();
  if (type)
    return type;
  return emitOptionalError(location, op, ": has ", operands.size(), " operands; expected one ranked tensor");
}

namespace mlir::chlo::detail {
static LogicalResult inferPredicate(std::optional<Location> location, StringRef op, ValueRange operands,
                                    SmallVectorImpl<Type> &types) {
  FailureOr<RankedTensorType> type = onlyOperand(location, op, operands);
  if (failed(type))
    return failure();
  types.push_back(type->clone(IntegerType::get(type->getContext(), 1)));
  return success();
}
} // namespace mlir::chlo::detail

#define GET_OP_CLASSES
#include "ttmlir/Dialect/Chlo/IR/ChloOps.cpp.inc"

LogicalResult TopKOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, ValueRange operands,
                                       DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
                                       SmallVectorImpl<Type> &types) {
  StringRef op = getOperationName();
  FailureOr<RankedTensorType> type = onlyOperand(location, op, operands);
  Adaptor adaptor(operands, attributes, properties, regions);
  if (failed(type) || failed(adaptor.verify(location.value_or(UnknownLoc::get(context)))))
    return failure();
  if (type->getRank() == 0)
    return emitOptionalError(location, op, ": operand is ", *type, "; expected rank 1 or more");
  const auto k = static_cast<int64_t>(adaptor.getK());
  const int64_t size = type->getShape().back();
  if (k < 0 || (!ShapedType::isDynamic(size) && k > size))
    return emitOptionalError(location, op, ": k is ", k, "; expected 0 to ", size, ", the last size of ", *type);
  SmallVector<int64_t> shape(type->getShape());
  shape.back() = k;
  types.push_back(type->clone(shape));
  types.push_back(RankedTensorType::get(shape, IntegerType::get(context, 32)));
  return success();
}
