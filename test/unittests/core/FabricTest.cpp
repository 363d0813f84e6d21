//===- FabricTest.cpp - what collectives send -----------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// The clock counts the sends of an op by its rule, the search for shardings
// counts them by sizes. Both are the same work.
//
//===----------------------------------------------------------------------===//

#include "tt/ttnn/fabric.h"
#include "../ttnn/OpTest.h"
#include "ttmlir/costs/Fabric.h"

using namespace tt;
using namespace tt::ttnn;
using ttmlir::cost::Ring;

namespace {

constexpr int64_t bytes = 64 * 96 * 2; // of a tensor below

OpCall callOf(const std::string &op, uint32_t rows, uint32_t columns, ttnn::test::Named attributes) {
  TensorSpec spec{DataType::BFloat16, {64, 96}, Layout::Tile, {}, false};
  spec.memory = {BufferType::DRAM, MemoryLayout::Interleaved, {}, {}};
  return {op, {spec}, {spec}, Attributes(op, std::move(attributes)), {rows, columns}, {}};
}

void expectSame(const Cost &found, const Cost &expected, const std::string &what) {
  EXPECT_EQ(found.fabricBytes, expected.fabricBytes) << what;
  EXPECT_EQ(found.fabricSteps, expected.fabricSteps) << what;
  EXPECT_EQ(found.fabricHops, expected.fabricHops) << what;
}

TEST(Fabric, RingsOfOpsAreThoseOfSizes) {
  for (const auto &[op, ring] : {std::pair("ttnn.all_gather", Ring::Gather),
                                 {"ttnn.reduce_scatter", Ring::Scatter},
                                 {"ttnn.all_reduce", Ring::Reduce},
                                 {"ttnn.all_reduce_async", Ring::Reduce}})
    for (const auto &[rows, columns, axis] : {std::tuple(1U, 8U, 1), {2U, 4U, 0}, {2U, 4U, 1}, {3U, 3U, 0}}) {
      const Cost found = fabricCostOf(callOf(op, rows, columns, {{"cluster_axis", {int64_t(axis)}}}));
      Cost expected;
      addRing(expected, ring, bytes, axis == 0 ? rows : columns);
      expectSame(found, expected, std::string(op) + " on " + std::to_string(rows) + "x" + std::to_string(columns));
      EXPECT_GT(found.fabricBytes, 0);
    }
}

TEST(Fabric, ExchangesOnALineAreThoseOfSizes) {
  for (uint32_t chips : {2U, 4U, 8U}) {
    std::vector<int64_t> group;
    for (int64_t chip = 0; chip < chips; ++chip)
      group.push_back(chip);
    const Cost found = fabricCostOf(
        callOf("ttnn.all_to_all", 1, chips, {{"split_count", {int64_t(chips)}}, {"replica_groups", {group}}}));
    Cost expected;
    addWays(expected, ttmlir::cost::lineBytes(bytes / chips, chips), chips - 1);
    expectSame(found, expected, std::to_string(chips) + " chips");
  }
}

TEST(Fabric, SendsBetweenChipsAreThoseOfTheirRoutes) {
  const OpCall sent =
      callOf("ttnn.point_to_point", 2, 4,
             {{"sender_coord", {std::vector<int64_t>{0, 1}}}, {"receiver_coord", {std::vector<int64_t>{1, 3}}}});
  Cost expected;
  addWays(expected, 3 * bytes, 3);
  expectSame(fabricCostOf(sent), expected, "point to point");
  expectSame(costOf(sendsOf(sent)), expected, "routes");
  EXPECT_EQ(sendsOf(sent)[0].route, (std::vector<uint32_t>{1, 2, 3, 7}));

  // Chip 0 sends over 3 hops and chip 3 over 1: the longest way counts, and the chip that sends most.
  const OpCall permuted =
      callOf("ttnn.collective_permute", 1, 4, {{"source_target_pairs", {std::vector<int64_t>{0, 3, 3, 2}}}});
  expectSame(fabricCostOf(permuted), expected, "permute");
}

TEST(Fabric, ChipsOutsideOfTheMeshAreErrors) {
  const OpCall call =
      callOf("ttnn.point_to_point", 1, 2,
             {{"sender_coord", {std::vector<int64_t>{0, 0}}}, {"receiver_coord", {std::vector<int64_t>{0, 2}}}});
  try {
    sendsOf(call);
    FAIL() << "expected an error";
  } catch (const OpError &error) {
    EXPECT_NE(std::string(error.what()).find("attribute 'receiver_coord' is [0, 2], outside of the mesh"),
              std::string::npos)
        << error.what();
  }
}

} // namespace
