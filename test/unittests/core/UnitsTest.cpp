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
