//===- rows.cpp - loops over the functions of elementwise ops -------------===//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/elementwise/elementwise.h"
#include "tt/sim/formats.h"

#include <algorithm>
#include <utility>

namespace tt::ttnn {
namespace {

using scalars::Precision;

template <class F>
concept IsGuarded = requires { typename F::Fast; };
template <class F>
concept HasAnyWidth = requires { typename F::template With<32>; };

template <class F>
concept HasShort = requires { typename F::ForBf16; };

/// To bf16, to nearest, ties to even. A NaN whose lower 16 bits are 0 stays one.
float rounded(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  return std::bit_cast<float>((bits + (0x7fff + (bits >> 16 & 1))) & 0xffff0000);
}

/// The expression for results that are rounded to bf16.
template <class F> struct ShortOf {
  using Type = F;
};
template <HasShort F> struct ShortOf<F> {
  using Type = typename F::ForBf16;
};
/// An expression whose result is rounded to bf16.
template <class F> struct Rounded {
  using Short = typename ShortOf<F>::Type;
  template <class... X>
    requires std::invocable<Short, X...>
  float operator()(X... x) const {
    return rounded(static_cast<float>(Short{}(x...)));
  }
};
/// The loop around an expression F(x...) or F(x..., scalars).
template <class F, class T, size_t... I>
void loop(std::index_sequence<I...>, const T *const *ins, T *out, size_t n, const Scalars &scalars) {
  const T *const x[] = {ins[I]...};
  const Scalars s = scalars; // a copy, so that stores to `out` cannot change it
#pragma clang loop vectorize(assume_safety)
  for (size_t j = 0; j < n; ++j)
    if constexpr (requires(T v) { F{}(((void)I, v)..., s); })
      out[j] = static_cast<T>(F{}(x[I][j]..., s));
    else
      out[j] = static_cast<T>(F{}(x[I][j]...));
}
template <class F, class T, int ins> void run(const T *const *x, T *out, size_t n, const Scalars &scalars) {
  loop<F>(std::make_index_sequence<ins>{}, x, out, n, scalars);
}

/// The vector loop everywhere, then libm for arguments outside the range of its reduction (very large angles).
template <class F, int ins> void runGuarded(const float *const *x, float *out, size_t n, const Scalars &scalars) {
  // `out` may be an operand: arguments outside the range are found first, and their results saved.
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
    const auto fits = [](auto... x) { return F::fits(x...); };
    int outside = 0;
    for (size_t j = 0; j < count; ++j)
      outside |= !apply(fits, j);
    if (outside)
      for (size_t j = 0; j < count; ++j)
        slow[j] = apply(fits, j) ? apply(typename F::Fast{}, j) : apply([](auto... x) { return F::slow(x...); }, j);
    if (outside)
      for (size_t j = 0; j < count; ++j)
        out[begin + j] = slow[j];
    else
      run<typename F::Fast, float, ins>(at, out + begin, count, scalars);
  }
}

template <class F, class T, int ins> constexpr Run<T> runOf() {
  if constexpr (std::same_as<F, scalars::None>)
    return nullptr;
  else if constexpr (IsGuarded<F>)
    return runGuarded<F, ins>;
  else if constexpr (HasAnyWidth<F>) // integers are of 32 bits at most, and wrapped when they are stored
    return run<typename F::template With<32>, T, ins>;
  else
    return run<F, T, ins>;
}

/// The loop whose results are rounded to bf16.
template <Precision precision, class F, int ins> constexpr Run<float> roundedOf() {
  if constexpr (std::same_as<F, scalars::None> || HasAnyWidth<F> || IsGuarded<F>)
    return nullptr;
  else if constexpr (precision == Precision::Kept)
    return runOf<F, float, ins>();
  else
    return runOf<Rounded<F>, float, ins>();
}

struct MakeRow {
  template <int ins, Precision precision, class F, class D, class I>
  constexpr ElementwiseRow operator()(std::string_view name, scalars::Expression<ins, precision, F, D, I>,
                                      Domain domain = Domain::Operands, std::string_view scalar0 = {},
                                      std::string_view scalar1 = {}) const {
    return {name,
            ins,
            runOf<F, float, ins>(),
            roundedOf<precision, F, ins>(),
            runOf<I, int64_t, ins>(),
            domain,
            {scalar0, scalar1}};
  }
};

constexpr auto rows = scalars::opFunctions(MakeRow{});
constexpr auto tileRows = scalars::tileFunctions(MakeRow{});
constexpr auto otherRows = scalars::otherFunctions(MakeRow{});

} // namespace

std::span<const ElementwiseRow> elementwiseRows() { return rows; }

static const ElementwiseRow *find(std::span<const ElementwiseRow> rows, std::string_view name) {
  const auto row = std::ranges::find(rows, name, &ElementwiseRow::name);
  return row == rows.end() ? nullptr : &*row;
}

const ElementwiseRow *findElementwise(std::string_view name) { return find(rows, name); }

const ElementwiseRow *findTileFunction(std::string_view name) {
  for (const std::span<const ElementwiseRow> some : {std::span<const ElementwiseRow>(rows), {tileRows}, {otherRows}})
    if (const ElementwiseRow *row = find(some, name))
      return row;
  return nullptr;
}

const ElementwiseRow *findActivation(std::string_view name) {
  const ElementwiseRow *op = findElementwise("ttnn." + std::string(name));
  return op ? op : findElementwise(name);
}

} // namespace tt::ttnn
