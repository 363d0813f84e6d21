//===- tiles_of_vectors.h - the products of tiles.h with one vector unit ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Included by one file per unit, each compiled for its own unit.
//
//===----------------------------------------------------------------------===//

#include "kernels/exact/accumulate.h"
#include "kernels/exact/tiles.h"

namespace tt::ttnn::exact::tiles {
namespace {

constexpr int groups = tile / group;
constexpr int32_t offsets[4] = {0, 5, 7, 12}; // of the exponents of a phase
/// Where there is no product, the sum begins so low that neither a quarter of its unit nor its exponent changes others.
constexpr int16_t noSum = 164;
/// The start of a sum: 1.25 * 2^23 units of a phase's products.
constexpr int16_t lower = 114; // than the exponent of a product
constexpr int32_t quarter = 0x200000;

template <class Vector, class T> [[gnu::always_inline]] Vector loaded(const T *from) {
  Vector value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}

/// Rows by 16 columns, or by as many in two blocks, one tile of K.
template <int64_t lanes, int64_t count, int blocks, int phases, bool wide> class Tile {
  using V = Vectors<lanes>;
  using I = typename V::I;
  using U = typename V::U;
  using F = typename V::F;
  using Half = int16_t __attribute__((vector_size(lanes * 2)));
  using S = int16_t __attribute__((vector_size(blocks * columns * 2)));
  using Twice = int32_t __attribute__((vector_size(blocks * columns * 2)));
  static constexpr int vectors = columns / lanes;
  /// Vectors of 256 bits add sums that are near each other as f32, as many at a time as registers hold.
  static constexpr bool nearby = wide && lanes < columns;
  static constexpr int atOnce = count * vectors < 4 ? count * vectors : 4;
  // As many sums at once as registers hold, but enough for the latency of their additions.
  static constexpr int64_t together = lanes == columns || phases < 3 || count == 1 ? count : 2;

public:
  [[gnu::always_inline]] static void multiply(const Left &left, const Right &right, int32_t *dst, int64_t stride) {
    Tile made(left, right);
    made.findExponents();
    for (int block = 0; block < blocks; ++block, dst += columns) {
      for (int g = 0; g < groups; ++g)
#pragma clang loop unroll(full)
        for (int v = 0; v < vectors; ++v)
#pragma clang loop unroll(full)
          for (int r = 0; r < count; r += together)
            made.multiplyGroup(block, g, v, r);
      if constexpr (!wide)
        made.template accumulate<true>(dst, stride);
      else if (!made.template accumulate<false>(dst, stride))
        made.template accumulate<true>(dst, stride);
    }
  }

private:
  Tile(const Left &left, const Right &right) : left(left), right(right) {}

  /// Exponents of a row of all blocks.
  [[gnu::always_inline]] S fieldsOf(int64_t k) const {
    const int16_t *at = right.exponents + k * columns;
    if constexpr (blocks == 1)
      return loaded<S>(at);
    else
      return __builtin_shufflevector(loaded<Exponents>(at), loaded<Exponents>(at + right.next), 0, 1, 2, 3, 4, 5, 6, 7,
                                     8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28,
                                     29, 30, 31);
  }

  [[gnu::always_inline]] void findExponents() {
    S before[count], apart{};
    for (int g = 0; g < groups; ++g) {
      S top[count];
      for (int r = 0; r < count; ++r)
        top[r] = S{} + noSum;
#pragma clang loop unroll(full)
      for (int i = 0; i < group; ++i) {
        const int64_t k = g * group + i;
        const S field = fieldsOf(k);
#pragma clang loop unroll(full)
        for (int r = 0; r < count; ++r) {
          const S both = field + V::template as<S>(Twice{} + left.exponents[r * tile + k]);
          top[r] = __builtin_elementwise_max(top[r], both);
        }
      }
      for (int r = 0; r < count; ++r) {
        if constexpr (nearby) {
          if (g % 2) {
            const S least = __builtin_elementwise_min(top[r], before[r]);
            apart |= (__builtin_elementwise_max(top[r], before[r]) - least > V::near) & (least > noSum);
          }
          before[r] = top[r];
        }
        top[r] -= lower;
        __builtin_memcpy(tops[g][r], &top[r], sizeof top[r]);
      }
    }
    areFar = nearby && __builtin_reduce_or(apart);
  }

  template <int phase>
  [[gnu::always_inline]] void end(int g, int v, int row, const F (&sum)[phases][together], const I (&start)[together]) {
    for (int r = 0; r < together; ++r) // of a 16-bit destination, and a quarter of a unit
      sums[g][phase][row + r][v] =
          wide ? sum[phase][r] - V::template as<F>(start[r])
               : V::fma(sum[phase][r], V::splat(1.0f + 0x1p-23f), -V::template as<F>(start[r] + 1));
    if constexpr (phase + 1 < phases)
      end<phase + 1>(g, v, row, sum, start);
  }

  /// Finds what the products of each phase add to the start.
  [[gnu::always_inline]] void multiplyGroup(int block, int g, int v, int row) {
    asm volatile("" ::: "memory"); // else the compiler would load all of `right` once, and spill it
    const int64_t first = block * right.next + g * group * columns + v * lanes;
    const int64_t own = row * tile + g * group;
    I start[together];
    F sum[phases][together];
    for (int r = 0; r < together; ++r) {
      const auto top = loaded<Half>(tops[g][row + r] + block * columns + v * lanes);
      start[r] = (__builtin_convertvector(top, I) << 23) + quarter;
      starts[g][row + r][v] = start[r];
      for (int phase = 0; phase < phases; ++phase)
        sum[phase][r] = V::template as<F>(start[r]);
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < group; ++i) {
      const F high = loaded<F>(right.high + first + i * columns);
      F low;
      if constexpr (phases > 1)
        low = loaded<F>(right.low + first + i * columns);
#pragma clang loop unroll(full)
      for (int r = 0; r < together; ++r) {
        const int64_t a = own + r * tile + i;
        const F upper = V::splat(left.high[a]);
        sum[0][r] = V::fma(upper, high, sum[0][r]);
        if constexpr (phases > 1)
          sum[1][r] = V::fma(upper, low, sum[1][r]);
        if constexpr (phases > 2) {
          const F rest = V::splat(left.low[a]);
          sum[2][r] = V::fma(rest, high, sum[2][r]);
          if constexpr (phases > 3)
            sum[3][r] = V::fma(rest, low, sum[3][r]);
        }
      }
    }
    end<0>(g, v, row, sum, start);
  }

  /// Phases and their halves one after another, in each all count and columns: every sum waits for the one before. Sums
  /// of a phase are held times 2^offset, and the destination too. Returns false, and stores nothing, if a sum is
  /// changed by the defect or has halves that are far apart, unless it is `careful`.
  template <bool careful> [[gnu::always_inline]] bool accumulate(int32_t *dst, int64_t stride) {
    if (!careful && areFar)
      return false;
    I held[count][vectors], larger[groups / 2][count][vectors], least{};
    U most[count][vectors] = {};
    for (int r = 0; r < count; ++r)
      for (int v = 0; v < vectors; ++v) {
        held[r][v] = loaded<I>(dst + r * stride + v * lanes);
        held[r][v] &= (held[r][v] & 0x7f800000) != 0; // denormals and -0
        for (int g = 0; g < groups; g += 2)
          larger[g / 2][r][v] =
              __builtin_elementwise_max(starts[g][r][v], starts[g + 1][r][v]) - (((127 - lower) << 23) + quarter);
      }
    const auto scale = [&](int places) __attribute__((always_inline)) {
      const auto factor = V::splat(__builtin_bit_cast(float, (127 + places) << 23));
      for (int r = 0; r < count; ++r)
        for (int v = 0; v < vectors; ++v)
          held[r][v] = V::template as<I>(V::template as<F>(held[r][v]) * factor);
    };
#pragma clang loop unroll(disable)
    for (int phase = 0; phase < phases; ++phase) {
      if (!wide && phase > 0)
        scale(offsets[phase] - offsets[phase - 1]);
#pragma clang loop unroll(full)
      for (int g = 0; g < groups; g += 2) {
        // After the last half of a phase, a 32-bit destination gets the scale of the next.
        const int32_t places = g + 2 < groups ? 0 : (phase + 1 < phases ? offsets[phase + 1] : 0) - offsets[phase];
        if constexpr (nearby && !careful) {
#pragma clang loop unroll(full)
          for (int i = 0; i < count * vectors; i += atOnce)
            V::template accumulateNear<atOnce>(&held[0][0] + i, &sums[g][phase][0][0] + i,
                                               &sums[g + 1][phase][0][0] + i, &larger[g / 2][0][0] + i, places, least);
        } else {
          for (int r = 0; r < count; ++r)
            for (int v = 0; v < vectors; ++v) {
              U here{};
              held[r][v] = V::template accumulate<wide>(held[r][v], sums[g][phase][r][v], sums[g + 1][phase][r][v],
                                                        larger[g / 2][r][v], careful ? here : most[r][v], places);
              if constexpr (wide && careful)
                held[r][v] = V::withDefect(held[r][v], here);
            }
        }
      }
    }
    if (!wide && phases > 1)
      scale(-offsets[phases - 1]);
    if constexpr (nearby && !careful) {
      if (V::hasDefect(least))
        return false;
    } else if constexpr (wide && !careful) {
      I found{};
      for (int r = 0; r < count; ++r)
        for (int v = 0; v < vectors; ++v)
          found |= most[r][v] == ~0u;
      if (__builtin_reduce_or(found))
        return false;
    }
    for (int r = 0; r < count; ++r)
      for (int v = 0; v < vectors; ++v)
        __builtin_memcpy(dst + r * stride + v * lanes, &held[r][v], sizeof(I));
    return true;
  }
  const Left left;
  const Right right;
  alignas(64) int16_t tops[groups][count][blocks * columns];
  F sums[groups][phases][count][vectors];
  I starts[groups][count][vectors]; // of the first phase
  bool areFar;
};

template <int64_t lanes, int64_t count, int blocks, int phases, bool wide>
void multiply(const Left &left, const Right &right, int32_t *dst, int64_t stride) {
  Tile<lanes, count, blocks, phases, wide>::multiply(left, right, dst, stride);
}

/// Two blocks have the exponents of 32 columns, which vectors of 512 bits hold.
template <int64_t lanes, int phases, bool wide> constexpr void fill(Functions &to) {
  to.two[phases - 1][wide] = lanes == columns ? multiply<lanes, rows, 2, phases, wide> : nullptr;
  to.many[phases - 1][wide] = multiply<lanes, rows, 1, phases, wide>;
  to.one[phases - 1][wide] = multiply<lanes, 1, 1, phases, wide>;
}
template <int64_t lanes, int phases> constexpr void fill(Functions &to) {
  fill<lanes, phases, false>(to);
  fill<lanes, phases, true>(to);
}
template <int64_t lanes> constexpr Functions functionsOf() {
  Functions made{};
  fill<lanes, 1>(made);
  fill<lanes, 2>(made);
  fill<lanes, 3>(made);
  fill<lanes, 4>(made);
  return made;
}

} // namespace
} // namespace tt::ttnn::exact::tiles
