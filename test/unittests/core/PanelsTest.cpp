//===- PanelsTest.cpp - products and attention in panels ------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Shapes around the edges of panels, blocks and pieces, against loops in double.
//
//===----------------------------------------------------------------------===//

#include "core/panels/panels.h"
#include "OpTest.h"

#include <cstring>

using namespace tt;
using namespace tt::ttnn;
using namespace tt::ttnn::test;

namespace {

constexpr DataType f32 = DataType::Float32, bf16 = DataType::BFloat16;

struct Sizes {
  int64_t m, n, k;
};

class Panels : public testing::TestWithParam<Sizes> {};

TEST_P(Panels, MatchDoubleInBothTypesAndAllOrders) {
  const auto [m, n, k] = GetParam();
  struct Sum {
    int64_t at;
    double value, magnitude;
  };
  for (DataType type : {f32, bf16})
    for (int order = 0; order < 4; ++order) {
      const bool ta = order & 1, tb = order & 2;
      const Value a = random(type, ta ? Shape{k, m} : Shape{m, k}, -1, 1, 1);
      const Value b = random(type, tb ? Shape{n, k} : Shape{k, n}, -1, 1, 2);
      std::vector<Sum> sums;
      for (int64_t i = 0; i < m; i += std::max<int64_t>(1, m / 7))
        for (int64_t j = 0; j < n; ++j) {
          Sum sum{i * n + j, 0, 0};
          for (int64_t l = 0; l < k; ++l) {
            const double p = a.get(static_cast<size_t>(ta ? l * m + i : i * k + l)) *
                             b.get(static_cast<size_t>(tb ? j * k + l : l * n + j));
            sum.value += p;
            sum.magnitude += std::fabs(p);
          }
          sums.push_back(sum);
        }
      for (bool constant : {false, true}) {
        const Value found = run("ttnn.matmul", {&a, &b}, f32, {m, n},
                                {{"transpose_a", flag(ta)}, {"transpose_b", flag(tb)}}, {false, constant});
        for (const Sum &sum : sums)
          ASSERT_NEAR(found.get(static_cast<size_t>(sum.at)), sum.value, 1e-6 * sum.magnitude + 1e-9)
              << toString(type) << " order " << order << " constant " << constant << " at " << sum.at / n << ", "
              << sum.at % n;
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Edges, Panels,
                         testing::Values(Sizes{1, 1000, 257}, Sizes{1, 640, 3}, Sizes{2, 321, 70}, Sizes{3, 64, 512},
                                         Sizes{15, 33, 300}, Sizes{16, 300, 96}, Sizes{17, 256, 64},
                                         Sizes{49, 100, 333}, Sizes{197, 65, 129}, Sizes{300, 257, 40},
                                         Sizes{33, 96, 20000}));

// One times a value, and zero times zeros, is that value, whatever stands next to it: what is not finite must not reach
// other columns. So much work that panels do it; denormals are left out, which units for bf16 may flush.
TEST(PanelsConstant, SpecialValuesOfBf16StayInTheirColumns) {
  const std::vector<double> special = {NaN, Inf, -Inf, 0.0, 0x1p-126, -0x1p-126, 0x1.fep127, 1.0, -3.0};
  for (int64_t n : {1, 9, 16, 17, 64, 70, 129})
    for (int64_t m : {1, 3, 6, 15})
      for (bool transposed : {false, true}) {
        const int64_t k = std::max<int64_t>(301, 32768 / (m * n) + 5);
        for (int64_t row : {int64_t(0), int64_t(130), k - 1}) {
          Value a(bf16, {m, k}), b(bf16, transposed ? Shape{n, k} : Shape{k, n});
          std::vector<double> expected;
          for (int64_t i = 0; i < m; ++i)
            a.set(static_cast<size_t>(i * k + row), 1);
          for (int64_t j = 0; j < n; ++j)
            b.set(static_cast<size_t>(transposed ? j * k + row : row * n + j),
                  special[static_cast<size_t>(j) % special.size()]);
          for (int64_t i = 0; i < m * n; ++i)
            expected.push_back(special[static_cast<size_t>(i % n) % special.size()]);
          expectNear(run("ttnn.matmul", {&a, &b}, f32, {m, n}, {{"transpose_b", flag(transposed)}}, {false, true}),
                     expected, 0, 0);
        }
      }
}

TEST(PanelsConstant, WeightsOfBf16GiveTheSumsOfF32ToTheBit) {
  for (const auto &[m, n, k] : {Sizes{1, 1000, 257}, Sizes{3, 333, 600}, Sizes{70, 129, 301}, Sizes{300, 200, 1000}})
    for (bool transposed : {false, true}) {
      const Value a = random(f32, {m, k}, -1, 1, 1);
      const Value narrow = random(bf16, transposed ? Shape{n, k} : Shape{k, n}, -1, 1, 2);
      const Value wide(f32, narrow.spec.shape, narrow.values());
      const auto product = [&](const Value &b) {
        return run("ttnn.matmul", {&a, &b}, f32, {m, n}, {{"transpose_b", flag(transposed)}}, {false, true});
      };
      EXPECT_TRUE(product(narrow).bytes == product(wide).bytes) << m << 'x' << n << 'x' << k;
    }
}

// Many rows are multiplied in another order of blocks than few, with the same order of each sum.
TEST(PanelsRows, HaveTheBitsOfAnyNumberOfRows) {
  if (!panels::supported(panels::Unit::F32))
    GTEST_SKIP() << "needs panels";
  constexpr int64_t few = 12;
  const int64_t most = 200;
  for (const auto &[n, k] : {std::pair<int64_t, int64_t>{9, 333}, {16, 257}, {70, 256}, {129, 31}, {200, 1024}})
    for (DataType type : {f32, bf16})
      for (bool constant : {false, true}) {
        Value a = random(f32, {most, k}, -1, 1, 1);
        const Value b = random(type, {k, n}, -1, 1, 2);
        const double special[] = {NaN, Inf, -Inf, 0.0, -0.0, 0x1p-130};
        for (int64_t i = 0; i < most; i += 5)
          a.set(static_cast<size_t>(i * k + i * 7 % k), special[static_cast<size_t>(i / 5) % std::size(special)]);
        const auto rows = [&](int64_t first, int64_t m) {
          Value some(f32, {m, k});
          std::memcpy(some.bytes.data(), a.bytes.data() + first * k * 4, static_cast<size_t>(m * k * 4));
          return run("ttnn.matmul", {&some, &b}, f32, {m, n}, {}, {false, constant});
        };
        std::vector<std::byte> expected;
        for (int64_t first = 0; first < most; first += few) {
          const Value part = rows(first, std::min(few, most - first));
          expected.insert(expected.end(), part.bytes.begin(), part.bytes.end());
        }
        for (int64_t m : {13, 14, 17, 18, 22, 128, 197, 200}) {
          const Value found = rows(0, m);
          EXPECT_TRUE(std::memcmp(found.bytes.data(), expected.data(), static_cast<size_t>(m * n * 4)) == 0)
              << m << 'x' << n << 'x' << k << ' ' << toString(type) << (constant ? ", constant" : "");
        }
      }
}

TEST(PanelsFused, BiasAndAnyActivationBeforeTheOnlyRounding) {
  const int64_t m = 37, n = 70, k = 64;
  const Value a = random(bf16, {m, k}, -1, 1, 1), b = random(bf16, {k, n}, -1, 1, 2),
              bias = random(bf16, {n}, -1, 1, 3);
  const Value sums = run("ttnn.linear", {&a, &b, &bias}, f32, {m, n});
  const std::pair<const char *, std::function<double(double)>> activations[] = {
      {"relu", [](double x) { return std::max(x, 0.0); }},
      {"gelu", [](double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }},
      {"silu", [](double x) { return x / (1 + std::exp(-x)); }},
      {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"tanh", [](double x) { return std::tanh(x); }},
  };
  for (const auto &[name, f] : activations) {
    std::vector<double> expected = sums.values();
    for (double &x : expected)
      x = f(x);
    expectNear(run("ttnn.linear", {&a, &b, &bias}, f32, {m, n}, {{"activation", text(name)}}), expected, 1e-5, 1e-6);
    expectNear(run("ttnn.linear", {&a, &b, &bias}, bf16, {m, n}, {{"activation", text(name)}}), expected, 0x1p-8, 1e-6);
  }
}

struct Rows {
  int64_t batch, heads, keyHeads, rows, columns, size, valueSize;
  bool causal, masked, sink;
  int64_t window;
};

class AttentionRows : public testing::TestWithParam<Rows> {};

TEST_P(AttentionRows, MatchTheDefinition) {
  const Rows c = GetParam();
  for (DataType type : {f32, bf16}) {
    const Value q = random(type, {c.batch, c.heads, c.rows, c.size}, -1, 1, 1);
    const Value k = random(type, {c.batch, c.keyHeads, c.columns, c.size}, -1, 1, 2);
    const Value v = random(type, {c.batch, c.keyHeads, c.columns, c.valueSize}, -1, 1, 3);
    const Value mask = random(type, {c.batch, 1, c.rows, c.columns}, -3, 3, 4),
                sink = random(type, {1, c.heads, 1, 1}, -1, 1, 5);
    Named attributes = {{"is_causal", flag(c.causal)}};
    if (c.window)
      attributes.push_back({"sliding_window_size", integer(c.window)});
    const Value found =
        run("ttnn.scaled_dot_product_attention", {&q, &k, &v, c.masked ? &mask : nullptr, c.sink ? &sink : nullptr},
            f32, {c.batch, c.heads, c.rows, c.valueSize}, attributes);
    std::vector<double> expected;
    for (int64_t b = 0; b < c.batch; ++b)
      for (int64_t h = 0; h < c.heads; ++h)
        for (int64_t r = 0; r < c.rows; ++r) {
          const int64_t keyHead = b * c.keyHeads + h / (c.heads / c.keyHeads);
          // A row's own column is counted from the start; a window ends there, or lies around it.
          const auto isOutside = [&](int64_t j) {
            return c.window && (c.causal ? j <= r - c.window : std::abs(j - r) > c.window / 2);
          };
          std::vector<double> weights;
          double top = c.sink ? sink.get(static_cast<size_t>(h)) : -Inf;
          for (int64_t j = 0; j < c.columns; ++j) {
            double score = 0;
            for (int64_t i = 0; i < c.size; ++i)
              score += q.get(static_cast<size_t>(((b * c.heads + h) * c.rows + r) * c.size + i)) *
                       k.get(static_cast<size_t>((keyHead * c.columns + j) * c.size + i));
            score /= std::sqrt(double(c.size));
            if (c.masked)
              score += mask.get(static_cast<size_t>((b * c.rows + r) * c.columns + j));
            if ((c.causal && !c.masked && j > r) || isOutside(j))
              score = -Inf;
            weights.push_back(score);
            top = std::max(top, score);
          }
          double sum = c.sink ? std::exp(sink.get(static_cast<size_t>(h)) - top) : 0;
          for (double &w : weights)
            sum += w = std::exp(w - top);
          for (int64_t i = 0; i < c.valueSize; ++i) {
            double value = 0;
            for (int64_t j = 0; j < c.columns; ++j)
              value += weights[static_cast<size_t>(j)] / sum *
                       v.get(static_cast<size_t>((keyHead * c.columns + j) * c.valueSize + i));
            expected.push_back(value);
          }
        }
    expectNear(found, expected, type == f32 ? 2e-5 : 1e-2, type == f32 ? 2e-6 : 4e-3);
  }
}

INSTANTIATE_TEST_SUITE_P(Blocks, AttentionRows,
                         testing::Values(Rows{1, 2, 2, 40, 40, 32, 32, true, false, false, 0},
                                         Rows{2, 4, 2, 17, 70, 40, 24, true, false, false, 0},
                                         Rows{1, 2, 1, 33, 1100, 16, 64, false, true, false, 0},
                                         Rows{1, 2, 2, 64, 64, 64, 64, true, false, true, 0},
                                         Rows{1, 2, 2, 90, 90, 32, 33, true, false, false, 7},
                                         Rows{1, 3, 1, 16, 2050, 8, 8, true, false, true, 1500},
                                         Rows{1, 2, 2, 5, 50, 32, 32, true, false, true, 9},
                                         Rows{1, 2, 2, 33, 65, 1, 31, true, false, false, 0},
                                         Rows{2, 2, 1, 65, 64, 31, 1, false, false, true, 10},
                                         Rows{1, 2, 2, 20, 33, 33, 40, false, true, false, 5},
                                         Rows{1, 2, 1, 31, 197, 300, 70, false, true, false, 0},
                                         Rows{1, 1, 1, 37, 17, 257, 300, false, false, true, 0}));

TEST(AttentionPages, AreTheCachesThatTheTableOrders) {
  const int64_t users = 2, heads = 2, pageRows = 8, size = 16, pagesOfUser = 3, pages = 6;
  const Value keyPages = random(f32, {pages, heads, pageRows, size}, -1, 1, 1);
  const Value valuePages = random(f32, {pages, heads, pageRows, size}, -1, 1, 2);
  const Value table(DataType::Int32, {users, pagesOfUser}, {4, 0, 2, 1, 5, 3});
  auto ordered = [&](const Value &cache) {
    Value whole(f32, {users, heads, pagesOfUser * pageRows, size});
    size_t to = 0;
    for (int64_t u = 0; u < users; ++u)
      for (int64_t h = 0; h < heads; ++h)
        for (int64_t p = 0; p < pagesOfUser; ++p) {
          const auto page = static_cast<int64_t>(table.get(static_cast<size_t>(u * pagesOfUser + p)));
          for (int64_t i = 0; i < pageRows * size; ++i)
            whole.set(to++, cache.get(static_cast<size_t>((page * heads + h) * pageRows * size + i)));
        }
    return whole;
  };
  const Value key = ordered(keyPages), value = ordered(valuePages);

  const Value token = random(f32, {1, users, heads, size}, -1, 1, 3), position(DataType::Int32, {users}, {5, 20});
  expectEqual(
      run("ttnn.paged_scaled_dot_product_attention_decode",
          {&token, &keyPages, &valuePages, &table, nullptr, &position}, f32, token.spec.shape),
      run("ttnn.scaled_dot_product_attention_decode", {&token, &key, &value, nullptr, &position}, f32, token.spec.shape)
          .values());

  const int64_t rows = 8, first = 9, columns = pagesOfUser * pageRows;
  const Value query = random(f32, {users, heads, rows, size}, -1, 1, 4), start(DataType::Int32, {1}, {double(first)});
  Value mask(f32, {1, 1, rows, columns});
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t j = 0; j < columns; ++j)
      mask.set(static_cast<size_t>(r * columns + j), j <= first + r ? 0 : -Inf);
  expectEqual(run("ttnn.chunked_scaled_dot_product_attention", {&query, &keyPages, &valuePages, &table, &start}, f32,
                  query.spec.shape),
              run("ttnn.scaled_dot_product_attention", {&query, &key, &value, &mask}, f32, query.spec.shape,
                  {{"is_causal", flag(false)}})
                  .values());
  const Value late(DataType::Int32, {1}, {17});
  EXPECT_NE(errorOf([&] {
              run("ttnn.chunked_scaled_dot_product_attention", {&query, &keyPages, &valuePages, &table, &late}, f32,
                  query.spec.shape);
            }).find("17"),
            std::string::npos);
}

TEST(Quantization, RoundsAndSaturates) {
  const Value x(f32, {2, 3}, {0.24, 0.25, -0.75, 1e9, -1e9, 3}), scale(f32, {3}, {0.5, 0.1, 0.25}),
      zero(DataType::Int32, {3}, {1, 0, -2});
  const Value one(f32, {1}, {0.5}), none(DataType::Int32, {1}, {3});
  expectEqual(run("ttnn.quantize", {&x, &one, &none}, DataType::UInt8, {2, 3}), {3, 3, 1, 255, 0, 9});
  expectEqual(run("ttnn.quantize", {&x, &scale, &zero}, DataType::Int32, {2, 3}, {{"axis", integer(1)}}),
              {1, 2, -5, 2000000000, -2147483648.0, 10});
  const Value q(DataType::Int32, {2, 3}, {5, -5, 0, 7, 9, 1});
  expectNear(run("ttnn.dequantize", {&q, &scale, &zero}, f32, {2, 3}, {{"axis", integer(-1)}}),
             {2, -0.5, 0.5, 3, 0.9, 0.75}, 1e-6, 0);
  const Value outScale(f32, {1}, {0.25}), outZero(DataType::Int32, {1}, {1});
  expectEqual(run("ttnn.requantize", {&q, &one, &none, &outScale, &outZero}, DataType::Int32, {2, 3}),
              {5, -15, -5, 9, 13, -3});
  EXPECT_NE(errorOf([&] { run("ttnn.quantize", {&x, &scale, &zero}, DataType::Int32, {2, 3}); }).find("expected 1"),
            std::string::npos);
}

TEST(RotaryEmbedding, HalvesAndPairs) {
  const int64_t rows = 3, size = 4;
  const Value x = random(f32, {1, 2, rows, size}, -1, 1, 1), cos = random(f32, {1, 1, rows, size}, -1, 1, 2),
              sin = random(f32, {1, 1, rows, size}, -1, 1, 3);
  // Pairs (a, b) become (-b, a).
  const Value pairs(f32, {1, 1, 4, 4}, {0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 0, 1, 0, 0, -1, 0});
  std::vector<double> halves, swapped;
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t at = i % static_cast<size_t>(rows * size), column = i % 4, base = i - column;
    const double half = column < 2 ? -x.get(base + column + 2) : x.get(base + column - 2);
    const double pair = column % 2 ? x.get(i - 1) : -x.get(i + 1);
    halves.push_back(x.get(i) * cos.get(at) + half * sin.get(at));
    swapped.push_back(x.get(i) * cos.get(at) + pair * sin.get(at));
  }
  expectNear(run("ttnn.rotary_embedding", {&x, &cos, &sin}, f32, x.spec.shape), halves, 1e-5, 1e-6);
  expectNear(run("ttnn.rotary_embedding_llama", {&x, &cos, &sin, &pairs}, f32, x.spec.shape), swapped, 1e-5, 1e-6);
}

/// Values that are the beginnings of the keys, and those that are given, as plain attention has them.
TEST(AttentionLatent, IsAttentionWithTheBeginningsOfTheKeys) {
  const DataType f32 = DataType::Float32, bf16 = DataType::BFloat16, i32 = DataType::Int32;
  for (DataType type : {f32, bf16})
    for (int64_t rows : {1, 5, 40}) {
      const int64_t size = 24, half = 16;
      const Value query = random(type, {2, 4, rows, size}, -1, 1, 1), key = random(type, {2, 2, 40, size}, -1, 1, 2);
      const Value value =
          run("ttnn.slice_static", {&key}, type, {2, 2, 40, half},
              {{"begins", ints({0, 0, 0, 0})}, {"ends", ints({2, 2, 40, half})}, {"step", ints({1, 1, 1, 1})}});
      const Shape out = {2, 4, rows, half};
      const Value expected = run("ttnn.scaled_dot_product_attention", {&query, &key, &value}, type, out);
      const Named attributes = {{"head_dim_v", integer(half)}};
      for (bool constant : {false, true})
        expectEqual(run("ttnn.flash_mla_prefill", {&query, &key}, type, out, attributes, {false, constant}),
                    expected.values());
      expectEqual(run("ttnn.flash_mla_prefill", {&query, &key, &value}, type, out, attributes), expected.values());
    }
  // Three pages of 32 for each of two users.
  const Value query = random(f32, {1, 2, 4, 24}, -1, 1, 1), pages = random(f32, {6, 1, 32, 24}, -1, 1, 2);
  const Value table(i32, {2, 3}, {5, 0, 2, 1, 4, 3}), position(i32, {2}, {70, 3});
  const Value values =
      run("ttnn.slice_static", {&pages}, f32, {6, 1, 32, 16},
          {{"begins", ints({0, 0, 0, 0})}, {"ends", ints({6, 1, 32, 16})}, {"step", ints({1, 1, 1, 1})}});
  expectEqual(run("ttnn.paged_flash_multi_latent_attention_decode",
                  {&query, &pages, nullptr, &table, nullptr, &position}, f32, {1, 2, 4, 16},
                  {{"head_dim_v", integer(16)}}),
              run("ttnn.paged_scaled_dot_product_attention_decode",
                  {&query, &pages, &values, &table, nullptr, &position}, f32, {1, 2, 4, 16})
                  .values());
  EXPECT_EQ(errorOf([&] {
              run("ttnn.flash_mla_prefill", {&query, &query}, f32, {1, 2, 4, 25}, {{"head_dim_v", integer(25)}});
            }),
            "ttnn.flash_mla_prefill: attribute 'head_dim_v' is 25; expected 1 to 24");
  EXPECT_EQ(errorOf([&] {
              run("ttnn.flash_mla_prefill", {&query, &query, &query}, f32, {1, 2, 4, 8}, {{"head_dim_v", integer(8)}});
            }),
            "ttnn.flash_mla_prefill: operand 'value' has shape [1, 2, 4, 24]; expected [1, 2, 4, 8]");
}

} // namespace
