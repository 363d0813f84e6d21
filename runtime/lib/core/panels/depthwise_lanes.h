//===- depthwise_lanes.h - depthwise convolutions with AVX-512 ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Included by a file for each unit, which shares nothing of it with other files.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "core/panels/depthwise.h"
#include "core/panels/units.h"

namespace tt::ttnn::panels {
namespace {

/// The values of 32 channels.
struct Lanes {
  __m512 even, odd;
};

[[gnu::always_inline]] inline __m512i rounded(Lanes x) {
#if defined(__AVX512BF16__)
  alignas(64) static constexpr auto order = [] {
    struct {
      uint16_t of[32];
    } order{};
    for (uint16_t i = 0; i < 16; ++i)
      order.of[2 * i] = i, order.of[2 * i + 1] = static_cast<uint16_t>(16 + i);
    return order;
  }();
  return _mm512_permutexvar_epi16(_mm512_load_si512(order.of),
                                  reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(x.odd, x.even)));
#else
  return _mm512_or_si512(_mm512_cvtepu16_epi32(roundToBf16(x.even)),
                         _mm512_slli_epi32(_mm512_cvtepu16_epi32(roundToBf16(x.odd)), 16));
#endif
}

/// Adjacent results from position x on in one vector of channels. masked: reads and writes those only that exist.
template <int columns, int stride, bool masked>
[[gnu::always_inline]] inline void tile(const DepthwiseLine &line, int64_t x, int64_t vector) {
  constexpr int count = 4, pixels = (count - 1) * stride + columns;
  const int64_t left = line.channels - vector * depthwiseWidth;
  const __mmask32 existing = left < 32 ? (__mmask32(1) << left) - 1 : ~__mmask32(0);
  const int64_t first = x * stride - line.low;
  Lanes sums[count];
  for (Lanes &sum : sums)
    sum = line.bias ? Lanes{_mm512_load_ps(line.bias + vector * 32), _mm512_load_ps(line.bias + vector * 32 + 16)}
                    : Lanes{_mm512_setzero_ps(), _mm512_setzero_ps()};
  const int64_t pixelBytes = line.channels * 2;
  const std::byte *from = line.image + x * stride * pixelBytes + vector * 64;
  const float *weights = line.weights + vector * line.vectorWeights;
  for (int64_t row = 0; row < line.rows; ++row, from += line.rowBytes, weights += columns * 32) {
    Lanes weight[columns];
#pragma clang loop unroll(full)
    for (int j = 0; j < columns; ++j)
      weight[j] = {_mm512_load_ps(weights + j * 32), _mm512_load_ps(weights + j * 32 + 16)};
#pragma clang loop unroll(full)
    for (int i = 0; i < pixels; ++i) {
      __m512i both;
      if constexpr (masked)
        both = _mm512_maskz_loadu_epi16(first + i >= 0 && first + i < line.size ? existing : 0, from + i * pixelBytes);
      else
        both = _mm512_loadu_si512(from + i * pixelBytes);
      const __m512 even = _mm512_castsi512_ps(_mm512_slli_epi32(both, 16));
      const __m512 odd = _mm512_castsi512_ps(_mm512_and_si512(both, _mm512_set1_epi32(static_cast<int>(0xffff0000))));
#pragma clang loop unroll(full)
      for (int j = 0; j < columns; ++j)
        if (const int p = (i - j) / stride; i >= j && (i - j) % stride == 0 && p < count) {
          sums[p].even = _mm512_fmadd_ps(weight[j].even, even, sums[p].even);
          sums[p].odd = _mm512_fmadd_ps(weight[j].odd, odd, sums[p].odd);
        }
    }
  }
  std::byte *to = line.to + x * pixelBytes + vector * 64;
#pragma clang loop unroll(full)
  for (int p = 0; p < count; ++p) {
    Lanes &sum = sums[p];
    if (line.relu)
      sum = {relu(sum.even), relu(sum.odd)};
    if (line.relu6)
      sum = {_mm512_min_ps(_mm512_set1_ps(6), sum.even), _mm512_min_ps(_mm512_set1_ps(6), sum.odd)};
    if constexpr (masked)
      _mm512_mask_storeu_epi16(to + p * pixelBytes, x + p < line.results ? existing : 0, rounded(sum));
    else
      _mm512_storeu_si512(to + p * pixelBytes, rounded(sum));
  }
}

template <int columns, int stride> void depthwise(const DepthwiseLine &line) {
  constexpr int64_t count = 4;
  const int64_t whole = line.channels / depthwiseWidth < line.last ? line.channels / depthwiseWidth : line.last;
  for (int64_t x = 0; x < line.results; x += count) {
    const int64_t begin = x * stride - line.low, end = begin + (count - 1) * stride + columns;
    const bool inside = begin >= 0 && end <= line.size && x + count <= line.results;
    int64_t vector = line.first;
    if (inside)
      for (; vector < whole; ++vector)
        tile<columns, stride, false>(line, x, vector);
    for (; vector < line.last; ++vector)
      tile<columns, stride, true>(line, x, vector);
  }
}

Depthwise choose(int64_t columns, int64_t stride) {
  if (stride != 1 && stride != 2)
    return nullptr;
  switch (columns) {
  case 3:
    return stride == 1 ? depthwise<3, 1> : depthwise<3, 2>;
  case 5:
    return stride == 1 ? depthwise<5, 1> : depthwise<5, 2>;
  case 7:
    return stride == 1 ? depthwise<7, 1> : depthwise<7, 2>;
  default:
    return nullptr;
  }
}

} // namespace
} // namespace tt::ttnn::panels
