//===- Planner.h - collectives between two shardings ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_LIB_DIALECT_SDY_TRANSFORMS_EXPORT_PLANNER_H
#define TTMLIR_LIB_DIALECT_SDY_TRANSFORMS_EXPORT_PLANNER_H

#include "ttmlir/Dialect/Sdy/IR/Axes.h"

namespace mlir::sdy {

struct CollectiveStep {
  enum Kind { Slice, Permute, AllToAll, Gather };
  struct Move {
    Axes axes;
    int64_t from, to;
  };

  Kind kind;
  llvm::SmallVector<Axes> axes;  // by dimension: those added by a slice, or removed by a gather
  llvm::SmallVector<Move> moves; // of an all-to-all, by ascending source
  llvm::SmallVector<Axes> dims;  // what the step leaves
};

/// Returns the steps that convert a tensor of this shape from one sharding to the other with the fewest exchanges of
/// data between devices (a slice is none), such that no device ever holds more than in the larger of the two.
/// `changesMesh` requests a permute even if no axis moves. `axisSizes` are those of the mesh.
llvm::SmallVector<CollectiveStep, 0> planReshard(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<Axes> source,
                                                 llvm::ArrayRef<Axes> target, llvm::ArrayRef<int64_t> axisSizes,
                                                 bool changesMesh = false);

} // namespace mlir::sdy

#endif // TTMLIR_LIB_DIALECT_SDY_TRANSFORMS_EXPORT_PLANNER_H
