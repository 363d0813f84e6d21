//===- direct.h - small and integer matrix products ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tt::ttnn {

/// c[m, n] = a[m, k] * b[k, n], row-major; rows [begin, end) of c. T is float, or uint32_t or uint64_t for integers
/// that wrap around. The sum over k has one order, for any rows.
template <class T> void multiplyRows(const T *a, const T *b, T *c, int64_t begin, int64_t end, int64_t n, int64_t k);

} // namespace tt::ttnn
