//===- pairs_256.h - bf16 in registers of AVX2 --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Sixteen adjacent values of bf16 are two vectors of f32, of the even and of the odd ones: a shift and a mask widen
// them, and a shift and a blend join them again. Included by files for AVX2, which share nothing of it with others.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "core/panels/units.h"

#if defined(__x86_64__)

namespace tt::ttnn::panels {
namespace {

/// Transposes eight rows of eight values.
inline void transpose(__m256 (&r)[8]) {
  __m256 t[8];
  for (int i = 0; i < 4; ++i) {
    t[2 * i] = _mm256_unpacklo_ps(r[2 * i], r[2 * i + 1]);
    t[2 * i + 1] = _mm256_unpackhi_ps(r[2 * i], r[2 * i + 1]);
  }
  __m256 u[8];
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) {
      u[4 * i + 2 * j] = _mm256_shuffle_ps(t[4 * i + j], t[4 * i + 2 + j], 0x44);
      u[4 * i + 2 * j + 1] = _mm256_shuffle_ps(t[4 * i + j], t[4 * i + 2 + j], 0xee);
    }
  for (int i = 0; i < 4; ++i) {
    r[i] = _mm256_permute2f128_ps(u[i], u[i + 4], 0x20);
    r[i + 4] = _mm256_permute2f128_ps(u[i], u[i + 4], 0x31);
  }
}

/// Eight values of 16 bits from `low` on, each next to one from `high` on.
inline __m256 interleaved(const uint16_t *low, const uint16_t *high) {
  const __m128i l = _mm_loadu_si128(reinterpret_cast<const __m128i *>(low));
  const __m128i h = _mm_loadu_si128(reinterpret_cast<const __m128i *>(high));
  return _mm256_castsi256_ps(_mm256_set_m128i(_mm_unpackhi_epi16(l, h), _mm_unpacklo_epi16(l, h)));
}

/// Sixteen values.
struct Pair {
  __m256 even, odd;
};

[[gnu::always_inline]] inline Pair widened(__m256i both) {
  return {_mm256_castsi256_ps(_mm256_slli_epi32(both, 16)),
          _mm256_castsi256_ps(_mm256_and_si256(both, _mm256_set1_epi32(-0x10000)))};
}
[[gnu::always_inline]] inline __m256i loadPair(const std::byte *from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from));
}

[[gnu::always_inline]] inline void storePair(std::byte *to, __m256i values) {
  _mm256_storeu_si256(reinterpret_cast<__m256i *>(to), values);
}

/// The values in bf16: to nearest, ties to even. Wrong for NaN.
[[gnu::always_inline]] inline __m256i roundedNumbers(Pair x) {
  const __m256i even = _mm256_castps_si256(x.even), odd = _mm256_castps_si256(x.odd);
  const __m256i high = _mm256_blend_epi16(_mm256_srli_epi32(even, 16), odd, 0xaa);
  const __m256i low = _mm256_blend_epi16(even, _mm256_slli_epi32(odd, 16), 0xaa);
  // The upper half grows by the first bit of the lower one, from which 1 is taken before if the upper half is even.
  const __m256i more = _mm256_subs_epu16(low, _mm256_andnot_si256(high, _mm256_set1_epi16(1)));
  return _mm256_add_epi16(high, _mm256_srli_epi16(more, 15));
}
/// The same, where NaN stays NaN.
[[gnu::always_inline]] inline __m256i roundedAll(Pair x) {
  const auto quiet = [](__m256 y) __attribute__((always_inline)) {
    const __m256 bit = _mm256_castsi256_ps(_mm256_set1_epi32(0x400000)), isNaN = _mm256_cmp_ps(y, y, _CMP_UNORD_Q);
    // Without what rounding would carry.
    const __m256 bits = _mm256_and_ps(_mm256_or_ps(y, bit), _mm256_castsi256_ps(_mm256_set1_epi32(-0x10000)));
    return _mm256_blendv_ps(y, bits, isNaN);
  };
  return roundedNumbers({quiet(x.even), quiet(x.odd)});
}

/// NaN stays NaN: max and min return their second operand then. A sum of zeros is 0.
[[gnu::always_inline]] inline __m256 reluOfAll(__m256 x) {
  return _mm256_add_ps(_mm256_max_ps(_mm256_setzero_ps(), x), _mm256_setzero_ps());
}

/// The activation of `finishPairs`: NaN stays NaN; relu6 implies relu.
struct Bounds {
  bool relu, relu6;
};

/// Rounds a pair after an activation.
inline __m256i finishAny(Pair x, Bounds bounds) {
  if (bounds.relu)
    x = {reluOfAll(x.even), reluOfAll(x.odd)};
  if (bounds.relu6)
    x = {_mm256_min_ps(_mm256_set1_ps(6), x.even), _mm256_min_ps(_mm256_set1_ps(6), x.odd)};
  return roundedAll(x);
}

/// Applies an activation to `count` pairs and rounds them; store(i, values) gets each. One branch decides whether there
/// is a NaN among all.
template <int count, class Store>
[[gnu::always_inline]] inline void finishPairs(const Pair (&sums)[count], Bounds bounds, Store store) {
  __m256 unordered = _mm256_cmp_ps(sums[0].even, sums[0].odd, _CMP_UNORD_Q);
#pragma clang loop unroll(full)
  for (int i = 1; i < count; ++i)
    unordered = _mm256_or_ps(unordered, _mm256_cmp_ps(sums[i].even, sums[i].odd, _CMP_UNORD_Q));
  if (__builtin_expect(_mm256_movemask_ps(unordered), 0)) {
    Pair copies[count]; // the loop below indexes memory: the sums themselves stay in registers
#pragma clang loop unroll(full)
    for (int i = 0; i < count; ++i)
      copies[i] = sums[i];
#pragma clang loop unroll(disable)
    for (int i = 0; i < count; ++i)
      store(i, finishAny(copies[i], bounds));
    return;
  }
  // Numbers of bf16 that are not negative have the order of their bits, and 0 and 6 are exact.
  const __m256i least = _mm256_set1_epi16(bounds.relu ? 0 : -0x8000);
  const __m256i most = _mm256_set1_epi16(bounds.relu6 ? 0x40c0 : 0x7fff);
#pragma clang loop unroll(full)
  for (int i = 0; i < count; ++i) {
    store(i, _mm256_min_epi16(_mm256_max_epi16(roundedNumbers(sums[i]), least), most));
  }
}

} // namespace
} // namespace tt::ttnn::panels

#endif
