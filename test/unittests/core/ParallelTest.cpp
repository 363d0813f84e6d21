//===- ParallelTest.cpp - loops over threads ------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "tt/parallel.h"
#include "base/serial.h"

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace tt;

namespace {

/// The pieces of a loop over 64 numbers.
int pieces() {
  std::atomic<int> count = 0, numbers = 0;
  parallelFor(64, 1, [&](int64_t begin, int64_t end) {
    ++count;
    numbers += static_cast<int>(end - begin);
  });
  EXPECT_EQ(numbers, 64);
  return count;
}

} // namespace

TEST(Parallel, SerialLoopsStayInTheThread) {
  setThreads(3);
  EXPECT_EQ(pieces(), 3);
  {
    const SerialLoops outer;
    EXPECT_EQ(pieces(), 1);
    {
      const SerialLoops inner;
      EXPECT_EQ(pieces(), 1);
    }
    EXPECT_EQ(pieces(), 1);
  }
  EXPECT_EQ(pieces(), 3);
  try {
    const SerialLoops serial;
    throw std::runtime_error("ends the scope");
  } catch (const std::runtime_error &) {
  }
  EXPECT_EQ(pieces(), 3);
  setThreads(0);
}

//===- Runs ---------------------------------------------------------------===//

namespace {

struct Took {
  std::set<int64_t> begins;            // of runs
  std::vector<std::atomic<int>> times; // that an item was taken
};

/// What the threads of a loop take; `wait` is called for each run before the next one is taken.
template <class Wait> Took taken(int64_t items, int64_t unit, int64_t slots, Wait wait) {
  Took result{{}, std::vector<std::atomic<int>>(static_cast<size_t>(items))};
  std::vector<std::atomic<int>> inSlot(static_cast<size_t>(slots));
  std::mutex mutex;
  parallelRuns(items, unit, slots, [&](int64_t slot, Runs &runs) {
    EXPECT_EQ(++inSlot.at(static_cast<size_t>(slot)), 1);
    for (ItemRange run; runs.take(run);) {
      EXPECT_GT(run.size(), 0);
      EXPECT_EQ(run.begin % unit, 0);
      EXPECT_TRUE(run.end % unit == 0 || run.end == items);
      for (int64_t i = run.begin; i < run.end; ++i)
        ++result.times[static_cast<size_t>(i)];
      {
        const std::lock_guard lock(mutex);
        result.begins.insert(run.begin);
      }
      wait(slot, run);
    }
    ItemRange none;
    EXPECT_FALSE(runs.take(none));
    --inSlot.at(static_cast<size_t>(slot));
  });
  for (const std::atomic<int> &times : result.times)
    EXPECT_EQ(times, 1);
  return result;
}

constexpr auto noWait = [](int64_t, const ItemRange &) {};

} // namespace

TEST(Parallel, RunsCoverEachItemOnce) {
  for (const int count : {1, 2, 3, 5, 70}) {
    setThreads(count);
    for (const int64_t items : {0, 1, 2, 3, 31, 32, 33, 64, 999, 4096})
      for (const int64_t unit : {1, 2, 7, 5000})
        for (const int64_t slots : {1, 2, 3, 100})
          taken(items, unit, slots, noWait);
  }
  setThreads(0);
}

TEST(Parallel, RunsEndWhereNoThreadDecides) {
  setThreads(3);
  const std::set<int64_t> expected = taken(200, 2, 3, noWait).begins;
  EXPECT_GT(expected.size(), 20U);
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(taken(200, 2, 3, noWait).begins, expected);
  setThreads(0);
}

TEST(Parallel, AThreadThatWaitsLeavesItsRunsToOthers) {
  setThreads(2);
  std::atomic<int64_t> others = 0;
  std::atomic<bool> first = true;
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  // The thread that comes first ends its first run when all other items have been taken.
  taken(64, 1, 2, [&](int64_t, const ItemRange &run) {
    if (!first.exchange(false)) {
      others += run.size();
      return;
    }
    while (others + run.size() < 64 && std::chrono::steady_clock::now() < end)
      std::this_thread::yield();
    EXPECT_EQ(others + run.size(), 64) << "nobody took the other items within a minute";
  });
  setThreads(0);
}

TEST(Parallel, SerialLoopsTakeOneRun) {
  setThreads(3);
  {
    const SerialLoops serial;
    EXPECT_EQ(taken(64, 1, 3, noWait).begins.size(), 1U);
  }
  parallelFor(3, 1, [&](int64_t, int64_t) { EXPECT_EQ(taken(64, 1, 3, noWait).begins.size(), 1U); });
  EXPECT_THROW(parallelRuns(64, 1, 3,
                            [](int64_t, Runs &runs) {
                              for (ItemRange run; runs.take(run);)
                                throw std::runtime_error("an item");
                            }),
               std::runtime_error);
  EXPECT_GT(taken(64, 1, 3, noWait).begins.size(), 1U);
  setThreads(0);
}
