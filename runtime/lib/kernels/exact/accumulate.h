//===- accumulate.h - the destination of the matrix unit ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// dst + two sums of products, as the matrix unit adds them, on vectors of any width.
// Every number of the rule is a multiple of the last place of the largest term, so
// the rule is written with f32: adding 1.5 * 2^23 units rounds to a unit.
// Files of several vector units include this header: nothing of it has a name that
// they share.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>

#if defined(__AVX512F__)
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

  /// Returns dst + first + second. larger: the larger exponent field of the two sums, in the place of f32's exponent; a
  /// multiple of its last place has up to 15 bits. Where it is 0 or less there is no sum, and dst is returned; else it
  /// is at least 25, and no exponent is above 240. Of a 16-bit destination, sums are larger than they are by a quarter
  /// of the last place of their products, which decides ties.
  template <bool wide> [[gnu::always_inline]] static I accumulate(I dst, F first, F second, I larger) {
    const I top = __builtin_elementwise_max(larger, dst & 0x7f800000);
    I bits;
    if constexpr (wide) {
      // In units of the last place: sums are rounded half toward +Inf, as an arithmetic shift does; the destination's
      // magnitude half away from zero, for which the number below 1/2 is added.
      const F scale = as<F>(as<I>((277u << 23) - as<U>(top))), unit = as<F>(top - (23 << 23));
      const auto aligned = [&](F x) { return floor(fma(x, scale, splat(0.5f))); };
      const I negative = dst >> 31;
      const I held = __builtin_convertvector(fma(as<F>(dst & INT32_MAX), scale, splat(0x1.fffffep-2f)), I);
      const I sum = aligned(first) + aligned(second) + ((held ^ negative) - negative);
      // From f32's rounding to even to half away from zero: where bits are lost, a half of the last is added.
      const I loses = __builtin_elementwise_abs(sum) > 0xffffff;
      const I doubled = sum + ((sum + ((sum >> 31) | 1)) & loses);
      bits = as<I>(__builtin_convertvector(doubled, F) * unit) + (loses << 23);
      bits += (sum == -1) & (27 << 23); // a defect of Wormhole, tt-metal #38306
    } else {
      // To 11 digits. Sums are rounded to 24 first, half toward +Inf: half a place of those is added. The destination
      // has 8 digits, and is rounded half away from zero: it is made larger by less than a place.
      const F round = as<F>(top + ((13 << 23) | 0x400000)), half = as<F>(top - (24 << 23));
      const auto aligned = [&](F x) { return ((x + half) + round) - round; };
      const F held = fma(as<F>(dst), splat(1.0f + 0x1p-13f), round) - round;
      bits = as<I>((aligned(first) + aligned(second)) + held);
      bits = (bits + 0x8000) & static_cast<int32_t>(0xffff0000);
    }
    return larger <= 0 ? dst : bits;
  }
};

} // namespace
} // namespace tt::ttnn::exact
