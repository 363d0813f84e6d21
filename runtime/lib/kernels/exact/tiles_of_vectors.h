//===- tiles_of_vectors.h - the products of tiles.h with one vector unit ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Included by one file a unit, each compiled for its own.
//
//===----------------------------------------------------------------------===//

#include "kernels/exact/accumulate.h"
#include "kernels/exact/tiles.h"

namespace tt::ttnn::exact::tiles {
namespace {

using V = Vectors<columns>;
using I = V::I;
using F = V::F;
using S = int16_t __attribute__((vector_size(columns * 2)));
using Twice = int32_t __attribute__((vector_size(columns * 2)));

constexpr int32_t offsets[4] = {0, 5, 7, 12}; // of the exponents of a phase
/// Where there is no product, the sum begins so low that a quarter of its unit does not change other sums.
constexpr int16_t noSum = 160;

template <class Vector, class T> [[gnu::always_inline]] Vector loaded(const T *from) {
  Vector value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}

/// 1.25 * 2^23 units of a phase's products. `largest`: the largest exponent less 114, in the place of f32's.
template <int phase> [[gnu::always_inline]] I start(I largest) { return largest - ((offsets[phase] << 23) - 0x200000); }

template <int rows, int phases> struct Sums {
  F of[phases][rows];

  template <int phase> [[gnu::always_inline]] void begin(const I (&largest)[rows]) {
    for (int r = 0; r < rows; ++r)
      of[phase][r] = V::as<F>(start<phase>(largest[r]));
    if constexpr (phase + 1 < phases)
      begin<phase + 1>(largest);
  }
  /// Writes what the products add to the start; of a 16-bit destination, and a quarter of a unit.
  template <bool wide, int phase> [[gnu::always_inline]] void end(const I (&largest)[rows], F (&to)[phases][rows]) {
    for (int r = 0; r < rows; ++r) {
      const I first = start<phase>(largest[r]);
      to[phase][r] =
          wide ? of[phase][r] - V::as<F>(first) : V::fma(of[phase][r], V::splat(1.0f + 0x1p-23f), -V::as<F>(first + 1));
    }
    if constexpr (phase + 1 < phases)
      end<wide, phase + 1>(largest, to);
  }
};

template <int rows, int phases, bool wide>
void multiply(const Left &left, const Right &right, const int64_t *at, int64_t column, int32_t *const *dst) {
  constexpr int groups = tile / group;
  F sums[groups][phases][rows];
  I exponents[groups][rows];
  for (int g = 0; g < groups; ++g) {
    const int64_t k = g * group, first = column + k * columns;
    S top[rows];
    for (int r = 0; r < rows; ++r)
      top[r] = S{} + noSum;
#pragma clang loop unroll(full)
    for (int i = 0; i < group; ++i) {
      const S field = loaded<S>(right.exponents + first + i * columns);
#pragma clang loop unroll(full)
      for (int r = 0; r < rows; ++r) {
        const S both = field + V::as<S>(Twice{} + left.exponents[at[r] + k + i]);
        top[r] = __builtin_elementwise_max(top[r], both);
      }
    }
    I largest[rows];
    for (int r = 0; r < rows; ++r) {
      const int16_t lower = 114; // the start of the sum, below the exponent of a product
      largest[r] = __builtin_convertvector(top[r] - lower, I) << 23;
      exponents[g][r] = (largest[r] - ((127 - lower) << 23)) & (largest[r] >= (leastSum - lower) << 23);
    }
    Sums<rows, phases> sum;
    sum.template begin<0>(largest);
#pragma clang loop unroll(full)
    for (int i = 0; i < group; ++i) {
      const F high = loaded<F>(right.high + first + i * columns);
      F low;
      if constexpr (phases > 1)
        low = loaded<F>(right.low + first + i * columns);
#pragma clang loop unroll(full)
      for (int r = 0; r < rows; ++r) {
        const int64_t a = at[r] + k + i;
        sum.of[0][r] = V::fma(V::splat(left.high[a]), high, sum.of[0][r]);
        if constexpr (phases > 1)
          sum.of[1][r] = V::fma(V::splat(left.high[a]), low, sum.of[1][r]);
        if constexpr (phases > 2)
          sum.of[2][r] = V::fma(V::splat(left.low[a]), high, sum.of[2][r]);
        if constexpr (phases > 3)
          sum.of[3][r] = V::fma(V::splat(left.low[a]), low, sum.of[3][r]);
      }
    }
    sum.template end<wide, 0>(largest, sums[g]);
  }
  I held[rows];
  for (int r = 0; r < rows; ++r) {
    held[r] = loaded<I>(dst[r]);
    held[r] &= (held[r] & 0x7f800000) != 0; // denormals and -0
  }
  for (int p = 0; p < phases; ++p)
    for (int g = 0; g < groups; g += 2)
      for (int r = 0; r < rows; ++r) {
        const I larger = __builtin_elementwise_max(exponents[g][r], exponents[g + 1][r]);
        held[r] = V::accumulate<wide>(held[r], sums[g][p][r], sums[g + 1][p][r], larger - (offsets[p] << 23));
      }
  for (int r = 0; r < rows; ++r)
    __builtin_memcpy(dst[r], &held[r], sizeof held[r]);
}

template <int rows> constexpr Functions functionsOf() {
  return {rows,
          {{multiply<rows, 1, false>, multiply<rows, 1, true>},
           {multiply<rows, 2, false>, multiply<rows, 2, true>},
           {multiply<rows, 3, false>, multiply<rows, 3, true>},
           {multiply<rows, 4, false>, multiply<rows, 4, true>}},
          {{multiply<1, 1, false>, multiply<1, 1, true>},
           {multiply<1, 2, false>, multiply<1, 2, true>},
           {multiply<1, 3, false>, multiply<1, 3, true>},
           {multiply<1, 4, false>, multiply<1, 4, true>}}};
}

} // namespace
} // namespace tt::ttnn::exact::tiles
