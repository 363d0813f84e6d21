//===- PlacedTensor.h - tensors with their memory layouts -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_COSTS_PLACEDTENSOR_H
#define TTMLIR_COSTS_PLACEDTENSOR_H

#include "ttmlir/shapes/Sizes.h"

namespace ttmlir::cost {

inline constexpr int64_t tileSide = 32;
inline constexpr int64_t tilesAlong(int64_t size) { return (size + tileSide - 1) / tileSide; }

enum class Memory : uint8_t { Host, DRAM, L1 };
/// The division of a tensor's rows and columns among cores, with its other dimensions folded into the rows.
enum class Shards : uint8_t { None, Height, Width, Block, Other };

/// A tensor with its memory layout on one chip. Sizes of shards are in elements.
struct PlacedTensor {
  Memory memory = Memory::Host;
  Shards shards = Shards::None;
  bool tiled = true;
  bool isF32 = false;
  int64_t bytes = 0; // with the padding of tiles
  int64_t rows = 1, columns = 1, tiles = 0;
  int64_t tileBytes = 0;
  int64_t gridRows = 1, gridColumns = 1, shardRows = 0, shardColumns = 0;
  /// The sizes, which belong to whoever describes the tensor.
  ::tt::shapes::View shape = {};

  bool onDevice() const { return memory != Memory::Host; }
  bool isShardInL1() const { return memory == Memory::L1 && shards != Shards::None; }
  bool isInterleavedInDram() const { return memory == Memory::DRAM && shards == Shards::None; }
  /// Transfers of interleaved tensors go page by page (tiles, or rows). Sharded tensors are transferred in long bursts.
  int64_t pages() const { return shards != Shards::None ? 0 : tiled ? tiles : rows; }
  /// The size of a dimension, counted from the last one; 1 if it does not exist.
  int64_t sizeFromEnd(size_t place) const { return place < shape.size() ? shape[shape.size() - 1 - place] : 1; }
  int64_t elements() const { return rows * columns; }
};

/// Whether the core that has a shard of `result` also has what it reads of `operand`: the same rows, columns, or both.
inline bool isOnSameCores(const PlacedTensor &operand, const PlacedTensor &result) {
  return operand.isShardInL1() && operand.shards == result.shards && operand.shards != Shards::Other &&
         result.isShardInL1() && operand.gridRows == result.gridRows && operand.gridColumns == result.gridColumns &&
         (operand.shards == Shards::Width || operand.shardRows == result.shardRows) &&
         (operand.shards == Shards::Height || operand.shardColumns == result.shardColumns);
}

/// Whether two tensors of one data type have the same placement except for their shape.
inline bool haveSamePlacement(const PlacedTensor &from, const PlacedTensor &to) {
  return from.memory == to.memory && from.shards == to.shards && from.tiled == to.tiled &&
         from.tileBytes == to.tileBytes &&
         (from.shards == Shards::None || (from.gridRows == to.gridRows && from.gridColumns == to.gridColumns &&
                                          from.shardRows == to.shardRows && from.shardColumns == to.shardColumns));
}

} // namespace ttmlir::cost

#endif // TTMLIR_COSTS_PLACEDTENSOR_H
