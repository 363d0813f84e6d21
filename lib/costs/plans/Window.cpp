//===- Window.cpp - plans of convolutions and pools -----------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Interleaved images are sharded first, their pixels are collected with those that windows of other cores need (halo),
// and the result is untilized to pages. The transfers of pixels between cores are counted run by run.
//
//===----------------------------------------------------------------------===//

#include "PlanRules.h"

#include <map>

namespace ttmlir::plan {
namespace {

/// Images under a window, and the positions of the window on each core.
struct Images {
  int64_t count = 1, height = 1, width = 1;
  int64_t outHeight = 1, outWidth = 1;
  int64_t kernelHeight = 1, kernelWidth = 1, strideHeight = 1, strideWidth = 1; // kernels with their dilation
  int64_t top = 0, left = 0, bottom = 0, right = 0;
  int64_t dilationHeight = 1, dilationWidth = 1;

  int64_t pixels() const { return count * height * width; }
  int64_t positions() const { return count * outHeight * outWidth; }
  int64_t paddedHeight() const { return height + top + bottom; }
  int64_t paddedWidth() const { return width + left + right; }
  /// The position in the padded images where the window of a position begins.
  int64_t begin(int64_t position) const {
    const int64_t row = position / outWidth, image = row / outHeight;
    return (image * paddedHeight() + row % outHeight * strideHeight) * paddedWidth() +
           position % outWidth * strideWidth;
  }
  int64_t end(int64_t position) const { return begin(position) + (kernelHeight - 1) * paddedWidth() + kernelWidth; }
};

std::optional<Images> imagesOf(const Op &op) {
  const auto kernel = numbers(op, "kernel_size"), stride = numbers(op, "stride"), padding = numbers(op, "padding"),
             dilation = numbers(op, "dilation");
  const auto at = [](const auto &list, size_t index, int64_t absent) {
    return list.empty() ? absent : list[std::min(index, list.size() - 1)];
  };
  Images images;
  images.count = number(op, "batch_size", 1);
  if (const int64_t length = number(op, "input_length"); length > 0) { // a sequence is one row of pixels
    images.width = length;
    images.dilationWidth = at(dilation, 0, 1);
    images.kernelWidth = (at(kernel, 0, 1) - 1) * images.dilationWidth + 1;
    images.strideWidth = at(stride, 0, 1);
    images.left = at(padding, 0, 0);
    images.right = at(padding, 1, 0);
  } else {
    images.height = number(op, "input_height");
    images.width = number(op, "input_width");
    images.dilationHeight = at(dilation, 0, 1);
    images.dilationWidth = at(dilation, 1, 1);
    images.kernelHeight = (at(kernel, 0, 1) - 1) * images.dilationHeight + 1;
    images.kernelWidth = (at(kernel, 1, 1) - 1) * images.dilationWidth + 1;
    images.strideHeight = at(stride, 0, 1);
    images.strideWidth = at(stride, 1, 1);
    const bool sides = padding.size() == 4;
    images.top = at(padding, 0, 0);
    images.bottom = sides ? padding[1] : images.top;
    images.left = at(padding, sides ? 2 : 1, 0);
    images.right = sides ? padding[3] : images.left;
  }
  // Counting runs takes time proportional to the number of rows.
  constexpr int64_t most = int64_t(1) << 20;
  for (const int64_t size :
       {images.count, images.height, images.width, images.kernelHeight, images.kernelWidth, images.strideHeight,
        images.strideWidth, images.top, images.left, images.bottom, images.right, number(op, "in_channels", 1),
        number(op, "out_channels", 1), number(op, "channels", 1)})
    if (size < 0 || size > most)
      return std::nullopt;
  if (images.count * images.paddedHeight() > most || images.pixels() > int64_t(1) << 40)
    return std::nullopt;
  if (images.count <= 0 || images.height <= 0 || images.width <= 0 || images.strideHeight <= 0 ||
      images.strideWidth <= 0 || images.paddedHeight() < images.kernelHeight ||
      images.paddedWidth() < images.kernelWidth || flag(op, "ceil_mode"))
    return std::nullopt;
  images.outHeight = (images.paddedHeight() - images.kernelHeight) / images.strideHeight + 1;
  images.outWidth = (images.paddedWidth() - images.kernelWidth) / images.strideWidth + 1;
  return images;
}

/// The parts of cores: rows of pixels before, positions after.
struct Parts {
  int64_t inRows = 1, outRows = 1;
  int64_t inChannels = 1, outTiles = 1; // of a core
  int64_t cores = 1;                    // among which positions are divided
};

/// The transfers of the halo program, in runs of adjacent pixels: each of two processors transfers every other run.
struct Halo {
  int64_t rows = 0;        // the most that a core gets
  int64_t padding[2] = {}; // runs of padding
  int64_t words[2] = {};   // of 16 bits, of the runs of pixels that a core sends
};

/// The most rows of pixels that a core needs.
int64_t haloRows(const Images &images, const Parts &parts) {
  int64_t most = 0;
  for (int64_t core = 0; core < parts.cores; ++core) {
    const int64_t first = core * parts.outRows, last = std::min(images.positions(), first + parts.outRows) - 1;
    if (first <= last)
      most = std::max(most, images.end(last) - images.begin(first));
  }
  return most;
}

Halo haloOf(const Images &images, const Parts &parts, bool counts) {
  Halo halo;
  halo.rows = haloRows(images, parts);
  if (!counts)
    return halo;
  struct Run {
    int64_t source, target;
  };
  std::map<int64_t, std::vector<Run>> sent;
  int64_t mostPadding = 0;
  const int64_t width = images.paddedWidth(), height = images.paddedHeight();
  for (int64_t core = 0; core < parts.cores; ++core) {
    const int64_t first = core * parts.outRows, last = std::min(images.positions(), first + parts.outRows) - 1;
    if (first > last)
      break;
    const int64_t begin = images.begin(first), end = images.end(last);
    int64_t padding = 0, next = -1; // the pixel that would continue a run; -1: padding would, -2: nothing
    next = -2;
    for (int64_t at = begin; at < end;) {
      const int64_t row = at / width, column = at % width - images.left, y = row % height - images.top;
      const bool isPixel = y >= 0 && y < images.height && column >= 0 && column < images.width;
      if (!isPixel) {
        padding += next != -1;
        next = -1;
        const int64_t rest = width - at % width;
        at += y < 0 || y >= images.height || column >= images.width ? rest : -column;
        continue;
      }
      const int64_t pixel = (row / height * images.height + y) * images.width + column;
      const int64_t source = pixel / parts.inRows;
      const int64_t count = std::min({end - at, images.width - column, (source + 1) * parts.inRows - pixel});
      if (next != pixel || pixel % parts.inRows == 0)
        sent[source].push_back({source, core});
      next = pixel + count;
      at += count;
    }
    mostPadding = std::max(mostPadding, padding);
  }
  halo.padding[0] = mostPadding / 2;
  halo.padding[1] = mostPadding - mostPadding / 2;
  for (const auto &[source, runs] : sent)
    for (size_t half = 0; half < 2; ++half) {
      // Three words per run, and as many for each core that receives any; one in addition.
      int64_t words = 0, target = -1;
      for (size_t i = half; i < runs.size(); i += 2) {
        words += runs[i].target == target ? 3 : 6;
        target = runs[i].target;
      }
      halo.words[half] = std::max(halo.words[half], rounded(words + 1, 2));
    }
  return halo;
}

/// Runs of positions in rows of the result, of the core with most: [from, to) of a core's positions.
int64_t positionRuns(const Images &images, const Parts &parts, int64_t from, int64_t to, int64_t core) {
  const int64_t first = core * parts.outRows + from,
                last = std::min(images.positions(), core * parts.outRows + std::min(to, parts.outRows)) - 1;
  return first > last ? 0 : last / images.outWidth - first / images.outWidth + 1;
}

Step haloStep(const Images &images, const Parts &parts, const Halo &halo, const Compute &compute) {
  const int64_t row = parts.inChannels * 2;
  Step step{"HaloDeviceOperation", "UntilizeWithHaloProgramFactory", compute};
  const auto tensor = [](int64_t bytes) { return Buffer{bytes, Format::Float16B, Format::Float16B, true}; };
  step.buffers = {tensor(parts.inRows * row), tensor(halo.rows * row), {row}, {row}};
  for (const int64_t runs : halo.padding)
    step.buffers.push_back(tensor((runs + 1) * 4));
  for (const int64_t words : halo.words)
    step.buffers.push_back(tensor(words * 2));
  return step;
}

/// The step from pages to shards: a shard and, for shards of rows, space to align four of them.
Step shardingStep(const Parts &parts) {
  constexpr int64_t alignment = 32;
  const int64_t row = parts.inChannels * 2;
  Step step{"InterleavedToShardedDeviceOperation", "InterleavedToShardedProgramFactory"};
  step.buffers = {{parts.inRows * row}, {4 * (rounded(row, alignment) + alignment)}};
  return step;
}

/// Bytes of a core while a program runs: circular buffers and tensors. Partial sums are in the result.
int64_t l1Bytes(const Step &step) {
  int64_t result = 0, bytes = step.bytes();
  for (const Buffer &buffer : step.buffers) {
    if (!buffer.isTensor || buffer.bytes == result)
      continue;
    result = result ? result : buffer.bytes;
    bytes += buffer.bytes;
  }
  return bytes;
}

int64_t l1Bytes(const std::vector<Step> &steps) {
  int64_t most = 0;
  for (const Step &step : steps)
    most = std::max(most, l1Bytes(step));
  return most;
}

/// `columns`: of cores, among which channels are divided; 1: positions are divided among all cores.
std::vector<Step> shardedConvolution(const Op &op, const Images &images, const Compute &compute, int64_t lines,
                                     int64_t columns, int64_t usable, bool counts) {
  const PlacedTensor &image = *op.in(0), &out = op.outs[0];
  constexpr int64_t channelUnit = 8; // 16 bytes
  const int64_t channels = rounded(number(op, "in_channels", 1), channelUnit);
  const int64_t rows = tilesAlong(images.positions());
  Parts parts;
  const int64_t rowsOfCore = divided(rows, lines);
  parts.cores = divided(rows, rowsOfCore);
  parts.outRows = rowsOfCore * cost::tileSide;
  parts.inRows = rounded(divided(images.pixels(), parts.cores), cost::tileSide);
  parts.inChannels = rounded(divided(channels, columns), channelUnit);
  parts.outTiles = tilesAlong(divided(number(op, "out_channels", 1), columns));
  const Halo halo = haloOf(images, parts, counts);
  // One row of the window at a time.
  const int64_t kernelWidth = (images.kernelWidth - 1) / std::max<int64_t>(1, images.dilationWidth) + 1;
  const int64_t depth = tilesAlong(kernelWidth * parts.inChannels);
  const Format resultFormat = formatOf(out),
               weights = formatOf(*op.in(1)) == Format::Float32 ? resultFormat : formatOf(*op.in(1));
  const bool wide = compute.f32Destination;
  const bool isSplit = rowsOfCore > 1; // between two readers
  const int64_t firstRows = isSplit ? divided(rowsOfCore, 2) : rowsOfCore;
  int64_t words = 0;
  for (int64_t core = 0; core < parts.cores; ++core) {
    int64_t sum = 2 + 2 * positionRuns(images, parts, 0, firstRows * cost::tileSide, core);
    if (isSplit)
      sum += 2 + 2 * positionRuns(images, parts, firstRows * cost::tileSide, parts.outRows, core);
    words = std::max(words, sum);
  }
  Buffer result = tiles(rowsOfCore * parts.outTiles, resultFormat, wide);
  result.isTensor = true;
  const int64_t kernelHeight = (images.kernelHeight - 1) / std::max<int64_t>(1, images.dilationHeight) + 1;
  const auto stepOf = [&](int64_t blockRows) {
    Step step{"Conv2dDeviceOperation", "Conv2dShardedProgramFactory", compute};
    Blocks &blocks = step.blocks.emplace();
    blocks.perCoreM = rowsOfCore;
    blocks.outBlockH = blockRows;
    blocks.perCoreN = blocks.outBlockW = parts.outTiles;
    blocks.in0BlockW = depth;
    blocks.count = kernelHeight * divided(channels, parts.inChannels);
    blocks.channels = parts.inChannels;
    blocks.partials = partialsOf(compute, resultFormat, blocks.count);
    chooseSubblock(blocks, wide);
    auto &buffers = step.buffers;
    // Blocks of rows use the same weights, which stay.
    const int64_t weightBlocks = columns == 1 && blockRows < rowsOfCore ? kernelHeight : 1;
    buffers = {tiles(weightBlocks * depth * parts.outTiles, weights, wide), result};
    if (op.in(2))
      buffers.push_back(tiles(parts.outTiles, weights, wide));
    // Windows as rows, for each reader if it has all channels, and in tiles.
    const int64_t first = columns == 1 ? divided(blockRows, 2) : blockRows;
    buffers.push_back(tiles(first * depth, Format::Float16B, wide));
    if (first < blockRows)
      buffers.push_back(tiles((blockRows - first) * depth, Format::Float16B, wide));
    buffers.push_back(tiles(blockRows * depth, resultFormat, wide));
    buffers.push_back(result);
    buffers.push_back({words * 2, Format::UInt16, Format::UInt16, true});
    buffers.push_back({64, Format::UInt16, Format::UInt16});
    buffers.push_back({halo.rows * parts.inChannels * 2, Format::Float16B, Format::Float16B, true});
    return step;
  };
  // All windows of a core at a time, if they fit in L1.
  int64_t blockRows = rowsOfCore;
  Step step = stepOf(blockRows);
  while (blockRows > 1 && l1Bytes(step) > usable) {
    blockRows = divisorUpTo(rowsOfCore, blockRows - 1);
    step = stepOf(blockRows);
  }
  std::vector<Step> steps;
  if (!image.isShardInL1())
    steps.push_back(shardingStep(parts));
  steps.push_back(haloStep(images, parts, halo, compute));
  steps.push_back(std::move(step));
  if (!out.isShardInL1()) {
    Step back{"ShardedToInterleavedDeviceOperation", "ShardedToInterleavedProgramFactory"};
    back.buffers = {tiles(rowsOfCore * parts.outTiles, resultFormat, wide)};
    steps.push_back(std::move(back));
  }
  return steps;
}

/// A sequence with one group per channel is not a product: another kernel multiplies element by element.
bool isDepthwise(const Op &op, const Images &images) {
  const int64_t groups = number(op, "groups", 1);
  return groups > 1 && groups == number(op, "in_channels", 1) && groups == number(op, "out_channels", 1) &&
         images.height == 1 && images.kernelHeight == 1 && !op.in(2);
}

} // namespace

/// Weights of groups are those of all channels, with zeros. A window of one pixel is a product. Any other convolution
/// is sharded by rows of the result or in blocks, whichever needs less L1.
template <bool counts> std::vector<Step> convolutionPlan(const Op &op, const Chip &chip) {
  const std::optional<Images> images = imagesOf(op);
  if (!images || !op.in(1) || isDepthwise(op, *images) || op.in(0)->isShardInL1())
    return {};
  // Blocks of the caller's choice.
  if (number(op, "conv2d_config.act_block_h_override") > 0 || number(op, "conv2d_config.act_block_w_div", 1) > 1 ||
      flag(op, "conv2d_config.enable_act_double_buffer") || flag(op, "conv2d_config.enable_weights_double_buffer"))
    return {};
  const Compute compute = *computeOf(op);
  const PlacedTensor &image = *op.in(0), &out = op.outs[0];
  const bool isPixel = images->kernelHeight == 1 && images->kernelWidth == 1 && images->strideHeight == 1 &&
                       images->strideWidth == 1 && images->paddedHeight() == images->height &&
                       images->paddedWidth() == images->width;
  if (!isPixel) {
    const auto cut = [&](bool byRows, bool lists) {
      return byRows ? shardedConvolution(op, *images, compute, chip.cores(), 1, chip.usable, lists)
                    : shardedConvolution(op, *images, compute, chip.gridRows, chip.gridColumns, chip.usable, lists);
    };
    std::vector<Step> byRows = cut(true, false), byBlocks = cut(false, false);
    const bool isByRows = l1Bytes(byRows) <= l1Bytes(byBlocks);
    return counts ? cut(isByRows, true) : isByRows ? byRows : byBlocks;
  }
  std::vector<Step> steps;
  const int64_t channels = number(op, "in_channels", 1);
  if (!image.tiled) {
    const int64_t width = tilesAlong(channels), rows = tilesAlong(images->pixels());
    Step &step = steps.emplace_back();
    step.operation = "TilizeDeviceOperation";
    step.factory = "TilizeMultiCoreDefaultProgramFactory";
    step.buffers = {tiles(width, formatOf(image), image.isF32), tiles(width, formatOf(image), image.isF32)};
    step.arguments = {{"per_core_block_cnt", divided(rows, chip.cores())}, {"per_core_block_tile_cnt", width}};
  }
  const Product product{1, images->pixels(), channels, number(op, "out_channels", 1)};
  const Format given = formatOf(image), resultFormat = formatOf(out),
               weights = formatOf(*op.in(1)) == Format::Float32 ? resultFormat : formatOf(*op.in(1));
  bool isOneDimensional = false;
  const Blocks blocks = chosenBlocks(product, given, weights, resultFormat, compute, op.in(2) ? tileBytes(weights) : 0,
                                     chip, isOneDimensional);
  steps.push_back(
      productStep(blocks, given, weights, resultFormat, compute, op.in(2) ? std::optional(weights) : std::nullopt));
  steps.back().factory =
      isOneDimensional ? "MatmulMultiCoreReuseMcast1DProgramFactory" : "MatmulMultiCoreReuseMcast2DProgramFactory";
  return steps;
}

/// Windows of two readers, 32 elements of each channel; a tile of factors.
template <bool counts> std::vector<Step> poolPlan(const Op &op, const Chip &chip) {
  const std::optional<Images> images = imagesOf(op);
  if (!images || op.in(0)->isShardInL1() || op.outs.size() != 1)
    return {};
  const int64_t channels = number(op, "channels", 1);
  Parts parts;
  parts.outRows = divided(images->positions(), chip.cores());
  parts.cores = divided(images->positions(), parts.outRows);
  parts.inRows = divided(images->pixels(), parts.cores);
  parts.inChannels = rounded(channels, 8);
  const Halo halo = haloOf(*images, parts, counts);
  int64_t runs = 0;
  for (int64_t core = 0; core < parts.cores; ++core)
    runs = std::max(runs, positionRuns(*images, parts, 0, parts.outRows, core));
  const int64_t row = parts.inChannels * 2, window = cost::tileSide * rounded(channels, cost::tileSide) * 2;
  const auto tensor = [](int64_t bytes) { return Buffer{bytes, Format::Float16B, Format::Float16B, true}; };
  Step step{"Pool2D", "MultiCore"};
  step.buffers = {{window}, tiles(1, Format::Float16B, false), tensor(halo.rows * row), tensor(runs * 4), {window},
                  {window}, tensor(parts.outRows * row)};
  std::vector<Step> steps;
  steps.push_back(shardingStep(parts));
  steps.push_back(haloStep(*images, parts, halo, {.phases = 4, .approximate = true}));
  steps.push_back(std::move(step));
  return steps;
}

template std::vector<Step> convolutionPlan<true>(const Op &op, const Chip &chip);
template std::vector<Step> convolutionPlan<false>(const Op &op, const Chip &chip);
template std::vector<Step> poolPlan<true>(const Op &op, const Chip &chip);
template std::vector<Step> poolPlan<false>(const Op &op, const Chip &chip);

} // namespace ttmlir::plan
