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
#include <utility>

namespace ttmlir::cost {

inline constexpr int64_t tileSide = 32;
inline constexpr int64_t tilesAlong(int64_t size) { return (size + tileSide - 1) / tileSide; }

enum class Memory : uint8_t { Host, DRAM, L1 };
/// How the rows and columns of a tensor, its other dimensions folded into the rows, are divided among cores.
enum class Shards : uint8_t { None, Height, Width, Block, Other };

/// A tensor with its memory layout on one chip. Sizes of shards are in elements.
struct PlacedTensor {
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
inline bool isOnSameCores(const PlacedTensor &operand, const PlacedTensor &result) {
  return operand.isShardInL1() && operand.shards == result.shards && operand.shards != Shards::Other &&
         result.isShardInL1() && operand.gridRows == result.gridRows && operand.gridColumns == result.gridColumns &&
         (operand.shards == Shards::Width || operand.shardRows == result.shardRows) &&
         (operand.shards == Shards::Height || operand.shardColumns == result.shardColumns);
}

/// Cores that the work on a sharded result keeps as busy as the one with most of it; 0 where it is not sharded.
inline int64_t busyCores(const PlacedTensor &result) {
  if (!result.isShardInL1() || result.shards == Shards::Other || result.shardRows <= 0 || result.shardColumns <= 0)
    return 0;
  const int64_t tiles = tilesAlong(result.shardRows) * tilesAlong(result.shardColumns);
  return std::max<int64_t>(1, result.tiles / tiles);
}

/// A transfer: to or from a memory, over the network.
inline void addTransfer(Work &work, const PlacedTensor &tensor) {
  if (tensor.memory == Memory::DRAM) {
    work.dramBytes += tensor.bytes;
    work.dramPages += tensor.pages();
  } else if (tensor.memory == Memory::L1) {
    work.l1Bytes += tensor.bytes;
  }
}

/// Reading operands and writing the result. A shard is written where its core is, and read there by who has the same
/// part of the result; `moves`: ops that bring values to other places read everything over the network.
inline void addTraffic(Work &work, std::span<const PlacedTensor> operands, const PlacedTensor &result, bool moves) {
  for (const PlacedTensor &operand : operands)
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
inline bool haveSamePlacement(const PlacedTensor &from, const PlacedTensor &to) {
  return from.memory == to.memory && from.shards == to.shards && from.tiled == to.tiled &&
         from.tileBytes == to.tileBytes &&
         (from.shards == Shards::None || (from.gridRows == to.gridRows && from.gridColumns == to.gridColumns &&
                                          from.shardRows == to.shardRows && from.shardColumns == to.shardColumns));
}

/// Tile products of matrices of tensors.
inline int64_t productTiles(int64_t batches, int64_t m, int64_t k, int64_t n) {
  return batches * tilesAlong(m) * tilesAlong(k) * tilesAlong(n);
}

/// Cycles of a tile through the vector unit, by type of the result, where they are published (docs/cost-model.md).
inline constexpr int64_t exponentialCycles = 640;
struct VectorFunction {
  std::string_view op;
  int64_t bf16, f32;
};
inline constexpr VectorFunction vectorFunctions[] = {
    {"ttnn.exp", exponentialCycles, exponentialCycles},
    {"ttnn.gelu", 256, 256},
    {"ttnn.reciprocal", 1070, 1070},
    {"ttnn.rsqrt", 1008, 1008},
    {"ttnn.sigmoid", 256, 256},
    {"ttnn.sqrt", 880, 880},
    {"ttnn.softplus", 1500, 1500},
    {"ttnn.tanh", 530, 1601},
    {"ttnn.typecast", 80, 80},
};

inline int64_t vectorCycles(std::string_view op, bool isF32) {
  for (const VectorFunction &row : vectorFunctions)
    if (row.op == op)
      return isF32 ? row.f32 : row.bf16;
  return 0;
}

/// What a product or a convolution does to its result before it packs it: the packer has relu.
inline void addActivation(Work &work, std::string_view activation, const PlacedTensor &result) {
  if (activation.empty() || activation == "relu")
    return;
  for (const VectorFunction &row : vectorFunctions)
    if (row.op.substr(row.op.find('.') + 1) == activation)
      work.sfpuCycles += result.tiles * row.bf16;
  work.sfpuTiles += result.tiles;
}

/// A product of matrices. `byTurns`: nobody chose a program config, and operands come from DRAM page by page; cores
/// that share the right one (`isShared`: it is one matrix) pass it on in blocks of two tiles of K.
struct Multiplied {
  int64_t batches, m, k, n;
  bool byTurns, isShared;
};

inline void addProduct(Work &work, const Multiplied &p) {
  work.kind = Kind::Product;
  work.matmulTiles = productTiles(p.batches, p.m, p.k, p.n);
  work.fetchesByTurns = p.byTurns;
  if (p.byTurns && p.isShared)
    work.blocks = (tilesAlong(p.k) + 1) / 2;
}

/// Cores that a program config keeps as busy as the busiest, by the rows and columns of tiles that it gives to each; 0
/// without a config.
inline int64_t coresOfProduct(const PlacedTensor &result, std::array<int64_t, 2> tilesOfCore) {
  const int64_t each = tilesOfCore[0] * tilesOfCore[1];
  return each > 0 ? std::max<int64_t>(1, result.tiles / each) : 0;
}

/// A window that slides over images.
struct Slid {
  int64_t positions; // of the window, over all images
  int64_t area;      // elements under the window in one channel
  int64_t lines;     // runs of them that lie side by side in memory
  int64_t channels;
  bool isPixel; // the window is a pixel, and moves by one: its contents are the image
};

inline constexpr int64_t fewRows = 256; // of tiles: then work is cut into blocks, else into rows

/// Columns of cores, of which a grid has eight, that blocks of an image are divided among.
inline int64_t columnsOfBlocks(const Slid &slid) { return std::min<int64_t>(8, tilesAlong(slid.channels)); }

/// Columns of cores among which the channels of an image are divided. Who has no shards yet is given them by the
/// library: of rows, or where there are few, of blocks (assumed).
inline int64_t channelParts(const Slid &slid, const PlacedTensor &image) {
  if (image.isShardInL1())
    return image.shards == Shards::Block || image.shards == Shards::Width ? image.gridColumns : 1;
  return tilesAlong(slid.positions) < fewRows ? columnsOfBlocks(slid) : 1;
}

/// Windows are over rows of pixels of 16 bits: tiles are untiled, and pixels that windows of other cores cover sent to
/// these, by a program of its own (halo). What lies in pages is sharded before, and made pages of after. Then data
/// movement processors copy the contents of each window together, line by line: two of each core where it has all
/// channels.
inline void addWindows(Work &work, const Slid &slid, const PlacedTensor &image, const PlacedTensor &result) {
  if (slid.isPixel)
    return;
  const int64_t parts = channelParts(slid, image);
  work.programs += 1 + !image.isShardInL1() + !result.isShardInL1();
  if (image.tiled)
    work.tilizeTiles += image.tiles;
  work.pieces += slid.positions * slid.lines * parts;
  work.pieceBytes += slid.positions * slid.area * slid.channels * 2;
  work.copiers = parts == 1 ? 2 : 1;
}

/// A convolution as the chip does it: a matrix of window contents times the weights; weights of groups are filled up
/// with zeros.
struct Convolved : Slid {
  int64_t results;
  bool hasBias;
};

/// Contents of windows, whose channels fill 16 bytes, are brought into tiles. One core reads the weights for all, or
/// one of each column where the channels of results are divided; they are in DRAM when they have been prepared.
inline void addConvolution(Work &work, const Convolved &c, const PlacedTensor &image, const PlacedTensor &weight,
                           const PlacedTensor &result) {
  work.kind = Kind::Convolution;
  Slid slid = c;
  if (!c.isPixel)
    slid.channels = (c.channels + 7) / 8 * 8;
  const int64_t rows = tilesAlong(c.positions), depth = tilesAlong(slid.channels * c.area),
                width = tilesAlong(c.results);
  work.matmulTiles = rows * depth * width;
  if (!c.isPixel)
    work.tilizeTiles += rows * depth;
  addWindows(work, slid, image, result);
  work.castBytes += depth * width * weight.tileBytes;
  work.casters = std::max(channelParts(slid, image), channelParts({c.positions, 1, 1, c.results, true}, image));
  if (weight.memory == Memory::Host) {
    work.dramBytes += depth * width * weight.tileBytes;
    work.dramPages += depth * width;
  }
  if (c.hasBias)
    work.fpuTiles += result.tiles;
}

/// A pool reduces the contents of each window, 32 elements at a time.
inline void addPool(Work &work, const Slid &slid, const PlacedTensor &image, const PlacedTensor &result) {
  addWindows(work, slid, image, result);
  work.tilizeTiles += slid.positions * tilesAlong(slid.channels) * tilesAlong(slid.area);
}

/// Steps over rows of `operand`, each of which is one core's unless it is sharded: passes of the matrix unit, and the
/// exponentials of a softmax.
inline void addRows(Work &work, const PlacedTensor &operand, int64_t passes) {
  work.fpuTiles += passes * operand.tiles;
  work.isDividedByUnits = true;
  work.units = {std::max<int64_t>(1, operand.tiles / std::max<int64_t>(1, tilesAlong(operand.columns))), 1, 1};
}
/// Maximum, difference, sum, product.
inline constexpr int64_t softmaxPasses = 4;
/// Mean, difference, square, variance, product; without the mean, the first two are not there. One more for each
/// operand.
inline constexpr int64_t normPasses(bool isCentred, int64_t weights) { return (isCentred ? 5 : 3) + weights; }

/// Rows of queries attend to keys, a chunk of each at a time; sizes in elements. The library's chunks are 32 unless a
/// program config says otherwise.
struct Attended {
  int64_t batches = 1, heads = 1, rows = 1, columns = 1, size = 1, valueSize = 1;
  bool isCausal = false, isMasked = false;
  int64_t rowChunk = 32, columnChunk = 32;
  bool seesPast = true; // causal: each row sees the keys before it, half of all
};

/// One position of each user attends to keys: its heads are the rows of a tile, for each head of the keys. These are
/// taken in the largest power of two that divides them, up to 512. How many of them are seen is not known.
inline Attended decoded(Attended a, int64_t keyHeads) {
  a.rows = a.rowChunk = a.heads;
  a.heads = keyHeads;
  a.seesPast = false;
  while (a.columnChunk < 512 && a.columns % (2 * a.columnChunk) == 0)
    a.columnChunk *= 2;
  return a;
}

/// Flash attention: of each tile of scores the maximum, the difference and the sum, its exponentials, and for each
/// chunk of keys the result so far is scaled and added to. A causal mask leaves half. Cores are given to batches, then
/// to heads, then to chunks of rows, each of which reads all keys and values that it sees; once is in the traffic
/// already.
inline void addAttention(Work &work, const Attended &a, const PlacedTensor &key, const PlacedTensor &value) {
  work.kind = Kind::Attention;
  const int64_t rows = tilesAlong(a.rows), columns = tilesAlong(a.columns), chunk = tilesAlong(a.columnChunk);
  const int64_t chunks = (rows + tilesAlong(a.rowChunk) - 1) / tilesAlong(a.rowChunk);
  const bool seesHalf = a.isCausal && a.seesPast;
  const int64_t all = a.batches * a.heads * rows, scores = seesHalf ? all * (columns + 1) / 2 : all * columns;
  const int64_t depth = tilesAlong(a.size), width = tilesAlong(a.valueSize);
  const int64_t reads = a.batches * a.heads * chunks * (seesHalf ? (columns + 1) / 2 : columns);
  for (const auto &[tensor, tiles] : {std::pair(&key, reads * depth), std::pair(&value, reads * width)}) {
    PlacedTensor again = *tensor;
    again.tiles = std::max<int64_t>(0, tiles - tensor->tiles);
    again.bytes = again.tiles * tensor->tileBytes;
    addTransfer(work, again);
  }
  work.matmulTiles = scores * (depth + width);
  work.fpuTiles += scores * (3 + (a.isMasked ? 1 : 0)) + (scores + chunk - 1) / chunk * 2 * width;
  work.sfpuTiles += scores;
  work.sfpuCycles += scores * exponentialCycles;
  work.isDividedByUnits = true;
  work.units = {a.batches, a.heads, chunks};
}

/// From one layout to another. Between rows and tiles, rows of tiles go to cores, which fetch what lies in pages and
/// wait for it.
inline void addLayoutChange(Work &work, const PlacedTensor &from, const PlacedTensor &to) {
  work.kind = Kind::Layout;
  if (from.tiled == to.tiled || !from.onDevice() || !to.onDevice())
    return;
  const PlacedTensor &tiles = to.tiled ? to : from;
  work.tilizeTiles += tiles.tiles;
  if (from.isShardInL1() || to.isShardInL1())
    return;
  work.rowTiles += tiles.tiles;
  work.cores = std::max<int64_t>(1, tiles.tiles / std::max<int64_t>(1, tilesAlong(tiles.columns)));
}

/// A pass of the vector unit over a result.
inline void addVectorPass(Work &work, std::string_view op, const PlacedTensor &result, bool isF32) {
  work.sfpuTiles += result.tiles;
  work.sfpuCycles += result.tiles * vectorCycles(op, isF32);
}

/// The matrix unit adds, subtracts and multiplies; all else is the vector unit's.
inline bool isOfMatrixUnit(std::string_view op) {
  return op == "ttnn.add" || op == "ttnn.subtract" || op == "ttnn.multiply";
}

} // namespace ttmlir::cost

#endif // TTMLIR_TARGET_OPWORK_H
