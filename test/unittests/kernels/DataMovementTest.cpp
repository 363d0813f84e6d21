//===- DataMovementTest.cpp - data movement, creation, conversion ---------===//
// SPDX-License-Identifier: Apache-2.0

#include "OpTest.h"

using namespace tt;
using namespace tt::ttnn;
using namespace tt::ttnn::test;

namespace {

constexpr DataType f32 = DataType::Float32, bf16 = DataType::BFloat16, i32 = DataType::Int32, u8 = DataType::UInt8;
const DataType types[] = {f32, bf16, u8};

/// Calls f(index) for every index of a shape, row-major.
void forEachIndex(const Shape &shape, const std::function<void(const Shape &)> &f) {
  Shape index(shape.size(), 0);
  for (int64_t i = 0, n = volume(shape); i < n; ++i) {
    int64_t rest = i;
    for (size_t d = shape.size(); d-- > 0; rest /= shape[d])
      index[d] = rest % shape[d];
    f(index);
  }
}
size_t flat(const Shape &shape, const Shape &index) {
  int64_t at = 0;
  for (size_t d = 0; d < shape.size(); ++d)
    at = at * shape[d] + index[d];
  return static_cast<size_t>(at);
}

struct Permutation {
  Shape shape;
  std::vector<int64_t> order;
};
class Permute : public testing::TestWithParam<Permutation> {};
TEST_P(Permute, MovesEveryElement) {
  const auto &[shape, order] = GetParam();
  Shape out;
  for (int64_t d : order)
    out.push_back(shape[static_cast<size_t>(d)]);
  for (DataType type : types) {
    const Value x = random(type, shape, 0, 200);
    std::vector<double> expected;
    forEachIndex(out, [&](const Shape &index) {
      Shape from(shape.size());
      for (size_t d = 0; d < order.size(); ++d)
        from[static_cast<size_t>(order[d])] = index[d];
      expected.push_back(x.get(flat(shape, from)));
    });
    expectEqual(run("ttnn.permute", {&x}, type, out, {{"permutation", ints(order)}}), expected);
  }
}
INSTANTIATE_TEST_SUITE_P(DataMovement, Permute,
                         testing::Values(Permutation{{}, {}}, Permutation{{5}, {0}}, Permutation{{33, 65}, {1, 0}},
                                         Permutation{{0, 3}, {1, 0}}, Permutation{{2, 3, 4}, {2, 0, 1}},
                                         Permutation{{4, 5, 6, 7}, {0, 2, 3, 1}},
                                         Permutation{{4, 5, 6, 7}, {0, 3, 1, 2}},
                                         Permutation{{3, 1, 37, 2}, {3, 2, 1, 0}},
                                         Permutation{{2, 40, 3, 70}, {2, 3, 0, 1}}, Permutation{{300, 400}, {1, 0}}));

TEST(DataMovement, TransposeCountsNegativeDimensions) {
  const Value x = random(f32, {2, 3, 4});
  const Value a = run("ttnn.transpose", {&x}, f32, {2, 4, 3}, {{"dim0", integer(-2)}, {"dim1", integer(-1)}});
  EXPECT_EQ(a.get(flat({2, 4, 3}, {1, 3, 2})), x.get(flat({2, 3, 4}, {1, 2, 3})));
  EXPECT_EQ(errorOf([&] { run("ttnn.transpose", {&x}, f32, {2, 4, 3}, {{"dim0", integer(3)}, {"dim1", integer(0)}}); }),
            "ttnn.transpose: attribute 'dim0' is 3; expected -3 to 2 for rank 3");
}

TEST(DataMovement, ReshapeIsAnAliasUnlessBlocksAreCutAnew) {
  const Value x = random(f32, {4, 6});
  const OpCall call = callOf("ttnn.reshape", {&x}, {Value(f32, {3, 8}).spec}, {{"shape", ints({3, 8})}});
  EXPECT_EQ(findOp("ttnn.reshape")->make(call)->alias(), 0);
  expectEqual(run("ttnn.reshape", {&x}, f32, {3, 8}, {{"shape", ints({3, 8})}}), x.values());
  Value block(DataType::BFP_BFloat8, {2, 8});
  for (size_t i = 0; i < 16; ++i)
    block.set(i, i < 8 ? 100 : 0.01);
  const Value one = run("ttnn.reshape", {&block}, DataType::BFP_BFloat8, {1, 16}, {{"shape", ints({1, 16})}});
  EXPECT_EQ(one.get(0), 100);
  EXPECT_EQ(one.get(15), 0); // shares its exponent with the hundreds now
  EXPECT_EQ(errorOf([&] { run("ttnn.reshape", {&x}, f32, {5, 5}, {{"shape", ints({5, 5})}}); }),
            "ttnn.reshape: attribute 'shape' is [5, 5] with 25 elements, but the input is [4, 6] with 24");
}

TEST(DataMovement, SliceWithSteps) {
  for (DataType type : types) {
    const Value x = random(type, {7, 9, 11}, 0, 99);
    const Shape out = {3, 3, 10};
    std::vector<double> expected;
    forEachIndex(out, [&](const Shape &i) {
      expected.push_back(x.get(flat({7, 9, 11}, {1 + 2 * i[0], 2 + 3 * i[1], i[2] + 1})));
    });
    // Begins and ends count from the end when negative.
    expectEqual(run("ttnn.slice_static", {&x}, type, out,
                    {{"begins", ints({1, 2, -10})}, {"ends", ints({-1, 9, 11})}, {"step", ints({2, 3, 1})}}),
                expected);
  }
  const Value x = random(f32, {7});
  EXPECT_EQ(run("ttnn.slice_static", {&x}, f32, {0}, {{"begins", ints({3})}, {"ends", ints({3})}, {"step", ints({1})}})
                .size(),
            0u);
  EXPECT_EQ(errorOf([&] {
              run("ttnn.slice_static", {&x}, f32, {0},
                  {{"begins", ints({5})}, {"ends", ints({3})}, {"step", ints({1})}});
            }),
            "ttnn.slice_static: attribute 'ends' is 3, before 'begins' 5, in dimension 0 of size 7");
  EXPECT_EQ(errorOf([&] {
              run("ttnn.slice_static", {&x}, f32, {7},
                  {{"begins", ints({0})}, {"ends", ints({8})}, {"step", ints({1})}});
            }),
            "ttnn.slice_static: attribute 'ends' is 8 in dimension 0 of size 7");
}

TEST(DataMovement, Concat) {
  for (DataType type : types)
    for (int64_t dim : {0, 1, 2, -1}) {
      const size_t d = static_cast<size_t>(dim < 0 ? dim + 3 : dim);
      Shape a = {3, 5, 7}, b = a, c = a, out = a;
      b[d] = 0;
      c[d] = 4;
      out[d] = a[d] + 4;
      const Value x = random(type, a, 0, 99, 1), y = random(type, b), z = random(type, c, 0, 99, 2);
      std::vector<double> expected;
      forEachIndex(out, [&](const Shape &i) {
        Shape from = i;
        if (i[d] >= a[d]) {
          from[d] -= a[d];
          expected.push_back(z.get(flat(c, from)));
        } else {
          expected.push_back(x.get(flat(a, from)));
        }
      });
      expectEqual(run("ttnn.concat", {&x, &y, &z}, type, out, {{"dim", integer(dim)}}), expected);
    }
  const Value x = random(f32, {2, 3}), y = random(f32, {3, 3});
  EXPECT_EQ(errorOf([&] { run("ttnn.concat", {&x, &y}, f32, {2, 6}, {{"dim", integer(1)}}); }),
            "ttnn.concat: operands '0' and '1' have shapes [2, 3] and [3, 3]; they may differ only in dimension 1");
}

TEST(DataMovement, RepeatAndPad) {
  const Value x(f32, {2, 2}, {1, 2, 3, 4});
  expectEqual(run("ttnn.repeat", {&x}, f32, {2, 4}, {{"repeat_dims", ints({1, 2})}}), {1, 2, 1, 2, 3, 4, 3, 4});
  expectEqual(run("ttnn.repeat", {&x}, f32, {2, 2, 2}, {{"repeat_dims", ints({2, 1, 1})}}), {1, 2, 3, 4, 1, 2, 3, 4});
  expectEqual(run("ttnn.repeat_interleave", {&x}, f32, {4, 2}, {{"repeats", integer(2)}, {"dim", integer(0)}}),
              {1, 2, 1, 2, 3, 4, 3, 4});
  expectEqual(run("ttnn.pad", {&x}, f32, {3, 4},
                  {{"padding", ints({1, 0, 0, 2})}, {"value", real(-1)}, {"use_multicore", flag(true)}}),
              {-1, -1, -1, -1, 1, 2, -1, -1, 3, 4, -1, -1});
}

TEST(Creation, FillsEveryType) {
  for (DataType type : {f32, bf16, i32, u8}) {
    expectEqual(run("ttnn.zeros", {}, type, {3}, {{"shape", ints({3})}}), {0, 0, 0});
    expectEqual(run("ttnn.ones", {}, type, {2}, {{"shape", ints({2})}}), {1, 1});
    expectEqual(run("ttnn.full", {}, type, {2}, {{"shape", ints({2})}, {"fill_value", integer(7)}}), {7, 7});
    expectEqual(run("ttnn.empty", {}, type, {0}, {{"shape", ints({0})}}), {});
    expectEqual(run("ttnn.arange", {}, type, {3}, {{"start", integer(1)}, {"end", integer(8)}, {"step", integer(3)}}),
                {1, 4, 7});
  }
  expectEqual(run("ttnn.full", {}, i32, {1}, {{"shape", ints({1})}, {"fill_value", integer(16777217)}}), {16777217});
  expectEqual(run("ttnn.arange", {}, i32, {2}, {{"start", integer(5)}, {"end", integer(1)}, {"step", integer(-3)}}),
              {5, 2});
  EXPECT_EQ(errorOf([&] {
              run("ttnn.arange", {}, i32, {2}, {{"start", integer(5)}, {"end", integer(1)}, {"step", integer(0)}});
            }),
            "ttnn.arange: attribute 'step' is 0");
  const Value r = run("ttnn.rand", {}, f32, {10000},
                      {{"size", ints({10000})}, {"low", real(2)}, {"high", real(3)}, {"seed", integer(4)}});
  double sum = 0;
  for (double v : r.values()) {
    EXPECT_TRUE(v >= 2 && v < 3);
    sum += v;
  }
  EXPECT_NEAR(sum / 10000, 2.5, 0.02);
  // A seed gives the same numbers again, 0 others in each run.
  for (const int64_t seed : {0, 4}) {
    const auto draw = [&] {
      return runOnce("ttnn.rand", {}, {Value(f32, {100})},
                     {{"size", ints({100})}, {"low", real(0)}, {"high", real(1)}, {"seed", integer(seed)}})[0]
          .values();
    };
    EXPECT_EQ(draw() == draw(), seed != 0);
  }
}

TEST(Creation, ConstantIsCopiedAndItsSizeChecked) {
  const Value x = random(bf16, {5, 7});
  const std::span<const std::byte> bytes(x.bytes);
  expectEqual(run("ttnn.constant", {}, bf16, {5, 7}, {{"value", {ConstantAttribute{bytes}}}}), x.values());
  EXPECT_EQ(errorOf([&] { run("ttnn.constant", {}, f32, {5, 7}, {{"value", {ConstantAttribute{bytes}}}}); }),
            "ttnn.constant: attribute 'value' has 70 bytes; expected 140 for [5, 7] of type f32");
}

TEST(Conversion, MovesKeepBytesAndConvertTypes) {
  const Value x = random(f32, {33, 65});
  for (const char *name : {"ttnn.to_layout", "ttnn.to_memory_config", "ttnn.to_device", "ttnn.from_device"}) {
    expectEqual(run(name, {&x}, f32, {33, 65}), x.values());
    EXPECT_EQ(findOp(name)->make(callOf(name, {&x}, {x.spec}, {}))->alias(), 0);
  }
  std::vector<double> rounded;
  for (double v : x.values())
    rounded.push_back(fromBf16(toBf16(static_cast<float>(v))));
  expectEqual(run("ttnn.to_layout", {&x}, bf16, {33, 65}), rounded);
}

TEST(DataMovement, CopyWritesItsSecondOperand) {
  struct Row {
    DataType from, to;
    Shape shape;
  };
  const DataType f32 = DataType::Float32, bf16 = DataType::BFloat16, i32 = DataType::Int32;
  const Row rows[] = {{f32, f32, {3, 33}}, {f32, bf16, {2, 5, 7}},
                      {bf16, f32, {1}},    {bf16, bf16, {1, 1, 1, 1}},
                      {i32, i32, {17}},    {f32, i32, {4, 5}},
                      {f32, f32, {}},      {f32, f32, {0, 4}},
                      {i32, bf16, {2, 3}}, {f32, DataType::BFP_BFloat8, {2, 32}}};
  for (const Row &row : rows) {
    const Value x = random(row.from, row.shape, -4, 4);
    const Value target(row.to, row.shape); // what the kernel writes to, though it is an operand
    runAll("ttnn.copy", {&x, &target}, {});
    std::vector<double> expected = x.values();
    if (row.to == i32)
      for (double &v : expected)
        v = std::trunc(v);
    const bool block = row.to == DataType::BFP_BFloat8;
    expectNear(target, expected, row.to == bf16 ? 0x1p-8 : 0, block ? 4 * 0x1p-6 : 0);
  }
  const OpInfo *info = findOp("ttnn.copy");
  EXPECT_EQ(info->writes, std::vector<int>{1});
  const Value x(f32, {2, 3}), y(f32, {3, 2});
  EXPECT_EQ(errorOf([&] { runAll("ttnn.copy", {&x, &y}, {}); }),
            "ttnn.copy: cannot write a tensor of shape [2, 3] to one of [3, 2]; the shapes differ");
  EXPECT_EQ(errorOf([&] { runAll("ttnn.copy", {&x, &y}, {x}); }), "ttnn.copy: 1 results; expected 0");
}

} // namespace
