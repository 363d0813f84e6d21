//===- lanes.h - the chip's units on several values at once ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The rules of sim/arithmetic.h for eight values whose exponents are far enough from the ends of their range; if one of
// them is not, the functions there compute all eight.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "kernels/exact/accumulate.h"
#include "tt/sim/arithmetic.h"

#include <cstddef>
#include <cstring>
#include <limits>

namespace tt::ttnn::exact {

constexpr int64_t lanes = 8;
using I = int32_t __attribute__((vector_size(lanes * 4)));
using U = uint32_t __attribute__((vector_size(lanes * 4)));
using F = float __attribute__((vector_size(lanes * 4)));

template <class To, class From> To as(From value) { return __builtin_bit_cast(To, value); }
inline I maximum(I a, I b) { return __builtin_elementwise_max(a, b); }
inline I minimum(I a, int32_t b) { return __builtin_elementwise_min(a, I{} + b); }
inline I chosen(I condition, I yes, I no) { return (yes & condition) | (no & ~condition); }
inline bool anyOf(I condition) { return __builtin_reduce_or(condition) != 0; }
inline I exponentsOf(I bits) { return as<I>((as<U>(bits) << 1) >> 24); }
/// Returns significands with the hidden digit; 0 for zeros and denormals.
inline I significands(I bits) { return ((bits & 0x7fffff) | 0x800000) & (exponentsOf(bits) != 0); }

//===----------------------------------------------------------------------===//
// Matrix unit
//===----------------------------------------------------------------------===//

/// dst + a sum of products in units of 2^13 at an exponent, which is 0 or below if there is no sum. Nothing may
/// underflow or overflow on the way: exponents are at least 25 or 0, and below 240.
template <bool wide> I accumulate(I dst, I sum, I exponent) {
  const F quarter = F{} + (wide ? 0.0f : 0.25f);
  const F value = (__builtin_convertvector(sum, F) + quarter) * as<F>((exponent - 10) << 23);
  const I larger = maximum(exponent, I{} + 25) << 23;
  U most{};
  const I result = Vectors<lanes>::accumulate<wide>(dst, value, F{}, larger, most);
  return chosen(exponent <= 0, dst, Vectors<lanes>::withDefect(result, most));
}

/// f on each lane.
template <class G> I oneByOne(I a, I b, G g) {
  I result;
  for (int64_t i = 0; i < lanes; ++i)
    result[i] = static_cast<int32_t>(g(static_cast<uint32_t>(a[i]), static_cast<uint32_t>(b[i])));
  return result;
}

template <sim::exact::Destination width> I add(I a, I b) {
  constexpr bool wide = width == sim::exact::Destination::Bits32;
  const I swap = (a & 0x7fffffff) < (b & 0x7fffffff);
  const I large = chosen(swap, b, a), small = chosen(swap, a, b);
  const I top = exponentsOf(large), distance = top - exponentsOf(small);
  if (anyOf(((top < 64) & (top != 0)) | (top > 240)))
    return oneByOne(a, b, [](uint32_t x, uint32_t y) { return sim::exact::add(x, y, width); });
  const auto digits = [](I bits) { return significands(bits) >> 13; };
  const I shift = minimum(distance, 12);
  const I lesser = ((digits(small) + as<I>(as<U>((I{} + 1) << shift) >> 1)) >> shift) & (distance < 12);
  const I opposite = (large ^ small) >> 31, sign = large >> 31;
  const I sum = digits(large) + ((lesser ^ opposite) - opposite);
  return accumulate<wide>(I{}, (sum ^ sign) - sign, top);
}

template <sim::exact::Destination width, int phases> I multiply(I a, I b) {
  constexpr bool wide = width == sim::exact::Destination::Bits32;
  const I sum = exponentsOf(a) + exponentsOf(b), there = (exponentsOf(a) != 0) & (exponentsOf(b) != 0);
  if (anyOf(((sum < 192) | (sum > 360) | (exponentsOf(a) == 255) | (exponentsOf(b) == 255)) & there))
    return oneByOne(a, b, [](uint32_t x, uint32_t y) { return sim::exact::multiply(x, y, phases, width); });
  const I left = significands(a) >> 13, right = significands(b) >> 13, sign = (a ^ b) >> 31;
  constexpr int32_t offsets[4] = {0, 5, 7, 12};
  I dst{};
  for (int phase = 0; phase < phases; ++phase) {
    const I ma = phase & 1 ? (left >> 1) & 31 : left >> 6;
    const I mb = phase & 2 ? (right & 15) << 3 : right >> 4;
    const I product = (ma * mb) & there;
    dst = accumulate<wide>(dst, (product ^ sign) - sign, (sum - 127 - offsets[phase]) & there);
  }
  return dst;
}

//===----------------------------------------------------------------------===//
// Vector unit
//===----------------------------------------------------------------------===//

/// x * y + z by the host's fused instruction, and the lanes where that may differ from SFPMAD. The chip keeps 27 digits
/// or more of each term, and sets the last one where it loses others: rounded once more, these are the digits of the
/// exact sum, if only one term has such a digit and at most one digit of the sum cancels.
struct Fused {
  I result, differs;
};
inline Fused fusedMultiplyAdd(I x, I y, I z) {
  const I ex = exponentsOf(x), ey = exponentsOf(y), ez = exponentsOf(z), power = ex + ey - 127;
  const I top = maximum(power, ez), addend = z & (ez != 0), isNothing = (ex == 0) | (ey == 0);
  const auto fused = [&](F with) { return __builtin_elementwise_fma(as<F>(x), as<F>(y), with); };
  const F sum = fused(as<F>(addend));
  const I magnitude = as<I>(sum) & INT32_MAX;
  const I bothLose = (fused(-(as<F>(x) * as<F>(y))) != 0) & (power - ez > 2) & (ez != 0);
  // Where digits cancel, and where the sum has two more than the larger term, of which the chip forgets one.
  const I isFar = (magnitude <= (top - 1) << 23) | (magnitude >= (top + 2) << 23) | (top < 64) | (top > 240);
  const I isEndless = maximum(maximum(ex, ey), ez) == 255;
  return {chosen(isNothing, addend, as<I>(sum)), ((bothLose | isFar) & ~isNothing) | isEndless};
}

inline I multiplyAdd(I x, I y, I z) {
  if (const Fused fused = fusedMultiplyAdd(x, y, z); !anyOf(fused.differs))
    return fused.result;
  const I ex = exponentsOf(x), ey = exponentsOf(y), ez = exponentsOf(z);
  I power = ex + ey - 127;
  if (anyOf((ex == 255) | (ey == 255) | (ez == 255) | (power >= 255))) {
    I result;
    for (int64_t i = 0; i < lanes; ++i)
      result[i] = static_cast<int32_t>(sim::exact::multiplyAdd(static_cast<uint32_t>(x[i]), static_cast<uint32_t>(y[i]),
                                                               static_cast<uint32_t>(z[i])));
    return result;
  }
  using Long = uint64_t __attribute__((vector_size(lanes * 8)));
  const Long raw =
      __builtin_convertvector(as<U>(significands(x)), Long) * __builtin_convertvector(as<U>(significands(y)), Long);
  const Long kept = (raw >> 20) | (((raw & 0xfffff) + 0xfffff) >> 20); // and a bit for what is lost
  I product = as<I>(__builtin_convertvector(kept, U)), addend = significands(z) << 3;
  const I none = (product == 0) | (power < 0), plain = z & (addend != 0);
  product &= ~none;
  power &= ~none;
  const I top = maximum(power, ez);
  const auto shifted = [](I value, I places) {
    const I shift = minimum(places, 31), quotient = as<I>(as<U>(value) >> as<U>(shift));
    // Lost bits make the rest odd, but never make a nonzero value of zero.
    const I lost = (as<I>(as<U>(quotient) << as<U>(shift)) != value) & (quotient != 0) & 1;
    return quotient | lost;
  };
  product = shifted(product, top - power);
  addend = shifted(addend, top - ez);
  const I productSign = (x ^ y) & INT32_MIN, addendSign = z & INT32_MIN;
  const I sign = chosen(product >= addend, productSign, addendSign);
  const I difference = product - addend, away = difference >> 31;
  const I total = chosen(productSign == addendSign, product + addend, (difference ^ away) - away);
  // To 27 digits; the last lost bit is kept, and no other.
  const I twice = total >= 1 << 28, once = total >= 1 << 27, places = -(once + twice);
  const I digits = (total >> places) | (total & 1 & once);
  const I rounded = as<I>(__builtin_convertvector(digits, F)); // ties to even
  const I exponent = exponentsOf(rounded) + top + places - 153;
  const I bits = sign | (rounded & 0x7fffff) | (exponent << 23);
  I result = chosen(exponent >= 255, sign | 0x7f800000, bits & (exponent > 0)) & (total != 0);
  return chosen(none, plain, result);
}

/// Values with the vector unit's operations: + - * are one SFPMAD each, all others move bits.
struct Lanes {
  I bits;

  Lanes() = default;
  explicit Lanes(I bits) : bits(bits) {}
  Lanes(float value) : bits(I{} + __builtin_bit_cast(int32_t, value)) {} // NOLINT: constants are written as numbers

  friend Lanes operator*(Lanes x, Lanes y) { return Lanes(multiplyAdd(x.bits, y.bits, I{})); }
  friend Lanes operator+(Lanes x, Lanes y) { return Lanes(multiplyAdd(Lanes(1.0f).bits, x.bits, y.bits)); }
  friend Lanes operator-(Lanes x, Lanes y) { return x + -y; }
  Lanes operator-() const { return Lanes(bits ^ INT32_MIN); }

  Lanes magnitude() const { return Lanes(bits & INT32_MAX); }
  Lanes withSign(Lanes other) const { return Lanes((bits & INT32_MAX) | (other.bits & INT32_MIN)); }
  I field() const { return exponentsOf(bits); }
  Lanes withField(I field) const { return Lanes((bits & ~0x7f800000) | ((field & 255) << 23)); }
  I isZero() const { return field() == 0; } // or a denormal
  I isNegative() const { return bits >> 31; }
  /// Integers in the order of sign and magnitude.
  I order() const { return bits ^ ((bits >> 31) & INT32_MAX); }
};

/// To bf16: ties away from zero, NaN becomes Inf, zeros and denormals +0.
inline Lanes roundedToBf16(Lanes x) {
  const I rounded = (x.bits + 0x8000) & ~0xffff, isNaN = x.magnitude().bits > 0x7f800000;
  const I finite = chosen(isNaN, (x.bits & INT32_MIN) | 0x7f800000, rounded);
  return Lanes(finite & (exponentsOf(finite) != 0));
}
inline Lanes mad(Lanes x, Lanes y, Lanes z) { return Lanes(multiplyAdd(x.bits, y.bits, z.bits)); }
inline Lanes chosen(I condition, Lanes yes, Lanes no) { return Lanes(chosen(condition, yes.bits, no.bits)); }
inline Lanes larger(Lanes x, Lanes y) { return chosen(x.order() < y.order(), y, x); }
inline Lanes smaller(Lanes x, Lanes y) { return chosen(x.order() < y.order(), x, y); }
/// The sign of the difference, as in conditions on lanes.
inline I isLess(Lanes x, Lanes y) { return (x - y).isNegative(); }
inline Lanes numbers(I integers) { return Lanes(as<I>(__builtin_convertvector(integers, F))); }

/// ckernel_sfpu_recip.h. steps: iterations of Newton's method, two for f32.
inline Lanes reciprocalOf(Lanes x, int steps) {
  const Lanes n((x.bits & 0x7fffff) | __builtin_bit_cast(int32_t, -1.0f));
  Lanes y = mad(mad(0.3232325017452239990234375f, n, 1.4545459747314453125f), n, 2.121212482452392578125f);
  const Lanes scale = Lanes(~x.bits & 0x7f800000) * 0.5f;
  for (int i = 0; i < steps; ++i)
    y = mad(y, mad(n, y, 1.0f), y);
  return (y * scale).withSign(x);
}
/// ckernel_sfpu_binary.h: a number divided by itself is 1, and a nonzero number divided by 0 is Inf with its sign.
inline Lanes quotientOf(Lanes a, Lanes b) {
  const I isSame = (a - b).magnitude().bits == 0, byZero = b.magnitude().bits == 0;
  const Lanes none = chosen(a.magnitude().bits == 0, Lanes(std::numeric_limits<float>::quiet_NaN()),
                            Lanes(std::numeric_limits<float>::infinity()).withSign(a));
  return chosen(byZero, none, chosen(isSame, Lanes(1.0f), a * reciprocalOf(b, 2)));
}

//===----------------------------------------------------------------------===//
// Packer
//===----------------------------------------------------------------------===//

/// Partial sums that the packer adds in memory (sim::exact::addInL1).
template <bool wide> I addInL1(I old, I added) {
  const I sum = as<I>(as<F>(old) + as<F>(added)), field = exponentsOf(sum);
  if (anyOf((field == 255) | ((field < 27) & ((sum & INT32_MAX) != 0))))
    return oneByOne(old, added, [](uint32_t x, uint32_t y) {
      return sim::exact::addInL1(x, y, wide ? sim::exact::Destination::Bits32 : sim::exact::Destination::Bits16);
    });
  // Two values of bf16 whose sum does not fit in f32 are too far apart for that rounding to change the second one.
  return wide ? sum : (sum + 0x7fff + ((sum >> 16) & 1)) & ~0xffff;
}

/// Applies g to eight values at a time; to the last ones padded with zeros.
template <class G> void overLanes(const float *const *ins, size_t count, float *out, size_t n, G g) {
  constexpr size_t most = 2;
  I x[most] = {};
  for (size_t i = 0; i < n; i += lanes) {
    const size_t here = n - i < lanes ? n - i : lanes;
    for (size_t k = 0; k < count; ++k)
      std::memcpy(&x[k], ins[k] + i, here * sizeof(float));
    const I made = g(x[0], x[1]);
    std::memcpy(out + i, &made, here * sizeof(float));
  }
}

} // namespace tt::ttnn::exact
