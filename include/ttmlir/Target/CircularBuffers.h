//===- CircularBuffers.h - circular buffers of the card's kernels -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What the kernels of a program of tt-metal keep in the L1 of a core while they
// run, by the rules of its program factories: of matmul (multicast), unary and
// binary elementwise ops, softmax, layer norm, tilize, convolutions, pools, and
// attention. docs/runtime.md has them in words. Other families have no rule here
// and count nothing.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_TARGET_CIRCULARBUFFERS_H
#define TTMLIR_TARGET_CIRCULARBUFFERS_H

#include "ttmlir/Target/OpWork.h"

namespace ttmlir::cost {

/// What the rules ask of a convolution or a pool. Sizes are in elements; 0: not given.
struct WindowFacts {
  Slid slid = {};
  int64_t height = 1, width = 1; // of the window
  int64_t results = 0;           // channels of a convolution's result; 0: a pool
  bool hasBias = false, isAverage = false, dividesUnevenly = false;
  bool buffersImageTwice = false, buffersWeightsTwice = false;
  int64_t blockRows = 0, widthDivisor = 1; // act_block_h_override, act_block_w_div
};

/// What the rules ask of an op.
struct KernelFacts {
  std::string_view op; // "ttnn.matmul"
  std::span<const std::optional<PlacedTensor>> ins;
  std::span<const PlacedTensor> outs;
  bool elementwise = false;
  bool accumulatesF32 = false, accumulatesInL1 = false, readsF32 = false, numericStable = false;
  int64_t cores = 64;
  WindowFacts window = {};
  Attended attended = {};
  const PlacedTensor *mask = nullptr, *sink = nullptr;
  /// Of a multicast program config: tiles of the inner dimension, and of rows and columns of the result, that a core
  /// has at a time; 0 where there is none.
  int64_t inner = 0, rows = 0, columns = 0;

  const PlacedTensor *in(size_t index) const { return index < ins.size() && ins[index] ? &*ins[index] : nullptr; }
};

namespace circular {

inline constexpr int64_t bf16Tile = 2048, f32Tile = 4096;

/// So many tiles of a tensor; a shard in L1 is the buffer itself.
inline int64_t room(const PlacedTensor &tensor, int64_t tiles) {
  return tensor.onDevice() && !tensor.isShardInL1() ? tiles * tensor.tileBytes : 0;
}

/// Two tiles of each operand and result.
inline int64_t elementwise(const KernelFacts &op, int64_t) {
  int64_t bytes = 0;
  for (const auto &in : op.ins)
    bytes += in ? room(*in, 2) : 0;
  for (const PlacedTensor &out : op.outs)
    bytes += room(out, 2);
  return bytes;
}

/// Of a multicast program config; what the library chooses without one is not known.
inline int64_t product(const KernelFacts &op, int64_t) {
  const PlacedTensor *a = op.in(0), *b = op.in(1), *bias = op.in(2);
  if (!op.rows || !a || !b)
    return 0;
  const PlacedTensor &out = op.outs[0];
  const int64_t partialTile = op.accumulatesF32 ? f32Tile : std::max(bf16Tile, out.tileBytes);
  // Partial sums have the room of the result when they have its format.
  const int64_t results = room(out, op.rows * op.columns), partials = op.rows * op.columns * partialTile;
  return room(*a, 2 * op.inner * op.rows) + room(*b, 2 * op.inner * op.columns) +
         (partialTile == out.tileBytes ? std::max(results, partials) : results + partials) +
         (bias ? room(*bias, op.columns) : 0);
}

/// Over the last dimension of an interleaved tensor.
inline int64_t softmax(const KernelFacts &op, int64_t usable) {
  const PlacedTensor *in = op.in(0);
  if (!in || in->isShardInL1())
    return 0;
  const int64_t width = tilesAlong(in->columns), im = op.accumulatesF32 ? f32Tile : bf16Tile;
  int64_t block = op.accumulatesF32 ? 4 : 8;
  while (width % block)
    --block;
  auto sum = [&](int64_t row) {
    int64_t bytes =
        room(*in, op.numericStable ? row : 2 * block) + room(op.outs[0], 2 * block) + row * im + im + bf16Tile;
    if (op.numericStable)
      bytes += im + row * im;
    return bytes;
  };
  const int64_t whole = sum(width);
  // Rows that are too long are streamed, 80 tiles at a time.
  return whole * 10 > usable * 9 ? sum(80) + 3 * im : whole;
}

inline int64_t norm(const KernelFacts &op, int64_t usable) {
  const PlacedTensor *in = op.in(0);
  if (!in || in->isShardInL1())
    return 0;
  const int64_t im = op.accumulatesF32 ? f32Tile : bf16Tile, block = op.accumulatesF32 ? 4 : 8;
  const bool weighted = op.in(1);
  auto sum = [&](int64_t row) {
    int64_t bytes = room(*in, row) + room(op.outs[0], 2 * block) + 2 * row * im + 12 * im + 4 * bf16Tile;
    for (size_t i = 1; i < op.ins.size(); ++i)
      if (const PlacedTensor *given = op.in(i))
        bytes += room(*given, row);
    return bytes + (weighted ? 2 * block * im : 0);
  };
  const int64_t whole = sum((tilesAlong(in->columns) + block - 1) / block * block);
  return whole <= usable ? whole : sum(weighted || op.readsF32 ? 56 : 112);
}

/// A row of tiles in and out; rows that do not fit are divided among cores.
inline int64_t tilize(const KernelFacts &op, int64_t usable) {
  const PlacedTensor *in = op.in(0);
  if (!in || in->tiled || !op.outs[0].tiled || !in->onDevice())
    return 0;
  const int64_t width = tilesAlong(in->columns), tile = room(*in, 1) + room(op.outs[0], 1);
  int64_t parts = 1;
  while (tile * ((width + parts - 1) / parts) > usable && parts < width)
    ++parts;
  return tile * ((width + parts - 1) / parts);
}

inline constexpr int64_t divided(int64_t size, int64_t parts) { return (size + parts - 1) / parts; }

/// Tiles of the result that a core makes, and columns of cores among which channels are divided. What lies in pages is
/// sharded by the library before: by rows, or where there are few, in blocks of a grid of eight columns.
struct Part {
  int64_t rows, columns, channelParts;
  bool byRows, byColumns, isSharded;
};
inline Part partOf(const KernelFacts &op, const PlacedTensor &image, int64_t parts) {
  const PlacedTensor &out = op.outs[0];
  const int64_t rows = tilesAlong(op.window.slid.positions), columns = tilesAlong(out.columns);
  const bool byColumns = image.isShardInL1() && image.shards == Shards::Width;
  if (out.isShardInL1() && out.shards != Shards::Other)
    return {tilesAlong(out.shardRows), tilesAlong(out.shardColumns), parts, parts == 1, byColumns, true};
  const int64_t lines = byColumns ? 1 : std::max<int64_t>(1, op.cores / parts);
  return {divided(rows, lines), divided(columns, parts), parts, parts == 1, byColumns, image.isShardInL1()};
}

/// A block of window contents as rows, and in tiles; weights for it; partial sums where they cannot lie in the result.
inline int64_t convolutionOf(const KernelFacts &op, const PlacedTensor &weight, const Part &part) {
  const WindowFacts &w = op.window;
  const int64_t channels = divided(w.slid.channels, 8) * 8;
  // The library takes blocks of a row of tiles where it shards by itself, else all rows of a core.
  int64_t blockRows = w.blockRows > 0 ? tilesAlong(w.blockRows) : part.isSharded ? part.rows : 1;
  blockRows = std::clamp<int64_t>(blockRows, 1, std::max<int64_t>(1, part.rows));
  while (part.rows % blockRows)
    --blockRows;
  const int64_t inColumns = divided(channels, part.channelParts) * w.width;
  const int64_t blockColumns = part.byColumns
                                   ? tilesAlong(divided(inColumns * w.height, std::max<int64_t>(1, w.widthDivisor)))
                                   : tilesAlong(inColumns);
  const int64_t block = blockRows * blockColumns, inTile = op.readsF32 ? f32Tile : bf16Tile;
  const int64_t outTile = op.outs[0].tileBytes, weightTile = weight.tileBytes;
  const int64_t imageTimes = w.buffersImageTwice ? 2 : 1, weightTimes = w.buffersWeightsTwice ? 2 : 1;
  const bool keepsWeights = part.byRows && part.rows > blockRows;
  int64_t bytes = part.columns * blockColumns * weightTile * (keepsWeights ? w.height : weightTimes);
  bytes += block * outTile; // in tiles
  if (part.byRows)
    bytes += block * inTile * imageTimes;
  else if (part.byColumns)
    bytes += block * outTile * imageTimes + 2 * blockColumns * inTile;
  else // rows lie in the room of the block when they have its format
    bytes += block * outTile * imageTimes + (inTile == outTile ? 0 : block * inTile * imageTimes);
  const int64_t steps = part.byColumns ? w.widthDivisor : w.height * (part.byRows ? 1 : part.channelParts);
  const bool accumulates = op.accumulatesInL1 && (steps > 2 || (w.hasBias && steps > 1));
  const int64_t partialTile = accumulates ? (op.accumulatesF32 ? f32Tile : bf16Tile) : outTile;
  if (partialTile != outTile || !op.outs[0].tiled)
    bytes += part.rows * part.columns * partialTile;
  if (w.hasBias)
    bytes += part.columns * weightTile;
  return bytes + 64; // what readers note
}

/// Of the ways to shard what lies in pages the library takes one that needs little L1.
inline int64_t convolution(const KernelFacts &op, int64_t usable) {
  const PlacedTensor *image = op.in(0), *weight = op.in(1);
  if (!image || !weight || op.window.slid.isPixel) // a product, whose blocks the library chooses
    return 0;
  const Part part = partOf(op, *image, channelParts(op.window.slid, *image));
  const int64_t bytes = convolutionOf(op, *weight, part);
  if (bytes <= usable || !part.byRows || part.isSharded)
    return bytes;
  return std::min(bytes, convolutionOf(op, *weight, partOf(op, *image, columnsOfBlocks(op.window.slid))));
}

/// Windows, as many as their channels have tiles, of two readers, twice each; factors; and the result before it is
/// tiles.
inline int64_t pool(const KernelFacts &op, int64_t) {
  const PlacedTensor *image = op.in(0);
  if (!image)
    return 0;
  const WindowFacts &w = op.window;
  const bool hasIndices = op.outs.size() > 1, isLarge = w.slid.area > tileSide;
  const int64_t element = op.readsF32 ? 4 : 2, tile = element * tileSide * tileSide;
  const int64_t wide = tilesAlong(divided(w.slid.channels, channelParts(w.slid, *image)));
  const int64_t most = hasIndices ? 1 : w.isAverage && isLarge ? 4 : 8;
  const int64_t rows = hasIndices || w.slid.area > tileSide / 2 ? tileSide : w.slid.area;
  const int64_t read = divided(std::min(wide, most) * rows, tileSide) * tile;
  int64_t bytes = 2 * tile * (w.dividesUnevenly ? 2 : 1) + tile + 4 * read;
  if (hasIndices)
    bytes += tile + 5 * 2 * tileSide * tileSide;
  return bytes + (op.outs[0].tiled ? wide * tile : 0);
}

/// A chunk of queries, chunks of keys and values twice, scores, results so far, and a column for each statistic.
inline int64_t attention(const KernelFacts &op, int64_t) {
  const Attended &a = op.attended;
  const PlacedTensor *query = op.in(0), *key = op.in(1), *value = op.in(2);
  if (!query || !key || !value)
    return 0;
  const int64_t rows = tilesAlong(a.rowChunk), columns = tilesAlong(a.columnChunk), depth = tilesAlong(a.size),
                width = tilesAlong(a.valueSize), chunks = divided(a.rows, a.rowChunk);
  const int64_t left = op.cores / std::max<int64_t>(1, std::min(a.batches, op.cores)),
                sharing = left / std::max<int64_t>(1, std::min(a.heads, left));
  const int64_t times = divided(chunks, std::max<int64_t>(1, std::min(sharing, chunks))) > 1 ? 2 : 1;
  const bool isPadded = a.rows % a.rowChunk || a.columns % a.columnChunk;
  int64_t bytes = rows * depth * times * query->tileBytes + 2 * columns * depth * key->tileBytes +
                  2 * columns * width * value->tileBytes;
  if (op.mask || a.isCausal || isPadded) // what the library makes itself is in bfp4
    bytes += 2 * rows * columns * (op.mask ? op.mask->tileBytes : 576);
  bytes += op.sink ? rows * op.sink->tileBytes : 0;
  bytes += (2 + rows * columns + 2 * rows * width + 5 * rows) * bf16Tile;
  return bytes + rows * width * op.outs[0].tileBytes;
}

/// The heads of a user are a chunk of queries; cores that share the keys of one send what they have to one of them.
inline int64_t decodedAttention(const KernelFacts &op, int64_t) {
  const Attended &a = op.attended;
  const PlacedTensor *query = op.in(0), *key = op.in(1), *value = op.in(2);
  if (!query || !key || !value)
    return 0;
  const int64_t rows = tilesAlong(a.rowChunk), columns = tilesAlong(a.columnChunk), depth = tilesAlong(a.size),
                width = tilesAlong(a.valueSize);
  const int64_t sharing = std::max<int64_t>(1, op.cores / std::max<int64_t>(1, a.batches * a.heads));
  // Half tiles where few heads are in bf16.
  const int64_t tile =
      a.isCausal && a.rowChunk <= tileSide / 2 && query->tileBytes == bf16Tile ? bf16Tile / 2 : bf16Tile;
  const int64_t queryTile = tile < bf16Tile ? tile : query->tileBytes;
  const int64_t maskTile = op.mask ? op.mask->tileBytes * tile / bf16Tile : tile;
  const int64_t results = rows * width;
  int64_t bytes = 2 * rows * depth * queryTile + 2 * columns * depth * key->tileBytes +
                  2 * columns * width * value->tileBytes + rows * columns * (maskTile + tile);
  bytes += 2 * tile + bf16Tile;                                              // factors
  bytes += 11 * rows * tile + (op.sink ? rows * tile : 0);                   // statistics
  bytes += 4 * results * tile + (results + 2 * rows) * (sharing - 1) * tile; // results so far, own and sent
  return bytes + (op.outs[0].isShardInL1() ? 0 : results * op.outs[0].tileBytes);
}

struct Rule {
  std::string_view op;
  int64_t (*bytes)(const KernelFacts &op, int64_t usable);
};
inline constexpr Rule rules[] = {
    {"ttnn.avg_pool2d", pool},
    {"ttnn.conv2d", convolution},
    {"ttnn.layer_norm", norm},
    {"ttnn.linear", product},
    {"ttnn.matmul", product},
    {"ttnn.max_pool2d", pool},
    {"ttnn.max_pool2d_with_indices", pool},
    {"ttnn.rms_norm", norm},
    {"ttnn.scaled_dot_product_attention", attention},
    {"ttnn.scaled_dot_product_attention_decode", decodedAttention},
    {"ttnn.softmax", softmax},
    {"ttnn.to_layout", tilize},
};

} // namespace circular

/// Bytes of each core, of which `usable` are there for tensors and circular buffers.
inline int64_t circularBytes(const KernelFacts &op, int64_t usable) {
  if (op.outs.empty() || !op.outs[0].onDevice())
    return 0;
  // Without elements nothing is read or written.
  auto isEmpty = [](const PlacedTensor &tensor) { return tensor.rows <= 0 || tensor.columns <= 0; };
  if (std::any_of(op.outs.begin(), op.outs.end(), isEmpty) ||
      std::any_of(op.ins.begin(), op.ins.end(), [&](const auto &each) { return each && isEmpty(*each); }))
    return 0;
  for (const circular::Rule &rule : circular::rules)
    if (rule.op == op.op)
      return rule.bytes(op, usable);
  return op.elementwise ? circular::elementwise(op, usable) : 0;
}

} // namespace ttmlir::cost

#endif // TTMLIR_TARGET_CIRCULARBUFFERS_H
