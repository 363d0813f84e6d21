//===- L1.h - the L1 of a core while a program runs -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_DIALECT_TTNN_TRANSFORMS_OPTIMIZER_L1_H
#define TTMLIR_LIB_DIALECT_TTNN_TRANSFORMS_OPTIMIZER_L1_H

#include "LegalLayouts.h"

#include "llvm/ADT/MapVector.h"

namespace mlir::tt::ttnn {

/// Addresses of tensors in L1, as the device allocates them (tt/sim/allocator.h): the upper end of the highest free
/// piece that has room.
class L1 {
public:
  L1(int64_t base, int64_t end) : base(base) {
    if (base < end)
      pieces.push_back({base, end});
  }
  /// An address, or nothing.
  std::optional<int64_t> allocate(int64_t bytes);
  void deallocate(int64_t address, int64_t bytes);
  /// The lowest address that is taken.
  int64_t lowest() const { return !pieces.empty() && pieces.front().first == base ? pieces.front().second : base; }
  int64_t used() const { return taken; }

private:
  int64_t base, taken = 0;
  SmallVector<std::pair<int64_t, int64_t>, 8> pieces; // free, [begin, end), by address
};

/// A value in L1 and its aliases: one buffer, from its op to the last use of any alias.
struct L1Tensor {
  SmallVector<Value, 2> values;
  int64_t bytes = 0;
  unsigned created = 0;
  SmallVector<unsigned, 4> uses; // numbers of ops, in order
  unsigned lastUse() const { return uses.empty() ? created : uses.back(); }
};

/// The tensors of a block that are in L1, by their ops.
struct L1Tensors {
  L1Tensors(Block &block, const ChipMemory &chip);
  SmallVector<Operation *> ops;
  std::vector<L1Tensor> tensors;
  SmallVector<SmallVector<unsigned, 1>> madeBy; // of each op: tensors whose buffers are allocated there
  SmallVector<SmallVector<unsigned, 1>> endsAt; // of each op: tensors that are freed behind it
};

} // namespace mlir::tt::ttnn

#endif // TTMLIR_LIB_DIALECT_TTNN_TRANSFORMS_OPTIMIZER_L1_H
