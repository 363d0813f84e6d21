//===- CostTest.cpp - estimated and published times -----------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Times measured on an n150 that were published, in microseconds, and whether
// the constants of the model were fitted to them (docs/cost-model.md).
//
//===----------------------------------------------------------------------===//

#include "../ttnn/OpTest.h"
#include "ttmlir/costs/Costs.h"

#include <cmath>
#include <set>

using namespace tt;
using namespace tt::ttnn;

namespace {

constexpr DataType bf16 = DataType::BFloat16, bfp8 = DataType::BFP_BFloat8, bfp4 = DataType::BFP_BFloat4;
constexpr double tolerance = 0.25;

TensorSpec tiled(DataType type, Shape shape, BufferType buffer = BufferType::DRAM) {
  TensorSpec spec{type, std::move(shape), Layout::Tile, {}, false};
  spec.memory = {buffer, MemoryLayout::Interleaved, {}, {}};
  return spec;
}

OpCall callOf(const std::string &op, std::vector<TensorSpec> ins, TensorSpec out, ttnn::test::Named attributes = {}) {
  OpCall call{op, {}, {std::move(out)}, Attributes(op, std::move(attributes)), {1, 1}, {}};
  for (TensorSpec &in : ins)
    call.ins.emplace_back(std::move(in));
  return call;
}

double microseconds(const OpCall &call, Origin origin) {
  return estimateOf(sim::chip(Arch::WormholeB0), *findOp(call.name), call, origin).duration.ns / 1e3;
}

struct Product {
  DataType type;
  int64_t size;
  const char *fidelity; // of a program config; without one, as the library chooses
  double published;
};
std::ostream &operator<<(std::ostream &out, const Product &row) {
  return out << toString(row.type) << ' ' << row.size << ' ' << (row.fidelity ? row.fidelity : "by default");
}

class PublishedProducts : public testing::TestWithParam<Product> {};
TEST_P(PublishedProducts, AreEstimatedWithinAQuarter) {
  const Product &row = GetParam();
  const Shape shape{row.size, row.size};
  ttnn::test::Named attributes;
  if (row.fidelity) {
    const std::string_view name = row.fidelity;
    const int64_t value = name == "lofi" ? 0 : name.back() - '0';
    attributes.push_back(
        {"compute_config",
         {StructAttribute{"ttnn.device_compute_kernel_config",
                          {{"math_fidelity", {EnumAttribute{"ttnn.math_fidelity", row.fidelity, value}}}}}}});
    attributes.push_back(
        {"matmul_program_config", {StructAttribute{"ttnn.matmul_multi_core_reuse_multi_cast_program_config", {}}}});
  }
  const OpCall call =
      callOf("ttnn.matmul", {tiled(row.type, shape), tiled(row.type, shape)}, tiled(row.type, shape), attributes);
  EXPECT_NEAR(microseconds(call, Origin::Library) / row.published, 1, tolerance);
}
// The share of the peak is fitted to the largest of hifi4 in bf16, and the time of a block to the smaller two by
// default in bfp8; all others are not used.
INSTANTIATE_TEST_SUITE_P(Cost, PublishedProducts,
                         testing::Values(Product{bf16, 1024, "hifi4", 47.0}, Product{bf16, 2048, "hifi4", 332},
                                         Product{bf16, 4096, "hifi4", 2711}, Product{bf16, 8192, "hifi4", 20850},
                                         Product{bfp8, 1024, "hifi2", 27.5}, Product{bfp8, 2048, "hifi2", 178},
                                         Product{bfp8, 4096, "hifi2", 1451}, Product{bfp8, 8192, "hifi2", 10990},
                                         Product{bfp4, 2048, "lofi", 93.8}, Product{bfp4, 4096, "lofi", 698},
                                         Product{bf16, 1024, nullptr, 69.0}, Product{bf16, 2048, nullptr, 299},
                                         Product{bf16, 3072, nullptr, 886.2}, Product{bf16, 4096, nullptr, 2009},
                                         Product{bfp8, 1024, nullptr, 46.3}, Product{bfp8, 2048, nullptr, 156},
                                         Product{bfp8, 4096, nullptr, 927}));

TEST(Cost, PublishedReadsOfInterleavedTensorsAreEstimatedWithinAQuarter) {
  // The time of a page and the rate of a channel are fitted to bf16 and bfp4.
  for (auto [type, published] : {std::pair(bf16, 74.0), std::pair(bfp8, 52.0), std::pair(bfp4, 43.0)}) {
    TensorSpec out = tiled(type, {2048, 4608}, BufferType::L1);
    out.memory.layout = MemoryLayout::BlockSharded;
    out.memory.grid = {8, 8};
    out.memory.shardShape = {256, 576};
    const OpCall call = callOf("ttnn.to_memory_config", {tiled(type, {2048, 4608})}, out);
    EXPECT_NEAR(microseconds(call, Origin::Program) / published, 1, tolerance) << toString(type);
  }
}

TEST(Cost, PublishedChangesToTilesAreEstimatedWithinAQuarter) {
  // Rows and columns: 16 to 64 cores have rows of tiles. The time of a tile is fitted to the first and the fourth.
  for (auto [rows, columns, published] :
       {std::tuple(512, 768, 24.0), {4096, 768, 74.0}, {4608, 768, 83.0}, {512, 2560, 93.0}, {1024, 2560, 114.0}}) {
    TensorSpec in = tiled(bf16, {rows, columns});
    in.layout = Layout::RowMajor;
    const OpCall call = callOf("ttnn.to_layout", {in}, tiled(bf16, {rows, columns}));
    EXPECT_NEAR(microseconds(call, Origin::Program) / published, 1, tolerance) << rows << 'x' << columns;
  }
}

TEST(Cost, WorkThatIsDividedByUnitsTakesAsLongAsTheCoreWithMost) {
  // 65 rows of tiles on 64 cores: two on one of them.
  auto of = [](int64_t rows) {
    const TensorSpec spec = tiled(bf16, {rows * 32, 64}, BufferType::L1);
    return microseconds(callOf("ttnn.softmax", {spec}, spec, {{"dimension", ttnn::test::integer(1)}}), Origin::Program);
  };
  EXPECT_EQ(of(1), of(64));
  EXPECT_LT(of(64), of(65));
  EXPECT_EQ(of(65), of(128));
}

TEST(Cost, WindowsOfConvolutionsAreCopiedAndMadeTiles) {
  auto workOf = [](int64_t channels, int64_t kernel, std::optional<int64_t> shards) {
    TensorSpec image = tiled(bf16, {1, 1, 64 * 64, channels}, BufferType::L1);
    image.layout = Layout::RowMajor;
    TensorSpec out = tiled(bf16, {1, 1, 64 * 64, 64}, BufferType::L1);
    if (shards)
      for (TensorSpec *spec : {&image, &out})
        spec->memory = {BufferType::L1, MemoryLayout::HeightSharded, {64, 1}, {64, spec->shape.back()}};
    const auto number = ttnn::test::integer;
    auto numbers = [](std::vector<int64_t> values) { return Attribute{std::move(values)}; };
    const int64_t low = kernel / 2;
    const OpCall call = callOf("ttnn.conv2d", {image, tiled(bf16, {64, channels, kernel, kernel})}, out,
                               {{"batch_size", number(1)},
                                {"in_channels", number(channels)},
                                {"out_channels", number(64)},
                                {"input_height", number(64)},
                                {"input_width", number(64)},
                                {"kernel_size", numbers({kernel, kernel})},
                                {"stride", numbers({1, 1})},
                                {"padding", numbers({low, low})},
                                {"dilation", numbers({1, 1})},
                                {"groups", number(1)}});
    return estimateOf(sim::chip(Arch::WormholeB0), *findOp("ttnn.conv2d"), call, Origin::Program).cost;
  };
  const sim::Cost sharded = workOf(32, 3, 64), pages = workOf(32, 3, std::nullopt), pixel = workOf(32, 1, std::nullopt);
  EXPECT_EQ(sharded.matmulTiles, 128 * 9 * 2);
  EXPECT_EQ(sharded.tilizeTiles, 128 * 9);
  EXPECT_EQ(sharded.pieces, 4096 * 3); // rows of the window
  EXPECT_EQ(sharded.pieceBytes, 4096 * 9 * 32 * 2);
  EXPECT_EQ(sharded.copiers, 2);
  EXPECT_EQ(sharded.programs, 2);                   // halo and convolution
  EXPECT_EQ(pages.programs, 4);                     // it is sharded before, and made pages of after
  EXPECT_EQ(workOf(3, 3, 64).tilizeTiles, 128 * 3); // 8 channels, 16 bytes
  EXPECT_EQ(pixel.tilizeTiles, 0);
  EXPECT_EQ(pixel.programs, 1);
}

TEST(Cost, AttentionReadsItsKeysForEachChunkOfQueries) {
  auto estimated = [&](int64_t chunk, bool causal, int64_t users = 1) {
    const TensorSpec query = tiled(bfp8, {users, 8, 2048, 128}), key = tiled(bfp8, {users, 1, 2048, 128});
    const StructAttribute config{
        "ttnn.sdpa_program_config",
        {{"q_chunk_size", ttnn::test::integer(chunk)}, {"k_chunk_size", ttnn::test::integer(chunk)}}};
    const StructAttribute compute{"ttnn.device_compute_kernel_config",
                                  {{"math_fidelity", {EnumAttribute{"ttnn.math_fidelity", "hifi2", 2}}}}};
    const OpCall call =
        callOf("ttnn.scaled_dot_product_attention", {query, key, key}, query,
               {{"is_causal", ttnn::test::flag(causal)}, {"program_config", {config}}, {"compute_config", {compute}}});
    return estimateOf(sim::chip(Arch::WormholeB0), *findOp(call.name), call, Origin::Program);
  };
  // tt-metal #7461; exponentials are fitted to 8 users.
  const double one = estimated(128, true).duration.ns / 414.8e3 - 1,
               eight = estimated(128, true, 8).duration.ns / 2695e3 - 1;
  EXPECT_NEAR(one, 0, tolerance);
  EXPECT_NEAR(eight, 0, tolerance);
  EXPECT_NEAR(std::sqrt((one * one + eight * eight) / 2), rowOf(ttmlir::cost::Kind::Attention).uncertainty, 0.005);
  const auto once = estimated(2048, false).cost, each = estimated(128, false).cost;
  const int64_t keys = 64 * 4 * 1088;
  EXPECT_EQ(once.dramBytes, 2 * (8 * keys + 8 * keys)); // queries, results, and the keys and values of 8 heads
  EXPECT_EQ(each.dramBytes - once.dramBytes, 2 * 8 * 15 * keys);
  EXPECT_EQ(estimated(128, true).cost.matmulTiles, 8 * (64 * 65 / 2) * 8);
}

TEST(Cost, EveryOpHasOneRule) {
  std::set<std::string_view> names;
  for (const api::Op &op : api::ops()) {
    names.insert(op.name);
    const OpInfo *info = findOp(op.name);
    const bool isElementwise = info && info->rule == &ttmlir::cost::elementwise;
    EXPECT_NE(isElementwise, ttmlir::cost::findRule(op.name) != nullptr) << op.name << " in lib/costs";
  }
  for (const ttmlir::cost::Rule &rule : ttmlir::cost::rules())
    EXPECT_TRUE(names.contains(rule.op)) << rule.op << " is no op";
}

TEST(Cost, WhatTheChipDoesNotSeeTakesNoTime) {
  const TensorSpec spec = tiled(bf16, {64, 64});
  EXPECT_EQ(microseconds(callOf("ttnn.bitcast_convert", {spec}, spec), Origin::Program), 0);
}

TEST(Cost, EstimatesSayHowFarTheyMayBeOff) {
  const TensorSpec spec = tiled(bf16, {1024, 1024});
  for (const char *op : {"ttnn.matmul", "ttnn.add"}) {
    const auto found =
        estimateOf(sim::chip(Arch::WormholeB0), *findOp(op), callOf(op, {spec, spec}, spec), Origin::Program);
    EXPECT_DOUBLE_EQ(found.duration.uncertaintyNs,
                     found.duration.ns * ttmlir::cost::rowOf(found.cost.kind).uncertainty);
    EXPECT_GT(found.duration.uncertaintyNs, 0);
  }
}

TEST(Cost, ProgramsHaveAllPhasesAndTheLibraryWhatItChooses) {
  const TensorSpec spec = tiled(bf16, {2048, 2048});
  const OpCall call = callOf("ttnn.matmul", {spec, spec}, spec);
  auto phases = [&](Origin origin) {
    return estimateOf(sim::chip(Arch::WormholeB0), *findOp("ttnn.matmul"), call, origin).cost.phases;
  };
  EXPECT_EQ(phases(Origin::Program), 4);
  EXPECT_EQ(phases(Origin::Library), 2);
}

TEST(Cost, PublishedFunctionsOfTheVectorUnitTakeTheirCycles) {
  const TensorSpec spec = tiled(bf16, {1024, 1024}, BufferType::L1); // 1024 tiles on 64 cores
  auto cyclesOf = [&](const std::string &op) {
    const OpCall call = callOf(op, {spec}, spec);
    return estimateOf(sim::chip(Arch::WormholeB0), *findOp(op), call, Origin::Program).duration.cycles - 6000;
  };
  EXPECT_EQ(cyclesOf("ttnn.tanh"), 16 * 530);
  EXPECT_EQ(cyclesOf("ttnn.rsqrt"), 16 * 1008);
  EXPECT_EQ(cyclesOf("ttnn.sign"), 16 * 128); // no figure of its own
}

} // namespace
