//===- ConvolutionTest.cpp - convolutions of 1 to 3 dimensions, prepared weights -===//
// SPDX-License-Identifier: Apache-2.0

#include "ConvolutionCase.h"

using namespace tt;
using namespace tt::ttnn;
using namespace tt::ttnn::test;

namespace {

constexpr DataType f32 = DataType::Float32, bf16 = DataType::BFloat16;

using Case = ConvolutionCase;

Named with(Named attributes, const std::string &name, Attribute value) {
  attributes.push_back({name, std::move(value)});
  return attributes;
}

class Convolutions : public testing::TestWithParam<Case> {};

TEST_P(Convolutions, MatchTheLoops) {
  const Case &c = GetParam();
  for (DataType type : {f32, bf16}) {
    const Value x = random(type, c.images(c.sizes, c.in), -1, 1, 1), w = random(type, c.filter(), -1, 1, 2),
                bias = random(type, {1, 1, 1, c.out}, -1, 1, 3);
    const Shape out = c.images(c.results(), c.out);
    // Products of at most 1, added in f32 in any order.
    const double relative = type == bf16 ? 0x1p-8 : 1e-6,
                 absolute = 2e-5 + 0x1p-24 * static_cast<double>(c.in / c.groups * volume(c.kernel));
    std::vector<double> expected = c.expected(x, w);
    for (bool constant : {false, true})
      expectNear(run(c.name(), {&x, &w}, type, out, c.attributes(), {false, constant}), expected, relative, absolute);
    for (size_t i = 0; i < expected.size(); ++i)
      expected[i] += bias.get(i % static_cast<size_t>(c.out));
    for (bool constant : {false, true})
      expectNear(run(c.name(), {&x, &w, &bias}, type, out, c.attributes(), {false, constant, constant}), expected,
                 relative, absolute);
  }
}

/// Which are read as they are, or widened once: the sums are those of the same values in f32.
TEST_P(Convolutions, WeightsOfBf16HaveTheSameSums) {
  const Case &c = GetParam();
  const Value x = random(f32, c.images(c.sizes, c.in), -1, 1, 1), narrow = random(bf16, c.filter(), -1, 1, 2);
  Value wide(f32, c.filter());
  const std::vector<double> values = narrow.values();
  for (size_t i = 0; i < values.size(); ++i)
    wide.set(i, values[i]);
  const Shape out = c.images(c.results(), c.out);
  for (bool constant : {false, true})
    expectEqual(run(c.name(), {&x, &narrow}, f32, out, c.attributes(), {false, constant}),
                run(c.name(), {&x, &wide}, f32, out, c.attributes(), {false, constant}).values());
}

/// Products beyond 31 bits, of every type; sums wrap to 32 bits and then to the result's.
TEST_P(Convolutions, OfIntegersAreExact) {
  const Case &c = GetParam();
  const std::pair<DataType, double> types[] = {
      {DataType::Int32, 70000},  {DataType::Int32, 20000},  {DataType::Int32, 127}, {DataType::Int32, 200},
      {DataType::UInt32, 70000}, {DataType::UInt16, 60000}, {DataType::UInt8, 255}};
  for (const auto &[type, most] : types)
    for (DataType produced : {DataType::Int32, type}) {
      const double least = type == DataType::Int32 ? -most : 0;
      const Value x = random(type, c.images(c.sizes, c.in), least, most, 1),
                  w = random(type, c.filter(), least, most, 2),
                  bias = random(DataType::Int32, {1, 1, 1, c.out}, -90000, 90000, 3);
      std::vector<double> expected = c.expected(x, w);
      for (size_t i = 0; i < expected.size(); ++i) {
        const auto sum =
            static_cast<int64_t>(expected[i]) + static_cast<int64_t>(bias.get(i % static_cast<size_t>(c.out)));
        const auto word = static_cast<uint32_t>(sum);
        switch (produced) {
        case DataType::Int32:
          expected[i] = static_cast<int32_t>(word);
          break;
        case DataType::UInt32:
          expected[i] = word;
          break;
        case DataType::UInt16:
          expected[i] = static_cast<uint16_t>(word);
          break;
        default:
          expected[i] = static_cast<uint8_t>(word);
        }
      }
      for (bool constant : {false, true})
        expectNear(run(c.name(), {&x, &w, &bias}, produced, c.images(c.results(), c.out), c.attributes(),
                       {false, constant, constant}),
                   expected, 0, 0);
    }
}

TEST_P(Convolutions, KeepNoSecondCopyOfWeights) {
  const Case &c = GetParam();
  const Value x(bf16, c.images(c.sizes, c.in)), w(bf16, c.filter()), bias(bf16, {1, 1, 1, c.out}),
      out(bf16, c.images(c.results(), c.out));
  // bf16 biases are added in f32: the kernel has them in that form. Weights may lie as the library likes them already.
  const auto fixed = kernelFor(c.name(), {&x, &w, &bias}, {out}, c.attributes(), {false, true, true});
  EXPECT_TRUE(fixed->reads(0));
  EXPECT_FALSE(fixed->reads(2));
  if (c.in > 1 && volume(c.kernel) > 1)
    EXPECT_FALSE(fixed->reads(1));
  const auto varying = kernelFor(c.name(), {&x, &w, &bias}, {out}, c.attributes());
  for (size_t i : {0, 1, 2})
    EXPECT_TRUE(varying->reads(i));
}

INSTANTIATE_TEST_SUITE_P(
    Window, Convolutions,
    testing::Values(
        // Sequences
        Case{{9}, {3}, {1}, {1}, {1}}, Case{{17}, {4}, {3}, {2}, {2, 0}, 2, 6, 9, 3},
        Case{{1}, {1}, {1}, {1}, {0}, 1, 1, 1},
        // Images: one channel, one column, edges of panels, of groups of rows and of what is gathered at a time
        Case{{4, 1}, {2, 3}, {1, 3}, {1, 1}, {1, 0, 1, 2}, 2, 1, 2},
        Case{{1, 1}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 3, 1, 1}, Case{{9, 8}, {3, 3}, {2, 1}, {1, 1}, {1, 1}, 2, 3, 70},
        Case{{7, 7}, {3, 3}, {1, 1}, {2, 3}, {2, 3}, 1, 33, 17},
        Case{{6, 5}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 3, 24, 40}, Case{{8, 6}, {1, 1}, {2, 2}, {1, 1}, {0, 0}, 2, 7, 65},
        Case{{20, 20}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 1, 96, 9},
        Case{{5, 5}, {7, 7}, {1, 1}, {1, 1}, {3, 3}, 1, 64, 8},
        // Enough values side by side for panels: several panels, blocks and chunks, images some at a time
        Case{{30, 21}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 1, 16, 80},
        Case{{5, 4}, {3, 3}, {2, 2}, {1, 1}, {1, 0, 0, 1}, 3, 200, 18},
        Case{{70, 70}, {1, 2}, {1, 1}, {1, 1}, {1, 1}, 2, 64, 16}, Case{{600}, {3}, {2}, {1}, {0}, 2, 20, 33},
        Case{{40}, {4}, {1}, {3}, {5}, 2, 48, 66},
        Case{{4, 5, 6}, {2, 3, 2}, {1, 2, 1}, {1, 1, 1}, {1, 1, 0}, 2, 32, 48},
        Case{{12, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 3, 16, 24},
        Case{{17, 20}, {3, 2}, {2, 1}, {1, 1}, {0, 1, 2, 0}, 2, 8, 8},
        Case{{11, 12}, {3, 3}, {1, 1}, {2, 2}, {2, 2}, 1, 8, 16},
        Case{{90, 50}, {2, 1}, {1, 1}, {1, 1}, {0, 0}, 4, 24, 8},
        Case{{90, 50}, {2, 1}, {2, 1}, {1, 1}, {0, 0}, 3, 64, 8}, Case{{130}, {5}, {2}, {1}, {2}, 2, 16, 8},
        Case{{6, 6, 5}, {2, 3, 2}, {1, 1, 1}, {1, 1, 1}, {1, 1, 0}, 2, 16, 8},
        Case{{4200}, {2}, {1}, {1}, {0}, 2, 64, 16}, // images some at a time
        // Windows partly and wholly outside of the image, along each axis, with gaps, and fewer rows than a step
        Case{{7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 2, 32, 70},
        Case{{2, 2}, {2, 2}, {1, 1}, {1, 1}, {3, 3}, 2, 32, 16},
        Case{{9, 14}, {3, 5}, {2, 1}, {1, 1}, {2, 0, 4, 1}, 3, 16, 33},
        Case{{13, 6}, {3, 3}, {1, 2}, {4, 2}, {4, 4}, 1, 48, 40}, Case{{5}, {3}, {1}, {2}, {6}, 2, 64, 17},
        Case{{3, 4, 5}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, 2, 16, 20},
        Case{{3, 4, 5}, {2, 3, 2}, {1, 1, 1}, {1, 1, 1}, {1, 1, 0}, 1, 32, 16, 1, {}, "replicate"},
        // Single pixels, some at a time
        Case{{400}, {1}, {1}, {1}, {0}, 2, 24, 40},
        Case{{6, 8, 5}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, 2, 16, 24},
        Case{{32, 1, 33}, {1, 1, 1}, {3, 1, 1}, {1, 1, 1}, {0, 0, 0}, 1, 1, 1},
        Case{{31, 1, 33}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, 1, 33, 32},
        // Single pixels: several chunks of channels, few results, with strides; channels of results just beyond a panel
        Case{{13, 15}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 1, 520, 40},
        Case{{3, 4}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 1, 512, 70},
        Case{{9, 11}, {1, 1}, {2, 3}, {1, 1}, {0, 0}, 2, 600, 17}, Case{{40}, {1}, {3}, {1}, {0}, 2, 24, 17},
        // Lines of few values: borders of different sizes, lines of several images, sequences
        Case{{21, 19}, {3, 3}, {2, 2}, {1, 1}, {0, 1, 2, 1}, 3, 3, 24},
        Case{{12, 300}, {3, 2}, {1, 1}, {2, 1}, {3, 2, 1, 0}, 2, 2, 19}, Case{{50}, {5}, {2}, {1}, {4}, 2, 3, 24},
        // Channels in odd number, below many values of a window
        Case{{9, 2}, {8, 2}, {1, 1}, {1, 1}, {0, 0}, 2, 289, 63},
        Case{{40, 3}, {39, 3}, {1, 1}, {1, 1}, {0, 0}, 2, 33, 8},
        Case{{5, 5, 9}, {5, 3, 7}, {1, 1, 2}, {1, 1, 1}, {0, 0, 0}, 2, 63, 64},
        // A group per channel; several pieces of a line, or of the channels; windows in padding only
        Case{{3, 150}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 1, 40, 40, 40},
        Case{{2, 5}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 1, 1104, 1104, 1104},
        Case{{2, 2}, {2, 2}, {1, 1}, {1, 1}, {3, 3}, 1, 24, 24, 24},
        Case{{6, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 2, 40, 40, 40},
        Case{{9, 9}, {3, 2}, {2, 3}, {2, 1}, {0, 1, 2, 0}, 1, 32, 32, 32},
        Case{{9, 8}, {3, 3}, {1, 2}, {2, 1}, {1, 2}, 2, 12, 34, 2}, Case{{33}, {5}, {2}, {1}, {2}, 2, 9, 9, 9},
        Case{{3, 4, 5}, {3, 1, 2}, {1, 1, 1}, {1, 1, 1}, {1, 0, 0, 1, 0, 1}, 1, 70, 70, 70},
        // As networks have them: lines of windows of few channels, strides, gaps, many panels; a group per channel
        Case{{19, 17}, {7, 7}, {2, 2}, {1, 1}, {3, 3}, 2, 3, 40},
        Case{{14, 15}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, 2, 64, 70},
        Case{{14, 13}, {3, 3}, {1, 1}, {2, 2}, {2, 2}, 1, 32, 33},
        Case{{9, 10}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 2, 96, 320},
        Case{{13, 12}, {1, 1}, {2, 2}, {1, 1}, {0, 0}, 2, 96, 40},
        Case{{8, 11}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, 2, 100, 100, 100},
        Case{{8, 9}, {5, 5}, {2, 2}, {1, 1}, {2, 2}, 2, 72, 72, 72},
        Case{{9, 7}, {7, 7}, {1, 1}, {1, 1}, {3, 3}, 1, 48, 48, 48},
        Case{{10, 13}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 2, 48, 48, 48},
        Case{{11, 8}, {3, 3}, {2, 2}, {1, 1}, {0, 1, 1, 2}, 1, 64, 64, 64},
        Case{{9, 14}, {5, 5}, {1, 1}, {1, 1}, {2, 2}, 1, 32, 32, 32}, Case{{20}, {5}, {2}, {1}, {2}, 2, 16, 16, 16},
        // Transposed
        Case{{5, 6}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 1, 4, 8, 1, {0, 0}},
        Case{{4, 3}, {3, 2}, {2, 3}, {1, 1}, {1, 0}, 2, 16, 5, 1, {1, 2}},
        Case{{5, 5}, {2, 3}, {2, 2}, {2, 1}, {0, 1, 2, 0}, 1, 8, 12, 4, {0, 0}},
        Case{{6, 6}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, 1, 16, 16, 16, {1, 1}},
        Case{{1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 3, 1, 1, 1, {0, 0}},
        // More behind the result than a stride
        Case{{3, 4}, {2, 3}, {3, 2}, {1, 1}, {1, 0, 0, 0}, 2, 4, 6, 2, {5, 2}},
        Case{{2, 2}, {1, 2}, {1, 1}, {1, 1}, {0, 1}, 1, 3, 2, 1, {2, 4}},
        // Volumes
        Case{{3, 5, 4}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
        Case{{4, 7, 5}, {2, 3, 1}, {2, 1, 3}, {1, 1, 1}, {0, 1, 0}, 2, 3, 5},
        Case{{4, 4, 4}, {3, 2, 2}, {1, 2, 1}, {1, 1, 1}, {1, 0, 0, 1, 2, 0}, 1, 6, 9, 3},
        Case{{2, 3, 4}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 2, 1}, 2, 5, 7, 1, {}, "replicate"},
        Case{{5, 4, 4}, {2, 2, 2}, {2, 2, 2}, {1, 1, 1}, {1, 0, 0, 1, 3, 2}, 1, 4, 4, 2, {}, "replicate"},
        Case{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, 1, 1, 1},
        Case{{7, 5, 8}, {3, 1, 2}, {1, 2, 1}, {2, 1, 3}, {2, 0, 1}, 2, 4, 6, 2},
        Case{{6, 6, 9}, {2, 3, 2}, {1, 1, 2}, {3, 1, 4}, {0, 1, 2, 0, 1, 3}, 1, 32, 20},
        Case{{5, 4, 4}, {2, 2, 2}, {2, 1, 2}, {2, 3, 1}, {1, 0, 0, 1, 3, 2}, 1, 4, 4, 2, {}, "replicate"},
        // Volumes, transposed
        Case{{3, 2, 4}, {2, 2, 2}, {2, 2, 2}, {1, 1, 1}, {0, 0, 0}, 2, 6, 5, 1, {0, 0, 0}},
        Case{{2, 3, 3}, {3, 2, 3}, {2, 1, 2}, {1, 2, 1}, {1, 0, 1}, 1, 16, 4, 2, {1, 0, 0}},
        Case{{2, 2, 3}, {3, 3, 2}, {3, 2, 1}, {1, 1, 2}, {1, 0, 0, 2, 1, 0}, 1, 24, 40, 8, {4, 3, 0}},
        Case{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, 3, 1, 1, 1, {0, 0, 0}}));

/// The attributes of a convolution with an activation.
Named activated(const Case &c, const char *name) {
  const StructAttribute op{"ttnn.unary_with_param", {{"op_type", {EnumAttribute{"ttnn.unary_op_type", name, 3}}}}};
  return with(c.attributes(), "conv2d_config", {StructAttribute{"ttnn.conv2d_config", {{"activation", {op}}}}});
}

TEST(Convolution, AnyActivationComesBeforeTheOnlyRounding) {
  // Images of one group, in panels or not, and of as many as channels, which are computed in other ways;
  // values beyond 6.
  const Case cases[] = {{{9, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 1, 32, 16},
                        {{9, 8}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 2, 32, 16},
                        {{9, 7}, {3, 3}, {2, 1}, {1, 1}, {1, 1}, 1, 32, 32, 32},
                        {{16, 16}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 1, 16, 48}};
  const std::pair<const char *, std::function<double(double)>> activations[] = {
      {"relu", [](double x) { return std::max(x, 0.0); }},
      {"relu6", [](double x) { return std::min(std::max(x, 0.0), 6.0); }},
      {"abs", [](double x) { return std::fabs(x); }},
      {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
  };
  for (const Case &c : cases)
    for (const auto &[name, f] : activations)
      for (DataType type : {f32, bf16}) {
        const Value x = random(type, c.images(c.sizes, c.in), -4, 4, 1), w = random(type, c.filter(), -2, 2, 2);
        const Shape shape = c.images(c.results(), c.out);
        std::vector<double> expected = run(c.name(), {&x, &w}, f32, shape, c.attributes()).values();
        EXPECT_GT(*std::ranges::max_element(expected), 6);
        for (double &v : expected)
          v = f(v);
        SCOPED_TRACE(name);
        expectNear(run(c.name(), {&x, &w}, f32, shape, activated(c, name)), expected, 1e-6, 1e-5);
        if (type == bf16)
          expectNear(run(c.name(), {&x, &w}, bf16, shape, activated(c, name)), expected, 0x1p-8, 1e-5);
      }
}

TEST(Convolution, PaddingMayBeMuchLargerThanTheImage) {
  // Copied with such padding, the image would have 2^64 bytes, and 5 GB.
  const int64_t far = (int64_t(1) << 31) - 1;
  for (const auto &[high, wide] : {std::pair<int64_t, int64_t>{1 << 28, 1 << 27}, {3000, 3000}}) {
    const Case c{{1, 1}, {2, 2}, {far, far}, {1, 1}, {high, high - 1, wide, wide - 1}, 1, 32, 16};
    const Value x = random(f32, c.images(c.sizes, c.in)), w = random(f32, c.filter());
    expectNear(run(c.name(), {&x, &w}, f32, c.images(c.results(), c.out), c.attributes()), c.expected(x, w), 1e-6,
               1e-5);
  }
}

/// Memory grows with the pixels that windows read, not with those that strides leave out.
TEST(Convolution, StridesMayBeMuchLargerThanTheImage) {
  for (const DataType type : {DataType::Float32, DataType::BFloat16})
    for (const int64_t stride : {int64_t(224), int64_t(2147483647)}) {
      const ConvolutionCase c{{30, 31}, {7, 7}, {stride, 1}, {1, 1}, {3, 3}, 1, 3, 16};
      const Value x = random(type, c.images(c.sizes, c.in), -1, 1, 1), w = random(type, c.filter(), -1, 1, 2);
      const Value out(type, c.images(c.results(), c.out));
      EXPECT_LT(kernelFor(c.name(), {&x, &w}, {out}, c.attributes(), {false, true})->scratchBytes(), size_t(1) << 20);
      expectNear(run(c.name(), {&x, &w}, type, out.spec.shape, c.attributes(), {false, true}), c.expected(x, w),
                 type == DataType::BFloat16 ? 0x1p-8 : 1e-6, 1e-5);
    }
}

TEST(Convolution, TypesMayDiffer) {
  // In panels, single pixels and a group per channel.
  const Case cases[] = {{{9, 8}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 2, 32, 24},
                        {{16, 16}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 1, 32, 24},
                        {{9, 8}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 2, 24, 24, 24}};
  constexpr DataType f16 = DataType::Float16;
  for (const Case &c : cases)
    for (const DataType image : {f32, bf16, f16})
      for (const DataType weights : {f32, bf16, f16})
        for (const DataType out : {f32, bf16, f16}) {
          const Value x = random(image, c.images(c.sizes, c.in), -1, 1, 1), w = random(weights, c.filter(), -1, 1, 2);
          expectNear(run(c.name(), {&x, &w}, out, c.images(c.results(), c.out), c.attributes(), {false, true}),
                     c.expected(x, w),
                     out == bf16  ? 0x1p-8
                     : out == f16 ? 0x1p-10
                                  : 1e-6,
                     1e-4);
        }
}

TEST(Convolution, NaNPassesActivations) {
  // A NaN, and a value of which weights of 0 make one.
  for (const double special : {NaN, Inf})
    for (const auto &[kernel, groups] : {std::pair{3, 1}, {1, 1}, {3, 32}})
      for (const char *name : {"relu", "relu6", "sigmoid"})
        for (DataType type : {f32, bf16}) {
          const int64_t k = kernel;
          const Case c{{9, 8}, {k, k}, {1, 1}, {1, 1}, {k / 2, k / 2}, 1, 32, 32, groups};
          Value x = random(type, c.images(c.sizes, c.in), -4, 4, 1), w = random(type, c.filter(), -2, 2, 2);
          x.set(100, special);
          for (size_t i = 0; i < w.size() / 4; ++i) // of the first 8 channels of the result
            w.set(i, 0);
          const Shape shape = c.images(c.results(), c.out);
          const std::vector<double> sums = run(c.name(), {&x, &w}, f32, shape, c.attributes()).values();
          const Value found = run(c.name(), {&x, &w}, type, shape, activated(c, name));
          EXPECT_TRUE(std::ranges::any_of(sums, [](double v) { return std::isnan(v); }));
          for (size_t i = 0; i < sums.size(); ++i)
            ASSERT_EQ(std::isnan(found.get(i)), std::isnan(sums[i])) << name << " at " << i << " of " << sums[i];
        }
}

TEST(Convolution, RoundsToTheNearestAndTiesToEven) {
  // Each result is one product of 16 bits; a few are between two values of bf16. Single pixels, and a group per
  // channel.
  for (const auto &[kernel, groups] : {std::pair{1, 1}, {3, 16}}) {
    const int64_t k = kernel;
    const Case c{{16, 16}, {k, k}, {1, 1}, {1, 1}, {k / 2, k / 2}, 1, 16, 16, groups};
    Value x(bf16, c.images(c.sizes, c.in)), w(bf16, c.filter());
    for (size_t i = 0; i < x.size(); ++i)
      x.set(i, (i / 16 % 2 ? -1 : 1) * (1 + static_cast<double>(i / 32) / 128));
    const auto taps = static_cast<size_t>(k * k);
    for (size_t channel = 0; channel < 16; ++channel)
      w.set(groups > 1 ? channel * taps + taps / 2 : channel * 17, 1 + static_cast<double>(1 + 2 * channel) / 128);
    Value expected(bf16, x.spec.shape);
    int ties = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double product = x.get(i) * (1 + static_cast<double>(1 + 2 * (i % 16)) / 128);
      const double steps = std::fabs(product) * (std::fabs(product) < 2 ? 128 : 64), rest = steps - std::floor(steps);
      ties += rest == 0.5;
      const double whole = std::floor(steps) + (rest > 0.5 || (rest == 0.5 && std::fmod(std::floor(steps), 2) == 1));
      expected.set(i, std::copysign(whole / (std::fabs(product) < 2 ? 128 : 64), product));
    }
    EXPECT_GT(ties, 10);
    expectEqual(run(c.name(), {&x, &w}, bf16, expected.spec.shape, c.attributes()), expected.values());
  }
}

TEST(Convolution, NaNReachesOnlyWindowsThatHoldIt) {
  // In the first and the last channel of some pixels; numbers of channels are those around pairs, vectors and blocks.
  for (const int64_t channels : {1, 2, 3, 17, 33, 65})
    for (const auto &[kernel, stride, groups] : {std::tuple{1, 1, 1}, {3, 1, 1}, {3, 2, 1}, {1, 1, 2}, {3, 1, 2}})
      for (const DataType type : {f32, bf16})
        for (const bool transposed : {false, true}) {
          const int64_t k = kernel, s = stride, in = channels * groups;
          const std::vector<int64_t> extra = transposed ? std::vector<int64_t>{0, 0} : std::vector<int64_t>();
          const Case c{{7, 6}, {k, k}, {s, s}, {1, 1}, {k / 2, k / 2}, 2, in, 16 * groups, groups, extra};
          Value x = random(type, c.images(c.sizes, c.in), -4, 4, 1);
          const Value w = random(type, c.filter(), 1, 2, 2);
          for (int64_t pixel = 3; pixel < 78; pixel += 13) {
            x.set(static_cast<size_t>(pixel * in), NaN);
            x.set(static_cast<size_t>((pixel + 6) * in + in - 1), Inf);
          }
          const std::vector<double> expected = c.expected(x, w);
          const Value found = run(c.name(), {&x, &w}, type, c.images(c.results(), c.out), c.attributes());
          for (size_t i = 0; i < expected.size(); ++i)
            ASSERT_EQ(std::isfinite(found.get(i)), std::isfinite(expected[i]))
                << c.name() << " of " << channels << " channels, kernel " << k << ", stride " << s << ", " << groups
                << " groups, " << (type == bf16 ? "bf16" : "f32") << ", at " << i;
        }
}

TEST(Convolution, ActivationAndWeightsOfSequencesAsImages) {
  const Case c{{9}, {3}, {2}, {1}, {1}, 2};
  const Value x = random(f32, c.images(c.sizes, c.in)), w = random(f32, c.filter());
  Value image = w;
  image.spec.shape.push_back(1);
  std::vector<double> expected = c.expected(x, w);
  for (double &v : expected)
    v = std::max(v, 0.0);
  expectNear(run(c.name(), {&x, &image}, f32, c.images(c.results(), c.out), activated(c, "relu")), expected, 1e-6,
             1e-5);
}

//===----------------------------------------------------------------------===//
// Prepared weights
//===----------------------------------------------------------------------===//

Named prepared(int64_t groups, int64_t block, int64_t alignment) {
  return {{"groups", integer(groups)}, {"c_in_block", integer(block)}, {"alignment", integer(alignment)}};
}

TEST(PrepareVolumes, BlocksOfChannels) {
  // [out, in, depth, height, width] = [2, 3, 1, 1, 2]: element 100 * out + 10 * in + place.
  Value w(f32, {2, 3, 1, 1, 2});
  for (size_t i = 0; i < w.size(); ++i)
    w.set(i, static_cast<double>(i / 6 * 100 + i / 2 % 3 * 10 + i % 2));
  expectEqual(run("ttnn.prepare_conv3d_weights", {&w}, f32, {6, 2}, prepared(1, 0, 1)),
              {0, 100, 10, 110, 20, 120, 1, 101, 11, 111, 21, 121});
  expectEqual(run("ttnn.prepare_conv3d_weights", {&w}, bf16, {8, 2}, prepared(2, 2, 4)),
              {0, 100, 10, 110, 1, 101, 11, 111, 20, 120, 0, 0, 21, 121, 0, 0});
}

TEST(PrepareVolumes, ConvolutionsTakeThemInAnyBlocks) {
  const Case c{{3, 4, 5}, {2, 3, 1}, {1, 1, 2}, {1, 1, 1}, {1, 1, 0}, 1, 20, 6, 2};
  for (DataType type : {f32, bf16}) {
    const Value x = random(type, c.images(c.sizes, c.in), -1, 1, 1), w = random(type, c.filter(), -1, 1, 2);
    const Shape out = c.images(c.results(), c.out);
    const Value expected = run(c.name(), {&x, &w}, type, out, c.attributes());
    for (const auto &[block, alignment] : {std::pair<int64_t, int64_t>{0, 1}, {0, 32}, {4, 16}, {8, 8}}) {
      const int64_t channels = (c.in / c.groups + alignment - 1) / alignment * alignment;
      const Value matrix = run("ttnn.prepare_conv3d_weights", {&w}, type, {channels * volume(c.kernel), c.out},
                               prepared(c.groups, block, alignment));
      const Named attributes = with(c.attributes(), "conv3d_config",
                                    {StructAttribute{"ttnn.conv3d_config", {{"c_in_block", integer(block)}}}});
      for (bool constant : {false, true})
        expectEqual(run(c.name(), {&x, &matrix}, type, out, attributes, {false, constant}), expected.values());
    }
  }
}

TEST(Prepare, WeightsAndBiasesKeepTheirValues) {
  struct Row {
    const char *name;
    Shape from, to;
    int64_t in, out;
    Named more;
    bool isMirrored = false;
  };
  const Named weights = {{"weights_format", text("OIHW")}, {"has_bias", flag(true)}};
  Named transposed = weights, mirrored = weights;
  transposed.insert(transposed.end(), {{"output_padding", ints({0, 0})}, {"mirror_kernel", flag(true)}});
  mirrored.insert(mirrored.end(), {{"output_padding", ints({0, 0})}, {"mirror_kernel", flag(false)}});
  const Row rows[] = {
      {"ttnn.prepare_conv2d_weights", {8, 3, 3, 3}, {1, 1, 27, 8}, 3, 8, weights},
      {"ttnn.prepare_conv2d_weights", {8, 3, 3, 3}, {8, 3, 3, 3}, 3, 8, weights},
      {"ttnn.prepare_conv2d_weights", {1, 1, 1, 1}, {1, 1, 1, 1}, 1, 1, weights},
      {"ttnn.prepare_conv2d_bias", {7}, {1, 1, 1, 7}, 3, 7, {}},
      {"ttnn.prepare_conv2d_bias", {1, 1, 1, 33}, {1, 1, 1, 33}, 3, 33, {}},
      {"ttnn.prepare_conv_transpose2d_weights", {5, 2, 3, 2}, {1, 1, 30, 2}, 5, 2, transposed},
      {"ttnn.prepare_conv_transpose2d_weights", {5, 2, 3, 3}, {1, 1, 45, 2}, 5, 2, mirrored, true},
      {"ttnn.prepare_conv_transpose2d_weights", {1, 33, 3, 3}, {1, 33, 3, 3}, 1, 33, mirrored, true},
      {"ttnn.prepare_conv_transpose2d_bias", {1, 1, 1, 2}, {1, 1, 1, 2}, 5, 2, {}},
  };
  for (const Row &row : rows)
    for (DataType from : {f32, bf16})
      for (DataType to : {f32, bf16, DataType::BFP_BFloat8}) {
        const Value x = random(from, row.from, -4, 4);
        Named attributes = {{"in_channels", integer(row.in)},
                            {"out_channels", integer(row.out)},
                            {"batch_size", integer(1)},
                            {"input_height", integer(5)},
                            {"input_width", integer(5)},
                            {"kernel_size", ints({3, 3})},
                            {"stride", ints({1, 1})},
                            {"padding", ints({0, 0})},
                            {"dilation", ints({1, 1})},
                            {"groups", integer(1)},
                            {"input_memory_config", {StructAttribute{"ttnn.memory_config", {}}}},
                            {"input_tensor_layout", {EnumAttribute{"ttnn.layout", "row_major", 0}}},
                            {"input_dtype", {EnumAttribute{"ttcore.data_type", "f32", 0}}}};
        attributes.insert(attributes.end(), row.more.begin(), row.more.end());
        const Value y = run(row.name, {&x}, to, row.to, attributes);
        std::vector<double> kept = x.values();
        if (row.isMirrored) // each window of 3x3 backwards
          for (auto place = kept.begin(); place != kept.end(); place += 9)
            std::reverse(place, place + 9);
        // The shared exponent of a block leaves seven bits of its largest element.
        if (to == DataType::BFP_BFloat8)
          expectNear(y, kept, 0, 4 * 0x1p-6);
        else
          expectNear(y, kept, to == bf16 ? 0x1p-8 : 0, 0);
      }
}

TEST(Convolution, ErrorsNameOperandsAndAttributes) {
  struct Row {
    Case c;
    Shape x, w, bias, out;
    const char *message;
  };
  const Case image{{5, 5}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, 1, 4, 6, 1, {1, 1}};
  Case many = image, cut = image, deep{{3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}}, mirrored = deep;
  many.groups = 4;
  cut.padding = {9, 9};
  mirrored.mode = "reflect";
  const Shape x = {1, 1, 25, 4}, w = {4, 6, 3, 3}, y = {1, 1, 100, 6}, volumes = {1, 3, 3, 3, 4};
  const Row rows[] = {
      {image,
       {1, 1, 24, 4},
       w,
       {},
       y,
       "ttnn.conv_transpose2d: operand 'input' has shape [1, 1, 24, 4]; expected [1, 1, 25, 4] or [1, 5, 5, 4] by the "
       "attributes"},
      {image,
       x,
       {6, 4, 3, 3},
       {},
       y,
       "ttnn.conv_transpose2d: operand 'weight' has shape [6, 4, 3, 3]; expected [4, 6, 3, 3]"},
      {image,
       x,
       w,
       {1, 1, 1, 4},
       y,
       "ttnn.conv_transpose2d: operand 'bias' has shape [1, 1, 1, 4]; expected 6 values, one per output channel, in "
       "the last dimension"},
      {image,
       x,
       w,
       {},
       {1, 1, 81, 6},
       "ttnn.conv_transpose2d: result 0 has shape [1, 1, 81, 6]; expected [1, 1, 100, 6]"},
      {many,
       x,
       w,
       {},
       y,
       "ttnn.conv_transpose2d: attribute 'groups' is 4, which does not divide 4 input and 6 output channels"},
      {cut, x, w, {}, y, "ttnn.conv_transpose2d: height of the result would be -6; expected 1 or more"},
      {deep,
       {1, 1, 27, 3},
       {8, 4, 1, 1, 1},
       {},
       {1, 3, 3, 3, 8},
       "ttnn.conv3d: operand 'input' has shape [1, 1, 27, 3]; expected [1, 3, 3, 3, 4] by the attributes"},
      {deep,
       volumes,
       {3, 8},
       {},
       {1, 3, 3, 3, 8},
       "ttnn.conv3d: operand 'weight' has shape [3, 8]; expected 1 times at least as many rows as the channels of a "
       "group, 4 / 1, and 8 columns"},
      {mirrored,
       volumes,
       {8, 4, 1, 1, 1},
       {},
       {1, 3, 3, 3, 8},
       "ttnn.conv3d: attribute 'padding_mode' is \"reflect\"; expected \"zeros\" or \"replicate\""},
  };
  for (const Row &row : rows) {
    const Value input(f32, row.x), weight(f32, row.w), bias(f32, row.bias);
    EXPECT_EQ(errorOf([&] {
                run(row.c.name(), {&input, &weight, row.bias.empty() ? nullptr : &bias}, f32, row.out,
                    row.c.attributes());
              }),
              row.message);
  }
  const Value filter(f32, {4, 3, 1, 1, 1});
  for (const auto &[attributes, shape, message] :
       {std::tuple{prepared(3, 0, 1), Shape{3, 4}, "attribute 'groups' is 3, which does not divide 4 output channels"},
        {prepared(1, 2, 1), Shape{3, 4}, "attribute 'c_in_block' is 2; expected 0, or a divisor of 3 input channels"},
        {prepared(1, 0, 0), Shape{3, 4}, "attribute 'alignment' is 0; expected 1 or more"},
        {prepared(1, 0, 4), Shape{3, 4}, "result 0 has shape [3, 4]; expected [4, 4]"}})
    EXPECT_EQ(errorOf([&] { run("ttnn.prepare_conv3d_weights", {&filter}, f32, shape, attributes); }),
              std::string("ttnn.prepare_conv3d_weights: ") + message);
}

} // namespace
