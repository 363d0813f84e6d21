//===- product.h - matrix products of tensors -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/op.h"

#include <utility>

namespace tt::ttnn {

/// c[batch, m, n] = a[batch or 1, m, k] * b[batch or 1, k, n], each read through strides.
struct Product {
  Shape batch;                         // of the result
  std::vector<int64_t> batchA, batchB; // strides, 0 where broadcast
  int64_t m, n, k;
  int64_t aRow, aColumn, bRow, bColumn; // strides

  int64_t batches() const { return volume(batch); }
  /// Returns the offsets of a batch in each operand, in elements.
  std::pair<int64_t, int64_t> offsets(int64_t index) const {
    int64_t a = 0, b = 0;
    for (size_t d = batch.size(); d-- > 0; index /= batch[d]) {
      a += index % batch[d] * batchA[d];
      b += index % batch[d] * batchB[d];
    }
    return {a, b};
  }
};

/// Whether the rows of the left operand are a multiple of `apart` bytes from each other, so that they share few lines
/// of the first-level cache, and are read for enough columns to pay for a copy in another order.
inline bool rowsCollide(const Product &p, int64_t elementBytes, int64_t apart) {
  return p.n >= 256 && p.aRow * elementBytes % apart == 0;
}

/// The product that ttnn.matmul or ttnn.linear requests; checks the shapes.
Product productOf(const OpCall &call);
/// Merges the batch dimensions if strides allow, and folds them into the rows if b is one matrix.
void simplify(Product &p);

/// The different right matrices of a product's batches: batches may share one.
struct RightMatrices {
  std::vector<int64_t> offsets; // of each matrix, in elements
  std::vector<size_t> ofBatch;  // which matrix a batch has
};
RightMatrices rightMatrices(const Product &p);

} // namespace tt::ttnn
