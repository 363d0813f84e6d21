//===- matrix.cpp - products of the chip's matrix unit --------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/exact/matrix.h"
#include "kernels/exact/lanes.h"

#include "tt/parallel.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tt::ttnn::exact {
namespace {

using Parts = MatrixProduct::Parts;
constexpr int64_t columns = MatrixProduct::columns, tile = MatrixProduct::tile;
constexpr int64_t group = 8; // products that share an exponent

using S = int16_t __attribute__((vector_size(columns * 2)));
using HalfS = int16_t __attribute__((vector_size(lanes * 2)));

F splat(float value) { return value - F{}; } // less nothing: a sum with +0 would have to be computed

// Sums of exponent fields (a product's is that less 127) for which nothing underflows or overflows on the way: the unit
// of the sum is a normal f32, the destination's last place a normal exponent.
constexpr int32_t leastSum = 164, mostSum = 330, mostField = 246, mostDestination = 240;
constexpr int16_t zeroExponent = -4096;
constexpr int16_t offsets[4] = {0, 5, 7, 12}; // of the exponents of a phase

/// Ties of a product are rounded away from zero and those of f32 to even: the left parts are larger by this, too little
/// to reach a tie from below (a product of parts has 12 bits).
constexpr float awayFromZero = 1.0f + 0x1p-13f;

/// 2^(field - 127)
float power(uint32_t field) { return std::bit_cast<float>(field << 23); }

struct Split {
  float high, low;
  int16_t exponent;
};
/// SrcA has the right operand: digits 10..6, then 5..1.
Split splitRight(uint32_t bits) {
  const uint32_t field = bits >> 23 & 255, digits = 1024 | (bits >> 13 & 1023);
  if (!field)
    return {0, 0, zeroExponent};
  const float unit = std::copysign(power(std::min(field, 254u)), std::bit_cast<float>(bits));
  return {unit * static_cast<float>(digits >> 6), unit * static_cast<float>(digits >> 1 & 31),
          static_cast<int16_t>(field)};
}
/// SrcB has the left one: digits 10..4, then 3..0 in the place of the high ones.
Split splitLeft(uint32_t bits) {
  const uint32_t field = bits >> 23 & 255, digits = 1024 | (bits >> 13 & 1023);
  if (!field)
    return {0, 0, zeroExponent};
  const float unit = std::copysign(power(std::min(field, 254u)), std::bit_cast<float>(bits)) * awayFromZero;
  return {unit * static_cast<float>(digits >> 4), unit * static_cast<float>((digits & 15) << 3),
          static_cast<int16_t>(field)};
}

void extend(int16_t (&range)[2], int16_t exponent) {
  if (exponent == zeroExponent)
    return;
  range[0] = std::min(range[0], exponent);
  range[1] = std::max(range[1], exponent);
}
constexpr int16_t emptyRange[2] = {INT16_MAX, zeroExponent};

/// Writes the parts of a value, and counts its exponent in.
void put(const MatrixProduct::Parts &to, int64_t place, float value, Split (*split)(uint32_t), int16_t (&range)[2]) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const Split parts = split(bits);
  to.high[place] = parts.high;
  to.low[place] = parts.low;
  to.bits[place] = bits;
  to.exponents[place] = parts.exponent;
  extend(range, parts.exponent);
}
bool isEmpty(const int16_t *range) { return range[1] == zeroExponent; }

/// Two rows by a block of columns, one tile of K.
template <int phases, bool wide>
void tileOf(const Parts &left, const Parts &right, const int64_t (&rows)[2], int64_t column, int32_t *const (&dst)[2]) {
  constexpr int vectors = columns / lanes, groups = tile / group;
  I sums[groups][phases][2][vectors], exponents[groups][2][vectors];
  for (int g = 0; g < groups; ++g)
    for (int r = 0; r < 2; ++r) {
      const int64_t a = rows[r] + g * group, b = column + g * group * columns;
      S top = S{} + static_cast<int16_t>(leastSum - 1);
      for (int i = 0; i < group; ++i) {
        S field;
        std::memcpy(&field, right.exponents + b + i * columns, sizeof field);
        top = __builtin_elementwise_max(top, field + left.exponents[a + i]);
      }
      F start[vectors], sum[phases][vectors];
      for (int v = 0; v < vectors; ++v) {
        HalfS part;
        std::memcpy(&part, reinterpret_cast<const char *>(&top) + v * sizeof part, sizeof part);
        const I largest = __builtin_convertvector(part, I);
        // 1.5 * 2^23 units of the products' sum
        start[v] = as<F>(((largest - 104) << 23) | 0x400000);
        exponents[g][r][v] = (largest - 127) & (largest >= leastSum);
        for (int p = 0; p < phases; ++p)
          sum[p][v] = start[v];
      }
      for (int i = 0; i < group; ++i)
        for (int v = 0; v < vectors; ++v) {
          F high, low;
          std::memcpy(&high, right.high + b + i * columns + v * lanes, sizeof high);
          sum[0][v] = __builtin_elementwise_fma(splat(left.high[a + i]), high, sum[0][v]);
          if constexpr (phases > 1) {
            std::memcpy(&low, right.low + b + i * columns + v * lanes, sizeof low);
            sum[1][v] = __builtin_elementwise_fma(splat(left.high[a + i]), low, sum[1][v]);
          }
          if constexpr (phases > 2)
            sum[2][v] = __builtin_elementwise_fma(splat(left.low[a + i]), high, sum[2][v]);
          if constexpr (phases > 3)
            sum[3][v] = __builtin_elementwise_fma(splat(left.low[a + i]), low, sum[3][v]);
        }
      for (int p = 0; p < phases; ++p)
        for (int v = 0; v < vectors; ++v)
          sums[g][p][r][v] = as<I>(sum[p][v]) - as<I>(start[v]);
    }
  I held[2][vectors];
  for (int r = 0; r < 2; ++r)
    std::memcpy(held[r], dst[r], sizeof held[r]);
  for (int p = 0; p < phases; ++p)
    for (int g = 0; g < groups; g += 2)
      for (int r = 0; r < 2; ++r)
        for (int v = 0; v < vectors; ++v)
          held[r][v] = accumulate<wide>(held[r][v], sums[g][p][r][v], exponents[g][r][v] - offsets[p],
                                        sums[g + 1][p][r][v], exponents[g + 1][r][v] - offsets[p]);
  for (int r = 0; r < 2; ++r)
    std::memcpy(dst[r], held[r], sizeof held[r]);
}

bool anyIsLarge(const int32_t *dst) {
  uint32_t found = 0;
  for (int64_t c = 0; c < columns; ++c)
    found |= (static_cast<uint32_t>(dst[c]) << 1 >> 24) > mostDestination;
  return found;
}

using TileFunction = void (*)(const Parts &, const Parts &, const int64_t (&)[2], int64_t, int32_t *const (&)[2]);

template <int phases> TileFunction tileFunction(Destination width) {
  return width == Destination::Bits32 ? tileOf<phases, true> : tileOf<phases, false>;
}
TileFunction tileFunction(const Compute &compute) {
  switch (compute.phases) {
  case 1:
    return tileFunction<1>(compute.width);
  case 2:
    return tileFunction<2>(compute.width);
  case 3:
    return tileFunction<3>(compute.width);
  default:
    return tileFunction<4>(compute.width);
  }
}

int64_t roundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

} // namespace

MatrixProduct::MatrixProduct(int64_t m, int64_t n, int64_t k, const Compute &compute, int64_t blockTiles, bool biased,
                             Store<float> spill)
    : m(m), n(n), k(k), kTiles((k + tile - 1) / tile),
      blockTiles(blockTiles > 0 ? blockTiles : std::max<int64_t>(1, kTiles)), compute(compute), biased(biased),
      spill(spill) {
  constexpr int64_t panelElements = int64_t(1) << 21;
  const int64_t depth = std::max<int64_t>(1, kTiles) * tile;
  panelRows = std::clamp(panelElements / depth / 32 * 32, int64_t(32), roundUp(std::max<int64_t>(m, 1), 32));
  panelColumns = std::min(std::max(2 * panelElements / depth / columns * columns, 4 * columns),
                          roundUp(std::max<int64_t>(n, 1), columns));
  leftAt = place(panelRows * depth, panelRows * kTiles);
  rightAt = place(panelColumns * depth, panelColumns / columns * kTiles);
  const auto values = static_cast<size_t>(panelRows * panelColumns) * sizeof(int32_t);
  dstAt = layout.take(values);
  if (compute.accumulatesInL1 && this->blockTiles < kTiles)
    partialsAt = layout.take(values);
}

MatrixProduct::Place MatrixProduct::place(int64_t elements, int64_t ranges) {
  const auto count = static_cast<size_t>(elements);
  return {layout.take(count * sizeof(float)), layout.take(count * sizeof(float)), layout.take(count * sizeof(uint32_t)),
          layout.take(count * sizeof(int16_t)), layout.take(static_cast<size_t>(ranges) * 2 * sizeof(int16_t))};
}

MatrixProduct::Parts MatrixProduct::at(std::byte *scratch, const Place &place) const {
  return {reinterpret_cast<float *>(scratch + place.high), reinterpret_cast<float *>(scratch + place.low),
          reinterpret_cast<uint32_t *>(scratch + place.bits), reinterpret_cast<int16_t *>(scratch + place.exponents),
          reinterpret_cast<int16_t *>(scratch + place.ranges)};
}

void MatrixProduct::packLeft(const Io &io, int64_t row, int64_t rows, const Parts &to) const {
  const int64_t depth = kTiles * tile;
  parallelFor(roundUp(rows, 2), 1 + 16384 / std::max<int64_t>(1, depth), [&](int64_t begin, int64_t end) {
    std::vector<float> values(static_cast<size_t>(depth), 0.0f);
    for (int64_t r = begin; r < end; ++r) {
      if (r < rows)
        io.left(row + r, values.data());
      else
        std::ranges::fill(values, 0.0f);
      for (int64_t t = 0; t < kTiles; ++t) {
        int16_t range[2] = {emptyRange[0], emptyRange[1]};
        for (int64_t i = t * tile; i < (t + 1) * tile; ++i)
          put(to, r * depth + i, values[static_cast<size_t>(i)], splitLeft, range);
        std::copy_n(range, 2, to.ranges + (r * kTiles + t) * 2);
      }
    }
  });
}

void MatrixProduct::packRight(const Io &io, int64_t column, int64_t count, const Parts &to) const {
  const int64_t depth = kTiles * tile;
  parallelFor(roundUp(count, columns) / columns, 1, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const int64_t first = block * columns, width = std::min(columns, count - first);
      float values[columns] = {};
      for (int64_t t = 0; t < kTiles; ++t) {
        int16_t range[2] = {emptyRange[0], emptyRange[1]};
        for (int64_t i = t * tile; i < (t + 1) * tile; ++i) {
          if (i < k)
            io.right(i, column + first, width, values);
          else
            std::fill_n(values, columns, 0.0f);
          for (int64_t c = 0; c < columns; ++c)
            put(to, (block * depth + i) * columns + c, values[c], splitRight, range);
        }
        std::copy_n(range, 2, to.ranges + (block * kTiles + t) * 2);
      }
    }
  });
}

/// Adds tiles [from, to) of K to the destination.
void MatrixProduct::multiply(const Parts &left, const Parts &right, int64_t rows, int64_t blocks, int64_t from,
                             int64_t to, int32_t *dst) const {
  constexpr int64_t rowsAtOnce = 32;
  const int64_t depth = kTiles * tile, rowBlocks = (rows + rowsAtOnce - 1) / rowsAtOnce;
  const TileFunction function = tileFunction(compute);
  const auto slowly = [&](int64_t row, int64_t block, int64_t t) {
    uint32_t other[tile];
    int32_t *const at = dst + row * panelColumns + block * columns;
    for (int64_t c = 0; c < columns; ++c) {
      for (int64_t i = 0; i < tile; ++i)
        other[i] = right.bits[(block * depth + t * tile + i) * columns + c];
      at[c] = static_cast<int32_t>(sim::exact::dot(other, left.bits + row * depth + t * tile, tile,
                                                   static_cast<uint32_t>(at[c]), compute.phases, compute.width));
    }
  };
  const auto fits = [&](const int16_t *a, const int16_t *b) {
    return isEmpty(a) || isEmpty(b) ||
           (a[0] + b[0] >= leastSum && a[1] + b[1] <= mostSum && std::max(a[1], b[1]) <= mostField);
  };
  parallelFor(rowBlocks * blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t index = begin; index < end; ++index) {
      const int64_t first = index / blocks * rowsAtOnce, block = index % blocks;
      for (int64_t t = from; t < to; ++t) {
        const int16_t *const range = right.ranges + (block * kTiles + t) * 2;
        if (isEmpty(range))
          continue; // nothing is added
        for (int64_t row = first; row < std::min(first + rowsAtOnce, rows); row += 2) {
          const int16_t *const own = left.ranges + (row * kTiles + t) * 2, *const next = own + kTiles * 2;
          if (isEmpty(own) && isEmpty(next))
            continue;
          int32_t *const at[2] = {dst + row * panelColumns + block * columns,
                                  dst + (row + 1) * panelColumns + block * columns};
          if (fits(own, range) && fits(next, range) && !anyIsLarge(at[0]) && !anyIsLarge(at[1])) {
            const int64_t places[2] = {row * depth + t * tile, (row + 1) * depth + t * tile};
            function(left, right, places, (block * depth + t * tile) * columns, at);
          } else {
            slowly(row, block, t);
            slowly(row + 1, block, t);
          }
        }
      }
    }
  });
}

/// Blocks of K one after another, with what lies between them (bmm_large_block_zm_fused_bias_activation.cpp): partial
/// sums go to L1 and come back, or are added there by the packer.
void MatrixProduct::panel(const Io &io, const Parts &left, const Parts &right, int64_t row, int64_t rows,
                          int64_t column, int64_t count, int32_t *dst, int32_t *partials) const {
  const int64_t blocks = roundUp(count, columns) / columns, even = roundUp(rows, 2);
  const int64_t parts = std::max<int64_t>(1, (kTiles + blockTiles - 1) / blockTiles), values = even * panelColumns;
  const bool inL1 = compute.accumulatesInL1 && parts > 1;
  const auto forAll = [&](auto f) {
    parallelFor(values, 16384, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        f(i);
    });
  };
  const auto packed = [&](int32_t value) {
    const auto bits = static_cast<uint32_t>(value);
    return static_cast<int32_t>(compute.width == Destination::Bits32 ? bits
                                                                     : uint32_t(sim::exact::packToBf16(bits)) << 16);
  };
  // Values that share an exponent lie side by side.
  const auto spillBlocks = [&] {
    parallelFor(values / columns, 1024, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        uint16_t held[columns];
        spill(reinterpret_cast<const float *>(dst + i * columns), reinterpret_cast<std::byte *>(held), columns);
        for (int64_t c = 0; c < columns; ++c)
          dst[i * columns + c] = static_cast<int32_t>(uint32_t(held[c]) << 16);
      }
    });
  };
  std::fill_n(dst, values, 0);
  for (int64_t part = 0; part < parts; ++part) {
    const bool last = part + 1 == parts;
    if (inL1 && part > 0) {
      if (last && !biased)
        std::copy_n(partials, values, dst); // reloaded, and the last block is added in the destination
      else
        std::fill_n(dst, values, 0);
    }
    multiply(left, right, even, blocks, part * blockTiles, std::min((part + 1) * blockTiles, kTiles), dst);
    if (!inL1) {
      if (!last && spill)
        spillBlocks();
      else if (!last)
        forAll([&](int64_t i) { dst[i] = packed(dst[i]); });
    } else if (part == 0) {
      forAll([&](int64_t i) { partials[i] = packed(dst[i]); });
    } else if (!last || biased) {
      forAll([&](int64_t i) {
        partials[i] = static_cast<int32_t>(sim::exact::addInL1(static_cast<uint32_t>(partials[i]),
                                                               static_cast<uint32_t>(packed(dst[i])), compute.width));
      });
      if (last)
        std::copy_n(partials, values, dst);
    }
  }
  parallelFor(rows, 1 + 16384 / std::max<int64_t>(1, count), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r)
      io.finish(row + r, column, count, reinterpret_cast<float *>(dst + r * panelColumns));
  });
}

Store<float> partialsPacker(const ttmlir::plan::Blocks &blocks, DataType result, const Compute &compute) {
  const bool isSpilled = blocks.count > 1 && !compute.accumulatesInL1 && !compute.wide();
  return isSpilled && sim::isBlockFormat(result) ? packer(result, compute.width) : nullptr;
}

void MatrixProduct::run(const Io &io, std::byte *scratch) const {
  const Parts left = at(scratch, leftAt), right = at(scratch, rightAt);
  auto *dst = reinterpret_cast<int32_t *>(scratch + dstAt);
  auto *partials = reinterpret_cast<int32_t *>(scratch + partialsAt);
  for (int64_t column = 0; column < n; column += panelColumns) {
    const int64_t count = std::min(panelColumns, n - column);
    packRight(io, column, count, right);
    for (int64_t row = 0; row < m; row += panelRows) {
      const int64_t rows = std::min(panelRows, m - row);
      if (column == 0 || m > panelRows)
        packLeft(io, row, rows, left);
      panel(io, left, right, row, rows, column, count, dst, partials);
    }
  }
}

} // namespace tt::ttnn::exact
