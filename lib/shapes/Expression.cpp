//===- Expression.cpp - numbers that depend on sizes ----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/shapes/Expression.h"

namespace tt::shapes {
namespace {

/// Visits the terms of a code from front to back. Visit receives a term with its operands.
class Parser {
public:
  explicit Parser(CodeView code) : rest(code) {}
  bool atEnd() const { return rest.empty(); }
  bool take(int64_t &number) {
    if (rest.empty())
      return false;
    number = rest.front();
    rest = rest.subspan(1);
    return true;
  }

private:
  CodeView rest;
};

bool isPair(Term term) { return term == Term::Sum || term == Term::Product || term == Term::Quotient; }

std::optional<int64_t> combine(Term term, int64_t a, int64_t b) {
  int64_t result;
  if (term == Term::Sum ? __builtin_add_overflow(a, b, &result) : __builtin_mul_overflow(a, b, &result))
    return std::nullopt;
  return result;
}

std::optional<int64_t> divide(int64_t a, int64_t b) {
  if (b <= 0)
    return std::nullopt;
  return a / b - (a % b < 0);
}

std::optional<int64_t> value(Parser &parser, const Known &known) {
  int64_t term, first, second;
  if (!parser.take(term))
    return std::nullopt;
  if (isPair(static_cast<Term>(term))) {
    const auto a = value(parser, known);
    const auto b = a ? value(parser, known) : std::nullopt;
    if (!b)
      return std::nullopt;
    return static_cast<Term>(term) == Term::Quotient ? divide(*a, *b) : combine(static_cast<Term>(term), *a, *b);
  }
  if (!parser.take(first))
    return std::nullopt;
  switch (static_cast<Term>(term)) {
  case Term::Constant:
    return first;
  case Term::Size:
    if (first < 0 || static_cast<size_t>(first) >= known.sizes.size())
      return std::nullopt;
    return known.sizes[static_cast<size_t>(first)];
  case Term::Dimension: {
    if (!parser.take(second) || first < 0 || static_cast<size_t>(first) >= known.operands.size())
      return std::nullopt;
    const View shape = known.operands[static_cast<size_t>(first)];
    if (second < 0 || static_cast<size_t>(second) >= shape.size())
      return std::nullopt;
    return shape[static_cast<size_t>(second)];
  }
  default:
    return std::nullopt;
  }
}

std::string text(Parser &parser, std::span<const std::string_view> names, bool inProduct) {
  int64_t term = 0, first = 0, second = 0;
  if (!parser.take(term))
    return "?";
  const auto kind = static_cast<Term>(term);
  if (isPair(kind)) {
    const bool isSum = kind == Term::Sum;
    const std::string a = text(parser, names, !isSum), b = text(parser, names, !isSum);
    if (kind == Term::Quotient)
      return "floor(" + a + "/" + b + ")";
    const std::string both = !isSum ? a + "*" + b : b.starts_with("-") ? a + " - " + b.substr(1) : a + " + " + b;
    return isSum && inProduct ? "(" + both + ")" : both;
  }
  if (!parser.take(first))
    return "?";
  if (kind == Term::Constant)
    return std::to_string(first);
  if (kind == Term::Size)
    return first >= 0 && static_cast<size_t>(first) < names.size() ? std::string(names[static_cast<size_t>(first)])
                                                                   : "?";
  return parser.take(second) ? "operand " + std::to_string(first) + " [" + std::to_string(second) + "]" : "?";
}

} // namespace

std::optional<int64_t> evaluate(CodeView code, const Known &known) {
  if (code.size() > maxCode)
    return std::nullopt;
  Parser parser(code);
  const auto result = value(parser, known);
  return parser.atEnd() ? result : std::nullopt;
}

std::optional<size_t> onlySize(CodeView code) {
  std::optional<size_t> found;
  Parser parser(code);
  for (int64_t term, argument; parser.take(term);) {
    const auto kind = static_cast<Term>(term);
    if (isPair(kind))
      continue;
    if (kind == Term::Dimension || !parser.take(argument))
      return std::nullopt;
    if (kind != Term::Size)
      continue;
    if (argument < 0 || (found && *found != static_cast<size_t>(argument)))
      return std::nullopt;
    found = static_cast<size_t>(argument);
  }
  return found;
}

std::optional<int64_t> solve(CodeView code, int64_t expected, int64_t least, int64_t most) {
  const auto size = onlySize(code);
  // The size is one of few in a file.
  if (!size || *size >= maxCode)
    return std::nullopt;
  Sizes sizes(*size + 1);
  const auto at = [&](int64_t candidate) {
    sizes[*size] = candidate;
    return evaluate(code, {sizes, {}});
  };
  while (least < most) {
    const int64_t middle = least + (most - least) / 2;
    const auto found = at(middle);
    // Values beyond 64 bits compare as greater.
    if (found && *found < expected)
      least = middle + 1;
    else
      most = middle;
  }
  return at(least) == expected ? std::optional(least) : std::nullopt;
}

std::string toText(CodeView code, std::span<const std::string_view> names) {
  Parser parser(code);
  return text(parser, names, false);
}

} // namespace tt::shapes
