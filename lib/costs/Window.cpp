//===- Window.cpp - cost rules of convolutions and pools ------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Rules.h"

namespace ttmlir::cost {
namespace {

/// A window that slides over images, by the attributes. Lists have an entry for each spatial dimension.
struct Window {
  int64_t positions = 0; // of the window, over all images
  int64_t area = 1;      // elements under the window in one channel
  int64_t lines = 1;     // runs of them that lie side by side in memory
  int64_t channels = 0;
  bool isPixel = false; // the window is a pixel, and moves by one: its contents are the image
  int64_t height = 1, width = 1;
};

int64_t at(const tt::shapes::Sizes &sizes, size_t index, int64_t absent) {
  return index < sizes.size() ? sizes[index] : absent;
}

/// `spreads`: a transposed convolution, whose windows are over an image with gaps.
Window windowOf(const Op &op, std::string_view channels, bool spreads = false) {
  const auto kernel = numbers(op, "kernel_size"), stride = numbers(op, "stride"), padding = numbers(op, "padding"),
             dilation = numbers(op, "dilation");
  const PlacedTensor &out = op.outs[0];
  Window window;
  for (const int64_t size : kernel)
    window.area *= size;
  window.height = at(kernel, 0, 1);
  window.width = kernel.empty() ? 1 : kernel.back();
  window.channels = number(op, channels);
  window.positions = out.elements() / std::max<int64_t>(1, number(op, "out_channels", window.channels));
  auto isOther = [](const tt::shapes::Sizes &sizes, int64_t value) {
    return std::any_of(sizes.begin(), sizes.end(), [value](int64_t size) { return size != value; });
  };
  window.isPixel = !spreads && window.area == 1 && !isOther(stride, 1) && !isOther(padding, 0);
  // Elements of a row of the window are adjacent unless there are gaps between them.
  const int64_t run = dilation.empty() || dilation.back() == 1 ? window.width : 1;
  window.lines = window.area / std::max<int64_t>(1, run);
  return window;
}

constexpr int64_t fewRows = 256; // of tiles: then work is cut into blocks, else into rows

/// The columns of cores, of which a grid has eight, among which blocks of an image are divided.
int64_t columnsOfBlocks(int64_t channels) { return std::clamp<int64_t>(tilesAlong(channels), 1, 8); }

/// The columns of cores among which the channels of an image are divided. The library shards an image without shards:
/// by rows or, if there are few, by blocks (assumed).
int64_t channelParts(const Window &window, int64_t channels, const PlacedTensor &image) {
  if (image.isShardInL1())
    return image.shards == Shards::Block || image.shards == Shards::Width ? image.gridColumns : 1;
  return tilesAlong(window.positions) < fewRows ? columnsOfBlocks(channels) : 1;
}

/// Windows are over rows of pixels of 16 bits: a separate program (halo) untilizes tiles, and sends pixels that windows
/// of other cores need to these. Interleaved tensors are sharded before and untilized to pages after. Then data
/// movement processors copy the contents of each window, line by line: two of each core if it has all channels.
void addWindows(Work &work, const Window &window, const PlacedTensor &image, const PlacedTensor &result) {
  if (window.isPixel)
    return;
  const int64_t parts = channelParts(window, window.channels, image);
  work.programs += 1 + !image.isShardInL1() + !result.isShardInL1();
  if (image.tiled)
    work.tilizeTiles += image.tiles;
  work.pieces += window.positions * window.lines * parts;
  work.pieceBytes += window.positions * window.area * window.channels * 2;
  work.copiers = parts == 1 ? 2 : 1;
}

/// A matrix of window contents times the weights; weights of groups are padded with zeros. Window contents, whose
/// channels are padded to 16 bytes, are tilized. One core reads the weights for all, or one of each column if the
/// channels of results are divided; prepared weights are in DRAM.
template <bool spreads> void convolutionWork(const Op &op, Work &work) {
  addTraffic(work, op, /*moves=*/false);
  const PlacedTensor *image = op.in(0), *weight = op.in(1);
  if (!image || !weight || op.outs.empty())
    return;
  work.kind = Kind::Convolution;
  const PlacedTensor &result = op.outs[0];
  Window window = windowOf(op, "in_channels", spreads);
  const int64_t results = number(op, "out_channels");
  if (!window.isPixel)
    window.channels = divided(window.channels, 8) * 8;
  const int64_t rows = tilesAlong(window.positions), depth = tilesAlong(window.channels * window.area),
                width = tilesAlong(results);
  work.matmulTiles = rows * depth * width;
  if (!window.isPixel)
    work.tilizeTiles += rows * depth;
  addWindows(work, window, *image, result);
  work.castBytes += depth * width * weight->tileBytes;
  work.casters = std::max(channelParts(window, window.channels, *image), channelParts(window, results, *image));
  if (weight->memory == Memory::Host) {
    work.dramBytes += depth * width * weight->tileBytes;
    work.dramPages += depth * width;
  }
  if (op.in(2))
    work.fpuTiles += result.tiles;
  addActivation(op, work);
}

/// A pool reduces the contents of each window, 32 elements at a time.
void poolWork(const Op &op, Work &work) {
  addTraffic(work, op, /*moves=*/false);
  const PlacedTensor *image = op.in(0);
  if (!image || op.outs.empty())
    return;
  const Window window = windowOf(op, "channels");
  addWindows(work, window, *image, op.outs[0]);
  work.tilizeTiles += window.positions * tilesAlong(window.channels) * tilesAlong(window.area);
}

//===----------------------------------------------------------------------===//
// Circular buffers
//===----------------------------------------------------------------------===//

/// The tiles of the result that a core computes, and the columns of cores among which channels are divided. The library
/// first shards interleaved tensors: by rows or, if there are few, in blocks of a grid of eight columns.
struct Part {
  int64_t rows, columns, channelParts;
  bool byRows, byColumns, isSharded;
};

Part partOf(const Op &op, const Window &window, const PlacedTensor &image, int64_t cores, int64_t parts) {
  const PlacedTensor &out = op.outs[0];
  const int64_t rows = tilesAlong(window.positions), columns = tilesAlong(out.columns);
  const bool byColumns = image.isShardInL1() && image.shards == Shards::Width;
  if (out.isShardInL1() && out.shards != Shards::Other)
    return {tilesAlong(out.shardRows), tilesAlong(out.shardColumns), parts, parts == 1, byColumns, true};
  const int64_t lines = byColumns ? 1 : std::max<int64_t>(1, cores / parts);
  return {divided(rows, lines), divided(columns, parts), parts, parts == 1, byColumns, image.isShardInL1()};
}

/// A block of window contents as rows, and in tiles; weights for it; partial sums if they do not fit into the result.
int64_t convolutionBytes(const Op &op, const Window &window, const Part &part) {
  const PlacedTensor &image = *op.in(0), &weight = *op.in(1), &out = op.outs[0];
  const int64_t channels = divided(window.channels, 8) * 8;
  const int64_t givenRows = number(op, "conv2d_config.act_block_h_override"),
                widthDivisor = std::max<int64_t>(1, number(op, "conv2d_config.act_block_w_div"));
  // The library uses blocks of a row of tiles if it shards by itself, else all rows of a core.
  int64_t blockRows = givenRows > 0 ? tilesAlong(givenRows) : part.isSharded ? part.rows : 1;
  blockRows = std::clamp<int64_t>(blockRows, 1, std::max<int64_t>(1, part.rows));
  while (part.rows % blockRows)
    --blockRows;
  const int64_t inColumns = divided(channels, part.channelParts) * window.width;
  const int64_t blockColumns =
      part.byColumns ? tilesAlong(divided(inColumns * window.height, widthDivisor)) : tilesAlong(inColumns);
  const int64_t block = blockRows * blockColumns, inTile = image.isF32 ? f32Tile : bf16Tile;
  const int64_t outTile = out.tileBytes, weightTile = weight.tileBytes;
  const int64_t imageTimes = flag(op, "conv2d_config.enable_act_double_buffer") ? 2 : 1,
                weightTimes = flag(op, "conv2d_config.enable_weights_double_buffer") ? 2 : 1;
  const bool keepsWeights = part.byRows && part.rows > blockRows, hasBias = op.in(2);
  int64_t bytes = part.columns * blockColumns * weightTile * (keepsWeights ? window.height : weightTimes);
  bytes += block * outTile; // in tiles
  if (part.byRows)
    bytes += block * inTile * imageTimes;
  else if (part.byColumns)
    bytes += block * outTile * imageTimes + 2 * blockColumns * inTile;
  else // rows lie in the room of the block when they have its format
    bytes += block * outTile * imageTimes + (inTile == outTile ? 0 : block * inTile * imageTimes);
  const int64_t steps = part.byColumns ? widthDivisor : window.height * (part.byRows ? 1 : part.channelParts);
  const bool accumulates = flag(op, "compute_config.packer_l1_acc") && (steps > 2 || (hasBias && steps > 1));
  const int64_t partialTile = accumulates ? (accumulatesF32(op) ? f32Tile : bf16Tile) : outTile;
  if (partialTile != outTile || !out.tiled)
    bytes += part.rows * part.columns * partialTile;
  if (hasBias)
    bytes += part.columns * weightTile;
  return bytes + 64; // what readers note
}

/// Returns the bytes of circular buffers. For interleaved tensors, the library chooses a sharding that needs little L1.
int64_t convolutionBuffers(const Op &op, const Chip &chip) {
  const int64_t cores = chip.cores(), usable = chip.usable;
  const PlacedTensor *image = op.in(0);
  if (!image || !op.in(1))
    return 0;
  const Window window = windowOf(op, "in_channels");
  if (window.isPixel) // a product, whose blocks the library chooses
    return 0;
  const Part part = partOf(op, window, *image, cores, channelParts(window, window.channels, *image));
  const int64_t bytes = convolutionBytes(op, window, part);
  if (bytes <= usable || !part.byRows || part.isSharded)
    return bytes;
  const Part blocks = partOf(op, window, *image, cores, columnsOfBlocks(window.channels));
  return std::min(bytes, convolutionBytes(op, window, blocks));
}

/// Whether an average has windows with fewer elements than others: they reach beyond the padding, or padding does not
/// count.
bool dividesUnevenly(const Op &op) {
  const auto kernel = numbers(op, "kernel_size"), stride = numbers(op, "stride"), padding = numbers(op, "padding"),
             dilation = numbers(op, "dilation");
  const bool countsPadding = flag(op, "count_include_pad", true), rounds = flag(op, "ceil_mode");
  constexpr std::string_view sizes[] = {"input_height", "input_width"};
  for (size_t d = 0; d < 2; ++d) {
    const bool sides = padding.size() == 4;
    const int64_t low = at(padding, sides ? 2 * d : d, 0), high = at(padding, sides ? 2 * d + 1 : d, 0);
    const int64_t size = number(op, sizes[d]), step = std::max<int64_t>(1, at(stride, d, 1));
    const int64_t extent = at(dilation, d, 1) * (at(kernel, d, 1) - 1) + 1, slack = size + low + high - extent;
    int64_t positions = (slack + (rounds ? step - 1 : 0)) / step + 1;
    // As in torch, the last window starts inside of the image or the padding before it.
    if (rounds && (positions - 1) * step >= size + low)
      --positions;
    if ((positions - 1) * step > slack || (!countsPadding && (low || high)))
      return true;
  }
  return false;
}

/// Windows, as many as their channels have tiles, of two readers, twice each; factors; and the result before it is
/// tilized.
template <bool isAverage> int64_t poolBuffers(const Op &op, const Chip &) {
  const PlacedTensor *image = op.in(0);
  if (!image)
    return 0;
  const Window window = windowOf(op, "channels");
  const bool hasIndices = op.outs.size() > 1, isLarge = window.area > tileSide;
  const int64_t element = image->isF32 ? 4 : 2, tile = element * tileSide * tileSide;
  const int64_t wide = tilesAlong(divided(window.channels, channelParts(window, window.channels, *image)));
  const int64_t most = hasIndices ? 1 : isAverage && isLarge ? 4 : 8;
  const int64_t rows = hasIndices || window.area > tileSide / 2 ? tileSide : window.area;
  const int64_t read = divided(std::min(wide, most) * rows, tileSide) * tile;
  int64_t bytes = 2 * tile * (isAverage && dividesUnevenly(op) ? 2 : 1) + tile + 4 * read;
  if (hasIndices)
    bytes += tile + 5 * 2 * tileSide * tileSide;
  return bytes + (op.outs[0].tiled ? wide * tile : 0);
}

} // namespace

std::span<const Rule> windowRules() {
  static constexpr Rule rows[] = {
      {"ttnn.conv1d", Family::Convolution, Traffic::Own, convolutionWork<false>},
      {"ttnn.conv2d", Family::Convolution, Traffic::Own, convolutionWork<false>, convolutionBuffers},
      {"ttnn.conv_transpose2d", Family::Convolution, Traffic::Own, convolutionWork<true>},
      {"ttnn.conv3d", Family::Other, Traffic::Own, convolutionWork<false>},
      {"ttnn.conv_transpose3d", Family::Other, Traffic::Own, convolutionWork<true>},
      {"ttnn.max_pool2d", Family::Pool, Traffic::Own, poolWork, poolBuffers<false>},
      {"ttnn.max_pool2d_with_indices", Family::Pool, Traffic::Own, poolWork, poolBuffers<false>},
      {"ttnn.avg_pool2d", Family::Pool, Traffic::Own, poolWork, poolBuffers<true>},
      {"ttnn.global_avg_pool2d", Family::Other, Traffic::Shards, vectorPasses},
      {"ttnn.upsample", Family::Other, Traffic::Shards, vectorPasses},
      {"ttnn.prepare_conv2d_weights", Family::Other, Traffic::Network},
      {"ttnn.prepare_conv2d_bias", Family::Other, Traffic::Network},
      {"ttnn.prepare_conv_transpose2d_weights", Family::Other, Traffic::Network},
      {"ttnn.prepare_conv_transpose2d_bias", Family::Other, Traffic::Network},
      {"ttnn.prepare_conv3d_weights", Family::Other, Traffic::Network},
  };
  return rows;
}

} // namespace ttmlir::cost
