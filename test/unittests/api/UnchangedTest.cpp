//===- UnchangedTest.cpp - weights that calls find unchanged --------------===//
// SPDX-License-Identifier: Apache-2.0

#include <ttnn/ttnn.hpp>

#include "api/unchanged.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace tt;
using tt::ttnn::DataType;
using tt::ttnn::Tensor;

namespace {

using Floats = std::vector<float>;

constexpr int64_t depth = 64, columns = 130;

Floats numbers(size_t count, int step) {
  Floats result(count);
  for (size_t i = 0; i < count; ++i)
    result[i] = static_cast<float>(static_cast<int>(i) * step % 17 - 8);
  return result;
}
Tensor tensor(int64_t rows, int64_t width, int step, DataType type) {
  static const auto device = ttnn::open_device(); // values on the host may be written at any time
  return ttnn::to_device(ttnn::from_vector(numbers(static_cast<size_t>(rows * width), step), {rows, width}, type),
                         device);
}
/// Whole numbers, which every unit sums exactly.
Floats product(const Floats &a, const Floats &b) {
  const auto rows = static_cast<int64_t>(a.size()) / depth;
  Floats result(static_cast<size_t>(rows * columns));
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t k = 0; k < depth; ++k)
        result[static_cast<size_t>(i * columns + j)] +=
            a[static_cast<size_t>(i * depth + k)] * b[static_cast<size_t>(k * columns + j)];
  return result;
}
Floats multiplied(const Tensor &a, const Tensor &b) {
  const auto given = ttnn::matmul(a, b, false, false, {}, {}, {}, {}, DataType::FLOAT32);
  return ttnn::to_vector(given);
}

class Unchanged : public ::testing::TestWithParam<DataType> {};

TEST_P(Unchanged, FormsAreKeptUntilValuesAreWrittenOrGo) {
  ttnn::clearKernelCache();
  const size_t start = ttnn::unchangedBytes();
  const auto a = tensor(20, depth, 3, GetParam()), other = tensor(9, depth, 5, GetParam());
  auto weight = tensor(depth, columns, 7, GetParam());
  const Floats before = product(ttnn::to_vector(a), ttnn::to_vector(weight));
  for (int call = 0; call < 2; ++call)
    EXPECT_EQ(multiplied(a, weight), before);
  EXPECT_EQ(ttnn::unchangedBytes(), start); // it may be used once or twice
  EXPECT_EQ(multiplied(a, weight), before);
  const size_t kept = ttnn::unchangedBytes();
  EXPECT_GE(kept - start, static_cast<size_t>(depth * columns * 2));
  EXPECT_EQ(multiplied(a, weight), before);
  EXPECT_EQ(multiplied(other, weight), product(ttnn::to_vector(other), ttnn::to_vector(weight)));
  EXPECT_EQ(ttnn::unchangedBytes(), kept); // kernels for other sizes share the form
  EXPECT_FALSE(weight.constant());

  const auto next = tensor(depth, columns, 11, GetParam());
  std::memcpy(weight.data(), next.data(), weight.bytes());
  weight.markWritten();
  const Floats after = product(ttnn::to_vector(a), ttnn::to_vector(next));
  EXPECT_NE(after, before);
  // The form was dropped early: these values wait for eight times as many calls.
  for (int call = 0; call < 16; ++call) {
    EXPECT_EQ(multiplied(a, weight), after);
    EXPECT_EQ(ttnn::unchangedBytes(), start);
  }
  EXPECT_EQ(multiplied(a, weight), after);
  EXPECT_EQ(ttnn::unchangedBytes(), kept);
  weight.markUntracked(); // somebody else may write it
  std::memcpy(weight.data(), ttnn::relu(next).data(), weight.bytes());
  EXPECT_EQ(multiplied(a, weight), product(ttnn::to_vector(a), ttnn::to_vector(ttnn::relu(next))));
  ttnn::deallocate(weight);
  EXPECT_EQ(ttnn::unchangedBytes(), start);
}

TEST_P(Unchanged, FormsOfValuesThatAreWrittenEveryFewCallsAreMadeOnce) {
  ttnn::clearKernelCache();
  const size_t start = ttnn::unchangedBytes();
  const auto a = tensor(20, depth, 3, GetParam());
  auto weight = tensor(depth, columns, 7, GetParam());
  const std::byte *const at = weight.data();
  int formed = 0;
  for (int turn = 0; turn < 12; ++turn) {
    const auto next = tensor(depth, columns, 5 + turn, GetParam());
    weight.unshare(); // what every writer calls: a kept form shares no values, so nothing is copied
    ASSERT_EQ(weight.data(), at);
    std::memcpy(weight.data(), next.data(), weight.bytes());
    const Floats expected = product(ttnn::to_vector(a), ttnn::to_vector(next));
    for (int call = 0; call < 6; ++call)
      ASSERT_EQ(multiplied(a, weight), expected);
    formed += ttnn::unchangedBytes() > start;
  }
  EXPECT_EQ(formed, 1);
}

TEST_P(Unchanged, FormsThatWereWorthItAreMadeAgain) {
  ttnn::clearKernelCache();
  const size_t start = ttnn::unchangedBytes();
  const auto a = tensor(20, depth, 3, GetParam());
  auto weight = tensor(depth, columns, 7, GetParam());
  for (int turn = 0; turn < 3; ++turn) {
    weight.markWritten();
    for (int call = 0; call < 3; ++call)
      multiplied(a, weight);
    EXPECT_GT(ttnn::unchangedBytes(), start);
    for (int call = 0; call < 32; ++call)
      multiplied(a, weight);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Unchanged, ::testing::Values(DataType::FLOAT32, DataType::BFLOAT16),
                         [](const auto &info) { return info.param == DataType::FLOAT32 ? "F32" : "Bf16"; });

TEST(UnchangedViews, OfOneTensorHaveFormsOfTheirOwn) {
  ttnn::clearKernelCache();
  const auto all = tensor(2 * depth, columns, 7, DataType::FLOAT32), a = tensor(20, depth, 3, DataType::FLOAT32);
  const auto first = ttnn::slice(all, {0, 0}, {depth, columns}),
             second = ttnn::slice(all, {depth, 0}, {2 * depth, columns});
  const Floats one = product(ttnn::to_vector(a), ttnn::to_vector(first));
  const Floats two = product(ttnn::to_vector(a), ttnn::to_vector(second));
  ASSERT_NE(one, two);
  for (int call = 0; call < 5; ++call) {
    EXPECT_EQ(multiplied(a, first), one);
    EXPECT_EQ(multiplied(a, second), two);
  }
}

TEST(UnchangedLimit, IsThatOfTheProcess) {
  const ttnn::Unchanged none;
  EXPECT_TRUE(none.affordsForm(1));
  EXPECT_FALSE(none.affordsForm(size_t(1) << 40));
  EXPECT_FALSE(none.affordsForm(~size_t(0)));
}

} // namespace
