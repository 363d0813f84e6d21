//===- DramBuffers.h - generics on buffers in DRAM --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_DIALECT_D2M_TRANSFORMS_DRAMBUFFERS_H
#define TTMLIR_LIB_DIALECT_D2M_TRANSFORMS_DRAMBUFFERS_H

#include "ttmlir/Dialect/D2M/IR/D2M.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::tt::d2m {

/// Whether a buffer can lie in DRAM: generics use it block by block, or copy it.
bool canLieInDram(Value buffer);

/// Places a buffer in DRAM. Generics on it get circular buffers in L1, which are allocated in front of them: two blocks
/// of up to `blockBytes`, or one block.
void moveToDram(memref::AllocOp buffer, uint64_t blockBytes);

/// Makes the blocks of an elementwise generic so small that those of all operands have `blockBytes`, if it is one whose
/// blocks are larger. Returns whether it was.
bool splitBlocks(GenericOp generic, uint64_t blockBytes);

} // namespace mlir::tt::d2m

#endif // TTMLIR_LIB_DIALECT_D2M_TRANSFORMS_DRAMBUFFERS_H
