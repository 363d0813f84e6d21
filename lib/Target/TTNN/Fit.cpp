//===- Fit.cpp - numbers as expressions of sizes --------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Fit.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace llvm;
using namespace mlir::tt::ttnn;
using ::tt::shapes::Code;
using ::tt::shapes::Term;

/// Passes and models divide sizes by tiles, strides, patches and heads.
static constexpr int64_t largestDivisor = 256;

//===----------------------------------------------------------------------===//
// Periods
//===----------------------------------------------------------------------===//

/// Longer periods are treated as unknown.
static constexpr int64_t longestPeriod = int64_t(1) << 31;

/// 0 if the product is too large to be known.
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

/// factor * b + addend equals a at every point. `a` and `b` return their values at a point; few are requested if there
/// is no such line.
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

namespace {
/// The product of some leaves, whose values are computed on request.
class Product {
public:
  Product(std::initializer_list<const Leaf *> leaves) : leaves(leaves) {}

  /// The series as factor * product + addend. None also if a product is too large.
  std::optional<std::pair<int64_t, int64_t>> lineOf(ArrayRef<int64_t> series) const {
    bool isLarge = false;
    const auto value = [&](size_t i) {
      int64_t all = 1;
      for (const Leaf *leaf : leaves)
        isLarge |= __builtin_mul_overflow(all, leaf->series[i], &all);
      return all;
    };
    auto found = line(series.size(), [&](size_t i) { return series[i]; }, value);
    return isLarge ? std::nullopt : found;
  }

  Fitted fitted(int64_t factor, int64_t addend) const {
    Code code = leaves.front()->code;
    Period period = leaves.front()->period;
    for (const Leaf *leaf : ArrayRef(leaves).drop_front()) {
      code = pair(Term::Product, code, leaf->code);
      period = {period.with(leaf->period).modulus, period.isKnown && leaf->period.isKnown};
    }
    return {plus(multiple(factor, code), addend), period};
  }

private:
  SmallVector<const Leaf *, 3> leaves;
};
} // namespace

//===----------------------------------------------------------------------===//
// Forms, from the simplest on
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
  // The number of elements minus one, by which a variance is divided, comes after all products.
  std::optional<Fitted> withAddend;
  const auto tried = [&](const Product &product) -> std::optional<Fitted> {
    if (auto numbers = product.lineOf(series)) {
      if (numbers->second == 0)
        return product.fitted(numbers->first, 0);
      if (!withAddend)
        withAddend = product.fitted(numbers->first, numbers->second);
    }
    return std::nullopt;
  };
  for (size_t i = 0; i < leaves.size(); ++i)
    for (size_t k = i; k < leaves.size(); ++k)
      if (auto found = tried({&leaves[i], &leaves[k]}))
        return found;
  for (size_t i = 0; i < leaves.size(); ++i)
    for (size_t k = i; k < leaves.size(); ++k)
      for (size_t l = k; l < leaves.size(); ++l)
        if (auto found = tried({&leaves[i], &leaves[k], &leaves[l]}))
          return found;
  return withAddend;
}

/// factor * product of more leaves, as the product of all dimensions of a tensor.
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
    for (const Leaf &b : leaves) {
      bool isLarge = false;
      const auto rest = [&](size_t i) {
        int64_t value;
        isLarge |= __builtin_sub_overflow(series[i], a.series[i], &value);
        return value;
      };
      if (&a == &b)
        continue;
      if (auto numbers = line(series.size(), rest, [&](size_t i) { return b.series[i]; }); numbers && !isLarge)
        return Fitted{plus(pair(Term::Sum, a.code, multiple(numbers->first, b.code)), numbers->second),
                      a.period.with(b.period.times(numbers->first))};
    }
  return std::nullopt;
}

namespace {
/// factor * floor((size + shift) / divisor) + addend - sign * size, where `shift` is the least one that yields the
/// values.
struct QuotientForm {
  int64_t sign, shift, factor, addend;
};

/// Numbers of points and the sizes at them, and the points with the smallest and largest sizes.
struct Sized {
  ArrayRef<int64_t> series, size;
  size_t small, large;
};
} // namespace

/// Finds shifts of the dividend from 0 to the divisor, from the required quotients: each point leaves an interval of
/// shifts.
static std::optional<int64_t> leastShift(const Sized &of, int64_t sign, int64_t divisor, int64_t factor,
                                         int64_t first) {
  const auto value = [&](size_t i) { return of.series[i] + sign * of.size[i]; };
  int64_t least = 0, most = divisor - 1;
  for (size_t i = 0; i < of.size.size() && least <= most; ++i) {
    const int64_t rise = value(i) - value(of.small);
    if (rise % factor != 0)
      return std::nullopt;
    // The quotient is first + rise / factor, at most 1 away from that of the size.
    const int64_t steps = rise / factor + first - of.size[i] / divisor;
    if (steps < 0 || steps > 1)
      return std::nullopt;
    const int64_t from = divisor * steps - of.size[i] % divisor;
    least = std::max(least, from);
    most = std::min(most, from + divisor - 1);
  }
  return least <= most ? std::optional(least) : std::nullopt;
}

/// A quotient by a divisor, or that plus or minus the size: the number of strided windows of a size, its padding to a
/// multiple, and the remainder.
static std::optional<QuotientForm> quotientBy(int64_t divisor, const Sized &of) {
  std::optional<QuotientForm> found;
  const int64_t run = of.size[of.large] - of.size[of.small], steps = run / divisor;
  for (int64_t sign : {0, 1, -1}) {
    // From the smallest size to the largest, a quotient increases by one of two numbers.
    const int64_t rise = of.series[of.large] - of.series[of.small] + sign * run;
    if (rise == 0)
      continue;
    for (int64_t by : {steps, steps + 1}) {
      if (by == 0 || rise % by != 0)
        continue;
      const int64_t factor = rise / by, least = of.size[of.small] / divisor;
      for (int64_t first : {least, least + 1}) {
        const std::optional<int64_t> shift = leastShift(of, sign, divisor, factor, first);
        int64_t part, addend;
        if (shift && (!found || *shift < found->shift) && !__builtin_mul_overflow(factor, first, &part) &&
            !__builtin_sub_overflow(of.series[of.small] + sign * of.size[of.small], part, &addend))
          found = {sign, *shift, factor, addend};
      }
    }
  }
  return found;
}

/// All quotients of one leaf by a constant that have these values: the first one, and the period of all.
static std::optional<Fitted> fitQuotient(ArrayRef<int64_t> series, ArrayRef<Leaf> leaves) {
  constexpr int64_t most = INT64_MAX / 8; // no sum below overflows
  const auto isSmall = [&](int64_t value) { return value >= -most && value <= most; };
  if (!llvm::all_of(series, isSmall))
    return std::nullopt;
  std::optional<Fitted> found;
  for (const Leaf &leaf : leaves) {
    const ArrayRef<int64_t> size = leaf.series;
    if (!llvm::all_of(size, [&](int64_t value) { return value >= 0 && value <= most; }))
      continue;
    const auto [small, large] = std::minmax_element(size.begin(), size.end());
    const Sized of{series, size, static_cast<size_t>(small - size.begin()), static_cast<size_t>(large - size.begin())};
    for (int64_t divisor = 2; divisor <= largestDivisor; ++divisor) {
      const std::optional<QuotientForm> form = quotientBy(divisor, of);
      if (!form)
        continue;
      Period period = leaf.period.over(divisor).times(form->factor);
      if (form->sign)
        period = period.with(leaf.period);
      if (found) {
        found->period = found->period.with(period);
        continue;
      }
      const Code quotient = pair(Term::Quotient, plus(leaf.code, form->shift), constant(divisor));
      Code code = plus(multiple(form->factor, quotient), form->addend);
      found = {form->sign ? pair(Term::Sum, code, multiple(-form->sign, leaf.code)) : std::move(code), period};
    }
  }
  return found;
}

std::optional<Fitted> mlir::tt::ttnn::fit(ArrayRef<int64_t> series, ArrayRef<Leaf> leaves) {
  for (auto form : {fitLine, fitProduct, fitSum, fitProductOfAll})
    if (std::optional<Fitted> found = form(series, leaves)) {
      // A quotient of a size can have the values of a strided dimension. If none does, the dimension stays as it is.
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
