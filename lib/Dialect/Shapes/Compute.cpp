//===- Compute.cpp - shapes of elementwise ops, reductions and products ---===//

#include "Detail.h"

using namespace mlir;
using namespace mlir::tt::shapes;

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

LogicalResult tt::shapes::broadcast(const Reporter &report, ValueRange operands, Types &results, unsigned typeOperand) {
  Shape shape;
  RankedTensorType like;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    FailureOr<RankedTensorType> type = ranked(report, operand, std::to_string(i));
    if (failed(type))
      return failure();
    FailureOr<Shape> both =
        i == 0 ? Shape(type->getShape()) : broadcastShapes(report, shape, type->getShape(), "operand shapes");
    if (failed(both))
      return failure();
    shape = std::move(*both);
    if (i == typeOperand)
      like = *type;
  }
  return push(report, shape, like, results);
}

LogicalResult tt::shapes::integerBroadcast(const Reporter &report, ValueRange operands, Types &results) {
  for (auto [i, operand] : llvm::enumerate(operands))
    if (!getElementTypeOrSelf(operand.getType()).isInteger())
      return report.error("operand '", static_cast<int64_t>(i), "' is ", operand.getType(), "; expected integers");
  return broadcast(report, operands, results);
}

LogicalResult tt::shapes::clamp(const Reporter &report, ValueRange operands, Attribute min, Attribute max,
                                Types &results) {
  if (cast<TypedAttr>(min).getType() != cast<TypedAttr>(max).getType())
    return report.error("attributes 'min' and 'max' are ", min, " and ", max, "; expected the same type");
  return broadcast(report, operands, results);
}

LogicalResult tt::shapes::geluBackward(const Reporter &report, ValueRange operands, StringRef approximate,
                                       Types &results) {
  if (approximate != "none" && approximate != "tanh")
    return report.error("attribute 'approximate' is \"", approximate, "\"; expected \"none\" or \"tanh\"");
  return broadcast(report, operands, results);
}

LogicalResult tt::shapes::same(const Reporter &report, Value input, Types &results) {
  FailureOr<RankedTensorType> type = ranked(report, input, "0");
  if (failed(type))
    return failure();
  results.push_back(*type);
  return success();
}

LogicalResult tt::shapes::alongDimension(const Reporter &report, Value input, StringRef name, int64_t dimension,
                                         Types &results) {
  FailureOr<RankedTensorType> type = ranked(report, input, "input");
  if (failed(type) || failed(axis(report, name, dimension, type->getRank())))
    return failure();
  results.push_back(*type);
  return success();
}

//===----------------------------------------------------------------------===//
// Reductions and orderings
//===----------------------------------------------------------------------===//

/// The shape without `dims`, or with size 1 there; no `dims` means all.
static FailureOr<Shape> reducedShape(const Reporter &report, RankedTensorType type, StringRef name,
                                     std::optional<ArrayRef<int64_t>> dims, bool keepDim) {
  SmallVector<bool> reduced(type.getRank(), !dims);
  for (int64_t dim : dims.value_or(ArrayRef<int64_t>())) {
    FailureOr<int64_t> position = axis(report, name, dim, type.getRank());
    if (failed(position))
      return failure();
    if (std::exchange(reduced[*position], true))
      return report.error("attribute '", name, "' names dimension ", *position, " twice");
  }
  Shape shape;
  for (auto [size, isReduced] : llvm::zip(type.getShape(), reduced))
    if (!isReduced)
      shape.push_back(size);
    else if (keepDim)
      shape.push_back(1);
  return shape;
}

static Type positionType(RankedTensorType type) { return IntegerType::get(type.getContext(), 32); }

static LogicalResult reduce(const Reporter &report, Value input, ArrayAttr dimensions, bool keepDim, bool positions,
                            Types &results) {
  FailureOr<RankedTensorType> type = ranked(report, input, "input");
  if (failed(type))
    return failure();
  std::optional<Shape> dims;
  if (dimensions) {
    FailureOr<Shape> values = integers(report, dimensions, "dim_arg", std::nullopt);
    if (failed(values))
      return failure();
    dims = std::move(*values);
  }
  if (positions && dims && dims->size() > 1)
    return report.error("attribute 'dim_arg' names ", static_cast<int64_t>(dims->size()),
                        " dimensions; expected one, or no attribute for all");
  // Like the reference, an empty list means all dimensions.
  bool all = !dims || dims->empty();
  FailureOr<Shape> shape =
      reducedShape(report, *type, "dim_arg", all ? std::nullopt : std::optional<ArrayRef<int64_t>>(*dims), keepDim);
  if (failed(shape))
    return failure();
  return positions ? push(report, *shape, positionType(*type), results) : push(report, *shape, *type, results);
}

LogicalResult tt::shapes::reduction(const Reporter &report, Value input, ArrayAttr dimensions, bool keepDim,
                                    Types &results) {
  return reduce(report, input, dimensions, keepDim, /*positions=*/false, results);
}

LogicalResult tt::shapes::argMax(const Reporter &report, Value input, ArrayAttr dimensions, bool keepDim,
                                 Types &results) {
  return reduce(report, input, dimensions, keepDim, /*positions=*/true, results);
}

LogicalResult tt::shapes::reductionOfOne(const Reporter &report, Value input, StringRef name,
                                         std::optional<int64_t> dimension, bool keepDim, bool positions,
                                         Types &results) {
  FailureOr<RankedTensorType> type = ranked(report, input, "input");
  if (failed(type))
    return failure();
  std::optional<ArrayRef<int64_t>> dims;
  if (dimension)
    dims = ArrayRef<int64_t>(*dimension);
  FailureOr<Shape> shape = reducedShape(report, *type, name, dims, keepDim);
  if (failed(shape))
    return failure();
  return positions ? push(report, *shape, positionType(*type), results) : push(report, *shape, *type, results);
}

LogicalResult tt::shapes::sort(const Reporter &report, Value input, int64_t dimension, Types &results) {
  if (failed(alongDimension(report, input, "dim", dimension, results)))
    return failure();
  auto type = cast<RankedTensorType>(results.back());
  return push(report, type.getShape(), positionType(type), results);
}

LogicalResult tt::shapes::topK(const Reporter &report, Value input, int64_t k, int64_t dimension, Types &results) {
  FailureOr<RankedTensorType> type = ranked(report, input, "input_tensor");
  if (failed(type))
    return failure();
  FailureOr<int64_t> position = axis(report, "dim", dimension, type->getRank());
  if (failed(position))
    return failure();
  Shape shape(type->getShape());
  if (k < 1 || k > shape[*position])
    return report.error("attribute 'k' is ", k, "; expected 1 to ", shape[*position], ", the size of dimension ",
                        *position);
  shape[*position] = k;
  return success(succeeded(push(report, shape, *type, results)) &&
                 succeeded(push(report, shape, positionType(*type), results)));
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

namespace {
/// A matrix operand: batch dimensions, rows, columns. A vector lacks one.
struct Matrix {
  ArrayRef<int64_t> batch;
  int64_t rows, columns;
  bool isVector;
};
} // namespace

static FailureOr<Matrix> matrix(const Reporter &report, RankedTensorType type, StringRef name, bool isLeft,
                                bool transposed) {
  ArrayRef<int64_t> shape = type.getShape();
  if (shape.empty())
    return report.error("operand '", name, "' is ", type, "; expected rank 1 or more");
  if (shape.size() == 1) {
    if (transposed)
      return report.error("attribute 'transpose_", name, "' is set, but operand '", name, "' is ", type,
                          "; a vector has nothing to transpose");
    return isLeft ? Matrix{{}, 1, shape[0], true} : Matrix{{}, shape[0], 1, true};
  }
  int64_t rows = shape[shape.size() - 2], columns = shape.back();
  if (transposed)
    std::swap(rows, columns);
  return Matrix{shape.drop_back(2), rows, columns, false};
}

static FailureOr<Shape> matmulShape(const Reporter &report, RankedTensorType typeA, RankedTensorType typeB,
                                    bool transposeA, bool transposeB) {
  FailureOr<Matrix> a = matrix(report, typeA, "a", /*isLeft=*/true, transposeA);
  if (failed(a))
    return failure();
  FailureOr<Matrix> b = matrix(report, typeB, "b", /*isLeft=*/false, transposeB);
  if (failed(b))
    return failure();
  if (a->columns != b->rows) {
    // The advice is given where following it would help.
    bool helps = !b->isVector && a->columns == b->columns;
    return report.error(
        "inner dimensions ", a->columns, " and ", b->rows, " differ",
        helps ? (transposeB ? "; clear transpose_b" : "; transpose the second operand or set transpose_b") : "");
  }
  FailureOr<Shape> shape = broadcastShapes(report, a->batch, b->batch, "batch dimensions");
  if (failed(shape))
    return failure();
  if (!a->isVector)
    shape->push_back(a->rows);
  if (!b->isVector)
    shape->push_back(b->columns);
  return shape;
}

LogicalResult tt::shapes::matmul(const Reporter &report, Value a, Value b, bool transposeA, bool transposeB,
                                 Types &results) {
  return linear(report, a, b, Value(), transposeA, transposeB, results);
}

LogicalResult tt::shapes::linear(const Reporter &report, Value a, Value b, Value bias, bool transposeA, bool transposeB,
                                 Types &results) {
  FailureOr<RankedTensorType> typeA = ranked(report, a, "a");
  if (failed(typeA))
    return failure();
  FailureOr<RankedTensorType> typeB = ranked(report, b, "b");
  if (failed(typeB))
    return failure();
  FailureOr<Shape> shape = matmulShape(report, *typeA, *typeB, transposeA, transposeB);
  if (failed(shape))
    return failure();
  if (bias) {
    FailureOr<RankedTensorType> typeBias = ranked(report, bias, "bias");
    if (failed(typeBias))
      return failure();
    shape = broadcastShapes(report, *shape, typeBias->getShape(), "product and bias");
    if (failed(shape))
      return failure();
  }
  return push(report, *shape, *typeA, results);
}

/// Marks `dims` in `used`; every dimension may be named once over all calls.
static LogicalResult markDims(const Reporter &report, StringRef name, ArrayRef<int64_t> dims,
                              MutableArrayRef<bool> used) {
  for (int64_t dim : dims) {
    if (dim < 0 || dim >= static_cast<int64_t>(used.size()))
      return report.error("attribute '", name, "' has ", dim, "; expected 0 to ",
                          static_cast<int64_t>(used.size()) - 1);
    if (std::exchange(used[dim], true))
      return report.error("attribute '", name, "' names dimension ", dim,
                          ", which is already a batch or contracted one");
  }
  return success();
}

LogicalResult tt::shapes::dotGeneral(const Reporter &report, Value lhs, Value rhs, ArrayRef<int64_t> batchLhs,
                                     ArrayRef<int64_t> contractLhs, ArrayRef<int64_t> batchRhs,
                                     ArrayRef<int64_t> contractRhs, Types &results) {
  FailureOr<RankedTensorType> typeLhs = ranked(report, lhs, "lhs");
  if (failed(typeLhs))
    return failure();
  FailureOr<RankedTensorType> typeRhs = ranked(report, rhs, "rhs");
  if (failed(typeRhs))
    return failure();
  SmallVector<bool> usedLhs(typeLhs->getRank()), usedRhs(typeRhs->getRank());
  if (failed(markDims(report, "batch_dims_lhs", batchLhs, usedLhs)) ||
      failed(markDims(report, "contract_dims_lhs", contractLhs, usedLhs)) ||
      failed(markDims(report, "batch_dims_rhs", batchRhs, usedRhs)) ||
      failed(markDims(report, "contract_dims_rhs", contractRhs, usedRhs)))
    return failure();
  auto pairUp = [&](StringRef what, ArrayRef<int64_t> dimsLhs, ArrayRef<int64_t> dimsRhs) -> LogicalResult {
    if (dimsLhs.size() != dimsRhs.size())
      return report.error("lhs has ", static_cast<int64_t>(dimsLhs.size()), " ", what, " dimensions, rhs ",
                          static_cast<int64_t>(dimsRhs.size()));
    for (auto [l, r] : llvm::zip(dimsLhs, dimsRhs))
      if (typeLhs->getDimSize(l) != typeRhs->getDimSize(r))
        return report.error(what, " dimensions ", l, " of lhs and ", r, " of rhs differ: sizes ",
                            typeLhs->getDimSize(l), " and ", typeRhs->getDimSize(r));
    return success();
  };
  if (failed(pairUp("batch", batchLhs, batchRhs)) || failed(pairUp("contracted", contractLhs, contractRhs)))
    return failure();
  Shape shape;
  for (int64_t dim : batchLhs)
    shape.push_back(typeLhs->getDimSize(dim));
  for (auto [type, used] : {std::pair(*typeLhs, ArrayRef<bool>(usedLhs)), std::pair(*typeRhs, ArrayRef<bool>(usedRhs))})
    for (auto [size, isUsed] : llvm::zip(type.getShape(), used))
      if (!isUsed)
        shape.push_back(size);
  return push(report, shape, *typeLhs, results);
}
