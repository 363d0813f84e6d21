//===- Places.h - floats that say where something is ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A position, a coordinate or an angle is a different one after rounding to a narrow format: bf16 has no 257. Passes
// that narrow floats leave such values unchanged.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_DIALECT_TTCORE_TRANSFORMS_PLACES_H
#define TTMLIR_DIALECT_TTCORE_TRANSFORMS_PLACES_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::tt::ttcore {

/// Finds ops that compute places (positions in a tensor), by traits of ops alone, so it works on TTIR and TTNN.
///
/// Places are integers as floats, operands of elementwise ops with integer results and of periodic functions, floats
/// that are compared with places, and results of ops other than products on places and constants alone. The operands of
/// a place are places, too, up to a product. A product that has another place for an operand (positions by frequencies,
/// coordinates by a matrix) continues the search, and one of data and weights ends it.
class Places {
public:
  /// Analyses all ops in `scope`.
  explicit Places(Operation *scope);

  /// Whether floats of the op keep their types, because it computes a place.
  bool isComputedBy(Operation *op) const { return ops.contains(op); }

private:
  bool goForward(Operation *op);
  bool goBackward(Operation *op);
  bool isPlace(Value value) const { return values.contains(value); }
  bool readsPlaces(Operation *op) const;
  bool require(Operation *op);

  llvm::DenseSet<Value> values;
  llvm::DenseSet<Operation *> ops;
};

} // namespace mlir::tt::ttcore

#endif // TTMLIR_DIALECT_TTCORE_TRANSFORMS_PLACES_H
