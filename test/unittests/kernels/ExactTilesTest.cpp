//===- ExactTilesTest.cpp - products of tiles by every vector unit ----------===//
// SPDX-License-Identifier: Apache-2.0
//
// The functions of kernels/exact/tiles.h, which every unit that this CPU has must
// share bit for bit with the arithmetic of one product after another.
//
//===----------------------------------------------------------------------===//

#include "kernels/exact/matrix.h"
#include "tt/sim/arithmetic.h"
#include "tt/units.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

using namespace tt;
using tt::sim::exact::Destination;

namespace {

constexpr int64_t columns = 37, depth = 96; // neither tiles nor blocks of columns are all full

struct Setting {
  int phases;
  Destination width;
  int spread; // of exponents
};

class ExactTiles : public testing::TestWithParam<Setting> {
protected:
  std::mt19937 random{7};

  uint32_t value() {
    const auto kind = random() % 16;
    if (kind < 3)
      return kind == 0 ? 0x80000000 : 0; // zeros of both signs
    float number = std::normal_distribution<float>()(random);
    if (kind < 8) // of few digits, which tie and cancel
      number = static_cast<float>(static_cast<int>(random() % 17) - 8) / 4;
    const int scale = GetParam().spread ? static_cast<int>(random() % static_cast<uint32_t>(2 * GetParam().spread)) : 0;
    return std::bit_cast<uint32_t>(std::ldexp(number, scale - GetParam().spread)) & 0xffffe000;
  }
};

TEST_P(ExactTiles, EqualOneProductAfterAnother) {
  const auto [phases, width, spread] = GetParam();
  const int64_t rows = 13, tall = 32; // 13: not a multiple of what a unit takes at once
  for (int round = 0; round < 6; ++round) {
    std::vector<uint32_t> left(rows * depth), right(depth * columns);
    for (uint32_t &v : left)
      v = value();
    for (uint32_t &v : right)
      v = value();
    if (round == 1) // the second tile takes the first one back
      for (int64_t i = 0; i < tall * columns; ++i)
        right[static_cast<size_t>(i + tall * columns)] = right[static_cast<size_t>(i)] ^ 0x80000000;
    if (round == 1)
      for (int64_t r = 0; r < rows; ++r)
        std::copy_n(left.begin() + r * depth, tall, left.begin() + r * depth + tall);
    if (round == 2) // groups of eight without a value, and a tile without one
      for (int64_t i = 0; i < depth; ++i)
        if (i / 8 % 3 == 0 || i / tall == 1)
          std::fill_n(right.begin() + i * columns, columns, 0);
    if (round == 3) // an infinite value and a denormal are not for vectors
      left[depth + 5] = 0x7f800000, left[3 * depth + 40] = 0x00012000;
    if (round == 4) { // nor are any bits, with the digits of NaN, in a tile and what follows it
      for (int64_t i = 0; i < tall; ++i)
        left[static_cast<size_t>(2 * depth + i)] = random() & 0xffffe000;
      for (int64_t i = 0; i < tall * columns; i += 7)
        right[static_cast<size_t>(i)] = random() & 0xffffe000;
    }
    if (round == 5) // rows of zeros next to others, one in each four
      for (int64_t r = 0; r < rows; ++r)
        if (r % 4 != 1)
          std::fill_n(left.begin() + r * depth, r % 3 ? depth : tall, 0);

    ttnn::exact::Compute compute;
    compute.phases = phases, compute.width = width;
    const ttnn::exact::MatrixProduct product(rows, columns, depth, compute);
    std::vector<std::byte> scratch(product.scratchBytes() + 64);
    std::vector<uint32_t> found(rows * columns);
    ttnn::exact::MatrixProduct::Io io;
    io.left = [&](int64_t row, float *to) { std::memcpy(to, &left[static_cast<size_t>(row * depth)], depth * 4); };
    io.right = [&](int64_t k, int64_t column, int64_t count, float *to) {
      std::memcpy(to, &right[static_cast<size_t>(k * columns + column)], static_cast<size_t>(count) * 4);
    };
    if (round % 2) // by columns
      io.rightColumn = [&](int64_t column, float *to) {
        for (int64_t k = 0; k < depth; ++k)
          std::memcpy(to + k, &right[static_cast<size_t>(k * columns + column)], sizeof *to);
      };
    io.finish = [&](int64_t row, int64_t column, int64_t count, float *values) {
      std::memcpy(&found[static_cast<size_t>(row * columns + column)], values, static_cast<size_t>(count) * 4);
    };
    auto *aligned = reinterpret_cast<std::byte *>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) & ~uintptr_t(63));
    product.run(io, aligned);

    for (int64_t c = 0; c < columns; ++c) {
      std::vector<uint32_t> column(depth);
      for (int64_t k = 0; k < depth; ++k)
        column[static_cast<size_t>(k)] = right[static_cast<size_t>(k * columns + c)];
      for (int64_t r = 0; r < rows; ++r)
        ASSERT_EQ(found[static_cast<size_t>(r * columns + c)],
                  sim::exact::dot(column.data(), &left[static_cast<size_t>(r * depth)], depth, 0, phases, width))
            << "row " << r << ", column " << c << ", round " << round << ", unit " << toString(units());
    }
  }
}

std::vector<Setting> settings() {
  std::vector<Setting> all;
  for (const int phases : {1, 2, 3, 4})
    for (const Destination width : {Destination::Bits16, Destination::Bits32})
      for (const int spread : {0, 6, 20, 60})
        all.push_back({phases, width, spread});
  return all;
}
std::string nameOf(const testing::TestParamInfo<Setting> &info) {
  return "phases" + std::to_string(info.param.phases) +
         (info.param.width == Destination::Bits32 ? "_wide" : "_narrow") + "_spread" +
         std::to_string(info.param.spread);
}
INSTANTIATE_TEST_SUITE_P(All, ExactTiles, testing::ValuesIn(settings()), nameOf);

} // namespace
