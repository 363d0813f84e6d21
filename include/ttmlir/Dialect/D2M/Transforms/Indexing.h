//===- Indexing.h - indices of buffers as arithmetic ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_D2M_TRANSFORMS_INDEXING_H
#define TTMLIR_DIALECT_D2M_TRANSFORMS_INDEXING_H

#include "ttmlir/Dialect/D2M/IR/D2M.h"

#include "mlir/IR/AffineMap.h"

namespace mlir::tt::d2m {

/// Returns the results of a map as arithmetic on indices, which are not negative.
SmallVector<Value> expand(OpBuilder &builder, Location loc, AffineMap map, ValueRange dims);

/// Returns the largest divisor of `size` for which that many consecutive values of dimension `dim`, from any multiple
/// of the number on, change the last result of the map by 1 each and no other result. 1 if the map does not say more.
int64_t contiguous(AffineMap map, unsigned dim, int64_t size);

/// Returns (d0, ..., dn-1) -> the number of an element in row-major order.
AffineMap rowMajor(ArrayRef<int64_t> shape, MLIRContext *context);

/// Returns the bytes between the first element of a shard and the one in this row and column.
Value byteOffset(OpBuilder &builder, Location loc, ArrayRef<int64_t> shard, uint64_t elementBytes, Value row,
                 Value column);

/// Waits for all transfers of a direction that this thread has begun.
void waitForAll(OpBuilder &builder, Location loc, DMAType direction);

} // namespace mlir::tt::d2m

#endif // TTMLIR_DIALECT_D2M_TRANSFORMS_INDEXING_H
