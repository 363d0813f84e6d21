//===- Collective.cpp - StableHLO ops across devices ----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Shape.h"

using namespace mlir;
using namespace mlir::stablehlo;

/// Groups of devices: a matrix of device numbers, each at most once, padded with -1.
static LogicalResult checkGroups(Operation *op, Attribute groups, StringRef name, bool pairs = false) {
  auto numbers = dyn_cast<DenseIntElementsAttr>(groups);
  if (!numbers) // along axes of a mesh
    return success();
  ShapedType type = numbers.getType();
  if (type.getRank() != 2 || (pairs && type.getDimSize(1) != 2 && type.getNumElements() != 0))
    return op->emitOpError() << name << " is " << type << "; expected " << (pairs ? "pairs" : "groups")
                             << " of device numbers, a matrix";
  const int64_t columns = type.getDimSize(1);
  llvm::DenseSet<std::pair<int64_t, int64_t>> seen;
  for (auto [index, number] : llvm::enumerate(numbers.getValues<int64_t>())) {
    if (number == -1 && !pairs)
      continue;
    if (number < 0)
      return op->emitOpError() << name << " names device " << number << "; expected 0 or more";
    if (!seen.insert({pairs ? static_cast<int64_t>(index) % columns : 0, number}).second)
      return op->emitOpError() << name << " names device " << number << " twice";
  }
  return success();
}

static LogicalResult checkCount(Operation *op) {
  if (op->getNumOperands() == 0 || op->getNumOperands() != op->getNumResults())
    return op->emitOpError() << "has " << op->getNumOperands() << " operands and " << op->getNumResults()
                             << " results; expected one result for each operand, and at least one";
  return success();
}

/// The result of an operand whose sizes are changed by `change(dimension, size)`.
template <class F> static LogicalResult checkResults(Operation *op, F change) {
  for (auto [operand, result] : llvm::zip_equal(op->getOperandTypes(), op->getResultTypes())) {
    auto from = cast<RankedTensorType>(operand);
    SmallVector<int64_t> shape;
    for (auto [dimension, size] : llvm::enumerate(from.getShape()))
      shape.push_back(ShapedType::isDynamic(size) ? size : change(static_cast<int64_t>(dimension), size));
    if (auto expected = RankedTensorType::get(shape, from.getElementType());
        !compatibleTypes(Type(expected), Type(result)))
      return op->emitOpError() << "has a result of type " << result << "; expected " << expected;
  }
  return success();
}
static int64_t keep(int64_t, int64_t size) { return size; }

static LogicalResult checkDimension(Operation *op, StringRef name, int64_t dimension) {
  for (Type type : op->getOperandTypes())
    if (dimension >= cast<RankedTensorType>(type).getRank())
      return op->emitOpError() << name << " is " << dimension << "; expected less than the rank of " << type;
  return success();
}

static int64_t groupSize(Attribute groups) {
  auto numbers = dyn_cast<DenseIntElementsAttr>(groups);
  return numbers ? numbers.getType().getDimSize(1) : ShapedType::kDynamic;
}

LogicalResult AllGatherOp::verify() {
  const int64_t size = groupSize(getReplicaGroups());
  if (failed(checkCount(*this)) || failed(checkGroups(*this, getReplicaGroups(), "replica_groups")) ||
      failed(checkDimension(*this, "all_gather_dim", getAllGatherDim())))
    return failure();
  if (ShapedType::isDynamic(size) || size == 0)
    return success();
  return checkResults(*this, [&](int64_t dimension, int64_t extent) {
    return dimension == static_cast<int64_t>(getAllGatherDim()) ? extent * size : extent;
  });
}

LogicalResult AllToAllOp::verify() {
  if (failed(checkCount(*this)) || failed(checkGroups(*this, getReplicaGroups(), "replica_groups")) ||
      failed(checkDimension(*this, "split_dimension", getSplitDimension())) ||
      failed(checkDimension(*this, "concat_dimension", getConcatDimension())))
    return failure();
  const auto split = static_cast<int64_t>(getSplitDimension()), concat = static_cast<int64_t>(getConcatDimension()),
             count = static_cast<int64_t>(getSplitCount());
  for (Type type : getOperandTypes())
    if (const int64_t size = cast<RankedTensorType>(type).getDimSize(split);
        !ShapedType::isDynamic(size) && size % count != 0)
      return emitOpError() << "split_count is " << count << "; expected a divisor of the " << size
                           << " elements of dimension " << split;
  if (const int64_t size = groupSize(getReplicaGroups()); !ShapedType::isDynamic(size) && size != count)
    return emitOpError() << "split_count is " << count << "; expected the " << size << " devices of a group";
  return checkResults(*this, [&](int64_t dimension, int64_t size) {
    return split == concat ? size : dimension == split ? size / count : dimension == concat ? size * count : size;
  });
}

LogicalResult CollectiveBroadcastOp::verify() {
  return success(succeeded(checkCount(*this)) && succeeded(checkGroups(*this, getReplicaGroups(), "replica_groups")) &&
                 (getHasDynamicRoot() || succeeded(checkResults(*this, keep))));
}

LogicalResult CollectivePermuteOp::verify() {
  return success(succeeded(checkGroups(*this, getSourceTargetPairs(), "source_target_pairs", /*pairs=*/true)) &&
                 succeeded(checkResults(*this, keep)));
}

LogicalResult CrossReplicaSumOp::verify() {
  return success(succeeded(checkGroups(*this, getReplicaGroups(), "replica_groups")) &&
                 succeeded(checkResults(*this, keep)));
}

/// One region combines the elements of each operand.
static LogicalResult checkComputation(Operation *op, Region &computation) {
  Block &block = computation.front();
  auto scalarOf = [](Type type) { return RankedTensorType::get({}, cast<RankedTensorType>(type).getElementType()); };
  for (Type type : op->getResultTypes()) {
    Type scalar = scalarOf(type);
    if (block.getNumArguments() != 2 || block.getArgumentTypes() != TypeRange({scalar, scalar}))
      return op->emitOpError() << "has a computation of (" << block.getArgumentTypes() << "); expected two of "
                               << scalar;
    if (block.getTerminator()->getOperandTypes() != TypeRange({scalar}))
      return block.getTerminator()->emitOpError()
             << "returns (" << block.getTerminator()->getOperandTypes() << "); expected " << scalar;
  }
  return success();
}

LogicalResult AllReduceOp::verifyRegions() {
  if (failed(checkCount(*this)) || failed(checkGroups(*this, getReplicaGroups(), "replica_groups")))
    return failure();
  for (auto [operand, result] : llvm::zip_equal(getOperandTypes(), getResultTypes()))
    if (failed(verifyCompatibleShape(operand, result)))
      return emitOpError() << "has a result of type " << result << "; expected the shape of " << operand;
  return checkComputation(*this, getComputation());
}

LogicalResult CollectiveReduceOp::verifyRegions() {
  if (failed(checkCount(*this)) || failed(checkGroups(*this, getReplicaGroups(), "replica_groups")))
    return failure();
  for (auto [from, to] : llvm::zip_equal(getOperandTypes(), getResultTypes()))
    if (failed(verifyCompatibleShape(from, to)))
      return emitOpError() << "has a result of type " << to << "; expected the shape of " << from;
  return checkComputation(*this, getComputation());
}

LogicalResult ReduceScatterOp::verifyRegions() {
  const int64_t size = groupSize(getReplicaGroups()), dimension = static_cast<int64_t>(getScatterDimension());
  if (failed(checkGroups(*this, getReplicaGroups(), "replica_groups")) ||
      failed(checkDimension(*this, "scatter_dimension", dimension)))
    return failure();
  auto from = cast<RankedTensorType>(getOperand().getType()), to = cast<RankedTensorType>(getResult().getType());
  SmallVector<int64_t> shape(from.getShape());
  if (!ShapedType::isDynamic(size) && size != 0 && !from.isDynamicDim(dimension)) {
    if (shape[dimension] % size != 0)
      return emitOpError() << "dimension " << dimension << " of " << from << " does not split into " << size
                           << " pieces, one for each device of a group";
    shape[dimension] /= size;
    if (failed(verifyCompatibleShape(shape, to.getShape())))
      return emitOpError() << "has a result of type " << to << "; expected the shape of "
                           << RankedTensorType::get(shape, to.getElementType());
    return checkComputation(*this, getComputation());
  }
  // The number of devices depends on a mesh: the result has a part of the dimension.
  if (to.getRank() == from.getRank())
    shape[dimension] = to.getDimSize(dimension);
  const bool isPart =
      from.isDynamicDim(dimension) || ShapedType::isDynamic(shape[dimension]) ||
      (shape[dimension] == 0 ? from.getDimSize(dimension) == 0 : from.getDimSize(dimension) % shape[dimension] == 0);
  if (failed(verifyCompatibleShape(shape, to.getShape())) || !isPart)
    return emitOpError() << "has a result of type " << to << "; expected the shape of " << from
                         << " with a part of dimension " << dimension;
  return checkComputation(*this, getComputation());
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

LogicalResult AsyncStartOp::verifyRegions() {
  Block &block = getBody().front();
  if (block.getArgumentTypes() != getOperandTypes())
    return emitOpError() << "has a body of (" << block.getArgumentTypes() << "); expected the types of the operands, ("
                         << getOperandTypes() << ")";
  ArrayRef<Type> types = cast<FutureType>(getType()).getTypes();
  if (block.getTerminator()->getOperandTypes() != TypeRange(types))
    return emitOpError() << "has a body that returns (" << block.getTerminator()->getOperandTypes()
                         << "); expected the types of the future, (" << types << ")";
  return success();
}

LogicalResult AsyncDoneOp::verify() {
  ArrayRef<Type> types = cast<FutureType>(getOperand().getType()).getTypes();
  if (getResultTypes() != TypeRange(types))
    return emitOpError() << "has results of types (" << getResultTypes() << "); expected those of the future, ("
                         << types << ")";
  return success();
}

/// A layout lists the dimensions of a result from the fastest to the slowest; tokens have none.
LogicalResult InfeedOp::verify() {
  std::optional<ArrayAttr> layout = getLayout();
  if (!layout)
    return success();
  if (layout->size() + 1 != getNumResults())
    return emitOpError() << "has " << layout->size() << " layouts; expected one for each of "
                         << static_cast<int64_t>(getNumResults()) - 1 << " results before the token";
  for (auto [each, type] : llvm::zip(*layout, getResultTypes())) {
    auto order = dyn_cast<ArrayAttr>(each);
    auto shaped = dyn_cast<RankedTensorType>(type);
    if (!order || !llvm::all_of(order, llvm::IsaPred<IntegerAttr>) ||
        (shaped && static_cast<int64_t>(order.size()) != shaped.getRank()))
      return emitOpError() << "has a layout " << each << " for " << type << "; expected one number for each dimension";
  }
  return success();
}
