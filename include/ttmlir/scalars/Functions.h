//===- Functions.h - table of functions of single numbers -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A row is the name of a function and its expressions in f32, f64 and integers. `opFunctions` and the others call
// `make` for each row, which converts an expression to a loop over vectors (the kernels of the runtime) or to a scalar
// function (ttmlir/scalars/Scalars.h: folders and evaluation of constants).
//
// Integers are computed in 64 bits. A result counts modulo 2^width of its type.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ttmlir/scalars/Math.h"

#include <array>
#include <string_view>

namespace ttmlir::scalars {

constexpr int maxOperands = 3;

/// Attributes of an op in both domains, and the width of its integers, on which shifts depend.
struct Attributes {
  std::array<float, 3> f{};
  std::array<int64_t, 3> i{};
  int width = 32;
};

/// Selects whether an op with an expression for integers is computed in integers.
enum class Domain : uint8_t {
  Operands, // when the operands are integers
  Quotient, // when the result is one, too: 1 / 2 is 0.5 as a float
  Select,   // operand 0 is a condition of any type; the rule for the others is that of Operands
};

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

struct None {};

/// The precision of a result in floats.
enum class Precision : uint8_t {
  Approximated, // an approximation in f32
  Exact,        // the result of IEEE 754, rounded once
  Kept,         // exact, and a number of bf16 if the operands are: one of them, its negation, or a small integer
};

/// Expressions F of f32, D of f64, and I of integers; None where a function has none. They take `n` numbers, and
/// Attributes if they read any.
template <int n, Precision precision, class F, class D, class I> struct Expression {};

/// An exact expression for floats; the same one for integers; one for each; for integers only.
template <int n, class F> constexpr Expression<n, Precision::Exact, F, F, None> floats(F) { return {}; }
template <int n, class F> constexpr Expression<n, Precision::Exact, F, F, F> both(F) { return {}; }
template <int n, class F, class I> constexpr Expression<n, Precision::Exact, F, F, I> pair(F, I) { return {}; }
template <int n, class I> constexpr Expression<n, Precision::Exact, None, None, I> integers(I) { return {}; }
/// An exact expression with results that are kept.
template <int n, class F, class D, class I>
constexpr Expression<n, Precision::Kept, F, D, I> kept(Expression<n, Precision::Exact, F, D, I>) {
  return {};
}
/// An approximation in f32, and the function in f64.
template <int n, class F, class D, class I = None>
constexpr Expression<n, Precision::Approximated, F, D, I> approximated(F, D, I = {}) {
  return {};
}

/// An approximation F in f32, and one with fewer steps for results that are rounded to bf16, of operands in bf16.
template <class F, class Short> struct WithShort {
  using ForBf16 = Short;
  template <class... T>
    requires std::invocable<F, T...>
  float operator()(T... x) const {
    return F{}(x...);
  }
};
template <class F, class Short> constexpr WithShort<F, Short> withShort(F, Short) { return {}; }

/// An expression that vectorizes for the arguments that fit; `Slow` takes the others.
template <class F, class Fits, class Slow> struct Guarded {
  using Fast = F;
  template <class... T> static bool fits(T... x) { return Fits{}(x...); }
  template <class... T> static float slow(T... x) { return Slow{}(x...); }
  template <class... T>
    requires(std::same_as<T, float> && ...)
  float operator()(T... x) const {
    return Fits{}(x...) ? F{}(x...) : Slow{}(x...);
  }
};
template <class F, class Fits, class Slow> constexpr Guarded<F, Fits, Slow> guarded(F, Fits, Slow) { return {}; }

/// An expression I(a, b, width) whose width is known at compile time or at run time.
template <class I, int width> struct OfWidth {
  template <class T> auto operator()(T a, T b) const { return I{}(a, b, width); }
};
template <class I> struct AnyWidth {
  template <int width> using With = OfWidth<I, width>;
  template <class T> auto operator()(T a, T b, const Attributes &attributes) const {
    return I{}(a, b, attributes.width);
  }
};

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

// Sums and products wrap modulo 2^64, and therefore modulo any smaller power of 2.
inline constexpr auto addInt = [](auto a, auto b) {
  return static_cast<decltype(a)>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
};
inline constexpr auto subtractInt = [](auto a, auto b) {
  return static_cast<decltype(a)>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
};
inline constexpr auto multiplyInt = [](auto a, auto b) {
  return static_cast<decltype(a)>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
};
inline constexpr auto negInt = [](auto x) { return static_cast<decltype(x)>(-static_cast<uint64_t>(x)); };
inline constexpr auto absInt = [](auto x) { return x < 0 ? negInt(x) : x; };
// Truncates, as in C and StableHLO; x / 0 is -1, as on the chip's RISC-V cores.
inline constexpr auto divideInt = [](auto a, auto b) { return b == 0 ? decltype(a)(-1) : a / b; };
// Floor modulo, as in torch; x mod 0 is x.
inline constexpr auto remainderInt = [](auto a, auto b) {
  const auto r = b == 0 ? a : a % b;
  return b != 0 && r != 0 && (r < 0) != (b < 0) ? r + b : r;
};
// Wraps as repeated multiplication does; with negative exponents, only powers of 1 and -1 are not 0.
inline constexpr auto powInt = [](auto base, auto exponent) {
  using T = decltype(base);
  if (exponent < 0)
    return base == 1 ? T(1) : base == T(-1) ? (exponent & 1 ? T(-1) : T(1)) : T(0);
  uint64_t result = 1, square = static_cast<uint64_t>(base);
  for (auto e = static_cast<uint64_t>(exponent); e != 0; e >>= 1, square *= square)
    result *= e & 1 ? square : 1;
  return static_cast<T>(result);
};

/// The lowest bits of a number of a width of up to 64.
TT_INLINE uint64_t bitsOf(uint64_t x, int width) { return x & (~uint64_t(0) >> (64 - width)); }
// A shift by the width or more, or by a negative number, returns 0 (an arithmetic one: the sign).
inline constexpr auto shiftLeft = [](auto a, auto n, int width) {
  const bool fits = static_cast<uint64_t>(n) < static_cast<uint64_t>(width);
  return fits ? static_cast<decltype(a)>(bitsOf(static_cast<uint64_t>(a) << (n & (width - 1)), width)) : decltype(a)(0);
};
inline constexpr auto shiftRight = [](auto a, auto n, int width) {
  const bool fits = static_cast<uint64_t>(n) < static_cast<uint64_t>(width);
  return fits ? static_cast<decltype(a)>(bitsOf(static_cast<uint64_t>(a), width) >> (n & (width - 1))) : decltype(a)(0);
};
inline constexpr auto shiftRightArithmetic = [](auto a, auto n, int width) {
  const int64_t number = static_cast<int64_t>(static_cast<uint64_t>(a) << (64 - width)) >> (64 - width);
  const auto most = static_cast<uint64_t>(width - 1), by = static_cast<uint64_t>(n);
  return static_cast<decltype(a)>(number >> (by < most ? by : most));
};

//===----------------------------------------------------------------------===//
// The tables
//===----------------------------------------------------------------------===//

// Takes the identity of a number.
inline constexpr auto same = [](auto x) { return x; };
// NaN and -0 have no sign, as in torch.
inline constexpr auto sign = [](auto x) { return (x > 0 ? 1 : 0) - (x < 0 ? 1 : 0); };

/// Functions that are elementwise ops of TTNN, by the op's name, and special cases of them. A name without "ttnn." is a
/// special case that is chosen when a kernel is created, or an activation.
template <class Make> constexpr auto opFunctions(Make make) {
  return std::array{
      // Unary
      make("ttnn.abs", kept(pair<1>([](auto x) { return std::fabs(x); }, absInt))),
      make("ttnn.acos", approximated<1>([](float x) { return acos(x); }, [](double x) { return std::acos(x); })),
      make("ttnn.asin", approximated<1>([](float x) { return asin(x); }, [](double x) { return std::asin(x); })),
      make("ttnn.asinh", approximated<1>([](float x) { return asinh(x); }, [](double x) { return std::asinh(x); })),
      make("ttnn.atan", approximated<1>([](float x) { return atan(x); }, [](double x) { return std::atan(x); })),
      make("ttnn.atanh", approximated<1>([](float x) { return float((log1pd(x) - log1pd(-x)) * 0.5); },
                                         [](double x) { return std::atanh(x); })),
      make("ttnn.bitwise_not", integers<1>([](auto x) { return ~x; })),
      make("ttnn.cbrt", approximated<1>([](float x) { return cbrt(x); }, [](double x) { return std::cbrt(x); })),
      make("ttnn.ceil", kept(pair<1>([](auto x) { return std::ceil(x); }, same))),
      make("ttnn.cos", approximated<1>(guarded([](float x) { return cos(x); }, [](float x) { return trigFits(x); },
                                               [](float x) { return static_cast<float>(std::cos(double(x))); }),
                                       [](double x) { return std::cos(x); })),
      make("ttnn.erf", approximated<1>([](float x) { return erf(x); }, [](double x) { return std::erf(x); })),
      make("ttnn.erfc", approximated<1>([](float x) { return erfc(x); }, [](double x) { return std::erfc(x); })),
      make("ttnn.exp", approximated<1>(withShort([](float x) { return exp(x); }, [](float x) { return expShort(x); }),
                                       [](double x) { return std::exp(x); })),
      make("ttnn.expm1", approximated<1>([](float x) { return expm1(x); }, [](double x) { return std::expm1(x); })),
      make("ttnn.floor", kept(pair<1>([](auto x) { return std::floor(x); }, same))),
      make("ttnn.gelu",
           approximated<1>(withShort([](float x) { return gelu(x); }, [](float x) { return geluShort(x); }), None{})),
      make("ttnn.hardsigmoid", approximated<1>([](float x) { return clamp(x + 3.0f, 0.0f, 6.0f) / 6.0f; }, None{})),
      make("ttnn.isfinite", kept(both<1>([](auto x) { return x - x == 0 ? 1 : 0; }))),
      make("ttnn.leaky_relu",
           approximated<1>([](float x, const Attributes &s) { return x > 0.0f ? x : x * s.f[0]; }, None{}),
           Domain::Operands, "parameter"),
      make("ttnn.log", approximated<1>([](float x) { return log(x); }, [](double x) { return std::log(x); })),
      make("ttnn.log1p", approximated<1>([](float x) { return log1p(x); }, [](double x) { return std::log1p(x); })),
      make("ttnn.log2",
           approximated<1>([](float x) { return float(logd(x) / ln2); }, [](double x) { return std::log2(x); })),
      make("ttnn.logical_not", kept(both<1>([](auto x) { return x == 0 ? 1 : 0; }))),
      make("ttnn.mish", approximated<1>([](float x) { return mish(x); }, None{})),
      make("ttnn.neg", kept(pair<1>([](auto x) { return -x; }, negInt))),
      make("ttnn.reciprocal", floats<1>([](auto x) { return 1 / x; })),
      make("ttnn.relu", kept(both<1>([](auto x) { return relu(x); }))),
      make("ttnn.relu6", kept(both<1>([](auto x) { return relu6(x); }))),
      make("ttnn.rsqrt",
           approximated<1>([](float x) { return 1.0f / std::sqrt(x); }, [](double x) { return 1 / std::sqrt(x); })),
      make("ttnn.sigmoid",
           approximated<1>(withShort([](float x) { return sigmoid(x); }, [](float x) { return sigmoidShort(x); }),
                           [](double x) { return 1 / (1 + std::exp(-x)); })),
      make("ttnn.sign", kept(both<1>(sign))),
      make("ttnn.silu",
           approximated<1>(withShort([](float x) { return silu(x); }, [](float x) { return siluShort(x); }), None{})),
      make("ttnn.sin", approximated<1>(guarded([](float x) { return sin(x); }, [](float x) { return trigFits(x); },
                                               [](float x) { return static_cast<float>(std::sin(double(x))); }),
                                       [](double x) { return std::sin(x); })),
      make("ttnn.sqrt", floats<1>([](auto x) { return std::sqrt(x); })),
      make("ttnn.tan", approximated<1>(guarded([](float x) { return tan(x); }, [](float x) { return trigFits(x); },
                                               [](float x) { return static_cast<float>(std::tan(double(x))); }),
                                       [](double x) { return std::tan(x); })),
      make("ttnn.tanh",
           approximated<1>(withShort([](float x) { return tanh(x); }, [](float x) { return tanhShort(x); }),
                           [](double x) { return std::tanh(x); })),
      make("ttnn.assign", kept(both<1>(same))),
      make("ttnn.typecast", kept(both<1>(same))),
      make("ttnn.clamp_scalar",
           approximated<1>([](float x, const Attributes &s) { return clamp(x, s.f[0], s.f[1]); }, None{},
                           [](auto x, const Attributes &s) {
                             return minimum(maximum(x, static_cast<decltype(x)>(s.i[0])),
                                            static_cast<decltype(x)>(s.i[1]));
                           }),
           Domain::Operands, "min", "max"),
      make("ttnn.pow_scalar",
           approximated<1>([](float x, const Attributes &s) { return pow(x, s.f[0]); }, None{},
                           [](auto x, const Attributes &s) { return powInt(x, static_cast<decltype(x)>(s.i[0])); }),
           Domain::Quotient, "rhs"),
      // Binary
      make("ttnn.add", pair<2>([](auto a, auto b) { return a + b; }, addInt)),
      make("ttnn.atan2", approximated<2>([](float y, float x) { return atan2(y, x); },
                                         [](double y, double x) { return std::atan2(y, x); })),
      make("ttnn.bitwise_and", integers<2>([](auto a, auto b) { return a & b; })),
      make("ttnn.bitwise_or", integers<2>([](auto a, auto b) { return a | b; })),
      make("ttnn.bitwise_xor", integers<2>([](auto a, auto b) { return a ^ b; })),
      make("ttnn.divide", pair<2>([](auto a, auto b) { return a / b; }, divideInt), Domain::Quotient),
      make("ttnn.eq", kept(both<2>([](auto a, auto b) { return a == b ? 1 : 0; }))),
      make("ttnn.ge", kept(both<2>([](auto a, auto b) { return a >= b ? 1 : 0; }))),
      make("ttnn.gelu_bw", approximated<2>([](float slope, float x) { return slope * geluSlope(x); }, None{})),
      make("ttnn.gt", kept(both<2>([](auto a, auto b) { return a > b ? 1 : 0; }))),
      make("ttnn.le", kept(both<2>([](auto a, auto b) { return a <= b ? 1 : 0; }))),
      make("ttnn.logical_and", kept(both<2>([](auto a, auto b) { return int(a != 0) & int(b != 0); }))),
      make("ttnn.logical_left_shift", integers<2>(AnyWidth<decltype(shiftLeft)>{})),
      make("ttnn.logical_or", kept(both<2>([](auto a, auto b) { return int(a != 0) | int(b != 0); }))),
      make("ttnn.logical_right_shift", integers<2>(AnyWidth<decltype(shiftRight)>{})),
      make("ttnn.logical_xor", kept(both<2>([](auto a, auto b) { return (a != 0) != (b != 0) ? 1 : 0; }))),
      make("ttnn.lt", kept(both<2>([](auto a, auto b) { return a < b ? 1 : 0; }))),
      make("ttnn.maximum", kept(both<2>([](auto a, auto b) { return maximum(a, b); }))),
      make("ttnn.minimum", kept(both<2>([](auto a, auto b) { return minimum(a, b); }))),
      make("ttnn.multiply", pair<2>([](auto a, auto b) { return a * b; }, multiplyInt)),
      make("ttnn.ne", kept(both<2>([](auto a, auto b) { return a != b ? 1 : 0; }))),
      make("ttnn.pow_tensor",
           approximated<2>([](float x, float y) { return pow(x, y); },
                           [](double x, double y) { return std::pow(x, y); }, powInt),
           Domain::Quotient),
      make("ttnn.remainder", approximated<2>(guarded([](float x, float y) { return remainder(x, y); },
                                                     [](float x, float y) { return remainderFits(x, y); },
                                                     [](float x, float y) { return remainderSlow(x, y); }),
                                             None{}, remainderInt)),
      make("ttnn.subtract", pair<2>([](auto a, auto b) { return a - b; }, subtractInt)),
      // Ternary
      make("ttnn.clamp_tensor",
           kept(both<3>([](auto x, auto low, auto high) { return minimum(maximum(x, low), high); }))),
      make("ttnn.where", kept(both<3>([](auto c, auto a, auto b) { return c != 0 ? a : b; })), Domain::Select),
      // Special cases
      make("gelu_bw_tanh", approximated<2>([](float slope, float x) { return slope * geluTanhSlope(x); }, None{})),
      make("gelu_tanh",
           approximated<1>(withShort([](float x) { return geluTanh(x); }, [](float x) { return geluTanhShort(x); }),
                           None{})),
      make("square", pair<1>([](auto x) { return x * x; }, [](auto x) { return multiplyInt(x, x); })),
  };
}

/// Functions that no single op of TTNN computes.
template <class Make> constexpr auto otherFunctions(Make make) {
  return std::array{
      make("count_leading_zeros", integers<1>([](auto x, const Attributes &s) {
             return s.width - std::bit_width(bitsOf(static_cast<uint64_t>(x), s.width));
           })),
      make("popcount", integers<1>([](auto x, const Attributes &s) {
             return std::popcount(bitsOf(static_cast<uint64_t>(x), s.width));
           })),
      make("right_shift", integers<2>(AnyWidth<decltype(shiftRightArithmetic)>{})),
      // Ties away from 0, and to even.
      make("round", floats<1>([](auto x) { return std::round(x); })),
      make("round_even", floats<1>([](auto x) { return std::nearbyint(x); })),
      // The sign of StableHLO: the sign of NaN and of zeros is the operand.
      make("sign_or_self",
           pair<1>([](auto x) { return x > 0 || x < 0 ? static_cast<decltype(x)>(sign(x)) : x; }, sign)),
      // Has the sign of the dividend, as in C and StableHLO.
      make("truncated_remainder",
           pair<2>([](auto a, auto b) { return std::fmod(a, b); }, [](auto a, auto b) { return b == 0 ? a : a % b; })),
  };
}

/// Functions of tiles that kernels call, and no op is. Their numbers have no names.
template <class Make> constexpr auto tileFunctions(Make make) {
  return std::array{
      // Alpha, and 1 / alpha.
      make("celu", approximated<1>(
                       [](float x, const Attributes &s) { return x > 0.0f ? x : s.f[0] * expm1(x * s.f[1]); }, None{})),
      make("elu",
           approximated<1>([](float x, const Attributes &s) { return x > 0.0f ? x : s.f[0] * expm1(x); }, None{})),
      make("frac", floats<1>([](auto x) { return x - std::trunc(x); })),
      make(
          "hardshrink",
          approximated<1>([](float x, const Attributes &s) { return x >= -s.f[0] && x <= s.f[0] ? 0.0f : x; }, None{})),
      // The value at 0.
      make("heaviside", approximated<1>(
                            [](float x, const Attributes &s) {
                              return x == 0.0f ? s.f[0] : x != x ? x : x > 0.0f ? 1.0f : 0.0f;
                            },
                            None{})),
      make("isinf", kept(both<1>([](auto x) { return x - x == 0 || x != x ? 0 : 1; }))),
      make("isnan", kept(both<1>([](auto x) { return x != x ? 1 : 0; }))),
      make("isneginf", kept(both<1>([](auto x) { return x - x != 0 && x < 0 ? 1 : 0; }))),
      make("isposinf", kept(both<1>([](auto x) { return x - x != 0 && x > 0 ? 1 : 0; }))),
      // 1 / log(base)
      make("log_with_base", approximated<1>([](float x, const Attributes &s) { return log(x) * s.f[0]; }, None{})),
      // 10^places. Ties to even.
      make("round_to", approximated<1>(
                           [](float x, const Attributes &s) {
                             const float y = x * s.f[0];
                             return y - y == 0.0f ? std::nearbyint(y) / s.f[0] : x;
                           },
                           None{})),
      // Scale, and alpha.
      make("selu",
           approximated<1>([](float x, const Attributes &s) { return s.f[0] * (x > 0.0f ? x : s.f[1] * expm1(x)); },
                           None{})),
      make("signbit",
           kept(pair<1>([](auto x) { return std::signbit(x) ? 1 : 0; }, [](auto x) { return x < 0 ? 1 : 0; }))),
      // Beta, 1 / beta, and the product above which it is the identity.
      make("softplus", approximated<1>(
                           [](float x, const Attributes &s) {
                             const float y = x * s.f[0];
                             return y > s.f[2] ? x : log1p(exp(y)) * s.f[1];
                           },
                           None{})),
      make("softshrink", approximated<1>(
                             [](float x, const Attributes &s) {
                               return x > s.f[0] ? x - s.f[0] : x < -s.f[0] ? x + s.f[0] : x != x ? x : 0.0f;
                             },
                             None{})),
      make("softsign", floats<1>([](auto x) { return x / (1 + (x < 0 ? -x : x)); })),
      // Values up to the first number become the second one.
      make("threshold", approximated<1>([](float x, const Attributes &s) { return x <= s.f[0] ? s.f[1] : x; }, None{})),
      make("trunc", kept(pair<1>([](auto x) { return std::trunc(x); }, [](auto x) { return x; }))),
  };
}

} // namespace ttmlir::scalars
