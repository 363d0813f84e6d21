//===- depthwise_256.cpp - depthwise convolutions with AVX2 --------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Needs AVX2 and FMA.
//
//===----------------------------------------------------------------------===//

#if defined(__x86_64__)

#include "core/panels/depthwise.h"
#include "core/panels/pairs_256.h"

namespace tt::ttnn::panels {
namespace {

constexpr int64_t lanes = depthwiseWidth256;

/// Adjacent results from position x on in one vector of channels. partly: some of the pixels or results do not exist.
template <int columns, int stride, int count, bool partly>
[[gnu::always_inline]] inline void tile(const DepthwiseLine &line, int64_t x, int64_t vector) {
  constexpr int pixels = (count - 1) * stride + columns;
  const int64_t first = x * stride - line.low, pixelBytes = line.channels * 2;
  Pair sums[count];
  for (Pair &sum : sums)
    sum = line.bias ? Pair{_mm256_load_ps(line.bias + vector * lanes), _mm256_load_ps(line.bias + vector * lanes + 8)}
                    : Pair{_mm256_setzero_ps(), _mm256_setzero_ps()};
  const std::byte *from = line.image + x * stride * pixelBytes + vector * lanes * 2;
  const float *weights = line.weights + vector * line.vectorWeights;
  for (int64_t row = 0; row < line.rows; ++row, from += line.rowBytes, weights += columns * lanes) {
#pragma clang loop unroll(full)
    for (int i = 0; i < pixels; ++i) {
      if (partly && (first + i < 0 || first + i >= line.size))
        continue;
      const Pair pixel = widened(loadPair(from + i * pixelBytes));
#pragma clang loop unroll(full)
      for (int j = 0; j < columns; ++j)
        if (const int p = (i - j) / stride; i >= j && (i - j) % stride == 0 && p < count) {
          sums[p].even = _mm256_fmadd_ps(_mm256_load_ps(weights + j * lanes), pixel.even, sums[p].even);
          sums[p].odd = _mm256_fmadd_ps(_mm256_load_ps(weights + j * lanes + 8), pixel.odd, sums[p].odd);
        }
    }
  }
  std::byte *to = line.to + x * pixelBytes + vector * lanes * 2;
  finishPairs(sums, {line.relu, line.relu6}, [&](int p, __m256i values) __attribute__((always_inline)) {
    if (!partly || x + p < line.results)
      storePair(to + p * pixelBytes, values);
  });
}

template <int columns, int stride> void depthwise(const DepthwiseLine &line) {
  constexpr int count = 4;
  for (int64_t x = 0; x < line.results; x += count) {
    const int64_t begin = x * stride - line.low, end = begin + (count - 1) * stride + columns;
    if (begin >= 0 && end <= line.size && x + count <= line.results)
      for (int64_t vector = line.first; vector < line.last; ++vector)
        tile<columns, stride, count, false>(line, x, vector);
    else
      for (int64_t vector = line.first; vector < line.last; ++vector)
        tile<columns, stride, count, true>(line, x, vector);
  }
}

} // namespace

namespace avx2 {

Depthwise findDepthwise(int64_t columns, int64_t stride) {
  if (columns == 3)
    return stride == 1 ? depthwise<3, 1> : stride == 2 ? depthwise<3, 2> : nullptr;
  if (columns == 5)
    return stride == 1 ? depthwise<5, 1> : stride == 2 ? depthwise<5, 2> : nullptr;
  return nullptr;
}

} // namespace avx2
} // namespace tt::ttnn::panels

#endif
