//===- block_columns.h - weights in a block format, as small as they are ------===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/library.h"
#include "kernels/matmul/product.h"

namespace tt::ttnn {

/// A constant right matrix of a block format whose columns are contiguous along k, as PyTorch stores weights: 8 bits
/// for each number, and 8 for the unit of each 16 of them. This is 17/32 of the size in bf16, which a product of few
/// rows waits for. The numbers are those of the matrix, so results have the same bits.
class BlockColumns {
public:
  BlockColumns() = default;
  /// Makes the form, or takes that of another kernel; the kernel does not read the values. Empty where the matrix is no
  /// such one, where it is small, where its values stay in memory anyway, and where a number has no such form.
  BlockColumns(const OpCall &call, const Product &product);

  explicit operator bool() const { return static_cast<bool>(bytes); }
  /// A column in the form that `panels::dot` takes, and the bytes from one to the next.
  const std::byte *get(int64_t column) const { return bytes.data() + column * columnBytes; }
  int64_t apart() const { return columnBytes; }
  /// Writes the bf16 values of columns [column, column + columns), rows [row, row + rows) of each, `rows` values apart.
  /// row, rows: multiples of 32.
  void expand(int64_t column, int64_t columns, int64_t row, int64_t rows, uint16_t *to) const;

private:
  int64_t k = 0, columnBytes = 0;
  library::AlignedBytes bytes;
};

} // namespace tt::ttnn
