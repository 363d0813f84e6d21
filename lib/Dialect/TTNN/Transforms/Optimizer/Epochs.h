//===- Epochs.h - ops on the cores of a chip, epoch by epoch ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_DIALECT_TTNN_TRANSFORMS_OPTIMIZER_EPOCHS_H
#define TTMLIR_LIB_DIALECT_TTNN_TRANSFORMS_OPTIMIZER_EPOCHS_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace mlir::tt::ttnn {

/// A grid of cores that an op may have: its cycles there, and the bytes that each core needs.
struct GridChoice {
  int64_t rows = 1, columns = 1;
  int64_t cycles = 1, l1 = 0;
  int64_t cores() const { return rows * columns; }
};

/// An op that is placed. work: its cycles on one core.
struct EpochOp {
  SmallVector<GridChoice, 16> grids;
  int64_t work = 1;
  std::optional<int64_t> requestedEpoch;
};

/// Where an op is placed. The rows and columns of the grid are exchanged on the chip if it is transposed.
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

/// The most rows, and columns, of a chip that is placed on.
inline constexpr int64_t mostEpochRows = 64;

/// Places ops in their order. Each has a grid at least that the chip has; rows and columns are 1 to mostEpochRows.
SmallVector<EpochPlace> placeEpochs(ArrayRef<EpochOp> ops, const EpochOptions &options);

} // namespace mlir::tt::ttnn

#endif // TTMLIR_LIB_DIALECT_TTNN_TRANSFORMS_OPTIMIZER_EPOCHS_H
