//===- MergedOps.h - source ops that an op computes -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A fused op has the location of the last op of its group; an op that represents several equal ops has the location of
// the first. If a front end requests it, by an empty list on its ops, passes record the locations of the others.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_DIALECT_TTCORE_TRANSFORMS_MERGEDOPS_H
#define TTMLIR_DIALECT_TTCORE_TRANSFORMS_MERGEDOPS_H

#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"

namespace mlir::tt::ttcore {

/// On an op: a list of texts, the locations of the other source ops that it computes. Flatbuffers keep it.
inline constexpr llvm::StringLiteral mergedName = "ttcore.merged";

/// Records on `into` that it also computes the op at `loc`, if it has a list.
void recordMerged(Location loc, Operation *into);
/// Records on `into` what `op` computes, if either has a list: the location of `op`, and those that were merged into
/// it.
void recordMerged(Operation *op, Operation *into);
/// The op that computes `value`, skipping ops that only move values; null for an argument.
Operation *computingOp(Value value);

} // namespace mlir::tt::ttcore

#endif // TTMLIR_DIALECT_TTCORE_TRANSFORMS_MERGEDOPS_H
