//===- PlanTest.cpp - plans of products of any size -----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "core/plan.h"

#include "../ttnn/OpTest.h"

#include <random>

using namespace tt;
using namespace tt::ttnn;

namespace {

TensorSpec inDram(DataType type, Shape shape) {
  TensorSpec spec{type, std::move(shape), Layout::Tile, {}, false};
  spec.memory = {BufferType::DRAM, MemoryLayout::Interleaved, {}, {}};
  return spec;
}

int64_t tilesOf(int64_t size) { return (size + 31) / 32; }

TEST(Plans, OfProductsCoverTheResultAndFitInL1) {
  std::mt19937 random(11);
  const auto size = [&] { return int64_t(1) + random() % (random() % 4 ? 700 : 20000); };
  constexpr DataType types[] = {DataType::Float32, DataType::BFloat16, DataType::BFP_BFloat8};
  for (const Arch arch : {Arch::WormholeB0, Arch::Blackhole}) {
    const sim::ChipDesc &chip = sim::chip(arch);
    for (int i = 0; i < 2000; ++i) {
      const int64_t m = size(), k = size(), n = size();
      const DataType type = types[random() % 3], out = types[random() % 3];
      const OpCall call{"ttnn.matmul",
                        {inDram(type, {m, k}), inDram(type, {k, n})},
                        {inDram(out, {m, n})},
                        Attributes("ttnn.matmul", {}),
                        {1, 1},
                        {}};
      const auto plan = planOf(chip, call);
      ASSERT_EQ(plan.size(), 1u);
      const ttmlir::plan::Step &step = plan[0];
      const ttmlir::plan::Blocks &blocks = *step.blocks;
      SCOPED_TRACE(std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n));
      EXPECT_EQ(blocks.in0BlockW * blocks.count, tilesOf(k));
      EXPECT_EQ(blocks.perCoreM % blocks.outBlockH + blocks.perCoreN % blocks.outBlockW, 0);
      EXPECT_EQ(blocks.outBlockH % blocks.outSubblockH + blocks.outBlockW % blocks.outSubblockW, 0);
      EXPECT_LE(blocks.outSubblockH * blocks.outSubblockW, step.compute->f32Destination ? 4 : 8);
      EXPECT_GE(blocks.perCoreM * blocks.perCoreN * chip.cores(), tilesOf(m) * tilesOf(n));
      EXPECT_LE(step.bytes(), chip.l1Size - chip.l1UnreservedBase);
      EXPECT_EQ(step.bytes(), circularBytes(chip, *findOp("ttnn.matmul"), call));
    }
  }
}

} // namespace
