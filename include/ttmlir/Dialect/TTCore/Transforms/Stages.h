//===- Stages.h - functions that run as stages ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Names that passes and the writer of flatbuffers agree on. docs/stages.md has
// the way of a module.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_DIALECT_TTCORE_TRANSFORMS_STAGES_H
#define TTMLIR_DIALECT_TTCORE_TRANSFORMS_STAGES_H

#include "llvm/ADT/StringRef.h"

namespace mlir::tt::ttcore {

/// Of a function, i64: it says what is done to each of so many micro-batches.
inline constexpr llvm::StringLiteral microBatchesName = "ttcore.micro_batches";
/// Of its arguments and results, unit: whoever calls it gives or gets dimension 0 of all micro-batches.
inline constexpr llvm::StringLiteral microBatchName = "ttcore.micro_batch";
/// Of a function that calls its stages and does nothing else, array<i64: rows, columns>: the mesh of all of them.
inline constexpr llvm::StringLiteral stagesMeshName = "ttcore.stages_mesh";
/// Of such a call, array<i64: row, column>: the first chip of the stage.
inline constexpr llvm::StringLiteral meshOffsetName = "ttcore.mesh_offset";

} // namespace mlir::tt::ttcore

#endif // TTMLIR_DIALECT_TTCORE_TRANSFORMS_STAGES_H
