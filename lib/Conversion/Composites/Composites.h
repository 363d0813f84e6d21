//===- Composites.h - ops as expressions of others --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Ops that a target does not compute itself, written with simpler ops. The cores of TTMetal programs and the functions
// of the host share them.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_LIB_CONVERSION_COMPOSITES_COMPOSITES_H
#define TTMLIR_LIB_CONVERSION_COMPOSITES_COMPOSITES_H

#include "Expressions.h"

#include "llvm/ADT/StringMap.h"

#include <functional>
#include <string>

namespace mlir::tt {

/// The values of an op's results in any element types, or none if `refusal` states the reason.
template <class OpT> using ResultsOf = SmallVector<Tensor> (*)(OpT op, Expressions &e, std::string &refusal);
using Composite = std::function<SmallVector<Tensor>(Operation *op, Expressions &e, std::string &refusal)>;
using CompositeTable = llvm::StringMap<Composite>; // by op name

template <class OpT> void addComposite(CompositeTable &table, ResultsOf<OpT> results) {
  table[OpT::getOperationName()] = [results](Operation *op, Expressions &e, std::string &refusal) {
    return results(cast<OpT>(op), e, refusal);
  };
}

/// The results of an op as `composite` computes them, with the types that the op has; none if it refuses.
SmallVector<Value> expanded(Operation *op, const Composite &composite, Expressions &e, std::string &refusal);

/// All that are written here.
const CompositeTable &composites();

// Each adds those of one family.
void addAttentionComposites(CompositeTable &table);
void addQuantizationComposites(CompositeTable &table);
void addSelectionComposites(CompositeTable &table);
void addTrainingComposites(CompositeTable &table);
void addWindowComposites(CompositeTable &table);

} // namespace mlir::tt

#endif // TTMLIR_LIB_CONVERSION_COMPOSITES_COMPOSITES_H
