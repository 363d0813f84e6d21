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

/// The chip for which the function around `op` is compiled; null, after an error, if the module has no system.
ttcore::ChipDescAttr chipOf(Operation *op);

/// The bytes that a tensor takes of each bank of L1; 0 if it is elsewhere. As the runtime's sim::footprint.
int64_t l1BytesOfBank(const ChipMemory &chip, const ::ttmlir::cost::PlacedTensor &tensor);

/// Tiled, interleaved in DRAM: the layout that previous passes give every tensor of the device.
bool isTiledInDram(TTNNLayoutAttr layout);

/// The layout in L1: interleaved, or in shards over as many cores as needed. Null if the rules of shards do not allow
/// it: shards consist of whole tiles, a core has one, and they are in the grid of the chip.
TTNNLayoutAttr interleavedInL1(RankedTensorType type, TTNNLayoutAttr layout);
TTNNLayoutAttr shardedInL1(RankedTensorType type, TTNNLayoutAttr layout, TensorMemoryLayout kind,
                           const ChipMemory &chip);
/// The same with a requested grid.
TTNNLayoutAttr shardedInL1(RankedTensorType type, TTNNLayoutAttr layout, TensorMemoryLayout kind, int64_t gridRows,
                           int64_t gridColumns, const ChipMemory &chip);

/// Whether layouts are chosen in the function: a program that runs on the device and is not evaluated once.
bool choosesLayouts(func::FuncOp function);

/// Whether the layouts of an op's results can be chosen: it computes on the device, in the block of its function, from
/// its operands alone, and only ops of the same kind read its results.
bool isPlaceable(Operation *op);

/// The layouts that an op can give its results; the current one first. All results of one op have the same layout.
SmallVector<SmallVector<TTNNLayoutAttr, 1>> legalLayouts(Operation *op, const ChipMemory &chip, bool sharded,
                                                         int64_t most);

/// The layout in L1 of the result of an op in shards over a requested grid, by blocks if its kernel supports them. Null
/// if it cannot have such shards, or if cores of the grid would have none.
TTNNLayoutAttr layoutOnGrid(Operation *op, int64_t gridRows, int64_t gridColumns, const ChipMemory &chip);

/// Whether an op whose results have this layout takes operand `index` in its layout.
bool accepts(Operation *op, unsigned index, const ::ttmlir::cost::PlacedTensor &operand,
             ArrayRef<::ttmlir::cost::PlacedTensor> results);

/// "DRAM", "L1, interleaved", "L1, height sharded on 56x1 cores, 4x8 tiles each".
std::string describe(TTNNLayoutAttr layout);

} // namespace mlir::tt::ttnn

#endif // TTMLIR_LIB_DIALECT_TTNN_TRANSFORMS_OPTIMIZER_LEGALLAYOUTS_H
