//===- avx2.cpp - panels of AVX2 ---------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Needs AVX2 and FMA: f32 in the same order as with AVX-512.
//
//===----------------------------------------------------------------------===//

#include "core/panels/dots.h"
#include "core/panels/pairs_256.h"

#if defined(__x86_64__)

namespace tt::ttnn::panels::avx2 {
namespace {

constexpr int64_t panelColumns = width(Unit::F32);

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

/// Columns of one panel whose values along k are contiguous.
void packColumns(const float *from, int64_t column, int64_t k, int64_t columns, float *to) {
  for (int64_t c = 0; c < panelColumns; c += 8) {
    int64_t i = 0;
    for (; columns - c >= 8 && i + 8 <= k; i += 8) {
      __m256 r[8];
      for (int64_t j = 0; j < 8; ++j)
        r[j] = _mm256_loadu_ps(from + (c + j) * column + i);
      transpose(r);
      for (int64_t j = 0; j < 8; ++j)
        _mm256_store_ps(to + (i + j) * panelColumns + c, r[j]);
    }
    for (; i < k; ++i)
      for (int64_t j = c; j < c + 8; ++j)
        to[i * panelColumns + j] = j < columns ? from[j * column + i] : 0.0f;
  }
}

void packPanel(const float *from, Strides s, int64_t k, int64_t columns, float *to) {
  if (s.row == 1)
    return packColumns(from, s.column, k, columns, to);
  for (int64_t i = 0; i < k; ++i, from += s.row, to += panelColumns) {
    if (s.column == 1 && columns == panelColumns) {
      for (int64_t j = 0; j < panelColumns; j += 8)
        _mm256_store_ps(to + j, _mm256_loadu_ps(from + j));
      continue;
    }
    for (int64_t j = 0; j < columns; ++j)
      to[j] = from[j * s.column];
    for (int64_t j = columns; j < panelColumns; ++j)
      to[j] = 0.0f;
  }
}

void pack(const std::byte *from, Strides s, int64_t k, int64_t columns, std::byte *to, int64_t nextPanel) {
  for (int64_t c = 0; c < columns; c += panelColumns)
    packPanel(reinterpret_cast<const float *>(from) + c * s.column, s, k,
              columns - c < panelColumns ? columns - c : panelColumns,
              reinterpret_cast<float *>(to + c / panelColumns * nextPanel));
}

// Panels of bf16 values: sixteen columns take 32 bytes, columns i and i + 8 next to each other. Shifted up and masked,
// the 32 bits of both are columns 0 to 7 and 8 to 15 in f32.

/// Sixteen columns of k rows; fewer may exist.
void packNarrowColumns(const uint16_t *from, Strides s, int64_t k, int64_t columns, uint16_t *to) {
  const auto store = [&](int64_t i, __m256 row) {
    _mm256_store_ps(reinterpret_cast<float *>(to + i * panelColumns), row);
  };
  int64_t i = 0;
  if (columns >= 16 && s.row == 1)
    for (; i + 8 <= k; i += 8) {
      __m256 r[8];
      for (int64_t j = 0; j < 8; ++j)
        r[j] = interleaved(from + j * s.column + i, from + (j + 8) * s.column + i);
      transpose(r);
      for (int64_t j = 0; j < 8; ++j)
        store(i + j, r[j]);
    }
  for (; i < k; ++i)
    if (columns >= 16 && s.column == 1)
      store(i, interleaved(from + i * s.row, from + i * s.row + 8));
    else
      for (int64_t j = 0; j < 16; ++j)
        to[i * panelColumns + 2 * (j % 8) + j / 8] = j < columns ? from[i * s.row + j * s.column] : uint16_t(0);
}

/// Columns 0 to 7 and 8 to 15 of sixteen.
[[gnu::always_inline]] inline void widen(const std::byte *from, __m256 &low, __m256 &high) {
  const __m256i both = _mm256_load_si256(reinterpret_cast<const __m256i *>(from));
  low = _mm256_castsi256_ps(_mm256_slli_epi32(both, 16));
  high = _mm256_castsi256_ps(_mm256_and_si256(both, _mm256_set1_epi32(-0x10000)));
}

void copyRows(const std::byte *from, Strides s, int64_t k, int64_t rows, Rows where, std::byte *to) {
  for (int64_t i = 0; i < rows; ++i) {
    const auto *values = reinterpret_cast<const float *>(from) + i * s.row;
    auto *target = reinterpret_cast<float *>(to + i * where.row);
    if (s.column == 1)
      __builtin_memcpy(target, values, static_cast<size_t>(k) * sizeof(float));
    else
      for (int64_t j = 0; j < k; ++j)
        target[j] = values[j * s.column];
  }
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// Blocks of few rows take more columns at a time: twelve registers hold sums, or eight.
template <int rows, bool narrow>
void multiplyRows(const Block &block, const std::byte *panel, int64_t requested, float *c) {
  constexpr int64_t columns = rows == 1 ? 64 : rows <= 3 ? 32 : 16;
  constexpr int vectors = columns / 8, unroll = 4;
  for (int64_t first = 0; first < requested; first += columns) {
    const std::byte *b = panel + first * (narrow ? 2 : 4);
    float *to = c + first;
    const float *a[rows];
    for (int r = 0; r < rows; ++r)
      a[r] = reinterpret_cast<const float *>(block.a + (block.offsets ? block.offsets[r] : r * block.where.row));
    __m256 sum[rows][vectors];
    for (int r = 0; r < rows; ++r)
      for (int v = 0; v < vectors; ++v)
        sum[r][v] = block.accumulate ? _mm256_load_ps(to + r * panelColumns + v * 8) : _mm256_setzero_ps();
    auto step = [&](int64_t i) __attribute__((always_inline)) {
      __m256 right[vectors];
      if constexpr (narrow)
        for (int v = 0; v < vectors; v += 2)
          widen(b + i * panelColumns * 2 + v * 16, right[v], right[v + 1]);
      else
        for (int v = 0; v < vectors; ++v)
          right[v] = _mm256_load_ps(reinterpret_cast<const float *>(b) + i * panelColumns + v * 8);
      for (int r = 0; r < rows; ++r) {
        const __m256 left = _mm256_broadcast_ss(a[r] + i);
        for (int v = 0; v < vectors; ++v)
          sum[r][v] = _mm256_fmadd_ps(left, right[v], sum[r][v]);
      }
    };
    Ahead<rows <= 3 ? _MM_HINT_T0 : _MM_HINT_T1> ahead(block, first == 0 ? block.k / unroll * block.parts : 0);
    for (int64_t part = 0;;) {
      int64_t i = 0;
      for (; i + unroll <= block.k; i += unroll) {
        ahead.step();
#pragma clang loop unroll(full)
        for (int j = 0; j < unroll; ++j)
          step(i + j);
      }
      for (; i < block.k; ++i)
        step(i);
      if (++part == block.parts)
        break;
      for (int r = 0; r < rows; ++r)
        a[r] += block.partBytes / 4;
      b += block.partPanelBytes;
    }
    for (int r = 0; r < rows; ++r)
      for (int v = 0; v < vectors; ++v)
        _mm256_store_ps(to + r * panelColumns + v * 8, sum[r][v]);
  }
}

using Multiply = void (*)(const Block &, const std::byte *, int64_t, float *);
template <bool narrow>
constexpr Multiply byRows[blockRows(Unit::F32)] = {multiplyRows<1, narrow>, multiplyRows<2, narrow>,
                                                   multiplyRows<3, narrow>, multiplyRows<4, narrow>,
                                                   multiplyRows<5, narrow>, multiplyRows<6, narrow>};

/// Columns of a panel that many rows are multiplied with while they are in the first-level cache.
constexpr int64_t fewColumns = 16;

/// These columns of a panel, which the first rows copy while they are multiplied.
template <bool narrow> struct FirstUse {
  const std::byte *panel;
  float *copy;

  [[gnu::always_inline]] void load(int64_t i, __m256 &low, __m256 &high) const {
    if constexpr (narrow) {
      widen(panel + i * panelColumns * 2, low, high);
    } else {
      low = _mm256_load_ps(reinterpret_cast<const float *>(panel) + i * panelColumns);
      high = _mm256_load_ps(reinterpret_cast<const float *>(panel) + i * panelColumns + 8);
    }
    _mm256_store_ps(copy + i * fewColumns, low);
    _mm256_store_ps(copy + i * fewColumns + 8, high);
  }
};

/// The copy.
struct LaterUse {
  const float *copy;

  [[gnu::always_inline]] void load(int64_t i, __m256 &low, __m256 &high) const {
    low = _mm256_load_ps(copy + i * fewColumns);
    high = _mm256_load_ps(copy + i * fewColumns + 8);
  }
};

using AheadOfMany = Ahead<_MM_HINT_T1>;
constexpr int64_t aheadEach = 16; // values of k from one prefetch to the next

/// Adds to the sums of rows from `first` on, each in the order of `multiplyRows`.
template <int rows, class Right>
void multiplyFew(const Block &block, int64_t first, Right right, float *c, AheadOfMany &ahead) {
  const float *a[rows];
  for (int r = 0; r < rows; ++r)
    a[r] = reinterpret_cast<const float *>(block.a + (first + r) * block.where.row);
  float *to = c + first * panelColumns;
  __m256 sum[rows][2];
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < 2; ++v)
      sum[r][v] = block.accumulate ? _mm256_load_ps(to + r * panelColumns + v * 8) : _mm256_setzero_ps();
  const auto step = [&](int64_t i) __attribute__((always_inline)) {
    __m256 low, high;
    right.load(i, low, high);
    for (int r = 0; r < rows; ++r) {
      const __m256 left = _mm256_broadcast_ss(a[r] + i);
      sum[r][0] = _mm256_fmadd_ps(left, low, sum[r][0]);
      sum[r][1] = _mm256_fmadd_ps(left, high, sum[r][1]);
    }
  };
  constexpr int64_t unroll = 4;
  int64_t i = 0;
  while (i + aheadEach <= block.k) {
    ahead.step();
    const int64_t stop = i + aheadEach;
#pragma clang loop unroll(disable)
    for (; i < stop; i += unroll) {
#pragma clang loop unroll(full)
      for (int j = 0; j < unroll; ++j)
        step(i + j);
    }
  }
  for (; i < block.k; ++i)
    step(i);
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < 2; ++v)
      _mm256_store_ps(to + r * panelColumns + v * 8, sum[r][v]);
}

template <class Right> using MultiplyFew = void (*)(const Block &, int64_t, Right, float *, AheadOfMany &);
template <class Right>
constexpr MultiplyFew<Right> fewByRows[blockRows(Unit::F32)] = {multiplyFew<1, Right>, multiplyFew<2, Right>,
                                                                multiplyFew<3, Right>, multiplyFew<4, Right>,
                                                                multiplyFew<5, Right>, multiplyFew<6, Right>};

/// One panel with any number of rows.
template <bool narrow> void multiplyMany(const Block &block) {
  constexpr int64_t most = blockRows(Unit::F32);
  alignas(64) float copy[manyDepth256 * fewColumns];
  const int64_t groups = (block.rows + most - 1) / most, pieces = (block.columns + fewColumns - 1) / fewColumns;
  AheadOfMany ahead(block, groups * pieces * (block.k / aheadEach));
  for (int64_t column = 0; column < block.columns; column += fewColumns) {
    const FirstUse<narrow> firstUse{block.panel + column * (narrow ? 2 : 4), copy};
    for (int64_t row = 0, left = block.rows; left > 0;) {
      // One or two rows would wait for their own sums: the last two groups share what is left.
      const int64_t rows = left <= most ? left : left < 2 * most ? (left + 1) / 2 : most;
      if (row == 0)
        fewByRows<FirstUse<narrow>>[rows - 1](block, row, firstUse, block.c + column, ahead);
      else
        fewByRows<LaterUse>[rows - 1](block, row, {copy}, block.c + column, ahead);
      row += rows;
      left -= rows;
    }
  }
}

//===----------------------------------------------------------------------===//
// Rows with rows
//===----------------------------------------------------------------------===//

/// Right: values of f32, or of bf16, which are widened.
template <bool narrow> struct Eights {
  using Sum = __m256;
  using Left = __m256;
  using Right = __m256;
  static constexpr int64_t step = 8, leftBytes = 32, rightBytes = narrow ? 16 : 32;

  static Sum zero() { return _mm256_setzero_ps(); }
  static __m256i mask(int64_t count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  static Left loadLeft(const std::byte *from) { return _mm256_loadu_ps(reinterpret_cast<const float *>(from)); }
  static Left loadLeft(const std::byte *from, int64_t count) {
    return _mm256_maskload_ps(reinterpret_cast<const float *>(from), mask(count));
  }
  static __m256 widen(__m128i values) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(values), 16));
  }
  static Right loadRight(const std::byte *from) {
    if constexpr (narrow)
      return widen(_mm_loadu_si128(reinterpret_cast<const __m128i *>(from)));
    else
      return loadLeft(from);
  }
  static Right loadRight(const std::byte *from, int64_t count) {
    if constexpr (!narrow)
      return loadLeft(from, count);
    alignas(16) std::byte values[16] = {};
    __builtin_memcpy(values, from, static_cast<size_t>(count) * 2);
    return loadRight(values);
  }
  static Sum add(Sum sum, Left left, Right right) { return _mm256_fmadd_ps(left, right, sum); }
  static __m128 sums(Sum s, Sum t, Sum u, Sum v) {
    const __m256 each = _mm256_hadd_ps(_mm256_hadd_ps(s, t), _mm256_hadd_ps(u, v));
    return _mm_add_ps(_mm256_castps256_ps128(each), _mm256_extractf128_ps(each, 1));
  }
};

/// Right: a step of a block format, of four vectors. Left: the address of as many.
struct EightsOfBlocks {
  using Sum = __m256;
  using Left = const float *;
  struct Right {
    __m256 values[4];
  };
  static constexpr int64_t step = blockStep, leftBytes = blockStep * 4, rightBytes = blockStepBytes;

  static Sum zero() { return _mm256_setzero_ps(); }
  static Left loadLeft(const std::byte *from) { return reinterpret_cast<const float *>(from); }
  static Right loadRight(const std::byte *from) {
    const __m256i both = _mm256_set1_epi32(exponentsOf(from)), exponent = _mm256_set1_epi32(0x7f800000);
    const __m256 units[] = {_mm256_castsi256_ps(_mm256_and_si256(_mm256_slli_epi32(both, 23), exponent)),
                            _mm256_castsi256_ps(_mm256_and_si256(_mm256_slli_epi32(both, 15), exponent))};
    Right right;
    for (int i = 0; i < 4; ++i) {
      const __m128i numbers = _mm_loadl_epi64(reinterpret_cast<const __m128i *>(from + 2 + i * 8));
      right.values[i] = _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(numbers)), units[i / 2]);
    }
    return right;
  }
  static Sum add(Sum sum, Left left, const Right &right) {
    for (int i = 0; i < 4; ++i)
      sum = _mm256_fmadd_ps(_mm256_loadu_ps(left + i * 8), right.values[i], sum);
    return sum;
  }
  static __m128 sums(Sum s, Sum t, Sum u, Sum v) { return Eights<true>::sums(s, t, u, v); }
};

//===----------------------------------------------------------------------===//
// Storing
//===----------------------------------------------------------------------===//

/// To nearest, ties to even; NaN stays NaN.
__m128i roundToBf16(__m256 x) {
  const __m256i bits = _mm256_castps_si256(x);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i rounded = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
  const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
  const __m256i isNaN = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
  const __m256i high = _mm256_srli_epi32(_mm256_blendv_epi8(rounded, quiet, isNaN), 16);
  return _mm_packus_epi32(_mm256_castsi256_si128(high), _mm256_extracti128_si256(high, 1));
}

/// NaN stays NaN: max returns its second operand then. A sum of zeros is 0.
__m256 reluOf(__m256 x) { return _mm256_add_ps(_mm256_max_ps(_mm256_setzero_ps(), x), _mm256_setzero_ps()); }

/// Adds values of the result's type to the results, which are in cache.
template <bool toBf16>
void addRows(const Finish &finish, int64_t rows, int64_t columns, std::byte *to, int64_t rowBytes) {
  constexpr int64_t bytes = toBf16 ? 2 : 4;
  const std::byte *other = finish.added;
  for (int64_t i = 0; i < rows; ++i, to += rowBytes, other += rowBytes)
    for (int64_t j = 0; j < columns; j += 8) {
      alignas(32) std::byte left[8 * bytes] = {}, right[8 * bytes] = {};
      const auto count = static_cast<size_t>((columns - j < 8 ? columns - j : 8) * bytes);
      __builtin_memcpy(left, to + j * bytes, count);
      __builtin_memcpy(right, other + j * bytes, count);
      const auto load = [](const std::byte *from) __attribute__((always_inline)) {
        if constexpr (toBf16)
          return _mm256_castsi256_ps(
              _mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_load_si128(reinterpret_cast<const __m128i *>(from))), 16));
        else
          return _mm256_load_ps(reinterpret_cast<const float *>(from));
      };
      __m256 x = _mm256_add_ps(load(left), load(right));
      if (finish.reluOfSum)
        x = reluOf(x);
      if constexpr (toBf16)
        _mm_store_si128(reinterpret_cast<__m128i *>(left), roundToBf16(x));
      else
        _mm256_store_ps(reinterpret_cast<float *>(left), x);
      __builtin_memcpy(to + j * bytes, left, count);
    }
}

template <bool relu, bool toBf16>
void storeRows(const float *c, const float *bias, int64_t rows, int64_t columns, std::byte *to, int64_t rowBytes) {
  constexpr int64_t bytes = toBf16 ? 2 : 4;
  for (int64_t i = 0; i < rows; ++i, c += panelColumns, to += rowBytes)
    for (int64_t j = 0; j < columns; j += 8) {
      __m256 x = _mm256_load_ps(c + j);
      if (bias)
        x = _mm256_add_ps(x, _mm256_load_ps(bias + j));
      if constexpr (relu)
        x = reluOf(x);
      alignas(32) std::byte values[8 * bytes];
      const bool whole = columns - j >= 8;
      std::byte *target = whole ? to + j * bytes : values;
      if constexpr (toBf16)
        _mm_storeu_si128(reinterpret_cast<__m128i *>(target), roundToBf16(x));
      else
        _mm256_storeu_ps(reinterpret_cast<float *>(target), x);
      if (!whole)
        __builtin_memcpy(to + j * bytes, values, static_cast<size_t>((columns - j) * bytes));
    }
}

void store(const float *c, const Finish &finish, int64_t rows, int64_t columns, std::byte *to, int64_t rowBytes) {
  const auto run = finish.relu     ? finish.toBf16 ? storeRows<true, true> : storeRows<true, false>
                   : finish.toBf16 ? storeRows<false, true>
                                   : storeRows<false, false>;
  run(c, finish.bias, rows, columns, to, rowBytes);
  if (finish.added)
    (finish.toBf16 ? addRows<true> : addRows<false>)(finish, rows, columns, to, rowBytes);
}

} // namespace

extern const Movement f32 = {pack, copyRows, store};

void packNarrow(const std::byte *from, Strides s, int64_t k, int64_t columns, std::byte *to, int64_t nextPanel) {
  // Rows with contiguous columns are read along the row, a few at a time.
  const int64_t rows = s.column == 1 ? 8 : k;
  for (int64_t i = 0; i < k; i += rows)
    for (int64_t c = 0; c < columns; c += panelColumns)
      for (int64_t some = 0; some < panelColumns; some += 16)
        packNarrowColumns(reinterpret_cast<const uint16_t *>(from) + i * s.row + (c + some) * s.column, s,
                          k - i < rows ? k - i : rows, columns - c - some,
                          reinterpret_cast<uint16_t *>(to + c / panelColumns * nextPanel) + i * panelColumns + some);
}

void widenNarrow(const std::byte *row, int64_t columns, float *to) {
  for (int64_t c = 0; c < columns; c += 16) {
    __m256 low, high;
    widen(row + c * 2, low, high);
    _mm256_store_ps(to + c, low);
    _mm256_store_ps(to + c + 8, high);
  }
}

void multiplyF32(const Block &block) {
  if (block.rows > blockRows(Unit::F32))
    return block.narrow ? multiplyMany<true>(block) : multiplyMany<false>(block);
  const Multiply multiply = (block.narrow ? byRows<true> : byRows<false>)[block.rows - 1];
  for (int64_t p = 0; p < block.panels; ++p)
    multiply(block, block.panel + p * block.panelStride, p + 1 == block.panels ? block.columns : panelColumns,
             block.c + p * block.cStride / 4);
}

void dotF32(const Dots &work) {
  // Three rows by four columns are twelve registers of sixteen.
  if (work.blocks)
    return dotColumns<EightsOfBlocks, 4, 1, 2, 3>(work);
  work.narrow ? dotColumns<Eights<true>, 4, 1, 2, 3>(work) : dotColumns<Eights<false>, 4, 1, 2, 3>(work);
}

} // namespace tt::ttnn::panels::avx2

#endif
