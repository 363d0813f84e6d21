//===- WindowTest.cpp - conv2d and pools ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "OpTest.h"

using namespace tt;
using namespace tt::ttnn;
using namespace tt::ttnn::test;

namespace {

constexpr DataType f32 = DataType::Float32, bf16 = DataType::BFloat16;

struct Case {
  int64_t n, h, w, c;
  int64_t kernel[2], stride[2], dilation[2];
  std::vector<int64_t> padding; // 2 or 4
  int64_t out = 8, groups = 1;
  bool ceil = false;

  int64_t pad(int d, bool after) const {
    return padding.size() == 4 ? padding[static_cast<size_t>(after ? 2 * d + 1 : 2 * d)]
                               : padding[static_cast<size_t>(d)];
  }
  int64_t size(int d) const { return d == 0 ? h : w; }
  int64_t outSize(int d) const {
    const int64_t room = size(d) + pad(d, false) + pad(d, true) - dilation[d] * (kernel[d] - 1) - 1;
    int64_t count = room / stride[d] + 1;
    if (ceil && room % stride[d] != 0 && count * stride[d] < size(d) + pad(d, false))
      ++count;
    return count;
  }
  Named attributes(bool convolution) const {
    Named a = {{"batch_size", integer(n)},
               {"input_height", integer(h)},
               {"input_width", integer(w)},
               {"kernel_size", ints({kernel[0], kernel[1]})},
               {"stride", ints({stride[0], stride[1]})},
               {"padding", ints(padding)},
               {"dilation", ints({dilation[0], dilation[1]})}};
    if (convolution)
      a.insert(a.end(), {{"in_channels", integer(c)}, {"out_channels", integer(out)}, {"groups", integer(groups)}});
    else
      a.insert(a.end(), {{"channels", integer(c)}, {"ceil_mode", flag(ceil)}});
    return a;
  }
  /// Calls f(result row, kernel y, kernel x, input row or -1).
  void forEach(const std::function<void(int64_t, int64_t, int64_t, int64_t)> &f) const {
    for (int64_t image = 0; image < n; ++image)
      for (int64_t y = 0; y < outSize(0); ++y)
        for (int64_t x = 0; x < outSize(1); ++x)
          for (int64_t i = 0; i < kernel[0]; ++i)
            for (int64_t j = 0; j < kernel[1]; ++j) {
              const int64_t sy = y * stride[0] - pad(0, false) + i * dilation[0];
              const int64_t sx = x * stride[1] - pad(1, false) + j * dilation[1];
              const bool inside = sy >= 0 && sy < h && sx >= 0 && sx < w;
              f((image * outSize(0) + y) * outSize(1) + x, i, j, inside ? (image * h + sy) * w + sx : -1);
            }
  }
};

class Conv : public testing::TestWithParam<Case> {};
TEST_P(Conv, MatchesTheLoops) {
  const Case &k = GetParam();
  const int64_t rows = k.n * k.outSize(0) * k.outSize(1), perGroup = k.c / k.groups, outGroup = k.out / k.groups;
  for (DataType type : {f32, bf16}) {
    const Value x = random(type, {1, 1, k.n * k.h * k.w, k.c}, -1, 1, 1);
    const Value weight = random(type, {k.out, perGroup, k.kernel[0], k.kernel[1]}, -1, 1, 2);
    const Value bias = random(type, {1, 1, 1, k.out}, -1, 1, 3);
    std::vector<double> expected(static_cast<size_t>(rows * k.out));
    k.forEach([&](int64_t row, int64_t i, int64_t j, int64_t from) {
      for (int64_t o = 0; o < k.out && from >= 0; ++o)
        for (int64_t c = 0; c < perGroup; ++c)
          expected[static_cast<size_t>(row * k.out + o)] +=
              x.get(static_cast<size_t>(from * k.c + o / outGroup * perGroup + c)) *
              weight.get(static_cast<size_t>(((o * perGroup + c) * k.kernel[0] + i) * k.kernel[1] + j));
    });
    const Shape out = {1, 1, rows, k.out};
    const double unit = type == bf16 ? 0x1p-8 : 1e-6, absolute = type == bf16 ? 1e-5 : 1e-5;
    for (bool constant : {false, true})
      expectNear(run("ttnn.conv2d", {&x, &weight}, type, out, k.attributes(true), {false, constant}), expected, unit,
                 absolute);
    for (size_t i = 0; i < expected.size(); ++i)
      expected[i] = std::max(0.0, expected[i] + bias.get(i % static_cast<size_t>(k.out)));
    Named attributes = k.attributes(true);
    const StructAttribute relu{"ttnn.unary_with_param",
                               {{"op_type", {EnumAttribute{"ttnn.unary_op_type", "relu", 3}}}}};
    attributes.push_back({"conv2d_config", {StructAttribute{"ttnn.conv2d_config", {{"activation", {relu}}}}}});
    expectNear(run("ttnn.conv2d", {&x, &weight, &bias}, type, out, attributes), expected, unit, absolute);
  }
}
INSTANTIATE_TEST_SUITE_P(Window, Conv,
                         testing::Values(Case{1, 5, 6, 3, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
                                         Case{2, 9, 8, 16, {3, 2}, {2, 3}, {1, 1}, {0, 1}},
                                         Case{1, 12, 12, 4, {3, 3}, {1, 2}, {2, 3}, {2, 2}},
                                         Case{1, 7, 7, 8, {3, 3}, {2, 2}, {1, 1}, {1, 0, 2, 3}},
                                         Case{2, 6, 6, 8, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 12, 4},
                                         Case{1, 10, 10, 16, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 16, 16}, // depthwise
                                         Case{1, 4, 4, 32, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 64},
                                         Case{1, 1, 1, 1, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 1},
                                         Case{3, 8, 8, 1, {5, 5}, {1, 1}, {1, 1}, {2, 2}, 7},
                                         Case{1, 8, 8, 3, {2, 2}, {3, 3}, {1, 1}, {0, 0}, 5}));

class Pool : public testing::TestWithParam<Case> {};
TEST_P(Pool, MaxAndAverageMatchTheLoops) {
  const Case &k = GetParam();
  const int64_t rows = k.n * k.outSize(0) * k.outSize(1);
  for (DataType type : {f32, bf16}) {
    Value x = random(type, {1, 1, k.n * k.h * k.w, k.c}, -1, 1, 1);
    x.set(0, NaN);
    std::vector<double> most(static_cast<size_t>(rows * k.c), -Inf);
    k.forEach([&](int64_t row, int64_t, int64_t, int64_t from) {
      for (int64_t c = 0; c < k.c && from >= 0; ++c) {
        const double v = x.get(static_cast<size_t>(from * k.c + c));
        double &m = most[static_cast<size_t>(row * k.c + c)];
        m = std::isnan(v) || std::isnan(m) ? NaN : std::max(m, v);
      }
    });
    expectEqual(run("ttnn.max_pool2d", {&x}, type, {1, 1, rows, k.c}, k.attributes(false)), most);
    if (k.dilation[0] != 1 || k.ceil)
      continue;
    std::vector<double> mean(most.size()), inside(most.size());
    k.forEach([&](int64_t row, int64_t, int64_t, int64_t from) {
      for (int64_t c = 0; c < k.c && from >= 0; ++c) {
        mean[static_cast<size_t>(row * k.c + c)] += x.get(static_cast<size_t>(from * k.c + c));
        ++inside[static_cast<size_t>(row * k.c + c)];
      }
    });
    for (bool padding : {true, false}) {
      std::vector<double> expected = mean;
      for (size_t i = 0; i < expected.size(); ++i)
        expected[i] /= padding ? double(k.kernel[0] * k.kernel[1]) : inside[i];
      Named attributes = k.attributes(false);
      attributes.push_back({"count_include_pad", flag(padding)});
      expectNear(run("ttnn.avg_pool2d", {&x}, type, {1, 1, rows, k.c}, attributes), expected,
                 type == bf16 ? 0x1p-8 : 1e-6, 1e-6);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Window, Pool,
                         testing::Values(Case{1, 6, 6, 5, {2, 2}, {2, 2}, {1, 1}, {0, 0}},
                                         Case{2, 7, 9, 33, {3, 3}, {2, 2}, {1, 1}, {1, 1}},
                                         Case{1, 9, 9, 4, {3, 2}, {1, 2}, {2, 1}, {1, 1}},
                                         Case{1, 7, 7, 3, {2, 2}, {2, 2}, {1, 1}, {0, 0}, 8, 1, true},
                                         Case{1, 12, 11, 34, {9, 8}, {2, 1}, {1, 1}, {4, 3}},
                                         Case{2, 6, 5, 57, {3, 2}, {1, 2}, {1, 1}, {1, 0}},
                                         Case{1, 5, 5, 700, {3, 3}, {3, 3}, {1, 1}, {1, 1}, 8, 1, true},
                                         Case{1, 8, 8, 2, {3, 3}, {2, 2}, {1, 1}, {1, 0, 0, 1}}));

/// Integers that f32 would make equal.
TEST(Window, MaximaOfLargeIntegersAreExact) {
  const Case k{1, 4, 4, 2, {2, 2}, {2, 2}, {1, 1}, {0, 0}};
  for (const auto &[type, base] : {std::pair<DataType, double>{DataType::Int32, 0x1p30},
                                   {DataType::Int32, -0x1p31},
                                   {DataType::UInt32, 0x1p32 - 64}}) {
    Value x(type, {1, 1, 16, 2});
    for (size_t i = 0; i < x.size(); ++i)
      x.set(i, base + static_cast<double>(i * 7 % 32));
    std::vector<double> most(8, -0x1p33);
    k.forEach([&](int64_t row, int64_t, int64_t, int64_t from) {
      for (int64_t c = 0; c < 2; ++c) {
        double &m = most[static_cast<size_t>(row * 2 + c)];
        m = std::max(m, x.get(static_cast<size_t>(from * 2 + c)));
      }
    });
    expectEqual(run("ttnn.max_pool2d", {&x}, type, {1, 1, 4, 2}, k.attributes(false)), most);
  }
}

TEST(Window, GlobalAveragePool) {
  const Value x(f32, {1, 2, 2, 2}, {1, 10, 2, 20, 3, 30, 4, 40});
  expectEqual(run("ttnn.global_avg_pool2d", {&x}, f32, {1, 1, 1, 2}), {2.5, 25});
}

TEST(Window, ErrorsNameTheAttribute) {
  const Case k{1, 5, 5, 4, {3, 3}, {1, 1}, {1, 1}, {0, 0}, 6, 4};
  const Value x(f32, {1, 1, 25, 4}), w(f32, {6, 1, 3, 3});
  EXPECT_EQ(errorOf([&] { run("ttnn.conv2d", {&x, &w}, f32, {1, 1, 9, 6}, k.attributes(true)); }),
            "ttnn.conv2d: attribute 'groups' is 4, which does not divide 4 input and 6 output channels");
  const Case large{1, 5, 5, 4, {7, 7}, {1, 1}, {1, 1}, {0, 0}};
  EXPECT_EQ(errorOf([&] { run("ttnn.max_pool2d", {&x}, f32, {1, 1, 1, 4}, large.attributes(false)); }),
            "ttnn.max_pool2d: the window spans 7 in height, but the padded input is only 5");
  const Case whole{1, 5, 5, 4, {3, 3}, {1, 1}, {1, 1}, {0, 0}, 6};
  const Value weight(f32, {6, 4, 3, 3});
  for (const auto &[name, value, message] :
       {std::tuple("act_block_w_div", 0, "has act_block_w_div = 0; expected a divisor of at least 1"),
        std::tuple("act_block_h_override", -32, "has act_block_h_override = -32; expected a multiple of 32")}) {
    Named attributes = whole.attributes(true);
    attributes.push_back({"conv2d_config", {StructAttribute{"ttnn.conv2d_config", {{name, integer(value)}}}}});
    EXPECT_EQ(errorOf([&] { run("ttnn.conv2d", {&x, &weight}, f32, {1, 1, 9, 6}, attributes); }),
              std::string("ttnn.conv2d: attribute 'conv2d_config' ") + message);
  }
}

} // namespace
