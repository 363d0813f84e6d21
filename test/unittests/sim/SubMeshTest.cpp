//===- SubMeshTest.cpp - parts of a mesh as devices -----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ProgramBuilder.h"

#include <gtest/gtest.h>

#include <random>

using namespace tt;
using namespace tt::test;
using sim::BankAllocator;
using sim::Block;
using sim::Memory;

namespace {

runtime::Device mesh(uint32_t rows, uint32_t columns) {
  sim::MeshOptions options;
  options.rows = rows;
  options.columns = columns;
  return runtime::openMeshDevice(options);
}

int64_t allocated(const runtime::Device &device) { return device->memoryView(Memory::DRAM).allocated; }

/// A tensor of `bytes` on a device.
runtime::Tensor placed(const runtime::Device &device, int64_t bytes) {
  return runtime::createEmptyTensor(device, deviceSpec({bytes / 128, 32}));
}

TEST(SubMesh, BelongsToItsChips) {
  const auto whole = mesh(2, 4);
  const auto left = runtime::createSubMeshDevice(whole, {2, 2, 0, 0});
  const auto right = runtime::createSubMeshDevice(whole, {1, 2, 1, 2});
  EXPECT_EQ(left->meshShape(), (std::vector<uint32_t>{2, 2}));
  EXPECT_EQ(right->place(), (sim::Rectangle{1, 2, 1, 2}));
  EXPECT_EQ(right->parent(), whole);
  EXPECT_EQ(whole->parent(), nullptr);
  EXPECT_EQ(whole->subMeshes().size(), 2u);
  const auto onLeft = placed(left, 1 << 20);
  EXPECT_GT(allocated(left), 0);
  EXPECT_EQ(allocated(right), 0);
  EXPECT_EQ(allocated(whole), 0);
}

TEST(SubMesh, TakesMemoryOfItsMeshAndGivesItBack) {
  const auto whole = mesh(1, 2);
  const auto before = placed(whole, 1 << 20);
  const int64_t total = whole->memoryView(Memory::DRAM).total;
  auto part = runtime::createSubMeshDevice(whole, {1, 1, 0, 1});
  EXPECT_EQ(allocated(part), allocated(whole)); // what lies there already
  auto own = placed(part, 1 << 22);
  EXPECT_NE(own.address(), before.address());
  const auto later = placed(whole, 1 << 20); // where both chips have room
  EXPECT_NE(later.address(), own.address());
  EXPECT_EQ(allocated(part) - allocated(whole),
            whole->memoryView(Memory::DRAM).total - whole->memoryView(Memory::DRAM).free - allocated(whole));
  runtime::releaseSubMeshDevice(part);
  EXPECT_FALSE(own.isAllocated());
  EXPECT_TRUE(before.isAllocated());
  EXPECT_EQ(whole->memoryView(Memory::DRAM).free + allocated(whole), total);
}

TEST(SubMesh, FullPartsAreFullForTheMesh) {
  const auto whole = mesh(1, 2);
  const auto part = runtime::createSubMeshDevice(whole, {1, 1, 0, 0});
  const int64_t bank = whole->memoryView(Memory::L1).total;
  sim::Footprint footprint{.buffer = BufferType::L1, .bytesPerBank = bank - 4096};
  const auto most = part->allocate(footprint, "most of it");
  EXPECT_TRUE(most.valid());
  footprint.bytesPerBank = 8192;
  EXPECT_MESSAGE(OutOfMemoryError, whole->allocate(footprint, "a little"), "free per bank are 4,096");
  EXPECT_EQ(whole->memoryView(Memory::L1).largestFree, 4096);
}

TEST(SubMesh, IsClosedWithItsMesh) {
  const auto whole = mesh(2, 2);
  const auto part = runtime::createSubMeshDevice(whole, {1, 2, 1, 0});
  const auto tensor = placed(part, 1 << 12);
  runtime::closeMeshDevice(whole);
  EXPECT_FALSE(part->isOpen());
  EXPECT_FALSE(tensor.isAllocated());
  EXPECT_MESSAGE(DeviceError, placed(part, 1 << 12), "is closed");
}

TEST(SubMesh, LetsGoOfChipsWithoutRelease) {
  const auto whole = mesh(1, 2);
  {
    const auto part = runtime::createSubMeshDevice(whole, {1, 1, 0, 0});
    const auto tensor = placed(part, 1 << 20);
  }
  EXPECT_TRUE(whole->subMeshes().empty());
  EXPECT_EQ(runtime::createSubMeshDevice(whole, {1, 2, 0, 0})->devices(), 2u);
}

TEST(SubMesh, DeallocatingTheMeshDeallocatesItsParts) {
  const auto whole = mesh(1, 2);
  const auto part = runtime::createSubMeshDevice(whole, {1, 1, 0, 0});
  const auto shared = placed(whole, 1 << 12), own = placed(part, 1 << 12);
  part->deallocateAll();
  EXPECT_FALSE(own.isAllocated());
  EXPECT_TRUE(shared.isAllocated());
  EXPECT_EQ(allocated(part), allocated(whole));
  const auto again = placed(part, 1 << 12);
  whole->deallocateAll();
  EXPECT_FALSE(again.isAllocated());
  EXPECT_EQ(allocated(part), 0);
}

TEST(SubMesh, RefusesWhatIsNoPart) {
  const auto whole = mesh(2, 4);
  const auto part = runtime::createSubMeshDevice(whole, {1, 3, 1, 0});
  const auto sub = [&](sim::Rectangle rectangle) { return runtime::createSubMeshDevice(whole, rectangle); };
  EXPECT_MESSAGE(DeviceError, sub({1, 2, 1, 2}), "overlaps with device " + std::to_string(part->id()));
  EXPECT_MESSAGE(DeviceError, sub({1, 2, 1, 2}), "a sub-mesh of 1x3 chips at [1, 0]; release it first");
  EXPECT_MESSAGE(DeviceError, sub({1, 2, 0, 3}), "a sub-mesh of 1x2 chips at [0, 3] is no part of device");
  EXPECT_MESSAGE(DeviceError, sub({0, 1, 0, 0}), "is no part of device");
  EXPECT_MESSAGE(DeviceError, sub({4294967295u, 1, 1, 3}), "is no part of device");
  EXPECT_MESSAGE(DeviceError, sub({1, 1, 4294967295u, 0}), "is no part of device");
  EXPECT_MESSAGE(DeviceError, runtime::createSubMeshDevice(part, {1, 1, 0, 0}), "is a sub-mesh itself");
  EXPECT_MESSAGE(DeviceError, runtime::createSubMeshDevice(nullptr, {1, 1, 0, 0}), "no device");
  EXPECT_MESSAGE(DeviceError, runtime::releaseSubMeshDevice(whole), "is no sub-mesh; close it instead");
  EXPECT_MESSAGE(DeviceError, whole->reshape(4, 2), "has a sub-mesh of 1x3 chips at [1, 0]");
  runtime::releaseSubMeshDevice(part);
  EXPECT_MESSAGE(DeviceError, runtime::releaseSubMeshDevice(part), "is closed");
  EXPECT_EQ(sub({1, 2, 1, 2})->devices(), 2u);
}

TEST(SubMesh, RunsOfPartsAreTimeOfTheirChips) {
  ProgramBuilder builder;
  const auto x = builder.input(deviceSpec({32, 32}));
  const auto binary = builder.load({builder.op("ttnn.abs", {x}, deviceSpec({32, 32}))});
  const auto whole = mesh(1, 3);
  const auto left = runtime::createSubMeshDevice(whole, {1, 1, 0, 0}),
             right = runtime::createSubMeshDevice(whole, {1, 2, 0, 1});
  const auto input = tensor(std::vector<float>(1024, -2), {32, 32});
  for (const auto &device : {left, right, right})
    EXPECT_EQ(floats(runtime::submit(device, binary, 0, {input})[0]), std::vector<float>(1024, 2));
  EXPECT_EQ(whole->totals().programs, 3);
  EXPECT_DOUBLE_EQ(whole->totals().ns, 2 * left->totals().ns); // the right chips ran longest
  EXPECT_DOUBLE_EQ(right->totals().ns, 2 * left->totals().ns);
  (void)runtime::submit(whole, binary, 0, {input});
  EXPECT_DOUBLE_EQ(whole->totals().ns, 3 * left->totals().ns);
  const auto onLeft = runtime::submit(left, binary, 0, {input});
  EXPECT_MESSAGE(DeviceError, runtime::submit(right, binary, 0, {onLeft[0]}), "lies on device");
}

/// Blocks of a mesh and its parts, chip by chip: no two lie on the same bytes of a chip.
class RandomBlocks : public testing::TestWithParam<sim::Fit> {};
TEST_P(RandomBlocks, NeverMeet) {
  std::mt19937 random(7);
  const auto fit = GetParam();
  BankAllocator whole(0, 4096, 16, fit), left(0, 4096, 16, fit), right(0, 4096, 16, fit);
  whole.attach(left);
  whole.attach(right);
  BankAllocator *banks[] = {&whole, &left, &right};
  std::vector<std::pair<int, Block>> live;
  for (int step = 0; step < 5000; ++step) {
    const int on = static_cast<int>(random() % 3);
    if (random() % 2) {
      if (const auto block = banks[on]->allocate(static_cast<int64_t>(random() % 300), "x"))
        live.push_back({on, *block});
    } else if (!live.empty()) {
      std::swap(live[random() % live.size()], live.back());
      banks[live.back().first]->deallocate(live.back().second.address);
      live.pop_back();
    }
    int64_t used[3] = {}, lowest = 4096;
    for (size_t i = 0; i < live.size(); ++i) {
      const auto &[owner, block] = live[i];
      lowest = std::min(lowest, block.address);
      used[owner] += block.bytes;
      for (size_t k = 0; k < i; ++k) {
        const auto &[other, taken] = live[k];
        const bool share = owner == other || owner == 0 || other == 0;
        ASSERT_FALSE(share && block.address < taken.address + taken.bytes &&
                     taken.address < block.address + block.bytes);
      }
    }
    ASSERT_EQ(whole.lowest(), lowest);
    ASSERT_EQ(whole.allocated(), used[0]);
    ASSERT_EQ(left.allocated(), used[0] + used[1]);
    ASSERT_EQ(right.allocated(), used[0] + used[2]);
    ASSERT_LE(whole.free(), std::min(left.free(), right.free()));
  }
}
INSTANTIATE_TEST_SUITE_P(SubMesh, RandomBlocks, testing::Values(sim::Fit::Best, sim::Fit::Lowest, sim::Fit::Highest));

} // namespace
