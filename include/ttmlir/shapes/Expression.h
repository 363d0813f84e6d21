//===- Expression.h - numbers that depend on sizes --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The dependence of a number of a program on the sizes that the program leaves open, and on the dimensions of an op's
// operands. The compiler writes expressions into files; the runtime evaluates them. Standard C++ only.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_SHAPES_EXPRESSION_H
#define TTMLIR_SHAPES_EXPRESSION_H

#include "ttmlir/shapes/Sizes.h"

#include <optional>
#include <string>
#include <string_view>

namespace tt::shapes {

/// A part of an expression, which is a list of numbers: a term, then its operands.
enum class Term : int64_t {
  Constant = 0,  // a number
  Size = 1,      // the number of an open size
  Dimension = 2, // an operand, and one of its dimensions
  Sum = 3,       // two expressions
  Product = 4,   // two expressions
  Quotient = 5,  // two expressions; rounded down, of a divisor above 0
};

using Code = std::vector<int64_t>;
using CodeView = std::span<const int64_t>;

/// Longer ones are refused.
inline constexpr size_t maxCode = 64;

/// The values that expressions are evaluated with. An absent operand has no dimensions.
struct Known {
  View sizes;
  std::span<const View> operands;
};

/// The value; nothing if the code is invalid, names an unknown size or operand, or has a value beyond 64 bits.
std::optional<int64_t> evaluate(CodeView code, const Known &known);
/// The only open size on which the expression depends, if there is one and the expression has no dimensions of
/// operands.
std::optional<size_t> onlySize(CodeView code);
/// The value of that size, from `least` to `most`, for which the expression has this value. The expression does not
/// decrease as the size grows.
std::optional<int64_t> solve(CodeView code, int64_t value, int64_t least, int64_t most);
/// "4*batch + 1"; dimensions of operands are "operand 0 [1]". For messages.
std::string toText(CodeView code, std::span<const std::string_view> names);

} // namespace tt::shapes

#endif // TTMLIR_SHAPES_EXPRESSION_H
