//===- integers.h - products of integers of few bits -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Products modulo 2^32 of integers that have 8 or 16 bits, whatever type they are
// held in. Values that follow each other along k share words of 32 bits, which one
// instruction multiplies and sums up: four values with VNNI, two without it. No
// sum saturates.
//
// a = low + a', where a' >= 0 has one or more planes of a few bits: one for values
// that differ by 255 at most. b = offset + b', where b' is signed, and the offset
// of a column is 0 unless its values need one. So
//
//   sum of a b = sum of a' b' + low * (sum of b') + offset * (sum of a)
//
// and zero points cost nothing.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "core/panels/panels.h"

#include <optional>
#include <utility>

namespace tt::ttnn::panels {

/// The contents of a word of 32 bits: two values of 16 bits, or four of 8.
enum class Order : uint8_t { Pairs, Quads };

constexpr int64_t valuesOfWord(Order order) { return order == Order::Quads ? 4 : 2; }
constexpr int64_t wordsOf(Order order, int64_t k) { return ceilDivide(k, valuesOfWord(order)); }
/// Bits of a plane of the left operand: bytes are unsigned, and words of 16 bits are signed.
constexpr int bitsOfPlane(Order order) { return order == Order::Quads ? 8 : 15; }
constexpr int mostPlanes(Order order) { return order == Order::Quads ? 4 : 3; }

/// Whether this machine multiplies words of integers.
bool multipliesIntegers();
/// Columns of a panel.
int64_t integerWidth();
/// The most rows of a block.
constexpr int64_t integerRows = 6;

/// c[rows, columns] = a[rows, words] * panel[words, integerWidth()], or c += that.
struct IntegerBlock {
  const std::byte *a; // a plane
  int64_t aRow;       // from one row to the next, in bytes
  int64_t rows;       // at most integerRows
  const std::byte *panel;
  int64_t words;
  int64_t columns; // that are needed
  int32_t *c;      // rows of integerWidth(), aligned to 64
  bool accumulate;
};
void multiply(Order order, const IntegerBlock &block);

/// A right operand [k, n] in panels, in one piece of memory.
struct IntegerColumns {
  Order order;
  int64_t k, n;

  int64_t words() const { return wordsOf(order, k); }
  int64_t panelCount() const { return ceilDivide(n, integerWidth()); }
  int64_t panelBytes() const { return words() * integerWidth() * 4; }
  /// The total bytes: panels, the sums of b', and the offsets.
  int64_t bytes() const { return panelCount() * (panelBytes() + 2 * integerWidth() * 4); }
  const std::byte *panel(const std::byte *at, int64_t index) const { return at + index * panelBytes(); }
  int32_t *sums(std::byte *at) const { return reinterpret_cast<int32_t *>(at + panelCount() * panelBytes()); }
  int32_t *offsets(std::byte *at) const { return sums(at) + panelCount() * integerWidth(); }
};

/// The smallest values of a block of rows, and their layout.
struct IntegerRows {
  int32_t low[256]; // of each row
  int32_t sum[256]; // of its values, modulo 2^32
  int planes = 1;
};
constexpr int64_t mostIntegerRows = 252;

/// Values of an integer type in place: strides in elements.
struct IntegerMatrix {
  StorageType type;
  const std::byte *values;
  Strides strides;
};

/// Finds the order that holds every column, and writes `n` offsets; none if values of a column differ by 2^16 or more.
/// highs: space for as many numbers.
std::optional<Order> orderOf(const IntegerMatrix &from, int64_t k, int64_t n, int32_t *offsets, int32_t *highs);
/// Packs a matrix into panels, with offsets that `orderOf` found, on all threads. Returns whether any offset is not 0.
bool pack(const IntegerColumns &columns, const IntegerMatrix &from, const int32_t *offsets, std::byte *to);
/// The least and the largest of `count` values, and 0.
std::pair<int32_t, int32_t> rangeWithZero(StorageType type, const std::byte *from, int64_t count);
/// Writes planes of `count` values less `low`, `planeBytes` apart: bytes, or words of 16 bits.
void splitPlanes(Order order, StorageType type, const std::byte *from, int64_t count, int32_t low, int planes,
                 std::byte *to, int64_t planeBytes);
/// Planes of values that are `most` at most.
int planesOf(Order order, uint32_t most);
/// Packs up to mostIntegerRows rows of k values: planes, each of `rows` rows of wordsOf(order, k) words.
void packRows(Order order, const IntegerMatrix &from, int64_t rows, int64_t k, std::byte *to, IntegerRows &found);

/// Writes the product of packed rows, whose planes are `planeBytes` apart, with one panel to `to`, `toRow` values from
/// one row to the next. usesOffsets: some offset is not 0. scratch: integerWidth() sums for each row, aligned to 64.
void multiplyPanel(const IntegerColumns &columns, std::byte *packed, bool usesOffsets, int64_t panel,
                   const std::byte *a, const IntegerRows &rows, int64_t count, int64_t planeBytes, int32_t *scratch,
                   int32_t *to, int64_t toRow);

} // namespace tt::ttnn::panels
