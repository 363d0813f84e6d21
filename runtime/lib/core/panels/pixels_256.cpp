//===- pixels_256.cpp - products of pixels with AVX2 ---------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Needs AVX2 and FMA.
//
//===----------------------------------------------------------------------===//

#if defined(__x86_64__)

#include "core/panels/pairs_256.h"
#include "core/panels/pixels.h"

namespace tt::ttnn::panels {
namespace {

constexpr int64_t columns = pixelColumns;
constexpr int64_t mostRows = 6; // twelve registers of sums

/// Values [from, from + depth) of k of each part, of a group of panels.
struct Chunk {
  int64_t from, depth;
  bool first, last;
};

[[gnu::always_inline]] inline Pair loadSums(const float *from) {
  return {_mm256_load_ps(from), _mm256_load_ps(from + 8)};
}

[[gnu::always_inline]] inline void storeSums(float *to, Pair sums) {
  _mm256_store_ps(to, sums.even);
  _mm256_store_ps(to + 8, sums.odd);
}

/// A panel of bf16, which the first rows copy while they are multiplied.
struct FirstUse {
  const std::byte *panel; // from the first value of a chunk on
  float *copy;

  [[gnu::always_inline]] Pair load(int64_t i) const {
    const Pair x = widened(_mm256_load_si256(reinterpret_cast<const __m256i *>(panel + i * columns * 2)));
    storeSums(copy + i * columns, x);
    return x;
  }
};

/// The copy.
struct LaterUse {
  const std::byte *panel;
  const float *copy;

  [[gnu::always_inline]] Pair load(int64_t i) const { return loadSums(copy + i * columns); }
};

/// Where a tile of results goes, and what is added to it.
struct Target {
  std::byte *to;
  const std::byte *added; // or nullptr
  int64_t rowBytes;
};

void addResidual(const PixelBlock &block, const Target &target, int64_t rows) {
  for (int64_t r = 0; r < rows; ++r) {
    std::byte *to = target.to + r * target.rowBytes;
    const Pair x = widened(loadPair(to)), y = widened(loadPair(target.added + r * target.rowBytes));
    const Pair sum{_mm256_add_ps(x.even, y.even), _mm256_add_ps(x.odd, y.odd)};
    storePair(to, finishAny(sum, {block.reluOfSum, false}));
  }
}

/// Finishes sums.
template <int rows>
[[gnu::always_inline]] inline void finish(const PixelBlock &block, const Target &target, const Pair (&sums)[rows]) {
  finishPairs(sums, {block.relu, block.relu6}, [&](int r, __m256i values) __attribute__((always_inline)) {
    storePair(target.to + r * target.rowBytes, values);
  });
  if (target.added)
    addResidual(block, target, rows);
}

/// The same in columns of which some do not exist.
template <int rows>
[[gnu::noinline]] void finishSome(const PixelBlock &block, const Target &target, int64_t existing,
                                  const Pair (&sums)[rows]) {
  alignas(32) std::byte to[rows][columns * 2] = {}, added[rows][columns * 2] = {};
  const auto bytes = static_cast<size_t>(existing * 2);
  if (target.added)
    for (int r = 0; r < rows; ++r)
      __builtin_memcpy(added[r], target.added + r * target.rowBytes, bytes);
  finish<rows>(block, {to[0], target.added ? added[0] : nullptr, columns * 2}, sums);
  for (int r = 0; r < rows; ++r)
    __builtin_memcpy(target.to + r * target.rowBytes, to[r], bytes);
}

/// Panels [first, last), of which only some columns of the last one may exist.
struct Group {
  int64_t first, last;
};

template <int rows, class Right>
void multiplyRows(const PixelBlock &block, const Chunk &chunk, const Group &group, int64_t row) {
  const float *lines[rows];
  for (int r = 0; r < rows; ++r)
    lines[r] = block.a + block.offsets[row + r] + chunk.from;
  float *const kept = block.sums + row * columns;
  const int64_t depth = block.parts * block.k, copied = block.parts * chunk.depth * columns;
  Right right{block.weights + (group.first * depth + chunk.from) * columns * 2, block.copy};
  for (int64_t panel = group.first; panel < group.last;
       ++panel, right.panel += depth * columns * 2, right.copy += copied) {
    const float *a[rows];
    for (int r = 0; r < rows; ++r)
      a[r] = lines[r];
    Pair sums[rows];
    if (chunk.first) {
      const Pair start =
          block.bias ? loadSums(block.bias + panel * columns) : Pair{_mm256_setzero_ps(), _mm256_setzero_ps()};
      for (Pair &sum : sums)
        sum = start;
    } else {
      for (int r = 0; r < rows; ++r)
        sums[r] = loadSums(kept + r * columns);
    }
    const auto step = [&](int64_t i, int64_t panelRow) __attribute__((always_inline)) {
      const Pair weights = right.load(panelRow);
      for (int r = 0; r < rows; ++r) {
        const __m256 left = _mm256_broadcast_ss(a[r] + i);
        sums[r].even = _mm256_fmadd_ps(left, weights.even, sums[r].even);
        sums[r].odd = _mm256_fmadd_ps(left, weights.odd, sums[r].odd);
      }
    };
    constexpr int64_t unroll = 4;
    for (int64_t part = 0, panelRow = 0;; panelRow += chunk.depth) {
      int64_t i = 0;
#pragma clang loop unroll(disable)
      for (; i + unroll <= chunk.depth; i += unroll) {
#pragma clang loop unroll(full)
        for (int j = 0; j < unroll; ++j)
          step(i + j, panelRow + i + j);
      }
#pragma clang loop unroll(disable)
      for (; i < chunk.depth; ++i)
        step(i, panelRow + i);
      if (++part == block.parts)
        break;
      for (int r = 0; r < rows; ++r)
        a[r] += block.nextPart;
    }
    if (!chunk.last) {
      for (int r = 0; r < rows; ++r)
        storeSums(kept + r * columns, sums[r]);
      continue;
    }
    const int64_t place = row * block.rowBytes + panel * columns * 2, left = block.columns - panel * columns;
    const Target target{block.to + place, block.added ? block.added + place : nullptr, block.rowBytes};
    if (left >= columns) {
      finish<rows>(block, target, sums);
    } else {
      Pair copies[rows];
      for (int r = 0; r < rows; ++r)
        copies[r] = sums[r];
      finishSome<rows>(block, target, left, copies);
    }
  }
}

using MultiplyRows = void (*)(const PixelBlock &, const Chunk &, const Group &, int64_t);
template <class Right>
constexpr MultiplyRows byRows[mostRows] = {multiplyRows<1, Right>, multiplyRows<2, Right>, multiplyRows<3, Right>,
                                           multiplyRows<4, Right>, multiplyRows<5, Right>, multiplyRows<6, Right>};

} // namespace

namespace avx2 {

void packPixelWeights(const std::byte *from, Strides s, int64_t k, int64_t count, std::byte *to, int64_t nextPanel) {
  const auto *values = reinterpret_cast<const uint16_t *>(from);
  for (int64_t c = 0; c < count; c += columns, to += nextPanel, values += columns * s.column) {
    const int64_t existing = count - c < columns ? count - c : columns;
    auto *target = reinterpret_cast<uint16_t *>(to);
    int64_t i = 0;
    if (existing == columns && s.row == 1)
      for (; i + 8 <= k; i += 8) {
        __m256 rows[8];
        for (int64_t j = 0; j < 8; ++j)
          rows[j] = interleaved(values + 2 * j * s.column + i, values + (2 * j + 1) * s.column + i);
        transpose(rows);
        for (int64_t j = 0; j < 8; ++j)
          storePair(to + (i + j) * columns * 2, _mm256_castps_si256(rows[j]));
      }
    for (; i < k; ++i)
      for (int64_t j = 0; j < columns; ++j)
        target[i * columns + j] = j < existing ? values[i * s.row + j * s.column] : uint16_t(0);
  }
}

void multiplyPixels(const PixelBlock &block) {
  const int64_t chunks = block.parts > 1 ? 1 : ceilDivide(block.k, pixelDepth);
  const int64_t fit = pixelCopyBytes / (block.parts * block.k * columns * 4);
  const int64_t together = chunks > 1 || fit < 1 ? 1 : fit, panels = ceilDivide(block.columns, columns);
  for (int64_t panel = 0; panel < panels; panel += together) {
    const Group group{panel, panel + together < panels ? panel + together : panels};
    for (int64_t c = 0; c < chunks; ++c) {
      const int64_t from = block.k * c / chunks;
      const Chunk chunk{from, block.k * (c + 1) / chunks - from, c == 0, c + 1 == chunks};
      for (int64_t row = 0, left = block.rows; left > 0;) {
        // One or two rows would wait for their own sums: the last two groups share what is left.
        const int64_t rows = left <= mostRows ? left : left < 2 * mostRows ? (left + 1) / 2 : mostRows;
        (row == 0 ? byRows<FirstUse> : byRows<LaterUse>)[rows - 1](block, chunk, group, row);
        row += rows;
        left -= rows;
      }
    }
  }
}

} // namespace avx2
} // namespace tt::ttnn::panels

#endif
