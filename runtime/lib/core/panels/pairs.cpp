//===- pairs.cpp - panels of AVX512_BF16 -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Needs AVX512_BF16, whose products take pairs of bf16 values of k directly from
// the matrix unit's panels. Sums in f32.
//
//===----------------------------------------------------------------------===//

#include "core/panels/dots.h"

#if defined(__x86_64__)

namespace tt::ttnn::panels::pairs {
namespace {

constexpr int64_t mostRows = 12;

/// `rows` rows from `first` on by a panel of 32 columns. For few rows, every `ways`th pair of k has separate sums, so
/// that no product waits for the previous one.
template <int rows, int vectors> void multiplyRows(const Block &block, int64_t first, int64_t part, int64_t parts) {
  constexpr int ways = rows * vectors >= 6 ? 1 : rows * vectors >= 3 ? 2 : 4;
  float *c = block.c + first * width(Unit::BF16);
  __m512 sum[ways][rows][vectors] = {};
  if (block.accumulate)
    for (int r = 0; r < rows; ++r)
      for (int v = 0; v < vectors; ++v)
        sum[0][r][v] = _mm512_load_ps(c + r * width(Unit::BF16) + v * 16);
  // Every third row has a pointer, from which the next two are reached: all pointers stay in registers.
  const int64_t steps = block.k / 32, row = block.where.row;
  const char *a[(rows + 2) / 3];
  for (int r = 0; r < rows; r += 3)
    a[r / 3] = reinterpret_cast<const char *>(block.a) + (first + r) * row;
  const auto *right = reinterpret_cast<const char *>(block.panel);
  Ahead<_MM_HINT_T1> ahead(block, steps, part, parts);
  for (int64_t i = 0; i < steps; ++i, right += 2048) {
    ahead.step();
#pragma clang loop unroll(full)
    for (int pair = 0; pair < 16; ++pair) {
      __m512bh columns[vectors];
      for (int v = 0; v < vectors; ++v)
        columns[v] = reinterpret_cast<__m512bh>(_mm512_load_si512(right + v * 1024 + pair * 64));
      for (int r = 0; r < rows; ++r) {
        int32_t values;
        __builtin_memcpy(&values, a[r / 3] + r % 3 * row + pair * 4, sizeof(values));
        const auto both = reinterpret_cast<__m512bh>(_mm512_set1_epi32(values));
        for (int v = 0; v < vectors; ++v)
          sum[pair % ways][r][v] = _mm512_dpbf16_ps(sum[pair % ways][r][v], both, columns[v]);
      }
    }
    for (const char *&pointer : a)
      pointer += 64;
  }
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v) {
      for (int way = 1; way < ways; ++way)
        sum[0][r][v] = _mm512_add_ps(sum[0][r][v], sum[way][r][v]);
      _mm512_store_ps(c + r * width(Unit::BF16) + v * 16, sum[0][r][v]);
    }
}

using Multiply = void (*)(const Block &, int64_t first, int64_t part, int64_t parts);
template <int vectors>
constexpr Multiply byRows[mostRows] = {multiplyRows<1, vectors>,  multiplyRows<2, vectors>,  multiplyRows<3, vectors>,
                                       multiplyRows<4, vectors>,  multiplyRows<5, vectors>,  multiplyRows<6, vectors>,
                                       multiplyRows<7, vectors>,  multiplyRows<8, vectors>,  multiplyRows<9, vectors>,
                                       multiplyRows<10, vectors>, multiplyRows<11, vectors>, multiplyRows<12, vectors>};

template <int vectors> void multiply(const Block &block) {
  // In equal parts: few rows cannot keep the unit busy.
  const int64_t parts = (block.rows + mostRows - 1) / mostRows, most = (block.rows + parts - 1) / parts;
  for (int64_t first = 0, part = 0; first < block.rows; first += most, ++part)
    byRows<vectors>[(block.rows - first < most ? block.rows - first : most) - 1](block, first, part, parts);
}

struct Pairs {
  using Sum = __m512;
  using Left = __m512bh;
  using Right = __m512bh;
  static constexpr int64_t step = 32, leftBytes = 64, rightBytes = 64;

  static Sum zero() { return _mm512_setzero_ps(); }
  static Left loadLeft(const std::byte *from) { return reinterpret_cast<__m512bh>(_mm512_loadu_si512(from)); }
  static Left loadLeft(const std::byte *from, int64_t count) {
    return reinterpret_cast<__m512bh>(_mm512_maskz_loadu_epi16((__mmask32(1) << count) - 1, from));
  }
  static Right loadRight(const std::byte *from) { return loadLeft(from); }
  static Right loadRight(const std::byte *from, int64_t count) { return loadLeft(from, count); }
  static Sum add(Sum sum, Left left, Right right) { return _mm512_dpbf16_ps(sum, left, right); }
  static __m128 sums(Sum s, Sum t, Sum u, Sum v) { return sumsOfFour(s, t, u, v); }
};

/// Right: a step of a block format, whose values bf16 holds.
struct PairsOfBlocks {
  using Sum = Pairs::Sum;
  using Left = Pairs::Left;
  using Right = Pairs::Right;
  static constexpr int64_t step = Pairs::step, leftBytes = Pairs::leftBytes, rightBytes = blockStepBytes;
  static_assert(step == blockStep);

  static Sum zero() { return Pairs::zero(); }
  static Left loadLeft(const std::byte *from) { return Pairs::loadLeft(from); }
  static Right loadRight(const std::byte *from) {
    const auto [first, second] = blockValues(from);
    return _mm512_cvtne2ps_pbh(second, first);
  }
  static Sum add(Sum sum, Left left, Right right) { return Pairs::add(sum, left, right); }
  static __m128 sums(Sum s, Sum t, Sum u, Sum v) { return Pairs::sums(s, t, u, v); }
};

/// The sums of bf16 values, which may pass through a relu, rounded to nearest, ties to even. NaN stays NaN.
[[gnu::always_inline]] inline __m512i sumOf(__m512i a, __m512i b, bool withRelu) {
  // The even and the odd values need no shuffles.
  const __m512i odd = _mm512_set1_epi32(static_cast<int>(0xffff0000));
  __m512 x =
      _mm512_add_ps(_mm512_castsi512_ps(_mm512_slli_epi32(a, 16)), _mm512_castsi512_ps(_mm512_slli_epi32(b, 16)));
  __m512 y =
      _mm512_add_ps(_mm512_castsi512_ps(_mm512_and_si512(a, odd)), _mm512_castsi512_ps(_mm512_and_si512(b, odd)));
  if (withRelu) {
    x = relu(x);
    y = relu(y);
  }
  const auto rounded = [](__m512 value) __attribute__((always_inline)) {
    const __m512i bits = _mm512_castps_si512(value), up = _mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff));
    const __mmask16 isOdd = _mm512_test_epi32_mask(bits, _mm512_set1_epi32(0x10000));
    return _mm512_mask_add_epi32(up, isOdd, up, _mm512_set1_epi32(1));
  };
  __m512i low = rounded(x), high = rounded(y);
  if (_mm512_cmp_ps_mask(x, y, _CMP_UNORD_Q)) {
    const __m512i quiet = _mm512_set1_epi32(0x400000);
    low = _mm512_mask_or_epi32(low, _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), _mm512_castps_si512(x), quiet);
    high = _mm512_mask_or_epi32(high, _mm512_cmp_ps_mask(y, y, _CMP_UNORD_Q), _mm512_castps_si512(y), quiet);
  }
  return _mm512_or_si512(_mm512_srli_epi32(low, 16), _mm512_and_si512(high, odd));
}

template <bool biased, bool withRelu, bool relu6 = false, bool adding = false>
void storeRows(const float *c, const Finish &finish, int64_t rows, int64_t columns, std::byte *to, int64_t rowBytes) {
  const __m512 left = biased ? _mm512_load_ps(finish.bias) : _mm512_setzero_ps();
  const __m512 right = biased ? _mm512_load_ps(finish.bias + 16) : _mm512_setzero_ps();
  const __mmask32 mask = columns < 32 ? (__mmask32(1) << columns) - 1 : ~__mmask32(0);
  const int64_t ahead = rowsToFetch(rows) * rowBytes;
  const std::byte *added = finish.added;
  for (int64_t i = 0; i < rows; ++i, c += width(Unit::BF16), to += rowBytes) {
    __m512 x = _mm512_load_ps(c), y = _mm512_load_ps(c + 16);
    __builtin_prefetch(to + ahead, 1, 3);
    if constexpr (biased) {
      x = _mm512_add_ps(x, left);
      y = _mm512_add_ps(y, right);
    }
    if constexpr (withRelu) {
      x = relu(x);
      y = relu(y);
    }
    if constexpr (relu6) {
      x = _mm512_min_ps(_mm512_set1_ps(6), x);
      y = _mm512_min_ps(_mm512_set1_ps(6), y);
    }
    auto values = reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(y, x));
    if constexpr (adding) { // as elementwise ops add and round: subnormals stay
      const __m512i others = _mm512_maskz_loadu_epi16(mask, added);
      _mm_prefetch(added + ahead, _MM_HINT_T0);
      added += rowBytes;
      values = sumOf(values, others, finish.reluOfSum);
    }
    _mm512_mask_storeu_epi16(to, mask, values);
  }
}

template <bool adding> constexpr auto storeOf(const Finish &finish) {
  return finish.relu6  ? (finish.bias ? storeRows<true, true, true, adding> : storeRows<false, true, true, adding>)
         : finish.bias ? (finish.relu ? storeRows<true, true, false, adding> : storeRows<true, false, false, adding>)
                       : (finish.relu ? storeRows<false, true, false, adding> : storeRows<false, false, false, adding>);
}

} // namespace

void storeBf16(const float *c, const Finish &finish, int64_t rows, int64_t columns, std::byte *to, int64_t rowBytes) {
  (finish.added ? storeOf<true>(finish) : storeOf<false>(finish))(c, finish, rows, columns, to, rowBytes);
}
void dotBf16(const Dots &work) { work.blocks ? dotAll<PairsOfBlocks>(work) : dotAll<Pairs>(work); }
void multiplyBf16(const Block &block) { block.columns > 16 ? multiply<2>(block) : multiply<1>(block); }

} // namespace tt::ttnn::panels::pairs

#endif
