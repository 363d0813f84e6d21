//===- InherentAttributes.h - an op's own attributes ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_INHERENTATTRIBUTES_H
#define TTMLIR_DIALECT_INHERENTATTRIBUTES_H

#include "mlir/IR/Operation.h"

namespace mlir::tt {

/// Whether the op's definition has an attribute of this name. `Operation::getInherentAttr` does not tell: of an op
/// without any it finds those that are attached to it.
inline bool isInherent(OperationName op, StringAttr name) {
  return op.isRegistered() && (llvm::is_contained(op.getAttributeNames(), name) || name == "operandSegmentSizes" ||
                               name == "resultSegmentSizes");
}

/// Whether an attribute says something to an op that takes the place of this one: it is this op's own, or one of a
/// dialect. Others are notes of the program's author.
inline bool isPassedOn(Operation *op, StringAttr name) {
  return name.strref().contains('.') || isInherent(op->getName(), name);
}

} // namespace mlir::tt

#endif // TTMLIR_DIALECT_INHERENTATTRIBUTES_H
