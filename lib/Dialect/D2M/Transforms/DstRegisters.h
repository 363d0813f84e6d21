//===- DstRegisters.h - use of the destination registers --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_DIALECT_D2M_TRANSFORMS_DSTREGISTERS_H
#define TTMLIR_LIB_DIALECT_D2M_TRANSFORMS_DSTREGISTERS_H

#include "ttmlir/Dialect/D2M/Transforms/Passes.h"

namespace mlir::tt::d2m {

/// The number of f32 tiles that fit into the registers while the packer has the other half.
inline constexpr int64_t registerCount = 4;

/// Whether an op computes a tile from tiles.
bool isTileOp(Operation &op);

/// Whether an op is computed by the matrix unit, from tiles of circular buffers.
bool isForMatrixUnit(Operation &op);

/// Whether an op reads its operands from registers. The others read circular buffers, or nothing.
bool readsRegisters(Operation &op);

/// Whether a tile comes from a circular buffer, so that it can be copied to a register again.
bool isLoadedTile(Value tile);

/// Whether the registers of an op's block are assigned already: the op is in a section, which begins with
/// d2m.acquire_dst and includes the loops behind it.
bool isInSection(Operation *op);

/// Moves the ops that compute a stored tile before its store, in the order in which the fewest tiles are live at a time
/// (Sethi and Ullman).
void scheduleTiles(memref::StoreOp store);

/// Assigns registers to the tiles of a block, in the order of its ops.
class RegisterAssignment {
public:
  struct Access {
    SmallVector<int64_t> read; // registers of the operands
    SmallVector<bool> copied;  // whether an operand is copied there for this op
    int64_t written = 0;
  };

  /// Assigns the operands and the result of the next tile op; fails if there are not enough registers.
  FailureOr<Access> assign(Operation *op, llvm::function_ref<InFlightDiagnostic()> emitError = nullptr);

private:
  FailureOr<int64_t> take();
  llvm::MapVector<Value, int64_t> holds;
  bool used[registerCount] = {};
};

} // namespace mlir::tt::d2m

#endif // TTMLIR_LIB_DIALECT_D2M_TRANSFORMS_DSTREGISTERS_H
