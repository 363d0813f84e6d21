//===- units.h - vector units of the packed panels --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The files that define these are compiled for one unit each, whatever the rest is compiled for; no code of them runs
// before `units()` has named the unit. They include no header whose inline functions others share: the linker would
// keep one of the copies, possibly one that this machine cannot run.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "core/panels/panels.h"

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
void multiplyF32(const Block &block);
void dotF32(const Dots &work);
} // namespace avx2

namespace avx512 {
extern const Movement f32, bf16;
void joinRow(const RowPart *parts, int64_t count, const Rows &where, std::byte *to);
void multiplyF32(const Block &block);
void dotF32(const Dots &work);
} // namespace avx512

/// AVX512_BF16, on the rows and panels of the matrix unit.
namespace pairs {
void multiplyBf16(const Block &block);
/// As `store`, to bf16.
void storeBf16(const float *c, const Finish &finish, int64_t rows, int64_t columns, std::byte *to, int64_t rowBytes);
void dotBf16(const Dots &work);
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

} // namespace

} // namespace tt::ttnn::panels

#endif
