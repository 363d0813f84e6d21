//===- RanksTest.cpp - programs on a mesh that several ranks share ------------===//
// SPDX-License-Identifier: Apache-2.0
//
// The ranks are threads with a device each. What they compute is compared with
// one process that has all chips, bit for bit.
//
//===----------------------------------------------------------------------===//

#include "ProgramBuilder.h"
#include "ThreadRanks.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace tt;
using namespace tt::runtime;
using namespace tt::test;

namespace {

constexpr uint32_t rows = 2, columns = 4, chips = rows * columns;

TensorSpec spread(Shape shape) {
  TensorSpec spec = deviceSpec(std::move(shape));
  spec.distributed = true;
  return spec;
}

Tensor shards(Shape shape, float start) {
  std::vector<Tensor> parts;
  for (uint32_t chip = 0; chip < chips; ++chip) {
    std::vector<float> values(static_cast<size_t>(volume(shape)));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = std::sin(start + static_cast<float>(chip * values.size() + i)) * 3.0f;
    parts.push_back(tensor(values, shape));
  }
  return createMultiDeviceHostTensor(parts, {rows, columns});
}

sim::MeshOptions meshOf(uint32_t r, uint32_t c) {
  sim::MeshOptions options;
  options.rows = r;
  options.columns = c;
  return options;
}

using Bits = std::vector<std::vector<float>>; // by shard

Bits bitsOf(const Tensor &tensor) {
  Bits bits;
  for (const Tensor &shard : toHost(tensor))
    bits.push_back(floats(shard));
  return bits;
}

/// The outputs of a program on one process, and on each number of ranks from 2 on the same: `build` makes it.
template <class Build>
void expectSame(Build build, const std::vector<Tensor> &inputs, std::initializer_list<uint32_t> sizes = {2, 3, 4, 8},
                size_t program = 0) {
  std::vector<Bits> expected;
  {
    ProgramBuilder builder;
    builder.mesh = {rows, columns};
    const Binary binary = builder.load(build(builder));
    for (const Tensor &output : submit(openMeshDevice(meshOf(rows, columns)), binary, program, inputs))
      expected.push_back(bitsOf(output));
  }
  for (const uint32_t size : sizes)
    onRanks(size, [&](const std::shared_ptr<sim::Ranks> &ranks) {
      ProgramBuilder builder;
      builder.mesh = {rows, columns};
      const Binary binary = builder.load(build(builder));
      const Device device = sim::MeshDevice::open(meshOf(rows, columns), ranks);
      for (int run = 0; run < 2; ++run) {
        const Tensors outputs = submit(device, binary, program, inputs);
        ASSERT_EQ(outputs.size(), expected.size());
        for (size_t k = 0; k < outputs.size(); ++k) {
          for (size_t shard = 0; shard < outputs[k].shards(); ++shard)
            EXPECT_EQ(outputs[k].data(shard) != nullptr, outputs[k].shards() == 1 || device->chips().has(shard));
          EXPECT_EQ(bitsOf(outputs[k]), expected[k])
              << "output " << k << " on rank " << ranks->rank() << " of " << size;
        }
      }
    });
}

ProgramBuilder::Attributes reduction(ProgramBuilder &b, int64_t axis) {
  return {b.integer("cluster_axis", axis), b.enumerator("reduce_type", "ttcore.reduce_type", "sum", 0)};
}

TEST(Ranks, CollectivesAlongBothAxes) {
  for (const int64_t axis : {0, 1})
    expectSame(
        [&](ProgramBuilder &b) {
          const uint32_t x = b.input(spread({4, 8}));
          const uint32_t twice = b.op("ttnn.add", {x, x}, spread({4, 8}));
          const uint32_t sum = b.op("ttnn.all_reduce", {twice}, spread({4, 8}), reduction(b, axis));
          const int64_t group = axis == 0 ? rows : columns;
          const uint32_t all = b.op("ttnn.all_gather", {x}, spread({4 * group, 8}),
                                    {b.integer("all_gather_dim", 0), b.integer("cluster_axis", axis)});
          const uint32_t part = b.op("ttnn.mesh_partition", {all}, spread({4, 8}),
                                     {b.integer("dim", 0), b.integer("cluster_axis", axis)});
          return std::vector{sum, all, part};
        },
        {shards({4, 8}, 0.5f)});
}

/// A chain of elementwise ops, views, values that die and are replaced, and constants.
TEST(Ranks, StepsOfOneDevice) {
  expectSame(
      [](ProgramBuilder &b) {
        const uint32_t x = b.input(spread({4, 8})), w = b.input(deviceSpec({8, 8}));
        const uint32_t y = b.op("ttnn.matmul", {x, w}, spread({4, 8}));
        const uint32_t one = b.constant(deviceSpec({4, 8}), std::vector<float>(32, 1.0f));
        uint32_t chain = b.op("ttnn.exp", {b.op("ttnn.add", {y, y}, spread({4, 8}))}, spread({4, 8}));
        b.deallocate(y);
        chain = b.op("ttnn.reshape", {chain}, spread({8, 4}), {b.integers("shape", {8, 4})});
        const uint32_t same = b.op("ttnn.add", {one, one}, deviceSpec({4, 8}));
        return std::vector{chain, same, x};
      },
      {shards({4, 8}, 0.1f), tensor(std::vector<float>(64, 0.03f), {8, 8})});
}

TEST(Ranks, ToAndFromTheHost) {
  expectSame(
      [](ProgramBuilder &b) {
        const auto placement = [&](bool cut, int64_t dim) {
          ProgramBuilder::Attributes fields = {
              b.enumerator("type", "ttnn.placement_type", cut ? "shard" : "replicate", cut)};
          if (cut)
            fields.push_back(b.integer("dim", dim));
          return b.structure("", "ttnn.placement", fields);
        };
        const uint32_t x = b.input(hostSpec({8, 16}));
        TensorSpec part = hostSpec({8, 4});
        part.distributed = true;
        const uint32_t cut = b.op("ttnn.distribute_tensor", {x}, part,
                                  {b.structure("mapper_config", "ttnn.mesh_mapper_config",
                                               {b.list("placements", {placement(false, 0), placement(true, 1)})})});
        const uint32_t whole =
            b.op("ttnn.aggregate_tensor", {cut}, hostSpec({8, 16}),
                 {b.structure("composer_config", "ttnn.mesh_composer_config", {b.integers("dims", {-1, 1})})});
        return std::vector{whole, cut};
      },
      {tensor(std::vector<float>(128, 0.25f), {8, 16})});
}

/// The condition is a value of every chip: all ranks go through the loop equally often, and some carry nothing.
TEST(Ranks, LoopsAndBranches) {
  const auto build = [](ProgramBuilder &b) {
    const TensorSpec number = spread({}), vector = spread({4});
    b.input(number), b.input(vector);
    const uint32_t cond = b.endProgram("cond", {0}, true);
    const uint32_t n = b.input(number), v = b.input(vector);
    const uint32_t one = b.constant(number, {1.0f});
    const uint32_t less = b.op("ttnn.subtract", {n, one}, number);
    const uint32_t sum = b.op("ttnn.all_reduce", {v}, vector, reduction(b, 0));
    const uint32_t body = b.endProgram("body", {less, sum}, true);
    const uint32_t count = b.input(number), x = b.input(vector), left = b.value(number), y = b.value(vector);
    b.rawOp("ttcore.while", {count, x}, {left, y}, {b.integer("cond", cond), b.integer("body", body)});
    return std::vector{y, left};
  };
  for (const float turns : {0.0f, 1.0f, 4.0f}) {
    const Tensor count = createMultiDeviceHostTensor(std::vector(chips, tensor({turns}, {})), {rows, columns});
    expectSame(build, {count, shards({4}, 0.3f)}, {2, 3}, 2);
  }
}

/// Chips stay in a loop, and take branches, by numbers of their own.
TEST(Ranks, ChipsGoTheirOwnWays) {
  const auto build = [](ProgramBuilder &b) {
    const TensorSpec number = spread({}), vector = spread({4});
    b.input(number), b.input(vector);
    const uint32_t cond = b.endProgram("cond", {0}, true);
    const uint32_t n = b.input(number), v = b.input(vector);
    const uint32_t less = b.op("ttnn.subtract", {n, b.constant(number, {1.0f})}, number);
    const uint32_t body = b.endProgram("body", {less, b.op("ttnn.add", {v, v}, vector)}, true);
    const uint32_t same = b.endProgram("same", {b.input(vector)}, true);
    const uint32_t w = b.input(vector);
    const uint32_t other = b.endProgram("other", {b.op("ttnn.exp", {w}, vector)}, true);
    const uint32_t count = b.input(number), x = b.input(vector), left = b.value(number), y = b.value(vector);
    b.rawOp("ttcore.while", {count, x}, {left, y}, {b.integer("cond", cond), b.integer("body", body)});
    const uint32_t z = b.value(vector);
    b.rawOp("ttcore.case", {count, y}, {z}, {b.integers("branches", {same, other})});
    return std::vector{z, y, left};
  };
  std::vector<Tensor> counts;
  for (uint32_t chip = 0; chip < chips; ++chip)
    counts.push_back(tensor({static_cast<float>(chip % 3)}, {}));
  expectSame(build, {createMultiDeviceHostTensor(counts, {rows, columns}), shards({4}, 0.3f)}, {2, 3, 8}, 4);
}

/// Values that are computed once and kept, from inputs that are spread and from those that all have.
TEST(Ranks, CachedCalls) {
  const auto build = [](ProgramBuilder &b) {
    const uint32_t w = b.input(spread({4, 8}));
    const uint32_t callee =
        b.endProgram("weights", {b.op("ttnn.all_reduce", {w}, spread({4, 8}), reduction(b, 0))}, true);
    const uint32_t x = b.input(spread({4, 8})), given = b.input(spread({4, 8}));
    return std::vector{b.op("ttnn.add", {x, b.cached(callee, {given}, spread({4, 8}))}, spread({4, 8}))};
  };
  expectSame(build, {shards({4, 8}, 0.3f), shards({4, 8}, 0.7f)}, {2, 3, 8}, 1);
}

/// Nothing is sent where groups lie inside of ranks.
TEST(Ranks, GroupsOfOneRankExchangeNothing) {
  const auto sent = [](int64_t axis) {
    size_t bytes = 0;
    onRanks(2, [&](const std::shared_ptr<sim::Ranks> &ranks) {
      ProgramBuilder b;
      b.mesh = {rows, columns};
      const uint32_t x = b.input(spread({4, 8}));
      const Binary binary = b.load({b.op("ttnn.all_reduce", {x}, spread({4, 8}), reduction(b, axis))});
      const Device device = sim::MeshDevice::open(meshOf(rows, columns), ranks);
      const std::vector<Tensor> inputs = {shards({4, 8}, 1)};
      struct Counting final : sim::Ranks {
        explicit Counting(std::shared_ptr<sim::Ranks> to) : Ranks(to->rank(), to->size()), to(std::move(to)) {}
        void exchange(std::span<const Send> sends, std::span<const Receive> receives, std::string_view what) override {
          for (const Send &send : sends)
            if (what.starts_with("op "))
              bytes += send.bytes.size();
          to->exchange(sends, receives, what);
        }
        [[noreturn]] void abort(const std::string &message) override { to->abort(message); }
        std::shared_ptr<sim::Ranks> to;
        size_t bytes = 0;
      };
      const auto counting = std::make_shared<Counting>(ranks);
      (void)submit(sim::MeshDevice::open(meshOf(rows, columns), counting), binary, 0, inputs);
      if (ranks->rank() == 0)
        bytes = counting->bytes;
    });
    return bytes;
  };
  EXPECT_EQ(sent(1), 0u);             // a rank has a row
  EXPECT_EQ(sent(0), 4u * 4 * 8 * 4); // its four shards, once
}

TEST(Ranks, DifferencesAreNamed) {
  const auto messages = [](auto f) {
    std::vector<std::string> result(2);
    onRanks(2, [&](const std::shared_ptr<sim::Ranks> &ranks) {
      result[ranks->rank()] = message<Error>([&] { f(ranks); });
    });
    EXPECT_EQ(result[0], result[1]);
    return result[0];
  };
  EXPECT_EQ(messages([](const auto &ranks) { sim::MeshDevice::open(meshOf(2, ranks->rank() ? 4 : 2), ranks); }),
            "rank 1 of 2: mesh_shape is 2x4; expected 2x2, as on rank 0");
  const std::string files = messages([](const auto &ranks) {
    ProgramBuilder b;
    b.mesh = {rows, columns};
    const uint32_t x = b.input(spread({4, 8}));
    const uint32_t y = b.op(ranks->rank() ? "ttnn.exp" : "ttnn.tanh", {x}, spread({4, 8}));
    const Binary binary = b.load({y});
    (void)submit(sim::MeshDevice::open(meshOf(rows, columns), ranks), binary, 0, {shards({4, 8}, 1)});
  });
  EXPECT_TRUE(files.starts_with("rank 1 of 2: the file ")) << files;
}

/// More ranks than chips; and one chip, which every rank has.
TEST(Ranks, DegenerateMeshes) {
  onRanks(3, [&](const std::shared_ptr<sim::Ranks> &ranks) {
    const Device two = sim::MeshDevice::open(meshOf(1, 2), ranks);
    EXPECT_EQ(two->chips().count(), ranks->rank() == 0 ? 0u : 1u);
    ProgramBuilder b;
    b.mesh = {1, 2};
    TensorSpec spec = deviceSpec({2});
    spec.distributed = true;
    const uint32_t x = b.input(spec);
    const Binary binary = b.load({b.op("ttnn.all_reduce", {x}, spec, reduction(b, 1))});
    const Tensor both = createMultiDeviceHostTensor(std::vector{tensor({1, 2}, {2}), tensor({10, 20}, {2})}, {1, 2});
    EXPECT_EQ(bitsOf(submit(two, binary, 0, {both})[0]), (Bits{{11, 22}, {11, 22}}));
    const Device one = sim::MeshDevice::open(meshOf(1, 1), ranks);
    EXPECT_EQ(one->partition(), nullptr);
    EXPECT_EQ(one->chips().count(), 1u);
  });
}

TEST(Ranks, PartitionCoversEveryChipOnce) {
  for (uint32_t size = 1; size < 9; ++size)
    for (uint32_t count = 1; count < 33; ++count) {
      const sim::Partition partition(std::make_shared<ThreadRanks>(0, size, std::make_shared<Mail>()), count);
      uint32_t next = 0;
      for (uint32_t rank = 0; rank < size; ++rank) {
        EXPECT_EQ(partition.of(rank).first, next);
        next = partition.of(rank).last;
      }
      EXPECT_EQ(next, count);
      for (uint32_t chip = 0; chip < count; ++chip)
        EXPECT_TRUE(partition.of(partition.owner(chip)).has(chip));
    }
}

} // namespace
