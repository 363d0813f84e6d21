//===- Streaming.h - operands through circular buffers ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_D2M_TRANSFORMS_STREAMING_H
#define TTMLIR_DIALECT_D2M_TRANSFORMS_STREAMING_H

#include "ttmlir/Dialect/D2M/IR/D2M.h"

namespace mlir::tt::d2m {

/// Routes the blocks of an operand of a unified thread through a circular buffer in L1, which is allocated before the
/// generic: loads a block before the thread waits for it, or stores a pushed block. The circular buffer has two blocks
/// of up to `blockBytes`, or one block.
/// `columnsFirst`: the outer loop is over columns of blocks.
void streamOperand(GenericOp generic, unsigned operand, uint64_t blockBytes, bool columnsFirst = false);

} // namespace mlir::tt::d2m

#endif // TTMLIR_DIALECT_D2M_TRANSFORMS_STREAMING_H
