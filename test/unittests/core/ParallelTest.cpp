//===- ParallelTest.cpp - loops over threads ------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "tt/parallel.h"
#include "base/serial.h"

#include <atomic>
#include <gtest/gtest.h>
#include <stdexcept>

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
