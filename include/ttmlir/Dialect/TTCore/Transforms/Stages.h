//===- Stages.h - functions that run as stages ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Names that passes and the writer of flatbuffers share. docs/stages.md describes how a module is divided.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_DIALECT_TTCORE_TRANSFORMS_STAGES_H
#define TTMLIR_DIALECT_TTCORE_TRANSFORMS_STAGES_H

#include "llvm/ADT/StringRef.h"

namespace mlir::tt::ttcore {

/// On a function, i64: the number of micro-batches that it is applied to.
inline constexpr llvm::StringLiteral microBatchesName = "ttcore.micro_batches";
/// On its arguments and results, unit: the caller passes or receives dimension 0 of all micro-batches.
inline constexpr llvm::StringLiteral microBatchName = "ttcore.micro_batch";
/// On a function that only calls its stages, array<i64: rows, columns>: the mesh of all stages.
inline constexpr llvm::StringLiteral stagesMeshName = "ttcore.stages_mesh";
/// On such a call, array<i64: row, column>: the first chip of the stage.
inline constexpr llvm::StringLiteral meshOffsetName = "ttcore.mesh_offset";

} // namespace mlir::tt::ttcore

#endif // TTMLIR_DIALECT_TTCORE_TRANSFORMS_STAGES_H
