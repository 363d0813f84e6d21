//===- Effects.h - what ops do with their operands --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_FAMILIES_EFFECTS_H
#define TTMLIR_DIALECT_FAMILIES_EFFECTS_H

#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::tt {

/// Whether an op does more with its operands than read them: it writes to them in place, or frees them.
inline bool affectsOperands(Operation *op) {
  return op->getNumOperands() != 0 && !op->hasTrait<OpTrait::IsTerminator>() && !isMemoryEffectFree(op) &&
         op->getName().getDialectNamespace() != "debug";
}

/// Whether an op after `op`, or in another block, affects `value`: a reader there may find other values than `op` does.
inline bool isAffectedAfter(Value value, Operation *op) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    return affectsOperands(user) && (user->getBlock() != op->getBlock() || op->isBeforeInBlock(user));
  });
}

} // namespace mlir::tt

#endif // TTMLIR_DIALECT_FAMILIES_EFFECTS_H
