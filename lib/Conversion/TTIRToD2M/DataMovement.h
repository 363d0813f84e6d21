//===- DataMovement.h - data movement as copies between cores ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_CONVERSION_TTIRTOD2M_DATAMOVEMENT_H
#define TTMLIR_LIB_CONVERSION_TTIRTOD2M_DATAMOVEMENT_H

#include "Generics.h"
#include "Patterns.h"

namespace mlir::tt {

/// Indices of a tensor of shape `from` -> indices of one of shape `to`, which is broadcast to it.
AffineMap broadcastMap(ArrayRef<int64_t> from, ArrayRef<int64_t> to, MLIRContext *context);

/// A tensor of type `from` as an operand of an elementwise generic whose result has the shape of `to`, to which it is
/// broadcast.
TileOperand broadcastOperand(OpBuilder &builder, Location loc, const TileTypes &types, Value tiled,
                             RankedTensorType from, RankedTensorType to);

/// The buffer that an op created, behind casts to the tensor and back.
Value producedBuffer(Value tiled);

/// The elements of a tensor in rows.
Value rowsOf(OpBuilder &builder, Location loc, const TileTypes &types, Value tiled, const Placement &placement);

/// Returns values of the host: those that tiles were made of, or a copy of them.
Value hostOf(OpBuilder &builder, Location loc, const TileTypes &types, Value tiled, const Placement &placement);

/// Tiles of a tensor of type `to`: each element is the one of `tiled` at the index that `map` computes.
Value pull(OpBuilder &builder, Location loc, const TileTypes &types, Value tiled, RankedTensorType from,
           RankedTensorType to, AffineMap map);

/// Elements that indices choose.
struct Choice {
  Value tiled;
  RankedTensorType from;
  Value index; // tiles of i32
  RankedTensorType indexType;
  AffineMap map;                // indices of the result, and the value of an index -> indices
  bool indexPerElement = false; // otherwise one per row: the first element of the row of the same number
};
/// Returns tiles of a tensor of type `to`, each of whose elements is the one that an index chooses.
Value pullAt(OpBuilder &builder, Location loc, const TileTypes &types, const Choice &choice, RankedTensorType to);

/// Returns tiles of a tensor of type `to` that chips send the elements of `tiled` to. `map` maps indices and the
/// position of the chip that sends to indices; elements that no chip sends are 0. Without targets, each chip reads its
/// own elements: `map` maps indices of the result and the position to indices.
Value exchanged(OpBuilder &builder, Location loc, const TileTypes &types, Value tiled, RankedTensorType from,
                RankedTensorType to, AffineMap map, const Exchange &exchange);

} // namespace mlir::tt

#endif // TTMLIR_LIB_CONVERSION_TTIRTOD2M_DATAMOVEMENT_H
