//===- ExpressionTest.cpp - numbers that depend on sizes ------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/shapes/Expression.h"

#include <gtest/gtest.h>

#include <random>

namespace tt::shapes {

namespace {

Code number(int64_t value) { return {static_cast<int64_t>(Term::Constant), value}; }
Code size(int64_t k) { return {static_cast<int64_t>(Term::Size), k}; }
Code dimension(int64_t operand, int64_t dim) { return {static_cast<int64_t>(Term::Dimension), operand, dim}; }
Code both(Term term, const Code &a, const Code &b) {
  Code code = {static_cast<int64_t>(term)};
  code.insert(code.end(), a.begin(), a.end());
  code.insert(code.end(), b.begin(), b.end());
  return code;
}
Code sum(const Code &a, const Code &b) { return both(Term::Sum, a, b); }
Code product(const Code &a, const Code &b) { return both(Term::Product, a, b); }
Code quotient(const Code &a, const Code &b) { return both(Term::Quotient, a, b); }

const Sizes sizes = {7, 12};
const Sizes shape = {3, 5};
const View operands[] = {shape, {}};
const Known known = {sizes, operands};

} // namespace

TEST(Expression, HasTheValueOfItsParts) {
  EXPECT_EQ(evaluate(number(-4), known), -4);
  EXPECT_EQ(evaluate(size(1), known), 12);
  EXPECT_EQ(evaluate(dimension(0, 1), known), 5);
  EXPECT_EQ(evaluate(sum(product(number(2), size(0)), number(1)), known), 15);
  EXPECT_EQ(evaluate(quotient(sum(size(1), number(31)), number(32)), known), 1);
  EXPECT_EQ(evaluate(quotient(number(-7), number(2)), known), -4);
  EXPECT_EQ(evaluate(quotient(number(7), number(2)), known), 3);
  EXPECT_EQ(evaluate(quotient(number(-8), number(2)), known), -4);
}

TEST(Expression, HasNoValueWherePartsHaveNone) {
  for (const Code &code :
       {Code{}, Code{0}, size(2), size(-1), dimension(0, 2), dimension(0, -1), dimension(1, 0), dimension(2, 0),
        Code{2, 0}, Code{9, 1}, Code{-1, 1}, Code{3, 0, 1}, sum(number(INT64_MAX), number(1)),
        product(number(INT64_MIN), number(-1)), quotient(number(1), number(0)), quotient(number(1), number(-1)),
        Code{0, 1, 0, 1}, Code(maxCode + 1, 3)})
    EXPECT_EQ(evaluate(code, known), std::nullopt);
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    Code code(random() % 12);
    for (int64_t &each : code)
      each = static_cast<int64_t>(random() % 8) - 1;
    evaluate(code, known); // ends, with a value or without
    onlySize(code);
    solve(code, 5, 0, 100);
    EXPECT_FALSE(toText(code, {}).empty());
  }
}

TEST(Expression, IsSolvedForItsOnlySize) {
  EXPECT_EQ(onlySize(sum(size(3), product(size(3), number(2)))), 3u);
  EXPECT_EQ(onlySize(sum(size(3), size(2))), std::nullopt);
  EXPECT_EQ(onlySize(dimension(0, 0)), std::nullopt);
  EXPECT_EQ(onlySize(number(1)), std::nullopt);
  const Code odd = sum(product(number(2), size(1)), number(1));
  EXPECT_EQ(solve(odd, 15, 2, 100), 7);
  EXPECT_EQ(solve(odd, 16, 2, 100), std::nullopt);
  EXPECT_EQ(solve(odd, 3, 2, 100), std::nullopt);
  EXPECT_EQ(solve(odd, 203, 2, 100), std::nullopt);
  EXPECT_EQ(solve(size(0), 0, 0, 0), 0);
  EXPECT_EQ(solve(quotient(size(0), number(4)), 3, 2, 100), 12) << "the first of several";
}

TEST(Expression, IsWrittenAsPeopleDo) {
  const std::string_view names[] = {"batch", "length"};
  EXPECT_EQ(toText(sum(product(number(4), size(0)), number(-1)), names), "4*batch - 1");
  EXPECT_EQ(toText(product(sum(size(0), size(1)), number(2)), names), "(batch + length)*2");
  EXPECT_EQ(toText(quotient(sum(size(1), number(31)), number(32)), names), "floor((length + 31)/32)");
  EXPECT_EQ(toText(dimension(2, 1), names), "operand 2 [1]");
  EXPECT_EQ(toText(size(9), names), "?");
}

} // namespace tt::shapes
