//===- winograd.cpp - 3x3 convolutions with fewer products ---------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// A tile of 2x2 results of a 3x3 window with stride 1 depends on 4x4 pixels. Both these and the weights are transformed
// to 4x4 places (Winograd's F(2x2, 3x3)), where 16 products for each pair of channels take the place of 36: at each
// place, the tiles by the channels are a matrix that is multiplied with one of the weights.
//
// A sum of a place has pixels of a window with all signs, so a result has an error relative to the largest pixel and
// the largest element of its window in each channel, not to their products, and Inf - Inf can take the place of Inf.
// Images are therefore only convolved in this way if all values are finite, nothing can overflow, and in each tile the
// values in the middle, which all of its windows contain, are not much smaller than the others; and weights only if no
// element of the window is much smaller than another in all channels of an output, and in no channel that counts most
// elements are: edge filters, for example. Other images and weights are convolved directly. Each image is decided
// alone, so that its result does not depend on the others of its batch.
//
// Weights are kept in one form, that of the direct convolution, and transformed in each run: 16 values of f32 in the
// place of 9, or of 9 of bf16, would be read from memory instead, which takes as long.
//
//===----------------------------------------------------------------------===//

#include "kernels/window/winograd.h"

#include "core/library.h"
#include "kernels/elementwise/epilogue.h"
#include "tt/parallel.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <optional>

namespace tt::ttnn {
namespace {

using panels::ceilDivide;
using panels::Unit;

constexpr Unit unit = Unit::F32;
constexpr int64_t width = panels::width(unit);
constexpr int64_t side = 4, places = side * side, taps = 9; // of a tile with its border, and of a window
constexpr auto floatBytes = static_cast<int64_t>(sizeof(float));
constexpr uint32_t magnitude = 0x7fffffff;
/// Exponents by which the values in the middle of a tile, or the elements of a window, may be smaller than others.
constexpr uint32_t mostApart = 8;

/// The bits of |x| order numbers; those of infinities and NaN are the largest.
uint32_t magnitudeOf(float x) { return std::bit_cast<uint32_t>(x) & magnitude; }
uint32_t magnitudeOf(uint16_t bf16) { return uint32_t(bf16 & 0x7fff) << 16; }
float floatOf(float x) { return x; }
float floatOf(uint16_t bf16) { return std::bit_cast<float>(uint32_t(bf16) << 16); }

bool isMuchSmaller(uint32_t bits, uint32_t than) { return (than >> 23) > (bits >> 23) + mostApart; }

/// Rows of a channel in a panel: those of each element of the window, as f32.
class ChannelRows {
public:
  ChannelRows(const WeightPanels &weights, int64_t panel, int64_t channels)
      : weights(weights), first(weights.values + panel * taps * channels * rowBytes()), apart(channels * rowBytes()) {}

  const float *const *of(int64_t channel) {
    for (int64_t t = 0; t < taps; ++t) {
      const std::byte *row = first + t * apart + channel * rowBytes();
      rows[t] = reinterpret_cast<const float *>(row);
      if (weights.narrow) {
        panels::widenNarrow(row, weights.columns, widened[t]);
        rows[t] = widened[t];
      }
    }
    return rows;
  }

private:
  int64_t rowBytes() const { return weights.columns * (weights.narrow ? 2 : floatBytes); }

  const WeightPanels &weights;
  const std::byte *first;
  int64_t apart; // bytes from one element of the window to the next
  const float *rows[taps];
  alignas(64) float widened[taps][width];
};

/// The largest magnitude of the weights of a panel if they can be transformed.
std::optional<uint32_t> largestOfPanel(const WeightPanels &weights, int64_t panel, int64_t channels) {
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
    if (high[o] >= 0x7f800000 || (high[o] > 0 && high[o] < least) || isMuchSmaller(low[o], high[o]))
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
        small += isMuchSmaller(magnitudeOf(window[t][o]), most);
      sparse |= uint32_t(!isMuchSmaller(most, high[o])) & uint32_t(small > taps / 2);
    }
  }
  return sparse ? std::nullopt : std::optional(*std::max_element(high, high + columns));
}

/// The same of all weights.
std::optional<float> largestWeight(const WeightPanels &weights, int64_t out, int64_t channels) {
  constexpr uint32_t none = ~uint32_t(0);
  std::vector<uint32_t> ofPanels(static_cast<size_t>(ceilDivide(out, weights.columns)));
  parallelFor(static_cast<int64_t>(ofPanels.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t panel = begin; panel < end; ++panel)
      ofPanels[static_cast<size_t>(panel)] = largestOfPanel(weights, panel, channels).value_or(none);
  });
  const uint32_t largest = std::ranges::max(ofPanels);
  return largest == none ? std::nullopt : std::optional(std::bit_cast<float>(largest));
}

/// The bits of the largest magnitude that a pixel may have. A transformed pixel is at most 4 times, a transformed
/// weight 2.25 times, and a result 9 sums: none overflows.
uint32_t largestPixel(float weight, int64_t channels) {
  const double most = 0x1p126 / (81.0 * static_cast<double>(channels) * std::max(double(weight), 1e-30));
  return std::bit_cast<uint32_t>(static_cast<float>(std::min(most, 0x1p120)));
}

/// G g G^T of the windows g of a channel, for some columns; the values of a place are `apart` from those of the next.
void transformWeights(const float *const *window, int64_t columns, float *to, int64_t apart) {
#pragma clang loop vectorize(assume_safety)
  for (int64_t o = 0; o < columns; ++o) {
    float half[side][3];
    for (int64_t j = 0; j < 3; ++j) {
      const float a = window[j][o], b = window[3 + j][o], c = window[6 + j][o];
      half[0][j] = a;
      half[1][j] = (a + b + c) * 0.5f;
      half[2][j] = (a - b + c) * 0.5f;
      half[3][j] = c;
    }
    for (int64_t y = 0; y < side; ++y) {
      const float a = half[y][0], b = half[y][1], c = half[y][2];
      float *const row = to + y * side * apart + o;
      row[0] = a;
      row[apart] = (a + b + c) * 0.5f;
      row[2 * apart] = (a - b + c) * 0.5f;
      row[3 * apart] = c;
    }
  }
}

/// B^T d B of the pixels of a tile; the values of a place are `apart` from those of the next one.
template <class In>
void transformPixels(const In *const (&pixels)[places], int64_t channels, float *to, int64_t apart) {
#pragma clang loop vectorize(assume_safety)
  for (int64_t c = 0; c < channels; ++c) {
    float t[side][side];
    for (int64_t y = 0; y < side; ++y) {
      const float a = floatOf(pixels[y * side][c]), b = floatOf(pixels[y * side + 1][c]),
                  d = floatOf(pixels[y * side + 2][c]), e = floatOf(pixels[y * side + 3][c]);
      t[y][0] = a - d;
      t[y][1] = b + d;
      t[y][2] = d - b;
      t[y][3] = b - e;
    }
    for (int64_t x = 0; x < side; ++x) {
      to[x * apart + c] = t[0][x] - t[2][x];
      to[(side + x) * apart + c] = t[1][x] + t[2][x];
      to[(2 * side + x) * apart + c] = t[2][x] - t[1][x];
      to[(3 * side + x) * apart + c] = t[1][x] - t[3][x];
    }
  }
}

/// A^T m A of the sums of a tile: two results in each of two lines.
void transformSums(const float *sums, int64_t apart, int64_t columns, float *first, float *second) {
#pragma clang loop vectorize(assume_safety)
  for (int64_t c = 0; c < columns; ++c) {
    float above[side], below[side];
    for (int64_t x = 0; x < side; ++x) {
      const float a = sums[x * apart + c], b = sums[(side + x) * apart + c], d = sums[(2 * side + x) * apart + c],
                  e = sums[(3 * side + x) * apart + c];
      above[x] = a + b + d;
      below[x] = b - d - e;
    }
    first[c] = above[0] + above[1] + above[2];
    first[width + c] = above[1] - above[2] - above[3];
    second[c] = below[0] + below[1] + below[2];
    second[width + c] = below[1] - below[2] - below[3];
  }
}

/// Values of images of type In: f32, or bf16.
template <class In> class WinogradConvolution final : public Kernel, public AddsResidual {
public:
  WinogradConvolution(const OpCall &call, const Convolution &c, DataType produced, const std::string &activation,
                      float largestWeight, std::unique_ptr<DirectConvolution> direct)
      : channels(c.window.channels), out(c.out), panelCount(ceilDivide(out, width)), rows(c.window.axes[0]),
        columns(c.window.axes[1]), tileRows(ceilDivide(rows.out, 2)), tileColumns(ceilDivide(columns.out, 2)),
        images(c.window.batch), finish(unit, produced, activation),
        producedBytes(static_cast<int64_t>(storageBytes(produced))), largest(largestPixel(largestWeight, channels)),
        direct(std::move(direct)), zeros(static_cast<size_t>(channels)) {
    ScratchLayout before;
    apartPlace = before.take(static_cast<size_t>(images));
    chosenPlace = before.take(static_cast<size_t>(images) * sizeof(int64_t));
    workPlace = before.take(0);
    if ((biased = optionalOperand(call, 2) != nullptr))
      bias = library::Packed(call, 2, DataType::Float32, layout);
    magnitudes = layout.take(static_cast<size_t>(images * rows.size * columns.size) * sizeof(uint32_t));
    divide();
  }

  size_t scratchBytes() const override { return workPlace + std::max(layout.bytes(), direct->scratchBytes()); }
  bool reads(size_t operand) const override {
    return direct->reads(operand) || operand == 0 || (operand == 2 && bias.reads());
  }
  bool addsResidual(DataType type) const override { return finish.adds(type); }

  void run(const Buffers &buffers) const override { runAdding(buffers, {}); }

  void runAdding(const Buffers &buffers, const Residual &residual) const override {
    const auto *pixels = reinterpret_cast<const In *>(buffers.ins[0]);
    auto *const isApart = reinterpret_cast<uint8_t *>(buffers.scratch + apartPlace);
    auto *const chosen = reinterpret_cast<int64_t *>(buffers.scratch + chosenPlace);
    std::byte *const scratch = buffers.scratch + workPlace;
    findApart(pixels, reinterpret_cast<uint32_t *>(scratch + magnitudes), isApart);
    int64_t count = 0;
    for (int64_t image = 0; image < images; ++image)
      if (!isApart[image])
        chosen[count++] = image;
    if (count < images)
      direct->runSome({buffers.ins, buffers.outs, scratch}, residual, isApart);
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
  /// Panels [first, last), transformed at `weights`.
  struct Group {
    int64_t first, last;
    const std::byte *weights;
  };

  void runChosen(const Values &now, int64_t count, std::byte *scratch) const {
    const int64_t tiles = count * tileRows * tileColumns,
                  blocks = count == images ? allBlocks : ceilDivide(tiles, mostTiles), parts = std::min(slots, blocks);
    for (int64_t panel = 0; panel < panelCount; panel += panelsAtOnce) {
      const Group group{panel, std::min(panelCount, panel + panelsAtOnce), scratch + weightsPlace};
      transform(group, reinterpret_cast<float *>(scratch + weightsPlace));
      parallelFor(parts, 1, [&](int64_t begin, int64_t end) {
        const panels::Session session(unit, mostTiles);
        for (int64_t s = begin; s < end; ++s)
          for (int64_t b = blocks * s / parts; b < blocks * (s + 1) / parts; ++b)
            block(session, now, group, tiles * b / blocks, tiles * (b + 1) / blocks,
                  scratch + slotPlace + static_cast<size_t>(s) * perSlot);
      });
    }
  }

  /// The division depends on the number of threads, but no bit of the result does.
  void divide() {
    constexpr int64_t cacheBytes = 1 << 19, fewest = 36, most = 48, weightBytes = 1 << 22;
    const int64_t tiles = images * tileRows * tileColumns;
    const int64_t atOnce = std::clamp<int64_t>(cacheBytes / (places * channels * floatBytes), fewest, most);
    allBlocks = ceilDivide(tiles, atOnce);
    if (const int64_t some = ceilDivide(allBlocks, threads()) * threads(); tiles / some >= panels::blockRows(unit))
      allBlocks = some;
    slots = std::min<int64_t>(threads(), allBlocks);
    mostTiles = ceilDivide(tiles, allBlocks);
    // Rows, and places of weights, a power of two apart would share few lines of the first-level cache.
    pixelBytes = channels * floatBytes + 64;
    placeBytes = (channels + 1) * width * floatBytes;
    panelsAtOnce = std::clamp<int64_t>(weightBytes / (places * channels * width * floatBytes), 1, panelCount);
    ScratchLayout slot;
    placePlace = slot.take(static_cast<size_t>(places * mostTiles * pixelBytes));
    sumPlace = slot.take(static_cast<size_t>(places * mostTiles * width * floatBytes));
    resultPlace = slot.take(static_cast<size_t>(4 * mostTiles * width * floatBytes));
    perSlot = slot.bytes();
    weightsPlace = layout.take(static_cast<size_t>(panelsAtOnce * places * placeBytes));
    slotPlace = layout.take(static_cast<size_t>(slots) * perSlot);
  }

  /// Transforms the weights of panels on all threads, to panels of [place, channel, column].
  void transform(const Group &group, float *to) const {
    const WeightPanels weights = direct->weightPanels();
    const int64_t directPanels = ceilDivide(out, weights.columns), pieces = width / weights.columns;
    parallelFor((group.last - group.first) * channels, 8, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end;) {
        const int64_t panel = i / channels, first = i % channels, last = std::min(channels, first + end - i);
        for (int64_t piece = 0; piece < pieces; ++piece) {
          const int64_t source = (group.first + panel) * pieces + piece;
          ChannelRows rows(weights, source, channels);
          float *target = to + (panel * places * placeBytes) / floatBytes + first * width + piece * weights.columns;
          for (int64_t c = first; c < last; ++c, target += width)
            if (source < directPanels)
              transformWeights(rows.of(c), weights.columns, target, placeBytes / floatBytes);
            else
              for (int64_t place = 0; place < places; ++place)
                std::fill_n(target + place * placeBytes / floatBytes, weights.columns, 0.0f);
        }
        i += last - first;
      }
    });
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
        if (hasSmallMiddle(bits, row / tileRows, row % tileRows))
          mark(row / tileRows);
    });
  }

  /// Whether a tile in a row of them has values in the middle that are much smaller than the others.
  bool hasSmallMiddle(const uint32_t *bits, int64_t image, int64_t tileRow) const {
    for (int64_t tile = 0; tile < tileColumns; ++tile) {
      const Place at = placeOf(tileRow * tileColumns + tile, nullptr);
      uint32_t all = 0, middle = 0;
      for (int64_t y = std::max<int64_t>(0, -at.y); y < side && at.y + y < rows.size; ++y)
        for (int64_t x = std::max<int64_t>(0, -at.x); x < side && at.x + x < columns.size; ++x) {
          const uint32_t pixel = bits[(image * rows.size + at.y + y) * columns.size + at.x + x];
          all = std::max(all, pixel);
          if ((y == 1 || y == 2) && (x == 1 || x == 2))
            middle = std::max(middle, pixel);
        }
      if (isMuchSmaller(middle, all))
        return true;
    }
    return false;
  }

  /// The first of the 4x4 pixels of a tile, possibly outside of the image.
  struct Place {
    int64_t image, y, x;
  };
  /// chosen: the images that have tiles.
  Place placeOf(int64_t tile, const int64_t *chosen) const {
    return {chosen ? chosen[tile / (tileRows * tileColumns)] : 0, tile / tileColumns % tileRows * 2 - rows.low,
            tile % tileColumns * 2 - columns.low};
  }

  /// Tiles [first, last).
  void block(const panels::Session &session, const Values &now, const Group &group, int64_t first, int64_t last,
             std::byte *scratch) const {
    const int64_t count = last - first, steps = ceilDivide(count, panels::blockRows(unit)),
                  step = ceilDivide(count, steps);
    transform(now, first, count, reinterpret_cast<float *>(scratch + placePlace));
    auto *sums = reinterpret_cast<float *>(scratch + sumPlace);
    const std::byte *weights = group.weights;
    for (int64_t panel = group.first; panel < group.last; ++panel) {
      for (int64_t place = 0; place < places; ++place, weights += placeBytes)
        multiply(session, scratch + placePlace + place * count * pixelBytes, weights,
                 std::min(width, out - panel * width), count, step, sums + place * count * width);
      store(now, first, count, panel, sums, reinterpret_cast<float *>(scratch + resultPlace));
    }
  }

  void transform(const Values &now, int64_t first, int64_t count, float *to) const {
    for (int64_t i = 0; i < count; ++i, to += pixelBytes / floatBytes) {
      const Place at = placeOf(first + i, now.images);
      const In *given[places];
      for (int64_t y = 0; y < side; ++y)
        for (int64_t x = 0; x < side; ++x) {
          const bool inside = at.y + y >= 0 && at.y + y < rows.size && at.x + x >= 0 && at.x + x < columns.size;
          given[y * side + x] =
              inside ? now.pixels + ((at.image * rows.size + at.y + y) * columns.size + at.x + x) * channels
                     : zeros.data();
        }
      transformPixels(given, channels, to, count * pixelBytes / floatBytes);
    }
  }

  void multiply(const panels::Session &session, const std::byte *left, const std::byte *panel, int64_t needed,
                int64_t count, int64_t step, float *c) const {
    constexpr int64_t chunk = 128; // of a panel in the first-level cache
    panels::Block work{};
    work.where = panels::rowsInPlace(pixelBytes);
    work.columns = needed;
    const int64_t steps = ceilDivide(count, step);
    for (int64_t k = 0; k < channels; k += chunk) {
      work.k = std::min(chunk, channels - k);
      work.panel = panel + k * width * floatBytes;
      work.accumulate = k > 0;
      work.next = work.panel + work.k * width * floatBytes;
      work.nextBytes = ceilDivide(work.k * width * floatBytes, steps * 64) * 64;
      for (int64_t at = 0; at < count; at += step, work.next += work.nextBytes) {
        work.a = left + at * pixelBytes + k * floatBytes;
        work.rows = std::min(step, count - at);
        work.c = c + at * width;
        session.multiply(work);
      }
    }
  }

  /// Writes the columns of a panel, a row of tiles after the other.
  void store(const Values &now, int64_t first, int64_t count, int64_t panel, const float *sums, float *results) const {
    const int64_t firstColumn = panel * width, needed = std::min(width, out - firstColumn);
    const int64_t resultRow = out * producedBytes;
    const float *added = now.bias ? now.bias + firstColumn : nullptr;
    for (int64_t i = 0, length; i < count; i += length) {
      const int64_t tile = first + i, x = tile % tileColumns, y = tile / tileColumns % tileRows,
                    image = now.images[tile / (tileRows * tileColumns)];
      length = std::min(count - i, tileColumns - x);
      float *const lines[] = {results, results + 2 * length * width};
      for (int64_t t = 0; t < length; ++t)
        transformSums(sums + (i + t) * width, count * width, ceilDivide(needed, 16) * 16, lines[0] + 2 * t * width,
                      lines[1] + 2 * t * width);
      const int64_t pixels = std::min(2 * length, columns.out - 2 * x);
      for (int64_t line = 0; line < 2 && 2 * y + line < rows.out; ++line) {
        const int64_t row = (image * rows.out + 2 * y + line) * columns.out + 2 * x;
        const int64_t at = row * resultRow + firstColumn * producedBytes;
        finish(lines[line], added, pixels, needed, now.result + at, resultRow, now.residual.from(at));
      }
    }
  }

  int64_t channels, out, panelCount;
  Axis rows, columns;
  int64_t tileRows, tileColumns, images;
  SumsFinish finish;
  int64_t producedBytes;
  uint32_t largest; // the bits of the largest magnitude that a pixel may have
  std::unique_ptr<DirectConvolution> direct;
  std::vector<In> zeros; // a pixel
  size_t apartPlace, chosenPlace, workPlace;
  ScratchLayout layout; // from workPlace on, also of `direct`
  bool biased;
  library::Packed bias;
  size_t magnitudes, weightsPlace;
  int64_t allBlocks, slots, mostTiles, pixelBytes, placeBytes, panelsAtOnce;
  size_t placePlace, sumPlace, resultPlace, perSlot, slotPlace;
};

/// Whether there are enough tiles and channels for the transforms to cost little, and weights are known.
bool suits(const OpCall &call, const Convolution &c) {
  constexpr int64_t fewChannels = 32, fewTiles = 24;
  const auto isPlain = [](const Axis &axis) {
    return axis.kernel == 3 && axis.stride == 1 && axis.dilation == 1 && axis.low <= 1 && axis.high <= 1;
  };
  const auto isFloat = [&](size_t i) {
    const StorageType type = storageType(operand(call, i).dtype);
    return type == StorageType::F32 || type == StorageType::BF16;
  };
  if (c.window.axes.size() != 2 || !std::ranges::all_of(c.window.axes, isPlain) || !isFloat(0) || !isFloat(1) ||
      c.window.channels < fewChannels || c.out < fewChannels || !library::constantOperand(call, 1))
    return false;
  const int64_t results = c.window.axes[0].out * c.window.axes[1].out,
                tiles = ceilDivide(c.window.axes[0].out, 2) * ceilDivide(c.window.axes[1].out, 2);
  // Where tiles reach beyond the image, there may be as many products as without them.
  return c.window.batch * tiles >= fewTiles && 10 * places * tiles <= 7 * taps * results;
}

} // namespace

std::unique_ptr<Kernel> makeWinogradConvolution(const OpCall &call, const Convolution &c, DataType produced,
                                                std::unique_ptr<DirectConvolution> direct) {
  if (!suits(call, c))
    return direct;
  const std::optional<float> largest = largestWeight(direct->weightPanels(), c.out, c.window.channels);
  if (!largest)
    return direct;
  const std::string activation = activationOf(call);
  if (storageType(operand(call, 0).dtype) == StorageType::BF16)
    return std::make_unique<WinogradConvolution<uint16_t>>(call, c, produced, activation, *largest, std::move(direct));
  return std::make_unique<WinogradConvolution<float>>(call, c, produced, activation, *largest, std::move(direct));
}

} // namespace tt::ttnn
