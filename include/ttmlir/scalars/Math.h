//===- Math.h - elementary functions that vectorise -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Calls of libm prevent vectorization of a loop. These functions are straight-line code: polynomials (near-minimax fits
// of our own) and selects. Most compute in double and round once, so their error is that of the final rounding (0.50x
// ulp of f32). exp, sigmoid, silu, tanh and gelu, which models use most, compute in f32. The largest error over the
// domain, measured by test/unittests/core/MathTest.cpp against libm in double, is stated next to each.
//
// Special values (NaN, +-Inf, +-0, overflow) are those of torch. If a function's argument reduction has a limit (sin,
// cos, tan, remainder), the caller checks `fits` and calls libm instead, per element.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#define TT_INLINE [[gnu::always_inline]] inline

namespace ttmlir::scalars {

template <class T, size_t N> TT_INLINE T horner(T x, const T (&c)[N]) {
  T y = c[N - 1];
  for (size_t i = N - 1; i-- > 0;)
    y = y * x + c[i];
  return y;
}

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();
constexpr double pi = 3.14159265358979323846;
constexpr double ln2 = 0.6931471805599453;

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// The minimum of IEEE 754-2019: NaN if an operand is NaN, and -0 is below 0. The result does not depend on the order
/// of the operands, except for the choice among two NaN.
template <class T> TT_INLINE T minimum(T a, T b) {
  if constexpr (std::floating_point<T>) {
    // Both orders return the same value unless operands are equal or one is NaN, in which case each returns its second
    // operand. The bits of zeros of both signs then become those of -0, and all exponent bits of a NaN stay set.
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    return std::bit_cast<T>(std::bit_cast<Bits>(a < b ? a : b) | std::bit_cast<Bits>(b < a ? b : a));
  } else {
    return a < b ? a : b;
  }
}
/// The maximum of IEEE 754-2019, as above.
template <class T> TT_INLINE T maximum(T a, T b) {
  if constexpr (std::floating_point<T>)
    return -minimum(-a, -b);
  else
    return a > b ? a : b;
}
/// Vectors of n numbers. The compiler keeps running minima of a loop in registers only if they are such vectors.
template <class T, int n> using Vector = T __attribute__((ext_vector_type(n)));
/// The minimum of each element and the running value.
template <int n> TT_INLINE void takeMinimum(Vector<float, n> &least, const Vector<float, n> &x) {
  using Floats = Vector<float, n>;
  using Bits = Vector<uint32_t, n>;
  const Floats one = least < x ? least : x, other = x < least ? x : least;
  least = __builtin_bit_cast(Floats, __builtin_bit_cast(Bits, one) | __builtin_bit_cast(Bits, other));
}
/// The maximum of x and 0, in fewer steps.
template <class T> TT_INLINE T relu(T x) { return (x < 0 ? T(0) : x) + T(0); }
/// The minimum of relu(x) and 6.
template <class T> TT_INLINE T relu6(T x) { return relu(x > 6 ? T(6) : x); }
/// minimum(maximum(x, low), high) in fewer steps, for bounds that are constant in a loop.
TT_INLINE float clamp(float x, float low, float high) {
  // -0 + 0 is 0, and x + -0 is x. Below a bound of -0, every result has the sign. NaN keeps its own sign. A bound of
  // NaN is the result: of a sum of two NaNs, compilers may return either.
  const float above = low == 0 && 1.0f / low > 0.0f ? 0.0f : -0.0f;
  const uint32_t below = high == 0 && 1.0f / high < 0.0f ? 0x80000000 : 0;
  const float least = (x < low ? low : x) + above;
  const float result = std::bit_cast<float>(std::bit_cast<uint32_t>(least > high ? high : least) | below);
  return low != low ? low : high != high ? high : result;
}

//===----------------------------------------------------------------------===//
// In double: relative error below 1e-10 for every double of f32's range.
//===----------------------------------------------------------------------===//

// (e^r - 1 - r) / r^2 for |r| <= ln(2) / 2, error 1e-15.
constexpr double expTail[] = {0x1.ffffffffffffbp-2,  0x1.5555555553b70p-3,  0x1.555555555779fp-5,
                              0x1.1111111c4820fp-7,  0x1.6c16c164b3fcdp-10, 0x1.a019ada094578p-13,
                              0x1.a019fdce9450cp-16, 0x1.72c7330856542p-19, 0x1.284743d07d7dap-22};

struct Reduced {
  double scale; // 2^n
  double tail;  // e^r - 1
};
/// e^x = scale * (1 + tail); x is clamped to the range where 2^n is a normal double.
TT_INLINE Reduced reduceExp(double x) {
  x = x < -708.0 ? -708.0 : x;
  x = x > 709.0 ? 709.0 : x;
  constexpr double shift = 0x1.8p52; // adding it rounds to an integer in the low bits
  const double t = x * 1.4426950408889634 + shift;
  const double n = t - shift;
  const double r = (x - n * 0x1.62e42fefa0000p-1) - n * 0x1.cf79abc9e3b3ap-40;
  return {std::bit_cast<double>((std::bit_cast<uint64_t>(t) + 1023) << 52), r + r * r * horner(r, expTail)};
}
TT_INLINE double expd(double x) {
  const Reduced e = reduceExp(x);
  return e.scale + e.scale * e.tail;
}
TT_INLINE double expm1d(double x) {
  const Reduced e = reduceExp(x);
  return (e.scale - 1.0) + e.scale * e.tail; // exact first term; no cancellation where scale is 1
}

/// ln x for normal doubles (every f32 is one).
TT_INLINE double logd(double x) {
  // x = 2^e * m with m in [sqrt(1/2), sqrt(2))
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  const uint64_t moved = bits - 0x3fe6a09e667f3bcdULL;
  const double e = std::bit_cast<double>(((moved >> 52) ^ 0x800) | 0x4330000000000000ULL) - (0x1p52 + 2048.0);
  const double m = std::bit_cast<double>(bits - (moved & 0xfff0000000000000ULL));
  // atanh(s) / s in s^2
  constexpr double series[] = {0x1.0000000000002p+0, 0x1.5555555551441p-2, 0x1.999999a95ca0fp-3, 0x1.24923da8825aep-3,
                               0x1.c72470ceca176p-4, 0x1.72ef6e68a7c0dp-4, 0x1.5b37084389437p-4};
  const double s = (m - 1.0) / (m + 1.0);
  double y = e * ln2 + 2.0 * s * horner(s * s, series);
  y = x == infinity ? x : y;
  y = x == 0.0 ? -infinity : y;
  return x >= 0.0 ? y : notANumber;
}
/// ln(1 + x)
TT_INLINE double log1pd(double x) {
  const double small = x * (1.0 - x * (0.5 - x * (1.0 / 3.0 - x * 0.25)));
  return std::fabs(x) < 0x1p-10 ? small : logd(1.0 + x);
}

/// atan x for 0 <= x <= 1.
TT_INLINE double atanUnit(double x) {
  constexpr double series[] = {0x1.ffffffffe73b9p-1, -0x1.55555513c367ap-2, 0x1.99997c863e7f7p-3, -0x1.248fb946042ffp-3,
                               0x1.c6df953ad92b6p-4, -0x1.72a787ddc2872p-4, 0x1.33018f99da517p-4, -0x1.ed56cbb24eebcp-5,
                               0x1.658dd2d848041p-5, -0x1.aa15a973efb13p-6, 0x1.7676be1627929p-7, -0x1.a2d5e7d7c8169p-9,
                               0x1.b79940e5536f0p-12};
  return x * horner(x * x, series);
}
/// asin x for 0 <= x <= 1/2.
TT_INLINE double asinHalf(double x) {
  constexpr double series[] = {0x1.ffffffffffe43p-1,  0x1.55555556b4e35p-3, 0x1.333331c86dd83p-4, 0x1.6db76b815d299p-5,
                               0x1.f1aa4548d0cd0p-6,  0x1.7030426e60000p-6, 0x1.0de7864ccccd0p-6, 0x1.3155166666663p-6,
                               -0x1.75f666666665ep-9, 0x1.05acccccccccdp-5};
  return x * horner(x * x, series);
}
/// asin |x|, NaN past 1.
TT_INLINE double asinAbs(double x) {
  const double a = std::fabs(x);
  const double half = std::sqrt((1.0 - a) * 0.5); // NaN past 1
  const double y = asinHalf(a > 0.5 ? half : a);
  return a > 0.5 ? pi / 2 - 2.0 * y : y;
}

/// erfc |x|, accurate in its relative error down to the smallest f32.
TT_INLINE double erfcAbs(double x) {
  constexpr double series[] = {0x1.20dd7ab461751p-2,  0x1.20dd0c4596c13p-2, 0x1.f981a9408351dp-3,  0x1.69d2dce01b225p-3,
                               0x1.43833a21c3e85p-4,  0x1.e5e26fd3a212cp-6, -0x1.b666ae98d7a86p-3, 0x1.c63a1364499f4p-2,
                               -0x1.17fd8e1045493p+0, 0x1.ada972e768276p+0, -0x1.804c06459ea80p+0, 0x1.97afda84a28e2p-1,
                               -0x1.e367546bc255ep-3, 0x1.f29ff3ef88f04p-6};
  const double a = std::fabs(x);
  const double t = 1.0 / (1.0 + 0.5 * a);
  return t * horner(t, series) * expd(-a * a);
}
TT_INLINE double erfcd(double x) {
  const double y = erfcAbs(x);
  return x < 0.0 ? 2.0 - y : y;
}
TT_INLINE double erfd(double x) {
  constexpr double series[] = {0x1.20dd750429b1fp+0,  -0x1.812746b027d46p-2,  0x1.ce2f2197f0cf5p-4,
                               -0x1.b82ce1624df4ap-6, 0x1.565ba09ba8066p-8,   -0x1.c02872a838665p-11,
                               0x1.f941f7f666664p-14, -0x1.f07181ffffffep-17, 0x1.9ae3533333333p-20,
                               -0x1.c1a8000000000p-24};
  const double a = std::fabs(x);
  const double y = a <= 1.0 ? a * horner(a * a, series) : 1.0 - erfcAbs(a);
  return std::copysign(y, x);
}

struct Quadrant {
  double sin, cos; // of the remainder in [-pi/4, pi/4]
  int64_t n;       // multiples of pi/2 taken off
};
constexpr double trigLimit = 0x1p20;
/// Reduces an argument with |x| < trigLimit, for which n times the first two parts of pi/2 is exact.
TT_INLINE Quadrant reduceTrig(double x) {
  constexpr double sinSeries[] = {0x1.fffffffffffd1p-1,   -0x1.5555555550a6fp-3, 0x1.1111110bbb0adp-7,
                                  -0x1.a019f888b5dabp-13, 0x1.71d72a7bf72e6p-19, -0x1.a94f6784e125cp-26};
  constexpr double cosSeries[] = {0x1.0000000000001p+0,   -0x1.0000000000082p-1, 0x1.555555555a5fcp-5,
                                  -0x1.6c16c16cc2a25p-10, 0x1.a019fe692e53ap-16, -0x1.27e16b7d9e3c1p-22,
                                  0x1.1c1a21587efa5p-29};
  constexpr double shift = 0x1.8p52;
  const double t = x * (2.0 / pi) + shift;
  const double n = t - shift;
  const double r = ((x - n * 0x1.921fb54400000p+0) - n * 0x1.0b4611a600000p-34) - n * 0x1.3198a2e037073p-69;
  return {r * horner(r * r, sinSeries), horner(r * r, cosSeries), static_cast<int64_t>(std::bit_cast<uint64_t>(t) & 3)};
}

//===----------------------------------------------------------------------===//
// f32 functions
//===----------------------------------------------------------------------===//

/// 0.95 ulp; results below the smallest normal f32 are rounded once more.
TT_INLINE float exp(float x) {
  constexpr float series[] = {0x1.0000000b9847dp-1f, 0x1.5555555a7c142p-3f,  0x1.5554e8d9c8630p-5f,
                              0x1.1110e0de81311p-7f, 0x1.6d436208d4284p-10f, 0x1.a12528548c594p-13f};
  constexpr float shift = 0x1.8p23f;
  float c = x < -110.0f ? -110.0f : x;
  c = c > 90.0f ? 90.0f : c;
  const float t = c * 1.44269504f + shift;
  const float n = t - shift;
  const float r = (c - n * 0x1.62e4p-1f) - n * 0x1.7f7d1cp-20f;
  const float y = 1.0f + (r + r * r * horner(r, series));
  // 2^n in two steps: n ranges from -159 to 130, beyond the range of one exponent field.
  const int32_t whole = static_cast<int32_t>(std::bit_cast<uint32_t>(t) << 10) >> 10;
  const int32_t half = whole >> 1;
  return y * std::bit_cast<float>((half + 127) << 23) * std::bit_cast<float>((whole - half + 127) << 23);
}
/// 2.1 ulp for results that are normal f32.
TT_INLINE float sigmoid(float x) {
  const float e = exp(x > 0.0f ? -x : x); // never overflows; NaN keeps its sign
  return (x < 0.0f ? e : 1.0f) / (1.0f + e);
}
/// 2.5 ulp for results that are normal f32.
TT_INLINE float silu(float x) { return x * sigmoid(x); }
/// 1.3 ulp
TT_INLINE float tanh(float x) {
  constexpr float series[] = {-0x1.55555518a05acp-2f, 0x1.1110c4fda31d9p-3f,  -0x1.b9fc68fa902e1p-5f,
                              0x1.63ef0e571cb59p-6f,  -0x1.0cfcbde955cbap-7f, 0x1.19da749c84a55p-9f};
  const float a = std::fabs(x), s = a * a;
  const float small = a + a * s * horner(s, series);
  const float large = 1.0f - 2.0f / (exp(2.0f * a) + 1.0f);
  return std::copysign(a < 0.625f ? small : large, x);
}

//===----------------------------------------------------------------------===//
// For results that are rounded to bf16, of operands in bf16. The coefficients were searched so that for each of the
// 65,536 operands, the rounded result is that of the function above (ChainTest.cpp).
//===----------------------------------------------------------------------===//

struct ShortPower {
  float f;     // -1/2 <= f <= 1/2
  float scale; // 2^n
};
/// 2^(factor * x + exponent) = 2^f * scale, if it is a normal f32.
template <int exponent> TT_INLINE ShortPower splitPower(float x, float factor) {
  constexpr float shift = 0x1.8p23f + static_cast<float>(127 + exponent); // the low bits are the exponent field
  const float t = x * factor + shift;
  return {x * factor - (t - shift), std::bit_cast<float>(std::bit_cast<uint32_t>(t) << 23)};
}
/// 2^f, relative error below 4e-6.
TT_INLINE float shortPower(float f) {
  constexpr float series[] = {1.0f, 0x1.62e0dcp-1f, 0x1.ec06dap-3f, 0x1.ca1440p-5f, 0x1.3997d6p-7f};
  return horner(f, series);
}
TT_INLINE float expShort(float x) {
  float c = x < -170.0f ? -170.0f : x;
  c = c > 170.0f ? 170.0f : c;
  const ShortPower power = splitPower<0>(c, 0.5f * 1.44269504f);
  const float root = shortPower(power.f) * power.scale; // never overflows
  return root * root;
}
TT_INLINE float sigmoidShort(float x) {
  float c = x < -93.2f ? -93.2f : x; // rounds to 0
  c = c > 80.0f ? 80.0f : c;
  constexpr float one = 0x1p-8f; // e^-x overflows before the result is 0
  const ShortPower power = splitPower<-8>(c, -1.44269504f);
  return one / (one + shortPower(power.f) * power.scale);
}
/// x * sigmoid(y), NaN for infinite x if y is -Inf.
TT_INLINE float timesSigmoidShort(float x, float y) {
  const float c = y > 76.0f ? 76.0f : y;
  constexpr float one = 0x1p-16f;
  constexpr float series[] = {1.0f, 0x1.62e1p-1f, 0x1.ec0698p-3f, 0x1.c9b9dp-5f, 0x1.357b14p-7f}; // 2^f
  const ShortPower power = splitPower<-16>(c, -1.44269504f);
  const float factor = one / (one + horner(power.f, series) * power.scale);
  return x * (y < -97.6f ? 0.0f : factor); // rounds to 0
}
TT_INLINE float siluShort(float x) { return timesSigmoidShort(x, x); }
TT_INLINE float tanhShort(float x) {
  constexpr float series[] = {0x1.62e2d6p-1f, 0x1.ebf49ep-3f, 0x1.c8f23cp-5f, 0x1.3b2a9p-7f}; // (2^f - 1) / f
  float a = std::fabs(x);
  a = a > 20.0f ? 20.0f : a;
  const ShortPower power = splitPower<0>(a, 2.0f * 1.44269504f);
  // e^(2a) - 1; no cancellation where the scale is 1
  const float y = (power.scale - 1.0f) + power.f * horner(power.f, series) * power.scale;
  return std::copysign(y / (y + 2.0f), x);
}

// 0.5 ulp each: computed in double, rounded once.
TT_INLINE float expm1(float x) { return x == 0.0f ? x : static_cast<float>(expm1d(x)); }
TT_INLINE float log(float x) { return static_cast<float>(logd(x)); }
TT_INLINE float log1p(float x) { return x == 0.0f ? x : static_cast<float>(log1pd(x)); }
TT_INLINE float cbrt(float x) { return static_cast<float>(std::copysign(expd(logd(std::fabs(double(x))) / 3.0), x)); }
TT_INLINE float asinh(float x) {
  const double a = std::fabs(double(x));
  const double y = log1pd(a + a * a / (1.0 + std::sqrt(a * a + 1.0)));
  return static_cast<float>(std::copysign(a == infinity ? a : y, x));
}
TT_INLINE float asin(float x) { return static_cast<float>(std::copysign(asinAbs(x), x)); }
TT_INLINE float acos(float x) {
  const double a = std::fabs(double(x));
  // acos a = 2 asin(sqrt((1 - a) / 2)) keeps its relative error where the result is near 0.
  const double half = 2.0 * asinHalf(std::sqrt((1.0 - (a > 0.5 ? a : 1.0)) * 0.5));
  const double y = a > 0.5 ? half : pi / 2 - asinHalf(a);
  const double result = x < 0.0f ? pi - y : y;
  return static_cast<float>(a <= 1.0 ? result : notANumber);
}
TT_INLINE float atan(float x) {
  const double a = std::fabs(double(x));
  const double y = atanUnit(a > 1.0 ? 1.0 / a : a);
  return static_cast<float>(std::copysign(a > 1.0 ? pi / 2 - y : y, x));
}
TT_INLINE float atan2(float y, float x) {
  const double a = std::fabs(double(y)), b = std::fabs(double(x));
  const double low = a < b ? a : b, high = a < b ? b : a;
  double t = low / high;
  t = low == high ? 1.0 : t; // Inf / Inf
  t = high == 0.0 ? 0.0 : t;
  double angle = atanUnit(t);
  angle = a > b ? pi / 2 - angle : angle;
  angle = std::signbit(x) ? pi - angle : angle;
  angle = x != x || y != y ? notANumber : angle;
  return static_cast<float>(std::copysign(angle, y));
}
TT_INLINE float erf(float x) { return static_cast<float>(erfd(x)); }
TT_INLINE float erfc(float x) { return static_cast<float>(erfcd(x)); }
/// Phi(-|x|), the tail of the normal distribution; its relative error does not grow with x.
TT_INLINE float normalTail(float x) {
  constexpr float series[] = {0x1.06151cp-2f,   0x1.4cd53cp-3f,   0x1.1518eep-4f,  0x1.f0e332p-7f,  -0x1.36a6d6p-12f,
                              -0x1.081d4ep-10f, -0x1.6b39acp-15f, 0x1.5482f8p-14f, 0x1.d2753ap-20f, -0x1.aa9df0p-18f};
  float a = std::fabs(x);
  a = a > 20.0f ? 20.0f : a; // the tail is 0 from 14.2 on
  const float t = 1.0f / (1.0f + 0.3f * a);
  const float p = t * horner(t * 2.45977011f - 1.45977011f, series);
  // a^2 = square + rest: the rounding error of a square near 200 would be one of e^-100 of the result.
  const float head = std::bit_cast<float>(std::bit_cast<uint32_t>(a) & 0xfffff000), tail = a - head;
  const float square = a * a;
  const float rest = (head * head - square) + 2.0f * head * tail + tail * tail;
  const float e = exp(-0.5f * square);
  return p * (e - 0.5f * rest * e);
}
/// x * Phi(x); 5 ulp for results that are normal f32.
TT_INLINE float gelu(float x) {
  // (Phi(x) - 1/2) / x in x^2
  constexpr float series[] = {0x1.988454p-2f,  -0x1.105832p-4f,  0x1.46ceccp-7f, -0x1.371cc8p-10f,
                              0x1.e0ef3ap-14f, -0x1.293510p-17f, 0x1.d32b2ep-22f};
  const float tail = normalTail(x), square = x * x;
  const float far = x > 0.0f ? 1.0f - tail : tail;
  const float near = 0.5f + x * horner(square, series);
  return x * (square < 0.5f ? near : far);
}
/// For bf16, as above: the tail in fewer steps; the power as a square, which is never subnormal.
TT_INLINE float geluShort(float x) {
  constexpr float series[] = {0x1.ebe6dcp-4f, 0x1.d13f12p-4f, 0x1.288ad2p-3f,
                              -0x1.280bdp-6f, 0x1.bc7428p-3f, -0x1.3d20ecp-4f};
  float a = std::fabs(x);
  a = a < 15.0f ? a : 15.0f; // the sign of a NaN is that of x below
  const float t = 1.0f / (1.0f + 0.3f * a);
  const ShortPower power = splitPower<0>(a * a, -0.25f * 1.44269504f);
  const float root = shortPower(power.f) * power.scale;
  float p = t * horner(t, series) * root;
  p = x < -15.0f ? 0.0f : p; // rounds to 0; NaN for -Inf
  return x > 0.0f ? x * (1.0f - p * root) : x * p * root;
}
/// 2 u of the approximation of gelu by tanh, x / 2 * (1 + tanh(u)) = x * sigmoid(2 u).
TT_INLINE float geluTanhTwice(float x) { return 1.5957691216f * (x + 0.044715f * x * x * x); } // sqrt(8 / pi)
/// The approximation of gelu by tanh; relative error below 1.3e-5 for results that are normal f32 (1 + tanh(u) would be
/// 0 from x = -5.6 on).
TT_INLINE float geluTanh(float x) { return x * sigmoid(geluTanhTwice(x)); }
TT_INLINE float geluTanhShort(float x) { return timesSigmoidShort(x, geluTanhTwice(x)); }
/// Phi(x) + x * phi(x), NaN at the infinities
TT_INLINE float geluSlope(float x) {
  const double d = x;
  const double y = 0.5 * erfcd(d * -0.70710678118654752) + d * 0.3989422804014327 * expd(-0.5 * d * d);
  return static_cast<float>(std::fabs(d) > 30.0 ? (d > 0.0 ? 1.0 : 0.0) + (d - d) : y);
}
/// Slope of 0.5 x (1 + tanh(u)) with u = sqrt(2 / pi) (x + 0.044715 x^3).
TT_INLINE float geluTanhSlope(float x) {
  constexpr double beta = 0.7978845608028654, kappa = 0.044715;
  const double d = x, square = d * d;
  const double e = expd(2.0 * beta * (d + kappa * d * square)); // tanh(u) = 1 - 2 / (e + 1)
  const double t = 1.0 - 2.0 / (e + 1.0);
  const double y = 0.5 * (1.0 + t) + 0.5 * d * (1.0 - t * t) * beta * (1.0 + 3.0 * kappa * square);
  return static_cast<float>(std::fabs(d) > 30.0 ? (d > 0.0 ? 1.0 : 0.0) + (d - d) : y);
}
/// x * tanh(ln(1 + e^x))
TT_INLINE float mish(float x) {
  const double u = expd(x > 40.0f ? 40.0 : double(x)), v = u * (u + 2.0);
  return x < -200.0f ? x * 0.0f : static_cast<float>(x * (v / (v + 2.0)));
}

TT_INLINE bool trigFits(float x) { return std::fabs(x) < static_cast<float>(trigLimit); }
TT_INLINE float sin(float x) {
  const Quadrant q = reduceTrig(x);
  const double y = q.n & 1 ? q.cos : q.sin;
  return static_cast<float>(x == 0.0f ? double(x) : q.n & 2 ? -y : y);
}
TT_INLINE float cos(float x) {
  const Quadrant q = reduceTrig(x);
  const double y = q.n & 1 ? q.sin : q.cos;
  return static_cast<float>((q.n + 1) & 2 ? -y : y);
}
TT_INLINE float tan(float x) {
  const Quadrant q = reduceTrig(x);
  const double y = q.n & 1 ? -q.cos / q.sin : q.sin / q.cos;
  return static_cast<float>(x == 0.0f ? double(x) : y);
}

/// 0.5 ulp
TT_INLINE float pow(float x, float y) {
  const double a = std::fabs(double(x)), e = y;
  const bool integer = e == std::floor(e);
  const bool odd = integer && e * 0.5 != std::floor(e * 0.5);
  double r = expd(e * logd(a));
  r = x < 0.0f && !integer && a != infinity ? notANumber : r;
  r = std::signbit(x) && odd ? -r : r;
  r = x != x || y != y ? notANumber : r;
  // Exponents at which y * ln|x| is 0 * Inf.
  r = a == 1.0 && std::fabs(e) == infinity ? 1.0 : r;
  r = y == 0.0f || x == 1.0f ? 1.0 : r;
  return static_cast<float>(r);
}

/// x - y * floor(x / y): the sign is that of y. Exact while the quotient fits.
TT_INLINE bool remainderFits(float x, float y) {
  return std::fabs(double(x)) < 0x1p28 * std::fabs(double(y)) && std::fabs(y) < infinity;
}
TT_INLINE float remainder(float x, float y) {
  const double a = std::fabs(double(x)), b = std::fabs(double(y));
  double r = a - std::trunc(a / b) * b; // exact: 53 bits hold the product
  r = r < 0.0 ? r + b : r;              // a quotient just below an integer may have been rounded up to it
  r = r >= b ? r - b : r;
  r = std::copysign(r, x);
  r = r != 0.0 && (r < 0.0) != (y < 0.0f) ? r + y : r;
  return static_cast<float>(r);
}
inline float remainderSlow(float x, float y) {
  const float r = std::fmod(x, y);
  return r != 0.0f && (r < 0.0f) != (y < 0.0f) ? r + y : r;
}

} // namespace ttmlir::scalars
