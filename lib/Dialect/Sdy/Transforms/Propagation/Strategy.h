//===- Strategy.h - one step of propagation ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_LIB_DIALECT_SDY_TRANSFORMS_PROPAGATION_STRATEGY_H
#define TTMLIR_LIB_DIALECT_SDY_TRANSFORMS_PROPAGATION_STRATEGY_H

#include "../Common/Factors.h"
#include "ttmlir/Dialect/Sdy/Transforms/Passes.h"

namespace mlir::sdy {

/// The input of a propagation step: the rule of an op, and the split of its tensors.
struct Step {
  const Rule &rule;
  MeshAttr mesh;
  ArrayRef<PropagationDirection> directions; // of each factor
  bool isConservative, isElementwise;
  MutableArrayRef<FactorShardings> tensors;
  /// For each tensor, the sizes of its factors where they differ from the rule's; empty if none differs.
  ArrayRef<SmallVector<int64_t>> sizes = {};
};

/// Extends the axes of factors by those of other tensors; true if any changed.
bool runStep(PropagationStrategy strategy, Step &step);

PropagationDirection unite(PropagationDirection a, PropagationDirection b);
PropagationDirection intersect(PropagationDirection a, PropagationDirection b);

} // namespace mlir::sdy

#endif // TTMLIR_LIB_DIALECT_SDY_TRANSFORMS_PROPAGATION_STRATEGY_H
