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

// Exponent fields for which tiles.h has functions: the largest of an operand, and those of the destination, which is
// held times 2^12 on the way.
constexpr int32_t mostField = 246, leastDestination = 49, mostDestination = 228;

using Values = Vectors<columns>;

/// Writes the parts of 16 values, and counts their exponents in.
template <class Parts> class Splitter {
public:
  explicit Splitter(const Parts &to) : to(to) {}

  void put(const float *values, int64_t place) {
    Values::I bits;
    std::memcpy(&bits, values, sizeof bits);
    const Values::I field = (bits >> 23) & 255, there = field != 0;
    bits -= (field == 255) & (1 << 23);
    bits &= there;
    const Values::F upper = Values::as<Values::F>(bits & highDigits);
    const Values::F lower = Values::as<Values::F>(bits & digits) - upper;
    const Values::F high = upper * factor, low = lower * (factor * lowFactor);
    std::memcpy(to.high + place, &high, sizeof high);
    std::memcpy(to.low + place, &low, sizeof low);
    const Values::I exponents = (field & there) | (int32_t(zeroExponent) & ~there);
    if constexpr (isLeft) {
      const Values::I two = (exponents << 16) | (exponents & 0xffff);
      std::memcpy(to.exponents + place, &two, sizeof two);
    } else {
      const auto narrow = __builtin_convertvector(exponents, tiles::Exponents);
      std::memcpy(to.exponents + place, &narrow, sizeof narrow);
    }
    least = __builtin_elementwise_min(least, (field & there) | (INT16_MAX & ~there));
    most = __builtin_elementwise_max(most, exponents);
  }
  /// Writes the range of all exponents since the last call.
  void range(int16_t *range) {
    range[0] = static_cast<int16_t>(__builtin_reduce_min(least));
    range[1] = static_cast<int16_t>(__builtin_reduce_max(most));
    least = Values::I{} + INT16_MAX, most = Values::I{} + zeroExponent;
  }

private:
  static constexpr bool isLeft = std::is_same_v<decltype(Parts::exponents), int32_t *>;
  // SrcA has the right operand: digits 10..6, then 5..1. SrcB has the left one: digits 10..4, then 3..0.
  static constexpr int32_t highDigits = static_cast<int32_t>(isLeft ? 0xfffe0000 : 0xfff80000);
  static constexpr int32_t digits = static_cast<int32_t>(isLeft ? 0xffffe000 : 0xffffc000);
  static constexpr float factor = isLeft ? tiles::awayFromZero : 1.0f, lowFactor = isLeft ? 0x1p7f : 0x1p5f;

  const Parts &to;
  Values::I least = Values::I{} + INT16_MAX, most = Values::I{} + zeroExponent;
};
bool isEmpty(const int16_t *range) { return range[1] == zeroExponent; }
/// The exponents of some rows that are multiplied together.
struct RowsRange {
  int16_t range[2];
  int64_t empty; // rows
};

/// The value of which there are parts, as far as the matrix unit reads it.
uint32_t bitsOf(float high, float low, int16_t exponent, int upperDigits, float unit) {
  if (exponent == zeroExponent)
    return 0;
  // Both are at the exponent, or at that before the largest.
  const auto bits = std::bit_cast<uint32_t>(high), scale = uint32_t(std::min<int>(exponent, 254)) << 23;
  const auto digits = static_cast<uint32_t>(std::abs(low) / std::bit_cast<float>(scale) * unit);
  const uint32_t mask = 0x7fffff & ~((1u << (23 - upperDigits)) - 1);
  return (bits & 0x80000000) | uint32_t(exponent) << 23 | (bits & mask) | (digits & ~0x1fffu);
}

/// Whether 16 values of the destination are among those of tiles.h: 0, or neither large nor small.
bool areFit(const int32_t *dst) {
  Values::U bits;
  std::memcpy(&bits, dst, sizeof bits);
  const Values::U field = (bits << 1) >> 24;
  return !__builtin_reduce_or((field - leastDestination > Values::U{} + (mostDestination - leastDestination)) &
                              (field != 0));
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

constexpr int64_t rowUnit = tiles::rows; // rows are padded to as many
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
  return {layout.take(count * sizeof(float)), layout.take(count * sizeof(float)), layout.take(count * exponentBytes),
          layout.take(static_cast<size_t>(ranges) * 2 * sizeof(int16_t))};
}

template <class Exponent> MatrixProduct::Parts<Exponent> MatrixProduct::at(std::byte *scratch, const Place &place) {
  return {reinterpret_cast<float *>(scratch + place.high), reinterpret_cast<float *>(scratch + place.low),
          reinterpret_cast<Exponent *>(scratch + place.exponents), reinterpret_cast<int16_t *>(scratch + place.ranges)};
}

void MatrixProduct::packLeft(const Io &io, int64_t row, int64_t rows, const LeftParts &to) const {
  const int64_t depth = kTiles * tile;
  parallelFor(roundUp(rows, rowUnit), 1 + 16384 / std::max<int64_t>(1, depth), [&](int64_t begin, int64_t end) {
    std::vector<float> values(static_cast<size_t>(depth), 0.0f);
    Splitter<LeftParts> splitter(to);
    for (int64_t r = begin; r < end; ++r) {
      if (r < rows)
        io.left(row + r, values.data());
      else
        std::ranges::fill(values, 0.0f);
      for (int64_t t = 0; t < kTiles; ++t) {
        const int64_t place = t * panelRows + r;
        for (int64_t i = 0; i < tile; i += columns)
          splitter.put(&values[static_cast<size_t>(t * tile + i)], place * tile + i);
        splitter.range(to.ranges + place * 2);
      }
    }
  });
}

void MatrixProduct::packRight(const Io &io, int64_t column, int64_t count, const RightParts &to) const {
  const int64_t blocks = roundUp(count, columns) / columns;
  if (io.rightColumn) {
    const int64_t stride = kTiles * tile + columns; // no power of two: columns are read at once
    parallelFor(blocks, 1, [&](int64_t begin, int64_t end) {
      Splitter<RightParts> splitter(to);
      std::vector<float> values(static_cast<size_t>(stride * columns), 0.0f);
      for (int64_t block = begin; block < end; ++block) {
        for (int64_t c = 0; c < columns; ++c)
          if (const int64_t own = block * columns + c; own < count)
            io.rightColumn(column + own, &values[static_cast<size_t>(c * stride)]);
          else
            std::fill_n(&values[static_cast<size_t>(c * stride)], k, 0.0f);
        for (int64_t i = 0; i < kTiles * tile; ++i) {
          float line[columns];
          for (int64_t c = 0; c < columns; ++c)
            line[c] = values[static_cast<size_t>(c * stride + i)];
          splitter.put(line, (block * kTiles * tile + i) * columns);
          if (i % tile == tile - 1)
            splitter.range(to.ranges + (block * kTiles + i / tile) * 2);
        }
      }
    });
    return;
  }
  const int64_t together = std::clamp<int64_t>(blocks / 4, 1, 16), stride = together * columns;
  parallelFor((blocks + together - 1) / together, 1, [&](int64_t begin, int64_t end) {
    Splitter<RightParts> splitter(to);
    std::vector<float> values(static_cast<size_t>(tile * stride));
    for (int64_t block = begin * together; block < std::min(end * together, blocks); block += together) {
      const int64_t width = std::min(stride, count - block * columns);
      std::ranges::fill(values, 0.0f);
      for (int64_t t = 0; t < kTiles; ++t) {
        for (int64_t i = 0; i < tile; ++i)
          if (t * tile + i < k)
            io.right(t * tile + i, column + block * columns, width, &values[static_cast<size_t>(i * stride)]);
          else
            std::fill_n(&values[static_cast<size_t>(i * stride)], width, 0.0f);
        for (int64_t b = 0; b < std::min(together, blocks - block); ++b) {
          const int64_t place = (block + b) * kTiles + t;
          for (int64_t i = 0; i < tile; ++i)
            splitter.put(&values[static_cast<size_t>(i * stride + b * columns)], (place * tile + i) * columns);
          splitter.range(to.ranges + place * 2);
        }
      }
    }
  });
}

/// Adds tiles [from, to) of K to the destination.
void MatrixProduct::multiply(const LeftParts &left, const RightParts &right, int64_t rows, int64_t blocks, int64_t from,
                             int64_t to, int32_t *dst) const {
  constexpr int64_t rowsAtOnce = 32;
  const int64_t depth = kTiles * tile, rowBlocks = (rows + rowsAtOnce - 1) / rowsAtOnce;
  const bool wide = compute.wide();
  const tiles::Function many = functions ? functions->many[compute.phases - 1][wide] : nullptr;
  const tiles::Function one = functions ? functions->one[compute.phases - 1][wide] : nullptr;
  const tiles::Function two = functions ? functions->two[compute.phases - 1][wide] : nullptr;
  const int64_t most = two ? 2 : 1, groups = (blocks + most - 1) / most; // of blocks of columns at a time
  const auto slowly = [&](const tiles::Left &a, const tiles::Right &b, int32_t *at) {
    uint32_t own[tile], other[tile];
    for (int64_t i = 0; i < tile; ++i)
      own[i] = bitsOf(a.high[i], a.low[i], static_cast<int16_t>(a.exponents[i]), 6, 0x1p16f);
    for (int64_t c = 0; c < columns; ++c) {
      for (int64_t i = 0, e = c; i < tile; ++i, e += columns)
        other[i] = bitsOf(b.high[e], b.low[e], b.exponents[e], 4, 0x1p18f);
      at[c] = static_cast<int32_t>(
          sim::exact::dot(other, own, tile, static_cast<uint32_t>(at[c]), compute.phases, compute.width));
    }
  };
  const auto fits = [&](bool isFit, const int16_t *a, const int16_t *b) {
    return isFit &&
           (isEmpty(a) || isEmpty(b) ||
            (a[0] + b[0] >= tiles::leastSum && a[1] + b[1] <= tiles::mostSum && std::max(a[1], b[1]) <= mostField));
  };
  const auto leftOf = [&](int64_t t, int64_t row) {
    const int64_t place = (t * panelRows + row) * tile;
    return tiles::Left{left.high + place, left.low + place, left.exponents + place};
  };
  const auto rangeOf = [&](int64_t t, int64_t row) { return left.ranges + (t * panelRows + row) * 2; };
  /// The range of the exponents of some rows together, and how many of them are empty.
  const auto rangeOfRows = [&](int64_t t, int64_t row) {
    using Ranges = int16_t __attribute__((vector_size(rowUnit * 4)));
    using Ends = int16_t __attribute__((vector_size(rowUnit * 2)));
    Ranges own;
    std::memcpy(&own, rangeOf(t, row), sizeof own);
    const Ends least = __builtin_shufflevector(own, own, 0, 2, 4, 6),
               most = __builtin_shufflevector(own, own, 1, 3, 5, 7);
    const Ends empty = most == zeroExponent;
    return RowsRange{{__builtin_reduce_min(least), __builtin_reduce_max(most)}, -__builtin_reduce_add(empty)};
  };
  const auto areAllFit = [](const bool *isFit) {
    uint32_t all;
    static_assert(sizeof all == rowUnit);
    std::memcpy(&all, isFit, sizeof all);
    return all == 0x01010101;
  };
  /// Some rows in one block of columns. isFit: whether the destination of each is; sums by the functions of tiles.h
  /// stay so.
  const auto addRows = [&](int64_t t, int64_t row, int64_t block, bool *isFit) {
    const int16_t *const range = right.ranges + (block * kTiles + t) * 2;
    const RowsRange rows = rangeOfRows(t, row);
    if (isEmpty(range) || rows.empty == rowUnit)
      return; // nothing is added
    const int64_t column = (block * depth + t * tile) * columns;
    const tiles::Right b{right.high + column, right.low + column, right.exponents + column};
    int32_t *const at = dst + row * panelColumns + block * columns;
    if (rows.empty + 1 < rowUnit && fits(areAllFit(isFit), rows.range, range))
      return many(leftOf(t, row), b, at, panelColumns);
    for (int64_t r = 0; r < rowUnit; ++r)
      if (const int16_t *const own = rangeOf(t, row + r); isEmpty(own)) {
        continue;
      } else if (fits(isFit[r], own, range)) {
        one(leftOf(t, row + r), b, at + r * panelColumns, panelColumns);
      } else {
        slowly(leftOf(t, row + r), b, at + r * panelColumns);
        isFit[r] = functions && areFit(at + r * panelColumns);
      }
  };
  /// The same in two blocks; false: nothing was done, because not all of it is fit, or because all of it is empty.
  const auto addToBoth = [&](int64_t t, int64_t row, int64_t block, const bool *isFit, const bool *isNextFit) {
    const int16_t *const range = right.ranges + (block * kTiles + t) * 2, *const next = range + kTiles * 2;
    const RowsRange rows = rangeOfRows(t, row);
    if (isEmpty(range) || isEmpty(next) || rows.empty + 1 >= rowUnit || !fits(areAllFit(isFit), rows.range, range) ||
        !fits(areAllFit(isNextFit), rows.range, next))
      return false;
    const int64_t column = (block * depth + t * tile) * columns;
    two(leftOf(t, row), {right.high + column, right.low + column, right.exponents + column, depth * columns},
        dst + row * panelColumns + block * columns, panelColumns);
    return true;
  };
  parallelFor(rowBlocks * groups, 1, [&](int64_t begin, int64_t end) {
    for (int64_t index = begin; index < end; ++index) {
      const int64_t first = index / groups * rowsAtOnce, block = index % groups * most;
      const int64_t last = std::min(first + rowsAtOnce, rows), count = std::min(most, blocks - block);
      bool isFit[2][rowsAtOnce];
      for (int64_t b = 0; b < count; ++b)
        for (int64_t row = first; row < last; ++row)
          isFit[b][row - first] = functions && areFit(dst + row * panelColumns + (block + b) * columns);
      for (int64_t t = from; t < to; ++t)
        for (int64_t row = first; row < last; row += rowUnit) {
          const int64_t at = row - first;
          if (count == 2 && addToBoth(t, row, block, isFit[0] + at, isFit[1] + at))
            continue;
          for (int64_t b = 0; b < count; ++b)
            addRows(t, row, block + b, isFit[b] + at);
        }
    }
  });
}

/// Blocks of K one after another, with the steps between them (bmm_large_block_zm_fused_bias_activation.cpp): partial
/// sums go to L1 and come back, or the packer adds them there.
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
