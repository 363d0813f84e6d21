//===- CollectiveTest.cpp - distribution and collectives on a 2x4 mesh ----------===//
// SPDX-License-Identifier: Apache-2.0

#include "OpTest.h"

#include <array>

using namespace tt;
using namespace tt::ttnn;
using namespace tt::ttnn::test;

namespace {

constexpr DataType f32 = DataType::Float32, i32 = DataType::Int32;
constexpr uint32_t rows = 2, columns = 4;

Attribute replicate() {
  return {StructAttribute{"ttnn.placement", {{"type", {EnumAttribute{"ttnn.placement_type", "replicate", 0}}}}}};
}
Attribute shard(int64_t dim) {
  return {StructAttribute{"ttnn.placement",
                          {{"type", {EnumAttribute{"ttnn.placement_type", "shard", 1}}}, {"dim", integer(dim)}}}};
}
Named mapper(Attribute a, Attribute b) {
  return {{"mapper_config", {StructAttribute{"ttnn.mesh_mapper_config", {{"placements", {ListAttribute{{a, b}}}}}}}}};
}
Named composer(std::vector<int64_t> dims, std::vector<int64_t> shape = {}) {
  StructAttribute config{"ttnn.mesh_composer_config", {{"dims", ints(std::move(dims))}}};
  if (!shape.empty())
    config.fields.push_back({"mesh_shape_override", ints(std::move(shape))});
  return {{"composer_config", {config}}};
}
Attribute reduceType(const char *symbol, int64_t value) { return {EnumAttribute{"ttcore.reduce_type", symbol, value}}; }

/// Runs a mesh op; `ins` has one value, or one per device.
std::vector<Value> runMesh(const std::string &name, const std::vector<Value> &ins, DataType type, const Shape &shape,
                           Named attributes, bool toHost = false) {
  return runOnMesh(name, {ins}, type, shape, std::move(attributes), rows, columns, toHost ? 1 : rows * columns);
}

std::vector<Value> perDevice(DataType type, const Shape &shape) {
  std::vector<Value> values;
  for (uint32_t d = 0; d < rows * columns; ++d)
    values.push_back(random(type, shape, -50, 50, d + 1));
  return values;
}

TEST(Collectives, DistributeThenAggregateIsIdentity) {
  const Value x = random(f32, {6, 8, 5});
  const auto parts = runMesh("ttnn.distribute_tensor", {x}, f32, {3, 2, 5}, mapper(shard(0), shard(1)));
  EXPECT_EQ(parts[6].get(0), x.get((3 * 8 + 4) * 5)); // device (1, 2) begins at [3, 4, 0]
  expectEqual(runMesh("ttnn.aggregate_tensor", parts, f32, {6, 8, 5}, composer({0, 1}), true)[0], x.values());
}

TEST(Collectives, ReplicatedAxis) {
  const Value x = random(f32, {3, 8});
  const auto parts = runMesh("ttnn.distribute_tensor", {x}, f32, {3, 2}, mapper(replicate(), shard(-1)));
  expectEqual(parts[1], parts[5].values());
  for (const Named &config : {composer({-1, 1}), composer({0, 1}, {1, 4})})
    expectEqual(runMesh("ttnn.aggregate_tensor", parts, f32, {3, 8}, config, true)[0], x.values());
  EXPECT_EQ(errorOf([&] { runMesh("ttnn.distribute_tensor", {x}, f32, {3, 2}, mapper(shard(0), shard(1))); }),
            "ttnn.distribute_tensor: dimension 0 of size 3 does not divide among 2 chips");
}

TEST(Collectives, AllGatherAlongBothAxes) {
  const auto x = perDevice(f32, {2, 3});
  const auto across =
      runMesh("ttnn.all_gather", x, f32, {2, 12}, {{"all_gather_dim", integer(1)}, {"cluster_axis", integer(1)}});
  const auto down =
      runMesh("ttnn.all_gather", x, f32, {4, 3}, {{"all_gather_dim", integer(-2)}, {"cluster_axis", integer(0)}});
  for (size_t d = 0; d < 8; ++d)
    for (size_t i = 0; i < 2; ++i)
      for (size_t j = 0; j < 12; ++j) {
        EXPECT_EQ(across[d].get(i * 12 + j), x[d / 4 * 4 + j / 3].get(i * 3 + j % 3));
        if (j < 3)
          EXPECT_EQ(down[d].get((2 + i) * 3 + j), x[4 + d % 4].get(i * 3 + j));
      }
}

TEST(Collectives, Reductions) {
  for (DataType type : {f32, i32}) {
    const auto x = perDevice(type, {4, 3});
    const auto sum = runMesh("ttnn.all_reduce", x, type, {4, 3},
                             {{"reduce_type", reduceType("sum", 0)}, {"cluster_axis", integer(1)}});
    const auto most = runMesh("ttnn.all_reduce", x, type, {4, 3},
                              {{"reduce_type", reduceType("max", 2)}, {"cluster_axis", integer(0)}});
    const auto scattered =
        runMesh("ttnn.reduce_scatter", x, type, {1, 3},
                {{"reduce_type", reduceType("sum", 0)}, {"scatter_dim", integer(0)}, {"cluster_axis", integer(1)}});
    for (size_t d = 0; d < 8; ++d)
      for (size_t i = 0; i < 12; ++i) {
        double total = 0;
        for (size_t k = 0; k < 4; ++k)
          total += x[d / 4 * 4 + k].get(i);
        EXPECT_NEAR(sum[d].get(i), total, 1e-4);
        EXPECT_EQ(most[d].get(i), std::max(x[d % 4].get(i), x[d % 4 + 4].get(i)));
        if (i / 3 == d % 4)
          EXPECT_NEAR(scattered[d].get(i % 3), total, 1e-4);
      }
  }
}

TEST(Collectives, PartitionAndPointToPoint) {
  const auto x = perDevice(f32, {8, 3});
  const auto parts =
      runMesh("ttnn.mesh_partition", x, f32, {4, 3}, {{"dim", integer(0)}, {"cluster_axis", integer(0)}});
  EXPECT_EQ(parts[5].get(0), x[5].get(12));
  const auto all = runMesh("ttnn.mesh_partition", x, f32, {1, 3}, {{"dim", integer(0)}});
  EXPECT_EQ(all[7].get(1), x[7].get(22));
  const auto sent = runMesh("ttnn.point_to_point", x, f32, {8, 3},
                            {{"sender_coord", ints({0, 1})}, {"receiver_coord", ints({1, 3})}});
  expectEqual(sent[7], x[1].values());
  EXPECT_EQ(sent[0].get(0), 0);
}

TEST(Collectives, PermuteAndAllToAll) {
  const auto x = perDevice(f32, {8, 3});
  const auto moved =
      runMesh("ttnn.collective_permute", x, f32, {8, 3}, {{"source_target_pairs", ints({0, 5, 5, 0, 1, 1, 7, 2})}});
  for (const auto &[to, from] : {std::pair(5, 0), {0, 5}, {1, 1}, {2, 7}})
    expectEqual(moved[static_cast<size_t>(to)], x[static_cast<size_t>(from)].values());
  for (size_t idle : {3, 4, 6, 7})
    for (size_t i = 0; i < 24; ++i)
      EXPECT_EQ(moved[idle].get(i), 0);
  // Parts of rows become parts of columns; who is in no group has zeros.
  const auto parts = runMesh("ttnn.all_to_all", x, f32, {4, 6},
                             {{"split_dim", integer(0)},
                              {"concat_dim", integer(1)},
                              {"split_count", integer(2)},
                              {"replica_groups", ints({6, 1, 2, 3})}});
  for (const auto &group : {std::array<size_t, 2>{6, 1}, {2, 3}})
    for (size_t place = 0; place < 2; ++place)
      for (size_t row = 0; row < 4; ++row)
        for (size_t column = 0; column < 6; ++column)
          EXPECT_EQ(parts[group[place]].get(row * 6 + column),
                    x[group[column / 3]].get((place * 4 + row) * 3 + column % 3));
  EXPECT_EQ(parts[0].get(0), 0);
}

/// Operands that every device has alike come once; results are per device all the same.
TEST(Collectives, OfOneValue) {
  const Value x = random(f32, {8, 4}, -50, 50);
  struct Case {
    const char *name;
    Shape result;
    Named attributes;
  };
  const Attribute sum = reduceType("sum", 0);
  const Case cases[] = {
      {"ttnn.all_gather", {8, 16}, {{"all_gather_dim", integer(1)}, {"cluster_axis", integer(1)}}},
      {"ttnn.all_gather", {16, 4}, {{"all_gather_dim", integer(0)}, {"cluster_axis", integer(0)}}},
      {"ttnn.all_reduce", {8, 4}, {{"reduce_type", sum}, {"cluster_axis", integer(1)}}},
      {"ttnn.all_reduce", {8, 4}, {{"reduce_type", sum}, {"cluster_axis", integer(0)}}},
      {"ttnn.reduce_scatter",
       {2, 4},
       {{"reduce_type", sum}, {"scatter_dim", integer(0)}, {"cluster_axis", integer(1)}}},
      {"ttnn.mesh_partition", {1, 4}, {{"dim", integer(0)}}},
      {"ttnn.point_to_point", {8, 4}, {{"sender_coord", ints({0, 1})}, {"receiver_coord", ints({1, 3})}}},
      {"ttnn.collective_permute", {8, 4}, {{"source_target_pairs", ints({0, 7, 3, 1})}}},
      {"ttnn.all_to_all",
       {4, 8},
       {{"split_dim", integer(0)},
        {"concat_dim", integer(1)},
        {"split_count", integer(2)},
        {"replica_groups", ints({0, 1, 2, 3, 4, 5, 6, 7})}}},
      {"ttnn.distributed_rms_norm", {8, 4}, {{"cluster_axis", integer(1)}}},
      {"ttnn.distribute_tensor", {4, 1}, mapper(shard(0), shard(1))},
  };
  for (const Case &each : cases) {
    const auto once = runMesh(each.name, {x}, f32, each.result, each.attributes);
    const auto often = runMesh(each.name, std::vector<Value>(8, x), f32, each.result, each.attributes);
    for (size_t d = 0; d < 8; ++d)
      expectEqual(once[d], often[d].values());
  }
}

TEST(Collectives, NumbersOfShards) {
  const auto x = perDevice(f32, {8, 4});
  const Named reduce = {{"reduce_type", reduceType("sum", 0)}, {"cluster_axis", integer(1)}};
  const Named norm = {{"cluster_axis", integer(1)}};
  const Named gather = {{"all_gather_dim", integer(1)}, {"cluster_axis", integer(1)}};
  for (const auto &[name, shape, attributes] : std::vector<std::tuple<const char *, Shape, Named>>{
           {"ttnn.all_reduce", {8, 4}, reduce},
           {"ttnn.all_gather", {8, 16}, gather},
           {"ttnn.distributed_layer_norm", {8, 4}, norm},
           {"ttnn.distribute_tensor", {4, 1}, mapper(shard(0), shard(1))}})
    EXPECT_EQ(errorOf([&] { runMesh(name, x, f32, shape, attributes, /*toHost=*/true); }),
              std::string(name) + ": result 0 is one tensor; expected a shard for each of the 8 chips of the mesh");
  EXPECT_EQ(errorOf([&] { runMesh("ttnn.aggregate_tensor", x, f32, {16, 16}, composer({0, 1})); }),
            "ttnn.aggregate_tensor: result 0 is distributed; expected one tensor");
}

TEST(Collectives, WhatIsTakenOnceIsTheSameEverywhere) {
  const auto x = perDevice(f32, {2, 4});
  EXPECT_EQ(errorOf([&] { runMesh("ttnn.distribute_tensor", x, f32, {1, 1}, mapper(shard(0), shard(1))); }),
            "ttnn.distribute_tensor: the value of chip 0 is taken for those of chips 1, 2, 3, 4, 5, 6 and 7, but chips "
            "1, 2, 3, 4, 5, 6 and 7 differ from it");
  std::vector<Value> rowsAlike(x);
  for (size_t d = 4; d < 8; ++d)
    rowsAlike[d] = x[d - 4];
  for (const Named &config : {composer({-1, 1}), composer({0, 1}, {1, 4})}) {
    const auto joined = runMesh("ttnn.aggregate_tensor", rowsAlike, f32, {2, 16}, config, true);
    EXPECT_EQ(joined[0].get(4), x[1].get(0));
    auto different = rowsAlike;
    different[6].set(3, 77);
    EXPECT_EQ(errorOf([&] { runMesh("ttnn.aggregate_tensor", different, f32, {2, 16}, config, true); }),
              "ttnn.aggregate_tensor: the value of chip 2 is taken for those of chip 6, but chip 6 differs from it");
  }
  // An override that chooses a part of the mesh says nothing about the rest.
  EXPECT_EQ(runMesh("ttnn.aggregate_tensor", x, f32, {2, 8}, composer({0, 1}, {1, 2}), true)[0].get(4), x[1].get(0));
}

TEST(Collectives, Errors) {
  const auto x = perDevice(f32, {2, 2});
  EXPECT_EQ(errorOf([&] {
              runMesh("ttnn.all_gather", x, f32, {2, 2},
                      {{"all_gather_dim", integer(0)}, {"cluster_axis", integer(2)}});
            }),
            "ttnn.all_gather: attribute 'cluster_axis' is 2, but the mesh is [2, 4]");
  EXPECT_EQ(errorOf([&] {
              runMesh("ttnn.all_reduce", x, f32, {2, 2},
                      {{"reduce_type", reduceType("std", 4)}, {"cluster_axis", integer(0)}});
            }),
            "ttnn.all_reduce: attribute 'reduce_type' is std; expected sum, max, min or prod");
}

} // namespace
