//===- Detail.h - helpers of the shape functions ----------------*- C++ -*-===//
#ifndef TTMLIR_LIB_DIALECT_SHAPES_DETAIL_H
#define TTMLIR_LIB_DIALECT_SHAPES_DETAIL_H

#include "ttmlir/Dialect/Shapes/Shapes.h"

#include <string>

namespace mlir::tt::shapes {

using Shape = SmallVector<int64_t>;

/// The type of an operand, which must be a ranked tensor of static shape.
FailureOr<RankedTensorType> ranked(const Reporter &report, Value value, StringRef name);
/// As `ranked`, of exactly that rank.
FailureOr<RankedTensorType> ranked(const Reporter &report, Value value, StringRef name, int64_t rank);

/// `dim` counted from the front; negative numbers count from the back.
FailureOr<int64_t> axis(const Reporter &report, StringRef name, int64_t dim, int64_t rank);

/// The integers of an array attribute, which must be `size` many.
FailureOr<Shape> integers(const Reporter &report, ArrayAttr array, StringRef name, std::optional<int64_t> size);

/// Refuses sizes whose product, or which themselves, do not fit.
LogicalResult checkSize(const Reporter &report, ArrayRef<int64_t> shape);
/// a * b, or nothing when it overflows. For non-negative numbers.
std::optional<int64_t> multiply(int64_t a, int64_t b);
std::optional<int64_t> add(int64_t a, int64_t b);
/// The product of sizes that `checkSize` or a tensor type vouches for; saturates.
int64_t product(ArrayRef<int64_t> shape);

/// Appends a tensor of `shape` that is otherwise like `like`.
LogicalResult push(const Reporter &report, ArrayRef<int64_t> shape, RankedTensorType like, Types &results);
LogicalResult push(const Reporter &report, ArrayRef<int64_t> shape, Type elementType, Types &results);

/// The shape to which `a` and `b` broadcast.
FailureOr<Shape> broadcastShapes(const Reporter &report, ArrayRef<int64_t> a, ArrayRef<int64_t> b, StringRef what);

/// "2x3", "scalar" for rank 0.
std::string text(ArrayRef<int64_t> shape);

} // namespace mlir::tt::shapes

#endif // TTMLIR_LIB_DIALECT_SHAPES_DETAIL_H
