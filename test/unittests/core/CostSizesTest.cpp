//===- CostSizesTest.cpp - cost rules and sizes of any kind ---------------===//
// SPDX-License-Identifier: Apache-2.0
//
// The compiler asks the rules before anything has checked that a tensor fits
// anywhere: its sizes may be 0, and their products may not fit into 64 bits.
//
//===----------------------------------------------------------------------===//

#include "ttmlir/costs/Costs.h"

#include <array>
#include <gtest/gtest.h>
#include <random>

using namespace ttmlir::cost;
using tt::shapes::Attribute;

namespace {

constexpr std::array<int64_t, 10> sizes = {
    0, 1, 7, 32, 8192, int64_t(1) << 31, int64_t(1) << 32, (int64_t(1) << 37) + 32, int64_t(1) << 62, INT64_MAX - 31};

class AnyOp final : public Op {
public:
  explicit AnyOp(std::mt19937 &random) : random(random) {}
  Attribute attribute(std::string_view) const override {
    const int64_t size = sizes[random() % sizes.size()];
    switch (random() % 4) {
    case 0:
      return {};
    case 1:
      return Attribute::of(random() % 2 == 0);
    case 2:
      return Attribute::of(size);
    default:
      return Attribute::of(std::array{size, int64_t(3), int64_t(0), size});
    }
  }

private:
  std::mt19937 &random;
};

TEST(CostSizes, NoRuleDividesByZeroOrRunsOn) {
  std::mt19937 random(7);
  auto size = [&] { return sizes[random() % sizes.size()]; };
  std::array<std::array<int64_t, 5>, 8> shapes;
  auto tensor = [&](size_t place) {
    PlacedTensor made;
    made.memory = Memory(random() % 3);
    made.shards = Shards(random() % 5);
    made.tiled = random() % 2;
    made.isF32 = random() % 2;
    made.bytes = size(), made.rows = size(), made.columns = size(), made.tiles = size();
    made.tileBytes = random() % 2 ? 2048 : 4096;
    made.gridRows = 8, made.gridColumns = 8, made.shardRows = size(), made.shardColumns = size();
    for (int64_t &each : shapes[place])
      each = size();
    made.shape = {shapes[place].data(), random() % 6};
    return made;
  };
  for (const Rule &rule : rules()) {
    for (int i = 0; i < 500; ++i) {
      AnyOp op(random);
      op.name = rule.op;
      std::vector<std::optional<PlacedTensor>> ins;
      std::vector<PlacedTensor> outs;
      for (size_t place = 0, count = random() % 7; place < count; ++place)
        ins.push_back(random() % 8 ? std::optional(tensor(place)) : std::nullopt);
      for (size_t count = random() % 2; outs.size() <= count;)
        outs.push_back(tensor(6 + outs.size()));
      op.ins = ins, op.outs = outs;
      workOf(rule, op);
      circularBytes(rule, op, {8, 8, int64_t(1) << 20});
    }
  }
}

} // namespace
