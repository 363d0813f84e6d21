//===- DataMovement.cpp - ops that only move values -----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/Families/DataMovement.h"

using namespace mlir;
using namespace mlir::tt;

Movement Movement::reshape(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  return {SmallVector<int64_t>(from), SmallVector<int64_t>(to), {}};
}

Movement Movement::permutation(ArrayRef<int64_t> from, ArrayRef<int64_t> order) {
  SmallVector<int64_t> to;
  // Dimensions of size 1 may move anywhere; the order of the others must stay for nothing to move.
  int64_t last = -1;
  bool moves = false;
  for (int64_t dim : order) {
    to.push_back(from[dim]);
    if (from[dim] == 1)
      continue;
    moves |= dim < last;
    last = dim;
  }
  return {SmallVector<int64_t>(from), to, moves ? SmallVector<int64_t>(order) : SmallVector<int64_t>()};
}

bool Movement::isIdentity() const { return !isPermutation() && from == to; }

Movement Movement::inverse() const {
  SmallVector<int64_t> back(order.size());
  for (auto [to, from] : llvm::enumerate(order))
    back[from] = to;
  return {to, from, back};
}

std::optional<Movement> Movement::then(const Movement &next) const {
  if (!isPermutation() && !next.isPermutation())
    return reshape(from, next.to);
  if (isIdentity())
    return next;
  if (next.isIdentity())
    return *this;
  if (!isPermutation() || !next.isPermutation())
    return std::nullopt;
  return permutation(from, llvm::map_to_vector(next.order, [&](int64_t dim) { return order[dim]; }));
}

bool Movement::isLike(const Movement &other) const {
  return isPermutation() ? order == other.order : !other.isPermutation() && from == other.from && to == other.to;
}
