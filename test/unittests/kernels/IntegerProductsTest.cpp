//===- IntegerProductsTest.cpp - products of integers of few bits -------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Values of 8, 9, 16 and 32 bits, in every type that holds them, against sums in
// 64 bits: results are equal modulo 2^32.
//
//===----------------------------------------------------------------------===//

#include "OpTest.h"

using namespace tt;
using namespace tt::ttnn;
using namespace tt::ttnn::test;

namespace {

/// A type, and the range of the values in it.
struct Kind {
  DataType type;
  int64_t low, high;
};
constexpr int64_t mostI32 = std::numeric_limits<int32_t>::max(), mostU32 = std::numeric_limits<uint32_t>::max();
const Kind kinds[] = {
    {DataType::UInt8, 0, 255},                 // as it is
    {DataType::Int32, -128, 127},              // bytes with a sign
    {DataType::Int32, 0, 255},                 // and without
    {DataType::Int32, -200, 55},               // less a zero point
    {DataType::Int32, -255, 255},              // 9 bits
    {DataType::Int32, -32768, 32767},          // 16 bits
    {DataType::UInt16, 0, 65535},              //
    {DataType::Int32, 100000, 165535},         // far from 0
    {DataType::Int32, -mostI32 - 1, mostI32},  // any
    {DataType::UInt32, mostU32 - 200, mostU32} // whose words are close to 0
};

Value drawn(const Kind &kind, Shape shape, uint32_t seed) {
  Value value(kind.type, std::move(shape));
  std::mt19937 generator(seed);
  std::uniform_int_distribution<int64_t> draw(kind.low, kind.high);
  for (size_t i = 0; i < value.size(); ++i)
    // Both ends are there, in any column.
    value.set(i, static_cast<double>(i % 5 == 0 ? kind.low : i % 5 == 1 ? kind.high : draw(generator)));
  return value;
}

std::vector<int64_t> integersOf(const Value &value) {
  const std::vector<double> values = value.values();
  return {values.begin(), values.end()};
}

struct Sizes {
  int64_t batchA, batchB, m, n, k;
};

void expectProduct(const Kind &leftKind, const Kind &rightKind, const Sizes &s, int flags) {
  const bool ta = flags & 1, tb = flags & 2, constant = flags & 4;
  const int64_t batch = std::max(s.batchA, s.batchB);
  const Value a = drawn(leftKind, {s.batchA, ta ? s.k : s.m, ta ? s.m : s.k}, 1);
  const Value b = drawn(rightKind, {s.batchB, tb ? s.n : s.k, tb ? s.k : s.n}, 2);
  const Value found = run("ttnn.matmul", {&a, &b}, DataType::Int32, {batch, s.m, s.n},
                          {{"transpose_a", flag(ta)}, {"transpose_b", flag(tb)}}, {false, constant});
  const std::vector<int64_t> x = integersOf(a), y = integersOf(b), made = integersOf(found);
  for (int64_t g = 0; g < batch; ++g)
    for (int64_t i = 0; i < s.m; ++i)
      for (int64_t j = 0; j < s.n; ++j) {
        uint64_t sum = 0;
        const int64_t *left = x.data() + (s.batchA > 1 ? g : 0) * s.m * s.k + (ta ? i : i * s.k);
        const int64_t *right = y.data() + (s.batchB > 1 ? g : 0) * s.k * s.n + (tb ? j * s.k : j);
        for (int64_t l = 0; l < s.k; ++l)
          sum += static_cast<uint64_t>(left[ta ? l * s.m : l]) * static_cast<uint64_t>(right[tb ? l : l * s.n]);
        ASSERT_EQ(made[static_cast<size_t>((g * s.m + i) * s.n + j)], static_cast<int32_t>(sum))
            << "at " << g << ", " << i << ", " << j << "; left " << leftKind.low << " to " << leftKind.high
            << ", right " << rightKind.low << " to " << rightKind.high << ", flags " << flags;
      }
}

TEST(IntegerProducts, AreExactOfAllRanges) {
  for (const Kind &left : kinds)
    for (const Kind &right : kinds)
      for (int flags = 0; flags < 8; ++flags)
        expectProduct(left, right, {1, 1, 13, 70, 41}, flags);
}

TEST(IntegerProducts, AreExactOfAllSizes) {
  const Kind byte = {DataType::UInt8, 0, 255}, sign = {DataType::Int32, -128, 127}, zero = {DataType::Int32, -77, 178};
  for (const Sizes &s : {Sizes{1, 1, 1, 64, 600}, Sizes{1, 1, 1, 300, 1111}, Sizes{1, 1, 2, 65, 300},
                         Sizes{1, 1, 7, 16, 513}, Sizes{1, 1, 260, 17, 34}, Sizes{1, 1, 9, 1, 4000},
                         Sizes{3, 3, 11, 40, 42}, Sizes{3, 1, 11, 40, 42}, Sizes{1, 3, 11, 40, 42}})
    for (const Kind &left : {byte, sign, zero})
      for (const Kind &right : {byte, sign, zero})
        for (int flags = 0; flags < 8; ++flags)
          expectProduct(left, right, s, flags);
}

TEST(IntegerProducts, SumsWrapAround) {
  // 70000 * 255 * 127 > 2^31, of pairs that saturating instructions would cut.
  const Value a(DataType::UInt8, {2, 70000}, std::vector<double>(140000, 255));
  const Value b(DataType::Int32, {70000, 3}, std::vector<double>(210000, 127));
  const auto sum = static_cast<int32_t>(static_cast<uint32_t>(int64_t(70000) * 255 * 127));
  for (bool constant : {false, true})
    expectEqual(run("ttnn.matmul", {&a, &b}, DataType::Int32, {2, 3}, {}, {false, constant}),
                std::vector<double>(6, sum));
}

TEST(IntegerProducts, KeepNoSecondCopyOfConstants) {
  const Value a = drawn({DataType::Int32, -100, 100}, {40, 64}, 1),
              b = drawn({DataType::Int32, -128, 127}, {64, 80}, 2);
  std::vector<Value> outs = {Value(DataType::Int32, {40, 80})};
  const auto kernel = kernelFor("ttnn.matmul", {&a, &b}, outs, {}, {false, true});
  EXPECT_FALSE(kernel->reads(1));
}

} // namespace
