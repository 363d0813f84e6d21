//===- DramBuffers.h - generics on buffers in DRAM --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_DIALECT_D2M_TRANSFORMS_DRAMBUFFERS_H
#define TTMLIR_LIB_DIALECT_D2M_TRANSFORMS_DRAMBUFFERS_H

#include "ttmlir/Dialect/D2M/IR/D2M.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::tt::d2m {

/// Whether a buffer can be in DRAM: generics use it block by block, or copy it.
bool canLieInDram(Value buffer);

/// Places a buffer in DRAM. Generics on it get circular buffers in L1, which are allocated before them: two blocks of
/// up to `blockBytes`, or one block.
void moveToDram(memref::AllocOp buffer, uint64_t blockBytes);
/// Gives generics circular buffers for a buffer that is, or is a view of one, in DRAM.
void streamBuffer(Value buffer, uint64_t blockBytes);

/// Shrinks the blocks of an elementwise generic so that those of all operands have `blockBytes`, if they are larger.
/// Returns whether it did.
bool splitBlocks(GenericOp generic, uint64_t blockBytes);

/// Makes movers copy all operands of a generic that they can copy block by block.
void streamAll(GenericOp generic, uint64_t blockBytes);

} // namespace mlir::tt::d2m

#endif // TTMLIR_LIB_DIALECT_D2M_TRANSFORMS_DRAMBUFFERS_H
