//===- InherentAttributes.h - an op's own attributes ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_INHERENTATTRIBUTES_H
#define TTMLIR_DIALECT_INHERENTATTRIBUTES_H

#include "mlir/IR/Operation.h"

namespace mlir::tt {

/// Whether the op's definition has an attribute of this name. `Operation::getInherentAttr` does not tell: for an op
/// without inherent attributes, it also finds discardable ones.
inline bool isInherent(OperationName op, StringAttr name) {
  return op.isRegistered() && (llvm::is_contained(op.getAttributeNames(), name) || name == "operandSegmentSizes" ||
                               name == "resultSegmentSizes");
}

/// Whether an attribute is meaningful to an op that replaces this one: it is this op's own, or that of a dialect.
/// Others are notes of the program's author.
inline bool isPassedOn(Operation *op, StringAttr name) {
  return name.strref().contains('.') || isInherent(op->getName(), name);
}

} // namespace mlir::tt

#endif // TTMLIR_DIALECT_INHERENTATTRIBUTES_H
