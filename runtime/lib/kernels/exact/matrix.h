//===- matrix.h - products of the chip's matrix unit ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The sums of products of sim/arithmetic.h: the functions of tiles.h compute tiles whose exponents are not near the
// ends of their range, and sim::exact::dot the others.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "core/op.h"
#include "core/plan.h"
#include "kernels/exact/exact.h"
#include "kernels/exact/tiles.h"

namespace tt::ttnn::exact {

/// c[m, n] = a[m, k] * b[k, n], in panels of rows and columns.
class MatrixProduct {
public:
  /// The source and the destination of values. All may be called from several threads at once.
  struct Io {
    /// The k values of a row of a, after the unpacker.
    std::function<void(int64_t row, float *to)> left;
    /// `count` values of row k of b, from a column on.
    std::function<void(int64_t k, int64_t column, int64_t count, float *to)> right;
    /// In its place: the k values of a column of b.
    std::function<void(int64_t column, float *to)> rightColumn = nullptr;
    /// Receives the final sums of a row from the destination, as f32, for `count` columns from one that is a multiple
    /// of 16; it may change them.
    std::function<void(int64_t row, int64_t column, int64_t count, float *values)> finish;
    /// The values that the destination holds before; without it, zeros.
    std::function<void(int64_t row, int64_t column, int64_t count, float *values)> begin = nullptr;
  };

  /// blockTiles: tiles of K that stay in the destination; 0: all of them. biased: a bias follows, which determines
  /// where the last block is added (packer_l1_acc). spill: packs partial sums of a block format; else they are f32 or
  /// bf16.
  MatrixProduct(int64_t m, int64_t n, int64_t k, const Compute &compute, int64_t blockTiles = 0, bool biased = false,
                Store<float> spill = nullptr);
  size_t scratchBytes() const { return layout.bytes(); }
  void run(const Io &io, std::byte *scratch) const;

  static constexpr int64_t columns = tiles::columns, tile = tiles::tile;

private:
  /// An operand in panels: of the left, tiles of K, in each the rows; of the right, blocks of columns, in each K.
  /// ranges: least and largest exponent of each row (or block of columns) and tile.
  template <class Exponent> struct Parts {
    float *high, *low;
    Exponent *exponents;
    int16_t *ranges;
  };
  using LeftParts = Parts<int32_t>;
  using RightParts = Parts<int16_t>;
  struct Place {
    size_t high, low, exponents, ranges;
  };
  Place place(int64_t elements, int64_t ranges, size_t exponentBytes);
  template <class Exponent> static Parts<Exponent> at(std::byte *scratch, const Place &place);
  void packLeft(const Io &io, int64_t row, int64_t rows, const LeftParts &to) const;
  void packRight(const Io &io, int64_t column, int64_t count, const RightParts &to) const;
  void multiply(const LeftParts &left, const RightParts &right, int64_t rows, int64_t blocks, int64_t from, int64_t to,
                int32_t *dst) const;
  void panel(const Io &io, const LeftParts &left, const RightParts &right, int64_t row, int64_t rows, int64_t column,
             int64_t count, int32_t *dst, int32_t *partials) const;

  const tiles::Functions *functions; // of this machine's vector unit; nullptr: none
  int64_t m, n, k, kTiles, blockTiles, panelRows, panelColumns;
  Compute compute;
  bool biased;
  Store<float> spill;
  ScratchLayout layout;
  Place leftAt, rightAt;
  size_t dstAt = 0, partialsAt = 0;
};

/// Returns the function that packs partial sums of a plan if they leave the destination in a block format, or nullptr.
Store<float> partialsPacker(const ttmlir::plan::Blocks &blocks, DataType result, const Compute &compute);

} // namespace tt::ttnn::exact
