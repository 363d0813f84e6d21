//===- DataMovement.cpp - StableHLO data movement ops ---------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Shape.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace mlir::stablehlo;

/// The number of elements of a static shape, or nothing if it overflows.
static std::optional<int64_t> countElements(ArrayRef<int64_t> shape) {
  if (llvm::is_contained(shape, 0))
    return 0;
  std::optional<int64_t> count = 1;
  for (int64_t size : shape)
    count = count ? llvm::checkedMul(*count, size) : count;
  return count;
}

//===----------------------------------------------------------------------===//
// Ops whose result type the author chooses
//===----------------------------------------------------------------------===//

/// Bits of an element; a complex number has two parts.
static unsigned elementBits(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * complex.getElementType().getIntOrFloatBitWidth();
  if (auto quantized = dyn_cast<quant::QuantizedType>(element))
    return quantized.getStorageTypeIntegralWidth();
  return element.getIntOrFloatBitWidth();
}

/// Moved elements keep their type.
static LogicalResult verifySameElements(Operation *op, RankedTensorType from, RankedTensorType to) {
  if (agreeingElements(from.getElementType(), to.getElementType()))
    return success();
  return op->emitOpError() << "has elements of type " << from.getElementType() << " and a result of "
                           << to.getElementType() << "; expected the same";
}

LogicalResult BitcastConvertOp::verify() {
  RankedTensorType from = getOperand().getType(), to = getType();
  unsigned fromBits = elementBits(from.getElementType()), toBits = elementBits(to.getElementType());
  auto larger = fromBits > toBits ? from : to, smaller = fromBits > toBits ? to : from;
  ArrayRef<int64_t> shape = smaller.getShape();
  if (fromBits != toBits) {
    int64_t parts = std::max(fromBits, toBits) / std::min(fromBits, toBits);
    if (std::max(fromBits, toBits) % std::min(fromBits, toBits) != 0)
      return emitOpError() << "reads elements of " << fromBits << " bits as elements of " << toBits
                           << " bits; expected one to be a multiple of the other";
    if (shape.empty() || (shape.back() != parts && !ShapedType::isDynamic(shape.back())))
      return emitOpError() << "needs a last dimension of " << parts << " in " << smaller
                           << ", for the parts of an element of " << larger;
    shape = shape.drop_back();
  }
  if (failed(verifyCompatibleShape(shape, larger.getShape())))
    return emitOpError() << "has operand " << from << " and result " << to << "; expected the shapes to agree";
  return success();
}

LogicalResult BroadcastInDimOp::verify() {
  RankedTensorType from = getOperand().getType(), to = getType();
  ArrayRef<int64_t> dimensions = getBroadcastDimensions();
  if (failed(verifySameElements(*this, from, to)) ||
      failed(checkLength(getLoc(), getOperationName(), "dims", dimensions.size(), from.getRank())) ||
      failed(checkDimensions(getLoc(), getOperationName(), "dims", dimensions, to.getRank())))
    return failure();
  for (auto [index, dimension] : llvm::enumerate(dimensions)) {
    int64_t size = from.getDimSize(index);
    if (!ShapedType::isDynamic(size) && size != 1 && size != to.getDimSize(dimension))
      return emitOpError() << "places dimension " << index << " of size " << size << " in dimension " << dimension
                           << " of size " << to.getDimSize(dimension) << "; expected size 1 or the same size";
  }
  return success();
}

LogicalResult ReshapeOp::verify() {
  RankedTensorType from = getOperand().getType(), to = getType();
  if (failed(verifySameElements(*this, from, to)))
    return failure();
  if (!from.hasStaticShape())
    return success();
  std::optional<int64_t> fromCount = countElements(from.getShape()), toCount = countElements(to.getShape());
  if (!fromCount || !toCount)
    return emitOpError() << "has more elements than can be counted: " << from << ", " << to;
  if (*fromCount != *toCount)
    return emitOpError() << "has " << *fromCount << " elements in " << from << " and " << *toCount << " in " << to;
  return success();
}

//===----------------------------------------------------------------------===//
// Ops with an inferred result type
//===----------------------------------------------------------------------===//

LogicalResult BroadcastOp::inferTypes(OptionalLoc loc, Adaptor adaptor, ResultTypes &types) {
  StringRef op = getOperationName();
  FailureOr<RankedTensorType> type = rankedOperand(loc, op, adaptor.getOperands(), 0);
  if (failed(type))
    return failure();
  SmallVector<int64_t> shape(adaptor.getBroadcastSizes());
  for (int64_t size : shape)
    if (size < 0)
      return emitOptionalError(loc, op, ": sizes contains ", size, "; expected 0 or more");
  llvm::append_range(shape, type->getShape());
  types.push_back(RankedTensorType::get(shape, type->getElementType()));
  return success();
}

LogicalResult ConcatenateOp::inferTypes(OptionalLoc loc, Adaptor adaptor, ResultTypes &types) {
  StringRef op = getOperationName();
  ValueRange operands = adaptor.getOperands();
  if (operands.empty())
    return emitOptionalError(loc, op, ": has no operands; expected 1 or more");
  FailureOr<RankedTensorType> first = rankedOperand(loc, op, operands, 0);
  if (failed(first))
    return failure();
  size_t dimension = adaptor.getDimension();
  if (dimension >= static_cast<size_t>(first->getRank()))
    return emitOptionalError(loc, op, ": dim is ", dimension, "; expected less than the rank ", first->getRank());
  SmallVector<int64_t> shape(first->getShape());
  for (size_t index = 1; index < operands.size(); ++index) {
    FailureOr<RankedTensorType> type = rankedOperand(loc, op, operands, index);
    if (failed(type))
      return failure();
    if (type->getElementType() != first->getElementType() || type->getRank() != first->getRank())
      return emitOptionalError(loc, op, ": operand ", index, " is ", *type, "; expected the element type and rank of ",
                               *first, ", which operand 0 has");
    for (auto [i, size, other] : llvm::enumerate(shape, type->getShape())) {
      if (i == dimension) {
        std::optional<int64_t> sum = llvm::checkedAdd(size, other);
        if (!ShapedType::isDynamic(size) && !ShapedType::isDynamic(other) && !sum)
          return emitOptionalError(loc, op, ": the size of dimension ", i, " overflows");
        size = ShapedType::isDynamic(size) || ShapedType::isDynamic(other) ? ShapedType::kDynamic : *sum;
      } else if (ShapedType::isDynamic(size)) {
        size = other;
      } else if (size != other && !ShapedType::isDynamic(other)) {
        return emitOptionalError(loc, op, ": operand ", index, " has size ", other, " in dimension ", i,
                                 ", others have ", size, "; only dimension ", dimension, " may differ");
      }
    }
  }
  types.push_back(RankedTensorType::get(shape, first->getElementType()));
  return success();
}

/// A block of `sizes`, whose start is given by one scalar for each dimension of the operand, all of one type.
static LogicalResult checkBlock(OptionalLoc loc, StringRef op, RankedTensorType operand, ArrayRef<int64_t> sizes,
                                ValueRange starts) {
  if (failed(checkLength(loc, op, "sizes", sizes.size(), operand.getRank())) ||
      failed(checkLength(loc, op, "the list of start indices", starts.size(), operand.getRank())))
    return failure();
  for (auto [index, size, limit] : llvm::enumerate(sizes, operand.getShape()))
    if (!ShapedType::isDynamic(size) && (size < 0 || (!ShapedType::isDynamic(limit) && size > limit)))
      return emitOptionalError(loc, op, ": a block of size ", size, " does not fit dimension ", index, " of ", operand);
  if (!llvm::all_equal(starts.getTypes()))
    return emitOptionalError(loc, op, ": start indices are of different types");
  return success();
}

LogicalResult DynamicSliceOp::inferTypes(OptionalLoc loc, Adaptor adaptor, ResultTypes &types) {
  FailureOr<RankedTensorType> type = rankedOperand(loc, getOperationName(), adaptor.getOperands(), 0);
  if (failed(type) ||
      failed(checkBlock(loc, getOperationName(), *type, adaptor.getSliceSizes(), adaptor.getStartIndices())))
    return failure();
  for (int64_t size : adaptor.getSliceSizes())
    if (size < 0)
      return emitOptionalError(loc, getOperationName(), ": sizes contains ", size, "; expected 0 or more");
  types.push_back(RankedTensorType::get(adaptor.getSliceSizes(), type->getElementType()));
  return success();
}

LogicalResult DynamicUpdateSliceOp::inferTypes(OptionalLoc loc, Adaptor adaptor, ResultTypes &types) {
  StringRef op = getOperationName();
  FailureOr<RankedTensorType> type = rankedOperand(loc, op, adaptor.getOperands(), 0);
  FailureOr<RankedTensorType> update = rankedOperand(loc, op, adaptor.getOperands(), 1);
  if (failed(type) || failed(update))
    return failure();
  if (type->getElementType() != update->getElementType())
    return emitOptionalError(loc, op, ": operand 1 is ", *update, "; expected the element type of ", *type);
  if (failed(checkBlock(loc, op, *type, update->getShape(), adaptor.getStartIndices())))
    return failure();
  types.push_back(*type);
  return success();
}

LogicalResult PadOp::inferTypes(OptionalLoc loc, Adaptor adaptor, ResultTypes &types) {
  StringRef op = getOperationName();
  FailureOr<RankedTensorType> type = rankedOperand(loc, op, adaptor.getOperands(), 0);
  FailureOr<RankedTensorType> value = rankedOperand(loc, op, adaptor.getOperands(), 1);
  if (failed(type) || failed(value))
    return failure();
  if (value->getElementType() != type->getElementType())
    return emitOptionalError(loc, op, ": operand 1 is ", *value, "; expected a scalar with the element type of ",
                             *type);
  ArrayRef<int64_t> low = adaptor.getEdgePaddingLow(), high = adaptor.getEdgePaddingHigh(),
                    interior = adaptor.getInteriorPadding();
  int64_t rank = type->getRank();
  if (failed(checkLength(loc, op, "low", low.size(), rank)) ||
      failed(checkLength(loc, op, "high", high.size(), rank)) ||
      failed(checkLength(loc, op, "interior", interior.size(), rank)))
    return failure();
  SmallVector<int64_t> shape;
  for (auto [index, size] : llvm::enumerate(type->getShape())) {
    if (interior[index] < 0)
      return emitOptionalError(loc, op, ": interior contains ", interior[index], "; expected 0 or more");
    if (ShapedType::isDynamic(size)) {
      shape.push_back(size);
      continue;
    }
    std::optional<int64_t> result = llvm::checkedMulAdd<int64_t>(std::max<int64_t>(size - 1, 0), interior[index], size);
    result = result ? llvm::checkedAdd(*result, low[index]) : result;
    result = result ? llvm::checkedAdd(*result, high[index]) : result;
    if (!result || *result < 0)
      return emitOptionalError(loc, op, ": dimension ", index, " of size ", size, " padded by ", low[index], " and ",
                               high[index], result ? " has less than no elements" : " overflows");
    shape.push_back(*result);
  }
  types.push_back(RankedTensorType::get(shape, type->getElementType()));
  return success();
}

LogicalResult ReverseOp::inferTypes(OptionalLoc loc, Adaptor adaptor, ResultTypes &types) {
  FailureOr<RankedTensorType> type = rankedOperand(loc, getOperationName(), adaptor.getOperands(), 0);
  if (failed(type) ||
      failed(checkDimensions(loc, getOperationName(), "dims", adaptor.getDimensions(), type->getRank())))
    return failure();
  types.push_back(*type);
  return success();
}

LogicalResult SliceOp::inferTypes(OptionalLoc loc, Adaptor adaptor, ResultTypes &types) {
  StringRef op = getOperationName();
  FailureOr<RankedTensorType> type = rankedOperand(loc, op, adaptor.getOperands(), 0);
  if (failed(type))
    return failure();
  ArrayRef<int64_t> starts = adaptor.getStartIndices(), limits = adaptor.getLimitIndices(),
                    strides = adaptor.getStrides();
  int64_t rank = type->getRank();
  if (failed(checkLength(loc, op, "start_indices", starts.size(), rank)) ||
      failed(checkLength(loc, op, "limit_indices", limits.size(), rank)) ||
      failed(checkLength(loc, op, "strides", strides.size(), rank)))
    return failure();
  SmallVector<int64_t> shape;
  for (auto [index, size, start, limit, stride] : llvm::enumerate(type->getShape(), starts, limits, strides)) {
    if (start < 0 || limit < start || (!ShapedType::isDynamic(size) && limit > size))
      return emitOptionalError(loc, op, ": the range ", start, ":", limit, " does not fit dimension ", index, " of ",
                               *type);
    if (stride <= 0)
      return emitOptionalError(loc, op, ": the stride of dimension ", index, " is ", stride, "; expected 1 or more");
    shape.push_back(limit == start ? 0 : (limit - start - 1) / stride + 1);
  }
  types.push_back(RankedTensorType::get(shape, type->getElementType()));
  return success();
}

LogicalResult TransposeOp::inferTypes(OptionalLoc loc, Adaptor adaptor, ResultTypes &types) {
  StringRef op = getOperationName();
  FailureOr<RankedTensorType> type = rankedOperand(loc, op, adaptor.getOperands(), 0);
  if (failed(type) || failed(checkLength(loc, op, "dims", adaptor.getPermutation().size(), type->getRank())) ||
      failed(checkDimensions(loc, op, "dims", adaptor.getPermutation(), type->getRank())))
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t dimension : adaptor.getPermutation())
    shape.push_back(type->getDimSize(dimension));
  Type element = type->getElementType();
  if (auto quantized = dyn_cast<quant::UniformQuantizedPerAxisType>(element); quantized && hasQuantizedDimension(*type))
    element = quant::UniformQuantizedPerAxisType::get(
        quantized.getFlags(), quantized.getStorageType(), quantized.getExpressedType(), quantized.getScales(),
        quantized.getZeroPoints(),
        static_cast<int32_t>(llvm::find(adaptor.getPermutation(), quantized.getQuantizedDimension()) -
                             adaptor.getPermutation().begin()),
        quantized.getStorageTypeMin(), quantized.getStorageTypeMax());
  types.push_back(RankedTensorType::get(shape, element));
  return success();
}
