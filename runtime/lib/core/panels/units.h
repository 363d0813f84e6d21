//===- units.h - vector units of the packed panels --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The files that define these are compiled for one unit each, whatever the rest is compiled for; no code of them runs
// before `units()` has named the unit. They include no header whose inline functions others share: the linker would
// keep one of the copies, possibly one that this machine cannot run.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "core/panels/depthwise.h"
#include "core/panels/panels.h"
#include "core/panels/pixels.h"

#if defined(__x86_64__)

#include <immintrin.h>

namespace tt::ttnn::panels {

/// See `pack`, `copyRows` (where: the value of `rowsCopied`) and `store` in panels.h.
struct Movement {
  void (*pack)(const std::byte *from, Strides strides, int64_t k, int64_t columns, std::byte *to, int64_t nextPanel);
  void (*copyRows)(const std::byte *from, Strides strides, int64_t k, int64_t rows, Rows where, std::byte *to);
  void (*store)(const float *c, const Finish &finish, int64_t rows, int64_t columns, std::byte *to, int64_t rowBytes);
};

namespace avx2 {
extern const Movement f32;
void packNarrow(const std::byte *from, Strides strides, int64_t k, int64_t columns, std::byte *to, int64_t nextPanel);
void widenNarrow(const std::byte *row, int64_t columns, float *to);
void multiplyF32(const Block &block);
void dotF32(const Dots &work);
Depthwise findDepthwise(int64_t columns, int64_t stride);
void packPixelWeights(const std::byte *from, Strides strides, int64_t k, int64_t columns, std::byte *to,
                      int64_t nextPanel);
void multiplyPixels(const PixelBlock &block);
} // namespace avx2

namespace avx512 {
extern const Movement f32, bf16;
void joinRow(const RowPart *parts, int64_t count, const Rows &where, std::byte *to);
void copyPart(const PartialRows &rows, int64_t groups, int64_t nextGroup, std::byte *to);
void multiplyF32(const Block &block);
void dotF32(const Dots &work);
Depthwise findDepthwise(int64_t columns, int64_t stride);
} // namespace avx512

/// AVX512_BF16, on the rows and panels of the matrix unit.
namespace pairs {
void multiplyBf16(const Block &block);
/// As `store`, to bf16.
void storeBf16(const float *c, const Finish &finish, int64_t rows, int64_t columns, std::byte *to, int64_t rowBytes);
void dotBf16(const Dots &work);
Depthwise findDepthwise(int64_t columns, int64_t stride);
} // namespace pairs

namespace amx {
/// rows: as for `Session`.
void begin(int64_t rows);
void end();
void multiplyBf16(const Block &block);
} // namespace amx

namespace {

/// Prefetches a share of the following data at each step, or at each step of part `part` of `parts` equal ones: for
/// many rows, and values that are not packed yet, into the second level, from where it is read after its first use; for
/// few rows, which read it once, into the first.
template <int hint, int panels = 1> struct Ahead {
  const char *at;
  int64_t perStep, stride;          // cache lines; bytes from one panel to the next
  int64_t perLine, inLine, between; // cache lines of a line, and of this one; bytes from its end to the next
  Ahead(const Block &block, int64_t steps, int64_t part = 0, int64_t parts = 1)
      : at(reinterpret_cast<const char *>(block.next)),
        perStep(steps ? (block.nextBytes + steps * parts * 64 - 1) / (steps * parts * 64) : 0),
        stride(block.panelStride), perLine(block.nextLine / 64), inLine(perLine), between(0) {
    int64_t first = part * steps * perStep;
    if (perLine) {
      between = block.nextApart - block.nextLine;
      first += block.nextFirst;
      at += first / perLine * block.nextApart;
      first %= perLine;
      inLine -= first;
    }
    at += first * 64;
  }
  [[gnu::always_inline]] void step() {
    if (perLine) {
      for (int64_t i = 0; i < perStep; ++i) {
        _mm_prefetch(at, _MM_HINT_T1);
        at += 64;
        if (--inLine == 0) {
          inLine = perLine;
          at += between;
        }
      }
      return;
    }
    for (int64_t i = 0; i < perStep; ++i, at += 64)
      for (int p = 0; p < panels; ++p)
        _mm_prefetch(at + p * stride, hint);
  }
};

/// The rows after those that are stored, from which on the memory of results, and what is added to them, is fetched: a
/// step of rows stores one panel after the other before the next one begins.
[[gnu::always_inline]] inline int64_t rowsToFetch(int64_t rows) {
  constexpr int64_t near = 16;
  return rows <= blockRows(Unit::BF16) ? rows : near;
}

#if defined(__AVX512F__)
/// To bf16, nearest, ties to even; NaN stays NaN.
[[gnu::always_inline]] inline __m256i roundToBf16(__m512 x) {
  const __m512i bits = _mm512_castps_si512(x);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __m512i rounded = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd);
  const __m512i quiet = _mm512_or_si512(bits, _mm512_set1_epi32(0x400000));
  const __mmask16 isNumber = _mm512_cmp_ps_mask(x, x, _CMP_ORD_Q);
  return _mm512_cvtepi32_epi16(_mm512_srli_epi32(_mm512_mask_blend_epi32(isNumber, quiet, rounded), 16));
}

[[gnu::always_inline]] inline __m512 widen(__m256i bf16) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bf16), 16));
}

/// NaN stays NaN: max returns its second operand then. A sum of zeros is 0.
[[gnu::always_inline]] inline __m512 relu(__m512 x) {
  return _mm512_add_ps(_mm512_max_ps(_mm512_setzero_ps(), x), _mm512_setzero_ps());
}

#endif

} // namespace

} // namespace tt::ttnn::panels

#endif
