//===- ExactLanesTest.cpp - the vector unit on eight values at once ---------===//
// SPDX-License-Identifier: Apache-2.0
//
// Most sums of kernels/exact/lanes.h are the host's fused ones: all must share
// every bit with the arithmetic of one value after another.
//
//===----------------------------------------------------------------------===//

#include "kernels/exact/lanes.h"

#include <algorithm>
#include <bit>
#include <gtest/gtest.h>
#include <random>

using namespace tt;
using namespace tt::ttnn::exact;

namespace {

/// What the third term is next to the product of the two others.
enum class Term { Any, Near, Cancels, NearlyCancels, None };

class ExactLanes : public testing::TestWithParam<Term> {
protected:
  std::mt19937 random{11};
  int between(int low, int high) { return low + static_cast<int>(random() % static_cast<uint32_t>(high - low + 1)); }
  /// Any digits, or few of them, which multiply to no more than f32 holds.
  float value(int exponent) {
    const uint32_t digits = random() & (random() % 2 ? 0x807fffff : 0x807ff000);
    return std::bit_cast<float>(digits | static_cast<uint32_t>(exponent) << 23);
  }
};

TEST_P(ExactLanes, MultiplyAndAddAsOneValue) {
  int64_t fusedLanes = 0;
  for (int round = 0; round < 40000; ++round) {
    I x, y, z;
    for (int64_t i = 0; i < lanes; ++i) {
      const bool isEnd = random() % 64 == 0; // of the range: zeros, denormals, Inf and NaN among others
      const float a = value(isEnd ? between(0, 1) * 255 : between(90, 160)), b = value(between(90, 160));
      const float product = a * b;
      const int exponent = static_cast<int>(std::bit_cast<uint32_t>(product) << 1 >> 24);
      float c = 0.0f;
      switch (GetParam()) {
      case Term::Any:
        c = value(between(0, 255));
        break;
      case Term::Near:
        c = value(std::clamp(exponent + between(-30, 30), 0, 254));
        break;
      case Term::Cancels:
        c = -product;
        break;
      case Term::NearlyCancels:
        c = std::bit_cast<float>(std::bit_cast<uint32_t>(-product) +
                                 static_cast<uint32_t>(between(-2, 2)) * (1u << between(0, 24)));
        break;
      case Term::None:
        c = random() % 2 ? 0.0f : -0.0f;
        break;
      }
      x[i] = std::bit_cast<int32_t>(a), y[i] = std::bit_cast<int32_t>(b), z[i] = std::bit_cast<int32_t>(c);
    }
    const I found = multiplyAdd(x, y, z);
    for (int64_t i = 0; i < lanes; ++i) {
      const auto at = [i](I values) { return static_cast<uint32_t>(values[i]); };
      ASSERT_EQ(at(found), sim::exact::multiplyAdd(at(x), at(y), at(z)))
          << std::hex << at(x) << " * " << at(y) << " + " << at(z);
    }
    const Fused fused = fusedMultiplyAdd(x, y, z); // also next to lanes that need integer steps
    for (int64_t i = 0; i < lanes; ++i)
      if (!fused.differs[i]) {
        ++fusedLanes;
        ASSERT_EQ(fused.result[i], found[i]) << std::hex << x[i] << " * " << y[i] << " + " << z[i];
      }
  }
  if (GetParam() == Term::Near)
    EXPECT_GT(fusedLanes, 0);
}
INSTANTIATE_TEST_SUITE_P(All, ExactLanes,
                         testing::Values(Term::Any, Term::Near, Term::Cancels, Term::NearlyCancels, Term::None));

} // namespace
