//===- accumulate.h - the destination of the matrix unit ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// dst + two sums of products, as the matrix unit adds them, on vectors of any width. Every number of the rule is a
// multiple of the last place of the largest term, so the rule is written with f32: adding 1.5 * 2^23 units rounds to a
// unit. Files for several vector units include this header: none of its names is shared between them.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace tt::ttnn::exact {
namespace {

template <int64_t lanes> struct Vectors {
  using I = int32_t __attribute__((vector_size(lanes * 4)));
  using U = uint32_t __attribute__((vector_size(lanes * 4)));
  using F = float __attribute__((vector_size(lanes * 4)));

  template <class To, class From> [[gnu::always_inline]] static To as(From value) {
    return __builtin_bit_cast(To, value);
  }
  [[gnu::always_inline]] static F splat(float value) { return value - F{}; } // a sum with +0 would have to be computed
  [[gnu::always_inline]] static F fma(F a, F b, F c) { return __builtin_elementwise_fma(a, b, c); }
  /// Rounds toward negative infinity.
  [[gnu::always_inline]] static I floor(F x) {
#if defined(__AVX512F__)
    if constexpr (lanes == 16)
      return as<I>(_mm512_cvt_roundps_epi32(as<__m512>(x), _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC));
#endif
    return __builtin_convertvector(__builtin_elementwise_floor(x), I);
  }
  /// value, negated where `sign` is negative, and 0 where that is 0.
  [[gnu::always_inline]] static I withSign(I value, I sign) {
#if defined(__AVX2__)
    if constexpr (lanes == 8)
      return as<I>(_mm256_sign_epi32(as<__m256i>(value), as<__m256i>(sign)));
#endif
    return (sign < 0 ? -value : value) & (sign != 0);
  }

  /// Returns sum * 2^unit in 24 digits, rounded half away from zero. unit: an exponent, in the place of f32's.
  [[gnu::always_inline]] static I rounded(I sum, I unit) {
#if defined(__AVX512F__)
    if constexpr (lanes == 16) {
      // Half of the last place, by the bits beyond 24, of which there are up to 5.
      alignas(64) static constexpr int32_t halves[32] = {0,  1,  2,  2,  4,  4,  4,  4,  8,  8,  8,
                                                         8,  8,  8,  8,  8,  16, 16, 16, 16, 16, 16,
                                                         16, 16, 16, 16, 16, 16, 16, 16, 16, 16};
      const __m512i magnitude = _mm512_abs_epi32(as<__m512i>(sum));
      const __m512i half = _mm512_permutex2var_epi32(_mm512_load_si512(halves), _mm512_srli_epi32(magnitude, 24),
                                                     _mm512_load_si512(halves + 16));
      const __m512 digits =
          _mm512_cvt_roundepi32_ps(_mm512_add_epi32(magnitude, half), _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
      return as<I>(as<F>(digits) * as<F>(unit | (sum & INT32_MIN)));
    }
#endif
    // From f32's rounding to even to half away from zero: if bits are lost, half of the last one is added.
    const I loses = __builtin_elementwise_abs(sum) > 0xffffff;
    const I doubled = (sum + sum) - withSign(loses, sum);
    return as<I>(__builtin_convertvector(doubled, F) * as<F>(unit - (1 << 23)));
  }
  /// A defect of Wormhole (tt-metal #38306): a negative sum of one unit is too large by 2^27.
  [[gnu::always_inline]] static I withDefect(I result, U most) { return result + ((most == ~0u) & (27 << 23)); }

  /// Returns dst + first + second. larger: the larger exponent field of the two sums, in the place of f32's exponent,
  /// at least 25 and at most 240; a sum is a multiple of its last place and has up to 15 bits. dst is 0, or no last
  /// place of it is lost where there are no sums. Of a 16-bit destination, sums are larger than they are by a quarter
  /// of the last place of their products, which decides ties. Of a 32-bit one, `most` becomes ~0 where the sum is one
  /// negative unit, which Wormhole's defect changes: `withDefect` does that.
  template <bool wide> [[gnu::always_inline]] static I accumulate(I dst, F first, F second, I larger, U &most) {
    const I top = __builtin_elementwise_max(larger, dst & 0x7f800000);
    if constexpr (wide) {
      // In units of the last place: sums are rounded half toward +Inf, as an arithmetic shift does; the destination's
      // magnitude half away from zero, for which the largest number below 1/2 is added.
      const F places = as<F>((277 << 23) - top);
      const auto aligned = [&](F x) { return floor(fma(x, places, splat(0.5f))); };
      const I almostHalf = (dst & INT32_MIN) | 0x3effffff;
      const I held = __builtin_convertvector(fma(as<F>(dst), places, as<F>(almostHalf)), I);
      const I sum = (aligned(first) + aligned(second)) + held;
      most = __builtin_elementwise_max(most, as<U>(sum));
      return rounded(sum, top - (23 << 23));
    } else {
      // To 11 digits. Sums are rounded to 24 first, half toward +Inf: half a place of those is added. The destination
      // has 8 digits, and is rounded half away from zero: it is made larger by less than a place.
      const F round = as<F>(top + ((13 << 23) | 0x400000)), half = as<F>(top - (24 << 23));
      // What `round` is added to, and from what it is taken, are rounded alike: their difference is the sum of both.
      const F sum = ((first + half) + round) - (round - (second + half));
      const F held = fma(as<F>(dst), splat(1.0f + 0x1p-13f), round) - round;
      const I bits = as<I>(sum + held);
      return (bits + 0x8000) & static_cast<int32_t>(0xffff0000);
    }
  }
};

} // namespace
} // namespace tt::ttnn::exact
