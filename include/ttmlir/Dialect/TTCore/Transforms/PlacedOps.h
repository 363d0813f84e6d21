//===- PlacedOps.h - epochs and cores of ops --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The place that ttnn-place-epochs assigns to an op. Flatbuffers keep these attributes for reports; the runtime ignores
// them.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_DIALECT_TTCORE_TRANSFORMS_PLACEDOPS_H
#define TTMLIR_DIALECT_TTCORE_TRANSFORMS_PLACEDOPS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace mlir::tt::ttcore {

inline constexpr llvm::StringLiteral placedEpochName = "ttcore.placed_epoch";
/// The first row and column, and numbers of rows and columns.
inline constexpr llvm::StringLiteral placedCoresName = "ttcore.placed_cores";
/// True if rows and columns of the op's grid are exchanged; else absent.
inline constexpr llvm::StringLiteral placedTransposedName = "ttcore.placed_transposed";
inline constexpr llvm::StringLiteral placedCyclesName = "ttcore.placed_cycles";
/// Bytes of circular buffers and of shards of the result on each core.
inline constexpr llvm::StringLiteral placedL1Name = "ttcore.placed_l1";

inline constexpr llvm::StringLiteral placeNames[] = {placedEpochName, placedCoresName, placedTransposedName,
                                                     placedCyclesName, placedL1Name};

struct OpPlace {
  int64_t epoch, row, column, rows, columns;
  bool isTransposed;
  int64_t cycles, l1;
};

inline void erasePlace(Operation *op) {
  for (llvm::StringRef name : placeNames)
    op->removeDiscardableAttr(name);
}

inline void setPlace(Operation *op, const OpPlace &place) {
  auto integer = [&](int64_t value) { return IntegerAttr::get(IntegerType::get(op->getContext(), 64), value); };
  erasePlace(op);
  op->setDiscardableAttr(placedEpochName, integer(place.epoch));
  op->setDiscardableAttr(
      placedCoresName, DenseI64ArrayAttr::get(op->getContext(), {place.row, place.column, place.rows, place.columns}));
  if (place.isTransposed)
    op->setDiscardableAttr(placedTransposedName, BoolAttr::get(op->getContext(), true));
  op->setDiscardableAttr(placedCyclesName, integer(place.cycles));
  op->setDiscardableAttr(placedL1Name, integer(place.l1));
}

} // namespace mlir::tt::ttcore

#endif // TTMLIR_DIALECT_TTCORE_TRANSFORMS_PLACEDOPS_H
