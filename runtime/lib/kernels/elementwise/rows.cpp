//===- rows.cpp - table of elementwise expressions ------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "core/math.h"
#include "kernels/elementwise/elementwise.h"

#include <bit>
#include <string>
#include <utility>

namespace tt::ttnn {
namespace {

/// The loop around an expression F(x...) or F(x..., scalars).
template <auto F, class T, size_t... I>
void loop(std::index_sequence<I...>, const T *const *ins, T *out, size_t n, const Scalars &scalars) {
  const T *const x[] = {ins[I]...};
  const Scalars s = scalars; // a copy, so that stores to `out` cannot change it
#pragma clang loop vectorize(assume_safety)
  for (size_t j = 0; j < n; ++j)
    if constexpr (requires(T v) { F(((void)I, v)..., s); })
      out[j] = static_cast<T>(F(x[I][j]..., s));
    else
      out[j] = static_cast<T>(F(x[I][j]...));
}
template <auto F, class T, int ins> void run(const T *const *x, T *out, size_t n, const Scalars &scalars) {
  loop<F>(std::make_index_sequence<ins>{}, x, out, n, scalars);
}

// `floats`: an expression in f32 only. `both`: a generic one, exact on integers as well. `pair`: one for each.
struct Runs {
  int ins;
  Run<float> f;
  Run<int64_t> i;
};
template <int ins, auto F> constexpr Runs floats = {ins, run<F, float, ins>, nullptr};
template <int ins, auto F> constexpr Runs both = {ins, run<F, float, ins>, run<F, int64_t, ins>};
template <int ins, auto F, auto G> constexpr Runs pair = {ins, run<F, float, ins>, run<G, int64_t, ins>};
template <int ins, auto G> constexpr Runs integers = {ins, nullptr, run<G, int64_t, ins>};

/// The vector loop everywhere, then libm where the argument is outside of what it can reduce (very large angles).
template <auto F, auto Fits, auto Slow, int ins>
void guarded(const float *const *x, float *out, size_t n, const Scalars &scalars) {
  // `out` may be an operand: outside arguments are looked for first, and their results kept aside.
  constexpr size_t piece = 256;
  float slow[piece];
  for (size_t begin = 0; begin < n; begin += piece) {
    const size_t count = n - begin < piece ? n - begin : piece;
    const float *at[ins];
    for (int i = 0; i < ins; ++i)
      at[i] = x[i] + begin;
    auto apply = [&](auto f, size_t j) {
      if constexpr (ins == 1)
        return f(at[0][j]);
      else
        return f(at[0][j], at[1][j]);
    };
    int outside = 0;
    for (size_t j = 0; j < count; ++j)
      outside |= !apply(Fits, j);
    if (outside)
      for (size_t j = 0; j < count; ++j)
        slow[j] = apply(Fits, j) ? apply(F, j) : apply(Slow, j);
    if (outside)
      for (size_t j = 0; j < count; ++j)
        out[begin + j] = slow[j];
    else
      run<F, float, ins>(at, out + begin, count, scalars);
  }
}

using math::infinity;

// f32 and int64 expressions that need more than a line.
constexpr auto geluTanh = [](float x) {
  const float u = 0.7978845608f * (x + 0.044715f * x * x * x); // sqrt(2 / pi)
  return 0.5f * x * (1.0f + math::tanh(u));
};
constexpr auto clamp = [](auto x, auto low, auto high) { return math::minimum(math::maximum(x, low), high); };
constexpr auto multiplyInt = [](int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
};
// Truncating, as in C and StableHLO; x / 0 is -1, as on the chip's RISC-V cores.
constexpr auto divideInt = [](int64_t a, int64_t b) { return b == 0 ? int64_t(-1) : a / b; };
// Floor modulo, as in torch; x mod 0 is x.
constexpr auto remainderInt = [](int64_t a, int64_t b) {
  const int64_t r = b == 0 ? a : a % b;
  return b != 0 && r != 0 && (r < 0) != (b < 0) ? r + b : r;
};
// Wraps modulo 2^32 as repeated multiplication does; negative exponents leave only 1 and -1 standing.
constexpr auto powInt = [](int64_t base, int64_t exponent) {
  if (exponent < 0)
    return base == 1 ? int64_t(1) : base == -1 ? (exponent & 1 ? int64_t(-1) : int64_t(1)) : int64_t(0);
  uint64_t result = 1, square = static_cast<uint64_t>(base);
  for (auto e = static_cast<uint64_t>(exponent); e != 0; e >>= 1, square *= square)
    result *= e & 1 ? square : 1;
  return static_cast<int64_t>(result);
};
// Shifts of 32-bit patterns; a shift by 32 or more, or a negative one, leaves nothing.
constexpr auto shiftLeft = [](int64_t a, int64_t n) {
  return static_cast<uint64_t>(n) < 32 ? static_cast<int64_t>(static_cast<uint32_t>(a) << (n & 31)) : int64_t(0);
};
constexpr auto shiftRight = [](int64_t a, int64_t n) {
  return static_cast<uint64_t>(n) < 32 ? static_cast<int64_t>(static_cast<uint32_t>(a) >> (n & 31)) : int64_t(0);
};

constexpr Runs sinRuns = {1,
                          guarded<[](float x) { return math::sin(x); }, [](float x) { return math::trigFits(x); },
                                  [](float x) { return static_cast<float>(std::sin(double(x))); }, 1>,
                          nullptr};
constexpr Runs cosRuns = {1,
                          guarded<[](float x) { return math::cos(x); }, [](float x) { return math::trigFits(x); },
                                  [](float x) { return static_cast<float>(std::cos(double(x))); }, 1>,
                          nullptr};
constexpr Runs tanRuns = {1,
                          guarded<[](float x) { return math::tan(x); }, [](float x) { return math::trigFits(x); },
                                  [](float x) { return static_cast<float>(std::tan(double(x))); }, 1>,
                          nullptr};
constexpr Runs remainderRuns = {2,
                                guarded<[](float x, float y) { return math::remainder(x, y); },
                                        [](float x, float y) { return math::remainderFits(x, y); },
                                        [](float x, float y) { return math::remainderSlow(x, y); }, 2>,
                                run<remainderInt, int64_t, 2>};

constexpr ElementwiseRow row(std::string_view name, Runs runs, Domain domain = Domain::Operands,
                             std::string_view scalar0 = {}, std::string_view scalar1 = {}) {
  return {name, runs.ins, runs.f, runs.i, domain, {scalar0, scalar1}};
}

constexpr ElementwiseRow rows[] = {
    // Unary
    row("ttnn.abs", pair<1, [](float x) { return __builtin_fabsf(x); }, [](int64_t x) { return x < 0 ? -x : x; }>),
    row("ttnn.acos", floats<1, [](float x) { return math::acos(x); }>),
    row("ttnn.asin", floats<1, [](float x) { return math::asin(x); }>),
    row("ttnn.asinh", floats<1, [](float x) { return math::asinh(x); }>),
    row("ttnn.atan", floats<1, [](float x) { return math::atan(x); }>),
    row("ttnn.bitwise_not", integers<1, [](int64_t x) { return ~x; }>),
    row("ttnn.cbrt", floats<1, [](float x) { return math::cbrt(x); }>),
    row("ttnn.ceil", pair<1, [](float x) { return __builtin_ceilf(x); }, [](int64_t x) { return x; }>),
    row("ttnn.cos", cosRuns),
    row("ttnn.erf", floats<1, [](float x) { return math::erf(x); }>),
    row("ttnn.erfc", floats<1, [](float x) { return math::erfc(x); }>),
    row("ttnn.exp", floats<1, [](float x) { return math::exp(x); }>),
    row("ttnn.expm1", floats<1, [](float x) { return math::expm1(x); }>),
    row("ttnn.floor", pair<1, [](float x) { return __builtin_floorf(x); }, [](int64_t x) { return x; }>),
    row("ttnn.gelu", floats<1, [](float x) { return math::gelu(x); }>),
    row("ttnn.hardsigmoid", floats<1, [](float x) { return math::clamp(x + 3.0f, 0.0f, 6.0f) / 6.0f; }>),
    row("ttnn.isfinite", both<1, [](auto x) { return x - x == 0 ? 1 : 0; }>),
    row("ttnn.leaky_relu", floats<1, [](float x, const Scalars &s) { return x > 0.0f ? x : x * s.f[0]; }>,
        Domain::Operands, "parameter"),
    row("ttnn.log", floats<1, [](float x) { return math::log(x); }>),
    row("ttnn.log1p", floats<1, [](float x) { return math::log1p(x); }>),
    row("ttnn.log2", floats<1, [](float x) { return static_cast<float>(math::logd(x) / 0.6931471805599453); }>),
    row("ttnn.logical_not", both<1, [](auto x) { return x == 0 ? 1 : 0; }>),
    row("ttnn.mish", floats<1, [](float x) { return math::mish(x); }>),
    row("ttnn.neg", both<1, [](auto x) { return -x; }>),
    row("ttnn.reciprocal", floats<1, [](float x) { return 1.0f / x; }>),
    row("ttnn.relu", both<1, [](auto x) { return math::relu(x); }>),
    row("ttnn.relu6", both<1, [](auto x) { return math::relu(x > 6 ? 6 : x); }>),
    row("ttnn.rsqrt", floats<1, [](float x) { return 1.0f / __builtin_sqrtf(x); }>),
    row("ttnn.sigmoid", floats<1, [](float x) { return math::sigmoid(x); }>),
    row("ttnn.sign", both<1, [](auto x) { return (x > 0 ? 1 : 0) - (x < 0 ? 1 : 0); }>),
    row("ttnn.silu", floats<1, [](float x) { return math::silu(x); }>),
    row("ttnn.sin", sinRuns),
    row("ttnn.sqrt", floats<1, [](float x) { return __builtin_sqrtf(x); }>),
    row("ttnn.tan", tanRuns),
    row("ttnn.tanh", floats<1, [](float x) { return math::tanh(x); }>),
    row("ttnn.assign", both<1, [](auto x) { return x; }>),
    row("ttnn.typecast", both<1, [](auto x) { return x; }>),
    row("ttnn.clamp_scalar",
        pair<1, [](float x, const Scalars &s) { return math::clamp(x, s.f[0], s.f[1]); },
             [](int64_t x, const Scalars &s) { return clamp(x, s.i[0], s.i[1]); }>,
        Domain::Operands, "min", "max"),
    row("ttnn.pow_scalar",
        pair<1, [](float x, const Scalars &s) { return math::pow(x, s.f[0]); },
             [](int64_t x, const Scalars &s) { return powInt(x, s.i[0]); }>,
        Domain::Quotient, "rhs"),
    // Binary
    row("ttnn.add", both<2, [](auto a, auto b) { return a + b; }>),
    row("ttnn.atan2", floats<2, [](float y, float x) { return math::atan2(y, x); }>),
    row("ttnn.bitwise_and", integers<2, [](int64_t a, int64_t b) { return a & b; }>),
    row("ttnn.bitwise_or", integers<2, [](int64_t a, int64_t b) { return a | b; }>),
    row("ttnn.bitwise_xor", integers<2, [](int64_t a, int64_t b) { return a ^ b; }>),
    row("ttnn.divide", pair<2, [](float a, float b) { return a / b; }, divideInt>, Domain::Quotient),
    row("ttnn.eq", both<2, [](auto a, auto b) { return a == b ? 1 : 0; }>),
    row("ttnn.ge", both<2, [](auto a, auto b) { return a >= b ? 1 : 0; }>),
    row("ttnn.gelu_bw", floats<2, [](float slope, float x) { return slope * math::geluSlope(x); }>),
    row("ttnn.gt", both<2, [](auto a, auto b) { return a > b ? 1 : 0; }>),
    row("ttnn.le", both<2, [](auto a, auto b) { return a <= b ? 1 : 0; }>),
    row("ttnn.logical_and", both<2, [](auto a, auto b) { return int(a != 0) & int(b != 0); }>),
    row("ttnn.logical_left_shift", integers<2, shiftLeft>),
    row("ttnn.logical_or", both<2, [](auto a, auto b) { return int(a != 0) | int(b != 0); }>),
    row("ttnn.logical_right_shift", integers<2, shiftRight>),
    row("ttnn.logical_xor", both<2, [](auto a, auto b) { return (a != 0) != (b != 0) ? 1 : 0; }>),
    row("ttnn.lt", both<2, [](auto a, auto b) { return a < b ? 1 : 0; }>),
    row("ttnn.maximum", both<2, [](auto a, auto b) { return math::maximum(a, b); }>),
    row("ttnn.minimum", both<2, [](auto a, auto b) { return math::minimum(a, b); }>),
    row("ttnn.multiply", pair<2, [](float a, float b) { return a * b; }, multiplyInt>),
    row("ttnn.ne", both<2, [](auto a, auto b) { return a != b ? 1 : 0; }>),
    row("ttnn.pow_tensor", pair<2, [](float x, float y) { return math::pow(x, y); }, powInt>, Domain::Quotient),
    row("ttnn.remainder", remainderRuns),
    row("ttnn.subtract", both<2, [](auto a, auto b) { return a - b; }>),
    // Ternary
    row("ttnn.clamp_tensor", both<3, clamp>),
    row("ttnn.where", both<3, [](auto c, auto a, auto b) { return c != 0 ? a : b; }>, Domain::Select),
    // Special cases, chosen when a kernel is made, and activations that are no ops
    row("gelu_bw_tanh", floats<2, [](float slope, float x) { return slope * math::geluTanhSlope(x); }>),
    row("gelu_tanh", floats<1, geluTanh>),
    row("square", pair<1, [](float x) { return x * x; }, [](int64_t x) { return multiplyInt(x, x); }>),
};

} // namespace

std::span<const ElementwiseRow> elementwiseRows() { return rows; }

const ElementwiseRow *findElementwise(std::string_view name) {
  for (const ElementwiseRow &row : rows)
    if (row.name == name)
      return &row;
  return nullptr;
}

const ElementwiseRow *findActivation(std::string_view name) {
  const ElementwiseRow *op = findElementwise("ttnn." + std::string(name));
  return op ? op : findElementwise(name);
}

} // namespace tt::ttnn
