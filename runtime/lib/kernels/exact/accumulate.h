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

  /// Returns dst + first + second, of a 32-bit destination times 2^places. larger: the larger exponent field of the two
  /// sums, in the place of f32's exponent, at least 25 and at most 240; a sum is a multiple of its last place and has
  /// up to 15 bits. dst is 0, or no last place of it is lost where there are no sums. Of a 16-bit destination, sums are
  /// larger than they are by a quarter of the last place of their products, which decides ties. Of a 32-bit one, `most`
  /// becomes ~0 where the sum is one negative unit, which Wormhole's defect changes: `withDefect` does that.
  template <bool wide>
  [[gnu::always_inline]] static I accumulate(I dst, F first, F second, I larger, U &most, int32_t places = 0) {
    const I top = __builtin_elementwise_max(larger, dst & 0x7f800000);
    if constexpr (wide) {
      // In units of the last place: sums are rounded half toward +Inf, as an arithmetic shift does.
      const F scale = as<F>((277 << 23) - top);
      const auto aligned = [&](F x) { return floor(fma(x, scale, splat(0.5f))); };
      const I sum = (aligned(first) + aligned(second)) + __builtin_convertvector(untruncated(dst, scale), I);
      most = __builtin_elementwise_max(most, as<U>(sum));
      return rounded(sum, top + ((places - 23) << 23));
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

  /// The same n times for a 32-bit destination, where the exponents of two sums are at most `near` apart, unless one of
  /// them is 0: f32 holds what they add up to, and nothing becomes an integer. Of all results so far in units of the
  /// last place, `least` is the least as bits: `hasDefect` says whether the defect changes one.
  static constexpr int16_t near = 8;
  template <int n>
  [[gnu::always_inline]] static void accumulateNear(I *dst, const F *first, const F *second, const I *larger,
                                                    int32_t places, I &least) {
    // Steps of all n after one another: each waits for the one before.
    I top[n];
    F scale[n], held[n], sum[n], lost[n];
#pragma clang loop unroll(full)
    for (int i = 0; i < n; ++i) {
      top[i] = __builtin_elementwise_max(larger[i], dst[i] & 0x7f800000);
      scale[i] = as<F>((277 << 23) - top[i]);
      held[i] = keepHere(__builtin_elementwise_trunc(untruncated(dst[i], scale[i])));
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < n; ++i) {
      const auto aligned = [&](F x) { return __builtin_elementwise_floor(fma(x, scale[i], splat(0.5f))); };
      sum[i] = keepHere(aligned(first[i]) + aligned(second[i]));
    }
    // The sum, and what its rounding to even lost, exactly. That is made larger by too little to reach a tie from
    // below, so that ties are rounded away from zero.
#pragma clang loop unroll(full)
    for (int i = 0; i < n; ++i) {
      const F all = sum[i] + held[i];
      lost[i] = keepHere(fma(all, splat(0x1p-35f), held[i] - (all - sum[i])));
      sum[i] = all;
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < n; ++i) {
      const F result = sum[i] + lost[i];
      least = __builtin_elementwise_min(least, as<I>(result));
      dst[i] = as<I>(result * as<F>(top[i] + ((places - 23) << 23)));
    }
  }
  /// -1.0f is the least of all integers in f32, taken as bits.
  [[gnu::always_inline]] static bool hasDefect(I least) {
    return __builtin_reduce_or(least == static_cast<int32_t>(0xbf800000)) != 0;
  }

private:
  /// The destination in units of the last place of a sum, which becomes an integer by dropping what is behind the
  /// point: its magnitude is rounded half away from zero, for which the largest number below 1/2 has been added.
  [[gnu::always_inline]] static F untruncated(I dst, F scale) {
    return fma(as<F>(dst), scale, as<F>((dst & INT32_MIN) | 0x3effffff));
  }
  /// The value, which the compiler does not compute later.
  [[gnu::always_inline]] static F keepHere(F value) {
#if defined(__x86_64__)
    asm volatile("" : "+x"(value));
#endif
    return value;
  }
};

} // namespace
} // namespace tt::ttnn::exact
