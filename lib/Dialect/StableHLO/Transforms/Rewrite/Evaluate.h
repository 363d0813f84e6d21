//===- Evaluate.h - what ops of constants give ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_DIALECT_STABLEHLO_TRANSFORMS_REWRITE_EVALUATE_H
#define TTMLIR_LIB_DIALECT_STABLEHLO_TRANSFORMS_REWRITE_EVALUATE_H

#include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.h"

#include "mlir/IR/Matchers.h"

namespace mlir::tt::shlo {

struct EvaluationLimits {
  /// Elements of a result that is not a splat.
  int64_t elements = 65536;
  bool withFloats = true;
  bool onlyMoves = false;
};

/// The value of the one result of an op whose operands are constants. Null for ops that are not evaluated, for results
/// that the specification does not define, and beyond the limits.
DenseElementsAttr evaluate(Operation *op, const EvaluationLimits &limits);

} // namespace mlir::tt::shlo

#endif // TTMLIR_LIB_DIALECT_STABLEHLO_TRANSFORMS_REWRITE_EVALUATE_H
