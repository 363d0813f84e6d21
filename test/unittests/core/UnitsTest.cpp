//===- UnitsTest.cpp - vector and matrix units of the host -------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "tt/units.h"
#include "OpTest.h"

#include <cstdlib>

using namespace tt;
using namespace tt::ttnn;
using namespace tt::ttnn::test;

namespace {

TEST(Units, AreTheCapOrAllThatThereIs) {
  const char *cap = std::getenv("TTRT_UNITS");
  EXPECT_EQ(toString(units()), cap && *cap ? cap : toString(presentUnits()));
#if defined(__AVX2__)
  EXPECT_GE(presentUnits(), Units::AVX2);
#endif
}

TEST(Units, ProductsOfBf16ReadSubnormalNumbersAsZero) {
  // As their instructions do; the other units keep them.
  const bool flushes = units() >= Units::AVX512_BF16;
  const Value small(DataType::BFloat16, {64, 64}, std::vector<double>(4096, 0x1p-130));
  const Value normal(DataType::BFloat16, {64, 64}, std::vector<double>(4096, 0x1p-70));
  const Value one(DataType::BFloat16, {64, 64}, std::vector<double>(4096, 1.0));
  const Value ofSmall = run("ttnn.matmul", {&small, &one}, DataType::Float32, {64, 64});
  const Value product = run("ttnn.matmul", {&normal, &normal}, DataType::Float32, {64, 64});
  for (size_t i = 0; i < 4096; ++i) {
    ASSERT_EQ(ofSmall.get(i), flushes ? 0 : 0x1p-124);
    ASSERT_EQ(product.get(i), flushes ? 0 : 0x1p-134);
  }
}

TEST(UnitsDeathTest, AMistypedCapIsAnError) {
  // Each in a process of its own: the setting is read once.
  for (const char *wrong : {"avx1024", "AVX2", "amx "})
    EXPECT_EXIT(
        {
          setenv("TTRT_UNITS", wrong, 1);
          const Value x = random(DataType::Float32, {64, 64}, -1, 1);
          try {
            run("ttnn.matmul", {&x, &x}, DataType::Float32, {64, 64});
          } catch (const Error &error) {
            std::fputs(error.what(), stderr);
          }
          std::exit(0);
        },
        testing::ExitedWithCode(0),
        "TTRT_UNITS is '" + std::string(wrong) + "'; expected avx2, avx512, avx512_bf16 or amx");
}

} // namespace
