//===- LegalLayouts.h - layouts that ops may be given -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_DIALECT_TTNN_TRANSFORMS_OPTIMIZER_LEGALLAYOUTS_H
#define TTMLIR_LIB_DIALECT_TTNN_TRANSFORMS_OPTIMIZER_LEGALLAYOUTS_H

#include "OpCost.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Block.h"

namespace mlir::tt::ttnn {

/// Cores and L1 of a chip.
struct ChipMemory {
  explicit ChipMemory(ttcore::ChipDescAttr chip);
  int64_t gridRows, gridColumns;
  int64_t base, end; // of the L1 of a core that tensors and circular buffers share
  int64_t l1Alignment, dramAlignment, channels;
  int64_t cores() const { return gridRows * gridColumns; }
  int64_t usable() const { return end - base; }
  /// Returns the chip with the memory that `tensors` bytes of tensors leave to kernels.
  ::ttmlir::cost::Chip without(int64_t tensors) const { return {gridRows, gridColumns, usable() - tensors}; }
};

/// The chip that the function around `op` is for; null, after an error, where the module has no system.
ttcore::ChipDescAttr chipOf(Operation *op);

/// Bytes that a tensor takes of each bank of L1; 0 where it lies elsewhere. As the runtime's sim::footprint.
int64_t l1BytesOfBank(const ChipMemory &chip, const ::ttmlir::cost::PlacedTensor &tensor);

/// Tiled, interleaved in DRAM: what the passes before give every tensor of the device.
bool isTiledInDram(TTNNLayoutAttr layout);

/// The layout in L1: interleaved, or in shards over as many cores as it takes. Null where the rules of shards do not
/// allow it: shards are of whole tiles, a core has one, and they lie in the grid of the chip.
TTNNLayoutAttr interleavedInL1(RankedTensorType type, TTNNLayoutAttr layout);
TTNNLayoutAttr shardedInL1(RankedTensorType type, TTNNLayoutAttr layout, TensorMemoryLayout kind,
                           const ChipMemory &chip);
/// The same with a requested grid.
TTNNLayoutAttr shardedInL1(RankedTensorType type, TTNNLayoutAttr layout, TensorMemoryLayout kind, int64_t gridRows,
                           int64_t gridColumns, const ChipMemory &chip);

/// Whether layouts are chosen in the function: a program that runs on the device, and nothing that is evaluated once.
bool choosesLayouts(func::FuncOp function);

/// Whether layouts of the results of an op are a choice: it computes on the device, in the block of its function, of
/// its operands alone, what only ops of the same kind read.
bool isPlaceable(Operation *op);

/// Layouts of the results of an op that it can give them; first the one they have. Results of one op lie alike.
SmallVector<SmallVector<TTNNLayoutAttr, 1>> legalLayouts(Operation *op, const ChipMemory &chip, bool sharded,
                                                         int64_t most);

/// The layout in L1 of the result of an op in shards over a requested grid, by blocks if its kernel has them. Null
/// where it has no such shards, or cores of the grid would have none.
TTNNLayoutAttr layoutOnGrid(Operation *op, int64_t gridRows, int64_t gridColumns, const ChipMemory &chip);

/// Whether an op whose results lie so takes operand `index` in its layout.
bool accepts(Operation *op, unsigned index, const ::ttmlir::cost::PlacedTensor &operand,
             ArrayRef<::ttmlir::cost::PlacedTensor> results);

/// "DRAM", "L1, interleaved", "L1, height sharded on 56x1 cores, 4x8 tiles each".
std::string describe(TTNNLayoutAttr layout);

} // namespace mlir::tt::ttnn

#endif // TTMLIR_LIB_DIALECT_TTNN_TRANSFORMS_OPTIMIZER_LEGALLAYOUTS_H
