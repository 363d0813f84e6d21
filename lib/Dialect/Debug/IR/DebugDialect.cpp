//===- DebugDialect.cpp - the debug dialect -------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/Debug/IR/Debug.h"

using namespace mlir;
using namespace mlir::tt::debug;

#include "ttmlir/Dialect/Debug/IR/DebugOpsDialect.cpp.inc"

void DebugDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "ttmlir/Dialect/Debug/IR/DebugOps.cpp.inc"
      >();
}

namespace mlir::tt::debug::detail {
/// Refuses an empty name: no file or scope can be found by it.
static LogicalResult verifyNames(Operation *op) {
  for (NamedAttribute attribute : op->getAttrs())
    if (auto text = dyn_cast<StringAttr>(attribute.getValue());
        text && text.empty() && llvm::is_contained(op->getRegisteredInfo()->getAttributeNames(), attribute.getName()))
      return op->emitOpError() << attribute.getName().getValue() << " is empty";
  return success();
}
} // namespace mlir::tt::debug::detail

#define GET_OP_CLASSES
#include "ttmlir/Dialect/Debug/IR/DebugOps.cpp.inc"
