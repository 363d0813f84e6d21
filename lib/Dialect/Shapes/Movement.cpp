//===- Movement.cpp - shapes of data movement and creation ----------------===//

#include "Detail.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cstdlib>
#include <limits>

using namespace mlir;
using namespace mlir::tt::shapes;

LogicalResult tt::shapes::reshape(const Reporter &report, Value input, ArrayAttr shapeAttr, Types &results) {
  FailureOr<RankedTensorType> type = ranked(report, input, "input");
  if (failed(type))
    return failure();
  FailureOr<Shape> shape = integers(report, shapeAttr, "shape", std::nullopt);
  if (failed(shape))
    return failure();
  for (auto [i, size] : llvm::enumerate(*shape))
    if (size < 0)
      return report.error("attribute 'shape' has ", size, " at position ", static_cast<int64_t>(i),
                          "; every size must be given");
  if (failed(checkSize(report, *shape)))
    return failure();
  int64_t from = product(type->getShape()), to = product(*shape);
  if (from != to)
    return report.error("attribute 'shape' is ", text(*shape), " with ", to, " elements, but the input is ",
                        text(type->getShape()), " with ", from);
  return push(report, *shape, *type, results);
}

LogicalResult tt::shapes::permute(const Reporter &report, Value input, ArrayRef<int64_t> permutation, Types &results) {
  FailureOr<RankedTensorType> type = ranked(report, input, "input");
  if (failed(type))
    return failure();
  int64_t rank = type->getRank();
  if (static_cast<int64_t>(permutation.size()) != rank)
    return report.error("attribute 'permutation' has ", static_cast<int64_t>(permutation.size()),
                        " dimensions, but the input has rank ", rank);
  SmallVector<bool> seen(rank);
  Shape shape;
  for (int64_t dim : permutation) {
    if (dim < 0 || dim >= rank)
      return report.error("attribute 'permutation' has ", dim, "; expected 0 to ", rank - 1);
    if (std::exchange(seen[dim], true))
      return report.error("attribute 'permutation' has ", dim, " twice");
    shape.push_back(type->getDimSize(dim));
  }
  return push(report, shape, *type, results);
}

LogicalResult tt::shapes::transpose(const Reporter &report, Value input, int64_t dim0, int64_t dim1, Types &results) {
  FailureOr<RankedTensorType> type = ranked(report, input, "input");
  if (failed(type))
    return failure();
  FailureOr<int64_t> first = axis(report, "dim0", dim0, type->getRank());
  if (failed(first))
    return failure();
  FailureOr<int64_t> second = axis(report, "dim1", dim1, type->getRank());
  if (failed(second))
    return failure();
  Shape shape(type->getShape());
  std::swap(shape[*first], shape[*second]);
  return push(report, shape, *type, results);
}

LogicalResult tt::shapes::concat(const Reporter &report, ValueRange inputs, int64_t dim, Types &results) {
  if (inputs.empty())
    return report.error("has no inputs; expected one or more");
  FailureOr<RankedTensorType> first = ranked(report, inputs.front(), "0");
  if (failed(first))
    return failure();
  FailureOr<int64_t> position = axis(report, "dim", dim, first->getRank());
  if (failed(position))
    return failure();
  Shape shape(first->getShape());
  for (auto [i, input] : llvm::enumerate(inputs.drop_front())) {
    FailureOr<RankedTensorType> type = ranked(report, input, std::to_string(i + 1));
    if (failed(type))
      return failure();
    Shape expected(shape);
    bool fits = type->getRank() == first->getRank();
    if (fits) {
      expected[*position] = type->getDimSize(*position);
      fits = ArrayRef<int64_t>(expected) == type->getShape();
    }
    if (!fits)
      return report.error("operands '0' and '", static_cast<int64_t>(i + 1), "' have shapes ", text(first->getShape()),
                          " and ", text(type->getShape()), "; they may differ only in dimension ", *position);
    std::optional<int64_t> sum = add(shape[*position], type->getDimSize(*position));
    if (!sum)
      return report.error("dimension ", *position, " of the result does not fit into 64 bits");
    shape[*position] = *sum;
  }
  return push(report, shape, *first, results);
}

/// The size of begin, begin + step, … up to end; positions from the end are
/// negative. `where` ends the messages.
static FailureOr<int64_t> sliceSize(const Reporter &report, int64_t size, int64_t begin, int64_t end, int64_t step,
                                    StringRef beginName, StringRef endName, StringRef stepName, int64_t dim) {
  if (step < 1)
    return report.error("attribute '", stepName, "' is ", step, " in dimension ", dim, "; expected 1 or more");
  int64_t from = begin < 0 ? begin + size : begin, to = end < 0 ? end + size : end;
  if (from < 0 || from > size)
    return report.error("attribute '", beginName, "' is ", begin, " in dimension ", dim, " of size ", size);
  if (to < 0 || to > size)
    return report.error("attribute '", endName, "' is ", end, " in dimension ", dim, " of size ", size);
  if (to < from)
    return report.error("attribute '", endName, "' is ", end, ", before '", beginName, "' ", begin, ", in dimension ",
                        dim, " of size ", size);
  return llvm::divideCeil(to - from, step);
}

LogicalResult tt::shapes::slice(const Reporter &report, Value input, ArrayAttr beginsAttr, ArrayAttr endsAttr,
                                ArrayAttr stepsAttr, Types &results) {
  FailureOr<RankedTensorType> type = ranked(report, input, "input");
  if (failed(type))
    return failure();
  int64_t rank = type->getRank();
  FailureOr<Shape> begins = integers(report, beginsAttr, "begins", rank);
  if (failed(begins))
    return failure();
  FailureOr<Shape> ends = integers(report, endsAttr, "ends", rank);
  if (failed(ends))
    return failure();
  FailureOr<Shape> steps = integers(report, stepsAttr, "step", rank);
  if (failed(steps))
    return failure();
  Shape shape;
  for (int64_t i = 0; i < rank; ++i) {
    FailureOr<int64_t> size =
        sliceSize(report, type->getDimSize(i), (*begins)[i], (*ends)[i], (*steps)[i], "begins", "ends", "step", i);
    if (failed(size))
      return failure();
    shape.push_back(*size);
  }
  return push(report, shape, *type, results);
}

/// The type of the operand with another size of one dimension.
static LogicalResult resized(const Reporter &report, RankedTensorType type, int64_t dim, std::optional<int64_t> size,
                             Types &results) {
  if (!size)
    return report.error("dimension ", dim, " of the result does not fit into 64 bits");
  Shape shape(type.getShape());
  shape[dim] = *size;
  return push(report, shape, type, results);
}

LogicalResult tt::shapes::index(const Reporter &report, Value input, int64_t dim, int64_t begin, int64_t end,
                                int64_t step, Types &results) {
  FailureOr<RankedTensorType> type = ranked(report, input, "input");
  if (failed(type))
    return failure();
  FailureOr<int64_t> position = axis(report, "dim", dim, type->getRank());
  if (failed(position))
    return failure();
  FailureOr<int64_t> size =
      sliceSize(report, type->getDimSize(*position), begin, end, step, "begin", "end", "step", *position);
  if (failed(size))
    return failure();
  return resized(report, *type, *position, *size, results);
}

LogicalResult tt::shapes::indexSelect(const Reporter &report, Value input, int64_t dim, int64_t begin, int64_t length,
                                      int64_t stride, Types &results) {
  FailureOr<RankedTensorType> type = ranked(report, input, "input");
  if (failed(type))
    return failure();
  FailureOr<int64_t> position = axis(report, "dim", dim, type->getRank());
  if (failed(position))
    return failure();
  int64_t size = type->getDimSize(*position);
  if (begin < 0 || begin >= size)
    return report.error("attribute 'begin' is ", begin, "; expected 0 to ", size - 1, ", inside dimension ", *position);
  if (length < 1 || length > size - begin)
    return report.error("attribute 'length' is ", length, "; expected 1 to ", size - begin,
                        ", what is left of dimension ", *position);
  if (stride < 0 || (stride > 0 && stride < length))
    return report.error("attribute 'stride' is ", stride, "; expected 0, or ", length, " (the length) or more");
  int64_t parts = stride == 0 ? 1 : llvm::divideCeil(size - begin, stride);
  int64_t last = std::min(length, size - begin - (parts - 1) * stride);
  return resized(report, *type, *position, (parts - 1) * length + last, results);
}

/// Each dimension times its factor.
static LogicalResult scaled(const Reporter &report, RankedTensorType type, StringRef name, ArrayRef<int64_t> factors,
                            Types &results) {
  if (static_cast<int64_t>(factors.size()) != type.getRank())
    return report.error("attribute '", name, "' has ", static_cast<int64_t>(factors.size()),
                        " numbers; expected one per dimension, ", type.getRank());
  Shape shape;
  for (auto [i, size, factor] : llvm::enumerate(type.getShape(), factors)) {
    if (factor < 1)
      return report.error("attribute '", name, "' is ", factor, " for dimension ", static_cast<int64_t>(i),
                          "; expected 1 or more");
    std::optional<int64_t> product = multiply(size, factor);
    if (!product)
      return report.error("dimension ", static_cast<int64_t>(i), " of the result does not fit into 64 bits");
    shape.push_back(*product);
  }
  return push(report, shape, type, results);
}

LogicalResult tt::shapes::broadcastTo(const Reporter &report, Value input, ArrayRef<int64_t> factors, Types &results) {
  FailureOr<RankedTensorType> type = ranked(report, input, "input");
  if (failed(type))
    return failure();
  // A wrong number of factors is for `scaled` to report.
  for (auto [i, size] : llvm::enumerate(type->getShape()))
    if (int64_t factor = i < factors.size() ? factors[i] : 1; size != 1 && factor != 1)
      return report.error("attribute 'broadcast_dimensions' is ", factor, " for dimension ", static_cast<int64_t>(i),
                          " of size ", size, "; only dimensions of size 1 can be broadcast");
  return scaled(report, *type, "broadcast_dimensions", factors, results);
}

LogicalResult tt::shapes::repeat(const Reporter &report, Value input, StringRef name, ArrayRef<int64_t> factors,
                                 Types &results) {
  FailureOr<RankedTensorType> type = ranked(report, input, "input");
  if (failed(type))
    return failure();
  return scaled(report, *type, name, factors, results);
}

LogicalResult tt::shapes::repeatInterleave(const Reporter &report, Value input, int64_t repeats, int64_t dim,
                                           Types &results) {
  FailureOr<RankedTensorType> type = ranked(report, input, "input");
  if (failed(type))
    return failure();
  FailureOr<int64_t> position = axis(report, "dim", dim, type->getRank());
  if (failed(position))
    return failure();
  if (repeats < 1)
    return report.error("attribute 'repeats' is ", repeats, "; expected 1 or more");
  return resized(report, *type, *position, multiply(type->getDimSize(*position), repeats), results);
}

LogicalResult tt::shapes::reverse(const Reporter &report, Value input, ArrayRef<int64_t> dimensions, Types &results) {
  FailureOr<RankedTensorType> type = ranked(report, input, "input");
  if (failed(type))
    return failure();
  SmallVector<bool> seen(type->getRank());
  for (int64_t dim : dimensions) {
    FailureOr<int64_t> position = axis(report, "dimensions", dim, type->getRank());
    if (failed(position))
      return failure();
    if (std::exchange(seen[*position], true))
      return report.error("attribute 'dimensions' names dimension ", *position, " twice");
  }
  results.push_back(*type);
  return success();
}

LogicalResult tt::shapes::squeeze(const Reporter &report, Value input, int64_t dim, Types &results) {
  FailureOr<RankedTensorType> type = ranked(report, input, "input");
  if (failed(type))
    return failure();
  FailureOr<int64_t> position = axis(report, "dim", dim, type->getRank());
  if (failed(position))
    return failure();
  if (type->getDimSize(*position) != 1)
    return report.error("dimension ", *position, " has size ", type->getDimSize(*position),
                        "; only one of size 1 can be removed");
  Shape shape(type->getShape());
  shape.erase(shape.begin() + *position);
  return push(report, shape, *type, results);
}

LogicalResult tt::shapes::unsqueeze(const Reporter &report, Value input, int64_t dim, Types &results) {
  FailureOr<RankedTensorType> type = ranked(report, input, "input");
  if (failed(type))
    return failure();
  // The position is one in the result.
  FailureOr<int64_t> position = axis(report, "dim", dim, type->getRank() + 1);
  if (failed(position))
    return failure();
  Shape shape(type->getShape());
  shape.insert(shape.begin() + *position, 1);
  return push(report, shape, *type, results);
}

LogicalResult tt::shapes::pad(const Reporter &report, Value input, ArrayRef<int32_t> padding, Types &results) {
  FailureOr<RankedTensorType> type = ranked(report, input, "input");
  if (failed(type))
    return failure();
  if (static_cast<int64_t>(padding.size()) != 2 * type->getRank())
    return report.error("attribute 'padding' has ", static_cast<int64_t>(padding.size()),
                        " numbers; expected two per dimension, ", 2 * type->getRank());
  Shape shape(type->getShape());
  for (auto [i, amount] : llvm::enumerate(padding)) {
    if (amount < 0)
      return report.error("attribute 'padding' is ", amount, " at position ", static_cast<int64_t>(i),
                          "; expected 0 or more");
    std::optional<int64_t> sum = add(shape[i / 2], amount);
    if (!sum)
      return report.error("dimension ", static_cast<int64_t>(i / 2), " of the result does not fit into 64 bits");
    shape[i / 2] = *sum;
  }
  return push(report, shape, *type, results);
}

LogicalResult tt::shapes::upsample(const Reporter &report, Value input, Attribute scale, StringRef mode,
                                   Types &results) {
  FailureOr<RankedTensorType> type = ranked(report, input, "input", 4);
  if (failed(type))
    return failure();
  if (mode != "nearest" && mode != "bilinear")
    return report.error("attribute 'mode' is \"", mode, "\"; expected \"nearest\" or \"bilinear\"");
  Shape factors = {1, 1, 1, 1};
  if (auto both = dyn_cast<IntegerAttr>(scale)) {
    factors[1] = factors[2] = both.getValue().getSExtValue();
  } else {
    auto each = cast<DenseI32ArrayAttr>(scale);
    if (each.size() != 2)
      return report.error("attribute 'scale_factor' has ", each.size(), " numbers; expected one, or height and width");
    factors[1] = each[0];
    factors[2] = each[1];
  }
  return scaled(report, *type, "scale_factor", factors, results);
}

/// Index and input have the same rank, and the index is inside but along `dim`.
static LogicalResult checkIndex(const Reporter &report, RankedTensorType input, RankedTensorType index, int64_t dim) {
  if (!index.getElementType().isInteger())
    return report.error("operand 'index' is ", index, "; expected integers");
  FailureOr<int64_t> position = axis(report, "dim", dim, input.getRank());
  if (failed(position))
    return failure();
  if (index.getRank() != input.getRank())
    return report.error("operands 'input' and 'index' have ranks ", input.getRank(), " and ", index.getRank(),
                        "; expected the same");
  for (int64_t i = 0; i < input.getRank(); ++i)
    if (i != *position && index.getDimSize(i) > input.getDimSize(i))
      return report.error("operand 'index' has size ", index.getDimSize(i), " in dimension ", i, ", the input only ",
                          input.getDimSize(i));
  return success();
}

LogicalResult tt::shapes::gather(const Reporter &report, Value input, Value index, int64_t dim, Types &results) {
  FailureOr<RankedTensorType> type = ranked(report, input, "input");
  if (failed(type))
    return failure();
  FailureOr<RankedTensorType> indexType = ranked(report, index, "index");
  if (failed(indexType) || failed(checkIndex(report, *type, *indexType, dim)))
    return failure();
  return push(report, indexType->getShape(), *type, results);
}

LogicalResult tt::shapes::scatter(const Reporter &report, Value input, Value index, Value source, int64_t dim,
                                  Types &results) {
  FailureOr<RankedTensorType> type = ranked(report, input, "input");
  if (failed(type))
    return failure();
  FailureOr<RankedTensorType> indexType = ranked(report, index, "index");
  if (failed(indexType) || failed(checkIndex(report, *type, *indexType, dim)))
    return failure();
  FailureOr<RankedTensorType> sourceType = ranked(report, source, "source", type->getRank());
  if (failed(sourceType))
    return failure();
  for (auto [i, size, available] : llvm::enumerate(indexType->getShape(), sourceType->getShape()))
    if (size > available)
      return report.error("operand 'index' has size ", size, " in dimension ", static_cast<int64_t>(i),
                          ", the source only ", available);
  results.push_back(*type);
  return success();
}

/// [rows, size], or the same with dimensions of size 1 before.
static FailureOr<RankedTensorType> embeddingTable(const Reporter &report, Value weight) {
  FailureOr<RankedTensorType> type = ranked(report, weight, "weight");
  if (failed(type))
    return failure();
  if (type->getRank() < 2 || !llvm::all_of(type->getShape().drop_back(2), [](int64_t size) { return size == 1; }))
    return report.error("operand 'weight' is ", *type, "; expected a matrix of one row per index");
  return type;
}

LogicalResult tt::shapes::embedding(const Reporter &report, Value input, Value weight, Types &results) {
  FailureOr<RankedTensorType> type = ranked(report, input, "input");
  if (failed(type))
    return failure();
  FailureOr<RankedTensorType> table = embeddingTable(report, weight);
  if (failed(table))
    return failure();
  Shape shape(type->getShape());
  shape.push_back(table->getShape().back());
  return push(report, shape, table->getElementType(), results);
}

LogicalResult tt::shapes::embeddingBackward(const Reporter &report, Value input, Value weight, Value gradient,
                                            Types &results) {
  FailureOr<RankedTensorType> type = ranked(report, input, "input");
  if (failed(type))
    return failure();
  FailureOr<RankedTensorType> table = embeddingTable(report, weight);
  if (failed(table))
    return failure();
  FailureOr<RankedTensorType> gradientType = ranked(report, gradient, "in_gradient");
  if (failed(gradientType))
    return failure();
  int64_t rows = product(type->getShape()), size = table->getShape().back();
  if (gradientType->getRank() < 1 || gradientType->getShape().back() != size ||
      product(gradientType->getShape().drop_back()) != rows)
    return report.error("operand 'in_gradient' is ", *gradientType, "; expected ", rows, " rows of ", size);
  results.push_back(*table);
  return success();
}

LogicalResult tt::shapes::dimensionSize(const Reporter &report, Value input, int64_t dimension, Types &results) {
  FailureOr<RankedTensorType> type = ranked(report, input, "operand");
  if (failed(type) || failed(axis(report, "dimension", dimension, type->getRank())))
    return failure();
  return push(report, {1}, IntegerType::get(type->getContext(), 32), results);
}

LogicalResult tt::shapes::concatenateHeads(const Reporter &report, Value input, Types &results) {
  FailureOr<RankedTensorType> type = ranked(report, input, "input", 4);
  if (failed(type))
    return failure();
  ArrayRef<int64_t> shape = type->getShape();
  return push(report, {shape[0], shape[2], product({shape[1], shape[3]})}, *type, results);
}

LogicalResult tt::shapes::joinHeads(const Reporter &report, Value input, Types &results) {
  FailureOr<RankedTensorType> type = ranked(report, input, "input", 4);
  if (failed(type))
    return failure();
  ArrayRef<int64_t> shape = type->getShape();
  return push(report, {shape[0], 1, shape[2], product({shape[1], shape[3]})}, *type, results);
}

LogicalResult tt::shapes::dynamic(const Reporter &report, StringRef what) {
  return report.error("has a result that depends on ", what, "; give its type");
}

LogicalResult tt::shapes::checkDynamicSlice(const Reporter &report, Value input, Value begins, Value ends,
                                            ArrayAttr steps, Value result) {
  FailureOr<RankedTensorType> type = ranked(report, input, "input");
  if (failed(type))
    return failure();
  FailureOr<RankedTensorType> sliced = ranked(report, result, "result");
  if (failed(sliced))
    return failure();
  for (auto [name, operand] : {std::pair<StringRef, Value>("begins", begins), {"ends", ends}}) {
    FailureOr<RankedTensorType> positions = ranked(report, operand, name, 1);
    if (failed(positions))
      return failure();
    if (positions->getDimSize(0) != type->getRank() || !positions->getElementType().isInteger())
      return report.error("operand '", name, "' is ", *positions, "; expected one integer per dimension, ",
                          type->getRank());
  }
  if (steps) {
    FailureOr<Shape> values = integers(report, steps, "step", type->getRank());
    if (failed(values))
      return failure();
    for (int64_t step : *values)
      if (step < 1)
        return report.error("attribute 'step' has ", step, "; expected 1 or more");
  }
  bool fits = sliced->getRank() == type->getRank() &&
              llvm::all_of(llvm::zip(sliced->getShape(), type->getShape()),
                           [](auto sizes) { return std::get<0>(sizes) <= std::get<1>(sizes); });
  if (!fits)
    return report.error("result is ", *sliced, "; expected a part of ", text(type->getShape()));
  return success();
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

LogicalResult tt::shapes::filled(const Reporter &report, ArrayRef<int64_t> shape, Type elementType, Types &results) {
  return push(report, shape, elementType, results);
}

LogicalResult tt::shapes::filled(const Reporter &report, ArrayRef<int32_t> shape, Type elementType, Types &results) {
  return push(report, Shape(shape.begin(), shape.end()), elementType, results);
}

LogicalResult tt::shapes::filled(const Reporter &report, ArrayAttr shapeAttr, StringRef name, Type elementType,
                                 Types &results) {
  FailureOr<Shape> shape = integers(report, shapeAttr, name, std::nullopt);
  if (failed(shape))
    return failure();
  return push(report, *shape, elementType, results);
}

LogicalResult tt::shapes::constant(const Reporter &report, ElementsAttr value, Types &results) {
  auto type = dyn_cast<RankedTensorType>(value.getShapedType());
  if (!type)
    return report.error("attribute 'value' has type ", value.getShapedType(), "; expected a ranked tensor");
  results.push_back(type);
  return success();
}

FailureOr<int64_t> tt::shapes::sequenceLength(const Reporter &report, int64_t start, int64_t end, int64_t step) {
  if (step == 0)
    return report.error("attribute 'step' is 0");
  if (step > 0 ? end < start : end > start)
    return report.error("attribute 'step' is ", step, ", which does not lead from ", start, " to ", end);
  int64_t distance;
  if (step == std::numeric_limits<int64_t>::min() || llvm::SubOverflow(end, start, distance) ||
      distance == std::numeric_limits<int64_t>::min())
    return report.error("the sequence from ", start, " to ", end, " does not fit into 64 bits");
  return llvm::divideCeil(std::abs(distance), std::abs(step));
}

LogicalResult tt::shapes::sequence(const Reporter &report, int64_t start, int64_t end, int64_t step, Type elementType,
                                   Types &results) {
  FailureOr<int64_t> length = sequenceLength(report, start, end, step);
  return failed(length) ? failure() : push(report, {*length}, elementType, results);
}

LogicalResult tt::shapes::sequenceAlong(const Reporter &report, int64_t start, int64_t end, int64_t step,
                                        int64_t dimension, Type elementType, Types &results) {
  FailureOr<int64_t> length = sequenceLength(report, start, end, step);
  if (failed(length))
    return failure();
  // A tensor type of more dimensions than anyone needs would only cost memory.
  constexpr int64_t mostDimensions = 64;
  if (dimension < 0 || dimension >= mostDimensions)
    return report.error("attribute 'arange_dimension' is ", dimension, "; expected 0 to ", mostDimensions - 1);
  Shape shape(dimension + 1, 1);
  shape.back() = *length;
  return push(report, shape, elementType, results);
}
