//===- Movement.h - classification of data movement ops ---------*- C++ -*-===//
#ifndef TTMLIR_LIB_DIALECT_TTIR_TRANSFORMS_MOVEMENT_H
#define TTMLIR_LIB_DIALECT_TTIR_TRANSFORMS_MOVEMENT_H

#include "ttmlir/Dialect/TTIR/IR/TTIR.h"

#include "mlir/IR/Builders.h"

namespace mlir::tt::ttir {

/// What a permute, transpose, reshape, squeeze or unsqueeze does to a tensor: an order of dimensions, or a shape.
struct Movement {
  SmallVector<int64_t> from, to; // shapes
  SmallVector<int64_t> order;    // dimension i of the result is dimension order[i]; empty for a change of shape

  /// The movement of an op, if it is one that keeps element type and encoding. A permute that moves no values past each
  /// other is a change of shape.
  static std::optional<Movement> of(Operation *op);
  static Movement permutation(ArrayRef<int64_t> from, ArrayRef<int64_t> order);
  static Movement reshape(ArrayRef<int64_t> from, ArrayRef<int64_t> to);

  bool isPermutation() const { return !order.empty(); }
  bool isIdentity() const;
  Movement inverse() const;
  /// This movement and then `next`; nothing if that takes two ops.
  std::optional<Movement> then(const Movement &next) const;
  /// The same order of dimensions, whatever their sizes, or the same change of shape.
  bool isLike(const Movement &other) const;

  /// The moved value; the value itself if it stays as it is.
  Value apply(OpBuilder &builder, Location loc, Value value) const;
};

} // namespace mlir::tt::ttir

#endif // TTMLIR_LIB_DIALECT_TTIR_TRANSFORMS_MOVEMENT_H
