//===- winograd.cpp - 3x3 convolutions with fewer products ---------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// A tile of 2x2 or 4x4 results of a 3x3 window with stride 1 depends on 4x4 or 6x6 pixels. Both these and the weights
// are transformed to as many places (Winograd's F(2x2, 3x3) and F(4x4, 3x3)), where 16 products for each pair of
// channels take the place of 36, or 36 that of 144: at each place, the tiles by the channels are a matrix that is
// multiplied with one of the weights.
//
// A sum of a place has pixels of a window with all signs, so a result has an error relative to the largest pixel of its
// tile and the largest element of its window in each channel, not to their products, and Inf - Inf can take the place
// of Inf. Images are therefore only convolved in this way if all values are finite, nothing can overflow, and in each
// tile the largest pixel of any window is not much smaller than that of the tile; and weights only if no element of the
// window is much smaller than another in all channels of an output, and in no channel that counts most elements are:
// edge filters, for example. Images that large tiles do not suit are convolved with small ones, others directly. Each
// image is decided alone, so that its result does not depend on the values of the others of its batch.
//
// The places of large tiles have factors that are no powers of two: sums of whole numbers would not be exact. Weights
// of which an output has multiples of a power of two with few bits are transformed for small tiles.
//
// Weights are kept in one form, that of the direct convolution, and transformed in each run: 16 or 36 values of f32
// would take the place of 9, or of 9 of bf16.
//
//===----------------------------------------------------------------------===//

#include "kernels/window/winograd.h"

#include "core/library.h"
#include "kernels/elementwise/epilogue.h"
#include "kernels/window/winograd_tiles.h"
#include "tt/parallel.h"
#include "tt/units.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <functional>
#include <optional>

namespace tt::ttnn {
namespace {

using panels::ceilDivide;
using panels::Unit;

constexpr Unit unit = Unit::F32;
constexpr int64_t width = panels::width(unit);
constexpr int64_t taps = 9;                                  // of a window
constexpr int64_t columns512 = panels::tileApart512.columns; // of a panel of weights with AVX-512; with AVX2: width
static_assert(panels::tileApart2.columns == width);
constexpr auto floatBytes = static_cast<int64_t>(sizeof(float));
constexpr uint32_t magnitude = 0x7fffffff;

/// The bits of |x| order numbers; those of infinities and NaN are the largest.
uint32_t magnitudeOf(float x) { return std::bit_cast<uint32_t>(x) & magnitude; }
uint32_t magnitudeOf(uint16_t bf16) { return uint32_t(bf16 & 0x7fff) << 16; }
float floatOf(float x) { return x; }
float floatOf(uint16_t bf16) { return std::bit_cast<float>(uint32_t(bf16) << 16); }

/// exponents: by which numbers may be smaller than others.
bool isMuchSmaller(uint32_t bits, uint32_t than, uint32_t exponents) { return (than >> 23) > (bits >> 23) + exponents; }

/// Rows of channels in a panel: those of each element of the window, as f32.
class ChannelRows {
public:
  /// Channels that are read at once: their rows follow one another.
  static constexpr int64_t most = 8;

  ChannelRows(const WeightPanels &weights, int64_t panel, int64_t channels)
      : weights(weights), first(weights.values + panel * taps * channels * rowBytes()), apart(channels * rowBytes()) {}

  const float *const *of(int64_t channel, int64_t count = 1) {
    const int64_t bytes = count * rowBytes();
    for (int64_t t = 0; t < taps; ++t) {
      const std::byte *const from = first + t * apart + channel * rowBytes();
      rows[t] = reinterpret_cast<const float *>(from);
      if (!weights.narrow)
        continue;
      for (int64_t c = 0; c < count; ++c)
        panels::widenNarrow(from + c * rowBytes(), weights.columns, widened[t] + c * weights.columns);
      rows[t] = widened[t];
      for (int64_t line = 0; line < bytes; line += 64)
        __builtin_prefetch(from + bytes + line); // of the next channels
    }
    return rows;
  }

private:
  int64_t rowBytes() const { return weights.columns * (weights.narrow ? 2 : floatBytes); }

  const WeightPanels &weights;
  const std::byte *first;
  int64_t apart; // bytes from one element of the window to the next
  const float *rows[taps];
  alignas(64) float widened[taps][most * width];
};

/// The largest magnitude of the weights of a panel if they can be transformed. mostApart: of the tile.
std::optional<uint32_t> largestOfPanel(const WeightPanels &weights, int64_t panel, int64_t channels,
                                       uint32_t mostApart) {
  constexpr uint32_t least = 27 << 23; // 2^-100: smaller ones lose bits when they are transformed
  const int64_t columns = weights.columns;
  ChannelRows rows(weights, panel, channels);
  uint32_t largest[taps][width] = {}, high[width] = {}, low[width];
  for (int64_t c = 0; c < channels; ++c) {
    const float *const *const window = rows.of(c);
    for (int64_t t = 0; t < taps; ++t)
      for (int64_t o = 0; o < columns; ++o)
        largest[t][o] = std::max(largest[t][o], magnitudeOf(window[t][o]));
  }
  std::copy_n(largest[0], columns, low);
  for (int64_t o = 0; o < columns; ++o)
    for (int64_t t = 0; t < taps; ++t) {
      high[o] = std::max(high[o], largest[t][o]);
      low[o] = std::min(low[o], largest[t][o]);
    }
  for (int64_t o = 0; o < columns; ++o)
    if (high[o] >= 0x7f800000 || (high[o] > 0 && high[o] < least) || isMuchSmaller(low[o], high[o], mostApart))
      return std::nullopt;
  // Whether most elements of a window that counts are much smaller than its largest one.
  uint32_t sparse = 0;
  for (int64_t c = 0; c < channels; ++c) {
    const float *const *const window = rows.of(c);
    for (int64_t o = 0; o < columns; ++o) {
      uint32_t most = 0, small = 0;
      for (int64_t t = 0; t < taps; ++t)
        most = std::max(most, magnitudeOf(window[t][o]));
      for (int64_t t = 0; t < taps; ++t)
        small += isMuchSmaller(magnitudeOf(window[t][o]), most, mostApart);
      sparse |= uint32_t(!isMuchSmaller(most, high[o], mostApart)) & uint32_t(small > taps / 2);
    }
  }
  return sparse ? std::nullopt : std::optional(*std::max_element(high, high + columns));
}

/// The same of all weights.
std::optional<float> largestWeight(const WeightPanels &weights, int64_t out, int64_t channels, uint32_t mostApart) {
  constexpr uint32_t none = ~uint32_t(0);
  std::vector<uint32_t> ofPanels(static_cast<size_t>(ceilDivide(out, weights.columns)));
  parallelFor(static_cast<int64_t>(ofPanels.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t panel = begin; panel < end; ++panel)
      ofPanels[static_cast<size_t>(panel)] = largestOfPanel(weights, panel, channels, mostApart).value_or(none);
  });
  const uint32_t largest = std::ranges::max(ofPanels);
  return largest == none ? std::nullopt : std::optional(std::bit_cast<float>(largest));
}

/// Whether an output has weights that are whole numbers of few bits, or multiples of a power of two by such numbers,
/// and not all 0: its sums are exact if the pixels are such numbers as well.
bool haveMultiples(const WeightPanels &weights, int64_t out, int64_t channels) {
  constexpr int bits = 13; // up to 4096
  const int64_t columns = weights.columns;
  for (int64_t panel = 0; panel < ceilDivide(out, columns); ++panel) {
    ChannelRows rows(weights, panel, channels);
    float largest[width] = {}, scale[width];
    for (int64_t c = 0; c < channels; ++c) {
      const float *const *const window = rows.of(c);
      for (int64_t t = 0; t < taps; ++t)
        for (int64_t o = 0; o < columns; ++o)
          largest[o] = std::max(largest[o], std::fabs(window[t][o]));
    }
    bool isMultiple[width];
    for (int64_t o = 0; o < columns; ++o) {
      isMultiple[o] = largest[o] > 0;
      scale[o] = isMultiple[o] ? std::ldexp(1.0f, bits - 1 - std::ilogb(largest[o])) : 0;
    }
    for (int64_t c = 0; c < channels && std::any_of(isMultiple, isMultiple + columns, std::identity()); ++c) {
      const float *const *const window = rows.of(c);
      for (int64_t t = 0; t < taps; ++t)
        for (int64_t o = 0; o < columns; ++o)
          isMultiple[o] &= window[t][o] * scale[o] == std::rint(window[t][o] * scale[o]);
    }
    if (std::any_of(isMultiple, isMultiple + columns, std::identity()))
      return true;
  }
  return false;
}

/// The bits of the largest magnitude that a pixel may have, so that nothing overflows.
uint32_t largestPixel(float weight, int64_t channels, double amplification) {
  const double most = 0x1p126 / (amplification * static_cast<double>(channels) * std::max(double(weight), 1e-30));
  return std::bit_cast<uint32_t>(static_cast<float>(std::min(most, 0x1p120)));
}

/// G g G^T of the windows g of some channels, for `columns` columns of a panel; the values of a place are `apart` from
/// those of the next.
template <class Tile, int64_t columns>
void transformWeights(const float *const *window, int64_t channels, float *to, int64_t apart) {
  constexpr int64_t side = Tile::side;
  // Whole rows of a panel follow one another.
  constexpr int64_t pieces = width / columns;
  const int64_t rows = pieces == 1 ? 1 : channels, values = pieces == 1 ? channels * columns : columns;
  for (int64_t c = 0; c < rows; ++c, to += width) {
#pragma clang loop vectorize(assume_safety)
    for (int64_t o = 0; o < values; ++o) {
      float g[3][3], t[side][side];
#pragma clang loop unroll(full)
      for (int64_t i = 0; i < taps; ++i)
        g[i / 3][i % 3] = window[i][c * columns + o];
      winograd::transformBoth<Tile::weights>(g, t);
#pragma clang loop unroll(full)
      for (int64_t i = 0; i < side * side; ++i)
        to[i * apart + o] = t[i / side][i % side];
    }
  }
}

/// B^T d B of the pixels of a tile; the values of a place are `apart` from those of the next one.
template <class Tile, class In>
void transformPixels(const In *const *pixels, int64_t channels, float *to, int64_t apart) {
  constexpr int64_t side = Tile::side;
#pragma clang loop vectorize(assume_safety)
  for (int64_t c = 0; c < channels; ++c) {
    float d[side][side], t[side][side];
#pragma clang loop unroll(full)
    for (int64_t i = 0; i < side * side; ++i)
      d[i / side][i % side] = floatOf(pixels[i][c]);
    winograd::transformBoth<Tile::pixels>(d, t);
#pragma clang loop unroll(full)
    for (int64_t i = 0; i < side * side; ++i)
      to[i * apart + c] = t[i / side][i % side];
  }
}

/// A^T m A of the sums of a tile, for some columns: results in each of some lines.
template <class Tile>
void transformSums(const float *sums, int64_t apart, int64_t columns, float *const (&lines)[Tile::results]) {
  constexpr int64_t side = Tile::side, results = Tile::results;
#pragma clang loop vectorize(assume_safety)
  for (int64_t c = 0; c < columns; ++c) {
    float m[side][side], found[results][results];
#pragma clang loop unroll(full)
    for (int64_t i = 0; i < side * side; ++i)
      m[i / side][i % side] = sums[i * apart + c];
    winograd::transformBoth<Tile::sums>(m, found);
#pragma clang loop unroll(full)
    for (int64_t i = 0; i < results * results; ++i)
      lines[i / results][i % results * width + c] = found[i / results][i % results];
  }
}

/// Values of images of type In: f32, or bf16.
template <class Tile, class In> class WinogradConvolution final : public ImagewiseConvolution {
  static constexpr int64_t side = Tile::side, places = side * side, results = Tile::results;
  /// Channels of a panel whose weights are transformed at a time: those of all places stay in the second-level cache.
  static constexpr int64_t chunk = (9 << 15) / (places * width * floatBytes) / 16 * 16;

public:
  WinogradConvolution(const OpCall &call, const Convolution &c, DataType produced, const std::string &activation,
                      float largestWeight, std::unique_ptr<ImagewiseConvolution> otherwise)
      : channels(c.window.channels), out(c.out), panelCount(ceilDivide(out, width)), rows(c.window.axes[0]),
        columns(c.window.axes[1]), tileRows(ceilDivide(rows.out, results)),
        tileColumns(ceilDivide(columns.out, results)), images(c.window.batch), finish(unit, produced, activation),
        producedBytes(static_cast<int64_t>(storageBytes(produced))),
        largest(largestPixel(largestWeight, channels, Tile::amplification)), otherwise(std::move(otherwise)),
        zeros(static_cast<size_t>(channels)) {
    ScratchLayout before;
    apartPlace = before.take(static_cast<size_t>(images));
    chosenPlace = before.take(static_cast<size_t>(images) * sizeof(int64_t));
    workPlace = before.take(0);
    if ((biased = optionalOperand(call, 2) != nullptr))
      bias = library::Packed(call, 2, DataType::Float32, layout);
    magnitudes = layout.take(static_cast<size_t>(images * rows.size * columns.size) * sizeof(uint32_t));
    divide();
  }

  size_t scratchBytes() const override { return workPlace + std::max(layout.bytes(), otherwise->scratchBytes()); }
  bool reads(size_t operand) const override {
    return otherwise->reads(operand) || operand == 0 || (operand == 2 && bias.reads());
  }
  bool addsResidual(DataType type) const override { return finish.adds(type); }

  void run(const Buffers &buffers) const override { runAdding(buffers, {}); }

  void runAdding(const Buffers &buffers, const Residual &residual) const override {
    runSome(buffers, residual, nullptr);
  }

  WeightPanels weightPanels() const override { return otherwise->weightPanels(); }

  void runSome(const Buffers &buffers, const Residual &residual, const uint8_t *given) const override {
    const auto *pixels = reinterpret_cast<const In *>(buffers.ins[0]);
    auto *const isApart = reinterpret_cast<uint8_t *>(buffers.scratch + apartPlace);
    auto *const chosen = reinterpret_cast<int64_t *>(buffers.scratch + chosenPlace);
    std::byte *const scratch = buffers.scratch + workPlace;
    findApart(pixels, reinterpret_cast<uint32_t *>(scratch + magnitudes), isApart);
    int64_t count = 0, apart = 0;
    for (int64_t image = 0; image < images; ++image) {
      const bool isGiven = !given || given[image];
      if (isGiven && !isApart[image])
        chosen[count++] = image;
      isApart[image] = isGiven && isApart[image];
      apart += isApart[image];
    }
    if (apart > 0)
      otherwise->runSome({buffers.ins, buffers.outs, scratch}, residual, isApart);
    if (count > 0)
      runChosen({pixels, biased ? reinterpret_cast<const float *>(bias.get(buffers.ins[2], scratch)) : nullptr,
                 buffers.outs[0], residual, chosen},
                count, scratch);
  }

private:
  struct Values {
    const In *pixels;
    const float *bias;
    std::byte *result;
    const Residual &residual;
    const int64_t *images; // that are convolved
  };
  /// Tiles [first, first + count), transformed at `pixels`; the values of a place are `apart` bytes from those of the
  /// next one.
  struct Tiles {
    int64_t first, count;
    const std::byte *pixels;
    int64_t apart;
  };

  /// `count` pieces of memory of `bytes` each, a multiple of 64, that are `apart`.
  struct Fetch {
    const std::byte *from = nullptr;
    int64_t count = 0, bytes = 0, apart = 0;

    /// Lets a block bring one of `shares` equal shares into cache.
    void share(panels::Block &block, int64_t index, int64_t shares) const {
      const int64_t lines = count * bytes / 64, first = lines * index / shares;
      block.next = from;
      block.nextBytes = (lines * (index + 1) / shares - first) * 64;
      block.nextLine = bytes;
      block.nextApart = apart;
      block.nextFirst = first;
    }
  };

  void runChosen(const Values &now, int64_t count, std::byte *scratch) const {
    if (arePanelsDivided)
      runByPanels(now, count * tileRows * tileColumns, scratch);
    else
      runByTiles(now, count * tileRows * tileColumns, count == images ? allBlocks : 0, scratch);
  }

  /// Each thread transforms all tiles, and multiplies them with some panels.
  void runByPanels(const Values &now, int64_t tiles, std::byte *scratch) const {
    parallelRuns(panelCount, 1, slots, [&](int64_t s, Runs &runs) {
      const panels::Session session(unit, tiles);
      std::byte *const slot = scratch + slotPlace + static_cast<size_t>(s) * perSlot;
      const Tiles all{0, tiles, slot + pixelPlace, tiles * pixelBytes};
      bool areTransformed = false;
      for (ItemRange run; runs.take(run);)
        for (int64_t panel = run.begin; panel < run.end; ++panel) {
          if (!areTransformed)
            transformTiles(now, 0, tiles, reinterpret_cast<float *>(slot + pixelPlace), all.apart / floatBytes);
          areTransformed = true;
          multiplyInChunks(session, all, panel, run.end, slot);
          store(now, all, panel, slot);
        }
    });
  }

  /// Each thread multiplies some tiles with all panels.
  void runByTiles(const Values &now, int64_t tiles, int64_t given, std::byte *scratch) const {
    const int64_t blocks = given ? given : ceilDivide(tiles, mostTiles);
    parallelRuns(blocks, 1, slots, [&](int64_t s, Runs &runs) {
      const panels::Session session(unit, mostTiles);
      std::byte *const slot = scratch + slotPlace + static_cast<size_t>(s) * perSlot;
      bool areTransformed = false;
      for (ItemRange run; runs.take(run);)
        for (int64_t b = run.begin; b < run.end; ++b) {
          const int64_t first = tiles * b / blocks, last = tiles * (b + 1) / blocks;
          const Tiles some{first, last - first, slot + pixelPlace, (last - first) * pixelBytes};
          transformTiles(now, first, last, reinterpret_cast<float *>(slot + pixelPlace), some.apart / floatBytes);
          for (int64_t panel = 0; panel < panelCount; ++panel) {
            if (keepsWeights) {
              std::byte *const weights = slot + weightsPlace + panel * places * placeBytes;
              if (!areTransformed)
                transformChannels(panel, 0, channels, reinterpret_cast<float *>(weights));
              multiplyPlaces(session, some, weights, panel, {0, channels}, nullptr, slot);
            } else {
              multiplyInChunks(session, some, panel, panelCount, slot);
            }
            store(now, some, panel, slot);
          }
          areTransformed = true;
        }
    });
  }

  /// Transforms some channels of a panel at a time, and multiplies tiles with them. last: of the panels that follow.
  void multiplyInChunks(const panels::Session &session, const Tiles &tiles, int64_t panel, int64_t last,
                        std::byte *slot) const {
    for (int64_t from = 0; from < channels; from += chunk) {
      const ItemRange some{from, std::min(channels, from + chunk)};
      transformChannels(panel, some.begin, some.end, reinterpret_cast<float *>(slot + weightsPlace));
      Fetch next;
      if (some.end < channels)
        next = fetchOf(panel, {some.end, std::min(channels, some.end + chunk)});
      else if (panel + 1 < last)
        next = fetchOf(panel + 1, {0, std::min(channels, chunk)});
      multiplyPlaces(session, tiles, slot + weightsPlace, panel, some, &next, slot);
    }
  }

  /// The division depends on the number of threads, but no bit of the result does. What is transformed is not shared:
  /// it takes long to write lines that other threads have read.
  void divide() {
    constexpr int64_t cacheBytes = 1 << 19, fewest = 36, most = 48, few = 64;
    constexpr int64_t weightBytes = 1 << 23, mostPixelBytes = 1 << 26; // of all threads
    const int64_t tiles = images * tileRows * tileColumns;
    // Rows, and places of weights, a power of two apart would share few lines of the first-level cache.
    pixelBytes = channels * floatBytes + 64;
    slots = std::min<int64_t>(threads(), panelCount);
    arePanelsDivided = tiles <= few && panelCount >= threads() && slots * places * tiles * pixelBytes <= mostPixelBytes;
    if (arePanelsDivided) {
      mostTiles = tiles;
    } else {
      const int64_t atOnce = std::clamp<int64_t>(cacheBytes / (places * channels * floatBytes), fewest, most);
      allBlocks = ceilDivide(tiles, atOnce);
      if (const int64_t some = ceilDivide(allBlocks, threads()) * threads(); tiles / some >= panels::blockRows(unit))
        allBlocks = some;
      slots = std::min<int64_t>(threads(), allBlocks);
      mostTiles = ceilDivide(tiles, allBlocks);
    }
    placeBytes = (channels + 1) * width * floatBytes;
    keepsWeights = !arePanelsDivided && allBlocks > slots && slots * panelCount * places * placeBytes <= weightBytes;
    if (!keepsWeights)
      placeBytes = (std::min(channels, chunk) + 1) * width * floatBytes;
    ScratchLayout slot;
    pixelPlace = slot.take(static_cast<size_t>(places * mostTiles * pixelBytes));
    weightsPlace = slot.take(static_cast<size_t>((keepsWeights ? panelCount : 1) * places * placeBytes));
    sumPlace = slot.take(static_cast<size_t>(places * mostTiles * width * floatBytes));
    resultPlace = slot.take(static_cast<size_t>(results * results * mostTiles * width * floatBytes));
    perSlot = slot.bytes();
    slotPlace = layout.take(static_cast<size_t>(slots) * perSlot);
  }

  /// Transforms the weights of channels [first, last) of a panel to [place, channel, column].
  void transformChannels(int64_t panel, int64_t first, int64_t last, float *to) const {
    const WeightPanels weights = weightPanels();
    const auto transform =
        weights.columns == width ? transformWeights<Tile, width> : transformWeights<Tile, columns512>;
    const int64_t directPanels = ceilDivide(out, weights.columns), pieces = width / weights.columns,
                  apart = placeBytes / floatBytes;
    for (int64_t piece = 0; piece < pieces; ++piece) {
      const int64_t source = panel * pieces + piece;
      ChannelRows rows(weights, source, channels);
      for (int64_t c = first, count; c < last; c += count) {
        count = std::min(ChannelRows::most, last - c);
        float *const target = to + (c - first) * width + piece * weights.columns;
        if (source < directPanels)
          transform(rows.of(c, count), count, target, apart);
        else
          for (int64_t i = 0; i < places * count; ++i)
            std::fill_n(target + i / count * apart + i % count * width, weights.columns, 0.0f);
      }
    }
  }

  /// The weights of some channels of a panel, before they are transformed.
  Fetch fetchOf(int64_t panel, ItemRange some) const {
    const WeightPanels weights = weightPanels();
    const int64_t pieces = width / weights.columns, first = panel * pieces,
                  last = std::min(first + pieces, ceilDivide(out, weights.columns)),
                  rowBytes = weights.columns * (weights.narrow ? 2 : floatBytes);
    return {weights.values + (first * taps * channels + some.begin) * rowBytes, (last - first) * taps,
            some.size() * rowBytes, channels * rowBytes};
  }

  /// Finds the images that cannot be transformed. bits: of the largest magnitude in each pixel.
  void findApart(const In *pixels, uint32_t *bits, uint8_t *isApart) const {
    std::fill_n(isApart, images, uint8_t(0));
    const auto mark = [&](int64_t image) { std::atomic_ref(isApart[image]).store(1, std::memory_order_relaxed); };
    parallelFor(images * rows.size, std::max<int64_t>(1, 16384 / (channels * columns.size)),
                [&](int64_t begin, int64_t end) {
                  for (int64_t i = begin * columns.size; i < end * columns.size; ++i) {
                    const In *from = pixels + i * channels;
                    uint32_t most = 0;
                    for (int64_t c = 0; c < channels; ++c)
                      most = std::max(most, magnitudeOf(from[c]));
                    bits[i] = most;
                    if (most > largest)
                      mark(i / (rows.size * columns.size));
                  }
                });
    parallelFor(images * tileRows, std::max<int64_t>(1, 256 / tileColumns), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row)
        if (hasSmallWindow(bits, row / tileRows, row % tileRows))
          mark(row / tileRows);
    });
  }

  /// Whether a tile in a row of them has a window whose largest pixel is much smaller than that of the tile, or none
  /// that is large enough.
  bool hasSmallWindow(const uint32_t *bits, int64_t image, int64_t tileRow) const {
    for (int64_t tile = 0; tile < tileColumns; ++tile) {
      const Place at = placeOf(tileRow * tileColumns + tile, nullptr);
      uint32_t all = 0, across[side][results] = {}; // the largest of three pixels of a line
      for (int64_t y = std::max<int64_t>(0, -at.y); y < side && at.y + y < rows.size; ++y) {
        uint32_t line[side] = {};
        for (int64_t x = std::max<int64_t>(0, -at.x); x < side && at.x + x < columns.size; ++x)
          line[x] = bits[(image * rows.size + at.y + y) * columns.size + at.x + x];
        for (int64_t x = 0; x < results; ++x) {
          across[y][x] = std::max({line[x], line[x + 1], line[x + 2]});
          all = std::max(all, across[y][x]);
        }
      }
      if (all > 0 && all < Tile::leastPixel)
        return true;
      const Place begin = resultOf(tileRow * tileColumns + tile);
      for (int64_t y = 0; y < results && begin.y + y < rows.out; ++y)
        for (int64_t x = 0; x < results && begin.x + x < columns.out; ++x)
          if (isMuchSmaller(std::max({across[y][x], across[y + 1][x], across[y + 2][x]}), all, Tile::pixelsApart))
            return true;
    }
    return false;
  }

  struct Place {
    int64_t image, y, x;
  };
  /// The first result of a tile.
  Place resultOf(int64_t tile) const {
    return {tile / (tileRows * tileColumns), tile / tileColumns % tileRows * results, tile % tileColumns * results};
  }
  /// The first pixel of a tile, possibly outside of the image. chosen: the images that have tiles.
  Place placeOf(int64_t tile, const int64_t *chosen) const {
    const Place at = resultOf(tile);
    return {chosen ? chosen[at.image] : 0, at.y - rows.low, at.x - columns.low};
  }

  /// Multiplies `some` channels of tiles with the weights of these channels of a panel, or adds that to the sums of the
  /// channels before. next: brought into cache meanwhile; nullptr: the weights themselves, ahead of their use.
  void multiplyPlaces(const panels::Session &session, const Tiles &tiles, const std::byte *weights, int64_t panel,
                      ItemRange some, const Fetch *next, std::byte *slot) const {
    constexpr int64_t most = 128; // of channels, whose weights stay in the first-level cache
    const int64_t steps = ceilDivide(tiles.count, panels::blockRows(unit)), step = ceilDivide(tiles.count, steps);
    auto *sums = reinterpret_cast<float *>(slot + sumPlace);
    panels::Block work{};
    work.where = panels::rowsInPlace(pixelBytes);
    work.columns = std::min(width, out - panel * width);
    const int64_t shares = places * ceilDivide(some.size(), most) * ceilDivide(tiles.count, step);
    int64_t share = 0;
    for (int64_t place = 0; place < places; ++place, weights += placeBytes, sums += tiles.count * width) {
      work.panel = weights;
      for (int64_t k = some.begin; k < some.end; k += most) {
        work.k = std::min(most, some.end - k);
        work.accumulate = k > 0;
        const int64_t panelBytes = work.k * width * floatBytes;
        if (!next) {
          work.next = work.panel + panelBytes;
          work.nextBytes = ceilDivide(panelBytes, steps * 64) * 64;
        }
        for (int64_t at = 0; at < tiles.count; at += step) {
          if (next)
            next->share(work, share++, shares);
          work.a = tiles.pixels + place * tiles.apart + at * pixelBytes + k * floatBytes;
          work.rows = std::min(step, tiles.count - at);
          work.c = sums + at * width;
          session.multiply(work);
          if (!next)
            work.next += work.nextBytes;
        }
        work.panel += panelBytes;
      }
    }
  }

  /// Transforms the pixels of tiles [first, last); the values of a place are `apart` from those of the next one.
  void transformTiles(const Values &now, int64_t first, int64_t last, float *to, int64_t apart) const {
    for (int64_t i = first; i < last; ++i, to += pixelBytes / floatBytes) {
      const Place at = placeOf(i, now.images);
      const In *given[places];
      for (int64_t y = 0; y < side; ++y)
        for (int64_t x = 0; x < side; ++x) {
          const bool inside = at.y + y >= 0 && at.y + y < rows.size && at.x + x >= 0 && at.x + x < columns.size;
          given[y * side + x] =
              inside ? now.pixels + ((at.image * rows.size + at.y + y) * columns.size + at.x + x) * channels
                     : zeros.data();
        }
      transformPixels<Tile>(given, channels, to, apart);
    }
  }

  /// Writes the columns of a panel, a row of tiles after the other.
  void store(const Values &now, const Tiles &tiles, int64_t panel, std::byte *slot) const {
    const auto *sums = reinterpret_cast<const float *>(slot + sumPlace);
    auto *found = reinterpret_cast<float *>(slot + resultPlace);
    const int64_t firstColumn = panel * width, needed = std::min(width, out - firstColumn), count = tiles.count;
    const int64_t resultRow = out * producedBytes;
    const float *added = now.bias ? now.bias + firstColumn : nullptr;
    for (int64_t i = 0, length; i < count; i += length) {
      const Place begin = resultOf(tiles.first + i);
      length = std::min(count - i, tileColumns - begin.x / results);
      const int64_t lineValues = results * length * width;
      for (int64_t t = 0; t < length; ++t) {
        float *lines[results];
        for (int64_t line = 0; line < results; ++line)
          lines[line] = found + line * lineValues + t * results * width;
        transformSums<Tile>(sums + (i + t) * width, count * width, ceilDivide(needed, 16) * 16, lines);
      }
      const int64_t pixels = std::min(results * length, columns.out - begin.x);
      for (int64_t line = 0; line < results && begin.y + line < rows.out; ++line) {
        const int64_t row = (now.images[begin.image] * rows.out + begin.y + line) * columns.out + begin.x;
        const int64_t at = row * resultRow + firstColumn * producedBytes;
        finish(found + line * lineValues, added, pixels, needed, now.result + at, resultRow, now.residual.from(at));
      }
    }
  }

  int64_t channels, out, panelCount;
  Axis rows, columns;
  int64_t tileRows, tileColumns, images;
  SumsFinish finish;
  int64_t producedBytes;
  uint32_t largest; // the bits of the largest magnitude that a pixel may have
  std::unique_ptr<ImagewiseConvolution> otherwise;
  std::vector<In> zeros; // a pixel
  size_t apartPlace, chosenPlace, workPlace;
  ScratchLayout layout; // from workPlace on, also of `otherwise`
  bool biased;
  library::Packed bias;
  size_t magnitudes;
  bool arePanelsDivided, keepsWeights; // transformed, of all panels
  int64_t allBlocks = 0, slots, mostTiles, pixelBytes, placeBytes;
  size_t slotPlace, perSlot;
  size_t weightsPlace, pixelPlace, sumPlace, resultPlace; // from the beginning of a thread's slot
};

/// Returns the number of tiles of an image.
template <class Tile> int64_t tilesOf(const Convolution &c) {
  return ceilDivide(c.window.axes[0].out, Tile::results) * ceilDivide(c.window.axes[1].out, Tile::results);
}

/// Whether the window is 3x3 with stride 1, and there are enough channels for the transforms to cost little.
bool isPlain(const Convolution &c) {
  constexpr int64_t fewChannels = 32;
  const auto suits = [](const Axis &axis) {
    return axis.kernel == 3 && axis.stride == 1 && axis.dilation == 1 && axis.low <= 1 && axis.high <= 1;
  };
  return c.window.axes.size() == 2 && std::ranges::all_of(c.window.axes, suits) && c.window.channels >= fewChannels &&
         c.out >= fewChannels;
}

/// Whether the operands are of types that are transformed, and weights are known.
bool suits(const OpCall &call, const Convolution &c) {
  const auto isFloat = [&](size_t i) {
    const StorageType type = storageType(operand(call, i).dtype);
    return type == StorageType::F32 || type == StorageType::BF16;
  };
  return isPlain(c) && isFloat(0) && isFloat(1) && library::constantOperand(call, 1);
}

/// Whether there are enough tiles for weights to be transformed, and few enough products: tiles may reach beyond the
/// image.
bool suitsSmallTiles(const Convolution &c) {
  constexpr int64_t few = 12, places = winograd::SmallTile::side * winograd::SmallTile::side;
  const int64_t tiles = tilesOf<winograd::SmallTile>(c);
  return c.window.batch * tiles >= few && 10 * places * tiles <= 7 * taps * c.window.axes[0].out * c.window.axes[1].out;
}
/// Whether there are fewer products than with small tiles. An image alone decides, for the same bits in any batch.
bool suitsLargeTiles(const Convolution &c) {
  constexpr int64_t few = 16, places = winograd::LargeTile::side * winograd::LargeTile::side,
                    placesOfSmall = winograd::SmallTile::side * winograd::SmallTile::side;
  const int64_t tiles = tilesOf<winograd::LargeTile>(c);
  return tiles >= few && 5 * places * tiles <= 4 * placesOfSmall * tilesOf<winograd::SmallTile>(c);
}

template <class Tile>
std::unique_ptr<ImagewiseConvolution> make(const OpCall &call, const Convolution &c, DataType produced,
                                           std::unique_ptr<ImagewiseConvolution> otherwise) {
  const auto largest = largestWeight(otherwise->weightPanels(), c.out, c.window.channels, Tile::weightsApart);
  if (!largest)
    return otherwise;
  const std::string activation = activationOf(call);
  if (storageType(operand(call, 0).dtype) == StorageType::BF16)
    return std::make_unique<WinogradConvolution<Tile, uint16_t>>(call, c, produced, activation, *largest,
                                                                 std::move(otherwise));
  return std::make_unique<WinogradConvolution<Tile, float>>(call, c, produced, activation, *largest,
                                                            std::move(otherwise));
}

} // namespace

std::unique_ptr<Kernel> makeWinogradConvolution(const OpCall &call, const Convolution &c, DataType produced,
                                                std::unique_ptr<ImagewiseConvolution> direct, bool inLargeTiles) {
  std::unique_ptr<ImagewiseConvolution> found = std::move(direct);
  bool isLarge = false;
  if (suits(call, c)) {
    if (suitsSmallTiles(c))
      found = make<winograd::SmallTile>(call, c, produced, std::move(found));
    const ImagewiseConvolution *const before = found.get();
    if (suitsLargeTiles(c) && !haveMultiples(found->weightPanels(), c.out, c.window.channels))
      found = make<winograd::LargeTile>(call, c, produced, std::move(found));
    isLarge = found.get() != before;
  }
  return inLargeTiles && !isLarge ? nullptr : std::move(found);
}

bool suitsWinogradInF32(const Convolution &c) {
  constexpr int64_t few = 40; // tiles of an image, which alone decides, for the same bits in any batch
  return units() == Units::AVX512_BF16 && isPlain(c) && suitsLargeTiles(c) && tilesOf<winograd::LargeTile>(c) >= few;
}

} // namespace tt::ttnn
