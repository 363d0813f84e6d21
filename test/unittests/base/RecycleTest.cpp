//===- RecycleTest.cpp - recycling of per-run memory ----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "tt/recycle.h"
#include "tt/sim/host.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <sys/resource.h>
#include <thread>
#include <utility>
#include <vector>

using namespace tt;

// With AddressSanitizer nothing is used again.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define REUSES 0
#endif
#endif
#ifndef REUSES
#define REUSES 1
#endif

namespace {

/// A block with values of its own.
class Block {
public:
  Block(size_t bytes, unsigned char value) : bytes(bytes), value(value), data(takeRecycled(bytes)) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 64, 0u);
    std::memset(data, value, bytes);
  }
  Block(Block &&other) noexcept : bytes(other.bytes), value(other.value), data(std::exchange(other.data, nullptr)) {}
  Block &operator=(Block &&other) noexcept {
    std::swap(bytes, other.bytes), std::swap(value, other.value), std::swap(data, other.data);
    return *this;
  }
  ~Block() {
    if (data)
      giveRecycled(data, bytes);
  }
  bool isIntact() const {
    const auto *values = static_cast<const unsigned char *>(data);
    return values[0] == value && std::memcmp(values, values + 1, bytes - 1) == 0;
  }
  const void *address() const { return data; }

private:
  size_t bytes;
  unsigned char value;
  void *data;
};

/// Takes and gives blocks of all sizes in random order, and looks whether each keeps its values.
void churn(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Block> blocks;
  for (int i = 0; i < 2000; ++i) {
    if (!blocks.empty() && (blocks.size() == 40 || random() % 2)) {
      std::swap(blocks[random() % blocks.size()], blocks.back());
      ASSERT_TRUE(blocks.back().isIntact()) << "seed " << seed << ", step " << i;
      blocks.pop_back();
    } else {
      const size_t most = size_t(1) << (3 + random() % 20); // to 4 MiB and above
      blocks.emplace_back(1 + most / 2 + random() % most, static_cast<unsigned char>(i));
    }
  }
}

} // namespace

TEST(Recycle, BlocksDoNotOverlap) {
  for (const unsigned seed : {1u, 2u, 3u})
    churn(seed);
  std::vector<std::thread> threads;
  for (const unsigned seed : {4u, 5u, 6u})
    threads.emplace_back(churn, seed);
  for (std::thread &thread : threads)
    thread.join();
}

#if REUSES
// What other tests keep may leave room farther down.
TEST(Recycle, ValuesLieWhereOthersHaveDied) {
  const Block first(100000, 1);
  const void *place = Block(500000, 2).address();
  // Of any size that fits, and not only of the one that was there.
  for (const size_t bytes : {500000, 400000, 8192, 300000})
    EXPECT_LE(Block(bytes, 3).address(), place) << bytes;
  const Block second(200000, 4), third(250000, 5);
  EXPECT_LE(second.address(), place);
  EXPECT_LE(third.address(), static_cast<const std::byte *>(place) + 200000);
  EXPECT_TRUE(first.isIntact());
}

TEST(Recycle, NeighboursJoin) {
  std::vector<Block> blocks;
  for (int i = 0; i < 4; ++i)
    blocks.emplace_back(1 << 20, static_cast<unsigned char>(i));
  const void *place = std::max(blocks[1].address(), blocks[2].address());
  std::swap(blocks[1], blocks[3]);
  blocks.erase(blocks.begin() + 2, blocks.end()); // the second and the third
  EXPECT_LE(Block(2 << 20, 9).address(), place);
}

TEST(Recycle, GivesBackWhatIsNotUsed) {
  const Block used(100000, 1);
  const uint64_t before = takenMemory().blocks;
  {
    const Block again(100000, 2);
  }
  EXPECT_EQ(takenMemory().blocks, before);
  sim::trimHostMemory();
  EXPECT_TRUE(used.isIntact());
  {
    const Block large(size_t(8) << 20, 3);
  }
  const uint64_t after = takenMemory().blocks;
  {
    const Block large(size_t(8) << 20, 4);
  }
  EXPECT_EQ(takenMemory().blocks, after);
  sim::trimHostMemory();
  {
    const Block large(size_t(8) << 20, 5);
  }
  EXPECT_EQ(takenMemory().blocks, after + 1);
}

TEST(Recycle, SmallBlocksOfAThreadThatEndedAreTakenByOthers) {
  const auto takeMany = [](unsigned char value) {
    std::vector<Block> blocks;
    for (int i = 0; i < 100; ++i) // more than a thread keeps for itself
      blocks.emplace_back(200, value);
  };
  std::thread(takeMany, 1).join();
  const uint64_t before = takenMemory().blocks;
  std::thread(takeMany, 2).join();
  takeMany(3);
  EXPECT_EQ(takenMemory().blocks, before);
}

/// Pages of this thread that the system gave so far.
long givenPages() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_minflt;
}

TEST(Recycle, KeepsTheLastFreshBlockWhileOthersComeAndGo) {
  constexpr size_t bytes = size_t(1) << 20;
  void *first = freshMemory(bytes);
  std::memset(first, 1, bytes);
  freeFresh(first, bytes);
  {
    const Block block(100000, 1);
  }
  freeFresh(nullptr, bytes);
  const long before = givenPages();
  void *second = freshMemory(bytes);
  std::memset(second, 2, bytes);
  EXPECT_LT(givenPages() - before, 8) << "of 256, had they gone back to the system";
  freeFresh(second, bytes);
}
#endif
