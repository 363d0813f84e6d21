//===- DataMovement.h - ops that only move values ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_FAMILIES_DATAMOVEMENT_H
#define TTMLIR_DIALECT_FAMILIES_DATAMOVEMENT_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::tt {

/// The effect of a permute, transpose, reshape, squeeze or unsqueeze on a tensor: an order of dimensions, or a shape.
struct Movement {
  SmallVector<int64_t> from, to; // shapes
  SmallVector<int64_t> order;    // dimension i of the result is dimension order[i]; empty for a change of shape

  /// A permute that keeps the order of all dimensions larger than 1 is a reshape.
  static Movement permutation(ArrayRef<int64_t> from, ArrayRef<int64_t> order);
  static Movement reshape(ArrayRef<int64_t> from, ArrayRef<int64_t> to);

  bool isPermutation() const { return !order.empty(); }
  bool isIdentity() const;
  Movement inverse() const;
  /// This movement followed by `next`; nothing if that requires two ops.
  std::optional<Movement> then(const Movement &next) const;
  /// Whether both have the same order of dimensions, for any sizes, or the same change of shape.
  bool isLike(const Movement &other) const;
};

/// The data movement ops of a dialect: `PermuteOp`, `TransposeOp`, `ReshapeOp`, `movement(op)` for the ops that only
/// this dialect has, and `agree(from, to)`: whether values of these types are stored alike.
template <class Ops> std::optional<Movement> movementOf(Operation *op) {
  if (!op)
    return std::nullopt;
  SmallVector<int64_t> order;
  auto permute = dyn_cast<typename Ops::PermuteOp>(op);
  auto transpose = dyn_cast<typename Ops::TransposeOp>(op);
  if (!permute && !transpose && !isa<typename Ops::ReshapeOp>(op) && !Ops::changesShape(op))
    return std::nullopt;
  auto from = cast<RankedTensorType>(op->getOperand(0).getType());
  auto to = cast<RankedTensorType>(op->getResult(0).getType());
  if (from.getElementType() != to.getElementType() || !from.hasStaticShape() || !to.hasStaticShape() ||
      !Ops::agree(from, to))
    return std::nullopt;
  if (permute) {
    if (!Ops::isPlain(permute))
      return std::nullopt;
    return Movement::permutation(from.getShape(), permute.getPermutation());
  }
  if (!transpose)
    return Movement::reshape(from.getShape(), to.getShape());
  int64_t rank = from.getRank(), first = transpose.getDim0(), second = transpose.getDim1();
  order = llvm::to_vector(llvm::seq<int64_t>(rank));
  std::swap(order[first < 0 ? first + rank : first], order[second < 0 ? second + rank : second]);
  return Movement::permutation(from.getShape(), order);
}

/// Creates the op for a movement that is not an identity.
template <class Ops>
Operation *createMovement(OpBuilder &builder, Location loc, const Movement &movement, Value value, Type type) {
  if (movement.isPermutation())
    return Ops::PermuteOp::create(builder, loc, TypeRange(type), ValueRange(value),
                                  builder.getNamedAttr("permutation", builder.getDenseI64ArrayAttr(movement.order)));
  SmallVector<int32_t> shape(movement.to.begin(), movement.to.end());
  return Ops::ReshapeOp::create(builder, loc, TypeRange(type), ValueRange(value),
                                builder.getNamedAttr("shape", builder.getI32ArrayAttr(shape)));
}

} // namespace mlir::tt

#endif // TTMLIR_DIALECT_FAMILIES_DATAMOVEMENT_H
