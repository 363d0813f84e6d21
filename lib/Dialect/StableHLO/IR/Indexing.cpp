//===- Indexing.cpp - StableHLO ops at computed positions -----------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Shape.h"

using namespace mlir;
using namespace mlir::stablehlo;

//===----------------------------------------------------------------------===//
// Dimension numbers
//===----------------------------------------------------------------------===//

namespace {
/// The dimension numbers of a gather or scatter, with their names in the op.
struct SliceDimensions {
  struct List {
    StringRef name;
    ArrayRef<int64_t> dims;
  };
  List window, dropped, batching, indicesBatching, map;
  int64_t indexVector;
};
} // namespace

static SliceDimensions dimensionsOf(GatherDimensionNumbersAttr attr) {
  return {{"offset_dims", attr.getOffsetDims()},
          {"collapsed_slice_dims", attr.getCollapsedSliceDims()},
          {"operand_batching_dims", attr.getOperandBatchingDims()},
          {"start_indices_batching_dims", attr.getStartIndicesBatchingDims()},
          {"start_index_map", attr.getStartIndexMap()},
          attr.getIndexVectorDim()};
}

static SliceDimensions dimensionsOf(ScatterDimensionNumbersAttr attr) {
  return {{"update_window_dims", attr.getUpdateWindowDims()},
          {"inserted_window_dims", attr.getInsertedWindowDims()},
          {"input_batching_dims", attr.getInputBatchingDims()},
          {"scatter_indices_batching_dims", attr.getScatterIndicesBatchingDims()},
          {"scatter_dims_to_operand_dims", attr.getScatterDimsToOperandDims()},
          attr.getIndexVectorDim()};
}

static bool areCompatible(int64_t a, int64_t b) {
  return a == b || ShapedType::isDynamic(a) || ShapedType::isDynamic(b);
}

static LogicalResult checkDisjoint(OptionalLoc loc, StringRef op, const SliceDimensions::List &a,
                                   const SliceDimensions::List &b) {
  for (int64_t dim : a.dims)
    if (llvm::is_contained(b.dims, dim))
      return emitOptionalError(loc, op, ": dimension ", dim, " is in ", a.name, " and in ", b.name);
  return success();
}

/// Verifies that the dimension numbers fit the operand that has the slices, and the indices. Returns the sizes of the
/// indices without that of the index vectors: with the sizes of the slices, they are the sizes of the result or update.
static FailureOr<SmallVector<int64_t>> checkSlices(OptionalLoc loc, StringRef op, const SliceDimensions &numbers,
                                                   RankedTensorType operand, RankedTensorType indices) {
  const int64_t rank = operand.getRank(), indexRank = indices.getRank();
  if (numbers.indexVector < 0 || numbers.indexVector > indexRank)
    return emitOptionalError(loc, op, ": index_vector_dim is ", numbers.indexVector, "; expected 0 to ", indexRank);
  SmallVector<int64_t> batch;
  for (auto [dim, size] : llvm::enumerate(indices.getShape()))
    if (static_cast<int64_t>(dim) != numbers.indexVector)
      batch.push_back(size);
  const int64_t vector = numbers.indexVector == indexRank ? 1 : indices.getDimSize(numbers.indexVector);
  if (!areCompatible(vector, numbers.map.dims.size()))
    return emitOptionalError(loc, op, ": ", numbers.map.name, " has ", numbers.map.dims.size(),
                             " values; expected one for each of ", vector, " indices of a vector");
  const int64_t slicesRank = batch.size() + numbers.window.dims.size();
  if (failed(checkDimensions(loc, op, numbers.window.name, numbers.window.dims, slicesRank)) ||
      failed(checkDimensions(loc, op, numbers.dropped.name, numbers.dropped.dims, rank)) ||
      failed(checkDimensions(loc, op, numbers.batching.name, numbers.batching.dims, rank)) ||
      failed(checkDimensions(loc, op, numbers.map.name, numbers.map.dims, rank)) ||
      failed(checkDimensions(loc, op, numbers.indicesBatching.name, numbers.indicesBatching.dims, indexRank)) ||
      failed(checkDisjoint(loc, op, numbers.dropped, numbers.batching)) ||
      failed(checkDisjoint(loc, op, numbers.map, numbers.batching)))
    return failure();
  for (const SliceDimensions::List *list : {&numbers.window, &numbers.dropped, &numbers.batching})
    if (!llvm::is_sorted(list->dims))
      return emitOptionalError(loc, op, ": ", list->name, " is not in ascending order");
  const size_t found = numbers.window.dims.size() + numbers.dropped.dims.size() + numbers.batching.dims.size();
  if (found != static_cast<size_t>(rank))
    return emitOptionalError(loc, op, ": ", numbers.window.name, ", ", numbers.dropped.name, " and ",
                             numbers.batching.name, " have ", found, " values; expected one for each of ", rank,
                             " dimensions");
  if (numbers.batching.dims.size() != numbers.indicesBatching.dims.size())
    return emitOptionalError(loc, op, ": ", numbers.batching.name, " has ", numbers.batching.dims.size(),
                             " values and ", numbers.indicesBatching.name, " ", numbers.indicesBatching.dims.size(),
                             "; expected the same number");
  for (auto [dim, other] : llvm::zip_equal(numbers.batching.dims, numbers.indicesBatching.dims)) {
    if (other == numbers.indexVector)
      return emitOptionalError(loc, op, ": ", numbers.indicesBatching.name, " names index_vector_dim ", other);
    if (!areCompatible(operand.getDimSize(dim), indices.getDimSize(other)))
      return emitOptionalError(loc, op, ": dimension ", dim, " of the operand and ", other,
                               " of the indices, which are batches, have sizes ", operand.getDimSize(dim), " and ",
                               indices.getDimSize(other));
  }
  return batch;
}

//===----------------------------------------------------------------------===//
// GatherOp
//===----------------------------------------------------------------------===//

LogicalResult GatherOp::inferTypes(OptionalLoc loc, Adaptor adaptor, ResultTypes &types) {
  StringRef op = getOperationName();
  FailureOr<RankedTensorType> operand = rankedOperand(loc, op, adaptor.getOperands(), 0);
  FailureOr<RankedTensorType> indices = rankedOperand(loc, op, adaptor.getOperands(), 1);
  if (failed(operand) || failed(indices))
    return failure();
  const SliceDimensions numbers = dimensionsOf(adaptor.getDimensionNumbers());
  ArrayRef<int64_t> sizes = adaptor.getSliceSizes();
  FailureOr<SmallVector<int64_t>> batch = checkSlices(loc, op, numbers, *operand, *indices);
  if (failed(batch) || failed(checkLength(loc, op, "slice_sizes", sizes.size(), operand->getRank())))
    return failure();
  for (auto [dim, size, limit] : llvm::enumerate(sizes, operand->getShape()))
    if (size < 0 || (!ShapedType::isDynamic(limit) && size > limit))
      return emitOptionalError(loc, op, ": slice_sizes has ", size, " for dimension ", dim, " of ", *operand);
  for (const SliceDimensions::List *list : {&numbers.dropped, &numbers.batching})
    for (int64_t dim : list->dims)
      if (sizes[dim] > 1)
        return emitOptionalError(loc, op, ": slice_sizes has ", sizes[dim], " for dimension ", dim, ", which is in ",
                                 list->name, "; expected 0 or 1");
  SmallVector<int64_t> kept;
  for (auto [dim, size] : llvm::enumerate(sizes))
    if (!llvm::is_contained(numbers.dropped.dims, dim) && !llvm::is_contained(numbers.batching.dims, dim))
      kept.push_back(size);
  SmallVector<int64_t> shape(batch->size() + kept.size());
  auto nextBatch = batch->begin(), nextKept = kept.begin();
  for (auto [dim, size] : llvm::enumerate(shape))
    size = llvm::is_contained(numbers.window.dims, dim) ? *nextKept++ : *nextBatch++;
  types.push_back(RankedTensorType::get(shape, operand->getElementType()));
  return success();
}

//===----------------------------------------------------------------------===//
// ScatterOp
//===----------------------------------------------------------------------===//

LogicalResult ScatterOp::inferTypes(OptionalLoc loc, Adaptor adaptor, ResultTypes &types) {
  StringRef op = getOperationName();
  ValueRange operands = adaptor.getOperands();
  if (operands.size() < 3 || operands.size() % 2 == 0)
    return emitOptionalError(loc, op, ": has ", operands.size(),
                             " operands; expected one or more inputs, indices, and updates for each input");
  const size_t count = operands.size() / 2;
  FailureOr<RankedTensorType> indices = rankedOperand(loc, op, operands, count);
  FailureOr<RankedTensorType> first = rankedOperand(loc, op, operands, 0);
  FailureOr<RankedTensorType> firstUpdate = rankedOperand(loc, op, operands, count + 1);
  if (failed(indices) || failed(first) || failed(firstUpdate))
    return failure();
  if (!isa<IntegerType>(indices->getElementType()) || indices->getElementType().isInteger(1))
    return emitOptionalError(loc, op, ": operand ", count, " is ", *indices, "; expected a tensor of integers");
  const SliceDimensions numbers = dimensionsOf(adaptor.getScatterDimensionNumbers());
  FailureOr<SmallVector<int64_t>> batch = checkSlices(loc, op, numbers, *first, *indices);
  if (failed(batch))
    return failure();
  for (size_t i = 0; i < count; ++i) {
    FailureOr<RankedTensorType> input = rankedOperand(loc, op, operands, i);
    FailureOr<RankedTensorType> update = rankedOperand(loc, op, operands, count + 1 + i);
    if (failed(input) || failed(update))
      return failure();
    if (failed(verifyCompatibleShape(*input, *first)))
      return emitOptionalError(loc, op, ": operand ", i, " is ", *input, "; expected the shape of ", *first);
    if (failed(verifyCompatibleShape(*update, *firstUpdate)))
      return emitOptionalError(loc, op, ": operand ", count + 1 + i, " is ", *update, "; expected the shape of ",
                               *firstUpdate);
    if (update->getElementType() != input->getElementType())
      return emitOptionalError(loc, op, ": operand ", count + 1 + i, " is ", *update, "; expected the element type of ",
                               *input);
    types.push_back(*input);
  }
  const int64_t rank = batch->size() + numbers.window.dims.size();
  if (firstUpdate->getRank() != rank)
    return emitOptionalError(loc, op, ": operand ", count + 1, " is ", *firstUpdate, "; expected rank ", rank);
  SmallVector<int64_t> windowDims;
  for (int64_t dim = 0; dim < first->getRank(); ++dim)
    if (!llvm::is_contained(numbers.dropped.dims, dim) && !llvm::is_contained(numbers.batching.dims, dim))
      windowDims.push_back(dim);
  auto nextBatch = batch->begin();
  auto nextWindow = windowDims.begin();
  for (auto [dim, size] : llvm::enumerate(firstUpdate->getShape())) {
    if (!llvm::is_contained(numbers.window.dims, dim)) {
      const int64_t expected = *nextBatch++;
      if (!areCompatible(size, expected))
        return emitOptionalError(loc, op, ": operand ", count + 1, " is ", *firstUpdate, "; expected size ", expected,
                                 " in dimension ", dim, ", as the indices have");
      continue;
    }
    const int64_t limit = first->getDimSize(*nextWindow);
    if (!ShapedType::isDynamic(size) && !ShapedType::isDynamic(limit) && size > limit)
      return emitOptionalError(loc, op, ": operand ", count + 1, " is ", *firstUpdate, ", whose dimension ", dim,
                               " does not fit dimension ", *nextWindow, " of ", *first);
    ++nextWindow;
  }
  return success();
}

LogicalResult ScatterOp::verifyRegions() {
  return verifyCombiner(*this, getUpdateComputation().front(), getNumOperands() / 2);
}

LogicalResult TorchIndexSelectOp::verify() {
  auto operand = cast<RankedTensorType>(getOperand().getType()), index = cast<RankedTensorType>(getIndex().getType());
  const int64_t dim = getDim(), batch = getBatchDims();
  if (dim < 0 || dim >= operand.getRank() || batch < 0 || batch > dim || batch > index.getRank())
    return emitOpError() << "dim is " << dim << " and batch_dims " << batch << "; expected a dimension of " << operand
                         << " behind batch dimensions that " << index << " has, too";
  SmallVector<int64_t> shape(operand.getShape().take_front(dim));
  llvm::append_range(shape, index.getShape().drop_front(batch));
  llvm::append_range(shape, operand.getShape().drop_front(dim + 1));
  if (auto expected = RankedTensorType::get(shape, operand.getElementType());
      !compatibleTypes(Type(expected), getType()))
    return emitOpError() << "has a result of type " << getType() << "; expected " << expected;
  return success();
}
