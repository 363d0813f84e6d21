//===- Buffers.h - L1 buffer layouts of tensors -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_CONVERSION_TTIRTOD2M_BUFFERS_H
#define TTMLIR_LIB_CONVERSION_TTIRTOD2M_BUFFERS_H

#include "ttmlir/Dialect/TTCore/IR/TTCore.h"

#include "mlir/IR/BuiltinTypes.h"

namespace mlir::tt {

/// A tensor on a grid of cores, as tiles and as rows of elements.
struct Placement {
  SmallVector<int64_t, 2> grid;  // cores
  SmallVector<int64_t, 2> tiles; // of each core
  MemRefType tiled, rowMajor, host;
  ttcore::MetalLayoutAttr layout;

  ttcore::TileType tile() const { return cast<ttcore::TileType>(tiled.getElementType()); }
};

/// The elements of a tensor as a matrix: the leading dimensions are rows. A tensor of rank 0 or 1 has one row.
std::pair<int64_t, int64_t> collapsed(ArrayRef<int64_t> shape);

/// Distributes parts as evenly as possible: for each dimension, the most cores that divide its tiles evenly or, if
/// these are less than half of the cores, parts of which the last one has padding tiles. `reason` states why a type has
/// no placement. `collapses`: the leading dimensions are nothing but rows; otherwise the part of a core is whole
/// matrices or a part of one, where matrices are whole tiles.
FailureOr<Placement> place(RankedTensorType type, ArrayRef<int64_t> workerGrid, std::string &reason,
                           bool collapses = true);

} // namespace mlir::tt

#endif // TTMLIR_LIB_CONVERSION_TTIRTOD2M_BUFFERS_H
