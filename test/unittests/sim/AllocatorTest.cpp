//===- AllocatorTest.cpp - banks, footprints, meshes ----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ProgramBuilder.h"
#include "tt/sim/clock.h"

#include <gtest/gtest.h>
#include <random>

using namespace tt;
using namespace tt::test;
using sim::BankAllocator;
using sim::Block;
using sim::Fit;

TEST(Allocator, TakesTheSmallestPieceThatFits) {
  BankAllocator bank(1024, 1024 + 1024, 32, Fit::Best);
  const auto a = bank.allocate(100, "a"), b = bank.allocate(32, "b"), c = bank.allocate(64, "c");
  EXPECT_EQ(*a, (Block{1024, 128})); // rounded to the alignment
  EXPECT_EQ(*b, (Block{1152, 32}));
  EXPECT_EQ(*c, (Block{1184, 64}));
  bank.deallocate(b->address);
  EXPECT_EQ(bank.allocate(20, "d")->address, b->address);
  EXPECT_EQ(bank.allocated(), 224);
  EXPECT_EQ(bank.peak(), 224);
}

TEST(Allocator, JoinsFreePieces) {
  BankAllocator bank(0, 96, 32, Fit::Best);
  const auto a = bank.allocate(32, "a"), b = bank.allocate(32, "b"), c = bank.allocate(32, "c");
  EXPECT_FALSE(bank.allocate(1, "full"));
  bank.deallocate(a->address);
  bank.deallocate(c->address);
  EXPECT_EQ(bank.free(), 64);
  EXPECT_EQ(bank.largestFree(), 32);
  EXPECT_FALSE(bank.allocate(64, "in two pieces"));
  bank.deallocate(b->address);
  EXPECT_EQ(bank.largestFree(), 96);
  EXPECT_EQ(bank.freeBlocks().size(), 1u);
  EXPECT_THROW(bank.deallocate(b->address), Error);
}

TEST(Allocator, FingerprintTellsStatesApart) {
  BankAllocator bank(0, 4096, 32, Fit::Lowest);
  const uint64_t empty = bank.fingerprint();
  const auto a = bank.allocate(32, "a");
  const uint64_t one = bank.fingerprint();
  EXPECT_NE(one, empty);
  const auto b = bank.allocate(64, "b");
  bank.deallocate(b->address);
  EXPECT_EQ(bank.fingerprint(), one);
  bank.deallocate(a->address);
  EXPECT_EQ(bank.fingerprint(), empty);
  EXPECT_TRUE(bank.allocateAt({64, 32}, "there"));
  EXPECT_FALSE(bank.allocateAt({64, 32}, "again"));
  EXPECT_FALSE(bank.allocateAt({4096, 32}, "outside"));
}

/// Where a block of so many units goes, by a look at each place; -1 when there is none.
int64_t expectedUnit(const std::vector<bool> &taken, int64_t count, Fit fit) {
  int64_t best = -1, bestSize = 0;
  const auto units = static_cast<int64_t>(taken.size());
  for (int64_t begin = 0, end; begin < units; begin = end + 1) {
    for (end = begin; end < units && !taken[static_cast<size_t>(end)];)
      ++end;
    if (end - begin < count)
      continue;
    if (fit == Fit::Highest)
      best = end - count;
    else if (best < 0 || (fit == Fit::Best && end - begin < bestSize))
      best = begin, bestSize = end - begin;
  }
  return best;
}

/// Against a bitmap, with random sizes and order. Which piece is taken follows from the bitmap alone.
class RandomAllocations : public testing::TestWithParam<Fit> {};
/// A sequence of so many allocations and deallocations.
void decide(Fit fit, uint32_t seed, int steps) {
  constexpr int64_t units = 512;
  std::mt19937 random(seed);
  BankAllocator bank(0, units * 32, 32, fit);
  std::vector<bool> taken(units, false);
  std::vector<Block> blocks;
  for (int i = 0; i < steps; ++i) {
    if (random() % 2 || blocks.empty()) {
      const auto bytes = static_cast<int64_t>(random() % 1024);
      const int64_t expected = expectedUnit(taken, std::max<int64_t>(1, (bytes + 31) / 32), fit);
      const auto block = bank.allocate(bytes, "x");
      ASSERT_EQ(block ? block->address / 32 : -1, expected);
      if (block) {
        for (int64_t unit = block->address / 32; unit < (block->address + block->bytes) / 32; ++unit) {
          ASSERT_FALSE(taken[static_cast<size_t>(unit)]);
          taken[static_cast<size_t>(unit)] = true;
        }
        blocks.push_back(*block);
      }
    } else {
      std::swap(blocks[random() % blocks.size()], blocks.back());
      const Block block = blocks.back();
      blocks.pop_back();
      bank.deallocate(block.address);
      for (int64_t unit = block.address / 32; unit < (block.address + block.bytes) / 32; ++unit)
        taken[static_cast<size_t>(unit)] = false;
    }
    ASSERT_EQ(bank.allocated(), 32 * std::count(taken.begin(), taken.end(), true));
  }
  for (const Block &block : blocks)
    bank.deallocate(block.address);
  EXPECT_EQ(bank.largestFree(), units * 32);
}
TEST_P(RandomAllocations, AreDecidedAsTheRuleSays) {
  decide(GetParam(), 7, 20000);
  for (uint32_t seed = 100; seed < 400 && !HasFatalFailure(); ++seed)
    decide(GetParam(), seed, 500);
}
INSTANTIATE_TEST_SUITE_P(Allocator, RandomAllocations, testing::Values(Fit::Best, Fit::Lowest, Fit::Highest));

TEST(Footprint, PadsTilesAndSpreadsPages) {
  const sim::ChipDesc &chip = sim::chip(Arch::WormholeB0);
  // 33x65 f32: 2x3 tiles of 4096 bytes over 12 channels.
  auto print = sim::footprint(chip, deviceSpec({33, 65}));
  EXPECT_EQ(print.pages, 6);
  EXPECT_EQ(print.pageBytes, 4096);
  EXPECT_EQ(print.bytesPerBank, 4096);
  // Every matrix of a batch is padded: 5 x 1 x 1 tiles over 64 cores; bfp8 tiles have 1088 bytes.
  print = sim::footprint(chip, deviceSpec({5, 1, 1}, DataType::BFP_BFloat8, BufferType::L1));
  EXPECT_EQ(print.pages, 5);
  EXPECT_EQ(print.totalBytes(), 5 * 1088);
  EXPECT_EQ(print.banks, 5);
  // 100 rows of 10 bf16 values: 20 bytes, aligned to 32 in DRAM; 9 rows in the fullest channel.
  TensorSpec rows = deviceSpec({100, 10}, DataType::BFloat16);
  rows.layout = Layout::RowMajor;
  EXPECT_EQ(sim::footprint(chip, rows).bytesPerBank, 9 * 32);
  EXPECT_EQ(sim::footprint(chip, deviceSpec({0, 7})).totalBytes(), 0);
  EXPECT_EQ(sim::footprint(chip, deviceSpec({})).totalBytes(), 4096);
  EXPECT_EQ(sim::footprint(chip, hostSpec({8, 8})).totalBytes(), 0);
}

TEST(Footprint, ShardsLieOnTheirCores) {
  const sim::ChipDesc &chip = sim::chip(Arch::WormholeB0);
  TensorSpec spec = deviceSpec({256, 64}, DataType::BFloat16, BufferType::L1);
  spec.memory.layout = MemoryLayout::HeightSharded;
  spec.memory.grid = {1, 4};
  spec.memory.shardShape = {64, 64};
  auto print = sim::footprint(chip, spec);
  EXPECT_EQ(print.banks, 4);
  EXPECT_EQ(print.bytesPerBank, 4 * 2048); // 2x2 tiles
  spec.memory.layout = MemoryLayout::NDSharded;
  spec.memory.grid = {1, 2}; // two shards on each core
  EXPECT_EQ(sim::footprint(chip, spec).bytesPerBank, 8 * 2048);
  spec.memory.grid = {9, 9};
  EXPECT_THROW(sim::footprint(chip, spec), Error);
  spec.memory.grid = {1, 4};
  spec.memory.shardShape = {0, 64};
  EXPECT_THROW(sim::footprint(chip, spec), Error);
}

/// Rules of tt-metal for sharded tensors (errors when one is made).
TEST(Footprint, RefusesShardsThatACardRefuses) {
  struct Row {
    MemoryLayout layout;
    std::vector<int64_t> grid, shard;
    std::string_view expected;
  };
  const Row rows[] = {
      {MemoryLayout::HeightSharded, {1, 4}, {32, 64}, "has 16 shards of [32, 64] along its rows; expected at most 4"},
      {MemoryLayout::HeightSharded, {8, 1}, {64, 32}, "has 2 shards of [64, 32] along its columns; expected at most 1"},
      {MemoryLayout::WidthSharded,
       {1, 1},
       {512, 32},
       "has 2 shards of [512, 32] along its columns; expected at most 1"},
      {MemoryLayout::WidthSharded, {1, 2}, {64, 32}, "has 8 shards of [64, 32] along its rows; expected at most 1"},
      {MemoryLayout::BlockSharded, {4, 2}, {64, 32}, "has 8 shards of [64, 32] along its rows; expected at most 4"},
      {MemoryLayout::BlockSharded, {8, 1}, {64, 32}, "has 2 shards of [64, 32] along its columns; expected at most 1"},
      {MemoryLayout::BlockSharded, {8, 2}, {48, 40}, "expected multiples of the tile, 32x32"},
      {MemoryLayout::HeightSharded, {8, 1}, {64, 64}, ""},
      {MemoryLayout::BlockSharded, {8, 2}, {64, 32}, ""},
  };
  for (const Row &row : rows) {
    TensorSpec spec = deviceSpec({512, 64}, DataType::BFloat16, BufferType::L1);
    spec.memory = {BufferType::L1, row.layout, row.grid, row.shard};
    std::string message;
    try {
      (void)sim::footprint(sim::chip(Arch::WormholeB0), spec);
    } catch (const Error &error) {
      message = error.what();
    }
    EXPECT_NE(message.find(row.expected), std::string::npos) << message;
    EXPECT_EQ(message.empty(), row.expected.empty()) << message;
  }
}

TEST(Footprint, AlignsRowsAsACardDoes) {
  const sim::ChipDesc &chip = sim::chip(Arch::WormholeB0);
  TensorSpec spec = deviceSpec({64, 10}, DataType::BFloat16, BufferType::L1); // rows of 20 bytes
  spec.layout = Layout::RowMajor;
  EXPECT_EQ(sim::footprint(chip, spec).pageBytes, 32);
  EXPECT_EQ(sim::footprint(sim::chip(Arch::Blackhole), spec).pageBytes, 64);
  spec.memory = {BufferType::L1, MemoryLayout::HeightSharded, {1, 4}, {16, 10}};
  EXPECT_EQ(sim::footprint(chip, spec).bytesPerBank, 16 * 32); // 20 bytes take two units of 16
  spec.shape = {64, 5};
  spec.memory.shardShape = {16, 5};
  EXPECT_EQ(sim::footprint(chip, spec).bytesPerBank, 16 * 16);
}

TEST(Footprint, RefusesSizesThatOverflow) {
  const int64_t large = int64_t(1) << 31;
  EXPECT_THROW(sim::footprint(sim::chip(Arch::Blackhole), deviceSpec({large, large})), Error);
}

TEST(Device, OpensPresetsAndRectangles) {
  const auto galaxy = runtime::openMeshDevice(sim::meshOptions("tg"));
  EXPECT_EQ(galaxy->meshShape(), (std::vector<uint32_t>{8, 4}));
  EXPECT_EQ(runtime::openMeshDevice(sim::meshOptions("box"))->devices(), 8u);
  EXPECT_EQ(runtime::openMeshDevice(sim::meshOptions("p150"))->chip().arch, Arch::Blackhole);
  EXPECT_THROW(sim::meshOptions("n151"), DeviceError);
  sim::MeshOptions none;
  none.rows = 0;
  EXPECT_THROW(runtime::openMeshDevice(none), DeviceError);
  none.rows = none.columns = 1u << 16;
  EXPECT_THROW(runtime::openMeshDevice(none), DeviceError);
}

TEST(Device, HasTheCapacitiesOfTheChip) {
  const auto device = runtime::openMeshDevice();
  EXPECT_EQ(device->memoryView(sim::Memory::L1).total, 1395424);
  EXPECT_EQ(device->memoryView(sim::Memory::L1).banks, 64);
  EXPECT_EQ(device->memoryView(sim::Memory::DRAM).total, 1073740800);
  EXPECT_EQ(device->memoryView(sim::Memory::DRAM).banks, 12);
  sim::MeshOptions withSmall;
  withSmall.l1SmallSize = 65536;
  EXPECT_EQ(runtime::openMeshDevice(withSmall)->memoryView(sim::Memory::L1).total, 1329888); // as published
  const auto blackhole = runtime::openMeshDevice(sim::meshOptions("p150"));
  EXPECT_EQ(blackhole->memoryView(sim::Memory::L1).total, 1474560);
  EXPECT_EQ(blackhole->memoryView(sim::Memory::DRAM).total, 4276383680);
}

TEST(Device, TensorsGiveTheirMemoryBack) {
  const auto device = runtime::openMeshDevice();
  const auto host = tensor(std::vector<float>(1024, 1.0f), {32, 32});
  const auto allocated = [&] { return device->memoryView(sim::Memory::L1).allocated; };
  {
    auto moved = runtime::toLayout(host, device, deviceSpec({}, DataType::Float32, BufferType::L1));
    EXPECT_EQ(allocated(), 4096);
    const auto copy = moved;
    moved = {};
    EXPECT_EQ(allocated(), 4096);
    EXPECT_EQ(floats(copy), std::vector<float>(1024, 1.0f));
  }
  EXPECT_EQ(allocated(), 0);
  EXPECT_EQ(device->memoryView(sim::Memory::L1).peak, 4096);
  auto moved = runtime::toLayout(host, device, deviceSpec({}));
  device->deallocateAll();
  EXPECT_FALSE(moved.isAllocated());
  EXPECT_THROW(runtime::toHost(moved), Error);
  moved = {}; // must not free what is not its own any more
}

TEST(Clock, TakesTheLargerOfComputingAndMoving) {
  const sim::ChipDesc &chip = sim::chip(Arch::WormholeB0);
  ttnn::Cost cost;
  cost.matmulTiles = 32 * 32 * 32; // 1024x1024x1024
  // 32768 tile products x 16 cycles x 4 phases / 64 cores at three quarters of the peak, and the launch.
  EXPECT_EQ(sim::estimate(chip, cost).cycles, 43691 + 6000);
  EXPECT_EQ(sim::estimate(chip, cost).bound, sim::Bound::Compute);
  cost.phases = 2;
  EXPECT_EQ(sim::estimate(chip, cost).cycles, 21846 + 6000);
  cost.dramBytes = 267'000'000;
  EXPECT_DOUBLE_EQ(sim::estimate(chip, cost).ns, 1e6 + 6000);
  EXPECT_EQ(sim::estimate(chip, cost).bound, sim::Bound::DRAM);
  cost.fetchesByTurns = true;
  EXPECT_NEAR(sim::estimate(chip, cost).ns, 1e6 + 21845.3 + 6000, 0.1);
}

TEST(Clock, PagesTakeTimeOfTheirOwn) {
  const sim::ChipDesc &chip = sim::chip(Arch::WormholeB0);
  ttnn::Cost cost;
  cost.dramBytes = 12 * 366'000, cost.dramPages = 12 * 1000; // of each of 12 channels: 1000 pages of 366 bytes
  EXPECT_NEAR(sim::estimate(chip, cost).ns, 35 * 1000 + 366'000 / 36.6 + 6000, 1);
}

TEST(Clock, StepsOfRingsAndHopsAreCounted) {
  const sim::ChipDesc &chip = sim::chip(Arch::WormholeB0);
  ttnn::Cost ring, way;
  ring.fabricBytes = way.fabricBytes = 20'800'000;
  ring.fabricSteps = 4, way.fabricHops = 3;
  EXPECT_NEAR(sim::estimate(chip, ring).ns, 1e6 + 4 * 2500 + 6000, 1);
  EXPECT_NEAR(sim::estimate(chip, way).ns, 20'800'000 / 12.0 + 3 * 711 + 6000, 1);
  EXPECT_EQ(sim::estimate(chip, way).bound, sim::Bound::Fabric);
  EXPECT_EQ(sim::estimate(chip, {}).bound, sim::Bound::Dispatch);
}
