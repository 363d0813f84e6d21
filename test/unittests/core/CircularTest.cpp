//===- CircularTest.cpp - circular buffers by their rules -----------------===//
// SPDX-License-Identifier: Apache-2.0

#include "../ttnn/OpTest.h"

using namespace tt;
using namespace tt::ttnn;

namespace {

constexpr DataType f32 = DataType::Float32, bf16 = DataType::BFloat16, bfp8 = DataType::BFP_BFloat8;
using Named = ttnn::test::Named;

TensorSpec placed(DataType type, Shape shape, BufferType buffer = BufferType::DRAM, Layout layout = Layout::Tile) {
  TensorSpec spec{type, std::move(shape), layout, {}, false};
  spec.memory = {buffer, MemoryLayout::Interleaved, {}, {}};
  return spec;
}

TensorSpec sharded(DataType type, Shape shape, std::vector<int64_t> shard) {
  TensorSpec spec = placed(type, std::move(shape), BufferType::L1);
  spec.memory = {BufferType::L1, MemoryLayout::BlockSharded, {8, 8}, std::move(shard)};
  return spec;
}

int64_t bytesOf(const std::string &op, std::vector<TensorSpec> ins, TensorSpec out, Named attributes = {}) {
  OpCall call{op, {}, {std::move(out)}, Attributes(op, std::move(attributes)), {1, 1}, {}};
  for (TensorSpec &in : ins)
    call.ins.emplace_back(std::move(in));
  return circularBytes(sim::chip(Arch::WormholeB0), call);
}

Attribute blocks(int64_t inner, int64_t rows, int64_t columns) {
  return {StructAttribute{"ttnn.matmul_multi_core_reuse_multi_cast_program_config",
                          {{"in0_block_w", ttnn::test::integer(inner)},
                           {"per_core_m", ttnn::test::integer(rows)},
                           {"per_core_n", ttnn::test::integer(columns)}}}};
}

Attribute accumulatingIn(bool wide) {
  return {StructAttribute{"ttnn.device_compute_kernel_config", {{"fp32_dest_acc_en", ttnn::test::flag(wide)}}}};
}

TEST(CircularBuffers, OfElementwiseOpsAreTwoTilesOfEachTensor) {
  const Shape shape{256, 256};
  EXPECT_EQ(bytesOf("ttnn.add", {placed(bf16, shape), placed(f32, shape)}, placed(f32, shape)),
            2 * (2048 + 4096 + 4096));
  EXPECT_EQ(bytesOf("ttnn.exp", {placed(bfp8, shape)}, placed(bfp8, shape)), 4 * 1088);
  // A shard is its own buffer.
  const TensorSpec shard = sharded(bf16, shape, {32, 32});
  EXPECT_EQ(bytesOf("ttnn.add", {shard, placed(bf16, shape)}, shard), 2 * 2048);
  TensorSpec host = placed(bf16, shape, BufferType::SystemMemory);
  EXPECT_EQ(bytesOf("ttnn.exp", {host}, host), 0);
}

TEST(CircularBuffers, OfProductsFollowTheBlocksOfTheConfig) {
  const TensorSpec a = placed(bf16, {1024, 1024}), wide = placed(f32, {1024, 1024});
  const Named config = {{"matmul_program_config", blocks(2, 4, 8)}};
  // Two blocks of 4x2 and 2x8 tiles, and 4x8 of results, in which partial sums of their format lie, too.
  EXPECT_EQ(bytesOf("ttnn.matmul", {a, a}, a, config), 2 * 2 * 4 * 2048 + 2 * 2 * 8 * 2048 + 32 * 2048);
  const Named accumulated = {config[0], {"compute_config", accumulatingIn(true)}};
  EXPECT_EQ(bytesOf("ttnn.matmul", {a, a}, a, accumulated),
            2 * 2 * 4 * 2048 + 2 * 2 * 8 * 2048 + 32 * 2048 + 32 * 4096);
  EXPECT_EQ(bytesOf("ttnn.linear", {wide, wide, placed(f32, {1024})}, wide, config),
            (2 * 2 * 4 + 2 * 2 * 8 + 32 + 8) * 4096);
  StructAttribute parts = std::get<StructAttribute>(blocks(2, 4, 8).value);
  parts.fields.push_back({"out_block_h", ttnn::test::integer(2)});
  parts.fields.push_back({"out_block_w", ttnn::test::integer(4)});
  EXPECT_EQ(bytesOf("ttnn.matmul", {a, a}, a, {{"matmul_program_config", {parts}}}),
            (2 * 2 * 2 + 2 * 2 * 4 + 2 * 4) * 2048);
  EXPECT_EQ(bytesOf("ttnn.matmul", {a, a}, a), 0); // the library's choice is not known
}

TEST(CircularBuffers, OfRowsFollowTheirWidthUntilTheyAreStreamed) {
  const Named exact = {{"numericStable", ttnn::test::flag(true)}};
  const TensorSpec row = placed(bf16, {32, 1024}); // 32 tiles
  EXPECT_EQ(bytesOf("ttnn.softmax", {row}, row), (16 + 16 + 32 + 1 + 1) * 2048);
  EXPECT_EQ(bytesOf("ttnn.softmax", {row}, row, exact), (32 + 16 + 32 + 1 + 1 + 1 + 32) * 2048);
  const TensorSpec longRow = placed(bf16, {32, 131072});
  EXPECT_EQ(bytesOf("ttnn.softmax", {longRow}, longRow), (16 + 16 + 80 + 1 + 1 + 3) * 2048);
  const TensorSpec weight = placed(bf16, {1024});
  EXPECT_EQ(bytesOf("ttnn.layer_norm", {row, weight, weight}, row), (32 + 16 + 64 + 12 + 4 + 64 + 16) * 2048);
  EXPECT_EQ(bytesOf("ttnn.rms_norm", {longRow}, longRow), (112 + 16 + 224 + 12 + 4) * 2048);
  const TensorSpec rows = placed(bf16, {64, 96}, BufferType::DRAM, Layout::RowMajor);
  EXPECT_EQ(bytesOf("ttnn.to_layout", {rows}, placed(bf16, {64, 96})), 6 * 2048);
}

} // namespace
