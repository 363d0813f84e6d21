//===- panels.h - products of matrices in panels --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The right operand of a product is divided into panels of a few columns, stored in the order in which vector and
// matrix units read them; the left one is read in place or copied row by row. A block of the result is computed in
// registers, finished (bias, activation, rounding) in cache and written once. While a panel is used for one group of
// rows after another, the next one is prefetched: weights from memory cost little more than those in cache.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/types.h"

namespace tt::ttnn::panels {

constexpr int64_t ceilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// The type of the arithmetic: f32 with AVX2 or AVX-512, bf16 with AVX512_BF16 or AMX (sums in f32), as `tt::units()`
/// selects; panels and rows have the same memory order for both units of a type.
enum class Unit : uint8_t { F32, BF16 };

/// Whether this machine has such a unit.
bool supported(Unit unit);
/// Whether 16 rows are computed at a time, so that blocks of fewer rows compute padding: the matrix unit.
bool wholeTiles(Unit unit);

/// Columns of a panel, and values in a row of sums.
constexpr int64_t width(Unit unit) { return unit == Unit::F32 ? 64 : 32; }
constexpr int64_t mostWidth = 64;
constexpr int64_t elementBytes(Unit unit) { return unit == Unit::F32 ? 4 : 2; }
/// Rows of a panel: what `k` is padded to with zeros.
constexpr int64_t depth(Unit unit, int64_t k) { return unit == Unit::F32 ? k : (k + 31) / 32 * 32; }
constexpr int64_t panelBytes(Unit unit, int64_t k) { return depth(unit, k) * width(unit) * elementBytes(unit); }
/// The most rows of a block.
constexpr int64_t blockRows(Unit unit) { return unit == Unit::F32 ? 6 : 32; }
/// Returns the number of adjacent panels that a block of few rows reads in turn, a row of each; the last group may have
/// fewer. Such a product is bound by memory, and reading several streams at once is faster, because the hardware
/// prefetcher follows each of them. The matrix unit gains nothing from it: it waits for its loads one by one.
constexpr int64_t panelsTogether(Unit unit, int64_t rows) { return unit == Unit::BF16 || rows > 3 ? 1 : 6 / rows; }

/// The sizes of a block of F32 with offsets: the maximum number of rows, and the columns of its one panel, whose rows
/// have that many values. Rows of sums have `width` values like those of other blocks.
struct TileApart {
  int64_t rows, columns;
};
constexpr TileApart tileApart2 = {6, 64}, tileApart512 = {12, 32};
/// The one of this machine.
TileApart tileApart();

/// Whether a block of F32 may have any number of rows, if it has no offsets and `k` is at most manyDepth: some columns
/// of the panel are copied to the first-level cache, and all rows are multiplied with them. AVX-512 needs this only to
/// widen values once.
bool takesManyRows(Unit unit, bool narrow = false);
constexpr int64_t manyDepth256 = 256, manyDepth512 = 128; // of 16 columns; of all 64
int64_t manyDepth();

/// The strides of a matrix in elements.
struct Strides {
  int64_t row, column;
};

/// Packs panels of `columns` columns of the k rows at `from`, `nextPanel` bytes from one to the next: panelBytes, or
/// that of all rows if these are some of them (from a multiple of 32 on; `k` is a multiple of 32 except at the end).
/// Columns that the last panel lacks become zeros. Contiguous columns are best packed some panels at a time: a row is
/// then read in longer pieces.
void pack(Unit unit, const std::byte *from, Strides strides, int64_t k, int64_t columns, std::byte *to,
          int64_t nextPanel);

/// The same for panels of F32 that hold bf16 values, which are widened as they are read: half of panelBytes each, and
/// the same sums, bit for bit.
void packNarrow(const std::byte *from, Strides strides, int64_t k, int64_t columns, std::byte *to, int64_t nextPanel);
/// Reads columns of such a row as f32, both aligned to 32 bytes; `columns` is a multiple of 16.
void widenNarrow(const std::byte *row, int64_t columns, float *to);

/// The rows of a left operand, in bytes.
struct Rows {
  int64_t row;  // from one row to the next
  int64_t tile; // whole tiles: from row 0 to row 16
  int64_t step; // whole tiles: from one group of 32 values of k to the next
};
/// Rows in place: k is contiguous, and a multiple of 32 for BF16.
constexpr Rows rowsInPlace(int64_t rowBytes) { return {rowBytes, 16 * rowBytes, 64}; }
/// The order of `copyRows`: rows of k values at a distance that is not a power of two, or tiles of 16 rows by 32 values
/// (whole tiles).
inline Rows rowsCopied(Unit unit, int64_t k) {
  const int64_t bytes = depth(unit, k) * elementBytes(unit);
  return wholeTiles(unit) ? Rows{64, 16 * bytes, 1024} : rowsInPlace(bytes + 64);
}
/// Bytes that `copyRows` writes.
inline int64_t copiedBytes(Unit unit, int64_t k, int64_t rows) {
  const Rows where = rowsCopied(unit, k);
  return wholeTiles(unit) ? (rows + 15) / 16 * where.tile : rows * where.row;
}
/// Copies rows; incomplete tiles are padded with zeros.
void copyRows(Unit unit, const std::byte *from, Strides strides, int64_t k, int64_t rows, std::byte *to);

/// Adjacent values of a row, or as many zeros if `from` is nullptr.
struct RowPart {
  const std::byte *from;
  int64_t count;
};
/// Writes a row of bf16 that consists of parts in the order of `copyRows` (`where`), followed by zeros up to a multiple
/// of 32. to: its first value. If the row is contiguous, up to 64 bytes after it are written too.
void joinRow(const RowPart *parts, int64_t count, const Rows &where, std::byte *to);

/// Rows of bf16 of which values [low, high) are read, the first value at `from`.
struct PartialRows {
  const std::byte *from;
  int64_t low, high;
  int64_t count, apart; // rows, and bytes from one to the next
};
/// Copies rows to contiguous rows of 32 values at `to`, with zeros in the place of other values; further values go to
/// as many `groups` of rows, `nextGroup` bytes from each other.
void copyPart(const PartialRows &rows, int64_t groups, int64_t nextGroup, std::byte *to);

/// c[rows, width] = a[rows, k] * panel[k, width], or c += that, for one panel or several consecutive ones.
struct Block {
  const std::byte *a;
  Rows where;
  int64_t rows;           // `Session::rowsFor` at most blockRows, or any number (`takesManyRows`)
  const std::byte *panel; // rows [first, first + k) of a panel, where `first` is a multiple of 32
  int64_t k;              // as padded: depth
  int64_t columns;        // that are needed of the (last) panel; others may stay as they are
  float *c;               // contiguous, aligned to 64
  bool accumulate;        // c holds the sums so far
  const std::byte *next;  // brought into cache meanwhile
  int64_t nextBytes;
  // Lines of `nextLine` bytes, a multiple of 64, `nextApart` bytes from each other, nextBytes from cache line
  // `nextFirst` on; 0: one line.
  int64_t nextLine = 0, nextApart = 0, nextFirst = 0;
  bool narrow = false;              // the panels are those of packNarrow
  const int64_t *offsets = nullptr; // F32: of each row from `a` on, in bytes, in the place of where.row (tileApart)
  // With offsets: a row has this many parts of k values, this far from each other, in the panel as well.
  int64_t parts = 1, partBytes = 0, partPanelBytes = 0;
  // BF16 with the matrix unit: of each 32 values of k in the rows, in bytes from `a` on, in the place of where.step.
  const int64_t *places = nullptr;
  int64_t panels = 1;  // at most panelsTogether
  int64_t panelStride; // bytes from one of them to the next
  int64_t cStride;     // and of their sums
};

/// The unit of one thread, from construction to destruction.
class Session {
public:
  /// rows: the number in the following blocks if it is less than 16, else 16 or more.
  Session(Unit unit, int64_t rows);
  ~Session();
  Session(const Session &) = delete;
  /// The number of rows with which a block of so many is computed; unneeded rows are also read and written.
  int64_t rowsFor(int64_t rows) const { return tiles && !narrow ? (rows + 15) / 16 * 16 : rows; }
  void multiply(const Block &block) const { run(block); }

private:
  void (*run)(const Block &block);
  bool tiles, narrow;
};

/// Columns in a block format, along k: for each 32 values the biased exponents of two powers of two, a byte each, then
/// the values, a signed byte each. The first 16 are multiples of the first power.
constexpr int64_t blockStep = 32, blockStepBytes = 34;

/// c[rows, columns] = a[rows, k] * b[k, columns], or c += that, each read in place: rows of `a` and columns of `b` are
/// contiguous along k. A sum depends on its row and its column alone.
struct Dots {
  const std::byte *a; // f32 of Unit::F32, else bf16
  int64_t aRow;       // from one row to the next, in bytes
  int64_t rows;
  const std::byte *b;
  int64_t bColumn; // from one column to the next, in bytes
  int64_t columns;
  int64_t k;
  float *c;
  int64_t cRow;        // elements
  bool accumulate;     // c holds the sums so far
  bool narrow = false; // b is bf16 though the unit is F32
  bool blocks = false; // b is in a block format, whole steps of it: the same bits as of its values in bf16
};
/// Reads `b` once, for any `rows`, and is as fast as memory for few of them.
void dot(Unit unit, const Dots &work);

/// The steps that are applied to sums before they are stored, in this order.
struct Finish {
  const float *bias = nullptr; // `width` values to add, or none
  bool relu = false;           // NaN stays NaN
  bool toBf16 = false;         // else f32
  bool relu6 = false;          // with relu, at most 6 as well: of BF16 to bf16 only
  // Values of the result's type to add to the stored ones, rows as far apart as the result's, and what follows: the
  // same bits as in a pass after this.
  const std::byte *added = nullptr;
  bool reluOfSum = false; // NaN stays NaN
};

/// Writes rows x columns of sums, at most `width` of them. BF16 writes subnormal ones as 0 to bf16, as its products
/// are.
void store(Unit unit, const float *c, const Finish &finish, int64_t rows, int64_t columns, std::byte *to,
           int64_t rowBytes);

} // namespace tt::ttnn::panels
