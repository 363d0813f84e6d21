//===- CostTest.cpp - estimated times beside published ones ---------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Times measured on an n150 that were published, in microseconds, and whether
// the constants of the model were fitted to them (docs/cost-model.md).
//
//===----------------------------------------------------------------------===//

#include "../ttnn/OpTest.h"

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
// The share of the peak is fitted to the largest of hifi4 in bf16; all others are not used.
INSTANTIATE_TEST_SUITE_P(Cost, PublishedProducts,
                         testing::Values(Product{bf16, 1024, "hifi4", 47.0}, Product{bf16, 2048, "hifi4", 332},
                                         Product{bf16, 4096, "hifi4", 2711}, Product{bf16, 8192, "hifi4", 20850},
                                         Product{bfp8, 1024, "hifi2", 27.5}, Product{bfp8, 2048, "hifi2", 178},
                                         Product{bfp8, 4096, "hifi2", 1451}, Product{bfp8, 8192, "hifi2", 10990},
                                         Product{bfp4, 2048, "lofi", 93.8}, Product{bfp4, 4096, "lofi", 698},
                                         Product{bf16, 2048, nullptr, 299}, Product{bf16, 4096, nullptr, 2009},
                                         Product{bfp8, 2048, nullptr, 156}, Product{bfp8, 4096, nullptr, 927}));

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
    return estimateOf(sim::chip(Arch::WormholeB0), *findOp(op), call, Origin::Program).duration.cycles - 4000;
  };
  EXPECT_EQ(cyclesOf("ttnn.tanh"), 16 * 530);
  EXPECT_EQ(cyclesOf("ttnn.rsqrt"), 16 * 1008);
  EXPECT_EQ(cyclesOf("ttnn.exp"), 16 * 128); // no figure of its own
}

} // namespace
