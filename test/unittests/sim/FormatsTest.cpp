//===- FormatsTest.cpp - block formats and tile order ------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "OpTest.h"

#include "tt/sim/formats.h"

using namespace tt;
using namespace tt::ttnn::test;

namespace {

struct Format {
  DataType type;
  int bits;
  size_t tile;
};
const Format formats[] = {
    {DataType::BFP_BFloat8, 7, 1088}, {DataType::BFP_Float8, 7, 1088}, {DataType::BFP_BFloat4, 3, 576},
    {DataType::BFP_Float4, 3, 576},   {DataType::BFP_BFloat2, 1, 320}, {DataType::BFP_Float2, 1, 320},
};

class Block : public testing::TestWithParam<Format> {};

/// What the library packs on the host, in whole numbers: a value as multiples of 2^-149, of which a shift to the shared
/// exponent leaves 24 bits.
double packed(float value, int exponent, int bits) {
  const int own = std::max(static_cast<int>(std::bit_cast<uint32_t>(value) >> 23 & 255), 1);
  const auto units = static_cast<uint64_t>(std::ldexp(std::fabs(value), 150 - own)); // below 2^24
  const uint64_t held = exponent - own < 24 ? units >> (exponent - own) : 0;
  const auto one = uint64_t(1) << (24 - bits);
  uint64_t whole = held / one;
  const uint64_t rest = held % one;
  if (rest > one / 2 || (rest == one / 2 && whole % 2))
    ++whole;
  whole = std::min(whole, (uint64_t(1) << bits) - 1);
  return std::copysign(std::ldexp(static_cast<double>(whole), exponent - 126 - bits), value);
}

TEST_P(Block, DropsBitsBelowTheGroupAndRoundsTiesToEven) {
  const Format &format = GetParam();
  std::mt19937 generator(3);
  std::normal_distribution<float> draw;
  for (int exponent : {-10, 0, 9}) {
    for (int round = 0; round < 2000; ++round) {
      float values[16], found[16];
      for (float &v : values)
        v = std::ldexp(draw(generator), exponent);
      // Halfway between two values of the group, and next to it.
      values[0] = std::ldexp(1.0f, exponent + 1);
      values[1] = std::ldexp(1.0f + std::ldexp(1.0f, -format.bits) * float(1 + 2 * (round % 4)), exponent - round % 3);
      values[2] = std::nextafter(values[1], 100.0f);
      values[3] = -std::nextafter(values[1], 0.0f);
      std::copy_n(values, 16, found);
      sim::quantise(format.type, found, 16);
      float largest = 0;
      for (float v : values)
        largest = std::max(largest, std::fabs(v));
      for (int i = 0; i < 16; ++i)
        ASSERT_EQ(found[i], packed(values[i], std::ilogb(largest) + 127, format.bits)) << values[i];
    }
  }
}

// 4.0 sets the exponent. 1.78125 is halfway, and what lies above it is lost.
TEST(Formats, BitsThatAreShiftedOutAreLost) {
  float values[16] = {4.0f, 1.78125f + 0x1p-23f, -(1.78125f + 0x1p-23f), 1.78125f + 0x1p-21f};
  sim::quantise(DataType::BFP_BFloat8, values, 16);
  EXPECT_EQ(values[1], 1.75f);
  EXPECT_EQ(values[2], -1.75f);
  EXPECT_EQ(values[3], 1.8125f);
}

TEST(Formats, InfAndNaNAreValuesOfTheLargestExponent) {
  const auto nan = std::bit_cast<float>(0x7f800001u); // of which seven bits are those of Inf
  float values[16] = {Inf, nan, std::bit_cast<float>(0x7fc00000u), std::numeric_limits<float>::max(), -0x1p126f};
  sim::quantise(DataType::BFP_BFloat8, values, 16);
  EXPECT_EQ(values[0], Inf);
  EXPECT_EQ(values[1], Inf);
  EXPECT_TRUE(std::isnan(values[2]));
  EXPECT_EQ(values[3], Inf) << "rounds up to 2^128";
  EXPECT_EQ(values[4], -0x1p126f);
}

TEST_P(Block, QuantisingAgainChangesNothing) {
  std::mt19937 generator(5);
  std::vector<float> values(4096 + 5);
  for (float &v : values)
    v = std::bit_cast<float>(static_cast<uint32_t>(generator()));
  sim::quantise(GetParam().type, values.data(), values.size());
  std::vector<float> again = values;
  sim::quantise(GetParam().type, again.data(), again.size());
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_TRUE(again[i] == values[i] || (std::isnan(again[i]) && std::isnan(values[i]))) << i;
    if (!std::isnan(values[i]))
      EXPECT_EQ(sim::bf16ToF32(sim::f32ToBf16(values[i])), values[i]) << "not exact in bf16";
  }
}

TEST_P(Block, ZerosDenormalsInfAndNaN) {
  const Format &format = GetParam();
  float zeros[16] = {-0.0f, 1e-40f, -1e-40f};
  sim::quantise(format.type, zeros, 16);
  for (float v : zeros)
    EXPECT_TRUE(v == 0 && !std::signbit(v));
  float special[16] = {1.0f, -std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(), -2.0f};
  sim::quantise(format.type, special, 16);
  EXPECT_EQ(special[0], 0.0f);
  EXPECT_EQ(special[1], -Inf);
  EXPECT_TRUE(format.bits == 1 ? special[2] == Inf : std::isnan(special[2]));
  EXPECT_EQ(special[3], 0.0f);
}

TEST_P(Block, EncodedTileReadsBack) {
  const Format &format = GetParam();
  for (const Shape &shape : {Shape{32, 32}, Shape{33, 65}, Shape{2, 3, 5, 40}, Shape{7}, Shape{}, Shape{0, 4}}) {
    Value value = random(DataType::Float32, shape, -3, 3, 9);
    if (value.size() > 2) {
      value.set(1, Inf);
      value.set(2, -Inf);
    }
    Value stored(format.type, shape);
    const size_t row = shape.empty() ? 1 : static_cast<size_t>(shape.back());
    for (size_t i = 0; i < value.size(); i += row) {
      sim::quantise(format.type, &value.at<float>(i), row);
      for (size_t j = 0; j < row; ++j)
        stored.at<uint16_t>(i + j) = sim::f32ToBf16(value.at<float>(i + j));
    }
    std::vector<std::byte> bytes(sim::deviceBytes(stored.spec));
    sim::encode(stored.spec, stored.bytes, bytes);
    Value back(format.type, shape);
    sim::decode(stored.spec, bytes, back.bytes);
    expectEqual(back, stored.values());
  }
  EXPECT_EQ(sim::tileBytes(format.type), format.tile);
}
INSTANTIATE_TEST_SUITE_P(Formats, Block, testing::ValuesIn(formats),
                         [](const auto &info) { return std::string(toString(info.param.type)); });

TEST(Formats, FiveBitExponentsSaturateAndFlush) {
  float large[16] = {1e6f, -1e6f, 1.0f};
  sim::quantise(DataType::BFP_Float8, large, 16);
  EXPECT_EQ(large[0], 65024.0f); // 127 / 64 * 2^15
  EXPECT_EQ(large[1], -65024.0f);
  float small[16] = {1e-5f};
  sim::quantise(DataType::BFP_Float8, small, 16);
  EXPECT_EQ(small[0], 0.0f); // below 2^-14
}

TEST(Formats, Bfp8BytesOfATile) {
  // Row 0 of face 0 holds 1, -0.5 and zeros; row 17, column 20 (face 3, row 1, element 4) holds 2.
  Value tile(DataType::BFP_BFloat8, {32, 32});
  tile.set(0, 1);
  tile.set(1, -0.5);
  tile.set(17 * 32 + 20, 2);
  std::vector<std::byte> bytes(sim::deviceBytes(tile.spec));
  ASSERT_EQ(bytes.size(), 1088u);
  sim::encode(tile.spec, tile.bytes, bytes);
  auto byte = [&](size_t i) { return std::to_integer<int>(bytes[i]); };
  EXPECT_EQ(byte(0), 127);
  EXPECT_EQ(byte(49), 128);
  EXPECT_EQ(byte(64), 64);
  EXPECT_EQ(byte(65), 128 + 32);
  EXPECT_EQ(byte(64 + 3 * 256 + 16 + 4), 64);
}

TEST(Formats, Bfp4PacksTheFirstElementLow) {
  Value tile(DataType::BFP_BFloat4, {32, 32});
  tile.set(0, 1);
  tile.set(1, -1);
  std::vector<std::byte> bytes(sim::deviceBytes(tile.spec));
  sim::encode(tile.spec, tile.bytes, bytes);
  EXPECT_EQ(std::to_integer<int>(bytes[64]), 0xc4);
}

TEST(Formats, TileOrderIsFourFaces) {
  TensorSpec spec{DataType::UInt16, {32, 32}, Layout::Tile, {}, false};
  std::vector<uint16_t> values(1024), bytes(1024);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<uint16_t>(i);
  sim::encode(spec, std::as_bytes(std::span(values)), std::as_writable_bytes(std::span(bytes)));
  EXPECT_EQ(bytes[1], 1);
  EXPECT_EQ(bytes[16], 32);       // second row of the first face
  EXPECT_EQ(bytes[256], 16);      // second face
  EXPECT_EQ(bytes[512], 16 * 32); // third face
  std::vector<uint16_t> back(1024);
  sim::decode(spec, std::as_bytes(std::span(bytes)), std::as_writable_bytes(std::span(back)));
  EXPECT_EQ(back, values);
}

TEST(Formats, SizesOnTheDevice) {
  auto bytes = [](DataType type, Shape shape, Layout layout) {
    return sim::deviceBytes({type, std::move(shape), layout, {}, false});
  };
  EXPECT_EQ(bytes(DataType::Float32, {33, 65}, Layout::RowMajor), 33u * 65 * 4);
  EXPECT_EQ(bytes(DataType::Float32, {33, 65}, Layout::Tile), 6u * 4096);
  EXPECT_EQ(bytes(DataType::BFloat16, {2, 3, 1, 1}, Layout::Tile), 6u * 2048);
  EXPECT_EQ(bytes(DataType::UInt8, {7}, Layout::Tile), 1024u);
  EXPECT_EQ(bytes(DataType::BFloat16, {}, Layout::Tile), 2048u);
  EXPECT_EQ(bytes(DataType::BFP_BFloat8, {0, 3}, Layout::Tile), 0u);
}

TEST(Formats, WrongSizesAreErrors) {
  TensorSpec spec{DataType::Float32, {2}, Layout::RowMajor, {}, false};
  std::vector<std::byte> eight(8), seven(7);
  EXPECT_THROW(sim::encode(spec, seven, eight), Error);
  EXPECT_THROW(sim::decode(spec, eight, seven), Error);
}

} // namespace
