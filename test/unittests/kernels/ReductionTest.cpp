//===- ReductionTest.cpp - reductions, softmax, norms ---------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "OpTest.h"

using namespace tt;
using namespace tt::ttnn;
using namespace tt::ttnn::test;

namespace {

constexpr DataType f32 = DataType::Float32, bf16 = DataType::BFloat16, i32 = DataType::Int32, u32 = DataType::UInt32;

struct Case {
  Shape shape;
  std::vector<int64_t> dims; // empty: all
};
class Reduce : public testing::TestWithParam<Case> {};

TEST_P(Reduce, MatchesDouble) {
  const auto &[shape, dims] = GetParam();
  std::vector<bool> reduced(shape.size(), dims.empty());
  for (int64_t d : dims)
    reduced[static_cast<size_t>(d < 0 ? d + static_cast<int64_t>(shape.size()) : d)] = true;
  Shape kept, dropped;
  for (size_t d = 0; d < shape.size(); ++d) {
    kept.push_back(reduced[d] ? 1 : shape[d]);
    if (!reduced[d])
      dropped.push_back(shape[d]);
  }
  for (DataType type : {f32, bf16, i32})
    for (bool keep : {true, false}) {
      const Shape &out = keep ? kept : dropped;
      const Value x = random(type, shape, type == i32 ? -100 : -1, type == i32 ? 100 : 1);
      const auto n = static_cast<size_t>(volume(out));
      std::vector<double> sum(n), magnitude(n), most(n, -Inf), least(n, Inf), count(n);
      for (size_t i = 0; i < x.size(); ++i) {
        size_t at = 0, stride = 1, rest = i;
        for (size_t d = shape.size(); d-- > 0; rest /= static_cast<size_t>(shape[d]))
          if (!reduced[d]) {
            at += rest % static_cast<size_t>(shape[d]) * stride;
            stride *= static_cast<size_t>(shape[d]);
          }
        const double v = x.get(i);
        sum[at] += v;
        magnitude[at] += std::fabs(v);
        most[at] = std::max(most[at], v);
        least[at] = std::min(least[at], v);
        ++count[at];
      }
      Named attributes = {{"keep_dim", flag(keep)}};
      if (!dims.empty())
        attributes.push_back({"dim_arg", ints(dims)});
      const double unit = type == bf16 ? 0x1p-8 : 0x1p-23;
      const Value s = run("ttnn.sum", {&x}, type, out, attributes);
      for (size_t i = 0; i < n; ++i)
        ASSERT_NEAR(s.get(i), sum[i], type == i32 ? 0 : unit * std::fabs(sum[i]) + 1e-7 * magnitude[i]);
      if (!x.size())
        continue;
      const DataType meanType = type == i32 ? f32 : type;
      const Value m = run("ttnn.mean", {&x}, meanType, out, attributes);
      for (size_t i = 0; i < n; ++i)
        ASSERT_NEAR(m.get(i), sum[i] / count[i], unit * std::fabs(sum[i] / count[i]) + 1e-7 * magnitude[i] / count[i]);
      expectEqual(run("ttnn.max", {&x}, type, out, attributes), most);
      expectEqual(run("ttnn.min", {&x}, type, out, attributes), least);
    }
}
INSTANTIATE_TEST_SUITE_P(Reductions, Reduce,
                         testing::Values(Case{{}, {}}, Case{{0}, {}}, Case{{0, 3}, {0}}, Case{{1}, {0}},
                                         Case{{33, 65}, {}}, Case{{33, 65}, {0}}, Case{{33, 65}, {1}},
                                         Case{{33, 65}, {-1, 0}}, Case{{4, 5, 6, 7}, {0, 2}},
                                         Case{{4, 5, 6, 7}, {1, 3}}, Case{{4, 5, 6, 7}, {2, 3}},
                                         Case{{4, 5, 6, 7}, {0, 1}}, Case{{2, 300000}, {1}}, Case{{300000, 2}, {0}},
                                         Case{{500, 3, 700}, {0, 2}}, Case{{3, 1, 5}, {1}}));

TEST(Reductions, SpecialValuesAndTypes) {
  const Value x(f32, {4}, {1, NaN, -Inf, 3});
  EXPECT_TRUE(std::isnan(run("ttnn.max", {&x}, f32, {}, {{"keep_dim", flag(false)}}).get(0)));
  const Value whole(i32, {3}, {2147483647, 1, 5});
  expectEqual(run("ttnn.sum", {&whole}, i32, {}, {{"keep_dim", flag(false)}}), {-2147483643.0});
  expectEqual(run("ttnn.prod", {&whole}, i32, {1}, {{"keep_dim", flag(true)}, {"dim_arg", integer(0)}}),
              {2147483643.0});
  const Value y(f32, {2, 3}, {1, 5, 5, NaN, 2, 3});
  expectEqual(run("ttnn.argmax", {&y}, u32, {2}, {{"dim", integer(1)}}), {1, 0});
  expectEqual(run("ttnn.argmax", {&y}, i32, {3}, {{"dim", integer(0)}, {"keep_dim", flag(false)}}), {1, 0, 0});
  expectEqual(run("ttnn.argmax", {&y}, u32, {1, 1}, {{"keep_dim", flag(true)}}), {3});
  // A million times 0.1: no more than the rounding of a run.
  Value many(f32, {1000000});
  for (size_t i = 0; i < many.size(); ++i)
    many.set(i, 0.1f);
  EXPECT_NEAR(run("ttnn.sum", {&many}, f32, {}, {{"keep_dim", flag(false)}}).get(0), 0.1f * 1e6, 0.05);
  EXPECT_EQ(errorOf([&] { run("ttnn.sum", {&y}, f32, {}, {{"keep_dim", flag(false)}, {"dim_arg", ints({0, -2})}}); }),
            "ttnn.sum: attribute 'dim_arg' names dimension 0 twice");
}

class Softmax : public testing::TestWithParam<Case> {};
TEST_P(Softmax, MatchesDouble) {
  const auto &[shape, dims] = GetParam();
  const int64_t dim = dims[0];
  const auto d = static_cast<size_t>(dim < 0 ? dim + static_cast<int64_t>(shape.size()) : dim);
  int64_t inner = 1;
  for (size_t i = d + 1; i < shape.size(); ++i)
    inner *= shape[i];
  for (DataType type : {f32, bf16}) {
    const Value x = random(type, shape, -60, 60);
    std::vector<double> expected(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      const int64_t start = at - at / inner % shape[d] * inner;
      double most = -Inf, sum = 0;
      for (int64_t j = 0; j < shape[d]; ++j)
        most = std::max(most, x.get(static_cast<size_t>(start + j * inner)));
      for (int64_t j = 0; j < shape[d]; ++j)
        sum += std::exp(x.get(static_cast<size_t>(start + j * inner)) - most);
      expected[i] = std::exp(x.get(i) - most) / sum;
    }
    const Named attributes = {{"dimension", integer(dim)}, {"numericStable", flag(true)}};
    expectNear(run("ttnn.softmax", {&x}, type, shape, attributes), expected, type == bf16 ? 0x1.02p-8 : 8e-6, 1e-37);
  }
}
INSTANTIATE_TEST_SUITE_P(Reductions, Softmax,
                         testing::Values(Case{{10}, {0}}, Case{{33, 65}, {1}}, Case{{33, 65}, {0}}, Case{{0, 5}, {1}},
                                         Case{{5, 0}, {0}}, Case{{3, 5000}, {-1}}, Case{{2, 7, 300}, {1}},
                                         Case{{1, 1}, {1}}));

TEST(Softmax, IsStable) {
  const Value x(f32, {2, 3}, {1e38, 1e38, -1e38, -Inf, 0, -Inf});
  expectEqual(run("ttnn.softmax", {&x}, f32, {2, 3}, {{"dimension", integer(1)}}), {0.5, 0.5, 0, 0, 1, 0});
}

TEST(Norms, BatchNormTrainingUpdatesRunningStatistics) {
  const int64_t n = 3, c = 5, h = 4, w = 7;
  const Value x = random(f32, {n, c, h, w}, -3, 5);
  const Value weight = random(f32, {1, c, 1, 1}, 0.5, 2, 2), bias = random(f32, {1, c, 1, 1}, -1, 1, 3);
  std::vector<double> expected(x.size()), means, variances;
  for (int64_t channel = 0; channel < c; ++channel) {
    double sum = 0, squares = 0;
    auto forEach = [&](auto f) {
      for (int64_t image = 0; image < n; ++image)
        for (int64_t i = 0; i < h * w; ++i)
          f(static_cast<size_t>((image * c + channel) * h * w + i));
    };
    forEach([&](size_t i) { sum += x.get(i); });
    const double mean = sum / double(n * h * w);
    forEach([&](size_t i) { squares += (x.get(i) - mean) * (x.get(i) - mean); });
    const double variance = squares / double(n * h * w);
    const auto k = static_cast<size_t>(channel);
    forEach(
        [&](size_t i) { expected[i] = (x.get(i) - mean) / std::sqrt(variance + 1e-3) * weight.get(k) + bias.get(k); });
    means.push_back(0.75 * 0.5 + 0.25 * mean);
    variances.push_back(0.75 * 2 + 0.25 * variance);
  }
  const Named attributes = {{"epsilon", real(1e-3)}, {"momentum", real(0.25)}};
  Value mean(f32, {1, c, 1, 1}, std::vector<double>(5, 0.5)), variance(f32, {1, c, 1, 1}, std::vector<double>(5, 2));
  Value out(f32, {n, c, h, w});
  const OpCall call =
      callOf("ttnn.batch_norm_training", {&x, &mean, &variance, &weight, &bias}, {out.spec}, attributes);
  const OpInfo *info = findOp("ttnn.batch_norm_training");
  EXPECT_EQ(info->writes, (std::vector<int>{1, 2}));
  check(*info, call);
  const std::byte *ins[] = {x.bytes.data(), mean.bytes.data(), variance.bytes.data(), weight.bytes.data(),
                            bias.bytes.data()};
  std::byte *outs[] = {out.bytes.data()};
  info->make(call)->run({ins, outs, nullptr});
  expectNear(out, expected, 2e-6, 2e-6);
  expectNear(mean, means, 1e-6, 1e-6);
  expectNear(variance, variances, 1e-6, 1e-6);

  const Value flat = random(f32, {n, c, h, w}, -3, 5);
  std::vector<double> inferred;
  for (size_t i = 0; i < flat.size(); ++i) {
    const size_t k = i / size_t(h * w) % size_t(c);
    inferred.push_back((flat.get(i) - mean.get(k)) / std::sqrt(variance.get(k) + 1e-5) * weight.get(k) + bias.get(k));
  }
  expectNear(run("ttnn.batch_norm_inference", {&flat, &mean, &variance, &weight, &bias}, f32, {n, c, h, w}), inferred,
             2e-6, 2e-6);
}

TEST(Norms, LayerAndRmsNorm) {
  const int64_t rows = 7, columns = 1500;
  const Value x = random(f32, {rows, columns}, 1, 3), w = random(f32, {columns}, -1, 1, 2),
              b = random(f32, {columns}, -1, 1, 3);
  for (bool centred : {true, false}) {
    std::vector<double> expected;
    for (int64_t r = 0; r < rows; ++r) {
      double mean = 0, squares = 0;
      auto at = [&](int64_t i) { return x.get(static_cast<size_t>(r * columns + i)); };
      for (int64_t i = 0; i < columns && centred; ++i)
        mean += at(i) / double(columns);
      for (int64_t i = 0; i < columns; ++i)
        squares += (at(i) - mean) * (at(i) - mean) / double(columns);
      for (int64_t i = 0; i < columns; ++i)
        expected.push_back((at(i) - mean) / std::sqrt(squares + 1e-5) * w.get(size_t(i)) + b.get(size_t(i)));
    }
    const char *name = centred ? "ttnn.layer_norm" : "ttnn.rms_norm";
    expectNear(run(name, {&x, &w, &b}, f32, {rows, columns}, {{"epsilon", real(1e-5)}}), expected, 1e-6, 2e-6);
  }
}

/// Integers that f32 would make equal keep their order, both ways.
TEST(Ranking, LargeIntegersAreExact) {
  for (const auto &[type, base] : {std::pair<DataType, double>{DataType::Int32, 0x1p30},
                                   {DataType::Int32, -0x1p31},
                                   {DataType::UInt32, 0x1p32 - 8}}) {
    const Value x(type, {2, 4}, {base + 3, base + 1, base + 7, base, base + 5, base + 5, base + 6, base + 2});
    const struct {
      bool descending;
      std::vector<double> places;
    } cases[] = {{false, {3, 1, 0, 2, 3, 0, 1, 2}}, {true, {2, 0, 1, 3, 2, 0, 1, 3}}};
    for (const auto &c : cases) {
      const auto results = runAll("ttnn.sort", {&x}, {{type, {2, 4}}, {DataType::Int32, {2, 4}}},
                                  {{"dim", integer(1)}, {"descending", flag(c.descending)}});
      expectEqual(results[1], c.places);
      for (size_t i = 0; i < 8; ++i)
        EXPECT_EQ(results[0].get(i), x.get(i / 4 * 4 + static_cast<size_t>(c.places[i])));
    }
    const auto top = runAll("ttnn.topk", {&x}, {{type, {2, 1}}, {DataType::Int32, {2, 1}}},
                            {{"dim", integer(1)}, {"k", integer(1)}, {"largest", flag(true)}});
    expectEqual(top[0], {base + 7, base + 6});
    expectEqual(top[1], {2, 2});
  }
}

} // namespace
