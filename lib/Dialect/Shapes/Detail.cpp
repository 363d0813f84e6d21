//===- Detail.cpp - helpers of the shape functions ------------------------===//

#include "Detail.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace mlir::tt::shapes;

LogicalResult tt::shapes::checkArity(const Reporter &report, StringRef pattern, size_t numOperands,
                                     std::optional<ArrayRef<int32_t>> segments) {
  if (segments) {
    int64_t sum = 0;
    for (auto [i, size] : llvm::enumerate(*segments)) {
      char kind = pattern[i];
      if (size < 0 || (kind == '1' && size != 1) || (kind == '?' && size > 1))
        return report.error("attribute 'operandSegmentSizes' gives operand ", i, " ", size, " values; expected ",
                            kind == '1'   ? "1"
                            : kind == '?' ? "0 or 1"
                                          : "none or more");
      sum += size;
    }
    if (sum != static_cast<int64_t>(numOperands))
      return report.error("attribute 'operandSegmentSizes' tells of ", sum, " operands, but there are ",
                          static_cast<int64_t>(numOperands));
    return success();
  }
  size_t required = pattern.count('1'), most = pattern.contains('*') ? SIZE_MAX : pattern.size();
  if (numOperands < required || numOperands > most)
    return report.error("has ", static_cast<int64_t>(numOperands), " operands; expected ",
                        required == most   ? std::to_string(required)
                        : most == SIZE_MAX ? std::to_string(required) + " or more"
                                           : std::to_string(required) + " to " + std::to_string(most));
  return success();
}

bool tt::shapes::haveSameShapes(TypeRange a, TypeRange b) {
  return llvm::equal(a, b, [](Type x, Type y) {
    auto shapedX = dyn_cast<ShapedType>(x), shapedY = dyn_cast<ShapedType>(y);
    return shapedX && shapedY && shapedX.hasRank() && shapedY.hasRank() && shapedX.getShape() == shapedY.getShape();
  });
}

LogicalResult tt::shapes::checkResults(Operation *op, TypeRange inferred) {
  for (auto [result, expected] : llvm::zip(op->getResults(), inferred))
    if (!haveSameShapes(result.getType(), expected))
      return op->emitOpError("result ") << (op->getNumResults() > 1 ? std::to_string(result.getResultNumber()) + " "
                                                                    : "")
                                        << "is " << result.getType() << "; expected shape "
                                        << text(cast<ShapedType>(expected).getShape());
  return success();
}

bool tt::shapes::haveSameElementWidth(Value a, Value b) {
  Type typeA = getElementTypeOrSelf(a.getType()), typeB = getElementTypeOrSelf(b.getType());
  return typeA.isIntOrFloat() && typeB.isIntOrFloat() && typeA.getIntOrFloatBitWidth() == typeB.getIntOrFloatBitWidth();
}

FailureOr<RankedTensorType> tt::shapes::ranked(const Reporter &report, Value value, StringRef name) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return report.error("operand '", name, "' is ", value.getType(), "; expected a ranked tensor");
  if (!type.hasStaticShape())
    return report.error("operand '", name, "' is ", type, "; dynamic dimensions are not supported");
  if (failed(checkSize(report, type.getShape())))
    return failure();
  return type;
}

FailureOr<RankedTensorType> tt::shapes::ranked(const Reporter &report, Value value, StringRef name, int64_t rank) {
  FailureOr<RankedTensorType> type = ranked(report, value, name);
  if (succeeded(type) && type->getRank() != rank)
    return report.error("operand '", name, "' is ", *type, "; expected rank ", rank);
  return type;
}

FailureOr<int64_t> tt::shapes::axis(const Reporter &report, StringRef name, int64_t dim, int64_t rank) {
  if (dim >= -rank && dim < rank)
    return dim < 0 ? dim + rank : dim;
  if (rank == 0)
    return report.error("attribute '", name, "' is ", dim, ", but a scalar has no dimensions");
  return report.error("attribute '", name, "' is ", dim, "; expected ", -rank, " to ", rank - 1, " for rank ", rank);
}

FailureOr<Shape> tt::shapes::integers(const Reporter &report, ArrayAttr array, StringRef name,
                                      std::optional<int64_t> size) {
  Shape values;
  for (Attribute element : array) {
    auto integer = dyn_cast<IntegerAttr>(element);
    if (!integer || !integer.getValue().isSignedIntN(64))
      return report.error("attribute '", name, "' has ", element, "; expected integers");
    values.push_back(integer.getValue().getSExtValue());
  }
  if (size && *size != static_cast<int64_t>(values.size()))
    return report.error("attribute '", name, "' has ", static_cast<int64_t>(values.size()),
                        " numbers; expected one per dimension, ", *size);
  return values;
}

std::optional<int64_t> tt::shapes::multiply(int64_t a, int64_t b) {
  int64_t result;
  if (llvm::MulOverflow(a, b, result))
    return std::nullopt;
  return result;
}

std::optional<int64_t> tt::shapes::add(int64_t a, int64_t b) {
  int64_t result;
  if (llvm::AddOverflow(a, b, result))
    return std::nullopt;
  return result;
}

LogicalResult tt::shapes::checkSize(const Reporter &report, ArrayRef<int64_t> shape) {
  if (llvm::is_contained(shape, 0))
    return success();
  int64_t size = 1;
  for (int64_t dim : shape) {
    std::optional<int64_t> next = multiply(size, dim);
    if (!next)
      return report.error("a tensor of shape ", text(shape), " has more elements than 64 bits count");
    size = *next;
  }
  return success();
}

int64_t tt::shapes::product(ArrayRef<int64_t> shape) {
  int64_t size = 1;
  for (int64_t dim : shape)
    size = multiply(size, dim).value_or(std::numeric_limits<int64_t>::max());
  return size;
}

LogicalResult tt::shapes::push(const Reporter &report, ArrayRef<int64_t> shape, Type elementType, Types &results) {
  for (int64_t dim : shape)
    if (dim < 0)
      return report.error("result shape has a size of ", dim, "; sizes cannot be negative");
  if (failed(checkSize(report, shape)))
    return failure();
  results.push_back(RankedTensorType::get(shape, elementType));
  return success();
}

LogicalResult tt::shapes::push(const Reporter &report, ArrayRef<int64_t> shape, RankedTensorType like, Types &results) {
  // An encoding can depend on the shape.
  if (shape == like.getShape()) {
    results.push_back(like);
    return success();
  }
  return push(report, shape, like.getElementType(), results);
}

FailureOr<Shape> tt::shapes::broadcastShapes(const Reporter &report, ArrayRef<int64_t> a, ArrayRef<int64_t> b,
                                             StringRef what) {
  Shape result(std::max(a.size(), b.size()), 1);
  auto sizeAt = [&](ArrayRef<int64_t> shape, size_t i) {
    size_t missing = result.size() - shape.size();
    return i < missing ? 1 : shape[i - missing];
  };
  for (size_t i = 0; i < result.size(); ++i) {
    int64_t sizeA = sizeAt(a, i), sizeB = sizeAt(b, i);
    if (sizeA != sizeB && sizeA != 1 && sizeB != 1)
      return report.error(what, " ", text(a), " and ", text(b), " do not broadcast: sizes ", sizeA, " and ", sizeB,
                          " in dimension ", static_cast<int64_t>(i));
    result[i] = sizeA == 1 ? sizeB : sizeA;
  }
  return result;
}

std::string tt::shapes::text(ArrayRef<int64_t> shape) {
  if (shape.empty())
    return "scalar";
  return llvm::join(llvm::map_range(shape, [](int64_t dim) { return std::to_string(dim); }), "x");
}
