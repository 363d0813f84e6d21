//===- MathTest.cpp - accuracy of the elementary functions ------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Every op is compared with libm in double (long double where that rounds to
// f32 and could disagree) over f32 bit patterns spread over the whole range.
//
//===----------------------------------------------------------------------===//

#include "OpTest.h"
#include "core/scalars.h"
#include "ttmlir/scalars/Scalars.h"

#include <algorithm>
#include <cstdio>
#include <optional>

using namespace tt;
using namespace tt::ttnn;
using namespace tt::ttnn::test;

namespace {

struct Row {
  std::string_view op;
  double (*reference)(double); // nullptr: the table's function in f64, which is libm's
  double ulps;                 // the largest error allowed, in units of the last place of the exact result
  float normal = 0;            // results below this magnitude are compared absolutely with it as unit
};

double referenceGelu(double x) { return x < -20 ? x * 0.0 : 0.5 * x * std::erfc(-x * M_SQRT1_2); }
double referenceMish(double x) {
  const double u = std::exp(std::min(x, 40.0));
  return x < -200 ? x * 0.0 : x * (u * (u + 2) / (u * (u + 2) + 2));
}

// Functions that are exact, that have no function in f64, or whose error is larger than that of one rounding.
const Row rows[] = {
    {"ceil", std::ceil, 0},
    {"exp", nullptr, 1.0},
    {"floor", std::floor, 0},
    {"gelu", referenceGelu, 5.0, 1e-36f},
    {"mish", referenceMish, 0.51, 1e-37f},
    {"reciprocal", [](double x) { return 1 / x; }, 0.5},
    {"rsqrt", nullptr, 1.5},
    {"sigmoid", nullptr, 2.3, 1.2e-38f},
    {"silu", [](double x) { return x / (1 + std::exp(-x)); }, 2.8, 1e-36f},
    {"sqrt", std::sqrt, 0.5},
    {"tanh", nullptr, 1.5},
};

/// The row of a function that is approximated, or has a row above.
std::optional<Row> rowOf(const scalars::Function &function) {
  constexpr std::string_view dialect = "ttnn.";
  if (!function.name.starts_with(dialect) || function.operands != 1 || !function.isOfNumbers || !function.f)
    return std::nullopt;
  const std::string_view name = function.name.substr(dialect.size());
  const auto *row = std::ranges::find(rows, name, &Row::op);
  if (row != std::end(rows))
    return *row;
  return function.isExact || !function.d ? std::nullopt : std::optional(Row{name, nullptr, 0.51});
}

std::vector<Row> approximatedRows() {
  std::vector<Row> found;
  for (const scalars::Function &function : scalars::functions())
    if (const std::optional<Row> row = rowOf(function))
      found.push_back(*row);
  return found;
}

/// The distance of neighbouring f32 at |x|.
double ulpOf(double x) {
  int exponent;
  std::frexp(x, &exponent);
  return std::ldexp(1.0, std::max(exponent - 24, -149));
}

class Accuracy : public testing::TestWithParam<Row> {};

TEST_P(Accuracy, OverAllMagnitudes) {
  const Row &row = GetParam();
  constexpr int64_t n = 1 << 20;
  Value x(DataType::Float32, {n});
  for (int64_t i = 0; i < n; ++i) // 4093 is prime: all exponents, mantissas spread
    x.at<float>(static_cast<size_t>(i)) = std::bit_cast<float>(static_cast<uint32_t>(i * 4093));
  const Value y = run("ttnn." + std::string(row.op), {&x}, DataType::Float32, {n});
  const scalars::Function &function = *scalars::find(row.op);
  double worst = 0;
  float where = 0;
  for (size_t i = 0; i < n; ++i) {
    const double argument = x.at<float>(i);
    const double exact = row.reference ? row.reference(argument) : function.d(&argument, {}), found = y.at<float>(i);
    const auto rounded = static_cast<float>(exact);
    if (std::isnan(exact) || std::isinf(rounded)) {
      // A result that rounds to Inf may also come out as the largest f32.
      const bool same = std::isnan(exact) ? std::isnan(found) : found == rounded || std::fabs(found) > 3.4e38;
      ASSERT_TRUE(same) << row.op << "(" << x.at<float>(i) << ") = " << found << ", expected " << exact;
      continue;
    }
    if (exact == 0)
      ASSERT_EQ(std::signbit(exact), std::signbit(found)) << row.op << "(" << x.at<float>(i) << ")";
    const double error = std::fabs(exact - found) / ulpOf(std::max<double>(std::fabs(exact), row.normal));
    if (error > worst || std::isnan(error)) {
      worst = error;
      where = x.at<float>(i);
    }
  }
  std::printf("%s: %.2f ulp\n", std::string(row.op).c_str(), worst);
  EXPECT_LE(worst, row.ulps) << row.op << "(" << where << ")";
}
INSTANTIATE_TEST_SUITE_P(Math, Accuracy, testing::ValuesIn(approximatedRows()),
                         [](const auto &info) { return std::string(info.param.op); });

/// Results in bf16 may come from approximations with fewer steps: their errors are those of the rounding.
TEST_P(Accuracy, InBf16OverAllOperands) {
  const Row &row = GetParam();
  Value x(DataType::BFloat16, {65536});
  for (uint32_t i = 0; i < 65536; ++i)
    x.at<uint16_t>(i) = static_cast<uint16_t>(i);
  const Value y = run("ttnn." + std::string(row.op), {&x}, DataType::BFloat16, {65536});
  const scalars::Function &function = *scalars::find(row.op);
  // Half a step above the largest bf16, results round to Inf.
  const double most = 0x1.ffp127;
  for (size_t i = 0; i < x.size(); ++i) {
    const double argument = x.get(i), found = y.get(i);
    const double exact = row.reference ? row.reference(argument) : function.d(&argument, {});
    SCOPED_TRACE(testing::Message() << row.op << "(" << argument << ") = " << found << ", expected " << exact);
    if (std::isnan(exact) || std::isnan(found)) {
      ASSERT_EQ(std::isnan(exact), std::isnan(found));
      continue;
    }
    if (std::isinf(found)) {
      ASSERT_TRUE(std::fabs(exact) >= most * (1 - 1e-5) && std::signbit(exact) == std::signbit(found));
      continue;
    }
    ASSERT_LT(std::fabs(exact), most * (1 + 1e-5));
    if (exact == 0)
      ASSERT_EQ(std::signbit(exact), std::signbit(found));
    const double step = ulpOf(std::max<double>(std::fabs(exact), row.normal)) * 65536;
    ASSERT_LT(std::fabs(exact - found), 0.51 * step);
  }
}

double torchRemainder(double x, double y) {
  const double r = std::fmod(x, y);
  return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

struct BinaryRow {
  const char *op;
  double (*reference)(double, double);
};
class BinaryAccuracy : public testing::TestWithParam<BinaryRow> {};

TEST_P(BinaryAccuracy, SpecialsAndRandomPairs) {
  const BinaryRow &row = GetParam();
  std::vector<double> specials = {0.0, -0.0,  1,      -1,     2,       -2,   0.5, -0.5, 3,     -3,    Inf,      -Inf,
                                  NaN, 1e-40, -1e-40, 3.4e38, -3.4e38, 1e10, 7.5, -7.5, 1e-20, 65537, 1.0000001};
  std::vector<double> a, b;
  for (double x : specials)
    for (double y : specials) {
      a.push_back(x);
      b.push_back(y);
    }
  std::mt19937 generator(7);
  std::uniform_real_distribution<double> draw(-20, 20);
  for (int i = 0; i < 20000; ++i) {
    a.push_back(static_cast<float>(draw(generator)));
    b.push_back(static_cast<float>(draw(generator)));
  }
  const auto n = static_cast<int64_t>(a.size());
  const Value x(DataType::Float32, {n}, a), y(DataType::Float32, {n}, b);
  const Value z = run(std::string("ttnn.") + row.op, {&x, &y}, DataType::Float32, {n});
  for (size_t i = 0; i < a.size(); ++i) {
    const double exact = row.reference(x.get(i), y.get(i)), found = z.get(i);
    if (std::isnan(exact) || std::isinf(static_cast<float>(exact)))
      ASSERT_TRUE(std::isnan(exact) ? std::isnan(found) : found == static_cast<float>(exact))
          << row.op << "(" << x.get(i) << ", " << y.get(i) << ") = " << found << ", expected " << exact;
    else
      ASSERT_LE(std::fabs(found - exact), 0.51 * ulpOf(exact))
          << row.op << "(" << x.get(i) << ", " << y.get(i) << ") = " << found << ", expected " << exact;
  }
}
INSTANTIATE_TEST_SUITE_P(Math, BinaryAccuracy,
                         testing::Values(BinaryRow{"atan2", std::atan2}, BinaryRow{"pow_tensor", std::pow},
                                         BinaryRow{"remainder", torchRemainder}),
                         [](const auto &info) { return std::string(info.param.op); });

/// In any order of operands, and in vectors as well as in what is left of them.
TEST(Extremes, AreThoseOfIeee754) {
  const std::vector<double> specials = {0.0, -0.0, 1, -1, Inf, -Inf, NaN, 1e-40, -1e-40, 3.4e38, -2.5};
  std::vector<double> a, b;
  for (double x : specials)
    for (double y : specials) {
      a.push_back(x);
      b.push_back(y);
    }
  const auto n = static_cast<int64_t>(a.size());
  const Value x(DataType::Float32, {n}, a), y(DataType::Float32, {n}, b);
  const Value larger = run("ttnn.maximum", {&x, &y}, DataType::Float32, {n}),
              smaller = run("ttnn.minimum", {&x, &y}, DataType::Float32, {n}),
              positive = run("ttnn.relu", {&x}, DataType::Float32, {n});
  const auto isBelow = [](double x, double y) { return x < y || (x == y && std::signbit(x) && !std::signbit(y)); };
  const auto expectSame = [](double found, double expected, double x, double y) {
    ASSERT_TRUE(std::isnan(expected) ? std::isnan(found)
                                     : found == expected && std::signbit(found) == std::signbit(expected))
        << found << " of " << x << " and " << y << ", expected " << expected;
  };
  for (size_t i = 0; i < a.size(); ++i) {
    const double p = x.get(i), q = y.get(i);
    const bool isOrdered = !std::isnan(p) && !std::isnan(q);
    expectSame(larger.get(i), isOrdered ? isBelow(p, q) ? q : p : NaN, p, q);
    expectSame(smaller.get(i), isOrdered ? isBelow(p, q) ? p : q : NaN, p, q);
    expectSame(positive.get(i), isBelow(p, 0) ? 0 : p, p, 0);
  }
}

} // namespace
