//===- WeightOrdersTest.cpp - orders of weights that are kept --------------===//
// SPDX-License-Identifier: Apache-2.0

#include "core/orders.h"
#include "tt/ttnn/orders.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <vector>

using namespace tt::ttnn;

namespace {

constexpr size_t mega = size_t(1) << 20;

std::shared_ptr<std::byte> takeIn(WeightOrders &orders, size_t bytes) {
  const WeightOrders::Scope scope(&orders);
  auto order = WeightOrders::takeCurrent(bytes);
  std::memset(order.get(), 1, bytes);
  return order;
}

} // namespace

TEST(WeightOrders, AreOfTheInnermostScope) {
  const auto before = weightOrderCounts();
  EXPECT_NE(WeightOrders::takeCurrent(mega), nullptr) << "where there is no scope";
  EXPECT_EQ(weightOrderCounts().made, before.made + 1);
  WeightOrders outer, inner;
  const WeightOrders::Scope scope(&outer);
  {
    const WeightOrders::Scope within(&inner);
    EXPECT_NE(WeightOrders::takeCurrent(mega), nullptr);
    const WeightOrders::Scope none(nullptr);
    EXPECT_NE(WeightOrders::takeCurrent(mega), nullptr);
  }
  EXPECT_EQ(inner.idleBytes(), mega);
  EXPECT_EQ(outer.idleBytes(), 0u);
  EXPECT_NE(WeightOrders::takeCurrent(2 * mega), nullptr);
  EXPECT_EQ(outer.idleBytes(), 2 * mega);
}

TEST(WeightOrders, StayWhenNobodyUsesThemUpTo64MiB) {
  WeightOrders orders;
  const auto used = takeIn(orders, 10 * mega);
  orders.settle();
  EXPECT_EQ(orders.idleBytes(), 0u);
  for (int i = 0; i < 10; ++i)
    takeIn(orders, 10 * mega);
  EXPECT_EQ(orders.idleBytes(), 100 * mega);
  orders.settle();
  EXPECT_EQ(orders.idleBytes(), 60 * mega);
  EXPECT_EQ(used.use_count(), 2) << "what is used stays as well";
}

TEST(WeightOrders, LieInMemoryThatIsThereAfterTheFirstPlan) {
  std::shared_ptr<std::byte> last;
  {
    WeightOrders orders;
    const auto first = takeIn(orders, 8 * mega);
    orders.settle();
    std::vector<std::shared_ptr<std::byte>> pieces;
    for (int i = 0; i < 8; ++i)
      pieces.push_back(takeIn(orders, mega));
    std::set<std::byte *> places;
    for (const auto &piece : pieces)
      places.insert(piece.get());
    EXPECT_EQ(*places.rbegin() - *places.begin(), static_cast<ptrdiff_t>(7 * mega)) << "they lie side by side";
    const auto beyond = takeIn(orders, mega);
    EXPECT_TRUE(beyond.get() < *places.begin() || beyond.get() > *places.rbegin());
    last = pieces.back();
  }
  std::memset(last.get(), 2, mega); // its memory is there as long as it
}
