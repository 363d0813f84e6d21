//===- Epochs.h - ops on the cores of a chip, epoch by epoch ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_DIALECT_TTNN_TRANSFORMS_OPTIMIZER_EPOCHS_H
#define TTMLIR_LIB_DIALECT_TTNN_TRANSFORMS_OPTIMIZER_EPOCHS_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"

#include <array>
#include <cstdint>
#include <optional>

namespace mlir::tt::ttnn {

/// A possible grid of cores for an op: its cycles there, and the bytes that each core needs.
struct GridChoice {
  int64_t rows = 1, columns = 1;
  int64_t cycles = 1, l1 = 0;
  int64_t cores() const { return rows * columns; }
};

/// An op to place. work: its cycles on one core. core: the first one that is requested; every grid fits there.
/// isTransposed: rows and columns of the grid have to be exchanged.
struct EpochOp {
  SmallVector<GridChoice, 16> grids;
  int64_t work = 1;
  std::optional<int64_t> requestedEpoch;
  std::optional<std::array<int64_t, 2>> core;
  bool isTransposed = false;
};

/// The place of an op. The rows and columns of the grid are exchanged on the chip if it is transposed.
struct EpochPlace {
  int64_t epoch = 0, row = 0, column = 0;
  GridChoice grid;
  bool isTransposed = false;
};

enum class EpochPolicy { Work, Ribbon, Smallest, Any };

/// The chip, and how grids are chosen. launch: cycles from one epoch to the next.
struct EpochOptions {
  int64_t rows = 8, columns = 8, launch = 0;
  EpochPolicy policy = EpochPolicy::Work;
  bool otherGrids = true, transposeGrids = false;
};

/// The largest number of rows, and of columns, of a chip.
inline constexpr int64_t mostEpochRows = 64;

/// Places ops in order. Each op has at least one grid that fits on the chip; rows and columns are between 1 and
/// mostEpochRows.
SmallVector<EpochPlace> placeEpochs(ArrayRef<EpochOp> ops, const EpochOptions &options);

} // namespace mlir::tt::ttnn

#endif // TTMLIR_LIB_DIALECT_TTNN_TRANSFORMS_OPTIMIZER_EPOCHS_H
