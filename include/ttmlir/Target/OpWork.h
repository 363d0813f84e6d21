//===- OpWork.h - the work of ops, by how tensors lie -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What the runtime's clock, the compiler's choice of layouts and its search for
// shardings count: bytes that ops move, tiles that they compute, and what their
// kernels keep in L1. Each describes tensors to it in its own way.
// docs/cost-model.md has it in words.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_TARGET_OPWORK_H
#define TTMLIR_TARGET_OPWORK_H

#include "ttmlir/Target/CostModel.h"

#include <array>
#include <optional>
#include <span>
#include <string_view>

namespace ttmlir::cost {

inline constexpr int64_t tileSide = 32;
inline constexpr int64_t tilesAlong(int64_t size) { return (size + tileSide - 1) / tileSide; }

enum class Memory : uint8_t { Host, DRAM, L1 };
/// How the rows and columns of a tensor, its other dimensions folded into the rows, are divided among cores.
enum class Shards : uint8_t { None, Height, Width, Block, Other };

/// A tensor as it lies on one chip. Sizes of shards are in elements.
struct Lying {
  Memory memory = Memory::Host;
  Shards shards = Shards::None;
  bool tiled = true;
  int64_t bytes = 0; // with the padding of tiles
  int64_t rows = 1, columns = 1, tiles = 0;
  int64_t tileBytes = 0;
  int64_t gridRows = 1, gridColumns = 1, shardRows = 0, shardColumns = 0;

  bool onDevice() const { return memory != Memory::Host; }
  bool isShardInL1() const { return memory == Memory::L1 && shards != Shards::None; }
  bool isInterleavedInDram() const { return memory == Memory::DRAM && shards == Shards::None; }
  /// Transfers of what lies in the banks page by page: tiles, or rows. What is sharded comes in long bursts.
  int64_t pages() const { return shards != Shards::None ? 0 : tiled ? tiles : rows; }
};

/// Whether the core that has a shard of `result` has what it reads of `operand`, too: the same rows, columns, or both.
inline bool isOnSameCores(const Lying &operand, const Lying &result) {
  return operand.isShardInL1() && operand.shards == result.shards && operand.shards != Shards::Other &&
         result.isShardInL1() && operand.gridRows == result.gridRows && operand.gridColumns == result.gridColumns &&
         (operand.shards == Shards::Width || operand.shardRows == result.shardRows) &&
         (operand.shards == Shards::Height || operand.shardColumns == result.shardColumns);
}

/// Cores that the work on a sharded result keeps as busy as the one with most of it; 0 where it is not sharded.
inline int64_t busyCores(const Lying &result) {
  if (!result.isShardInL1() || result.shards == Shards::Other || result.shardRows <= 0 || result.shardColumns <= 0)
    return 0;
  const int64_t tiles = tilesAlong(result.shardRows) * tilesAlong(result.shardColumns);
  return std::max<int64_t>(1, result.tiles / tiles);
}

/// A transfer: to or from a memory, over the network.
inline void addTransfer(Work &work, const Lying &tensor) {
  if (tensor.memory == Memory::DRAM) {
    work.dramBytes += tensor.bytes;
    work.dramPages += tensor.pages();
  } else if (tensor.memory == Memory::L1) {
    work.l1Bytes += tensor.bytes;
  }
}

/// Reading operands and writing the result. A shard is written where its core is, and read there by who has the same
/// part of the result; `moves`: ops that bring values to other places read everything over the network.
inline void addTraffic(Work &work, std::span<const Lying> operands, const Lying &result, bool moves) {
  for (const Lying &operand : operands)
    if (moves || !isOnSameCores(operand, result))
      addTransfer(work, operand);
  if (!result.isShardInL1())
    addTransfer(work, result);
}

/// Whether a reshape of the sizes (height: all but the last dimension's neighbour; 1 where there is none) leaves every
/// byte where it is: rows stay rows, and those that a tile pads stay where they are.
inline bool keepsPlaces(int64_t fromHeight, int64_t fromWidth, int64_t toHeight, int64_t toWidth, bool tiled) {
  return fromWidth == toWidth &&
         (!tiled || fromHeight == toHeight || (fromHeight % tileSide == 0 && toHeight % tileSide == 0));
}

/// Whether two tensors of one data type lie in the same place but for their shape.
inline bool liesAlike(const Lying &from, const Lying &to) {
  return from.memory == to.memory && from.shards == to.shards && from.tiled == to.tiled &&
         from.tileBytes == to.tileBytes &&
         (from.shards == Shards::None || (from.gridRows == to.gridRows && from.gridColumns == to.gridColumns &&
                                          from.shardRows == to.shardRows && from.shardColumns == to.shardColumns));
}

/// Tile products of matrices of tensors.
inline int64_t productTiles(int64_t batches, int64_t m, int64_t k, int64_t n) {
  return batches * tilesAlong(m) * tilesAlong(k) * tilesAlong(n);
}

/// Cores that a program config keeps as busy as the busiest, by the rows and columns of tiles that it gives to each; 0
/// without a config.
inline int64_t coresOfProduct(const Lying &result, std::array<int64_t, 2> tilesOfCore) {
  const int64_t each = tilesOfCore[0] * tilesOfCore[1];
  return each > 0 ? std::max<int64_t>(1, result.tiles / each) : 0;
}

/// A convolution as the chip does it: a matrix of window contents times the weights, group by group.
struct Convolved {
  int64_t positions; // of the window, over all images
  int64_t area;      // elements under the window in one channel
  int64_t channels, results, groups;
  bool strided; // or spread
};

/// Window contents are copied together from the cores' L1 and brought into tiles; windows of one pixel that lie side by
/// side are the operand itself. Weights that come from the host are in DRAM when they have been prepared.
inline void addConvolution(Work &work, const Convolved &c, const Lying &image, const Lying &weight) {
  const int64_t depth = c.channels / c.groups * c.area;
  work.matmulTiles = productTiles(c.groups, c.positions, depth, c.results / c.groups);
  if (c.area > 1 || c.strided) {
    const int64_t contents = tilesAlong(c.positions) * tilesAlong(depth) * c.groups;
    work.fpuTiles += contents;
    work.l1Bytes += contents * image.tileBytes;
  }
  if (weight.memory == Memory::Host) {
    const int64_t tiles = tilesAlong(depth) * tilesAlong(c.results / c.groups) * c.groups;
    work.dramBytes += tiles * weight.tileBytes;
    work.dramPages += tiles;
  }
}

/// Cycles of a tile through the vector unit, by type of the result, where they are published (docs/cost-model.md).
struct VectorFunction {
  std::string_view op;
  int64_t bf16, f32;
};
inline constexpr VectorFunction vectorFunctions[] = {
    {"ttnn.gelu", 256, 256}, {"ttnn.reciprocal", 1070, 1070}, {"ttnn.rsqrt", 1008, 1008}, {"ttnn.sigmoid", 256, 256},
    {"ttnn.sqrt", 880, 880}, {"ttnn.softplus", 1500, 1500},   {"ttnn.tanh", 530, 1601},   {"ttnn.typecast", 80, 80},
};

inline int64_t vectorCycles(std::string_view op, bool isF32) {
  for (const VectorFunction &row : vectorFunctions)
    if (row.op == op)
      return isF32 ? row.f32 : row.bf16;
  return 0;
}

/// A pass of the vector unit over a result.
inline void addVectorPass(Work &work, std::string_view op, const Lying &result, bool isF32) {
  work.sfpuTiles += result.tiles;
  work.sfpuCycles += result.tiles * vectorCycles(op, isF32);
}

/// The matrix unit adds, subtracts and multiplies; all else is the vector unit's.
inline bool isOfMatrixUnit(std::string_view op) {
  return op == "ttnn.add" || op == "ttnn.subtract" || op == "ttnn.multiply";
}

} // namespace ttmlir::cost

#endif // TTMLIR_TARGET_OPWORK_H
