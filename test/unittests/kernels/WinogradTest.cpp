//===- WinogradTest.cpp - 3x3 convolutions with fewer products ----------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ConvolutionCase.h"
#include "kernels/elementwise/residual.h"
#include "kernels/window/winograd_tiles.h"
#include "tt/units.h"

#include <array>
#include <cmath>
#include <functional>

using namespace tt;
using namespace tt::ttnn;
using namespace tt::ttnn::test;

namespace {

constexpr DataType f32 = DataType::Float32, bf16 = DataType::BFloat16;

/// A 3x3 convolution of images with enough tiles of results.
ConvolutionCase caseOf(int64_t height, int64_t across, int64_t batch, int64_t in, int64_t out,
                       std::vector<int64_t> padding = {1, 1}) {
  return {{height, across}, {3, 3}, {1, 1}, {1, 1}, std::move(padding), batch, in, out};
}

/// Of constant weights, which may be transformed, and of others, which are multiplied directly.
struct Both {
  Value transformed, direct;
  bool isSame() const { return transformed.bytes == direct.bytes; }
};
/// once: with the number of threads that is set.
Both both(const ConvolutionCase &c, const Value &x, const Value &w, bool once = false) {
  const Value out(x.spec.dtype, c.images(c.results(), c.out));
  const auto of = [&](bool constant) {
    return (once ? runOnce : runAll)(c.name(), {&x, &w}, {out}, c.attributes(), {false, constant})[0];
  };
  return {of(true), of(false)};
}

/// An image of a batch.
std::span<const std::byte> imageOf(const Value &all, int64_t batch, int64_t image) {
  const size_t size = all.bytes.size() / static_cast<size_t>(batch);
  return std::span(all.bytes).subspan(static_cast<size_t>(image) * size, size);
}

class Winograd : public testing::TestWithParam<ConvolutionCase> {};

TEST_P(Winograd, MatchesTheLoops) {
  const ConvolutionCase &c = GetParam();
  for (DataType type : {f32, bf16}) {
    const Value x = random(type, c.images(c.sizes, c.in), -1, 1, 1), w = random(type, c.filter(), -1, 1, 2),
                bias = random(type, {1, 1, 1, c.out}, -1, 1, 3);
    std::vector<double> expected = c.expected(x, w);
    for (size_t i = 0; i < expected.size(); ++i)
      expected[i] = std::max(expected[i] + bias.get(i % static_cast<size_t>(c.out)), 0.0);
    Named attributes = c.attributes();
    const StructAttribute relu{"ttnn.unary_with_param",
                               {{"op_type", {EnumAttribute{"ttnn.unary_op_type", "relu", 3}}}}};
    attributes.push_back({"conv2d_config", {StructAttribute{"ttnn.conv2d_config", {{"activation", {relu}}}}}});
    expectNear(run(c.name(), {&x, &w, &bias}, type, c.images(c.results(), c.out), attributes, {false, true, true}),
               expected, type == bf16 ? 0x1p-8 : 1e-6, 2e-5 + 0x1p-23 * static_cast<double>(c.in * 9));
  }
}

TEST_P(Winograd, AddsResiduals) {
  const ConvolutionCase &c = GetParam();
  const Value x = random(f32, c.images(c.sizes, c.in), -1, 1, 1), w = random(f32, c.filter(), -1, 1, 2),
              added = random(f32, c.images(c.results(), c.out), -1, 1, 3);
  const Value plain = run(c.name(), {&x, &w}, f32, added.spec.shape, c.attributes(), {false, true});
  const auto kernel = kernelFor(c.name(), {&x, &w}, {added}, c.attributes(), {false, true});
  const auto *adds = dynamic_cast<const AddsResidual *>(kernel.get());
  ASSERT_TRUE(adds && adds->addsResidual(f32));
  for (bool relu : {false, true}) {
    Value found(f32, added.spec.shape);
    std::vector<std::byte> scratch;
    const std::byte *ins[] = {x.bytes.data(), nullptr};
    std::byte *outs[] = {found.bytes.data()};
    adds->runAdding({ins, outs, aligned(scratch, kernel->scratchBytes())}, {added.bytes.data(), relu});
    for (size_t i = 0; i < found.size(); ++i) {
      const float sum = plain.at<float>(i) + added.at<float>(i);
      ASSERT_EQ(found.at<float>(i), relu ? std::max(sum, 0.0f) : sum) << "element " << i;
    }
  }
}

// Odd sizes, parts of tiles, of panels, of steps and of chunks; padding on some sides; several images; weights that are
// transformed in several groups of panels.
INSTANTIATE_TEST_SUITE_P(Sizes, Winograd,
                         testing::Values(caseOf(10, 10, 1, 32, 32), caseOf(15, 13, 1, 33, 70), caseOf(7, 7, 3, 40, 65),
                                         caseOf(12, 11, 1, 130, 40, {0, 1, 1, 0}), caseOf(12, 12, 1, 36, 130, {0, 0}),
                                         caseOf(3, 100, 1, 48, 32), caseOf(64, 1, 2, 32, 48), caseOf(9, 40, 2, 300, 33),
                                         caseOf(13, 8, 1, 290, 330), caseOf(34, 37, 1, 33, 70),
                                         caseOf(40, 33, 2, 130, 40, {0, 1, 1, 0}), caseOf(16, 16, 1, 290, 200)));

TEST(WinogradValues, AreTransformedUnlessTheyAreFarApart) {
  const ConvolutionCase c = caseOf(14, 13, 2, 32, 48);
  const Value plain = random(f32, c.images(c.sizes, c.in), -1, 1, 1), w = random(f32, c.filter(), -1, 1, 2);
  const bool has = units() >= Units::AVX2;
  EXPECT_EQ(both(c, plain, w).isSame(), !has);
  // One value decides: what only some windows of its tile hold would be lost, or reach the others.
  for (const double value : {Inf, -Inf, NaN, 3e38, 1e6, -1e6}) {
    Value x = plain;
    x.set(5 * 32 + 7, value); // in the first line of the first image
    const Both found = both(c, x, w);
    EXPECT_TRUE(std::ranges::equal(imageOf(found.transformed, 2, 0), imageOf(found.direct, 2, 0))) << value;
    EXPECT_EQ(found.isSame(), !has) << value;
  }
  // Of a similar magnitude, or smaller.
  for (const double value : {0.0, -0.0, 200.0, 1e-40}) {
    Value x = plain;
    x.set(5 * 32 + 7, value);
    EXPECT_EQ(both(c, x, w).isSame(), !has) << value;
    expectNear(both(c, x, w).transformed, c.expected(x, w), 1e-6, 1e-4);
  }
  // Too large for large tiles, but not for small ones.
  Value light = plain;
  light.set(5 * 32 + 7, 200.0);
  const Both found = both(c, light, w);
  EXPECT_EQ(std::ranges::equal(imageOf(found.transformed, 2, 0), imageOf(found.direct, 2, 0)), !has);
  Value small = plain; // everything is small
  for (size_t i = 0; i < small.size(); ++i)
    small.set(i, plain.get(i) * 1e-30);
  std::vector<double> expected = c.expected(small, w);
  const Value ofSmall = both(c, small, w).transformed;
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(ofSmall.get(i), expected[i], 1e-34);
}

double errorOf(const Value &found, const std::vector<double> &expected, const std::function<bool(size_t)> &counts) {
  double sum = 0, count = 0;
  for (size_t i = 0; i < expected.size(); ++i)
    if (counts(i)) {
      sum += std::pow(found.get(i) - expected[i], 2);
      ++count;
    }
  return std::sqrt(sum / count);
}

/// Pixels on the right are smaller: the first windows that read only such pixels share tiles with others.
TEST(WinogradValues, OfDarkWindowsHaveAFewTimesTheErrorOfDirectSums) {
  const ConvolutionCase c = caseOf(16, 16, 1, 64, 32);
  const Value w = random(f32, c.filter(), -1, 1, 2);
  for (const double dark : {0x1p-2, 0x1p-3, 0x1p-4, 0x1p-5, 0x1p-6, 0x1p-9}) {
    Value x = random(f32, c.images(c.sizes, c.in), -1, 1, 1);
    for (size_t i = 0; i < x.size(); ++i)
      if (i / 64 % 16 >= 9)
        x.set(i, x.get(i) * dark);
    const std::vector<double> expected = c.expected(x, w);
    const Both found = both(c, x, w);
    const auto isDark = [](size_t i) { return i / 32 % 16 == 10; };
    EXPECT_LT(errorOf(found.transformed, expected, isDark), 8 * errorOf(found.direct, expected, isDark)) << dark;
  }
}

TEST(WinogradValues, OfSubnormalPixelsAreNotMultipliedBefore) {
  const ConvolutionCase c = caseOf(16, 16, 1, 64, 32);
  Value x = random(f32, c.images(c.sizes, c.in), -1, 1, 1), w = random(f32, c.filter(), -1, 1, 2);
  for (size_t i = 0; i < x.size(); ++i)
    x.set(i, x.get(i) * 1e-41);
  for (size_t i = 0; i < w.size(); ++i)
    w.set(i, w.get(i) * 1e20);
  const std::vector<double> expected = c.expected(x, w);
  const Both found = both(c, x, w);
  const auto all = [](size_t) { return true; };
  EXPECT_LT(errorOf(found.transformed, expected, all), 4 * errorOf(found.direct, expected, all));
}

/// Whether values are the same numbers but for the roundings of sums in another order to bf16.
void expectSameSums(std::span<const std::byte> found, std::span<const std::byte> direct) {
  Value a(bf16, {static_cast<int64_t>(found.size() / 2)}), b = a;
  std::ranges::copy(found, a.bytes.begin());
  std::ranges::copy(direct, b.bytes.begin());
  for (size_t i = 0; i < a.size(); ++i) {
    const double x = a.get(i), y = b.get(i);
    if (std::isfinite(y))
      ASSERT_NEAR(x, y, 0x1p-7 * std::fabs(y) + 0.5) << i;
    else
      ASSERT_TRUE(std::isnan(y) ? std::isnan(x) : x == y) << i << ": " << x << ", directly " << y;
  }
}

// An image has the bits that it has alone, whatever the others of its batch hold. The second batch does not fit in
// cache, so images are converted one by one; with the last one, parts of blocks are left out.
TEST(WinogradValues, DecideForEachImage) {
  for (const ConvolutionCase &c :
       {caseOf(14, 13, 5, 32, 70), caseOf(60, 61, 3, 80, 32), caseOf(12, 11, 7, 36, 33, {0, 1, 1, 0})}) {
    ConvolutionCase alone = c;
    alone.batch = 1;
    for (DataType type : {f32, bf16}) {
      const Value plain = random(type, c.images(c.sizes, c.in), -1, 1, 1), w = random(type, c.filter(), -1, 1, 2);
      const Value before = both(c, plain, w).transformed;
      const auto apart = [](int64_t image) { return image % 3 == 1; };
      // Weights that are no constants, hence direct sums, are then multiplied in bf16.
      const bool hasUnit = type == bf16 && units() >= Units::AVX512_BF16;
      for (const double value : {NaN, -Inf, 1e6}) {
        Value x = plain;
        for (int64_t image = 0; image < c.batch; ++image)
          if (apart(image))
            x.set(x.size() / static_cast<size_t>(c.batch) * static_cast<size_t>(image) + 100, value);
        for (int threads : {1, 2, 3}) {
          setThreads(threads);
          const Both found = both(c, x, w, true);
          for (int64_t image = 0; image < c.batch; ++image) {
            const auto bytes = imageOf(found.transformed, c.batch, image);
            const auto same = imageOf(apart(image) ? found.direct : before, c.batch, image);
            SCOPED_TRACE(testing::Message() << "image " << image << " with " << value << ", " << threads << " threads");
            if (hasUnit && apart(image))
              expectSameSums(bytes, same);
            else
              EXPECT_TRUE(std::ranges::equal(bytes, same));
            Value one(type, alone.images(c.sizes, c.in));
            std::ranges::copy(imageOf(x, c.batch, image), one.bytes.begin());
            EXPECT_TRUE(std::ranges::equal(bytes, both(alone, one, w).transformed.bytes)) << "image " << image;
          }
        }
        setThreads(0);
      }
    }
  }
}

TEST(WinogradValues, AddResidualsToEachImage) {
  const ConvolutionCase c = caseOf(14, 13, 4, 32, 70);
  Value x = random(f32, c.images(c.sizes, c.in), -1, 1, 1);
  const Value w = random(f32, c.filter(), -1, 1, 2), added = random(f32, c.images(c.results(), c.out), -1, 1, 3);
  x.set(x.size() / 2 + 7, 1e6); // in the third image
  const Value plain = both(c, x, w).transformed;
  const auto kernel = kernelFor(c.name(), {&x, &w}, {added}, c.attributes(), {false, true});
  const auto *adds = dynamic_cast<const AddsResidual *>(kernel.get());
  ASSERT_TRUE(adds && adds->addsResidual(f32));
  Value found(f32, added.spec.shape);
  std::vector<std::byte> scratch;
  const std::byte *ins[] = {x.bytes.data(), nullptr};
  std::byte *outs[] = {found.bytes.data()};
  adds->runAdding({ins, outs, aligned(scratch, kernel->scratchBytes())}, {added.bytes.data(), false});
  for (size_t i = 0; i < found.size(); ++i)
    ASSERT_EQ(found.at<float>(i), plain.at<float>(i) + added.at<float>(i)) << "element " << i;
}

TEST(WinogradValues, OfZeroAreZero) {
  const ConvolutionCase c = caseOf(14, 14, 1, 32, 32);
  const Value zero(f32, c.images(c.sizes, c.in)), w = random(f32, c.filter(), -1, 1, 2), none(f32, c.filter());
  expectEqual(both(c, zero, w).transformed, std::vector<double>(14 * 14 * 32, 0.0));
  expectEqual(both(c, random(f32, c.images(c.sizes, c.in)), none).transformed, std::vector<double>(14 * 14 * 32, 0.0));
}

TEST(WinogradWeights, AreTransformedUnlessTheyAreFarApart) {
  const ConvolutionCase c = caseOf(14, 14, 1, 32, 40);
  const Value x = random(f32, c.images(c.sizes, c.in), -1, 1, 1), plain = random(f32, c.filter(), -1, 1, 2);
  for (const double value : {Inf, NaN, 1e6}) {
    Value w = plain;
    w.set(9 * 32 * 39 + 4, value);
    EXPECT_TRUE(both(c, x, w).isSame()) << value;
  }
  // One channel whose other elements are small, though another channel is not.
  for (const double others : {1e-3, 1.0}) {
    Value w = plain;
    for (size_t o = 0; o < 40; ++o)
      for (size_t t = 0; t < 9; ++t)
        w.set((o * 32 + 3) * 9 + t, t == 4 ? 1.0 : others);
    EXPECT_EQ(both(c, x, w).isSame(), others < 1 || units() < Units::AVX2) << others;
  }
  // An output that is its input, or none: exact in both ways, or direct.
  Value shifts(f32, c.filter());
  for (size_t o = 0; o < 32; ++o)
    shifts.set((o * 32 + o) * 9 + 4, 1);
  const Value found = both(c, x, shifts).transformed;
  for (size_t pixel = 0; pixel < 14 * 14; ++pixel)
    for (size_t o = 0; o < 40; ++o)
      ASSERT_EQ(found.get(pixel * 40 + o), o < 32 ? x.get(pixel * 32 + o) : 0.0);
}

// In large tiles; the sum of weights that are no whole numbers has about twice the error of a direct sum.
TEST(WinogradValues, HaveAFewTimesTheErrorOfDirectSums) {
  const ConvolutionCase c = caseOf(28, 28, 1, 128, 32);
  const Value x = random(f32, c.images(c.sizes, c.in), -1, 1, 1), w = random(f32, c.filter(), -1, 1, 2);
  const std::vector<double> expected = c.expected(x, w);
  const Both found = both(c, x, w);
  const auto error = [&](const Value &values) { return errorOf(values, expected, [](size_t) { return true; }); };
  EXPECT_LT(error(found.transformed), 4 * error(found.direct));
  EXPECT_LT(error(found.transformed), 2e-5); // results have a magnitude of 11
}

/// The matrix of a transform: its results for unit vectors.
template <size_t N, size_t M, class Transform> std::array<std::array<double, N>, M> matrixOf(Transform transform) {
  std::array<std::array<double, N>, M> matrix;
  for (size_t i = 0; i < N; ++i) {
    float unit[N] = {}, found[M];
    unit[i] = 1;
    transform(unit, found);
    for (size_t j = 0; j < M; ++j)
      matrix[j][i] = found[j];
  }
  return matrix;
}

template <class Tile> class WinogradTiles : public testing::Test {};
using TileTypes = testing::Types<winograd::SmallTile, winograd::LargeTile>;
TYPED_TEST_SUITE(WinogradTiles, TileTypes);

TYPED_TEST(WinogradTiles, GiveTheSumsOfWindowsWithinTheirBound) {
  constexpr size_t side = TypeParam::side, results = TypeParam::results;
  const auto pixels = matrixOf<side, side>(TypeParam::pixels);
  const auto weights = matrixOf<3, side>(TypeParam::weights);
  const auto sums = matrixOf<side, results>(TypeParam::sums);
  for (size_t y = 0; y < results; ++y)
    for (size_t d = 0; d < side; ++d)
      for (size_t g = 0; g < 3; ++g) {
        double found = 0;
        for (size_t place = 0; place < side; ++place)
          found += sums[y][place] * weights[place][g] * pixels[place][d];
        EXPECT_NEAR(found, d == y + g ? 1 : 0, 1e-6) << "result " << y << ", pixel " << d << ", weight " << g;
      }
  const auto largest = [](const auto &matrix) {
    double most = 0;
    for (const auto &row : matrix) {
      double sum = 0;
      for (double element : row)
        sum += std::abs(element);
      most = std::max(most, sum);
    }
    return most;
  };
  const double ofOneDimension = largest(pixels) * largest(weights) * largest(sums);
  EXPECT_LE(ofOneDimension * ofOneDimension, TypeParam::amplification);
  EXPECT_GE(ofOneDimension * ofOneDimension, 0.9 * TypeParam::amplification);
}

TEST(WinogradSizes, OfHalfTilesAreMultipliedDirectly) {
  for (const ConvolutionCase &c : {caseOf(1, 100, 1, 32, 32), caseOf(100, 1, 1, 32, 32), caseOf(3, 3, 32, 32, 32)}) {
    const Value x = random(f32, c.images(c.sizes, c.in), -1, 1, 1), w = random(f32, c.filter(), -1, 1, 2);
    EXPECT_TRUE(both(c, x, w).isSame());
  }
}

TEST(WinogradWeights, ThatAreWholeNumbersGiveExactSums) {
  for (const ConvolutionCase &c : {caseOf(11, 14, 1, 64, 40), caseOf(16, 20, 1, 64, 40)})
    for (const double most : {9.0, 4096.0}) {
      Value x = random(f32, c.images(c.sizes, c.in), -4, 4, 1), w = random(f32, c.filter(), -most, most, 2);
      for (Value *value : {&x, &w})
        for (size_t i = 0; i < value->size(); ++i)
          value->set(i, std::floor(value->get(i)));
      // Each output has a scale of its own, and one has no weights.
      const size_t ofOutput = w.size() / 40;
      for (size_t i = 0; i < w.size(); ++i)
        w.set(i, i / ofOutput == 7 ? 0 : std::ldexp(w.get(i), -static_cast<int>(i / ofOutput % 8)));
      expectEqual(both(c, x, w).transformed, c.expected(x, w));
    }
}

} // namespace
