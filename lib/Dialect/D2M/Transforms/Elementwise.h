//===- Elementwise.h - generics tile by tile --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_DIALECT_D2M_TRANSFORMS_ELEMENTWISE_H
#define TTMLIR_LIB_DIALECT_D2M_TRANSFORMS_ELEMENTWISE_H

#include "ttmlir/Dialect/D2M/IR/D2M.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::tt::d2m {

/// A generic that computes each tile of its output from tiles of its inputs at the same position, or from its streams.
struct Elementwise {
  GenericOp generic;
  SmallVector<scf::ForOp> loops; // over the tiles of the output, outermost first
  memref::StoreOp store;         // the only one of the innermost loop
  ReserveOp reserve;

  Value output() { return generic.getOutputs().front(); }
  Block &body() { return generic.getRegion(0).front(); }

  /// Returns nullopt for an op that is none.
  static std::optional<Elementwise> of(Operation *op);

  /// Whether indices are those of the loops.
  bool isPlace(ValueRange indices) const {
    return llvm::equal(indices, loops, [](Value index, scf::ForOp loop) { return index == loop.getInductionVar(); });
  }

  Value tile() { return store.getValueToStore(); }

  /// The number of an input that is read tile by tile at the position of the output's tile, or nothing.
  std::optional<unsigned> inputOf(Value buffer) {
    for (auto [number, input] : llvm::enumerate(generic.getInputs()))
      if (input == buffer)
        return static_cast<unsigned>(number);
    return std::nullopt;
  }

  /// Whether only the tile at the output's position is read of an input.
  bool readsInPlace(unsigned input) {
    for (Operation *user : body().getArgument(input).getUsers()) {
      if (isa<PopOp>(user))
        continue;
      auto wait = dyn_cast<WaitOp>(user);
      if (!wait)
        return false;
      for (Operation *reader : wait.getResult().getUsers())
        if (auto load = dyn_cast<memref::LoadOp>(reader); !load || !isPlace(load.getIndices()))
          return false;
    }
    return true;
  }
};

/// Whether a kernel that reads or writes a buffer has registers of 32 bits.
bool isWide(Type buffer);

/// Whether a register holds the result of an op as a buffer of its type would. `wide`: it has 32 bits.
bool isExact(Operation *op, bool wide);

/// Rounds, in registers of 32 bits, the tiles from which a stored one is computed to the formats of their types: as
/// registers of 16 bits, or buffers, do. The stored tile is rounded when it is packed.
void roundTiles(memref::StoreOp store);

} // namespace mlir::tt::d2m

#endif // TTMLIR_LIB_DIALECT_D2M_TRANSFORMS_ELEMENTWISE_H
