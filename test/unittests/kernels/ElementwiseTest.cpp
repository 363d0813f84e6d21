//===- ElementwiseTest.cpp - types, broadcasting, rounding ------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "OpTest.h"

using namespace tt;
using namespace tt::ttnn;
using namespace tt::ttnn::test;

namespace {

constexpr DataType f32 = DataType::Float32, bf16 = DataType::BFloat16, i32 = DataType::Int32, u32 = DataType::UInt32,
                   u16 = DataType::UInt16, u8 = DataType::UInt8;

/// numpy broadcasting of a binary reference.
std::vector<double> broadcast(const Value &a, const Value &b, const Shape &shape, double (*f)(double, double)) {
  std::vector<double> out(static_cast<size_t>(volume(shape)));
  auto index = [&](const Shape &from, size_t flat) {
    size_t at = 0, stride = 1;
    for (size_t d = shape.size(); d-- > 0; flat /= static_cast<size_t>(shape[d])) {
      const size_t lead = shape.size() - from.size();
      if (d < lead)
        continue;
      if (from[d - lead] != 1)
        at += flat % static_cast<size_t>(shape[d]) * stride;
      stride *= static_cast<size_t>(from[d - lead]);
    }
    return at;
  };
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = f(a.get(index(a.spec.shape, i)), b.get(index(b.spec.shape, i)));
  return out;
}

struct Shapes {
  Shape a, b, out;
};

class Broadcast : public testing::TestWithParam<Shapes> {};
TEST_P(Broadcast, SubtractMatchesNumpyRules) {
  const auto &[a, b, out] = GetParam();
  for (DataType type : {f32, bf16}) {
    const Value x = random(type, a, -8, 8, 1), y = random(type, b, -8, 8, 2);
    std::vector<double> expected = broadcast(x, y, out, [](double p, double q) { return double(float(p) - float(q)); });
    if (type == bf16)
      for (double &v : expected)
        v = fromBf16(toBf16(static_cast<float>(v)));
    expectEqual(run("ttnn.subtract", {&x, &y}, type, out), expected);
  }
}
INSTANTIATE_TEST_SUITE_P(Elementwise, Broadcast,
                         testing::Values(Shapes{{}, {}, {}}, Shapes{{0}, {0}, {0}}, Shapes{{3, 0}, {1, 1}, {3, 0}},
                                         Shapes{{1}, {1}, {1}}, Shapes{{33, 65}, {33, 65}, {33, 65}},
                                         Shapes{{33, 65}, {}, {33, 65}}, Shapes{{}, {33, 65}, {33, 65}},
                                         Shapes{{33, 65}, {65}, {33, 65}}, Shapes{{33, 65}, {33, 1}, {33, 65}},
                                         Shapes{{33, 1}, {1, 65}, {33, 65}}, Shapes{{4, 1, 7}, {5, 1}, {4, 5, 7}},
                                         Shapes{{2, 3, 1, 5}, {1, 1, 4, 1}, {2, 3, 4, 5}},
                                         Shapes{{100, 700}, {700}, {100, 700}}, Shapes{{3, 5000}, {1, 5000}, {3, 5000}},
                                         Shapes{{5000, 3}, {5000, 1}, {5000, 3}},
                                         Shapes{{64, 1, 300}, {64, 20, 1}, {64, 20, 300}}));

TEST(Elementwise, RefusesShapesThatDoNotBroadcast) {
  const Value a(f32, {3, 4}), b(f32, {4, 3});
  EXPECT_EQ(errorOf([&] { run("ttnn.add", {&a, &b}, f32, {3, 4}); }),
            "ttnn.add: operand shapes [3, 4] and [4, 3] do not broadcast: sizes 3 and 4 in dimension 0");
  EXPECT_EQ(errorOf([&] { run("ttnn.add", {&a, &a}, f32, {4, 4}); }),
            "ttnn.add: result 0 has shape [4, 4]; expected [3, 4]");
}

struct IntRow {
  const char *op;
  DataType type;
  double a, b, expected;
};
class Integers : public testing::TestWithParam<IntRow> {};
TEST_P(Integers, Exact) {
  const IntRow &row = GetParam();
  const Value a(row.type, {1}, {row.a}), b(row.type, {1}, {row.b});
  const std::string name = std::string("ttnn.") + row.op;
  const Value out = findOp(name)->maxIns == 1 ? run(name, {&a}, row.type, {1}) : run(name, {&a, &b}, row.type, {1});
  EXPECT_EQ(out.get(0), row.expected) << row.op << "(" << row.a << ", " << row.b << ")";
}
constexpr double intMin = -2147483648.0, intMax = 2147483647.0;
INSTANTIATE_TEST_SUITE_P(
    Elementwise, Integers,
    testing::Values(
        IntRow{"add", i32, intMax, 1, intMin}, IntRow{"add", u8, 250, 10, 4}, IntRow{"add", u16, 65535, 2, 1},
        IntRow{"subtract", u32, 0, 1, 4294967295.0}, IntRow{"multiply", i32, 65537, 65537, 131073},
        IntRow{"multiply", u32, 4294967295.0, 2, 4294967294.0}, IntRow{"divide", i32, -7, 2, -3},
        IntRow{"divide", i32, intMin, -1, intMin}, IntRow{"divide", i32, 5, 0, -1},
        IntRow{"divide", u32, 4294967295.0, 2, 2147483647.0}, IntRow{"remainder", i32, -7, 3, 2},
        IntRow{"remainder", i32, 7, -3, -2}, IntRow{"remainder", i32, intMin, -1, 0}, IntRow{"remainder", i32, 5, 0, 5},
        IntRow{"abs", i32, intMin, 0, intMin}, IntRow{"neg", i32, intMin, 0, intMin}, IntRow{"neg", u8, 1, 0, 255},
        IntRow{"pow_tensor", i32, 3, 5, 243}, IntRow{"pow_tensor", i32, 2, 32, 0},
        IntRow{"pow_tensor", i32, -1, -3, -1}, IntRow{"maximum", i32, 16777217, 16777216, 16777217},
        IntRow{"minimum", u32, 4294967295.0, 3, 3}, IntRow{"eq", i32, 16777217, 16777216, 0},
        IntRow{"gt", u32, 4294967295.0, 1, 1}, IntRow{"bitwise_and", i32, -1, 255, 255},
        IntRow{"bitwise_or", u8, 0x0f, 0xf0, 255}, IntRow{"bitwise_xor", u16, 0xffff, 0x00ff, 0xff00},
        IntRow{"bitwise_not", i32, 0, 0, -1}, IntRow{"bitwise_not", u8, 0, 0, 255},
        IntRow{"logical_left_shift", i32, 1, 31, intMin}, IntRow{"logical_left_shift", i32, 1, 32, 0},
        IntRow{"logical_right_shift", i32, -1, 1, intMax}, IntRow{"logical_right_shift", i32, -1, -1, 0},
        IntRow{"logical_and", i32, 256, 1, 1}, IntRow{"logical_xor", u8, 2, 3, 0}, IntRow{"logical_not", i32, 0, 0, 1},
        IntRow{"relu", i32, -5, 0, 0}, IntRow{"relu6", i32, 9, 0, 6}, IntRow{"sign", i32, intMin, 0, -1},
        IntRow{"isfinite", i32, 3, 0, 1}, IntRow{"floor", i32, 16777217, 0, 16777217}));

struct UnaryRow {
  const char *op;
  double x, expected;
};
class Specials : public testing::TestWithParam<UnaryRow> {};
TEST_P(Specials, LikeTorch) {
  const UnaryRow &row = GetParam();
  const Value x(f32, {1}, {row.x});
  const double found = run(std::string("ttnn.") + row.op, {&x}, f32, {1}).get(0);
  if (std::isnan(row.expected))
    EXPECT_TRUE(std::isnan(found)) << row.op << "(" << row.x << ") = " << found;
  else
    EXPECT_TRUE(found == row.expected && std::signbit(found) == std::signbit(row.expected))
        << row.op << "(" << row.x << ") = " << found;
}
INSTANTIATE_TEST_SUITE_P(
    Elementwise, Specials,
    testing::Values(UnaryRow{"abs", -0.0, 0.0}, UnaryRow{"abs", -Inf, Inf}, UnaryRow{"neg", 0.0, -0.0},
                    UnaryRow{"relu", NaN, NaN}, UnaryRow{"relu6", NaN, NaN}, UnaryRow{"relu6", Inf, 6},
                    UnaryRow{"exp", -Inf, 0}, UnaryRow{"exp", Inf, Inf}, UnaryRow{"exp", NaN, NaN},
                    UnaryRow{"log", 0, -Inf}, UnaryRow{"log", -0.0, -Inf}, UnaryRow{"log", -1, NaN},
                    UnaryRow{"log", Inf, Inf}, UnaryRow{"log1p", -1, -Inf}, UnaryRow{"log1p", -2, NaN},
                    UnaryRow{"sqrt", -1, NaN}, UnaryRow{"sqrt", -0.0, -0.0}, UnaryRow{"rsqrt", 0, Inf},
                    UnaryRow{"reciprocal", -0.0, -Inf}, UnaryRow{"sigmoid", -Inf, 0}, UnaryRow{"sigmoid", Inf, 1},
                    UnaryRow{"silu", -Inf, NaN}, UnaryRow{"silu", Inf, Inf}, UnaryRow{"gelu", Inf, Inf},
                    UnaryRow{"gelu", -Inf, NaN}, UnaryRow{"mish", Inf, Inf}, UnaryRow{"tanh", -Inf, -1},
                    UnaryRow{"tanh", -0.0, -0.0}, UnaryRow{"sin", -0.0, -0.0}, UnaryRow{"sin", Inf, NaN},
                    UnaryRow{"cos", -Inf, NaN}, UnaryRow{"acos", 1, 0}, UnaryRow{"acos", 1.1, NaN},
                    UnaryRow{"asin", -0.0, -0.0}, UnaryRow{"cbrt", -27, -3}, UnaryRow{"cbrt", -0.0, -0.0},
                    UnaryRow{"sign", NaN, 0}, UnaryRow{"sign", -0.0, 0}, UnaryRow{"isfinite", NaN, 0},
                    UnaryRow{"isfinite", -Inf, 0}, UnaryRow{"isfinite", 3, 1}, UnaryRow{"logical_not", NaN, 0},
                    UnaryRow{"logical_not", -0.0, 1}, UnaryRow{"hardsigmoid", 10, 1}, UnaryRow{"hardsigmoid", NaN, NaN},
                    UnaryRow{"ceil", -0.5, -0.0}, UnaryRow{"floor", -0.0, -0.0}, UnaryRow{"expm1", -0.0, -0.0},
                    UnaryRow{"erf", Inf, 1}, UnaryRow{"erfc", -Inf, 2}));

TEST(Elementwise, ScalarsAndTernary) {
  const Value x(f32, {5}, {-2, -0.5, 0, 3, NaN});
  expectEqual(run("ttnn.leaky_relu", {&x}, f32, {5}, {{"parameter", real(0.25)}}), {-0.5, -0.125, 0, 3, NaN});
  expectEqual(run("ttnn.clamp_scalar", {&x}, f32, {5}, {{"min", real(-1)}, {"max", integer(2)}}),
              {-1, -0.5, 0, 2, NaN});
  expectEqual(run("ttnn.pow_scalar", {&x}, f32, {5}, {{"rhs", real(2)}}), {4, 0.25, 0, 9, NaN});
  expectEqual(run("ttnn.pow_scalar", {&x}, f32, {5}, {{"rhs", integer(3)}}), {-8, -0.125, 0, 27, NaN});
  const Value low(f32, {}, {-1}), high(f32, {5}, {0, 0, 1, 1, 1});
  expectEqual(run("ttnn.clamp_tensor", {&x, &low, &high}, f32, {5}), {-1, -0.5, 0, 1, NaN});
  const Value whole(i32, {3}, {16777217, -5, 7});
  expectEqual(run("ttnn.clamp_scalar", {&whole}, i32, {3}, {{"min", integer(0)}, {"max", integer(16777217)}}),
              {16777217, 0, 7});
  expectEqual(run("ttnn.clamp_scalar", {&whole}, i32, {3}, {{"min", real(0.5)}, {"max", real(6.5)}}), {6, 0, 6});
}

TEST(Elementwise, WhereKeepsIntegersAndTakesAnyCondition) {
  const Value condition(f32, {4}, {0.5, 0, NaN, -0.0}), a(i32, {4}, {16777217, 1, 2, 3}), b(i32, {}, {-9});
  expectEqual(run("ttnn.where", {&condition, &a, &b}, i32, {4}), {16777217, -9, 2, -9});
  const Value mask(u8, {2, 1}, {1, 0}), c(bf16, {3}, {1, 2, 3}), d(bf16, {2, 3}, {4, 5, 6, 7, 8, 9});
  expectEqual(run("ttnn.where", {&mask, &c, &d}, bf16, {2, 3}), {1, 2, 3, 7, 8, 9});
}

TEST(Elementwise, MixedTypes) {
  const Value a(i32, {3}, {1, 7, -9}), b(i32, {3}, {2, 2, 2}), c(bf16, {3}, {0.5, 1.5, 2.5});
  expectEqual(run("ttnn.divide", {&a, &b}, f32, {3}), {0.5, 3.5, -4.5});
  expectEqual(run("ttnn.add", {&a, &c}, f32, {3}), {1.5, 8.5, -6.5});
  expectEqual(run("ttnn.gt", {&c, &a}, u8, {3}), {0, 0, 1});
  expectEqual(run("ttnn.gt", {&a, &b}, bf16, {3}), {0, 1, 0});
  EXPECT_EQ(errorOf([&] { run("ttnn.bitwise_and", {&a, &c}, i32, {3}); }),
            "ttnn.bitwise_and: operand 1 is of type bf16; expected integers");
}

TEST(Elementwise, TypecastSaturatesTruncatesAndWraps) {
  const Value x(f32, {8}, {1.9, -1.9, 3e9, -3e9, NaN, Inf, 255.5, -Inf});
  expectEqual(run("ttnn.typecast", {&x}, i32, {8}), {1, -1, intMax, intMin, 0, intMax, 255, intMin});
  expectEqual(run("ttnn.typecast", {&x}, u8, {8}), {1, 0, 255, 0, 0, 255, 255, 0});
  expectEqual(run("ttnn.typecast", {&x}, u32, {8}), {1, 0, 3e9, 0, 0, 4294967295.0, 255, 0});
  expectEqual(run("ttnn.typecast", {&x}, DataType::Bool, {8}), {1, 1, 1, 1, 1, 1, 1, 1});
  const Value n(i32, {4}, {-1, 256, 65536, 0});
  expectEqual(run("ttnn.typecast", {&n}, u8, {4}), {255, 0, 0, 0});
  expectEqual(run("ttnn.typecast", {&n}, DataType::Bool, {4}), {1, 1, 1, 0});
  expectEqual(run("ttnn.typecast", {&n}, bf16, {4}), {-1, 256, 65536, 0});
}

TEST(Elementwise, RoundsToNearestEven) {
  // Every upper half with the lower halves around the tie.
  Value x(f32, {65536, 3});
  std::vector<double> expected;
  for (uint32_t high = 0; high < 65536; ++high)
    for (uint32_t low = 0; low < 3; ++low) {
      const auto v = std::bit_cast<float>(high << 16 | (0x7fff + low));
      x.at<float>(high * 3 + low) = v;
      expected.push_back(fromBf16(toBf16(v)));
    }
  expectEqual(run("ttnn.typecast", {&x}, bf16, {65536, 3}), expected);
  std::vector<double> halves;
  for (size_t i = 0; i < x.size(); ++i)
    halves.push_back(static_cast<double>(static_cast<_Float16>(x.at<float>(i))));
  expectEqual(run("ttnn.typecast", {&x}, DataType::Float16, {65536, 3}), halves);
}

TEST(Elementwise, ResultInABlockFormatIsQuantisedByRow) {
  // 33 columns: groups of 16, 16 and 1 begin anew with each row.
  const Value a = random(f32, {5, 33}, -4, 4, 3), b = random(f32, {5, 33}, -4, 4, 4);
  const Value out = run("ttnn.add", {&a, &b}, DataType::BFP_BFloat8, {5, 33});
  for (size_t row = 0; row < 5; ++row)
    for (size_t begin = 0; begin < 33; begin += 16) {
      float largest = 0;
      const size_t end = std::min<size_t>(begin + 16, 33);
      for (size_t c = begin; c < end; ++c)
        largest = std::max(largest, std::fabs(float(a.get(row * 33 + c)) + float(b.get(row * 33 + c))));
      const double unit = std::ldexp(1.0, std::ilogb(largest) - 6);
      for (size_t c = begin; c < end; ++c) {
        const size_t i = row * 33 + c;
        const double exact = float(a.get(i)) + float(b.get(i));
        EXPECT_EQ(out.get(i), std::copysign(std::min(std::nearbyint(std::fabs(exact) / unit), 127.0) * unit, exact))
            << "element " << i;
      }
    }
}

TEST(Elementwise, GeluBackward) {
  const Value g(f32, {3}, {1, 2, -1}), x(f32, {3}, {0, 1, -2});
  auto slope = [](double v) {
    return 0.5 * std::erfc(-v * M_SQRT1_2) + v * std::exp(-v * v / 2) / std::sqrt(2 * M_PI);
  };
  expectNear(run("ttnn.gelu_bw", {&g, &x}, f32, {3}), {slope(0), 2 * slope(1), -slope(-2)}, 1e-6, 0);
  const Value tanhForm = run("ttnn.gelu_bw", {&g, &x}, f32, {3}, {{"approximate", text("tanh")}});
  auto tanhSlope = [](double v) {
    const double b = std::sqrt(2 / M_PI), t = std::tanh(b * (v + 0.044715 * v * v * v));
    return 0.5 * (1 + t) + 0.5 * v * (1 - t * t) * b * (1 + 3 * 0.044715 * v * v);
  };
  expectNear(tanhForm, {tanhSlope(0), 2 * tanhSlope(1), -tanhSlope(-2)}, 1e-6, 0);
  EXPECT_EQ(errorOf([&] { run("ttnn.gelu_bw", {&g, &x}, f32, {3}, {{"approximate", text("fast")}}); }),
            "ttnn.gelu_bw: attribute 'approximate' is \"fast\"; expected \"none\" or \"tanh\"");
}

TEST(Registry, EveryRowIsCompleteAndSorted) {
  std::string_view before;
  for (const OpInfo &info : allOps()) {
    EXPECT_LT(before, info.name);
    before = info.name;
    // Calls of other programs are the executor's.
    const bool isCall = info.name.starts_with("ttcore.") || info.name == "ttnn.capture_or_execute_trace";
    EXPECT_EQ((info.make != nullptr) + (info.makeMesh != nullptr), isCall ? 0 : 1) << info.name;
    EXPECT_TRUE(info.rule != nullptr) << info.name;
    EXPECT_EQ(findOp(info.name), &info);
  }
  EXPECT_EQ(findOp("ttnn.nothing"), nullptr);
}

TEST(Registry, CheckNamesWhatIsWrong) {
  const Value x(f32, {2});
  auto checked = [&](const std::string &name, std::vector<const Value *> ins, Named attributes) {
    return errorOf([&] { check(*findOp(name), callOf(name, ins, {x.spec}, attributes)); });
  };
  EXPECT_EQ(checked("ttnn.add", {&x}, {}), "ttnn.add: 1 operands; expected 2");
  EXPECT_EQ(checked("ttnn.add", {&x, nullptr}, {}), "ttnn.add: operand 1 is absent");
  EXPECT_EQ(checked("ttnn.leaky_relu", {&x}, {}), "ttnn.leaky_relu: attribute 'parameter' is missing");
  EXPECT_EQ(checked("ttnn.leaky_relu", {&x}, {{"parameter", flag(true)}}),
            "ttnn.leaky_relu: attribute 'parameter' is a bool; expected a float");
  EXPECT_EQ(checked("ttnn.relu", {&x}, {{"speed", integer(3)}}), "ttnn.relu: unknown attribute 'speed'");
  EXPECT_EQ(checked("ttnn.relu", {&x}, {{"dtype", {EnumAttribute{"ttcore.data_type", "f32", 0}}}}), "no error");
  EXPECT_EQ(checked("ttnn.relu", {&x}, {{"dtype", {EnumAttribute{"ttnn.layout", "tile", 1}}}}),
            "ttnn.relu: attribute 'dtype' is of type ttnn.layout; expected ttcore.data_type");
  EXPECT_EQ(checked("ttnn.matmul", {&x, &x}, {{"matmul_program_config", {StructAttribute{"ttnn.core_coord", {}}}}}),
            "ttnn.matmul: attribute 'matmul_program_config' is of type ttnn.core_coord; expected "
            "ttnn.matmul_multi_core_reuse_program_config|ttnn.matmul_multi_core_reuse_multi_cast_program_config|"
            "ttnn.matmul_multi_core_reuse_multi_cast_1d_program_config|"
            "ttnn.matmul_multi_core_reuse_multi_cast_dram_sharded_program_config");
  // An operand behind one that may be absent must be there all the same.
  const Named latent = {{"head_dim_v", integer(2)}};
  const std::string decode = "ttnn.paged_flash_multi_latent_attention_decode";
  EXPECT_EQ(checked(decode, {&x, &x, nullptr, nullptr}, latent), decode + ": operand 3 is absent");
  EXPECT_EQ(checked(decode, {&x, &x}, latent), decode + ": 2 operands; expected 4 to 7");
  EXPECT_EQ(checked("ttnn.concat", {}, {{"dim", integer(0)}}), "ttnn.concat: 0 operands; expected at least 1");
}

} // namespace
