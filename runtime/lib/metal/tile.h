//===- tile.h - elements of a tile in registers -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "metal/core.h"
#include "tensor/storage.h"

namespace tt::metal {

/// Returns the position of element (row, column) in a tile: in one of four faces of 16x16.
constexpr size_t placeOf(int64_t row, int64_t column) {
  return static_cast<size_t>((row / 16 * 2 + column / 16) * 256 + row % 16 * 16 + column % 16);
}

/// Integers of a type, as registers hold them, as numbers.
inline void widen(DataType dtype, const int32_t *from, int64_t *to, size_t n) {
  if (dtype == DataType::UInt32)
    for (size_t i = 0; i < n; ++i)
      to[i] = static_cast<uint32_t>(from[i]);
  else
    for (size_t i = 0; i < n; ++i)
      to[i] = from[i];
}

/// Numbers wrapped to a type, modulo its size; a boolean is 1 for all but 0.
inline void narrow(DataType dtype, const int64_t *from, int32_t *to, size_t n) {
  if (dtype == DataType::Bool) {
    for (size_t i = 0; i < n; ++i)
      to[i] = from[i] != 0;
    return;
  }
  const uint64_t mask = dtype == DataType::UInt16 ? 0xffff : dtype == DataType::UInt8 ? 0xff : 0xffffffff;
  for (size_t i = 0; i < n; ++i)
    to[i] = static_cast<int32_t>(static_cast<uint32_t>(static_cast<uint64_t>(from[i]) & mask));
}

/// Stored integers into registers.
inline void loadIntegers(const std::byte *from, DataType dtype, int32_t *to, size_t n) {
  constexpr size_t piece = 256;
  int64_t values[piece];
  for (size_t i = 0; i < n; i += piece) {
    ttnn::loader<int64_t>(dtype)(from + i * storageBytes(dtype), values, piece);
    narrow(dtype, values, to + i, piece);
  }
}

/// A tile of a float type from L1, in the order of registers: a block format starts with its exponents.
void loadFloats(const std::byte *from, DataType dtype, float *to);
/// A tile in the order of L1, with floats stored by `store`.
void storeTile(const Dst::Tile &tile, DataType dtype, ttnn::Store<float> store, std::byte *to);

} // namespace tt::metal
