//===- direct.cpp - small and integer matrix products ---------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/matmul/direct.h"

#include <algorithm>

namespace tt::ttnn {
namespace {

/// `rows` rows of c at once over `width` columns, which stay in registers.
template <class T, int rows, int width> void block(const T *a, const T *b, T *c, int64_t n, int64_t k) {
  T sum[rows][width] = {};
  for (int64_t i = 0; i < k; ++i)
    for (int r = 0; r < rows; ++r)
      for (int j = 0; j < width; ++j)
        sum[r][j] += a[r * k + i] * b[i * n + j];
  for (int r = 0; r < rows; ++r)
    for (int j = 0; j < width; ++j)
      c[r * n + j] = sum[r][j];
}

template <class T, int rows> void rowGroup(const T *a, const T *b, T *c, int64_t n, int64_t k) {
  int64_t j = 0;
  for (; j + 32 <= n; j += 32)
    block<T, rows, 32>(a, b + j, c + j, n, k);
  for (; j + 8 <= n; j += 8)
    block<T, rows, 8>(a, b + j, c + j, n, k);
  for (; j < n; ++j)
    block<T, rows, 1>(a, b + j, c + j, n, k);
}

} // namespace

template <class T> void multiplyRows(const T *a, const T *b, T *c, int64_t begin, int64_t end, int64_t n, int64_t k) {
  if (k == 0) { // there is nothing to read, not even an address
    std::fill_n(c + begin * n, (end - begin) * n, T(0));
    return;
  }
  int64_t m = begin;
  for (; m + 4 <= end; m += 4)
    rowGroup<T, 4>(a + m * k, b, c + m * n, n, k);
  for (; m < end; ++m)
    rowGroup<T, 1>(a + m * k, b, c + m * n, n, k);
}

template void multiplyRows<float>(const float *, const float *, float *, int64_t, int64_t, int64_t, int64_t);
template void multiplyRows<uint32_t>(const uint32_t *, const uint32_t *, uint32_t *, int64_t, int64_t, int64_t,
                                     int64_t);
template void multiplyRows<uint64_t>(const uint64_t *, const uint64_t *, uint64_t *, int64_t, int64_t, int64_t,
                                     int64_t);

} // namespace tt::ttnn
