//===- formats.h - number formats and tile order ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Conversions between f32 and the formats of the chip, quantisation to the
// block formats, and the bytes a tensor has on the device (tile order, shared
// exponents). All loops are vectorised and run in the calling thread.
//
// Rounding is to nearest, ties to even. NaN stays NaN (quiet).
//
// Block formats: 16 consecutive elements of a row (groups start at multiples of
// 16 of the last dimension) share the largest of their exponents; an element is
// a sign and 7, 3 or 1 magnitude bits of which the first is the integer bit.
//   * as the library packs on the host, a mantissa of 24 bits is shifted to the
//     shared exponent, which drops bits, and what is left is rounded;
//   * rounding up past the largest magnitude saturates: the shared exponent is
//     that of the largest element before rounding, as on the chip;
//   * zeros, and what rounds to zero, become +0; a group whose largest element
//     is below the smallest normal number of the exponent is all zero;
//   * the exponent of all ones is IEEE's: magnitude 1.0 is Inf, above it NaN,
//     below it a finite value. A group with Inf or NaN thus keeps them and
//     loses the small values next to them. Its elements are rounded as others:
//     the largest finite values, and NaN whose first bits are 0, become Inf.
//     The 2-bit formats have no room for NaN;
//   * the formats with a 5-bit exponent (BFP_Float*) saturate finite values
//     whose exponent is too large.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/types.h"

#include <bit>
#include <span>

namespace tt::sim {

inline float bf16ToF32(uint16_t value) { return std::bit_cast<float>(static_cast<uint32_t>(value) << 16); }
inline uint16_t f32ToBf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  return static_cast<uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? (bits >> 16) | 0x40 : rounded);
}
inline float f16ToF32(uint16_t value) { return static_cast<float>(std::bit_cast<_Float16>(value)); }
inline uint16_t f32ToF16(float value) { return std::bit_cast<uint16_t>(static_cast<_Float16>(value)); }

void bf16ToF32(const uint16_t *from, float *to, size_t n);
void f32ToBf16(const float *from, uint16_t *to, size_t n);
/// Values as bf16 holds them.
void roundToBf16(float *values, size_t n);
void f16ToF32(const uint16_t *from, float *to, size_t n);
void f32ToF16(const float *from, uint16_t *to, size_t n);

/// Elements that share one exponent.
constexpr size_t blockGroup = 16;

bool isBlockFormat(DataType type);
/// Rounds `n` elements that begin at a group's start and belong to one row to
/// the values of a block format. The result is exact in bf16.
void quantise(DataType type, float *values, size_t n);
/// The same for rows of values held as bf16.
void quantiseRows(DataType type, uint16_t *values, size_t rows, size_t rowLength);

/// Bytes of one 32x32 tile: 4096, 2048, 1088, 576, 320 or 1024.
size_t tileBytes(DataType type);
/// Bytes of a tensor as it lies on the device: in Layout::Tile the last two
/// dimensions are padded to multiples of 32. Throws Error on overflow.
size_t deviceBytes(const TensorSpec &spec);
/// Writes deviceBytes(spec) bytes: the values (row-major, in the storage type)
/// in the order and encoding of the device; padding is zero.
void encode(const TensorSpec &spec, std::span<const std::byte> values, std::span<std::byte> bytes);
/// The inverse; padding is dropped.
void decode(const TensorSpec &spec, std::span<const std::byte> bytes, std::span<std::byte> values);

} // namespace tt::sim
