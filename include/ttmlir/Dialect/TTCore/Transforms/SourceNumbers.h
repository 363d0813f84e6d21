//===- SourceNumbers.h - source numbers in locations ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The first pass of a pipeline numbers the ops of the source module. A number is metadata of a fused location,
// `loc(fused<12 : i64>["x.py":3:1])`, so it follows the location through every rewrite. Inlining stacks locations of
// calls, whose numbers form a path.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_DIALECT_TTCORE_TRANSFORMS_SOURCENUMBERS_H
#define TTMLIR_DIALECT_TTCORE_TRANSFORMS_SOURCENUMBERS_H

#include "mlir/IR/Location.h"

#include <set>
#include <string>

namespace mlir::tt::ttcore {

/// `loc` with a number; an existing number is kept.
Location withSourceNumber(Location loc, int64_t number);
/// `loc` without its numbers, for an op that the compiler adds.
Location withoutSourceNumber(Location loc);
/// "12", or "3/12" for op 12 inlined through call 3; empty without a number.
std::string sourcePath(Location loc);

/// Attribute of a module, array<i64: ...>: numbers of ops whose values a user wants to see, or replace, in a run. No
/// pass may fuse such a value away or move its op out of its program.
inline constexpr llvm::StringLiteral observedName = "ttcore.observed";

/// The ops that `observedName` names, after any lowering.
class ObservedSources {
public:
  /// Observes the module that `op` is or that contains it.
  explicit ObservedSources(Operation *op);
  bool contains(Operation *op) const;

private:
  // A text may contain any number, and llvm's dense sets reserve some.
  std::set<int64_t> numbers;
};

} // namespace mlir::tt::ttcore

#endif // TTMLIR_DIALECT_TTCORE_TRANSFORMS_SOURCENUMBERS_H
