//===- functions.cpp - functions of the chip's vector unit ------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// The published kernels of tt-llk and tt-metal (mid 2026; ckernel_sfpu_*.h), with
// their coefficients. Every sum and product is one SFPMAD.
//
//===----------------------------------------------------------------------===//

#include "kernels/exact/exact.h"
#include "kernels/exact/lanes.h"

#include <cmath>

namespace tt::ttnn::exact {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
constexpr int32_t infinityBits = 0x7f800000;

/// Coefficients from the highest power down.
template <class... C> Lanes polynomial(Lanes x, float highest, C... others) {
  Lanes sum = highest;
  ((sum = mad(sum, x, others)), ...);
  return sum;
}

/// To integers: ties away from zero, without the sign; values that are too large (or NaN) become the largest.
I toInteger(Lanes x, int32_t largest) {
  const I magnitude = x.magnitude().bits;
  const I fits = (magnitude < 0x47800000) & (x.field() >= 126); // below 65536, from a half on
  const F value = as<F>(chosen(fits, magnitude, I{}));
  return chosen(magnitude < 0x47800000, minimum(__builtin_convertvector(value + 0.5f, I), largest) & (x.field() >= 126),
                I{} + largest);
}

// The destination value of a function by its width.
Lanes rounded16(Lanes x) { return roundedToBf16(x); }
Lanes stored32(Lanes x) { return Lanes(chosen(x.isZero(), x.bits & INT32_MIN, x.bits)); }
Lanes cut16(Lanes x) { return Lanes(chosen(x.isZero(), x.bits & INT32_MIN, x.bits & ~0xffff)); }

//===----------------------------------------------------------------------===//
// exp, reciprocal, square roots
//===----------------------------------------------------------------------===//

Lanes exp21f(Lanes x) {
  const Lanes t = smaller(larger(mad(x, 1.4426950216293335f, 127.0f), 0.0f), 255.0f);
  const I z = __builtin_convertvector(as<F>(t.bits & ~t.isZero()) * 0x1p23f, I); // bits below are dropped
  const Lanes p = polynomial(numbers(z & 0x7fffff), 4.791750143340323e-15f, 7.839635491371155e-08f, 1.0017248f);
  const I exponent = z >> 23;
  return chosen(exponent >= 255, infinity, p.withField(exponent));
}
Lanes exp32(Lanes x) {
  const Lanes scaled = x * 1.442695f;
  const I negative = scaled.isNegative(), j = (toInteger(scaled, 32767) ^ negative) - negative;
  const Lanes whole = numbers(j), f = mad(whole, -1.42860677e-6f, mad(whole, -0.693145752f, x));
  const Lanes r =
      polynomial(f, 1.37805939e-3f, 8.37312452e-3f, 4.16695364e-2f, 1.66664720e-1f, 4.99999851e-1f, 1.0f, 1.0f);
  const I exponent = r.field() + j;
  return chosen(exponent >= 255, infinity, chosen(exponent < 1, 0.0f, r.withField(exponent)));
}
/// Schraudolph's: bits of the result, from the 15th.
Lanes expApproximate(Lanes x) {
  return Lanes(toInteger(mad(larger(x, -88.5f), 369.329925537109375f, 32500.818359375f), 65535) << 15);
}
template <bool wide> Lanes expOf(Lanes x) { return wide ? exp32(x) : exp21f(x); }

template <bool wide> Lanes reciprocalOf(Lanes x) { return reciprocalOf(x, wide ? 2 : 1); }

template <bool inverse, bool approximate> Lanes rootOf(Lanes x) {
  Lanes y((approximate ? 0x5f0b3892 : 0x5f1110a0) - as<I>(as<U>(x.bits) >> 1)), result = y;
  if constexpr (approximate) {
    y = y * mad(-y, x * y, 1.89099014875f);
    result = inverse ? y : y * x;
  } else {
    const Lanes c = -y * (x * y);
    y = y * mad(c, c + 2.2533049f, 2.2825186f);
    const Lanes w = x * y, h = mad(-y, w, 1.0f);
    result = inverse ? mad(h, y * 0.5f, y) : mad(h, w * 0.5f, w);
  }
  result = chosen(x.bits == infinityBits, inverse ? 0.0f : infinity, result);
  return chosen(x.isZero(), inverse ? infinity : 0.0f, chosen(x.isNegative(), nan, result));
}

//===----------------------------------------------------------------------===//
// Tables: slope * |x| + intercept
//===----------------------------------------------------------------------===//

/// An entry of a byte: sign, 3 bits of exponent, 4 of mantissa.
float entry8(uint32_t byte) {
  if (byte == 0xff)
    return 0.0f;
  return std::ldexp(1.0f + static_cast<float>(byte & 15) / 16, -static_cast<int>(byte >> 4 & 7)) *
         (byte & 128 ? -1.0f : 1.0f);
}
/// Reads a 16-bit entry: as FP16, except at the ends of the exponent's range.
float entry16(uint32_t word) {
  const int e = static_cast<int>(word >> 10 & 31);
  if (e == 31)
    return word & 0x8000 ? -0.0f : 0.0f;
  return std::ldexp(1.0f + static_cast<float>(word & 1023) / 1024, e - 15) * (word & 0x8000 ? -1.0f : 1.0f);
}
/// The line of the segment that contains |x|: below ends[0], ends[1], ..., and above.
template <size_t n> Lanes onLine(Lanes a, const float (&ends)[n], const float *slopes, const float *intercepts) {
  Lanes slope = slopes[0], intercept = intercepts[0];
  for (size_t i = 0; i < n; ++i) {
    const I above = a.bits >= Lanes(ends[i]).bits; // both are positive
    slope = chosen(above, slopes[i + 1], slope);
    intercept = chosen(above, intercepts[i + 1], intercept);
  }
  return mad(slope, a, intercept);
}
/// Three lines, below 1, below 2 and above; the sign is that of x.
template <uint32_t below1, uint32_t below2, uint32_t above> Lanes lines(Lanes x) {
  static const float slopes[] = {entry8(below1 >> 8), entry8(below2 >> 8), entry8(above >> 8)};
  static const float intercepts[] = {entry8(below1 & 255), entry8(below2 & 255), entry8(above & 255)};
  constexpr float ends[] = {1.0f, 2.0f};
  return onLine(x.magnitude(), ends, slopes, intercepts).withSign(x);
}
Lanes geluApproximate(Lanes x) {
  constexpr float ends[] = {0.5f, 1.0f, 1.5f, 2.0f, 3.0f};
  static const float slopes[] = {entry16(0x3220), entry16(0x37dc), entry16(0x38f0),
                                 entry16(0x38e0), entry16(0x3855), entry16(0x3800)};
  static const float intercepts[] = {entry16(0xa1ee), entry16(0xb103), entry16(0xb470),
                                     entry16(0xb435), entry16(0xafee), entry16(0x7c00)};
  return mad(x, 0.5f, onLine(x.magnitude(), ends, slopes, intercepts));
}

//===----------------------------------------------------------------------===//
// erf, gelu, tanh, sigmoid
//===----------------------------------------------------------------------===//

template <bool wide> Lanes erfOf(Lanes x) {
  const Lanes a = smaller(larger(x, -10.0f), 10.0f), u = a * a;
  Lanes top, bottom;
  if constexpr (wide) {
    top = polynomial(u, -2.8632063387e-10f, 2.7384647439e-8f, 1.7678321456e-5f, 6.1307044234e-4f, 5.6230435148e-3f,
                     6.2133435160e-2f, 2.1477432549e-1f, 1.1283791065f);
    bottom = polynomial(u, -6.7350725691e-12f, -3.5153888689e-9f, 1.3156344494e-6f, 1.3179056987e-4f, 1.9545555115e-3f,
                        1.9642570987e-2f, 1.2961706519e-1f, 5.2367275953e-1f, 1.0f);
  } else {
    top = polynomial(u, 7.4481184425e-4f, 4.5400281738e-2f, 2.7609212279e-1f, 1.1280932447f);
    bottom = polynomial(u, 2.4813862145e-5f, 8.2844606784e-3f, 1.3675764810e-1f, 5.7439188334e-1f, 1.0f);
  }
  return smaller(larger(a * top * reciprocalOf<wide>(bottom), -1.0f), 1.0f);
}

template <bool wide> Lanes geluOf(Lanes x) {
  if constexpr (wide) {
    return x * mad(erfOf<true>(x * 0.70710678118654752f), 0.5f, 0.5f);
  } else {
    constexpr float lowest = -5.54259443f;
    const Lanes u = x * x;
    const Lanes inner = polynomial(u, 7.9821413868e-8f, -3.8082057209e-6f, 8.1812159812e-5f, -1.0717806322e-3f,
                                   9.7720050615e-3f, -6.6361041488e-2f, 3.9894227818e-1f);
    const Lanes cubic = polynomial(x, 7.5950479368e-4f, 1.3809983619e-2f, 9.5413386822e-2f, 3.0369991064e-1f);
    const Lanes tail = x * (exp21f(u * -0.5f) * cubic + 0.375f - 0.375f);
    const I below = isLess(x, lowest) | (x.bits == Lanes(lowest).bits);
    const Lanes left = chosen(isLess(x, -3.125f), chosen(below, 0.0f, tail), x * mad(x, inner, 0.5f));
    return chosen(isLess(x, 2.78125f), left, x);
  }
}

template <bool wide> Lanes sigmoidOf(Lanes x) { return reciprocalOf<wide>(expOf<wide>(-x) + 1.0f); }
Lanes sigmoidApproximate(Lanes x) { return lines<0x3eff, 0x3347, 0xff10>(x) + 0.5f; }

template <bool wide> Lanes tanhOf(Lanes x) {
  if constexpr (wide) {
    const Lanes u = x * x;
    const Lanes inner =
        polynomial(u, 1.54979276e-2f, -5.21197654e-2f, 0.1331066936f, -0.3333235979f, 0.999999940395355f);
    return chosen(isLess(x.magnitude(), 0.6f), x * inner, mad(sigmoidOf<true>(x * 2.0f), 2.0f, -1.0f));
  } else {
    const Lanes sum = polynomial(x.magnitude(), 5.876733921468257904052734375e-3f, -6.6649019718170166015625e-2f,
                                 0.281917631626129150390625f, -0.4890659749507904f, 3.0897438526153564453125e-2f,
                                 0.999004364013671875f, 0.0f);
    return smaller(sum, 1.0f).withSign(x);
  }
}

//===----------------------------------------------------------------------===//
// log, angles
//===----------------------------------------------------------------------===//

template <bool wide> Lanes logOf(Lanes x) {
  Lanes m = x.withField(I{} + 127), e = numbers(x.field() - 127), result;
  if constexpr (wide) {
    const I high = ~isLess(m, 1.41421354f);
    m = chosen(high, m * 0.5f, m);
    e = chosen(high, e + 1.0f, e);
    const Lanes z = (m - 1.0f) * reciprocalOf<true>(m + 1.0f);
    const Lanes series = polynomial(z * z, 1.0f / 11, 1.0f / 9, 1.0f / 7, 1.0f / 5, 1.0f / 3, 1.0f);
    result = mad(e, 0.69314718f, z * 2.0f * series);
  } else {
    result =
        mad(e, 0.69314718246f,
            polynomial(m, 0.0422401130f, -0.3706687391f, 1.3681391478f, -2.8002324104f, 3.7675004005f, -2.0069785118f));
  }
  return chosen(x.isZero(), -infinity, chosen(x.isNegative(), nan, result));
}

constexpr float shifter = 12582912.0f; // 1.5 * 2^23: the sum's last bits are an integer
I isOdd(Lanes sum) { return -(sum.bits & 1); }

template <bool wide> Lanes sineOf(Lanes a, I odd) {
  const Lanes u = a * a;
  a = chosen(odd, -a, a);
  const Lanes r = wide ? polynomial(u, 0x1.5dc908p-19f, -0x1.9f70fp-13f, 0x1.110edap-7f, -0x1.55554cp-3f)
                       : polynomial(u, -0x1.8b10a4p-13f, 0x1.10c2a2p-7f, -0x1.5554a4p-3f);
  return mad(r, a * u, a);
}
/// x minus j * pi / 2, where pi / 2 is a sum of parts.
Lanes reducedByHalves(Lanes x, Lanes j) {
  return mad(j, -0x1.0b4612p-34f, mad(j, -0x1.51p-22f, mad(j, -0x1.fbp-12f, mad(j, -0x1.92p+0f, x))));
}
template <bool wide> Lanes sinOf(Lanes x) {
  const Lanes t = mad(x, 0.31830987334251404f, shifter), j = t - shifter;
  const Lanes a = mad(j, -0x1.0b4612p-33f, mad(j, -0x1.51p-21f, mad(j, -0x1.fbp-11f, mad(j, -0x1.92p+1f, x))));
  return sineOf<wide>(a, isOdd(t));
}
template <bool wide> Lanes cosOf(Lanes x) {
  const Lanes t = mad(x, 0.31830987334251404f, 0.5f) + shifter;
  return sineOf<wide>(reducedByHalves(x, mad(t - shifter, 2.0f, -1.0f)), isOdd(t));
}
Lanes tanOf(Lanes x) {
  const Lanes t = mad(x, 0.6366197466850281f, shifter), a = reducedByHalves(x, t - shifter), u = a * a;
  const Lanes r = mad(a, polynomial(u, 0x1.4f1f4ep-4f, 0x1.02b98p-3f, 0x1.55953p-2f) * u, a);
  return chosen(isOdd(t), -reciprocalOf(r, 1), r);
}
Lanes atanOf(Lanes x) {
  const I beyond = isLess(1.0f, x.magnitude());
  const Lanes t = chosen(beyond, reciprocalOf(x.magnitude(), 1), x.magnitude());
  const Lanes r = t * polynomial(t * t, -4.4326744973659515380859375e-2f, 0.1555790007114410400390625f,
                                 -0.325808584690093994140625f, 0.999787867069244384765625f);
  return chosen(beyond, 1.5707963705062866f - r, r).withSign(x);
}
Lanes absOf(Lanes x) { return chosen(x.magnitude().bits > infinityBits, x, x.magnitude()); } // a NaN keeps its sign

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

template <auto F, auto G> void over(float *values, size_t n) {
  const float *const in = values;
  overLanes(&in, 1, values, n, [](I x, I) { return G(F(Lanes(x))).bits; });
}

/// The functions by width of the destination, and approximate ones; nullptr if none is published.
struct Published {
  std::string_view name;
  Function narrow, wide, narrowApproximate = nullptr, wideApproximate = nullptr;
};
template <auto F, auto G> constexpr Published rounded(std::string_view name) {
  return {name, over<F, rounded16>, over<G, stored32>};
}
template <auto F, auto G, auto H> constexpr Published rounded(std::string_view name) {
  return {name, over<F, rounded16>, over<G, stored32>, over<H, cut16>, over<H, stored32>};
}
/// Builds a row with an approximation that is rounded, too.
template <auto F, auto H> constexpr Published root(std::string_view name) {
  return {name, over<F, rounded16>, over<F, stored32>, over<H, rounded16>, over<H, stored32>};
}
template <bool wide> Lanes siluOf(Lanes x) { return x * sigmoidOf<wide>(x); }
constexpr auto oneNewton = reciprocalOf<false>, twoNewtons = reciprocalOf<true>;

constexpr Published functions[] = {
    {"abs", over<absOf, cut16>, over<absOf, stored32>},
    {"atan", over<atanOf, cut16>, nullptr},
    rounded<cosOf<false>, cosOf<true>>("cos"),
    rounded<erfOf<false>, erfOf<true>>("erf"),
    rounded<exp21f, exp32, expApproximate>("exp"),
    rounded<geluOf<false>, geluOf<true>, geluApproximate>("gelu"),
    {"log", over<logOf<false>, cut16>, over<logOf<true>, stored32>},
    rounded<oneNewton, twoNewtons>("reciprocal"),
    root<rootOf<true, false>, rootOf<true, true>>("rsqrt"),
    rounded<sigmoidOf<false>, sigmoidOf<true>, sigmoidApproximate>("sigmoid"),
    rounded<siluOf<false>, siluOf<true>>("silu"),
    rounded<sinOf<false>, sinOf<true>>("sin"),
    root<rootOf<false, false>, rootOf<false, true>>("sqrt"),
    {"tan", over<tanOf, rounded16>, nullptr},
    rounded<tanhOf<false>, tanhOf<true>, lines<0x1aff, 0x3814, 0xff00>>("tanh"),
};

} // namespace

Function vectorFunction(std::string_view name, const Compute &compute) {
  for (const Published &row : functions) {
    if (row.name != name)
      continue;
    const Function approximate = compute.wide() ? row.wideApproximate : row.narrowApproximate;
    return compute.approximate && approximate ? approximate : compute.wide() ? row.wide : row.narrow;
  }
  return nullptr;
}

} // namespace tt::ttnn::exact
