//===- DataMovement.h - data movement as copies between cores ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_CONVERSION_TTIRTOD2M_DATAMOVEMENT_H
#define TTMLIR_LIB_CONVERSION_TTIRTOD2M_DATAMOVEMENT_H

#include "Generics.h"
#include "Patterns.h"

namespace mlir::tt {

/// Indices of a tensor of shape `from` -> those of one of shape `to` that is broadcast to it.
AffineMap broadcastMap(ArrayRef<int64_t> from, ArrayRef<int64_t> to, MLIRContext *context);

/// A tensor of type `from` as an operand of an elementwise generic whose result has the shape of `to`, to which it is
/// broadcast.
TileOperand broadcastOperand(OpBuilder &builder, Location loc, const TileTypes &types, Value tiled,
                             RankedTensorType from, RankedTensorType to);

/// The buffer that an op made, behind casts to the tensor and back.
Value producedBuffer(Value tiled);

/// The elements of a tensor in rows.
Value rowsOf(OpBuilder &builder, Location loc, const TileTypes &types, Value tiled, const Placement &placement);

/// Tiles of a tensor of type `to`, each of whose elements is the one of `tiled` that `map` says, from indices to
/// indices.
Value pull(OpBuilder &builder, Location loc, const TileTypes &types, Value tiled, RankedTensorType from,
           RankedTensorType to, AffineMap map);

} // namespace mlir::tt

#endif // TTMLIR_LIB_CONVERSION_TTIRTOD2M_DATAMOVEMENT_H
