//===- formats.cpp - number formats and tile order ------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "tt/sim/formats.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace tt::sim {

void bf16ToF32(const uint16_t *from, float *to, size_t n) {
  for (size_t i = 0; i < n; ++i)
    to[i] = bf16ToF32(from[i]);
}
// NaN keeps the digits that bf16 has, which block formats have as well.
void f32ToBf16(const float *from, uint16_t *to, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const auto kept = static_cast<uint16_t>(std::bit_cast<uint32_t>(from[i]) >> 16);
    to[i] = (kept & 0x7fff) > 0x7f80 ? kept : f32ToBf16(from[i]);
  }
}
void roundToBf16(float *values, size_t n) {
  // As f32ToBf16, without a shift down and up.
  for (size_t i = 0; i < n; ++i) {
    const auto bits = std::bit_cast<uint32_t>(values[i]);
    const uint32_t rounded = bits + (0x7fff + (bits >> 16 & 1)), quiet = bits | 0x400000;
    values[i] = std::bit_cast<float>((values[i] != values[i] ? quiet : rounded) & 0xffff0000);
  }
}
void f16ToF32(const uint16_t *from, float *to, size_t n) {
  for (size_t i = 0; i < n; ++i)
    to[i] = f16ToF32(from[i]);
}
void f32ToF16(const float *from, uint16_t *to, size_t n) {
  for (size_t i = 0; i < n; ++i)
    to[i] = f32ToF16(from[i]);
}

namespace {

constexpr size_t tileSide = 32, faceSide = 16, tileRowGroups = 64; // groups of 16 in a tile

/// A block format: its exponent in terms of f32's biased one, and its magnitude.
struct BlockFormat {
  int magnitudeBits; // 7, 3 or 1
  int exponentShift; // stored exponent = f32's biased exponent - exponentShift
  int exponentMax;   // all ones: Inf and NaN
  int largest() const { return (1 << magnitudeBits) - 1; }
  int integerBit() const { return 1 << (magnitudeBits - 1); }
  size_t tileBytes() const { return tileRowGroups + tileSide * tileSide * (magnitudeBits + 1) / 8; }
};

const BlockFormat &blockFormat(DataType type) {
  static constexpr BlockFormat formats[] = {{7, 112, 31}, {7, 0, 255},  {3, 112, 31},
                                            {3, 0, 255},  {1, 112, 31}, {1, 0, 255}};
  return formats[static_cast<size_t>(type) - static_cast<size_t>(DataType::BFP_Float8)];
}

/// One group in the terms of its format.
struct Group {
  uint8_t exponent; // stored
  uint8_t magnitude[blockGroup];
  bool negative[blockGroup];
};

float powerOfTwo(int biased) { // of a biased f32 exponent, also a denormal one or one past the largest
  return biased >= 255  ? std::numeric_limits<float>::infinity()
         : biased > 0   ? std::bit_cast<float>(static_cast<uint32_t>(biased) << 23)
         : biased > -23 ? std::bit_cast<float>(1u << (22 + biased))
                        : 0.0f;
}

/// The shared exponent as f32's biased one, 255 for Inf or NaN, 0 for an all-zero group.
[[gnu::always_inline]] inline int sharedExponent(const BlockFormat &format, const float *values, size_t n) {
  uint32_t largest = 0;
  for (size_t i = 0; i < n; ++i)
    largest = std::max(largest, std::bit_cast<uint32_t>(values[i]) & 0x7fffffff);
  const int exponent = static_cast<int>(largest >> 23);
  if (exponent == 255)
    return 255;
  if (exponent <= format.exponentShift) // below the smallest normal
    return 0;
  return std::min(exponent, format.exponentMax - 1 + format.exponentShift);
}

/// Magnitude of a value in a group whose shared exponent is `exponent`. As the library packs on the host, a mantissa of
/// 24 bits is shifted to the shared exponent, which drops bits, and then rounded; Inf and NaN are no exception.
uint8_t magnitude(const BlockFormat &format, float value, int exponent) {
  const int one = format.integerBit();
  if (exponent == 255 && format.exponentShift) {
    if (std::isnan(value))
      return static_cast<uint8_t>(std::min(one + 1, format.largest()));
    if (std::isinf(value))
      return static_cast<uint8_t>(one);
    // Inf is 2^top of this format; finite values stay below it.
    const double unit = std::ldexp(1.0, format.exponentMax + format.exponentShift - 127 - (format.magnitudeBits - 1));
    return static_cast<uint8_t>(std::min<double>(std::nearbyint(std::fabs(value) / unit), one - 1));
  }
  const uint32_t bits = std::bit_cast<uint32_t>(value) & 0x7fffffff;
  const int own = std::max(static_cast<int>(bits >> 23), 1), shift = exponent - own;
  if (shift < 0)
    return static_cast<uint8_t>(format.largest());
  const uint32_t whole = bits >> 23 ? (bits & 0x7fffff) | 0x800000 : 0; // denormals are zeros
  const uint32_t mantissa = shift < 24 ? whole >> shift : 0;
  const int below = 24 - format.magnitudeBits;
  const uint32_t rounded = (mantissa + (1u << (below - 1)) - 1 + (mantissa >> below & 1)) >> below;
  return static_cast<uint8_t>(std::min<uint32_t>(rounded, static_cast<uint32_t>(format.largest())));
}

float valueOf(const BlockFormat &format, int storedExponent, uint8_t magnitude, bool negative) {
  float value;
  if (magnitude == 0)
    return 0.0f;
  if (storedExponent == format.exponentMax && magnitude >= format.integerBit()) // Inf, and NaN with its digits
    value =
        std::bit_cast<float>(0x7f800000u | uint32_t(magnitude - format.integerBit()) << (24 - format.magnitudeBits));
  else
    value = std::ldexp(static_cast<float>(magnitude),
                       storedExponent + format.exponentShift - 127 - (format.magnitudeBits - 1));
  return negative ? -value : value;
}

Group encodeGroup(const BlockFormat &format, const float *values) {
  Group group{};
  const int exponent = sharedExponent(format, values, blockGroup);
  if (exponent == 0)
    return group;
  group.exponent = static_cast<uint8_t>(exponent == 255 ? format.exponentMax : exponent - format.exponentShift);
  for (size_t i = 0; i < blockGroup; ++i) {
    group.magnitude[i] = magnitude(format, values[i], exponent);
    group.negative[i] = group.magnitude[i] != 0 && std::signbit(values[i]);
  }
  return group;
}

/// Groups with Inf or NaN; rare, so that the loop below stays simple.
void quantiseSpecial(const BlockFormat &format, float *values, size_t n) {
  for (size_t i = 0; i < n; ++i)
    values[i] = valueOf(format, format.exponentMax, magnitude(format, values[i], 255), std::signbit(values[i]));
}

[[gnu::always_inline]] inline void quantiseGroup(const BlockFormat &format, float *values, size_t n) {
  const int exponent = sharedExponent(format, values, n);
  if (exponent == 255)
    return quantiseSpecial(format, values, n);
  if (exponent == 0) {
    std::fill_n(values, n, 0.0f);
    return;
  }
  // Adding 1.5 * 2^23 units and subtracting them again rounds to whole units, ties to even, in f32 arithmetic. Near the
  // ends of the exponent range, the sum is scaled so that it neither overflows nor loses bits.
  const int up = exponent > 200 ? -64 : exponent < 64 ? 64 : 0;
  const float scale = powerOfTwo(127 + up), back = powerOfTwo(127 - up);
  const float unit = powerOfTwo(exponent + up - (format.magnitudeBits - 1));
  const float shift = 1.5f * 0x1p23f * unit, limit = static_cast<float>(format.largest()) * unit;
  for (size_t i = 0; i < n; ++i) {
    // The bits that a shift to the shared exponent drops; denormals are zeros.
    const uint32_t bits = std::bit_cast<uint32_t>(values[i]);
    const int own = static_cast<int>(bits >> 23 & 255), dropped = std::clamp(exponent - own, 0, 23);
    const float scaled = std::bit_cast<float>(bits & (own ? ~0u << dropped : 0u)) * scale;
    // Saturate first: only the largest element of the group, or an overflow of a 5-bit exponent, can be past the limit.
    const float clamped = scaled > limit ? limit : scaled < -limit ? -limit : scaled;
    const float rounded = (clamped + shift) - shift;
    values[i] = rounded * back + 0.0f; // -0 becomes +0
  }
}

constexpr size_t groupsTogether = 16;

/// The same for several adjacent groups, which do not depend on each other. Returns false if an exponent is near the
/// ends of its range, and changes nothing.
[[gnu::always_inline]] inline bool quantiseGroups(const BlockFormat &format, float *values) {
  alignas(64) int32_t exponent[groupsTogether];
  bool far = true;
#pragma clang loop vectorize(disable) unroll(disable)
  for (size_t g = 0; g < groupsTogether; ++g) {
    uint32_t largest = 0;
    for (size_t i = 0; i < blockGroup; ++i)
      largest = std::max(largest, std::bit_cast<uint32_t>(values[g * blockGroup + i]) & 0x7fffffff);
    exponent[g] = static_cast<int32_t>(largest >> 23);
  }
  const int least = std::max(64, format.exponentShift + 1);
  const int most = std::min(200, format.exponentMax - 1 + format.exponentShift);
  for (size_t g = 0; g < groupsTogether; ++g)
    far &= exponent[g] >= least && exponent[g] <= most;
  if (!far)
    return false;
  for (size_t g = 0; g < groupsTogether; ++g) {
    // As above, if neither scales nor limits of the format matter, and all bits of a denormal are dropped.
    const float unit = std::bit_cast<float>((exponent[g] - (format.magnitudeBits - 1)) << 23);
    const float shift = 1.5f * 0x1p23f * unit, limit = static_cast<float>(format.largest()) * unit;
    float *group = values + g * blockGroup;
    for (size_t i = 0; i < blockGroup; ++i) {
      const uint32_t bits = std::bit_cast<uint32_t>(group[i]);
      const int own = static_cast<int>(bits >> 23 & 255), dropped = std::min(exponent[g] - own, 23);
      const float kept = std::bit_cast<float>(bits & ~0u << dropped);
      const float clamped = kept > limit ? limit : kept < -limit ? -limit : kept;
      group[i] = ((clamped + shift) - shift) + 0.0f; // -0 becomes +0
    }
  }
  return true;
}

} // namespace

bool isBlockFormat(DataType type) { return type >= DataType::BFP_Float8 && type <= DataType::BFP_BFloat2; }

void quantise(DataType type, float *values, size_t n) {
  const BlockFormat &format = blockFormat(type);
  size_t i = 0;
  for (; i + groupsTogether * blockGroup <= n; i += groupsTogether * blockGroup)
    if (!quantiseGroups(format, values + i))
      for (size_t g = 0; g < groupsTogether; ++g)
        quantiseGroup(format, values + i + g * blockGroup, blockGroup);
  for (; i + blockGroup <= n; i += blockGroup) // of a known length, which one vector holds
    quantiseGroup(format, values + i, blockGroup);
  if (i < n)
    quantiseGroup(format, values + i, n - i);
}

void quantiseRows(DataType type, uint16_t *values, size_t rows, size_t rowLength) {
  constexpr size_t piece = 1024;
  float buffer[piece];
  if (rowLength % blockGroup == 0) { // groups do not care for the ends of such rows
    rowLength *= rows;
    rows = 1;
  }
  for (size_t row = 0; row < rows; ++row)
    for (size_t i = 0; i < rowLength; i += piece) {
      const size_t n = std::min(piece, rowLength - i);
      uint16_t *at = values + row * rowLength + i;
      bf16ToF32(at, buffer, n);
      quantise(type, buffer, n);
      f32ToBf16(buffer, at, n);
    }
}

//===----------------------------------------------------------------------===//
// Device bytes
//===----------------------------------------------------------------------===//

namespace {

/// A tensor as a stack of matrices of its last two dimensions.
struct Matrices {
  size_t count, rows, columns;
  size_t tileRows() const { return (rows + tileSide - 1) / tileSide; }
  size_t tileColumns() const { return (columns + tileSide - 1) / tileSide; }
  size_t tiles() const { return count * tileRows() * tileColumns(); }
};

Matrices matrices(const Shape &shape) {
  const size_t rank = shape.size();
  Matrices m{1, rank > 1 ? static_cast<size_t>(shape[rank - 2]) : 1,
             rank > 0 ? static_cast<size_t>(shape[rank - 1]) : 1};
  for (size_t d = 0; d + 2 < rank; ++d)
    m.count *= static_cast<size_t>(shape[d]);
  return m;
}

/// Calls f(matrix, row, column, n, place) for every run of up to 16 elements of a face row: `place` is the number of
/// the run in tile order.
template <class F> void forEachFaceRow(const Matrices &m, F &&f) {
  size_t place = 0;
  for (size_t matrix = 0; matrix < m.count; ++matrix)
    for (size_t tileRow = 0; tileRow < m.tileRows(); ++tileRow)
      for (size_t tileColumn = 0; tileColumn < m.tileColumns(); ++tileColumn)
        for (size_t face = 0; face < 4; ++face)
          for (size_t i = 0; i < faceSide; ++i, ++place) {
            const size_t row = tileRow * tileSide + face / 2 * faceSide + i;
            const size_t column = tileColumn * tileSide + face % 2 * faceSide;
            const size_t n = row < m.rows && column < m.columns ? std::min(faceSide, m.columns - column) : 0;
            f(matrix, row, column, n, place);
          }
}

/// The positions of the exponent and the elements of a face row in the bytes of block-format tiles.
struct FaceRowBytes {
  size_t exponent, elements;
  FaceRowBytes(const BlockFormat &format, size_t place) {
    const size_t tile = place / tileRowGroups * format.tileBytes(), row = place % tileRowGroups;
    exponent = tile + row;
    elements = tile + tileRowGroups + row * faceSide * (format.magnitudeBits + 1) / 8;
  }
};

size_t expectSize(const char *what, size_t found, size_t expected) {
  if (found != expected)
    throw Error(std::string(what) + ": " + std::to_string(found) + " bytes; expected " + std::to_string(expected));
  return found;
}

bool tiled(const TensorSpec &spec) { return spec.layout == Layout::Tile || isBlockFormat(spec.dtype); }

/// Calls f(values, n, place) for each row of a face of a tiled tensor: the address of its n values, and its number on
/// the device. Padding rows are omitted.
template <class Byte, class F> void forEachRun(const TensorSpec &spec, std::span<Byte> values, F f) {
  const Matrices m = matrices(spec.shape);
  const size_t size = storageBytes(spec.dtype);
  forEachFaceRow(m, [&](size_t matrix, size_t row, size_t column, size_t n, size_t place) {
    if (n != 0)
      f(values.data() + ((matrix * m.rows + row) * m.columns + column) * size, n, place);
  });
}

} // namespace

size_t tileBytes(DataType type) {
  return isBlockFormat(type) ? blockFormat(type).tileBytes() : tileSide * tileSide * storageBytes(type);
}

size_t deviceBytes(const TensorSpec &spec) {
  volume(spec.shape); // throws for a negative or too large one
  if (!tiled(spec))
    return spec.bytes();
  Shape padded = spec.shape;
  const size_t rank = padded.size();
  for (size_t d = rank - std::min<size_t>(rank, 2); d < rank; ++d)
    padded[d] = (padded[d] + static_cast<int64_t>(tileSide) - 1) / static_cast<int64_t>(tileSide);
  return static_cast<size_t>(volume(padded)) * tileBytes(spec.dtype);
}

void encode(const TensorSpec &spec, std::span<const std::byte> values, std::span<std::byte> bytes) {
  expectSize("values to encode", values.size(), spec.bytes());
  expectSize("room for encoded values", bytes.size(), deviceBytes(spec));
  if (!tiled(spec)) {
    std::copy(values.begin(), values.end(), bytes.begin());
    return;
  }
  std::fill(bytes.begin(), bytes.end(), std::byte(0));
  const size_t size = storageBytes(spec.dtype);
  if (!isBlockFormat(spec.dtype)) {
    forEachRun(spec, values, [&](const std::byte *from, size_t n, size_t place) {
      std::memcpy(bytes.data() + place * faceSide * size, from, n * size);
    });
    return;
  }
  const BlockFormat &format = blockFormat(spec.dtype);
  const int bits = format.magnitudeBits + 1, perByte = 8 / bits;
  forEachRun(spec, values, [&](const std::byte *from, size_t n, size_t place) {
    uint16_t stored[faceSide] = {};
    float row16[faceSide];
    std::memcpy(stored, from, n * size);
    bf16ToF32(stored, row16, faceSide);
    const Group group = encodeGroup(format, row16);
    const FaceRowBytes to(format, place);
    bytes[to.exponent] = std::byte(group.exponent);
    for (size_t i = 0; i < faceSide; ++i) {
      const int element = group.magnitude[i] | (group.negative[i] ? 1 << format.magnitudeBits : 0);
      bytes[to.elements + i / perByte] |= std::byte(element << (i % perByte * bits));
    }
  });
}

void decode(const TensorSpec &spec, std::span<const std::byte> bytes, std::span<std::byte> values) {
  expectSize("encoded values", bytes.size(), deviceBytes(spec));
  expectSize("room for decoded values", values.size(), spec.bytes());
  if (!tiled(spec)) {
    std::copy(bytes.begin(), bytes.end(), values.begin());
    return;
  }
  const size_t size = storageBytes(spec.dtype);
  if (!isBlockFormat(spec.dtype)) {
    forEachRun(spec, values, [&](std::byte *to, size_t n, size_t place) {
      std::memcpy(to, bytes.data() + place * faceSide * size, n * size);
    });
    return;
  }
  const BlockFormat &format = blockFormat(spec.dtype);
  const int bits = format.magnitudeBits + 1, perByte = 8 / bits;
  forEachRun(spec, values, [&](std::byte *to, size_t n, size_t place) {
    const FaceRowBytes from(format, place);
    for (size_t i = 0; i < n; ++i) {
      const int element =
          (std::to_integer<int>(bytes[from.elements + i / perByte]) >> (i % perByte * bits)) & ((1 << bits) - 1);
      const float value = valueOf(format, std::to_integer<int>(bytes[from.exponent]), element & format.largest(),
                                  (element >> format.magnitudeBits) != 0);
      const uint16_t stored = f32ToBf16(value);
      std::memcpy(to + i * size, &stored, size);
    }
  });
}

} // namespace tt::sim
