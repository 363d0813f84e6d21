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
// elements are: edge filters, for example. Other images and weights are convolved directly.
//
//===----------------------------------------------------------------------===//

#include "core/library.h"
#include "core/panels/panels.h"
#include "kernels/elementwise/epilogue.h"
#include "kernels/elementwise/residual.h"
#include "kernels/window/convolution.h"
#include "tt/parallel.h"
#include "tt/units.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

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

bool lessInMagnitude(float x, float y) { return magnitudeOf(x) < magnitudeOf(y); }
bool isMuchSmaller(uint32_t bits, uint32_t than) { return (than >> 23) > (bits >> 23) + mostApart; }

/// The bounds that weights set to images; they follow the panels.
struct Limits {
  uint32_t largest; // the bits of the largest magnitude that a pixel may have
};

/// Whether most elements of a window are much smaller than the largest one.
bool isSparse(const float *window) {
  uint32_t sorted[taps];
  std::ranges::transform(std::span(window, taps), sorted, [](float x) { return magnitudeOf(x); });
  std::ranges::nth_element(sorted, sorted + taps / 2);
  return isMuchSmaller(sorted[taps / 2], *std::max_element(sorted + taps / 2, sorted + taps));
}

/// The largest magnitude of all weights [out, channels, 3, 3] if they can be transformed.
std::optional<float> largestWeight(const float *weights, int64_t out, int64_t channels) {
  constexpr uint32_t least = 27 << 23; // 2^-100: smaller ones lose bits when they are transformed
  uint32_t all = 0;
  for (int64_t o = 0; o < out; ++o) {
    uint32_t largest[taps] = {};
    const float *const windows = weights;
    for (int64_t c = 0; c < channels; ++c, weights += taps)
      for (int64_t t = 0; t < taps; ++t)
        largest[t] = std::max(largest[t], magnitudeOf(weights[t]));
    const auto [low, high] = std::ranges::minmax(largest);
    if (high >= 0x7f800000 || (high > 0 && high < least) || isMuchSmaller(low, high))
      return std::nullopt;
    for (const float *window = windows; window < weights; window += taps)
      if (!isMuchSmaller(magnitudeOf(*std::max_element(window, window + taps, lessInMagnitude)), high) &&
          isSparse(window))
        return std::nullopt;
    all = std::max(all, high);
  }
  return std::bit_cast<float>(all);
}

/// A transformed pixel is at most 4 times, a transformed weight 2.25 times, and a result 9 sums: none overflows.
Limits limitsOf(float weight, int64_t channels) {
  const double most = 0x1p126 / (81.0 * static_cast<double>(channels) * std::max(double(weight), 1e-30));
  return {std::bit_cast<uint32_t>(static_cast<float>(std::min(most, 0x1p120)))};
}

/// G g G^T of weights of panels, on all threads: panels of [place, channel, column].
void transformWeights(const float *weights, int64_t out, int64_t channels, float *to) {
  const int64_t panelCount = ceilDivide(out, width);
  parallelFor(panelCount * channels, 4, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t panel = i / channels, channel = i % channels;
      float *row = to + (panel * places * channels + channel) * width;
      for (int64_t column = 0; column < width; ++column, ++row) {
        float g[taps] = {};
        if (const int64_t o = panel * width + column; o < out)
          std::copy_n(weights + (o * channels + channel) * taps, taps, g);
        float half[side][3];
        for (int j = 0; j < 3; ++j) {
          half[0][j] = g[j];
          half[1][j] = (g[j] + g[3 + j] + g[6 + j]) * 0.5f;
          half[2][j] = (g[j] - g[3 + j] + g[6 + j]) * 0.5f;
          half[3][j] = g[6 + j];
        }
        for (int64_t y = 0; y < side; ++y) {
          const auto &[a, b, c] = half[y];
          const float values[side] = {a, (a + b + c) * 0.5f, (a - b + c) * 0.5f, c};
          for (int64_t x = 0; x < side; ++x)
            row[(y * side + x) * channels * width] = values[x];
        }
      }
    }
  });
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
                      library::AlignedBytes weights, std::unique_ptr<Kernel> direct)
      : channels(c.window.channels), out(c.out), panelCount(ceilDivide(out, width)), rows(c.window.axes[0]),
        columns(c.window.axes[1]), tileRows(ceilDivide(rows.out, 2)), tileColumns(ceilDivide(columns.out, 2)),
        tiles(c.window.batch * tileRows * tileColumns), images(c.window.batch), finish(unit, produced, activation),
        producedBytes(static_cast<int64_t>(storageBytes(produced))), weights(std::move(weights)),
        direct(std::move(direct)), zeros(static_cast<size_t>(channels)) {
    std::memcpy(&limits, this->weights.data() + panelCount * places * channels * width * floatBytes, sizeof(limits));
    if ((biased = optionalOperand(call, 2) != nullptr))
      bias = library::Packed(call, 2, DataType::Float32, layout);
    magnitudes = layout.take(static_cast<size_t>(images * rows.size * columns.size) * sizeof(uint32_t));
    divide();
  }

  size_t scratchBytes() const override { return std::max(layout.bytes(), direct->scratchBytes()); }
  bool reads(size_t operand) const override {
    return direct->reads(operand) || operand == 0 || (operand == 2 && bias.reads());
  }
  bool addsResidual(DataType type) const override { return finish.adds(type); }

  void run(const Buffers &buffers) const override { runAdding(buffers, {}); }

  void runAdding(const Buffers &buffers, const Residual &residual) const override {
    const auto *pixels = reinterpret_cast<const In *>(buffers.ins[0]);
    if (!suit(pixels, reinterpret_cast<uint32_t *>(buffers.scratch + magnitudes)))
      return dynamic_cast<const AddsResidual &>(*direct).runAdding(buffers, residual);
    const Values now{pixels,
                     biased ? reinterpret_cast<const float *>(bias.get(buffers.ins[2], buffers.scratch)) : nullptr,
                     buffers.outs[0], residual};
    parallelFor(slots, 1, [&](int64_t begin, int64_t end) {
      const panels::Session session(unit, mostTiles);
      for (int64_t s = begin; s < end; ++s)
        for (int64_t b = blocks * s / slots; b < blocks * (s + 1) / slots; ++b)
          block(session, now, tiles * b / blocks, tiles * (b + 1) / blocks,
                buffers.scratch + slotPlace + static_cast<size_t>(s) * perSlot);
    });
  }

private:
  struct Values {
    const In *pixels;
    const float *bias;
    std::byte *result;
    const Residual &residual;
  };

  /// The division depends on the number of threads, but no bit of the result does.
  void divide() {
    constexpr int64_t cacheBytes = 1 << 19, fewest = 36, most = 48;
    const int64_t atOnce = std::clamp<int64_t>(cacheBytes / (places * channels * floatBytes), fewest, most);
    blocks = ceilDivide(tiles, atOnce);
    if (const int64_t some = ceilDivide(blocks, threads()) * threads(); tiles / some >= panels::blockRows(unit))
      blocks = some;
    slots = std::min<int64_t>(threads(), blocks);
    mostTiles = ceilDivide(tiles, blocks);
    // Rows a power of two apart would share few lines of the first-level cache.
    pixelBytes = channels * floatBytes + 64;
    ScratchLayout slot;
    placePlace = slot.take(static_cast<size_t>(places * mostTiles * pixelBytes));
    sumPlace = slot.take(static_cast<size_t>(places * mostTiles * width * floatBytes));
    resultPlace = slot.take(static_cast<size_t>(4 * mostTiles * width * floatBytes));
    perSlot = slot.bytes();
    slotPlace = layout.take(static_cast<size_t>(slots) * perSlot);
  }

  /// Whether tiles of these images can be transformed. bits: of the largest magnitude in each pixel.
  bool suit(const In *pixels, uint32_t *bits) const {
    const int64_t count = images * rows.size * columns.size;
    parallelFor(count, std::max<int64_t>(1, 16384 / channels), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const In *from = pixels + i * channels;
        uint32_t largest = 0;
        for (int64_t c = 0; c < channels; ++c)
          largest = std::max(largest, magnitudeOf(from[c]));
        bits[i] = largest;
      }
    });
    for (int64_t i = 0; i < count; ++i)
      if (bits[i] > limits.largest)
        return false;
    for (int64_t tile = 0; tile < tiles; ++tile) {
      const Place at = placeOf(tile);
      uint32_t all = 0, middle = 0;
      for (int64_t y = std::max<int64_t>(0, -at.y); y < side && at.y + y < rows.size; ++y)
        for (int64_t x = std::max<int64_t>(0, -at.x); x < side && at.x + x < columns.size; ++x) {
          const uint32_t pixel = bits[(at.image * rows.size + at.y + y) * columns.size + at.x + x];
          all = std::max(all, pixel);
          if ((y == 1 || y == 2) && (x == 1 || x == 2))
            middle = std::max(middle, pixel);
        }
      if (isMuchSmaller(middle, all))
        return false;
    }
    return true;
  }

  /// The first of the 4x4 pixels of a tile, possibly outside of the image.
  struct Place {
    int64_t image, y, x;
  };
  Place placeOf(int64_t tile) const {
    return {tile / (tileRows * tileColumns), tile / tileColumns % tileRows * 2 - rows.low,
            tile % tileColumns * 2 - columns.low};
  }

  /// Tiles [first, last).
  void block(const panels::Session &session, const Values &now, int64_t first, int64_t last, std::byte *scratch) const {
    const int64_t count = last - first, steps = ceilDivide(count, panels::blockRows(unit)),
                  step = ceilDivide(count, steps);
    transform(now.pixels, first, count, reinterpret_cast<float *>(scratch + placePlace));
    auto *sums = reinterpret_cast<float *>(scratch + sumPlace);
    for (int64_t panel = 0; panel < panelCount; ++panel) {
      for (int64_t place = 0; place < places; ++place)
        multiply(session, scratch + placePlace + place * count * pixelBytes,
                 weights.data() + (panel * places + place) * channels * width * floatBytes,
                 std::min(width, out - panel * width), count, step, sums + place * count * width);
      store(now, first, count, panel, sums, reinterpret_cast<float *>(scratch + resultPlace));
    }
  }

  void transform(const In *pixels, int64_t first, int64_t count, float *to) const {
    for (int64_t i = 0; i < count; ++i, to += pixelBytes / floatBytes) {
      const Place at = placeOf(first + i);
      const In *given[places];
      for (int64_t y = 0; y < side; ++y)
        for (int64_t x = 0; x < side; ++x) {
          const bool inside = at.y + y >= 0 && at.y + y < rows.size && at.x + x >= 0 && at.x + x < columns.size;
          given[y * side + x] =
              inside ? pixels + ((at.image * rows.size + at.y + y) * columns.size + at.x + x) * channels : zeros.data();
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
      const int64_t tile = first + i, x = tile % tileColumns, y = tile / tileColumns % tileRows;
      length = std::min(count - i, tileColumns - x);
      float *const lines[] = {results, results + 2 * length * width};
      for (int64_t t = 0; t < length; ++t)
        transformSums(sums + (i + t) * width, count * width, ceilDivide(needed, 16) * 16, lines[0] + 2 * t * width,
                      lines[1] + 2 * t * width);
      const int64_t pixels = std::min(2 * length, columns.out - 2 * x);
      for (int64_t line = 0; line < 2 && 2 * y + line < rows.out; ++line) {
        const int64_t row = (tile / (tileRows * tileColumns) * rows.out + 2 * y + line) * columns.out + 2 * x;
        const int64_t at = row * resultRow + firstColumn * producedBytes;
        finish(lines[line], added, pixels, needed, now.result + at, resultRow, now.residual.from(at));
      }
    }
  }

  int64_t channels, out, panelCount;
  Axis rows, columns;
  int64_t tileRows, tileColumns, tiles, images; // tiles: of all images
  SumsFinish finish;
  int64_t producedBytes;
  library::AlignedBytes weights; // transformed
  Limits limits{};
  std::unique_ptr<Kernel> direct;
  std::vector<In> zeros; // a pixel
  ScratchLayout layout;
  bool biased;
  library::Packed bias;
  size_t magnitudes;
  int64_t blocks, slots, mostTiles, pixelBytes;
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

/// The weights in panels, followed by Limits; empty if they have to be convolved directly.
library::AlignedBytes transformedWeights(const OpCall &call, const Convolution &c) {
  const std::byte *constant = library::constantOperand(call, 1);
  const ConstantStore::Form form =
      library::formOf(library::FormOf::WinogradPanels, storageType(operand(call, 1).dtype), {c.out, c.window.channels});
  if (call.constants)
    if (library::AlignedBytes shared(call.constants->sharedForm(constant, form)); shared)
      return shared;
  ScratchLayout none;
  const library::Packed packed(call, 1, DataType::Float32, none);
  const auto *values = reinterpret_cast<const float *>(packed.constantValues());
  const std::optional<float> largest = largestWeight(values, c.out, c.window.channels);
  if (!largest)
    return {};
  const auto size = static_cast<size_t>(ceilDivide(c.out, width) * places * c.window.channels * width * floatBytes);
  library::AlignedBytes made(size + sizeof(Limits));
  transformWeights(values, c.out, c.window.channels, reinterpret_cast<float *>(made.data()));
  const Limits limits = limitsOf(*largest, c.window.channels);
  std::memcpy(made.data() + size, &limits, sizeof(limits));
  if (call.constants)
    call.constants->shareForm(constant, form, made.share());
  return made;
}

} // namespace

std::unique_ptr<Kernel> makeWinogradConvolution(const OpCall &call, const Convolution &c, DataType produced,
                                                const std::function<std::unique_ptr<Kernel>()> &makeDirect) {
  if (!suits(call, c))
    return makeDirect();
  library::AlignedBytes weights = transformedWeights(call, c);
  std::unique_ptr<Kernel> direct = makeDirect(); // after which the values of the weights may be gone
  if (!weights)
    return direct;
  const std::string activation = activationOf(call);
  if (storageType(operand(call, 0).dtype) == StorageType::BF16)
    return std::make_unique<WinogradConvolution<uint16_t>>(call, c, produced, activation, std::move(weights),
                                                           std::move(direct));
  return std::make_unique<WinogradConvolution<float>>(call, c, produced, activation, std::move(weights),
                                                      std::move(direct));
}

} // namespace tt::ttnn
