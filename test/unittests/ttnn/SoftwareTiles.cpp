//===- SoftwareTiles.cpp - the matrix unit, in software ----------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Loaded before the runtime's library (LD_PRELOAD), defines what it asks the
// matrix unit (AMX) to do, so that all that is made for this unit, the order of
// panels and rows and the padding to whole tiles, is tested on any CPU with
// AVX-512. Only the places that the instructions read and write count here.
//
//===----------------------------------------------------------------------===//

#include "core/panels/depthwise.h"
#include "core/panels/panels.h"
#include "tt/units.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tt {

Units presentUnits() {
  const bool packs =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  return packs ? Units::AMX : Units::None;
}
Units units() { return presentUnits(); }

namespace ttnn::panels::amx {
namespace {

constexpr int64_t tileBytes = 64, mostRows = 16;
/// Rows of a tile of sums or of a left operand, 0 outside of a session.
thread_local int64_t tileRows = 0;

struct Tile {
  std::byte rows[mostRows][tileBytes] = {};
};

Tile load(const void *from, int64_t rowBytes, int64_t rows) {
  Tile tile;
  for (int64_t i = 0; i < rows; ++i)
    std::memcpy(tile.rows[i], static_cast<const std::byte *>(from) + i * rowBytes, tileBytes);
  return tile;
}

float widen(uint16_t bits) {
  const uint32_t word = uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &word, sizeof(value));
  return value;
}

/// c[rows, 16] += a[rows, 16 pairs] * b[16 pairs, 16 columns], as TDPBF16PS.
void multiply(float (&c)[mostRows][16], const Tile &a, const Tile &b) {
  uint16_t left[32], right[16][32];
  std::memcpy(right, b.rows, sizeof(right));
  for (int64_t i = 0; i < tileRows; ++i) {
    std::memcpy(left, a.rows[i], sizeof(left));
    for (int64_t pair = 0; pair < 16; ++pair)
      for (int64_t j = 0; j < 16; ++j)
        c[i][j] += widen(left[2 * pair]) * widen(right[pair][2 * j]) +
                   widen(left[2 * pair + 1]) * widen(right[pair][2 * j + 1]);
  }
}

} // namespace

void begin(int64_t rows) { tileRows = rows < mostRows ? rows : mostRows; }
void end() { tileRows = 0; }

void multiplyBf16(const Block &block) {
  const int64_t halves = block.rows > 16 ? 2 : 1;
  if (tileRows == 0 || block.rows > 32 || block.k % 32 != 0 || reinterpret_cast<uintptr_t>(block.panel) % 64 != 0) {
    std::fprintf(stderr, "a block of %d rows and %d values of k, tiles have %d rows\n", static_cast<int>(block.rows),
                 static_cast<int>(block.k), static_cast<int>(tileRows));
    std::abort();
  }
  constexpr int64_t row = width(Unit::BF16);
  for (int64_t half = 0; half < halves; ++half)
    for (int64_t side = 0; side < 2; ++side) {
      float *to = block.c + half * 16 * row + side * 16;
      float c[mostRows][16] = {};
      for (int64_t i = 0; block.accumulate && i < tileRows; ++i)
        std::memcpy(c[i], to + i * row, sizeof(c[i]));
      for (int64_t step = 0; step < block.k / 32; ++step)
        multiply(c,
                 load(block.a + half * block.where.tile + (block.places ? block.places[step] : step * block.where.step),
                      block.where.row, tileRows),
                 load(block.panel + step * 2048 + side * 1024, tileBytes, mostRows));
      for (int64_t i = 0; i < tileRows; ++i)
        std::memcpy(to + i * row, c[i], sizeof(c[i]));
    }
}

} // namespace ttnn::panels::amx

namespace ttnn::panels::avx512 {
Depthwise findDepthwise(int64_t columns, int64_t stride); // the library's
}

namespace ttnn::panels::pairs {

Depthwise findDepthwise(int64_t columns, int64_t stride) { return avx512::findDepthwise(columns, stride); }

uint16_t rounded(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return static_cast<uint16_t>((value != value ? bits | 0x400000 : bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// Processors with the matrix unit have products and conversions of bf16, others may have neither.
void storeBf16(const float *c, const Finish &finish, int64_t rows, int64_t columns, std::byte *to, int64_t rowBytes) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      float value = c[i * width(Unit::BF16) + j] + (finish.bias ? finish.bias[j] : 0.0f);
      if (finish.relu && value <= 0)
        value = 0;
      if (finish.relu6 && value > 6)
        value = 6;
      uint16_t stored = rounded(value);
      if (finish.added) {
        uint16_t other;
        std::memcpy(&other, finish.added + i * rowBytes + j * 2, sizeof(other));
        const float sum = amx::widen(stored) + amx::widen(other);
        stored = rounded(finish.reluOfSum && sum <= 0 ? 0 : sum);
      }
      std::memcpy(to + i * rowBytes + j * 2, &stored, sizeof(stored));
    }
}
void dotBf16(const Dots &work) {
  const auto value = [](const std::byte *from, int64_t index) {
    uint16_t bits;
    std::memcpy(&bits, from + index * 2, sizeof(bits));
    return amx::widen(bits);
  };
  for (int64_t i = 0; i < work.rows; ++i)
    for (int64_t j = 0; j < work.columns; ++j) {
      float &sum = work.c[i * work.cRow + j];
      if (!work.accumulate)
        sum = 0;
      for (int64_t l = 0; l < work.k; ++l)
        sum += value(work.a + i * work.aRow, l) * value(work.b + j * work.bColumn, l);
    }
}

} // namespace ttnn::panels::pairs
} // namespace tt
