//===- Fit.cpp - numbers as expressions of sizes --------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Fit.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace llvm;
using namespace mlir::tt::ttnn;
using ::tt::shapes::Code;
using ::tt::shapes::Term;

/// Sizes are divided by what passes and models divide by: tiles, strides, patches, heads.
static constexpr int64_t largestDivisor = 256;

//===----------------------------------------------------------------------===//
// Periods
//===----------------------------------------------------------------------===//

/// Longer ones are as good as unknown.
static constexpr int64_t longestPeriod = int64_t(1) << 31;

/// 0 where the product is too large to be known.
static int64_t limited(int64_t a, int64_t b) {
  int64_t value;
  return __builtin_mul_overflow(a, b, &value) ? 0 : value;
}

Period Period::with(const Period &other) const {
  const int64_t joined = std::lcm(modulus, other.modulus);
  if (joined > longestPeriod)
    return {longestPeriod, false, 1};
  const int64_t gcd = std::gcd(limited(rise, joined / modulus), limited(other.rise, joined / other.modulus));
  return {joined, isKnown && other.isKnown, std::max<int64_t>(gcd, 1)};
}

Period Period::over(int64_t divisor) const {
  const int64_t common = std::gcd(rise, divisor);
  return {std::min(modulus * (divisor / common), longestPeriod), isKnown, rise / common};
}

Period Period::times(int64_t factor) const {
  return {modulus, isKnown, std::max<int64_t>(std::abs(limited(rise, factor)), 1)};
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

static Code constant(int64_t value) { return {static_cast<int64_t>(Term::Constant), value}; }

static Code pair(Term term, const Code &a, const Code &b) {
  Code code = {static_cast<int64_t>(term)};
  code.insert(code.end(), a.begin(), a.end());
  code.insert(code.end(), b.begin(), b.end());
  return code;
}

static Code multiple(int64_t factor, const Code &code) {
  return factor == 1 ? code : pair(Term::Product, constant(factor), code);
}

static Code plus(const Code &code, int64_t addend) {
  return addend == 0 ? code : pair(Term::Sum, code, constant(addend));
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

template <class F> static std::optional<Series> combined(ArrayRef<int64_t> a, ArrayRef<int64_t> b, F f) {
  Series result;
  for (auto [x, y] : zip_equal(a, b)) {
    int64_t value;
    if (f(x, y, &value))
      return std::nullopt;
    result.push_back(value);
  }
  return result;
}

static std::optional<Series> product(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  return combined(a, b, [](int64_t x, int64_t y, int64_t *to) { return __builtin_mul_overflow(x, y, to); });
}
static std::optional<Series> difference(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  return combined(a, b, [](int64_t x, int64_t y, int64_t *to) { return __builtin_sub_overflow(x, y, to); });
}

/// factor * b + addend is a at every point. `a` and `b` give their values at a point, of which few are asked for where
/// there is no such line.
template <class A, class B> static std::optional<std::pair<int64_t, int64_t>> line(size_t count, A a, B b) {
  const int64_t firstA = a(0), firstB = b(0);
  for (size_t i = 1; i < count; ++i) {
    int64_t rise, run;
    if (b(i) == firstB || __builtin_sub_overflow(a(i), firstA, &rise) || __builtin_sub_overflow(b(i), firstB, &run))
      continue;
    if (rise == 0 || rise % run != 0)
      return std::nullopt;
    const int64_t factor = rise / run;
    int64_t first, addend;
    if (__builtin_mul_overflow(factor, firstB, &first) || __builtin_sub_overflow(firstA, first, &addend))
      return std::nullopt;
    for (size_t j = 0; j < count; ++j) {
      int64_t value;
      if (__builtin_mul_overflow(factor, b(j), &value) || __builtin_add_overflow(value, addend, &value) ||
          value != a(j))
        return std::nullopt;
    }
    return std::pair(factor, addend);
  }
  return std::nullopt;
}

static std::optional<std::pair<int64_t, int64_t>> line(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  return line(a.size(), [&](size_t i) { return a[i]; }, [&](size_t i) { return b[i]; });
}

/// factor * b is a at every point.
static std::optional<int64_t> factorOf(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  if (auto found = line(a, b); found && found->second == 0)
    return found->first;
  return std::nullopt;
}

static std::optional<Leaf> multiplied(const Leaf &a, const Leaf &b) {
  if (std::optional<Series> series = product(a.series, b.series))
    return Leaf{pair(Term::Product, a.code, b.code), std::move(*series),
                Period{a.period.with(b.period).modulus, a.period.isKnown && b.period.isKnown}};
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Forms, from the plainest on
//===----------------------------------------------------------------------===//

static std::optional<Fitted> fitLine(ArrayRef<int64_t> series, ArrayRef<Leaf> leaves) {
  std::optional<Fitted> found;
  int64_t least = 0;
  for (const Leaf &leaf : leaves)
    if (auto numbers = line(series, leaf.series)) {
      const auto [factor, addend] = *numbers;
      const int64_t weight = std::abs(factor - 1) + std::abs(addend);
      if (!found || weight < least) {
        found = {plus(multiple(factor, leaf.code), addend), leaf.period.times(factor)};
        least = weight;
      }
    }
  return found;
}

static std::optional<Fitted> fitProduct(ArrayRef<int64_t> series, ArrayRef<Leaf> leaves) {
  SmallVector<Leaf> pairs, triples;
  for (auto [i, a] : enumerate(leaves))
    for (const Leaf &b : leaves.drop_front(i)) {
      std::optional<Leaf> both = multiplied(a, b);
      if (!both)
        continue;
      if (std::optional<int64_t> factor = factorOf(series, both->series))
        return Fitted{multiple(*factor, both->code), both->period};
      pairs.push_back(std::move(*both));
    }
  for (const Leaf &both : pairs)
    for (const Leaf &c : leaves)
      if (std::optional<Leaf> three = multiplied(both, c)) {
        if (std::optional<int64_t> factor = factorOf(series, three->series))
          return Fitted{multiple(*factor, three->code), three->period};
        triples.push_back(std::move(*three));
      }
  // One less than the number of elements, by which a variance is divided.
  for (const auto &products : {ArrayRef<Leaf>(pairs), ArrayRef<Leaf>(triples)})
    for (const Leaf &all : products)
      if (auto numbers = line(series, all.series))
        return Fitted{plus(multiple(numbers->first, all.code), numbers->second), all.period};
  return std::nullopt;
}

/// factor * product of more leaves, as all dimensions of a tensor together are.
static std::optional<Fitted> fitLongProduct(ArrayRef<int64_t> series, ArrayRef<Leaf> leaves, unsigned most = 8) {
  if (series.front() != 0 && llvm::all_equal(series))
    return Fitted{constant(series.front()), {}};
  for (auto [i, leaf] : enumerate(leaves)) {
    Series rest;
    for (auto [value, divisor] : zip_equal(series, leaf.series))
      if (divisor > 0 && value % divisor == 0)
        rest.push_back(value / divisor);
    if (most == 0 || rest.size() < series.size() || llvm::all_equal(leaf.series))
      continue;
    if (std::optional<Fitted> other = fitLongProduct(rest, leaves.drop_front(i), most - 1)) {
      const Period period = leaf.period.with(other->period);
      return Fitted{other->code == constant(1) ? leaf.code : pair(Term::Product, leaf.code, other->code),
                    {period.modulus, period.isKnown}};
    }
  }
  return std::nullopt;
}
static std::optional<Fitted> fitProductOfAll(ArrayRef<int64_t> series, ArrayRef<Leaf> leaves) {
  return llvm::all_equal(series) ? std::nullopt : fitLongProduct(series, leaves);
}

static std::optional<Fitted> fitSum(ArrayRef<int64_t> series, ArrayRef<Leaf> leaves) {
  for (const Leaf &a : leaves)
    for (const Leaf &b : leaves)
      if (std::optional<Series> rest = difference(series, a.series); rest && &a != &b)
        if (auto numbers = line(*rest, b.series))
          return Fitted{plus(pair(Term::Sum, a.code, multiple(numbers->first, b.code)), numbers->second),
                        a.period.with(b.period.times(numbers->first))};
  return std::nullopt;
}

/// Whether a multiple of a quotient can rise by `rise` where the leaf rises by `run`, whatever its shift: the quotient
/// rises by one of two numbers.
static bool canRise(int64_t rise, int64_t run, int64_t divisor) {
  const int64_t steps = run / divisor;
  return rise != 0 && (steps == 0 || rise % steps == 0 || rise % (steps + 1) == 0);
}

/// factor * floor((leaf + shift) / divisor) + addend, or that plus or minus the leaf: what strides of windows leave of
/// a size, what pads it to a multiple, and what is left over.
static std::optional<Fitted> fitDivisor(ArrayRef<int64_t> series, const Leaf &leaf, int64_t divisor) {
  const ArrayRef<int64_t> size = leaf.series;
  const auto [least, most] = std::minmax_element(size.begin(), size.end());
  const size_t small = least - size.begin(), large = most - size.begin();
  SmallVector<int64_t> signs;
  for (int64_t sign : {0, 1, -1})
    if (canRise(series[large] - series[small] + sign * (*most - *least), *most - *least, divisor))
      signs.push_back(sign);
  for (int64_t shift = 0; shift < (signs.empty() ? 0 : divisor); ++shift)
    for (int64_t sign : signs)
      if (auto numbers = line(
              series.size(), [&](size_t i) { return series[i] + sign * size[i]; },
              [&](size_t i) { return (size[i] + shift) / divisor; })) {
        const Code quotient = pair(Term::Quotient, plus(leaf.code, shift), constant(divisor));
        Code code = plus(multiple(numbers->first, quotient), numbers->second);
        const Period period = leaf.period.over(divisor).times(numbers->first);
        return sign ? Fitted{pair(Term::Sum, code, multiple(-sign, leaf.code)), period.with(leaf.period)}
                    : Fitted{std::move(code), period};
      }
  return std::nullopt;
}

/// All quotients of one leaf by a constant that have these values: the first, and the period of all.
static std::optional<Fitted> fitQuotient(ArrayRef<int64_t> series, ArrayRef<Leaf> leaves) {
  constexpr int64_t most = INT64_MAX / 8; // no sum below overflows
  const auto isSmall = [&](int64_t value) { return value >= -most && value <= most; };
  if (!llvm::all_of(series, isSmall))
    return std::nullopt;
  std::optional<Fitted> found;
  for (const Leaf &leaf : leaves) {
    if (!llvm::all_of(leaf.series, [&](int64_t value) { return value >= 0 && value <= most; }))
      continue;
    for (int64_t divisor = 2; divisor <= largestDivisor; ++divisor)
      if (std::optional<Fitted> other = fitDivisor(series, leaf, divisor))
        found = found ? Fitted{std::move(found->code), found->period.with(other->period)} : std::move(other);
  }
  return found;
}

std::optional<Fitted> mlir::tt::ttnn::fit(ArrayRef<int64_t> series, ArrayRef<Leaf> leaves) {
  for (auto form : {fitLine, fitProduct, fitSum, fitProductOfAll})
    if (std::optional<Fitted> found = form(series, leaves)) {
      // A quotient of a size can have the values of a strided dimension. If none has, the dimension is what it is.
      if (!found->period.isPlain()) {
        std::optional<Fitted> other = fitQuotient(series, leaves);
        found->isOnly = !other;
        if (other)
          found->period = found->period.with(other->period);
      }
      return found;
    }
  return fitQuotient(series, leaves);
}
