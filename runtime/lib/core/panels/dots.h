//===- dots.h - products of rows with rows -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The loops of `dot` for every unit. `V` names its vectors:
//   Sum, Left, Right                        their types
//   step, leftBytes, rightBytes             values of k in one, and bytes of one
//   loadLeft(from), loadLeft(from, count)   a whole one, and one filled up with zeros, where k may have a rest
//   add(sum, left, right)                   sum + left * right
//   sums(s, t, u, v)                        the sums of the elements of four
// A file that is compiled for one unit includes this header, and shares nothing
// of it with other files.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "core/panels/units.h"

#if defined(__x86_64__)

namespace tt::ttnn::panels {
namespace {

/// `rows` rows from `a` on with `columns` columns from `b` on, `apart` from each other. ahead: prefetches the following
/// ones.
template <class V, int rows, int columns, bool ahead>
void dotBlock(const Dots &d, const std::byte *a, const std::byte *b, int64_t apart, float *c) {
  const int64_t column = apart * d.bColumn;
  typename V::Sum sum[rows][columns];
  for (int r = 0; r < rows; ++r)
    for (int j = 0; j < columns; ++j)
      sum[r][j] = V::zero();
  const auto step = [&](int64_t i, auto left, auto right) __attribute__((always_inline)) {
    // The smaller number stays in registers while the others pass.
    if constexpr (rows < columns) {
      typename V::Left x[rows];
      for (int r = 0; r < rows; ++r)
        x[r] = left(a + r * d.aRow + i * V::leftBytes);
      for (int j = 0; j < columns; ++j) {
        const typename V::Right y = right(b + j * column + i * V::rightBytes);
        for (int r = 0; r < rows; ++r)
          sum[r][j] = V::add(sum[r][j], x[r], y);
      }
    } else {
      typename V::Right y[columns];
      for (int j = 0; j < columns; ++j)
        y[j] = right(b + j * column + i * V::rightBytes);
      for (int r = 0; r < rows; ++r) {
        const typename V::Left x = left(a + r * d.aRow + i * V::leftBytes);
        for (int j = 0; j < columns; ++j)
          sum[r][j] = V::add(sum[r][j], x, y[j]);
      }
    }
  };
  const auto *next = reinterpret_cast<const char *>(b) + d.bColumn;
  const int64_t whole = d.k / V::step;
  for (int64_t i = 0; i < whole; ++i) {
    if constexpr (ahead)
      for (int j = 0; j < columns; ++j)
        _mm_prefetch(next + j * column + i * V::rightBytes, _MM_HINT_T0);
    step(
        i, [](const std::byte *from) __attribute__((always_inline)) { return V::loadLeft(from); },
        [](const std::byte *from) __attribute__((always_inline)) { return V::loadRight(from); });
  }
  if constexpr (requires { V::loadRight(b, whole); })
    if (const int64_t rest = d.k - whole * V::step)
      step(
          whole, [rest](const std::byte *from) __attribute__((always_inline)) { return V::loadLeft(from, rest); },
          [rest](const std::byte *from) __attribute__((always_inline)) { return V::loadRight(from, rest); });
  for (int r = 0; r < rows; ++r, c += d.cRow) {
    if constexpr (columns % 4 == 0) {
      for (int j = 0; j < columns; j += 4) {
        alignas(16) float four[4];
        _mm_store_ps(four, V::sums(sum[r][j], sum[r][j + 1], sum[r][j + 2], sum[r][j + 3]));
        for (int i = 0; i < 4; ++i) {
          float &to = c[(j + i) * apart];
          to = d.accumulate ? to + four[i] : four[i];
        }
      }
    } else {
      static_assert(columns == 1);
      const float one = _mm_cvtss_f32(V::sums(sum[r][0], V::zero(), V::zero(), V::zero()));
      *c = d.accumulate ? *c + one : one;
    }
  }
}

/// Columns stay in the first-level cache while all rows pass. Columns that are read together are as far apart as
/// possible: each stream continues where it ends, which the hardware prefetcher follows. rows: 1 to as many as pass at
/// a time.
template <class V, int columns, int... rows> void dotColumns(const Dots &d) {
  using Run = void (*)(const Dots &, const std::byte *, const std::byte *, int64_t, float *);
  constexpr int64_t most = sizeof...(rows);
  constexpr Run first[] = {dotBlock<V, rows, columns, true>...};
  constexpr Run others[] = {dotBlock<V, rows, columns, false>...};
  constexpr Run single[] = {dotBlock<V, rows, 1, false>...};
  const int64_t apart = d.columns / columns;
  const auto passRows = [&](int64_t column, const Run *run, const Run *then) {
    for (int64_t r = 0; r < d.rows; r += most, run = then)
      run[(d.rows - r < most ? d.rows - r : most) - 1](d, d.a + r * d.aRow, d.b + column * d.bColumn, apart,
                                                       d.c + r * d.cRow + column);
  };
  for (int64_t j = 0; j < apart; ++j)
    passRows(j, first, others);
  for (int64_t j = apart * columns; j < d.columns; ++j)
    passRows(j, single, single);
}

/// The exponents of a step of a block format, in every element.
[[maybe_unused]] int exponentsOf(const std::byte *from) {
  int both;
  __builtin_memcpy(&both, from, sizeof(both));
  return both;
}

#if defined(__AVX512F__)

/// A step of a block format: the first 16 values, and the others.
struct BlockValues {
  __m512 first, second;
};
[[maybe_unused]] BlockValues blockValues(const std::byte *from) {
  const __m512i both = _mm512_set1_epi32(exponentsOf(from)), exponent = _mm512_set1_epi32(0x7f800000);
  const auto values = [&](int64_t at, __m512i shifted) __attribute__((always_inline)) {
    const __m128i numbers = _mm_loadu_si128(reinterpret_cast<const __m128i *>(from + at));
    return _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(numbers)),
                         _mm512_castsi512_ps(_mm512_and_si512(shifted, exponent)));
  };
  return {values(2, _mm512_slli_epi32(both, 23)), values(18, _mm512_slli_epi32(both, 15))};
}

[[maybe_unused]] __m128 sumsOfFour(__m512 s, __m512 t, __m512 u, __m512 v) {
  const __m512 low = _mm512_add_ps(_mm512_unpacklo_ps(s, t), _mm512_unpackhi_ps(s, t));
  const __m512 high = _mm512_add_ps(_mm512_unpacklo_ps(u, v), _mm512_unpackhi_ps(u, v));
  // Each quarter has a part of every sum, in order.
  const __m512 each = _mm512_add_ps(_mm512_shuffle_ps(low, high, 0x44), _mm512_shuffle_ps(low, high, 0xee));
  const __m256 half =
      _mm256_add_ps(_mm512_castps512_ps256(each), _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(each), 1)));
  return _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
}

/// Reads four streams, as AVX2 does: eight took 10 to 20 % longer from memory on Zen 5, and no less from cache.
template <class V> void dotAll(const Dots &work) { dotColumns<V, 4, 1, 2, 3, 4, 5, 6>(work); }

#endif

} // namespace
} // namespace tt::ttnn::panels

#endif
