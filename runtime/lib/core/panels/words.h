//===- words.h - blocks of products of integer words -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The loops of `multiply` for every unit. `V` names its vectors:
//   Vector, lanes, width                    type, words in one, columns of a panel
//   zero(), load(from), store(to, x), broadcast(from)
//   sum(x, y), add(sum, left, right)        sum + products of the values of each word
// A file that is compiled for one unit includes this header, and shares nothing
// of it with other files.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "core/panels/integers.h"

#if defined(__x86_64__)

#include <immintrin.h>

namespace tt::ttnn::panels {

using MultiplyWords = void (*)(const IntegerBlock &);

namespace avx2 {
void multiplyPairs(const IntegerBlock &block);
}
namespace avx2vnni {
void multiplyQuads(const IntegerBlock &block);
}
namespace avx512 {
void multiplyPairs(const IntegerBlock &block);
}
namespace vnni {
void multiplyQuads(const IntegerBlock &block);
}

namespace {

template <class V, int rows, int vectors> void multiplyRows(const IntegerBlock &block) {
  // Sums that wait for none before them.
  constexpr int chains = rows * vectors <= 2 ? 4 : rows * vectors <= 4 ? 2 : 1;
  typename V::Vector sum[chains][rows][vectors];
#pragma clang loop unroll(full)
  for (int c = 0; c < chains; ++c)
#pragma clang loop unroll(full)
    for (int r = 0; r < rows; ++r)
#pragma clang loop unroll(full)
      for (int v = 0; v < vectors; ++v)
        sum[c][r][v] = c == 0 && block.accumulate ? V::load(block.c + r * V::width + v * V::lanes) : V::zero();
  const auto step = [&](int64_t i, int c) __attribute__((always_inline)) {
    const std::byte *b = block.panel + i * V::width * 4;
    typename V::Vector right[vectors];
#pragma clang loop unroll(full)
    for (int v = 0; v < vectors; ++v)
      right[v] = V::load(b + v * V::lanes * 4);
#pragma clang loop unroll(full)
    for (int r = 0; r < rows; ++r) {
      const typename V::Vector left = V::broadcast(block.a + r * block.aRow + i * 4);
#pragma clang loop unroll(full)
      for (int v = 0; v < vectors; ++v)
        sum[c][r][v] = V::add(sum[c][r][v], left, right[v]);
    }
  };
  int64_t i = 0;
  for (; i + chains <= block.words; i += chains) {
#pragma clang loop unroll(full)
    for (int c = 0; c < chains; ++c)
      step(i + c, c);
  }
  for (; i < block.words; ++i)
    step(i, 0);
#pragma clang loop unroll(full)
  for (int r = 0; r < rows; ++r)
#pragma clang loop unroll(full)
    for (int v = 0; v < vectors; ++v) {
      typename V::Vector made = sum[0][r][v];
#pragma clang loop unroll(full)
      for (int c = 1; c < chains; ++c)
        made = V::sum(made, sum[c][r][v]);
      V::store(block.c + r * V::width + v * V::lanes, made);
    }
}

template <class V, int vectors>
constexpr MultiplyWords byRows[integerRows] = {multiplyRows<V, 1, vectors>, multiplyRows<V, 2, vectors>,
                                               multiplyRows<V, 3, vectors>, multiplyRows<V, 4, vectors>,
                                               multiplyRows<V, 5, vectors>, multiplyRows<V, 6, vectors>};

template <class V> void multiplyWords(const IntegerBlock &block) {
  const int64_t vectors = (block.columns + V::lanes - 1) / V::lanes;
  if constexpr (V::width == 4 * V::lanes) {
    constexpr const MultiplyWords *byVectors[] = {byRows<V, 1>, byRows<V, 2>, byRows<V, 3>, byRows<V, 4>};
    byVectors[vectors - 1][block.rows - 1](block);
  } else {
    static_assert(V::width == 2 * V::lanes);
    constexpr const MultiplyWords *byVectors[] = {byRows<V, 1>, byRows<V, 2>};
    byVectors[vectors - 1][block.rows - 1](block);
  }
}

#if defined(__AVX512F__)

struct Words512 {
  using Vector = __m512i;
  static constexpr int64_t lanes = 16, width = 64;
  static Vector zero() { return _mm512_setzero_si512(); }
  static Vector load(const void *from) { return _mm512_loadu_si512(from); }
  static void store(void *to, Vector x) { _mm512_storeu_si512(to, x); }
  static Vector broadcast(const std::byte *from) {
    int32_t word;
    __builtin_memcpy(&word, from, sizeof(word));
    return _mm512_set1_epi32(word);
  }
  static Vector sum(Vector x, Vector y) { return _mm512_add_epi32(x, y); }
};

#else

struct Words256 {
  using Vector = __m256i;
  static constexpr int64_t lanes = 8, width = 16;
  static Vector zero() { return _mm256_setzero_si256(); }
  static Vector load(const void *from) { return _mm256_loadu_si256(static_cast<const __m256i *>(from)); }
  static void store(void *to, Vector x) { _mm256_storeu_si256(static_cast<__m256i *>(to), x); }
  static Vector broadcast(const std::byte *from) {
    int32_t word;
    __builtin_memcpy(&word, from, sizeof(word));
    return _mm256_set1_epi32(word);
  }
  static Vector sum(Vector x, Vector y) { return _mm256_add_epi32(x, y); }
};

#endif

} // namespace
} // namespace tt::ttnn::panels

#endif
