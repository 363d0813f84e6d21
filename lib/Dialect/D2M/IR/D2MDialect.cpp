//===- D2MDialect.cpp - the D2M dialect ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/D2M/IR/D2M.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::d2m;

#include "ttmlir/Dialect/D2M/IR/D2MOpsDialect.cpp.inc"

void D2MDialect::initialize() {
  registerD2MOps(*this);
  registerAttributes();
  registerTypes();
}

bool d2m::liesIn(Type type, ArrayRef<ttcore::MemorySpace> spaces) {
  auto memref = dyn_cast<MemRefType>(type);
  auto space = memref ? dyn_cast_or_null<ttcore::MemorySpaceAttr>(memref.getMemorySpace()) : nullptr;
  return space && llvm::is_contained(spaces, space.getValue());
}

LogicalResult d2m::detail::verifyThread(Operation *op, ThreadType type) {
  Region *region = op->getParentRegion();
  while (region && !isa<GenericOp>(region->getParentOp()))
    region = region->getParentRegion();
  if (!region)
    return success();
  // If a generic itself is invalid, its contents are not reported.
  ArrayAttr threads = cast<GenericOp>(region->getParentOp()).getThreads();
  if (region->getRegionNumber() >= threads.size())
    return success();
  const ThreadType found = cast<ThreadAttr>(threads[region->getRegionNumber()]).getThreadType();
  if (found == type || found == ThreadType::Unified)
    return success();
  return op->emitOpError() << "is in a " << stringifyThreadType(found) << " thread of d2m.generic; expected a "
                           << stringifyThreadType(type) << " thread";
}
