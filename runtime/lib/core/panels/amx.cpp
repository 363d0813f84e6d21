//===- amx.cpp - panels of the matrix unit ---------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Needs AMX for bf16. Products of bf16 values, sums in f32.
//
//===----------------------------------------------------------------------===//

#include "core/panels/units.h"

#if defined(__x86_64__)

namespace tt::ttnn::panels::amx {
namespace {

/// Up to 16 rows (tiles 0 and 1 of sums) or 32 (also 2 and 3). placed: with `places`.
template <bool both, bool placed> void multiplyRows(const Block &block) {
  constexpr int64_t cBytes = width(Unit::BF16) * sizeof(float);
  auto *c = reinterpret_cast<char *>(block.c);
  if (block.accumulate) {
    _tile_loadd(0, c, cBytes);
    _tile_loadd(1, c + 64, cBytes);
    if constexpr (both) {
      _tile_loadd(2, c + 16 * cBytes, cBytes);
      _tile_loadd(3, c + 16 * cBytes + 64, cBytes);
    }
  } else {
    _tile_zero(0);
    _tile_zero(1);
    if constexpr (both) {
      _tile_zero(2);
      _tile_zero(3);
    }
  }
  const auto *a = reinterpret_cast<const char *>(block.a), *b = reinterpret_cast<const char *>(block.panel);
  const int64_t steps = block.k / 32;
  Ahead<both ? _MM_HINT_T1 : _MM_HINT_T0> ahead(block, steps);
  for (int64_t i = 0; i < steps; ++i, b += 2048) {
    if constexpr (placed)
      a = reinterpret_cast<const char *>(block.a) + block.places[i];
    _tile_loadd(6, b, 64);
    _tile_loadd(4, a, block.where.row);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(7, b + 1024, 64);
    _tile_dpbf16ps(1, 4, 7);
    if constexpr (both) {
      _tile_loadd(5, a + block.where.tile, block.where.row);
      _tile_dpbf16ps(2, 5, 6);
      _tile_dpbf16ps(3, 5, 7);
    }
    if constexpr (!placed)
      a += block.where.step;
    ahead.step();
  }
  _tile_stored(0, c, cBytes);
  _tile_stored(1, c + 64, cBytes);
  if constexpr (both) {
    _tile_stored(2, c + 16 * cBytes, cBytes);
    _tile_stored(3, c + 16 * cBytes + 64, cBytes);
  }
}

} // namespace

void begin(int64_t rows) {
  // Palette 1; tiles 0 to 5 hold rows of c and a, 6 and 7 of a panel.
  struct alignas(64) {
    uint8_t palette = 1, start = 0, reserved[14] = {};
    uint16_t rowBytes[16] = {};
    uint8_t rows[16] = {};
  } config;
  for (int tile = 0; tile < 8; ++tile) {
    config.rowBytes[tile] = 64;
    config.rows[tile] = static_cast<uint8_t>(tile < 6 && rows < 16 ? rows : 16);
  }
  _tile_loadconfig(&config);
}

void end() { _tile_release(); }

void multiplyBf16(const Block &block) {
  if (block.places)
    block.rows > 16 ? multiplyRows<true, true>(block) : multiplyRows<false, true>(block);
  else
    block.rows > 16 ? multiplyRows<true, false>(block) : multiplyRows<false, false>(block);
}

} // namespace tt::ttnn::panels::amx

#endif
