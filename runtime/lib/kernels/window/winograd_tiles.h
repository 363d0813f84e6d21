//===- winograd_tiles.h - transforms of 3x3 convolutions ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Winograd's F(m, 3) computes m results of a window of 3 in one dimension from m + 2 pixels, as A^T ((G g) (B^T d))
// with a product for each of m + 2 places. In two dimensions, the transforms are applied to rows and then to columns.
// The matrices follow from polynomials that are evaluated at m + 1 points and at infinity (Lavin and Gray, "Fast
// algorithms for convolutional neural networks", 2015).
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <cstdint>

namespace tt::ttnn::winograd {

/// F(2, 3) at the points 0, 1, -1. Its factors are powers of two.
struct SmallTile {
  static constexpr int64_t results = 2, side = results + 2;
  /// Exponents by which the largest pixel of a window may be smaller than that of the tile, and elements of a window of
  /// weights than others.
  static constexpr uint32_t pixelsApart = 8, weightsApart = 8;
  /// The bits of the smallest magnitude that the largest pixel of a tile may have, other than 0: subnormals are added
  /// without rounding.
  static constexpr uint32_t leastPixel = 0;
  /// A result is at most this, times the channels, the largest pixel, and the largest weight; so are all values before.
  static constexpr double amplification = 81;

  static void pixels(const float (&d)[side], float (&t)[side]) {
    t[0] = d[0] - d[2];
    t[1] = d[1] + d[2];
    t[2] = d[2] - d[1];
    t[3] = d[1] - d[3];
  }
  static void weights(const float (&g)[3], float (&t)[side]) {
    t[0] = g[0];
    t[1] = (g[0] + g[1] + g[2]) * 0.5f;
    t[2] = (g[0] - g[1] + g[2]) * 0.5f;
    t[3] = g[2];
  }
  static void sums(const float (&m)[side], float (&y)[results]) {
    y[0] = m[0] + m[1] + m[2];
    y[1] = m[1] - m[2] - m[3];
  }
};

/// F(4, 3) at the points 0, a, -a, b, -b. Of points with few bits, these have one of the smallest errors: its mean is
/// two to three times that of direct sums of similar pixels, where that of 1 and 2 is three to five times.
struct LargeTile {
  static constexpr int64_t results = 4, side = results + 2;
  static constexpr uint32_t pixelsApart = 3, weightsApart = 6;
  static constexpr uint32_t leastPixel = 27 << 23; // 2^-100: smaller ones lose bits when they are multiplied
  static constexpr double amplification = 3600;

  static constexpr float a = 0.75f, b = 1.5f, a2 = a * a, b2 = b * b;

  static void pixels(const float (&d)[side], float (&t)[side]) {
    const float even = d[4] - b2 * d[2], odd = a * (d[3] - b2 * d[1]);
    const float evenOfB = d[4] - a2 * d[2], oddOfB = b * (d[3] - a2 * d[1]);
    t[0] = a2 * b2 * d[0] - (a2 + b2) * d[2] + d[4];
    t[1] = even + odd;
    t[2] = even - odd;
    t[3] = evenOfB + oddOfB;
    t[4] = evenOfB - oddOfB;
    t[5] = a2 * b2 * d[1] - (a2 + b2) * d[3] + d[5];
  }
  static void weights(const float (&g)[3], float (&t)[side]) {
    constexpr float ofZero = 1 / (a2 * b2), ofA = 1 / (2 * a2 * (a2 - b2)), ofB = 1 / (2 * b2 * (b2 - a2));
    t[0] = g[0] * ofZero;
    t[1] = (g[0] + a2 * g[2] + a * g[1]) * ofA;
    t[2] = (g[0] + a2 * g[2] - a * g[1]) * ofA;
    t[3] = (g[0] + b2 * g[2] + b * g[1]) * ofB;
    t[4] = (g[0] + b2 * g[2] - b * g[1]) * ofB;
    t[5] = g[2];
  }
  static void sums(const float (&m)[side], float (&y)[results]) {
    const float even = m[1] + m[2], odd = m[1] - m[2], evenOfB = m[3] + m[4], oddOfB = m[3] - m[4];
    y[0] = m[0] + even + evenOfB;
    y[1] = a * odd + b * oddOfB;
    y[2] = a2 * even + b2 * evenOfB;
    y[3] = a2 * a * odd + b2 * b * oddOfB + m[5];
  }
};

/// Applies a transform to the rows of a matrix, and then to the columns.
template <auto transform, size_t n, size_t m>
[[gnu::always_inline]] inline void transformBoth(const float (&from)[n][n], float (&to)[m][m]) {
  float rows[n][m];
#pragma clang loop unroll(full)
  for (size_t y = 0; y < n; ++y)
    transform(from[y], rows[y]);
#pragma clang loop unroll(full)
  for (size_t x = 0; x < m; ++x) {
    float column[n], found[m];
#pragma clang loop unroll(full)
    for (size_t y = 0; y < n; ++y)
      column[y] = rows[y][x];
    transform(column, found);
#pragma clang loop unroll(full)
    for (size_t y = 0; y < m; ++y)
      to[y][x] = found[y];
  }
}

} // namespace tt::ttnn::winograd
