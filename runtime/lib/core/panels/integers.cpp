//===- integers.cpp - products of integers of few bits ---------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "core/panels/integers.h"

#include "core/panels/words.h"
#include "tt/parallel.h"
#include "tt/units.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace tt::ttnn::panels {
namespace {

/// Calls f with a pointer to values of their storage type. Modulo 2^32, words of 32 bits have no sign.
template <class F> auto typed(StorageType type, const std::byte *values, F &&f) {
  switch (type) {
  case StorageType::U8:
    return f(reinterpret_cast<const uint8_t *>(values));
  case StorageType::U16:
    return f(reinterpret_cast<const uint16_t *>(values));
  default:
    return f(reinterpret_cast<const int32_t *>(values));
  }
}

//===----------------------------------------------------------------------===//
// The right operand
//===----------------------------------------------------------------------===//

/// The least and the largest value in columns [begin, end).
template <class T>
void findRanges(const T *from, Strides s, int64_t k, int64_t begin, int64_t end, int32_t *lows, int32_t *highs) {
  for (int64_t j = begin; j < end; ++j)
    lows[j] = highs[j] = k ? from[j * s.column] : 0;
  if (s.row == 1) {
    for (int64_t j = begin; j < end; ++j) {
      const T *column = from + j * s.column;
      int32_t low = lows[j], high = highs[j];
      for (int64_t i = 0; i < k; ++i) {
        const auto x = static_cast<int32_t>(column[i]);
        low = std::min(low, x), high = std::max(high, x);
      }
      lows[j] = low, highs[j] = high;
    }
    return;
  }
  for (int64_t i = 1; i < k; ++i) {
    const T *row = from + i * s.row;
    const auto take = [&](int64_t step) __attribute__((always_inline)) {
      for (int64_t j = begin; j < end; ++j) {
        const auto x = static_cast<int32_t>(row[j * step]);
        lows[j] = std::min(lows[j], x), highs[j] = std::max(highs[j], x);
      }
    };
    s.column == 1 ? take(1) : take(s.column);
  }
}

/// One panel of `columns` columns.
template <Order order, class T>
void packPanel(const T *from, Strides s, int64_t k, int64_t columns, const int32_t *offsets, uint32_t *to,
               int32_t *sums, int64_t width) {
  constexpr int64_t values = valuesOfWord(order);
  constexpr int bits = 32 / values;
  constexpr uint32_t mask = (uint32_t(1) << bits) - 1;
  uint32_t totals[64] = {};
  if (s.row == 1) {
    for (int64_t j = 0; j < columns; ++j) {
      const T *column = from + j * s.column;
      const auto offset = static_cast<uint32_t>(offsets[j]);
      for (int64_t w = 0; w < wordsOf(order, k); ++w) {
        uint32_t word = 0;
        for (int64_t v = 0; v < values && w * values + v < k; ++v) {
          const uint32_t x = static_cast<uint32_t>(column[w * values + v]) - offset;
          totals[j] += x;
          word |= (x & mask) << (v * bits);
        }
        to[w * width + j] = word;
      }
    }
  } else {
    const auto take = [&](int64_t step) __attribute__((always_inline)) {
      for (int64_t i = 0; i < k; ++i) {
        uint32_t *row = to + i / values * width;
        const T *given = from + i * s.row;
        const auto shift = static_cast<int>(i % values) * bits;
        if (shift == 0)
          std::fill_n(row, columns, 0);
        for (int64_t j = 0; j < columns; ++j) {
          const uint32_t x = static_cast<uint32_t>(given[j * step]) - static_cast<uint32_t>(offsets[j]);
          totals[j] += x;
          row[j] |= (x & mask) << shift;
        }
      }
    };
    s.column == 1 ? take(1) : take(s.column);
  }
  for (int64_t w = 0; w < wordsOf(order, k); ++w)
    std::fill(to + w * width + columns, to + (w + 1) * width, 0);
  for (int64_t j = 0; j < width; ++j)
    sums[j] = static_cast<int32_t>(totals[j]);
}

//===----------------------------------------------------------------------===//
// The left operand
//===----------------------------------------------------------------------===//

/// Bits [plane * bits, (plane + 1) * bits) of values minus `low`, as bytes or words of 16 bits.
template <Order order, class T>
void copyPlane(const T *from, int64_t step, int64_t k, int32_t low, int plane, std::byte *to) {
  using Part = std::conditional_t<order == Order::Quads, uint8_t, uint16_t>;
  constexpr int bits = bitsOfPlane(order);
  constexpr uint32_t mask = (uint32_t(1) << bits) - 1;
  auto *parts = reinterpret_cast<Part *>(to);
  const int shift = plane * bits;
  const auto least = static_cast<uint32_t>(low);
  if constexpr (sizeof(T) == 1 && order == Order::Quads) {
    if (step == 1) {
      std::memcpy(parts, from, static_cast<size_t>(k));
      return;
    }
  }
  if (step == 1 && plane == 0)
    for (int64_t i = 0; i < k; ++i)
      parts[i] = static_cast<Part>((static_cast<uint32_t>(from[i]) - least) & mask);
  else
    for (int64_t i = 0; i < k; ++i)
      parts[i] = static_cast<Part>(((static_cast<uint32_t>(from[i * step]) - least) >> shift) & mask);
}

struct Range {
  int32_t low, high;
  uint32_t sum;
};

template <class T> Range rangeOf(const T *from, int64_t step, int64_t k) {
  if (k == 0)
    return {0, 0, 0};
  int32_t low = static_cast<int32_t>(from[0]), high = low;
  uint32_t sum = 0;
  const auto take = [&](int64_t by) __attribute__((always_inline)) {
    for (int64_t i = 0; i < k; ++i) {
      const auto x = static_cast<int32_t>(from[i * by]);
      low = std::min(low, x), high = std::max(high, x);
      sum += static_cast<uint32_t>(x);
    }
  };
  step == 1 ? take(1) : take(step);
  return {low, high, sum};
}

template <Order order, class T>
void packRowsOf(const T *from, Strides s, int64_t rows, int64_t k, std::byte *to, IntegerRows &found) {
  const int64_t rowBytes = wordsOf(order, k) * 4;
  int planes[256];
  found.planes = 1;
  for (int64_t i = 0; i < rows; ++i) {
    const T *row = from + i * s.row;
    const Range range = rangeOf(row, s.column, k);
    found.sum[i] = static_cast<int32_t>(range.sum);
    // Bytes stay as they are.
    found.low[i] = sizeof(T) == 1 ? 0 : range.low;
    const uint32_t most = static_cast<uint32_t>(range.high) - static_cast<uint32_t>(found.low[i]);
    planes[i] = planesOf(order, most);
    for (int plane = 0; plane < planes[i]; ++plane) {
      std::byte *target = to + (plane * rows + i) * rowBytes;
      copyPlane<order>(row, s.column, k, found.low[i], plane, target);
      const int64_t written = k * 4 / valuesOfWord(order);
      std::memset(target + written, 0, static_cast<size_t>(rowBytes - written));
    }
    found.planes = std::max(found.planes, planes[i]);
  }
  for (int64_t i = 0; i < rows; ++i)
    for (int plane = planes[i]; plane < found.planes; ++plane)
      std::memset(to + (plane * rows + i) * rowBytes, 0, static_cast<size_t>(rowBytes));
}

} // namespace

//===----------------------------------------------------------------------===//
// Units
//===----------------------------------------------------------------------===//

#if defined(__x86_64__)

bool multipliesIntegers() { return units() >= Units::AVX2; }

int64_t integerWidth() {
  static const int64_t width = units() >= Units::AVX512 ? 64 : 16;
  return width;
}

void multiply(Order order, const IntegerBlock &block) {
  static const bool wide = units() >= Units::AVX512;
  static const MultiplyWords functions[] = {wide ? avx512::multiplyPairs : avx2::multiplyPairs,
                                            wide ? vnni::multiplyQuads : avx2vnni::multiplyQuads};
  functions[static_cast<size_t>(order)](block);
}

#else

bool multipliesIntegers() { return false; }
int64_t integerWidth() { return 16; }
void multiply(Order, const IntegerBlock &) {}

#endif

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

std::optional<Order> orderOf(const IntegerMatrix &from, int64_t k, int64_t n, int32_t *offsets, int32_t *highs) {
  constexpr int64_t atOnce = 256; // columns
  parallelFor(ceilDivide(n, atOnce), 1 + 65536 / std::max<int64_t>(1, k * atOnce), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      typed(from.type, from.values, [&](const auto *values) {
        findRanges(values, from.strides, k, i * atOnce, std::min(n, (i + 1) * atOnce), offsets, highs);
      });
  });
  uint32_t most = 0;
  for (int64_t j = 0; j < n; ++j)
    most = std::max(most, static_cast<uint32_t>(highs[j]) - static_cast<uint32_t>(offsets[j]));
  if (most > 65535)
    return std::nullopt;
  const Order order = most <= 255 && multipliesBytes() ? Order::Quads : Order::Pairs;
  const int32_t half = order == Order::Quads ? 128 : 32768;
  for (int64_t j = 0; j < n; ++j) {
    const bool fits = offsets[j] >= -half && highs[j] < half;
    offsets[j] = fits ? 0 : static_cast<int32_t>(static_cast<uint32_t>(offsets[j]) + static_cast<uint32_t>(half));
  }
  return order;
}

bool pack(const IntegerColumns &columns, const IntegerMatrix &from, const int32_t *offsets, std::byte *to) {
  const int64_t width = integerWidth(), k = columns.k, n = columns.n;
  int32_t *const sums = columns.sums(to), *const kept = columns.offsets(to);
  std::copy_n(offsets, n, kept);
  std::fill(kept + n, kept + columns.panelCount() * width, 0);
  parallelFor(
      columns.panelCount(), 1 + 16384 / std::max<int64_t>(1, columns.panelBytes()), [&](int64_t begin, int64_t end) {
        for (int64_t panel = begin; panel < end; ++panel)
          typed(from.type, from.values, [&](const auto *values) {
            const int64_t first = panel * width;
            const auto *start = values + first * from.strides.column;
            auto *words = reinterpret_cast<uint32_t *>(to + panel * columns.panelBytes());
            const int64_t count = std::min(width, n - first);
            if (columns.order == Order::Quads)
              packPanel<Order::Quads>(start, from.strides, k, count, offsets + first, words, sums + first, width);
            else
              packPanel<Order::Pairs>(start, from.strides, k, count, offsets + first, words, sums + first, width);
          });
      });
  return std::any_of(offsets, offsets + n, [](int32_t offset) { return offset != 0; });
}

int planesOf(Order order, uint32_t most) {
  return std::max(1, static_cast<int>(ceilDivide(std::bit_width(most), bitsOfPlane(order))));
}

std::pair<int32_t, int32_t> rangeWithZero(StorageType type, const std::byte *from, int64_t count) {
  return typed(type, from, [&](const auto *values) {
    int32_t low = 0, high = 0;
    for (int64_t i = 0; i < count; ++i) {
      const auto x = static_cast<int32_t>(values[i]);
      low = std::min(low, x), high = std::max(high, x);
    }
    return std::pair(low, high);
  });
}

void splitPlanes(Order order, StorageType type, const std::byte *from, int64_t count, int32_t low, int planes,
                 std::byte *to, int64_t planeBytes) {
  typed(type, from, [&](const auto *values) {
    for (int plane = 0; plane < planes; ++plane, to += planeBytes)
      if (order == Order::Quads)
        copyPlane<Order::Quads>(values, 1, count, low, plane, to);
      else
        copyPlane<Order::Pairs>(values, 1, count, low, plane, to);
  });
}

void packRows(Order order, const IntegerMatrix &from, int64_t rows, int64_t k, std::byte *to, IntegerRows &found) {
  typed(from.type, from.values, [&](const auto *values) {
    if (order == Order::Quads)
      packRowsOf<Order::Quads>(values, from.strides, rows, k, to, found);
    else
      packRowsOf<Order::Pairs>(values, from.strides, rows, k, to, found);
  });
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void multiplyPanel(const IntegerColumns &columns, std::byte *packed, bool usesOffsets, int64_t panel,
                   const std::byte *a, const IntegerRows &rows, int64_t count, int64_t planeBytes, int32_t *scratch,
                   int32_t *to, int64_t toRow) {
  constexpr int64_t wordsAtOnce = 128; // of a panel: 32 KB
  const int64_t width = integerWidth(), words = columns.words(), rowBytes = words * 4;
  const int64_t requested = std::min(width, columns.n - panel * width);
  const int64_t chunk = count <= integerRows ? std::max<int64_t>(words, 1) : wordsAtOnce;
  IntegerBlock block{};
  block.aRow = rowBytes;
  block.columns = requested;
  for (int plane = rows.planes - 1; plane >= 0; --plane) {
    const std::byte *values = a + plane * planeBytes;
    if (plane < rows.planes - 1)
      for (int64_t i = 0; i < count * width; ++i)
        scratch[i] = static_cast<int32_t>(static_cast<uint32_t>(scratch[i]) << bitsOfPlane(columns.order));
    block.accumulate = plane < rows.planes - 1;
    for (int64_t from = 0; from == 0 || from < words; from += chunk, block.accumulate = true) {
      block.panel = columns.panel(packed, panel) + from * width * 4;
      block.words = std::min(chunk, words - from);
      for (int64_t at = 0; at < count; at += integerRows) {
        block.rows = std::min(integerRows, count - at);
        block.a = values + at * rowBytes + from * 4;
        block.c = scratch + at * width;
        multiply(columns.order, block);
      }
    }
  }
  const int32_t *sums = columns.sums(packed) + panel * width, *offsets = columns.offsets(packed) + panel * width;
  for (int64_t i = 0; i < count; ++i) {
    const auto low = static_cast<uint32_t>(rows.low[i]), sum = static_cast<uint32_t>(rows.sum[i]);
    const auto *c = reinterpret_cast<const uint32_t *>(scratch + i * width);
    auto *out = reinterpret_cast<uint32_t *>(to + i * toRow);
    if (usesOffsets)
      for (int64_t j = 0; j < requested; ++j)
        out[j] = c[j] + low * static_cast<uint32_t>(sums[j]) + sum * static_cast<uint32_t>(offsets[j]);
    else
      for (int64_t j = 0; j < requested; ++j)
        out[j] = c[j] + low * static_cast<uint32_t>(sums[j]);
  }
}

} // namespace tt::ttnn::panels
