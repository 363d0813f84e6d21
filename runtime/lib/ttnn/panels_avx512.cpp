//===- panels.cpp - products of matrices in panels --------------------------===//
//
// This file alone is compiled for AVX-512 and AMX, whatever the rest is compiled
// for; nothing of it runs before `supported` has said yes. It includes no header
// whose inline functions others share.
//
//===----------------------------------------------------------------------===//

#include "panels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace tt::ttnn::panels {

#if defined(__x86_64__) && defined(__AVX512F__) && defined(__AMX_BF16__)

namespace {

bool matrixUnitAllowed() {
  // Linux gives the tile registers to processes that ask: ARCH_REQ_XCOMP_PERM for XTILEDATA.
  return __builtin_cpu_supports("amx-bf16") && __builtin_cpu_supports("amx-tile") &&
         __builtin_cpu_supports("avx512bf16") && syscall(SYS_arch_prctl, 0x1023, 18) == 0;
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

/// Sixteen rows of sixteen 32-bit words, rows and columns exchanged.
void transpose(__m512i (&r)[16]) {
  __m512i t[16];
  for (int i = 0; i < 8; ++i) {
    t[2 * i] = _mm512_unpacklo_epi32(r[2 * i], r[2 * i + 1]);
    t[2 * i + 1] = _mm512_unpackhi_epi32(r[2 * i], r[2 * i + 1]);
  }
  for (int i = 0; i < 4; ++i) {
    r[4 * i] = _mm512_unpacklo_epi64(t[4 * i], t[4 * i + 2]);
    r[4 * i + 1] = _mm512_unpackhi_epi64(t[4 * i], t[4 * i + 2]);
    r[4 * i + 2] = _mm512_unpacklo_epi64(t[4 * i + 1], t[4 * i + 3]);
    r[4 * i + 3] = _mm512_unpackhi_epi64(t[4 * i + 1], t[4 * i + 3]);
  }
  for (int i = 0; i < 4; ++i) {
    t[i] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0x88);
    t[i + 4] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0xdd);
    t[i + 8] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0x88);
    t[i + 12] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0xdd);
  }
  for (int i = 0; i < 8; ++i) {
    r[i] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88);
    r[i + 8] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0xdd);
  }
}

/// Bytes below `bytes` (up to 64) as a mask.
__mmask64 byteMask(int64_t bytes) {
  return bytes >= 64 ? ~__mmask64(0) : bytes <= 0 ? __mmask64(0) : (__mmask64(1) << bytes) - 1;
}

/// 16 columns whose values along k are contiguous: words of 4 bytes become rows of `stride` bytes.
/// rowWords: how many words (f32 values or bf16 pairs) there are; more are written as zeros up to `paddedWords`.
void packColumns(const std::byte *from, int64_t columnBytes, int64_t rowBytes, int64_t paddedWords, int64_t columns,
                 std::byte *to, int64_t stride, int64_t tileBytes) {
  for (int64_t word = 0; word < paddedWords; word += 16) {
    __m512i r[16];
    const __mmask64 mask = byteMask(rowBytes - word * 4);
    for (int64_t c = 0; c < 16; ++c)
      r[c] = c < columns ? _mm512_maskz_loadu_epi8(mask, from + c * columnBytes + word * 4) : _mm512_setzero_si512();
    transpose(r);
    std::byte *target = to + word / 16 * tileBytes;
    const int64_t count = paddedWords - word < 16 ? paddedWords - word : 16;
    for (int64_t i = 0; i < count; ++i)
      _mm512_store_si512(target + i * stride, r[i]);
  }
}

void packF32(const std::byte *from, Strides s, int64_t k, int64_t columns, std::byte *to, int64_t nextPanel) {
  constexpr int64_t columnsOfPanel = width(Unit::F32), vectors = columnsOfPanel / 16, rowBytes = columnsOfPanel * 4;
  if (s.column == 1) {
    for (int64_t i = 0; i < k; ++i, from += s.row * 4, to += rowBytes)
      for (int64_t c = 0; c < columns; c += columnsOfPanel)
        for (int64_t v = 0; v < vectors; ++v)
          _mm512_store_si512(to + c / columnsOfPanel * nextPanel + v * 64,
                             _mm512_maskz_loadu_epi8(byteMask((columns - c - v * 16) * 4), from + (c + v * 16) * 4));
    return;
  }
  if (s.row == 1) {
    for (int64_t v = 0; v < vectors; ++v)
      packColumns(from + v * 16 * s.column * 4, s.column * 4, k * 4, k, columns - v * 16, to + v * 64, rowBytes,
                  16 * rowBytes);
    return;
  }
  const auto *values = reinterpret_cast<const float *>(from);
  auto *panel = reinterpret_cast<float *>(to);
  for (int64_t i = 0; i < k; ++i)
    for (int64_t j = 0; j < columnsOfPanel; ++j)
      panel[i * columnsOfPanel + j] = j < columns ? values[i * s.row + j * s.column] : 0.0f;
}

/// Pairs of rows interleaved: [k / 32][column / 16][16 pairs][16 columns][2], a tile being 1024 contiguous bytes.
void packBf16(const std::byte *from, Strides s, int64_t k, int64_t columns, std::byte *to, int64_t nextPanel) {
  const int64_t padded = depth(Unit::BF16, k);
  if (s.row == 1) {
    for (int64_t half = 0; half < 2; ++half)
      packColumns(from + half * 16 * s.column * 2, s.column * 2, k * 2, padded / 2, columns - half * 16,
                  to + half * 1024, 64, 2048);
    return;
  }
  if (s.column == 1) {
    alignas(64) static constexpr auto order = [] {
      struct {
        uint16_t low[32], high[32];
      } order{};
      for (uint16_t i = 0; i < 16; ++i) {
        order.low[2 * i] = i, order.low[2 * i + 1] = static_cast<uint16_t>(32 + i);
        order.high[2 * i] = static_cast<uint16_t>(16 + i), order.high[2 * i + 1] = static_cast<uint16_t>(48 + i);
      }
      return order;
    }();
    const __m512i low = _mm512_load_si512(order.low), high = _mm512_load_si512(order.high);
    for (int64_t i = 0; i < padded; i += 2) {
      std::byte *target = to + i / 32 * 2048 + i % 32 / 2 * 64;
      for (int64_t c = 0; c < columns; c += 32, target += nextPanel) {
        const __mmask64 mask = byteMask((columns - c) * 2);
        const std::byte *row = from + (i * s.row + c) * 2;
        const __m512i even = _mm512_maskz_loadu_epi8(i < k ? mask : 0, row);
        const __m512i odd = _mm512_maskz_loadu_epi8(i + 1 < k ? mask : 0, row + s.row * 2);
        _mm512_store_si512(target, _mm512_permutex2var_epi16(even, low, odd));
        _mm512_store_si512(target + 1024, _mm512_permutex2var_epi16(even, high, odd));
      }
    }
    return;
  }
  const auto *values = reinterpret_cast<const uint16_t *>(from);
  auto *panel = reinterpret_cast<uint16_t *>(to);
  for (int64_t i = 0; i < padded; ++i)
    for (int64_t j = 0; j < 32; ++j)
      panel[i / 32 * 1024 + j / 16 * 512 + i % 32 / 2 * 32 + j % 16 * 2 + i % 2] =
          i < k && j < columns ? values[i * s.row + j * s.column] : uint16_t(0);
}

/// `count` values of a row, then zeros up to `padded`.
template <class T> void copyRow(const T *from, int64_t stride, int64_t count, int64_t padded, T *to) {
  if (stride == 1)
    for (int64_t j = 0; j < count; ++j)
      to[j] = from[j];
  else
    for (int64_t j = 0; j < count; ++j)
      to[j] = from[j * stride];
  for (int64_t j = count; j < padded; ++j)
    to[j] = T(0);
}

void copyTiles(const std::byte *from, Strides s, int64_t k, int64_t rows, std::byte *to) {
  for (int64_t i = 0; i < (rows + 15) / 16 * 16; ++i, from += s.row * 2) {
    std::byte *target = to + i / 16 * rowsCopied(Unit::BF16, k).tile + i % 16 * 64;
    const int64_t count = i < rows ? k : 0;
    for (int64_t j = 0; j < depth(Unit::BF16, k); j += 32, target += 1024) {
      if (s.column == 1) {
        const __m512i values = _mm512_maskz_loadu_epi8(byteMask((count - j) * 2), from + j * 2);
        _mm512_store_si512(target, values);
        continue;
      }
      const int64_t left = count - j < 0 ? 0 : count - j < 32 ? count - j : 32;
      copyRow(reinterpret_cast<const uint16_t *>(from) + j * s.column, s.column, left, 32,
              reinterpret_cast<uint16_t *>(target));
    }
  }
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// Brings a share of what comes next into cache at each step: for many rows into the second level, from where it is
/// read once it has been used for the first of them; for few, that read it once, into the first.
template <int hint, int panels = 1> struct Ahead {
  const char *at;
  int64_t perStep, stride; // bytes
  Ahead(const Block &block, int64_t steps)
      : at(reinterpret_cast<const char *>(block.next)),
        perStep(steps ? (block.nextBytes + steps * 64 - 1) / (steps * 64) * 64 : 0), stride(block.panelStride) {}
  [[gnu::always_inline]] void step() {
    for (int64_t i = 0; i < perStep; i += 64)
      for (int p = 0; p < panels; ++p)
        _mm_prefetch(at + i + p * stride, hint);
    at += perStep;
  }
};

template <int rows, int panels> void multiplyF32(const Block &block) {
  constexpr int64_t columns = width(Unit::F32);
  constexpr int vectors = columns / 16, unroll = panels == 1 ? 4 : 1;
  __m512 sum[panels][rows][vectors];
  auto *c = reinterpret_cast<char *>(block.c);
  auto eachSum = [&](auto &&use) __attribute__((always_inline)) {
    for (int p = 0; p < panels; ++p)
      for (int r = 0; r < rows; ++r)
        for (int v = 0; v < vectors; ++v)
          use(sum[p][r][v], reinterpret_cast<float *>(c + p * block.cStride) + r * columns + v * 16);
  };
  eachSum([&](__m512 &value, const float *at)
              __attribute__((always_inline)) { value = block.accumulate ? _mm512_load_ps(at) : _mm512_setzero_ps(); });
  const auto *a = reinterpret_cast<const float *>(block.a);
  const int64_t row = block.where.row / 4;
  auto step = [&](int64_t i, int p) __attribute__((always_inline)) {
    const auto *b = reinterpret_cast<const float *>(block.panel + p * block.panelStride) + i * columns;
    __m512 right[vectors];
    for (int v = 0; v < vectors; ++v)
      right[v] = _mm512_load_ps(b + v * 16);
    for (int r = 0; r < rows; ++r) {
      const __m512 left = _mm512_set1_ps(a[r * row + i]);
      for (int v = 0; v < vectors; ++v)
        sum[p][r][v] = _mm512_fmadd_ps(left, right[v], sum[p][r][v]);
    }
  };
  Ahead<panels == 1 ? _MM_HINT_T1 : _MM_HINT_T0, panels> ahead(block, block.k / unroll);
  int64_t i = 0;
  for (; i + unroll <= block.k; i += unroll) {
    ahead.step();
#pragma clang loop unroll(full)
    for (int p = 0; p < panels; ++p)
#pragma clang loop unroll(full)
      for (int j = 0; j < unroll; ++j)
        step(i + j, p);
  }
  for (; i < block.k; ++i)
#pragma clang loop unroll(full)
    for (int p = 0; p < panels; ++p)
      step(i, p);
  eachSum([](__m512 value, float *at) __attribute__((always_inline)) { _mm512_store_ps(at, value); });
}

using Multiply = void (*)(const Block &);
/// [rows - 1][panels - 1]
constexpr Multiply f32Blocks[blockRows(Unit::F32)][panelsTogether(Unit::F32, 1)] = {
    {multiplyF32<1, 1>, multiplyF32<1, 2>, multiplyF32<1, 3>, multiplyF32<1, 4>, multiplyF32<1, 5>, multiplyF32<1, 6>},
    {multiplyF32<2, 1>, multiplyF32<2, 2>, multiplyF32<2, 3>},
    {multiplyF32<3, 1>, multiplyF32<3, 2>},
    {multiplyF32<4, 1>},
    {multiplyF32<5, 1>},
    {multiplyF32<6, 1>},
};

/// Up to 16 rows (tiles 0 and 1 of sums) or 32 (2 and 3 as well).
template <bool both> void multiplyBf16(const Block &block) {
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
  for (int64_t i = 0; i < steps; ++i, a += block.where.step, b += 2048) {
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

bool supported(Unit unit) {
  static const bool vector =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  static const bool matrix = vector && matrixUnitAllowed();
  return unit == Unit::F32 ? vector : matrix;
}

void pack(Unit unit, const std::byte *from, Strides strides, int64_t k, int64_t columns, std::byte *to,
          int64_t nextPanel) {
  const auto packed = unit == Unit::F32 ? packF32 : packBf16;
  if (strides.column == 1)
    return packed(from, strides, k, columns, to, nextPanel);
  const int64_t most = width(unit);
  for (int64_t c = 0; c < columns; c += most)
    packed(from + c * strides.column * elementBytes(unit), strides, k, columns - c < most ? columns - c : most,
           to + c / most * nextPanel, nextPanel);
}

void copyRows(Unit unit, const std::byte *from, Strides strides, int64_t k, int64_t rows, std::byte *to) {
  if (unit == Unit::BF16)
    return copyTiles(from, strides, k, rows, to);
  for (int64_t i = 0; i < rows; ++i)
    copyRow(reinterpret_cast<const float *>(from) + i * strides.row, strides.column, k, k,
            reinterpret_cast<float *>(to + i * rowsCopied(unit, k).row));
}

Session::Session(Unit unit, int64_t rows) : unit(unit) {
  if (unit == Unit::F32)
    return;
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

Session::~Session() {
  if (unit == Unit::BF16)
    _tile_release();
}

void Session::multiply(const Block &block) const {
  if (unit == Unit::F32)
    f32Blocks[block.rows - 1][block.panels - 1](block);
  else if (block.rows > 16)
    multiplyBf16<true>(block);
  else
    multiplyBf16<false>(block);
}

void store(Unit unit, const float *c, const float *bias, int64_t rows, int64_t columns, bool toBf16, std::byte *to,
           int64_t rowBytes) {
  const int64_t row = width(unit);
  // Two vectors at a time: 32 columns.
  for (int64_t first = 0; first < columns; first += 32) {
    const __m512 left = bias ? _mm512_load_ps(bias + first) : _mm512_setzero_ps();
    const __m512 right = bias ? _mm512_load_ps(bias + first + 16) : _mm512_setzero_ps();
    const __mmask64 mask = byteMask(columns - first);
    const auto low = static_cast<__mmask16>(mask), high = static_cast<__mmask16>(mask >> 16);
    std::byte *target = to + first * (toBf16 ? 2 : 4);
    for (int64_t i = 0; i < rows; ++i, target += rowBytes) {
      __m512 x = _mm512_load_ps(c + i * row + first), y = _mm512_load_ps(c + i * row + first + 16);
      if (bias) {
        x = _mm512_add_ps(x, left);
        y = _mm512_add_ps(y, right);
      }
      if (toBf16) {
        _mm512_mask_storeu_epi16(target, static_cast<__mmask32>(mask),
                                 reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(y, x)));
      } else {
        _mm512_mask_storeu_ps(target, low, x);
        _mm512_mask_storeu_ps(target + 64, high, y);
      }
    }
  }
}

#else // another machine: nothing is supported, and nothing below is called

bool supported(Unit) { return false; }
void pack(Unit, const std::byte *, Strides, int64_t, int64_t, std::byte *, int64_t) {}
void copyRows(Unit, const std::byte *, Strides, int64_t, int64_t, std::byte *) {}
Session::Session(Unit unit, int64_t) : unit(unit) {}
Session::~Session() = default;
void Session::multiply(const Block &) const {}
void store(Unit, const float *, const float *, int64_t, int64_t, bool, std::byte *, int64_t) {}

#endif

} // namespace tt::ttnn::panels
