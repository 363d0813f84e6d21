//===- matrix.cpp - products of the chip's matrix unit --------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/exact/matrix.h"
#include "kernels/exact/lanes.h"

#include "tt/parallel.h"
#include "tt/units.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace tt::ttnn::exact {
namespace {

constexpr int64_t columns = MatrixProduct::columns;
using tiles::zeroExponent;

// Exponent fields for which tiles.h has functions: the largest of an operand, and of the destination.
constexpr int32_t mostField = 246, mostDestination = 240;

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
  return {unit * 0x1p-4f * static_cast<float>(digits >> 6), unit * 0x1p-9f * static_cast<float>(digits >> 1 & 31),
          static_cast<int16_t>(field)};
}
/// SrcB has the left one: digits 10..4, then 3..0.
Split splitLeft(uint32_t bits) {
  const uint32_t field = bits >> 23 & 255, digits = 1024 | (bits >> 13 & 1023);
  if (!field)
    return {0, 0, zeroExponent};
  const float unit = std::copysign(power(std::min(field, 254u)), std::bit_cast<float>(bits)) * tiles::awayFromZero;
  return {unit * 0x1p-6f * static_cast<float>(digits >> 4), unit * 0x1p-10f * static_cast<float>(digits & 15),
          static_cast<int16_t>(field)};
}

void extend(int16_t (&range)[2], int16_t exponent) {
  if (exponent == zeroExponent)
    return;
  range[0] = std::min(range[0], exponent);
  range[1] = std::max(range[1], exponent);
}
constexpr int16_t emptyRange[2] = {INT16_MAX, zeroExponent};

void setExponent(int16_t *to, int16_t exponent) { *to = exponent; }
void setExponent(int32_t *to, int16_t exponent) {
  *to = static_cast<int32_t>(uint32_t(static_cast<uint16_t>(exponent)) * 0x10001u);
}

/// Writes the parts of a value, and counts its exponent in.
template <class Parts>
void put(const Parts &to, int64_t place, float value, Split (*split)(uint32_t), int16_t (&range)[2]) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const Split parts = split(bits);
  to.high[place] = parts.high;
  to.low[place] = parts.low;
  to.bits[place] = bits;
  setExponent(to.exponents + place, parts.exponent);
  extend(range, parts.exponent);
}
bool isEmpty(const int16_t *range) { return range[1] == zeroExponent; }

bool anyIsLarge(const int32_t *dst) {
  uint32_t found = 0;
  for (int64_t c = 0; c < columns; ++c)
    found |= (static_cast<uint32_t>(dst[c]) << 1 >> 24) > mostDestination;
  return found;
}

const tiles::Functions *functionsOfUnit() {
#if defined(__x86_64__)
  return units() >= Units::AVX512 ? &tiles::vectors512::functions
         : units() >= Units::AVX2 ? &tiles::vectors256::functions
                                  : nullptr;
#else
  return &tiles::vectors256::functions;
#endif
}

constexpr int64_t rowUnit = 4; // rows are padded to as many, which the functions of every unit divide
int64_t roundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

} // namespace

MatrixProduct::MatrixProduct(int64_t m, int64_t n, int64_t k, const Compute &compute, int64_t blockTiles, bool biased,
                             Store<float> spill)
    : functions(functionsOfUnit()), m(m), n(n), k(k), kTiles((k + tile - 1) / tile),
      blockTiles(blockTiles > 0 ? blockTiles : std::max<int64_t>(1, kTiles)), compute(compute), biased(biased),
      spill(spill) {
  constexpr int64_t panelElements = int64_t(1) << 21;
  const int64_t depth = std::max<int64_t>(1, kTiles) * tile;
  panelRows = std::clamp(panelElements / depth / 32 * 32, int64_t(32), roundUp(std::max<int64_t>(m, 1), 32));
  panelColumns = std::min(std::max(2 * panelElements / depth / columns * columns, 4 * columns),
                          roundUp(std::max<int64_t>(n, 1), columns));
  leftAt = place(panelRows * depth, panelRows * kTiles, sizeof(int32_t));
  rightAt = place(panelColumns * depth, panelColumns / columns * kTiles, sizeof(int16_t));
  const auto values = static_cast<size_t>(panelRows * panelColumns) * sizeof(int32_t);
  dstAt = layout.take(values);
  if (compute.accumulatesInL1 && this->blockTiles < kTiles)
    partialsAt = layout.take(values);
}

MatrixProduct::Place MatrixProduct::place(int64_t elements, int64_t ranges, size_t exponentBytes) {
  const auto count = static_cast<size_t>(elements);
  return {layout.take(count * sizeof(float)), layout.take(count * sizeof(float)), layout.take(count * sizeof(uint32_t)),
          layout.take(count * exponentBytes), layout.take(static_cast<size_t>(ranges) * 2 * sizeof(int16_t))};
}

template <class Exponent> MatrixProduct::Parts<Exponent> MatrixProduct::at(std::byte *scratch, const Place &place) {
  return {reinterpret_cast<float *>(scratch + place.high), reinterpret_cast<float *>(scratch + place.low),
          reinterpret_cast<uint32_t *>(scratch + place.bits), reinterpret_cast<Exponent *>(scratch + place.exponents),
          reinterpret_cast<int16_t *>(scratch + place.ranges)};
}

void MatrixProduct::packLeft(const Io &io, int64_t row, int64_t rows, const LeftParts &to) const {
  const int64_t depth = kTiles * tile;
  parallelFor(roundUp(rows, rowUnit), 1 + 16384 / std::max<int64_t>(1, depth), [&](int64_t begin, int64_t end) {
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

void MatrixProduct::packRight(const Io &io, int64_t column, int64_t count, const RightParts &to) const {
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
void MatrixProduct::multiply(const LeftParts &left, const RightParts &right, int64_t rows, int64_t blocks, int64_t from,
                             int64_t to, int32_t *dst) const {
  constexpr int64_t rowsAtOnce = 32;
  const int64_t depth = kTiles * tile, rowBlocks = (rows + rowsAtOnce - 1) / rowsAtOnce;
  const int64_t together = functions ? functions->rows : 1;
  const bool wide = compute.wide();
  const tiles::Left leftTiles{left.high, left.low, left.exponents};
  const tiles::Right rightTiles{right.high, right.low, right.exponents};
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
  const auto fits = [&](const int16_t *a, const int16_t *b, const int32_t *at) {
    return functions && !anyIsLarge(at) &&
           (isEmpty(a) || isEmpty(b) ||
            (a[0] + b[0] >= tiles::leastSum && a[1] + b[1] <= tiles::mostSum && std::max(a[1], b[1]) <= mostField));
  };
  parallelFor(rowBlocks * blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t index = begin; index < end; ++index) {
      const int64_t first = index / blocks * rowsAtOnce, block = index % blocks;
      for (int64_t t = from; t < to; ++t) {
        const int16_t *const range = right.ranges + (block * kTiles + t) * 2;
        if (isEmpty(range))
          continue; // nothing is added
        const int64_t column = (block * depth + t * tile) * columns;
        for (int64_t row = first; row < std::min(first + rowsAtOnce, rows); row += together) {
          int64_t places[rowUnit];
          int32_t *at[rowUnit];
          int64_t empty = 0, fitting = 0;
          bool fast[rowUnit];
          for (int64_t r = 0; r < together; ++r) {
            const int16_t *const own = left.ranges + ((row + r) * kTiles + t) * 2;
            places[r] = (row + r) * depth + t * tile;
            at[r] = dst + (row + r) * panelColumns + block * columns;
            empty += isEmpty(own);
            fitting += fast[r] = fits(own, range, at[r]);
          }
          if (empty == together)
            continue;
          if (fitting == together) {
            functions->many[compute.phases - 1][wide](leftTiles, rightTiles, places, column, at);
            continue;
          }
          for (int64_t r = 0; r < together; ++r)
            if (fast[r])
              functions->one[compute.phases - 1][wide](leftTiles, rightTiles, places + r, column, at + r);
            else
              slowly(row + r, block, t);
        }
      }
    }
  });
}

/// Blocks of K one after another, with what lies between them (bmm_large_block_zm_fused_bias_activation.cpp): partial
/// sums go to L1 and come back, or are added there by the packer.
void MatrixProduct::panel(const Io &io, const LeftParts &left, const RightParts &right, int64_t row, int64_t rows,
                          int64_t column, int64_t count, int32_t *dst, int32_t *partials) const {
  const int64_t blocks = roundUp(count, columns) / columns, padded = roundUp(rows, rowUnit);
  const int64_t parts = std::max<int64_t>(1, (kTiles + blockTiles - 1) / blockTiles), values = padded * panelColumns;
  const bool inL1 = compute.accumulatesInL1 && parts > 1;
  const auto forAll = [&](auto f) {
    parallelFor(values / lanes, 2048, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin * lanes; i < end * lanes; i += lanes)
        f(i);
    });
  };
  const auto at = [](const int32_t *from) {
    I value;
    std::memcpy(&value, from, sizeof value);
    return value;
  };
  const auto packed = [&](int64_t i) {
    const I value = at(dst + i);
    return compute.wide() ? value : roundedToBf16(Lanes(value)).bits;
  };
  const auto store = [](I value, int32_t *to) { std::memcpy(to, &value, sizeof value); };
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
  if (io.begin)
    for (int64_t r = 0; r < rows; ++r)
      io.begin(row + r, column, count, reinterpret_cast<float *>(dst + r * panelColumns));
  for (int64_t part = 0; part < parts; ++part) {
    const bool last = part + 1 == parts;
    if (inL1 && part > 0) {
      if (last && !biased)
        std::copy_n(partials, values, dst); // reloaded, and the last block is added in the destination
      else
        std::fill_n(dst, values, 0);
    }
    multiply(left, right, padded, blocks, part * blockTiles, std::min((part + 1) * blockTiles, kTiles), dst);
    if (!inL1) {
      if (!last && spill)
        spillBlocks();
      else if (!last)
        forAll([&](int64_t i) { store(packed(i), dst + i); });
    } else if (part == 0) {
      forAll([&](int64_t i) { store(packed(i), partials + i); });
    } else if (!last || biased) {
      forAll([&](int64_t i) {
        const I old = at(partials + i), added = packed(i);
        store(compute.wide() ? addInL1<true>(old, added) : addInL1<false>(old, added), partials + i);
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
  const auto left = at<int32_t>(scratch, leftAt);
  const auto right = at<int16_t>(scratch, rightAt);
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
