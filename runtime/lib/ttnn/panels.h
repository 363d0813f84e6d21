//===- panels.h - products of matrices in panels --------------------*- C++ -*-===//
//
// The right operand of a product is cut into panels of a few columns that lie in
// memory as the vector and matrix units read them; the left one is read where it
// is or copied row by row. A block of the result is made in registers, finished (bias, activation,
// rounding) in cache and written once. While a panel is used for one group of
// rows after another, the next one is brought into cache: weights that come from
// memory cost little more than those in cache.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/types.h"

namespace tt::ttnn::panels {

/// What the units compute in: f32 with AVX-512, bf16 with AMX (sums in f32).
enum class Unit : uint8_t { F32, BF16 };

/// Whether this machine has the unit (and the system lets the process use it).
bool supported(Unit unit);

/// Columns of a panel, and values in a row of sums.
constexpr int64_t width(Unit unit) { return unit == Unit::F32 ? 64 : 32; }
constexpr int64_t mostWidth = 64;
constexpr int64_t elementBytes(Unit unit) { return unit == Unit::F32 ? 4 : 2; }
/// Rows of a panel: what `k` is padded to with zeros.
constexpr int64_t depth(Unit unit, int64_t k) { return unit == Unit::F32 ? k : (k + 31) / 32 * 32; }
constexpr int64_t panelBytes(Unit unit, int64_t k) { return depth(unit, k) * width(unit) * elementBytes(unit); }
/// The most rows of a block.
constexpr int64_t blockRows(Unit unit) { return unit == Unit::F32 ? 6 : 32; }
/// How many panels a block of so few rows reads side by side, a row of each in turn; what is left over is fewer. Such a
/// product is as fast as memory is, and that is faster read in several places at once, as the hardware's prefetcher
/// follows each of them. The matrix unit gains nothing from it: it waits for its loads one by one.
constexpr int64_t panelsTogether(Unit unit, int64_t rows) { return unit == Unit::BF16 || rows > 3 ? 1 : 6 / rows; }

/// Where a matrix is: strides in elements.
struct Strides {
  int64_t row, column;
};

/// Makes panels of `columns` columns of the k rows at `from`, `nextPanel` bytes from one to the next: panelBytes, or
/// that of all rows where these are some of them (from a multiple of 32 on, `k` rows being a multiple of 32 but at the
/// end). Columns that the last panel lacks become zeros. Columns that lie side by side are best packed some panels at a
/// time: a row is then read in longer pieces.
void pack(Unit unit, const std::byte *from, Strides strides, int64_t k, int64_t columns, std::byte *to,
          int64_t nextPanel);

/// Where the rows of a left operand are, in bytes.
struct Rows {
  int64_t row;  // from one row to the next
  int64_t tile; // BF16: from row 0 to row 16
  int64_t step; // BF16: from one group of 32 values of k to the next
};
/// Rows where they lie: k contiguous, and a multiple of 32 for BF16.
constexpr Rows rowsInPlace(int64_t rowBytes) { return {rowBytes, 16 * rowBytes, 64}; }
/// The order of `copyRows`: rows of k values a little apart from a power of two (F32), or tiles of 16 rows by 32 values
/// (BF16).
constexpr Rows rowsCopied(Unit unit, int64_t k) {
  const int64_t bytes = depth(unit, k) * elementBytes(unit);
  return unit == Unit::F32 ? rowsInPlace(bytes + 64) : Rows{64, 16 * bytes, 1024};
}
/// Bytes that `copyRows` writes.
constexpr int64_t copiedBytes(Unit unit, int64_t k, int64_t rows) {
  return unit == Unit::F32 ? rows * rowsCopied(unit, k).row : (rows + 15) / 16 * rowsCopied(unit, k).tile;
}
/// Copies rows; what is missing to a whole tile are zeros.
void copyRows(Unit unit, const std::byte *from, Strides strides, int64_t k, int64_t rows, std::byte *to);

/// c[rows, width] = a[rows, k] * panel[k, width], or c += that, for one panel or some that follow each other.
struct Block {
  const std::byte *a;
  Rows where;
  int64_t rows;           // at most blockRows; BF16: as many as `Session` was made for, or a multiple of 16
  const std::byte *panel; // rows [first, first + k) of a panel, where `first` is a multiple of 32
  int64_t k;              // as padded: depth
  float *c;               // contiguous, aligned to 64
  bool accumulate;        // c holds the sums so far
  const std::byte *next;  // brought into cache meanwhile
  int64_t nextBytes;
  int64_t panels = 1;  // at most panelsTogether
  int64_t panelStride; // bytes from one of them to the next
  int64_t cStride;     // and of their sums
};

/// The matrix unit of one thread, from construction to destruction.
class Session {
public:
  /// rows: of the blocks to come when they have fewer than 16, else 16 or more.
  Session(Unit unit, int64_t rows);
  ~Session();
  Session(const Session &) = delete;
  void multiply(const Block &block) const;

private:
  Unit unit;
};

/// Writes rows x columns of sums, plus bias (`width` values, or nullptr), as f32 or bf16.
void store(Unit unit, const float *c, const float *bias, int64_t rows, int64_t columns, bool toBf16, std::byte *to,
           int64_t rowBytes);

} // namespace tt::ttnn::panels
