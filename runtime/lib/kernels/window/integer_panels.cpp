//===- integer_panels.cpp - convolutions of integers of few bits ------------===//
// SPDX-License-Identifier: Apache-2.0
//
// A convolution is a product of matrices whose left rows are the windows. Images are converted to planes of bytes (or
// of words of 16 bits) once, and windows are copied from these; weights are constants of 8 or 16 bits
// (core/panels/integers.h).
//
//===----------------------------------------------------------------------===//

#include "core/library.h"
#include "core/panels/integers.h"
#include "kernels/elementwise/epilogue.h"
#include "kernels/window/convolution.h"
#include "tensor/storage.h"
#include "tt/parallel.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <tuple>

namespace tt::ttnn {
namespace {

using panels::ceilDivide;
using panels::IntegerColumns;
using panels::Order;

class IntegerPanelConvolution final : public Kernel {
public:
  IntegerPanelConvolution(const OpCall &call, const Convolution &given)
      : c(given), image(storageType(operand(call, 0).dtype)), depth(c.window.channels / c.groups),
        outs(c.out / c.groups), taps(c.window.area()), count(c.window.sources() * c.window.channels),
        pixelBytes(static_cast<int64_t>(storageBytes(operand(call, 0).dtype))), biased(optionalOperand(call, 2)) {
    for (const Axis &axis : c.window.axes)
      plain &= axis.kernel == 1 && axis.stride == 1 && axis.low == 0 && axis.high == 0;
  }

  /// Packs the weights. False if their values differ too much.
  bool keep(const OpCall &call) {
    const std::byte *values = library::constantOperand(call, 1);
    const ConstantStore::Form form = library::formOf(
        library::FormOf::IntegerConvolution, storageType(operand(call, 1).dtype), {c.groups, c.out, depth, taps});
    if (call.constants)
      ordered = library::AlignedBytes(call.constants->sharedForm(values, form));
    if (!ordered && !order(values, storageType(operand(call, 1).dtype)))
      return false;
    if (call.constants)
      call.constants->shareForm(values, form, ordered.share());
    const auto &head = *reinterpret_cast<const std::array<int32_t, 2> *>(ordered.data());
    columns = {static_cast<Order>(head[0]), depth * taps, outs};
    usesOffsets = head[1] != 0;
    cut();
    return true;
  }

  size_t scratchBytes() const override { return layout.bytes(); }
  bool reads(size_t operand) const override { return operand != 1; }

  void run(const Buffers &buffers) const override {
    Values now{buffers.scratch + imagePlace, 0, 1,
               biased ? reinterpret_cast<const uint32_t *>(buffers.ins[2]) : nullptr,
               reinterpret_cast<int32_t *>(buffers.outs[0])};
    split(buffers.ins[0], buffers.scratch, now);
    const int64_t items = blocks * c.groups;
    parallelRuns(items, 1, slots, [&](int64_t s, Runs &runs) {
      std::byte *const scratch = buffers.scratch + slotPlace + static_cast<size_t>(s) * slot.bytes();
      for (ItemRange run; runs.take(run);)
        for (int64_t i = run.begin; i < run.end; ++i)
          block(now, i / c.groups, i % c.groups, scratch);
    });
  }

private:
  struct Values {
    const std::byte *planes; // of all images
    int32_t low;
    int planeCount;
    const uint32_t *bias; // or none
    int32_t *result;
  };
  static constexpr size_t headBytes = 64;

  int64_t partBytes() const { return 4 / panels::valuesOfWord(columns.order); }
  int64_t planeBytes() const { return count * partBytes(); }
  int64_t rowBytes() const { return columns.words() * 4; }
  size_t groupBytes() const { return (static_cast<size_t>(columns.bytes()) + 63) / 64 * 64; }
  std::byte *packed(int64_t group) const {
    return ordered.data() + headBytes + static_cast<size_t>(group) * groupBytes();
  }

  /// Weights [O, I / groups, window...] as panels of each group, whose rows are [window..., I / groups].
  bool order(const std::byte *values, StorageType type) {
    const int64_t k = depth * taps;
    const auto size = static_cast<size_t>(c.out * k);
    std::vector<int32_t> rows(size), offsets(static_cast<size_t>(c.out)), highs(offsets.size());
    const auto arrange = [&](const auto *from) {
      for (int64_t o = 0; o < c.out; ++o)
        for (int64_t i = 0; i < depth; ++i)
          for (int64_t t = 0; t < taps; ++t)
            rows[static_cast<size_t>(o * k + t * depth + i)] = static_cast<int32_t>(from[(o * depth + i) * taps + t]);
    };
    if (type == StorageType::U8)
      arrange(reinterpret_cast<const uint8_t *>(values));
    else if (type == StorageType::U16)
      arrange(reinterpret_cast<const uint16_t *>(values));
    else
      arrange(reinterpret_cast<const int32_t *>(values));
    const auto matrix = [&](int64_t group) {
      const int32_t *first = rows.data() + group * outs * k;
      return panels::IntegerMatrix{StorageType::I32, reinterpret_cast<const std::byte *>(first), {1, k}};
    };
    const auto found = panels::orderOf(matrix(0), k, c.out, offsets.data(), highs.data());
    if (!found)
      return false;
    columns = {*found, k, outs};
    ordered = library::AlignedBytes(headBytes + static_cast<size_t>(c.groups) * groupBytes());
    bool shifted = false;
    for (int64_t group = 0; group < c.groups; ++group)
      shifted |= panels::pack(columns, matrix(group), offsets.data() + group * outs, packed(group));
    *reinterpret_cast<std::array<int32_t, 2> *>(ordered.data()) = {static_cast<int32_t>(*found), shifted};
    return true;
  }

  void cut() {
    constexpr int64_t cacheBytes = int64_t(1) << 18, mostSteps = panels::mostIntegerRows / panels::integerRows;
    mostPlanes = image == StorageType::U8 ? 1 : panels::mostPlanes(columns.order);
    positions = c.window.positions();
    const int64_t threadCount = threads();
    // Blocks of rows that stay in cache, with several for each thread.
    const int64_t share = ceilDivide(positions * c.groups, 4 * threadCount * panels::integerRows);
    const int64_t fits = cacheBytes / std::max<int64_t>(1, rowBytes()) / panels::integerRows;
    rowsPerBlock = std::clamp<int64_t>(std::min(share, fits), 1, mostSteps) * panels::integerRows;
    blocks = ceilDivide(positions, rowsPerBlock);
    slots = std::min<int64_t>(threadCount, blocks * c.groups);
    rangesPlace = layout.take(static_cast<size_t>(pieces()) * 2 * sizeof(int32_t));
    imagePlace = layout.take(static_cast<size_t>(mostPlanes * planeBytes()));
    if (!isInPlace())
      rowsPlace = slot.take(static_cast<size_t>(mostPlanes * rowsPerBlock * rowBytes()));
    sumsPlace = slot.take(static_cast<size_t>(rowsPerBlock * panels::integerWidth()) * sizeof(int32_t));
    slotPlace = layout.take(static_cast<size_t>(slots) * slot.bytes());
  }

  /// Whether pixels of the images are the rows.
  bool isInPlace() const { return plain && c.groups == 1 && depth % panels::valuesOfWord(columns.order) == 0; }

  static constexpr int64_t pieceSize = 16384;
  int64_t pieces() const { return ceilDivide(count, pieceSize); }

  /// Makes planes of the images.
  void split(const std::byte *from, std::byte *scratch, Values &now) const {
    int32_t high = 0;
    if (image != StorageType::U8) {
      auto *ranges = reinterpret_cast<int32_t *>(scratch + rangesPlace);
      parallelFor(pieces(), 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          std::tie(ranges[2 * i], ranges[2 * i + 1]) = panels::rangeWithZero(
              image, from + i * pieceSize * pixelBytes, std::min(pieceSize, count - i * pieceSize));
      });
      for (int64_t i = 0; i < pieces(); ++i)
        now.low = std::min(now.low, ranges[2 * i]), high = std::max(high, ranges[2 * i + 1]);
      now.planeCount = panels::planesOf(columns.order, static_cast<uint32_t>(high) - static_cast<uint32_t>(now.low));
    }
    parallelFor(pieces(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        panels::splitPlanes(columns.order, image, from + i * pieceSize * pixelBytes,
                            std::min(pieceSize, count - i * pieceSize), now.low, now.planeCount,
                            scratch + imagePlace + i * pieceSize * partBytes(), planeBytes());
    });
  }

  /// Some rows of the result, in the columns of a group.
  void block(const Values &now, int64_t index, int64_t group, std::byte *scratch) const {
    const int64_t first = index * rowsPerBlock, rows = std::min(rowsPerBlock, positions - first);
    panels::IntegerRows found;
    found.planes = now.planeCount;
    std::fill_n(found.low, rows, now.low);
    const std::byte *a = now.planes + first * rowBytes();
    int64_t apart = planeBytes();
    if (!isInPlace()) {
      apart = rows * rowBytes();
      for (int plane = 0; plane < now.planeCount; ++plane)
        copyWindows(now, plane, first, rows, group, scratch + rowsPlace + plane * apart);
      a = scratch + rowsPlace;
    }
    if (usesOffsets)
      sumRows(a, apart, rows, found);
    auto *sums = reinterpret_cast<int32_t *>(scratch + sumsPlace);
    const int64_t width = panels::integerWidth();
    for (int64_t panel = 0; panel < columns.panelCount(); ++panel) {
      int32_t *to = now.result + first * c.out + group * outs + panel * width;
      panels::multiplyPanel(columns, packed(group), usesOffsets, panel, a, found, rows, apart, sums, to, c.out);
      if (now.bias)
        for (int64_t i = 0; i < rows; ++i)
          addBias(now.bias + group * outs + panel * width, to + i * c.out, std::min(width, outs - panel * width));
    }
  }

  static void addBias(const uint32_t *bias, int32_t *to, int64_t n) {
    auto *sums = reinterpret_cast<uint32_t *>(to);
    for (int64_t j = 0; j < n; ++j)
      sums[j] += bias[j];
  }

  /// Sums of the values of rows.
  void sumRows(const std::byte *a, int64_t apart, int64_t rows, panels::IntegerRows &found) const {
    const int64_t k = columns.k;
    for (int64_t i = 0; i < rows; ++i) {
      uint32_t sum = static_cast<uint32_t>(found.low[i]) * static_cast<uint32_t>(k);
      for (int plane = 0; plane < found.planes; ++plane) {
        const std::byte *row = a + plane * apart + i * rowBytes();
        uint32_t part = 0;
        if (columns.order == Order::Quads)
          for (int64_t j = 0; j < k; ++j)
            part += static_cast<uint8_t>(row[j]);
        else
          for (int64_t j = 0; j < k; ++j)
            part += reinterpret_cast<const uint16_t *>(row)[j];
        sum += part << (plane * panels::bitsOfPlane(columns.order));
      }
      found.sum[i] = static_cast<int32_t>(sum);
    }
  }

  /// Copies a plane of the windows of rows [first, first + rows) of the result; elements outside of an image are 0
  /// minus `low`.
  void copyWindows(const Values &now, int plane, int64_t first, int64_t rows, int64_t group, std::byte *to) const {
    const auto &axes = c.window.axes;
    const Axis &along = axes.back();
    const int64_t bytes = partBytes(), tapBytes = depth * bytes, channels = c.window.channels;
    const int bits = panels::bitsOfPlane(columns.order);
    const uint32_t nothing = (-static_cast<uint32_t>(now.low) >> (plane * bits)) & ((uint32_t(1) << bits) - 1);
    const std::byte *planes = now.planes + plane * planeBytes() + group * depth * bytes;
    const auto fill = [&](std::byte *at, int64_t n) {
      if (bytes == 1)
        std::memset(at, static_cast<int>(nothing), static_cast<size_t>(n));
      else
        std::fill_n(reinterpret_cast<uint16_t *>(at), n / 2, static_cast<uint16_t>(nothing));
    };
    const bool together = along.dilation == 1 && c.groups == 1;
    const int64_t lineBytes = along.kernel * tapBytes;
    for (int64_t i = 0; i < rows; ++i, to += rowBytes()) {
      int64_t rest = (first + i) / along.out, at[3] = {};
      const int64_t x = (first + i) % along.out * along.stride - along.low;
      for (size_t d = axes.size() - 1; d-- > 0; rest /= axes[d].out)
        at[d] = rest % axes[d].out * axes[d].stride - axes[d].low;
      std::byte *target = to;
      // Lines of the window: all taps of the outer axes.
      for (int64_t line = 0; line < taps / along.kernel; ++line, target += lineBytes) {
        int64_t pixel = rest, taken = line, place[3] = {};
        bool inside = true;
        for (size_t d = axes.size() - 1; d-- > 0; taken /= axes[d].kernel)
          place[d] = at[d] + taken % axes[d].kernel * axes[d].dilation;
        for (size_t d = 0; d + 1 < axes.size(); ++d) {
          inside &= place[d] >= 0 && place[d] < axes[d].size;
          pixel = pixel * axes[d].size + place[d];
        }
        if (!inside) {
          fill(target, lineBytes);
          continue;
        }
        const std::byte *from = planes + pixel * along.size * channels * bytes;
        if (together) {
          const int64_t before = std::clamp<int64_t>(-x, 0, along.kernel);
          const int64_t behind = std::clamp<int64_t>(x + along.kernel - along.size, 0, along.kernel - before);
          if (before)
            fill(target, before * tapBytes);
          std::memcpy(target + before * tapBytes, from + (x + before) * tapBytes,
                      static_cast<size_t>((along.kernel - before - behind) * tapBytes));
          if (behind)
            fill(target + (along.kernel - behind) * tapBytes, behind * tapBytes);
          continue;
        }
        for (int64_t tap = 0; tap < along.kernel; ++tap) {
          const int64_t element = x + tap * along.dilation;
          if (element < 0 || element >= along.size)
            fill(target + tap * tapBytes, tapBytes);
          else
            std::memcpy(target + tap * tapBytes, from + element * channels * bytes, static_cast<size_t>(tapBytes));
        }
      }
      std::memset(target, 0, static_cast<size_t>(to + rowBytes() - target));
    }
  }

  Convolution c;
  StorageType image;
  int64_t depth, outs, taps; // of a group; of a window
  int64_t count, pixelBytes; // of all images; bytes of a value
  bool biased, plain = true;
  IntegerColumns columns{};
  bool usesOffsets = false;
  int mostPlanes = 1;
  int64_t positions = 0, rowsPerBlock = 0, blocks = 0, slots = 0;
  ScratchLayout layout, slot;
  size_t rangesPlace = 0, imagePlace = 0, rowsPlace = 0, sumsPlace = 0, slotPlace = 0;
  library::AlignedBytes ordered; // a head, and the weights of each group
};

} // namespace

std::unique_ptr<Kernel> makeIntegerPanelConvolution(const OpCall &call, const Convolution &c, DataType produced) {
  constexpr int64_t fewColumns = 8, fewValues = 16; // that fill vectors and words badly
  const auto hasWords = [](DataType type) { return type == DataType::Int32 || type == DataType::UInt32; };
  const TensorSpec *bias = optionalOperand(call, 2);
  if (!panels::multipliesIntegers() || c.transposed || !library::constantOperand(call, 1) ||
      c.out / c.groups < fewColumns || c.window.channels / c.groups * c.window.area() < fewValues ||
      !hasWords(produced) || (bias && !hasWords(bias->dtype)) || volume(operand(call, 0).shape) == 0)
    return nullptr;
  auto kernel = std::make_unique<IntegerPanelConvolution>(call, c);
  return kernel->keep(call) ? std::move(kernel) : nullptr;
}

} // namespace tt::ttnn
