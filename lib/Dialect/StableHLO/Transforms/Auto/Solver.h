//===- Solver.h - the cheapest choice for many variables --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_DIALECT_STABLEHLO_TRANSFORMS_AUTO_SOLVER_H
#define TTMLIR_LIB_DIALECT_STABLEHLO_TRANSFORMS_AUTO_SOLVER_H

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace mlir::tt::shlo::autosharding {

/// Variables with a cost for each choice, and for each pair of choices of two joined variables.
struct Network {
  struct Pair {
    unsigned first, second;
    std::shared_ptr<const std::vector<double>> costs; // by choice of the first, then of the second
  };

  std::vector<std::vector<double>> costs;
  std::vector<Pair> pairs;

  double costOf(llvm::ArrayRef<unsigned> choice) const;
};

struct Solution {
  std::vector<unsigned> choice;
  double cost = 0;
  /// No other choice costs less. Otherwise the choice is the best one found while some variables were fixed one at a
  /// time.
  bool isOptimal = true;
};

/// Eliminates variables, each from the table over its neighbors, the smallest table first: linear in the length of a
/// repetitive and narrow network, as those of models are. If every table would have more than `largestTable` entries,
/// the variable with the most neighbors is given a choice, which is improved in turns with the others. `start` is the
/// initial choice.
Solution solve(const Network &network, llvm::ArrayRef<unsigned> start, size_t largestTable);

} // namespace mlir::tt::shlo::autosharding

#endif // TTMLIR_LIB_DIALECT_STABLEHLO_TRANSFORMS_AUTO_SOLVER_H
