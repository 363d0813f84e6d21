//===- avx512.cpp - panels of AVX-512 ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Needs AVX-512 F, BW and VL: f32, and the order of bf16 that the other units multiply.
//
//===----------------------------------------------------------------------===//

#include "core/panels/dots.h"

#if defined(__x86_64__)

namespace tt::ttnn::panels::avx512 {
namespace {

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

/// Transposes sixteen rows of sixteen 32-bit words.
void transpose(__m512i (&r)[16]) {
  __m512i t[16];
  for (int i = 0; i < 8; ++i) {
    t[2 * i] = _mm512_unpacklo_epi32(r[2 * i], r[2 * i + 1]);
    t[2 * i + 1] = _mm512_unpackhi_epi32(r[2 * i], r[2 * i + 1]);
  }
  for (int i = 0; i < 4; ++i) {
    r[4 * i] = _mm512_unpacklo_epi64(t[4 * i], t[4 * i + 2]);
    r[4 * i + 1] = _mm512_unpackhi_epi64(t[4 * i], t[4 * i + 2]);
    r[4 * i + 2] = _mm512_unpacklo_epi64(t[4 * i + 1], t[4 * i + 3]);
    r[4 * i + 3] = _mm512_unpackhi_epi64(t[4 * i + 1], t[4 * i + 3]);
  }
  for (int i = 0; i < 4; ++i) {
    t[i] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0x88);
    t[i + 4] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0xdd);
    t[i + 8] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0x88);
    t[i + 12] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0xdd);
  }
  for (int i = 0; i < 8; ++i) {
    r[i] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88);
    r[i + 8] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0xdd);
  }
}

/// Bytes below `bytes` (up to 64) as a mask.
__mmask64 byteMask(int64_t bytes) {
  return bytes >= 64 ? ~__mmask64(0) : bytes <= 0 ? __mmask64(0) : (__mmask64(1) << bytes) - 1;
}

/// 16 columns whose values along k are contiguous: words of 4 bytes become rows of `stride` bytes. rowWords: the number
/// of existing words (f32 values or bf16 pairs); further ones are written as zeros up to `paddedWords`.
void packColumns(const std::byte *from, int64_t columnBytes, int64_t rowBytes, int64_t paddedWords, int64_t columns,
                 std::byte *to, int64_t stride, int64_t tileBytes) {
  for (int64_t word = 0; word < paddedWords; word += 16) {
    __m512i r[16];
    const __mmask64 mask = byteMask(rowBytes - word * 4);
    for (int64_t c = 0; c < 16; ++c) {
      // The hardware prefetcher cannot follow sixteen streams.
      _mm_prefetch(from + c * columnBytes + word * 4 + 512, _MM_HINT_T0);
      r[c] = c < columns ? _mm512_maskz_loadu_epi8(mask, from + c * columnBytes + word * 4) : _mm512_setzero_si512();
    }
    transpose(r);
    std::byte *target = to + word / 16 * tileBytes;
    const int64_t count = paddedWords - word < 16 ? paddedWords - word : 16;
    for (int64_t i = 0; i < count; ++i)
      _mm512_store_si512(target + i * stride, r[i]);
  }
}

/// Rows are too far apart for the hardware prefetcher.
constexpr int64_t rowsAhead = 16;

void packF32(const std::byte *from, Strides s, int64_t k, int64_t columns, std::byte *to, int64_t nextPanel) {
  constexpr int64_t columnsOfPanel = width(Unit::F32), vectors = columnsOfPanel / 16, rowBytes = columnsOfPanel * 4;
  if (s.column == 1) {
    for (int64_t i = 0; i < k; ++i, from += s.row * 4, to += rowBytes)
      for (int64_t c = 0; c < columns; c += columnsOfPanel)
        for (int64_t v = 0; v < vectors; ++v) {
          const std::byte *source = from + (c + v * 16) * 4;
          _mm_prefetch(source + rowsAhead * s.row * 4, _MM_HINT_T0);
          _mm512_store_si512(to + c / columnsOfPanel * nextPanel + v * 64,
                             _mm512_maskz_loadu_epi8(byteMask((columns - c - v * 16) * 4), source));
        }
    return;
  }
  if (s.row == 1) {
    for (int64_t v = 0; v < vectors; ++v)
      packColumns(from + v * 16 * s.column * 4, s.column * 4, k * 4, k, columns - v * 16, to + v * 64, rowBytes,
                  16 * rowBytes);
    return;
  }
  const auto *values = reinterpret_cast<const float *>(from);
  auto *panel = reinterpret_cast<float *>(to);
  for (int64_t i = 0; i < k; ++i)
    for (int64_t j = 0; j < columnsOfPanel; ++j)
      panel[i * columnsOfPanel + j] = j < columns ? values[i * s.row + j * s.column] : 0.0f;
}

/// Pairs of rows interleaved: [k / 32][column / 16][16 pairs][16 columns][2]; a tile is 1024 contiguous bytes.
void packBf16(const std::byte *from, Strides s, int64_t k, int64_t columns, std::byte *to, int64_t nextPanel) {
  const int64_t padded = depth(Unit::BF16, k);
  // Checked before the next branch, though both strides may be 1: `columns` may be those of many panels, which only
  // this branch writes. A single column is read faster along k.
  if (s.column == 1 && (s.row != 1 || columns > 1)) {
    alignas(64) static constexpr auto order = [] {
      struct {
        uint16_t low[32], high[32];
      } order{};
      for (uint16_t i = 0; i < 16; ++i) {
        order.low[2 * i] = i, order.low[2 * i + 1] = static_cast<uint16_t>(32 + i);
        order.high[2 * i] = static_cast<uint16_t>(16 + i), order.high[2 * i + 1] = static_cast<uint16_t>(48 + i);
      }
      return order;
    }();
    const __m512i low = _mm512_load_si512(order.low), high = _mm512_load_si512(order.high);
    const int64_t whole = columns / 32 * 32;
    const __mmask64 rest = byteMask((columns - whole) * 2);
    for (int64_t i = 0; i < padded; i += 2) {
      std::byte *target = to + i / 32 * 2048 + i % 32 / 2 * 64;
      const std::byte *row = from + i * s.row * 2;
      const auto pair = [&](__m512i even, __m512i odd) __attribute__((always_inline)) {
        _mm512_store_si512(target, _mm512_permutex2var_epi16(even, low, odd));
        _mm512_store_si512(target + 1024, _mm512_permutex2var_epi16(even, high, odd));
        target += nextPanel;
      };
      int64_t c = 0;
      if (i + 1 < k)
        for (; c < whole; c += 32, row += 64) {
          _mm_prefetch(row + rowsAhead * s.row * 2, _MM_HINT_T0);
          _mm_prefetch(row + (rowsAhead + 1) * s.row * 2, _MM_HINT_T0);
          pair(_mm512_loadu_si512(row), _mm512_loadu_si512(row + s.row * 2));
        }
      for (; c < columns; c += 32, row += 64) {
        const __mmask64 mask = c < whole ? ~__mmask64(0) : rest;
        pair(_mm512_maskz_loadu_epi8(i < k ? mask : 0, row),
             _mm512_maskz_loadu_epi8(i + 1 < k ? mask : 0, row + s.row * 2));
      }
    }
    return;
  }
  if (s.row == 1) {
    for (int64_t half = 0; half < 2; ++half)
      packColumns(from + half * 16 * s.column * 2, s.column * 2, k * 2, padded / 2, columns - half * 16,
                  to + half * 1024, 64, 2048);
    return;
  }
  const auto *values = reinterpret_cast<const uint16_t *>(from);
  auto *panel = reinterpret_cast<uint16_t *>(to);
  for (int64_t i = 0; i < padded; ++i)
    for (int64_t j = 0; j < 32; ++j)
      panel[i / 32 * 1024 + j / 16 * 512 + i % 32 / 2 * 32 + j % 16 * 2 + i % 2] =
          i < k && j < columns ? values[i * s.row + j * s.column] : uint16_t(0);
}

/// `count` values of a row, then zeros up to `padded`.
template <class T> void copyRow(const T *from, int64_t stride, int64_t count, int64_t padded, T *to) {
  if (stride == 1)
    for (int64_t j = 0; j < count; ++j)
      to[j] = from[j];
  else
    for (int64_t j = 0; j < count; ++j)
      to[j] = from[j * stride];
  for (int64_t j = count; j < padded; ++j)
    to[j] = T(0);
}

/// Rows of bf16, in order or in tiles, which are padded with zeros.
void copyGroups(const std::byte *from, Strides s, int64_t k, int64_t rows, Rows where, std::byte *to) {
  const int64_t all = where.step == 64 ? rows : (rows + 15) / 16 * 16;
  for (int64_t i = 0; i < all; ++i, from += s.row * 2) {
    std::byte *target = to + i / 16 * where.tile + i % 16 * where.row;
    const int64_t count = i < rows ? k : 0;
    for (int64_t j = 0; j < depth(Unit::BF16, k); j += 32, target += where.step) {
      if (s.column == 1) {
        const __m512i values = _mm512_maskz_loadu_epi8(byteMask((count - j) * 2), from + j * 2);
        _mm512_store_si512(target, values);
        continue;
      }
      const int64_t left = count - j < 0 ? 0 : count - j < 32 ? count - j : 32;
      copyRow(reinterpret_cast<const uint16_t *>(from) + j * s.column, s.column, left, 32,
              reinterpret_cast<uint16_t *>(target));
    }
  }
}

void copyRows(const std::byte *from, Strides strides, int64_t k, int64_t rows, Rows where, std::byte *to) {
  for (int64_t i = 0; i < rows; ++i)
    copyRow(reinterpret_cast<const float *>(from) + i * strides.row, strides.column, k, k,
            reinterpret_cast<float *>(to + i * where.row));
}

template <Unit unit>
void pack(const std::byte *from, Strides strides, int64_t k, int64_t columns, std::byte *to, int64_t nextPanel) {
  constexpr auto packed = unit == Unit::F32 ? packF32 : packBf16;
  if (strides.column == 1)
    return packed(from, strides, k, columns, to, nextPanel);
  constexpr int64_t most = width(unit);
  for (int64_t c = 0; c < columns; c += most)
    packed(from + c * strides.column * elementBytes(unit), strides, k, columns - c < most ? columns - c : most,
           to + c / most * nextPanel, nextPanel);
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// Thirty-two values of packNarrow: the first halves of two vectors, and the second ones.
[[gnu::always_inline]] inline void widenHalves(const std::byte *from, __m512 &first, __m512 &second) {
  const __m512i both = _mm512_load_si512(from);
  first = _mm512_castsi512_ps(_mm512_slli_epi32(both, 16));
  second = _mm512_castsi512_ps(_mm512_and_si512(both, _mm512_set1_epi32(-0x10000)));
}

/// Makes the first and the second halves of two vectors two vectors. Done twice, they are as before.
[[gnu::always_inline]] inline void exchangeHalves(__m512 &x, __m512 &y) {
  const __m512 first = _mm512_shuffle_f32x4(x, y, 0x44);
  y = _mm512_shuffle_f32x4(x, y, 0xee);
  x = first;
}

/// narrow: of packNarrow; sums of two vectors are exchanged meanwhile.
template <int rows, int panels, int vectors = 4, bool narrow = false> void multiplyRows(const Block &block) {
  constexpr int64_t columns = width(Unit::F32), rowBytes = columns * (narrow ? 2 : 4);
  static_assert(!narrow || vectors % 2 == 0);
  constexpr int unroll = panels == 1 ? 4 : 1;
  __m512 sum[panels][rows][vectors];
  auto *c = reinterpret_cast<char *>(block.c);
  auto eachSum = [&](auto &&use) __attribute__((always_inline)) {
    for (int p = 0; p < panels; ++p)
      for (int r = 0; r < rows; ++r)
        for (int v = 0; v < vectors; ++v)
          use(sum[p][r][v], reinterpret_cast<float *>(c + p * block.cStride) + r * columns + v * 16);
  };
  const auto exchange = [&]() __attribute__((always_inline)) {
    if constexpr (narrow)
      for (int p = 0; p < panels; ++p)
        for (int r = 0; r < rows; ++r)
          for (int v = 0; v < vectors; v += 2)
            exchangeHalves(sum[p][r][v], sum[p][r][v + 1]);
  };
  eachSum([&](__m512 &value, const float *at)
              __attribute__((always_inline)) { value = block.accumulate ? _mm512_load_ps(at) : _mm512_setzero_ps(); });
  exchange();
  const auto *a = reinterpret_cast<const float *>(block.a);
  const int64_t row = block.where.row / 4;
  auto step = [&](int64_t i, int p) __attribute__((always_inline)) {
    const std::byte *b = block.panel + p * block.panelStride + i * rowBytes;
    __m512 right[vectors];
    if constexpr (narrow)
      for (int v = 0; v < vectors; v += 2)
        widenHalves(b + v * 32, right[v], right[v + 1]);
    else
      for (int v = 0; v < vectors; ++v)
        right[v] = _mm512_load_ps(b + v * 64);
    for (int r = 0; r < rows; ++r) {
      const __m512 left = _mm512_set1_ps(a[r * row + i]);
      for (int v = 0; v < vectors; ++v)
        sum[p][r][v] = _mm512_fmadd_ps(left, right[v], sum[p][r][v]);
    }
  };
  Ahead<panels == 1 ? _MM_HINT_T1 : _MM_HINT_T0, panels> ahead(block, block.k / unroll);
  int64_t i = 0;
  for (; i + unroll <= block.k; i += unroll) {
    ahead.step();
#pragma clang loop unroll(full)
    for (int p = 0; p < panels; ++p)
#pragma clang loop unroll(full)
      for (int j = 0; j < unroll; ++j)
        step(i + j, p);
  }
  for (; i < block.k; ++i)
#pragma clang loop unroll(full)
    for (int p = 0; p < panels; ++p)
      step(i, p);
  exchange();
  eachSum([](__m512 value, float *at) __attribute__((always_inline)) { _mm512_store_ps(at, value); });
}

using Multiply = void (*)(const Block &);
template <int rows, int panels, bool narrow> constexpr Multiply of = multiplyRows<rows, panels, 4, narrow>;
/// [rows - 1][panels - 1]
template <bool narrow>
constexpr Multiply byPanels[blockRows(Unit::F32)][panelsTogether(Unit::F32, 1)] = {
    {of<1, 1, narrow>, of<1, 2, narrow>, of<1, 3, narrow>, of<1, 4, narrow>, of<1, 5, narrow>, of<1, 6, narrow>},
    {of<2, 1, narrow>, of<2, 2, narrow>, of<2, 3, narrow>},
    {of<3, 1, narrow>, of<3, 2, narrow>},
    {of<4, 1, narrow>},
    {of<5, 1, narrow>},
    {of<6, 1, narrow>},
};
/// One panel of fewer than 64 columns: [rows - 1][vectors - 1]
template <int rows>
constexpr Multiply ofVectors[3] = {multiplyRows<rows, 1, 1>, multiplyRows<rows, 1, 2>, multiplyRows<rows, 1, 3>};
constexpr const Multiply *byVectors[blockRows(Unit::F32)] = {ofVectors<1>, ofVectors<2>, ofVectors<3>,
                                                             ofVectors<4>, ofVectors<5>, ofVectors<6>};
/// The same of packNarrow, of at most 32 columns.
constexpr Multiply narrowHalf[blockRows(Unit::F32)] = {multiplyRows<1, 1, 2, true>, multiplyRows<2, 1, 2, true>,
                                                       multiplyRows<3, 1, 2, true>, multiplyRows<4, 1, 2, true>,
                                                       multiplyRows<5, 1, 2, true>, multiplyRows<6, 1, 2, true>};

void multiplyFew(const Block &block) {
  const int64_t vectors = (block.columns + 15) / 16;
  if (block.panels == 1 && vectors < (block.narrow ? 3 : 4))
    (block.narrow ? narrowHalf[block.rows - 1] : byVectors[block.rows - 1][vectors - 1])(block);
  else
    (block.narrow ? byPanels<true> : byPanels<false>)[block.rows - 1][block.panels - 1](block);
}

/// One panel of packNarrow with any number of rows, as if it were one of f32.
void multiplyMany(const Block &block) {
  constexpr int64_t columns = width(Unit::F32), most = blockRows(Unit::F32);
  alignas(64) float copy[manyDepth512 * columns];
  for (int64_t i = 0; i < block.k * columns; i += 32) {
    __m512 first, second;
    widenHalves(block.panel + i * 2, first, second);
    exchangeHalves(first, second);
    _mm512_store_ps(copy + i, first);
    _mm512_store_ps(copy + i + 16, second);
  }
  const int64_t groups = (block.rows + most - 1) / most, step = (block.rows + groups - 1) / groups;
  Block part = block;
  part.panel = reinterpret_cast<const std::byte *>(copy);
  part.narrow = false;
  part.nextBytes = (block.nextBytes + groups * 64 - 1) / (groups * 64) * 64;
  for (int64_t row = 0; row < block.rows; row += step) {
    part.rows = step < block.rows - row ? step : block.rows - row;
    multiplyFew(part);
    part.a += step * block.where.row;
    part.c += step * columns;
    part.next += part.nextLine ? 0 : part.nextBytes;
    part.nextFirst += part.nextLine ? part.nextBytes / 64 : 0;
  }
}

/// Rows at the block's offsets times a panel of at most 32 columns: it stays in the first-level cache, and is read for
/// twice as many rows at a time as one of 64 columns.
/// narrow: of packNarrow, whose row of 32 is one load. The columns of one half of each sixteen are multiplied together.
template <int rows, int vectors, bool narrow = false> void multiplyApart(const Block &block) {
  constexpr int64_t columns = tileApart512.columns, sums = width(Unit::F32), valueBytes = narrow ? 2 : 4;
  constexpr int unroll = 4;
  static_assert(!narrow || vectors == 2);
  const float *a[rows];
  for (int r = 0; r < rows; ++r)
    a[r] = reinterpret_cast<const float *>(block.a + block.offsets[r]);
  __m512 sum[rows][vectors];
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v)
      sum[r][v] = block.accumulate ? _mm512_load_ps(block.c + r * sums + v * 16) : _mm512_setzero_ps();
  if constexpr (narrow)
    for (int r = 0; r < rows; ++r)
      exchangeHalves(sum[r][0], sum[r][1]);
  const std::byte *panel = block.panel;
  auto step = [&](int64_t i, const std::byte *at) __attribute__((always_inline)) {
    // The next step is not loaded ahead: there are registers for one step only.
    asm volatile("" ::: "memory");
    __m512 right[vectors];
    if constexpr (narrow) {
      widenHalves(at, right[0], right[1]);
    } else {
      for (int v = 0; v < vectors; ++v)
        right[v] = _mm512_load_ps(at + v * 64);
    }
    for (int r = 0; r < rows; ++r) {
      const __m512 left = _mm512_set1_ps(a[r][i]);
      for (int v = 0; v < vectors; ++v)
        sum[r][v] = _mm512_fmadd_ps(left, right[v], sum[r][v]);
    }
  };
  Ahead<_MM_HINT_T1> ahead(block, block.k / unroll * block.parts);
  for (int64_t part = 0;;) {
    const std::byte *b = panel;
    constexpr int64_t rowBytes = columns * valueBytes;
    int64_t i = 0;
    for (; i + unroll <= block.k; i += unroll, b += unroll * rowBytes) {
      ahead.step();
#pragma clang loop unroll(full)
      for (int j = 0; j < unroll; ++j)
        step(i + j, b + j * rowBytes);
    }
    for (; i < block.k; ++i, b += rowBytes)
      step(i, b);
    if (++part == block.parts)
      break;
    for (int r = 0; r < rows; ++r)
      a[r] += block.partBytes / 4;
    panel += block.partPanelBytes;
  }
  if constexpr (narrow)
    for (int r = 0; r < rows; ++r)
      exchangeHalves(sum[r][0], sum[r][1]);
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v)
      _mm512_store_ps(block.c + r * sums + v * 16, sum[r][v]);
}

/// [rows - 1]
template <int vectors, bool narrow = false>
constexpr Multiply apartOf[tileApart512.rows] = {
    multiplyApart<1, vectors, narrow>,  multiplyApart<2, vectors, narrow>,  multiplyApart<3, vectors, narrow>,
    multiplyApart<4, vectors, narrow>,  multiplyApart<5, vectors, narrow>,  multiplyApart<6, vectors, narrow>,
    multiplyApart<7, vectors, narrow>,  multiplyApart<8, vectors, narrow>,  multiplyApart<9, vectors, narrow>,
    multiplyApart<10, vectors, narrow>, multiplyApart<11, vectors, narrow>, multiplyApart<12, vectors, narrow>};

//===----------------------------------------------------------------------===//
// Rows with rows
//===----------------------------------------------------------------------===//

/// Right: values of f32, or of bf16, which are widened.
template <bool narrow> struct Sixteens {
  using Sum = __m512;
  using Left = __m512;
  using Right = __m512;
  static constexpr int64_t step = 16, leftBytes = 64, rightBytes = narrow ? 32 : 64;

  static Sum zero() { return _mm512_setzero_ps(); }
  static Left loadLeft(const std::byte *from) { return _mm512_loadu_ps(from); }
  static Left loadLeft(const std::byte *from, int64_t count) {
    return _mm512_castsi512_ps(_mm512_maskz_loadu_epi8(byteMask(count * 4), from));
  }
  static Right loadRight(const std::byte *from) {
    if constexpr (narrow)
      return widen(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(from)));
    else
      return loadLeft(from);
  }
  static Right loadRight(const std::byte *from, int64_t count) {
    if constexpr (narrow)
      return widen(_mm512_castsi512_si256(_mm512_maskz_loadu_epi8(byteMask(count * 2), from)));
    else
      return loadLeft(from, count);
  }
  static Sum add(Sum sum, Left left, Right right) { return _mm512_fmadd_ps(left, right, sum); }
  static __m128 sums(Sum s, Sum t, Sum u, Sum v) { return sumsOfFour(s, t, u, v); }
};

/// Right: a step of a block format, of two vectors. Left: the address of as many.
struct SixteensOfBlocks {
  using Sum = __m512;
  using Left = const float *;
  using Right = BlockValues;
  static constexpr int64_t step = blockStep, leftBytes = blockStep * 4, rightBytes = blockStepBytes;

  static Sum zero() { return _mm512_setzero_ps(); }
  static Left loadLeft(const std::byte *from) { return reinterpret_cast<const float *>(from); }
  static Right loadRight(const std::byte *from) { return blockValues(from); }
  static Sum add(Sum sum, Left left, const Right &right) {
    sum = _mm512_fmadd_ps(_mm512_loadu_ps(left), right.first, sum);
    return _mm512_fmadd_ps(_mm512_loadu_ps(left + 16), right.second, sum);
  }
  static __m128 sums(Sum s, Sum t, Sum u, Sum v) { return sumsOfFour(s, t, u, v); }
};

//===----------------------------------------------------------------------===//
// Storing
//===----------------------------------------------------------------------===//

template <Unit unit>
void store(const float *c, const Finish &finish, int64_t rows, int64_t columns, std::byte *to, int64_t rowBytes) {
  const float *const bias = finish.bias;
  const bool toBf16 = finish.toBf16;
  const std::byte *const added = finish.added;
  const int64_t ahead = rowsToFetch(rows) * rowBytes;
  constexpr int64_t row = width(unit);
  // Two vectors at a time: 32 columns.
  for (int64_t first = 0; first < columns; first += 32) {
    const __m512 left = bias ? _mm512_load_ps(bias + first) : _mm512_setzero_ps();
    const __m512 right = bias ? _mm512_load_ps(bias + first + 16) : _mm512_setzero_ps();
    const __mmask64 mask = byteMask(columns - first);
    const auto low = static_cast<__mmask16>(mask), high = static_cast<__mmask16>(mask >> 16);
    std::byte *target = to + first * (toBf16 ? 2 : 4);
    for (int64_t i = 0; i < rows; ++i, target += rowBytes) {
      __m512 x = _mm512_load_ps(c + i * row + first), y = _mm512_load_ps(c + i * row + first + 16);
      if (bias) {
        x = _mm512_add_ps(x, left);
        y = _mm512_add_ps(y, right);
      }
      if (finish.relu) {
        x = relu(x);
        y = relu(y);
      }
      if (added) {
        const std::byte *other = added + (target - to);
        _mm_prefetch(other + ahead, _MM_HINT_T0);
        _mm_prefetch(other + ahead + 64, _MM_HINT_T0);
        if (toBf16) {
          x = _mm512_add_ps(widen(roundToBf16(x)), widen(_mm256_maskz_loadu_epi16(low, other)));
          y = _mm512_add_ps(widen(roundToBf16(y)), widen(_mm256_maskz_loadu_epi16(high, other + 32)));
        } else {
          x = _mm512_add_ps(x, _mm512_maskz_loadu_ps(low, other));
          y = _mm512_add_ps(y, _mm512_maskz_loadu_ps(high, other + 64));
        }
        if (finish.reluOfSum) {
          x = relu(x);
          y = relu(y);
        }
      }
      if (toBf16) {
        _mm256_mask_storeu_epi16(target, low, roundToBf16(x));
        _mm256_mask_storeu_epi16(target + 32, high, roundToBf16(y));
      } else {
        _mm512_mask_storeu_ps(target, low, x);
        _mm512_mask_storeu_ps(target + 64, high, y);
      }
    }
  }
}

} // namespace

extern const Movement f32 = {pack<Unit::F32>, copyRows, store<Unit::F32>};
extern const Movement bf16 = {pack<Unit::BF16>, copyGroups, store<Unit::BF16>};

/// Writes whole vectors, whose ends the next part replaces.
static void joinContiguous(const RowPart *parts, int64_t count, std::byte *to) {
  for (const RowPart *part = parts; part < parts + count; ++part)
    for (int64_t i = 0; i < part->count; i += 32) {
      const int64_t bytes = part->count - i < 32 ? (part->count - i) * 2 : 64;
      _mm512_storeu_si512(to, part->from ? _mm512_maskz_loadu_epi8(byteMask(bytes), part->from + i * 2)
                                         : _mm512_setzero_si512());
      to += bytes;
    }
  _mm512_storeu_si512(to, _mm512_setzero_si512());
}

void joinRow(const RowPart *parts, int64_t count, const Rows &where, std::byte *to) {
  if (where.step == 64)
    return joinContiguous(parts, count, to);
  int64_t at = 0; // values of the current 32
  const auto put = [&](__m512i values, int64_t n) __attribute__((always_inline)) {
    _mm512_mask_storeu_epi8(to + at * 2, byteMask(n * 2), values);
    if ((at += n) == 32) {
      at = 0;
      to += where.step;
    }
  };
  for (const RowPart *part = parts; part < parts + count; ++part) {
    const std::byte *from = part->from;
    int64_t left = part->count;
    if (at == 0 && from)
      for (; left >= 32; left -= 32, from += 64, to += where.step)
        _mm512_storeu_si512(to, _mm512_loadu_si512(from));
    while (left > 0) {
      const int64_t n = left < 32 - at ? left : 32 - at;
      put(from ? _mm512_maskz_loadu_epi8(byteMask(n * 2), from) : _mm512_setzero_si512(), n);
      left -= n;
      from += from ? n * 2 : 0;
    }
  }
  if (at > 0)
    put(_mm512_setzero_si512(), 32 - at);
}

void copyPart(const PartialRows &rows, int64_t groups, int64_t nextGroup, std::byte *to) {
  const auto below = [](int64_t count) -> __mmask32 { // the first values of a group
    return count >= 32 ? ~__mmask32(0) : count <= 0 ? 0 : (__mmask32(1) << count) - 1;
  };
  const int64_t count = rows.count, apart = rows.apart;
  for (int64_t g = 0; g < groups; ++g, to += nextGroup) {
    const __mmask32 mask = below(rows.high - g * 32) & ~below(rows.low - g * 32);
    const std::byte *from = rows.from + g * 64;
    if (mask)
      for (int64_t i = 0; i < count; ++i)
        _mm512_store_si512(to + i * 64, _mm512_maskz_loadu_epi16(mask, from + i * apart));
    else
      for (int64_t i = 0; i < count; ++i)
        _mm512_store_si512(to + i * 64, _mm512_setzero_si512());
  }
}

void multiplyF32(const Block &block) {
  if (block.offsets)
    return (block.narrow ? apartOf<2, true> : block.columns > 16 ? apartOf<2> : apartOf<1>)[block.rows - 1](block);
  (block.rows > blockRows(Unit::F32) ? multiplyMany : multiplyFew)(block);
}

void dotF32(const Dots &work) {
  if (work.blocks)
    return dotAll<SixteensOfBlocks>(work);
  work.narrow ? dotAll<Sixteens<true>>(work) : dotAll<Sixteens<false>>(work);
}

} // namespace tt::ttnn::panels::avx512

#endif
