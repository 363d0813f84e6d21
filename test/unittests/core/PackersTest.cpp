//===- PackersTest.cpp - the bytes of panels and copied rows ------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// Packing is compared with the order that panels.h and the units describe, byte by
// byte: all that belongs to panels and rows is written, zeros where values end, and
// nothing else.
//
//===----------------------------------------------------------------------===//

#include "core/panels/panels.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

using namespace tt::ttnn::panels;

namespace {

constexpr std::byte nobody{0xa5}; // what memory holds that nobody wrote
constexpr int64_t behind = 192;

struct Bytes {
  explicit Bytes(int64_t size) : all(static_cast<size_t>(size + behind + 64), nobody) {
    at = reinterpret_cast<std::byte *>((reinterpret_cast<uintptr_t>(all.data()) + 63) / 64 * 64);
    bytes = size + behind;
  }
  void put(int64_t place, const void *value, int64_t size) {
    std::memcpy(at + place, value, static_cast<size_t>(size));
  }
  bool operator==(const Bytes &other) const {
    return bytes == other.bytes && std::memcmp(at, other.at, static_cast<size_t>(bytes)) == 0;
  }
  std::vector<std::byte> all;
  std::byte *at;
  int64_t bytes;
};

/// Where value (i, j) of a panel lies in it, in bytes.
int64_t placeInPanel(Unit unit, bool narrow, int64_t i, int64_t j) {
  if (unit == Unit::BF16) // [k / 32][column / 16][pair][column][2]
    return i / 32 * 2048 + j / 16 * 1024 + i % 32 / 2 * 64 + j % 16 * 4 + i % 2 * 2;
  if (narrow) // columns i and i + 8 of sixteen next to each other
    return (i * 64 + j / 16 * 16 + j % 8 * 2 + j % 16 / 8) * 2;
  return (i * 64 + j) * 4;
}

/// Values that are no zero and all different from their neighbours.
std::vector<std::byte> valuesOf(int64_t count, int64_t size) {
  std::vector<std::byte> values(static_cast<size_t>(count * size));
  std::mt19937 draw(7);
  for (std::byte &value : values)
    value = static_cast<std::byte>(1 + draw() % 255);
  return values;
}

struct Order {
  Unit unit;
  bool narrow;
};

void expectPacked(Order order, Strides s, int64_t k, int64_t columns, int64_t panelRows) {
  const auto [unit, narrow] = order;
  const int64_t size = narrow ? 2 : elementBytes(unit), across = width(unit), panels = ceilDivide(columns, across);
  const int64_t nextPanel = depth(unit, panelRows) * across * size;
  // No more than there is: a sanitizer sees the rest.
  const auto values = valuesOf((k - 1) * s.row + (columns - 1) * s.column + 1, size);
  Bytes found(panels * nextPanel), expected(panels * nextPanel);
  for (int64_t j = 0; j < panels * across; ++j)
    for (int64_t i = 0; i < depth(unit, k); ++i) {
      const uint32_t zero = 0;
      const void *value = &zero;
      if (i < k && j < columns)
        value = values.data() + (i * s.row + j * s.column) * size;
      expected.put(j / across * nextPanel + placeInPanel(unit, narrow, i, j % across), value, size);
    }
  if (narrow)
    packNarrow(values.data(), s, k, columns, found.at, nextPanel);
  else
    pack(unit, values.data(), s, k, columns, found.at, nextPanel);
  ASSERT_TRUE(found == expected) << (unit == Unit::BF16 ? "bf16"
                                     : narrow           ? "narrow"
                                                        : "f32")
                                 << ": " << k << " rows of " << columns << " columns, strides " << s.row << " and "
                                 << s.column;
}

class Packers : public testing::TestWithParam<Order> {};

TEST_P(Packers, WriteAllOfEachPanelAndNothingElse) {
  const Order order = GetParam();
  if (!supported(order.unit))
    GTEST_SKIP() << "these units are absent or capped";
  for (int64_t k : {1, 2, 3, 7, 8, 15, 16, 17, 30, 31, 32, 33, 40, 63, 64, 65, 100})
    for (int64_t columns = 1; columns <= 140; columns += columns < 70 ? 1 : 7)
      for (int64_t more : {0, 1, 5})
        for (const Strides strides : {Strides{columns + more, 1}, Strides{1, k + more}, Strides{2, 2 * k + more},
                                      Strides{2 * columns + more, 2}})
          for (int64_t panelRows : {k, k + 64})
            ASSERT_NO_FATAL_FAILURE(expectPacked(order, strides, k, columns, panelRows));
}

INSTANTIATE_TEST_SUITE_P(Orders, Packers,
                         testing::Values(Order{Unit::F32, false}, Order{Unit::F32, true}, Order{Unit::BF16, false}),
                         [](const auto &row) {
                           return row.param.unit == Unit::BF16 ? "Bf16" : row.param.narrow ? "Narrow" : "F32";
                         });

class RowCopies : public testing::TestWithParam<Unit> {};

TEST_P(RowCopies, FillUpRowsAndTiles) {
  const Unit unit = GetParam();
  if (!supported(unit))
    GTEST_SKIP() << "these units are absent or capped";
  const int64_t size = elementBytes(unit);
  for (int64_t k : {1, 2, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100})
    for (int64_t rows = 1; rows <= 40; ++rows)
      for (int64_t more : {0, 3})
        for (const Strides s : {Strides{k + more, 1}, Strides{1, rows + more}, Strides{2 * k + more, 2}}) {
          const Rows where = rowsCopied(unit, k);
          const int64_t all = wholeTiles(unit) ? (rows + 15) / 16 * 16 : rows;
          const auto values = valuesOf((rows - 1) * s.row + (k - 1) * s.column + 1, size);
          Bytes found(copiedBytes(unit, k, rows)), expected(copiedBytes(unit, k, rows));
          for (int64_t i = 0; i < all; ++i)
            for (int64_t j = 0; j < depth(unit, k); ++j) {
              const uint32_t zero = 0;
              const void *value = &zero;
              if (i < rows && j < k)
                value = values.data() + (i * s.row + j * s.column) * size;
              const int64_t row = unit == Unit::F32 ? i * where.row : i / 16 * where.tile + i % 16 * where.row;
              expected.put(row + (unit == Unit::F32 ? j * size : j / 32 * where.step + j % 32 * size), value, size);
            }
          copyRows(unit, values.data(), s, k, rows, found.at);
          ASSERT_TRUE(found == expected) << rows << " rows of " << k << " values, strides " << s.row << " and "
                                         << s.column;
        }
}

INSTANTIATE_TEST_SUITE_P(Units, RowCopies, testing::Values(Unit::F32, Unit::BF16),
                         [](const auto &row) { return row.param == Unit::BF16 ? "Bf16" : "F32"; });

} // namespace
