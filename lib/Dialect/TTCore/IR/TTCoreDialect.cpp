//===- TTCoreDialect.cpp - registration of the TTCore dialect -------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTCore/IR/Locations.h"
#include "ttmlir/Dialect/TTCore/IR/TTCore.h"

#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace mlir::tt::ttcore;

#include "ttmlir/Dialect/TTCore/IR/TTCoreOpsDialect.cpp.inc"

namespace {
/// Memory spaces and iterator types print as #l1, #dram, #parallel, ...;
/// layouts and system descriptions as #layout and #system_desc.
struct TTCoreAsmInterface : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attr, raw_ostream &os) const override {
    if (auto memorySpace = dyn_cast<MemorySpaceAttr>(attr))
      os << stringifyMemorySpace(memorySpace.getValue());
    else if (auto iterator = dyn_cast<IteratorTypeAttr>(attr))
      os << stringifyIteratorType(iterator.getValue());
    else if (isa<MetalLayoutAttr>(attr))
      os << "layout";
    else if (isa<SystemDescAttr>(attr))
      os << "system_desc";
    else
      return AliasResult::NoAlias;
    return AliasResult::OverridableAlias;
  }
};
} // namespace

void TTCoreDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "ttmlir/Dialect/TTCore/IR/TTCoreOps.cpp.inc"
      >();
  registerAttributes();
  registerTypes();
  addInterfaces<TTCoreAsmInterface>();
  makeDiagnosticsReadable(getContext());
}
