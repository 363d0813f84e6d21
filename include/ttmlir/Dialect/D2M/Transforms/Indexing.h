//===- Indexing.h - indices of buffers as arithmetic ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_D2M_TRANSFORMS_INDEXING_H
#define TTMLIR_DIALECT_D2M_TRANSFORMS_INDEXING_H

#include "ttmlir/Dialect/D2M/IR/D2M.h"

#include "mlir/IR/AffineMap.h"

namespace mlir::tt::d2m {

/// Returns the results of a map as arithmetic on indices. Indices are not negative.
SmallVector<Value> expand(OpBuilder &builder, Location loc, AffineMap map, ValueRange dims);

/// Returns the largest divisor of `size` such that, from any multiple of the divisor on, that many consecutive values
/// of dimension `dim` increase the last result of the map by 1 each and change no other result. Returns 1 if the map
/// does not allow more.
int64_t contiguous(AffineMap map, unsigned dim, int64_t size);

/// Returns the greatest value of an expression of dimensions of these sizes, or nullopt if it may have negative terms.
std::optional<int64_t> greatestOf(AffineExpr expr, ArrayRef<int64_t> sizes);

/// Returns (d0, ..., dn-1) -> the index of an element in row-major order.
AffineMap rowMajor(ArrayRef<int64_t> shape, MLIRContext *context);

/// Returns the number of bytes between the first element of a shard and the one in this row and column.
Value byteOffset(OpBuilder &builder, Location loc, ArrayRef<int64_t> shard, uint64_t elementBytes, Value row,
                 Value column);

/// Waits for all transfers in one direction that this thread has started.
void waitForAll(OpBuilder &builder, Location loc, DMAType direction);

} // namespace mlir::tt::d2m

#endif // TTMLIR_DIALECT_D2M_TRANSFORMS_INDEXING_H
