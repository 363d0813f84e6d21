//===- MatmulTest.cpp - matmul and linear --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "OpTest.h"

using namespace tt;
using namespace tt::ttnn;
using namespace tt::ttnn::test;

namespace {

constexpr DataType f32 = DataType::Float32, bf16 = DataType::BFloat16, i32 = DataType::Int32;

struct Reference {
  std::vector<double> values, magnitudes; // sums, and sums of absolute values
};

/// torch.matmul in double, operands already with at least two dimensions.
Reference multiply(const Value &a, const Value &b, const Shape &batch, int64_t m, int64_t n, int64_t k, bool ta,
                   bool tb) {
  const std::vector<double> x = a.values(), y = b.values();
  const auto count = static_cast<size_t>(volume(batch) * m * n);
  Reference r = {std::vector<double>(count), std::vector<double>(count)};
  auto matrix = [&](const Shape &shape, int64_t flat) {
    int64_t at = 0, stride = 1;
    for (size_t d = batch.size(); d-- > 0; flat /= batch[d]) {
      const auto lead = static_cast<int64_t>(d) - static_cast<int64_t>(batch.size() + 2 - shape.size());
      if (lead < 0)
        continue;
      const int64_t size = shape[static_cast<size_t>(lead)];
      at += (size == 1 ? 0 : flat % batch[d]) * stride;
      stride *= size;
    }
    return at;
  };
  for (int64_t i = 0; i < volume(batch); ++i) {
    const int64_t baseA = matrix(a.spec.shape, i) * m * k, baseB = matrix(b.spec.shape, i) * k * n;
    const auto start = static_cast<size_t>(i * m * n);
    for (int64_t row = 0; row < m; ++row)
      for (int64_t j = 0; j < k; ++j) { // along the rows of b and of the result, which are in the cache
        const double factor = x[static_cast<size_t>(baseA + (ta ? j * m + row : row * k + j))];
        for (int64_t column = 0; column < n; ++column) {
          const double p = factor * y[static_cast<size_t>(baseB + (tb ? column * k + j : j * n + column))];
          const size_t to = start + static_cast<size_t>(row * n + column);
          r.values[to] += p;
          r.magnitudes[to] += std::fabs(p);
        }
      }
  }
  return r;
}

void expectProduct(const Value &found, const Reference &r, double unit) {
  ASSERT_EQ(found.size(), r.values.size());
  for (size_t i = 0; i < r.values.size(); ++i)
    ASSERT_NEAR(found.get(i), r.values[i], 1e-6 * r.magnitudes[i] + unit * std::fabs(r.values[i]) + 1e-12) << i;
}

struct Case {
  Shape batchA, batchB, batch;
  int64_t m, n, k;
};
class Matmul : public testing::TestWithParam<Case> {};

TEST_P(Matmul, MatchesDoubleInAllTypesAndOrders) {
  const auto &[batchA, batchB, batch, m, n, k] = GetParam();
  for (int flags = 0; flags < 4; ++flags)
    for (DataType type : {f32, bf16}) {
      const bool ta = flags & 1, tb = flags & 2;
      Shape a = batchA, b = batchB, out = batch;
      a.insert(a.end(), {ta ? k : m, ta ? m : k});
      b.insert(b.end(), {tb ? n : k, tb ? k : n});
      out.insert(out.end(), {m, n});
      const Value x = random(type, a, -1, 1, 1), y = random(type, b, -1, 1, 2);
      const Reference expected = multiply(x, y, batch, m, n, k, ta, tb);
      const Named attributes = {{"transpose_a", flag(ta)}, {"transpose_b", flag(tb)}};
      const double unit = type == bf16 ? 0x1p-8 : 0x1p-24;
      expectProduct(run("ttnn.matmul", {&x, &y}, type, out, attributes), expected, unit);
      expectProduct(run("ttnn.matmul", {&x, &y}, type, out, attributes, {false, true}), expected, unit);
      // bf16 operands accumulate in f32.
      expectProduct(run("ttnn.matmul", {&x, &y}, f32, out, attributes), expected, 0x1p-24);
    }
}
INSTANTIATE_TEST_SUITE_P(Products, Matmul,
                         testing::Values(Case{{}, {}, {}, 1, 1, 1}, Case{{}, {}, {}, 5, 7, 0},
                                         Case{{}, {}, {}, 0, 3, 4}, Case{{}, {}, {}, 32, 32, 32},
                                         Case{{}, {}, {}, 33, 65, 70}, Case{{}, {}, {}, 300, 257, 129},
                                         Case{{}, {}, {}, 1, 1000, 300}, Case{{}, {}, {}, 2, 3, 60000},
                                         Case{{3}, {3}, {3}, 40, 41, 42}, Case{{3}, {}, {3}, 40, 41, 42},
                                         Case{{}, {3}, {3}, 40, 41, 42}, Case{{2, 1}, {1, 3}, {2, 3}, 20, 30, 70},
                                         Case{{4, 1, 2}, {3, 1}, {4, 3, 2}, 9, 8, 7}, Case{{0}, {0}, {0}, 4, 5, 6},
                                         Case{{0}, {0}, {0}, 64, 64, 64},
                                         // One row: small, and for both ways of a transposed right side.
                                         Case{{}, {}, {}, 1, 64, 512}, Case{{}, {}, {}, 1, 64, 64},
                                         Case{{12}, {12}, {12}, 1, 16, 64}, Case{{2, 1}, {1, 3}, {2, 3}, 3, 5, 17},
                                         // Depth in several blocks, panels packed for each of them.
                                         Case{{}, {}, {}, 130, 70, 2100}, Case{{2}, {2}, {2}, 131, 66, 1100}));

TEST(MatmulRows, ManyThatLieAPageApart) {
  // Which kernel takes them depends on the distance of rows and the number of columns.
  for (const auto &[n, k] : {std::pair<int64_t, int64_t>{256, 1024}, {40, 1024}, {256, 1000}}) {
    const Value x = random(f32, {1024, k}, -1, 1, 1), y = random(f32, {k, n}, -1, 1, 2);
    const Reference expected = multiply(x, y, {}, 1024, n, k, false, false);
    for (bool constant : {false, true})
      expectProduct(run("ttnn.matmul", {&x, &y}, f32, {1024, n}, {}, {false, constant}), expected, 0x1p-24);
  }
}

TEST(MatmulVectors, DropTheirDimension) {
  const Value v(f32, {3}, {1, 2, 3}), w(f32, {3}, {4, 5, 6}), m(f32, {3, 2}, {1, 2, 3, 4, 5, 6});
  expectEqual(run("ttnn.matmul", {&v, &w}, f32, {}), {32});
  expectEqual(run("ttnn.matmul", {&v, &m}, f32, {2}), {22, 28});
  const Value t(f32, {2, 3}, {1, 2, 3, 4, 5, 6});
  expectEqual(run("ttnn.matmul", {&t, &v}, f32, {2}), {14, 32});
}

TEST(MatmulTypes, IntegersAreExactAndMixedTypesCompute) {
  const Value a(i32, {1, 2}, {65536, 3}), b(i32, {2, 1}, {65536, 5});
  expectEqual(run("ttnn.matmul", {&a, &b}, i32, {1, 1}), {15}); // 2^32 + 15
  const Value rows(i32, {2, 2}, {1, 2, -3, 4}), columns(i32, {3, 2}, {5, 6, 7, -8, 9, 10});
  for (bool constant : {false, true})
    expectEqual(run("ttnn.matmul", {&rows, &columns}, i32, {2, 3}, {{"transpose_b", flag(true)}}, {constant, constant}),
                {17, -9, 29, 9, -53, 13});
  const Value x = random(f32, {40, 50}), y = random(bf16, {50, 60}, -1, 1, 2);
  expectProduct(run("ttnn.matmul", {&x, &y}, f32, {40, 60}), multiply(x, y, {}, 40, 60, 50, false, false), 0x1p-24);
  const Value h = random(DataType::Float16, {50, 60}, -1, 1, 2);
  expectProduct(run("ttnn.matmul", {&x, &h}, DataType::Float16, {40, 60}), multiply(x, h, {}, 40, 60, 50, false, false),
                0x1p-11);
}

TEST(MatmulTypes, IntegersOfAllWidthsWrapAround) {
  constexpr int64_t batches = 2, m = 3, k = 300, n = 5; // operands of more than one piece of 256 values
  for (DataType left : {i32, DataType::UInt8})
    for (DataType right : {i32, DataType::UInt32, DataType::UInt16})
      for (DataType out : {i32, DataType::UInt32, DataType::UInt16, DataType::UInt8})
        for (bool constant : {false, true}) {
          Value a(left, {batches, m, k}), b(right, {batches, k, n});
          for (int64_t i = 0; i < batches * m * k; ++i)
            a.set(static_cast<size_t>(i), static_cast<float>(i % 7));
          for (int64_t i = 0; i < batches * k * n; ++i)
            b.set(static_cast<size_t>(i), static_cast<float>(i % 13));
          std::vector<double> expected;
          for (int64_t row = 0; row < batches * m; ++row)
            for (int64_t column = 0; column < n; ++column) {
              int64_t sum = 0;
              for (int64_t i = 0; i < k; ++i)
                sum += (row * k + i) % 7 * (((row / m * k + i) * n + column) % 13);
              expected.push_back(static_cast<double>(out == DataType::UInt8 ? sum % 256 : sum));
            }
          expectEqual(run("ttnn.matmul", {&a, &b}, out, {batches, m, n}, {}, {false, constant}), expected);
        }
}

TEST(MatmulTypes, F32IsTrulyF32) {
  // 1 + 2^-20 is lost in bf16 and tf32.
  Value a(f32, {64, 64}), b(f32, {64, 64});
  for (size_t i = 0; i < 64; ++i) {
    a.set(i * 65, 1 + 0x1p-20);
    b.set(i * 65, 1);
  }
  expectEqual(run("ttnn.matmul", {&a, &b}, f32, {64, 64}), a.values());
}

struct LinearCase {
  Shape bias;
  const char *activation;
};
class Linear : public testing::TestWithParam<LinearCase> {};
TEST_P(Linear, AddsBiasAndActivates) {
  const auto &[biasShape, activation] = GetParam();
  const int64_t sizes[][3] = {{6, 10, 20}, {96, 80, 64}};
  for (const auto &[m, n, k] : sizes)
    for (DataType type : {f32, bf16}) {
      Shape shape = biasShape;
      for (int64_t &size : shape)
        size = size == -1 ? n : size == -2 ? m : size;
      const Value x = random(type, {m, k}, -1, 1, 1), w = random(type, {k, n}, -1, 1, 2),
                  b = random(type, shape, -1, 1, 3);
      Reference r = multiply(x, w, {}, m, n, k, false, false);
      for (size_t i = 0; i < r.values.size(); ++i) {
        const size_t row = i / static_cast<size_t>(n), column = i % static_cast<size_t>(n);
        const bool wide = !shape.empty() && shape.back() == n, tall = shape.size() > 1 && shape[shape.size() - 2] == m;
        r.values[i] += b.get((tall ? row * (wide ? static_cast<size_t>(n) : 1) : 0) + (wide ? column : 0));
        const std::string name = activation;
        if (name == "relu")
          r.values[i] = std::max(r.values[i], 0.0);
        if (name == "silu")
          r.values[i] /= 1 + std::exp(-r.values[i]);
      }
      Named attributes;
      if (*activation)
        attributes.push_back({"activation", text(activation)});
      for (bool constant : {false, true})
        expectProduct(run("ttnn.linear", {&x, &w, &b}, type, {m, n}, attributes, {false, constant, constant}), r,
                      type == bf16 ? 0x1p-8 : 2e-6);
    }
}
INSTANTIATE_TEST_SUITE_P(Products, Linear,
                         testing::Values(LinearCase{{-1}, ""}, LinearCase{{1, -1}, "relu"}, LinearCase{{-1}, "silu"},
                                         LinearCase{{-2, -1}, "relu"}, LinearCase{{-2, 1}, ""},
                                         LinearCase{{}, "relu"}));

TEST(MatmulFused, NaNPassesActivations) {
  // As many rows as the kernel library takes, and fewer.
  for (const int64_t rows : {1024, 64})
    for (const char *name : {"relu", "relu6", "tanh"}) {
      Value a = random(f32, {rows, 64}, -2, 2, 1);
      const Value b = random(f32, {64, 96}, -2, 2, 2);
      a.set(static_cast<size_t>(rows / 2 * 64 + 3), NaN);
      const Value found = run("ttnn.linear", {&a, &b}, f32, {rows, 96}, {{"activation", text(name)}});
      for (int64_t i = 0; i < rows * 96; ++i)
        ASSERT_EQ(std::isnan(found.get(static_cast<size_t>(i))), i / 96 == rows / 2) << name << " at " << i;
    }
}

TEST(MatmulErrors, NameTheDimensions) {
  const Value a(f32, {2, 3}), b(f32, {4, 5}), c(f32, {3, 5});
  EXPECT_EQ(errorOf([&] { run("ttnn.matmul", {&a, &b}, f32, {2, 5}); }),
            "ttnn.matmul: inner dimensions 3 and 4 differ (shapes [2, 3] and [4, 5])");
  EXPECT_EQ(errorOf([&] { run("ttnn.matmul", {&a, &c}, f32, {5, 2}); }),
            "ttnn.matmul: result 0 has shape [5, 2]; expected [2, 5]");
  EXPECT_EQ(errorOf([&] { run("ttnn.matmul", {&a, &c}, f32, {2, 5}, {{"activation", text("swoosh")}}); }),
            "ttnn.matmul: activation 'swoosh' is not known; expected a unary elementwise op such as relu");
}

} // namespace
