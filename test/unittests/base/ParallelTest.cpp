//===- ParallelTest.cpp - loops over all threads --------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "tt/parallel.h"
#include "tt/crowd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace tt;
using namespace std::chrono_literals;

TEST(Crowd, KeepsLoopsOnTheCallingThreadAfterLateStarts) {
  Crowd crowd;
  Crowd::Clock::time_point now{1h};
  EXPECT_FALSE(crowd.isNear(now));
  crowd.observe(now, now + 900us); // the time that it takes to wake a thread
  EXPECT_FALSE(crowd.isNear(now + 900us));
  for (const auto pause : {4ms, 8ms, 16ms, 32ms, 64ms, 128ms, 128ms}) {
    crowd.observe(now, now + 3ms);
    now += 3ms;
    EXPECT_TRUE(crowd.isNear(now));
    EXPECT_TRUE(crowd.isNear(now + pause - 1us));
    EXPECT_FALSE(crowd.isNear(now + pause));
    now += pause;
  }
  crowd.observe(now, now + 10us);
  EXPECT_FALSE(crowd.isNear(now + 10us));
  crowd.observe(now, now + 2ms); // as at first
  EXPECT_TRUE(crowd.isNear(now + 5ms));
  EXPECT_FALSE(crowd.isNear(now + 6ms));
}

/// Each index once, whoever holds the cores: twice as many threads run as there are.
TEST(Parallel, VisitsEachIndexOnceOnABusyMachine) {
  std::atomic<bool> ends{false};
  std::vector<std::thread> others;
  for (unsigned i = 0; i < 2 * std::max(1u, std::thread::hardware_concurrency()); ++i)
    others.emplace_back([&] {
      while (!ends.load(std::memory_order_relaxed)) {
      }
    });
  std::vector<int> visits(1000);
  const auto end = Crowd::Clock::now() + 100ms;
  int loops = 0;
  for (; loops < 10 || Crowd::Clock::now() < end; ++loops)
    parallelFor(static_cast<int64_t>(visits.size()), 1, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i)
        ++visits[static_cast<size_t>(i)];
    });
  ends = true;
  for (std::thread &other : others)
    other.join();
  EXPECT_TRUE(std::ranges::all_of(visits, [&](int count) { return count == loops; }));
}

TEST(Parallel, ThrowsWhatAPieceThrows) {
  for (int i = 0; i < 100; ++i)
    EXPECT_THROW(parallelFor(8, 1, [](int64_t, int64_t) { throw std::runtime_error("of a piece"); }),
                 std::runtime_error);
}
