//===- TTNNDialect.cpp - registration of the TTNN dialect -----------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTNN/IR/TTNN.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tt::ttnn;

#include "ttmlir/Dialect/TTNN/IR/TTNNOpsDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "ttmlir/Dialect/TTNN/IR/TTNNTypes.cpp.inc"

namespace {
/// Memories print as #dram, #l1, #system_memory, ...; layouts as #ttnn_layout.
struct TTNNAsmInterface : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attr, raw_ostream &os) const override {
    if (auto buffer = dyn_cast<BufferTypeAttr>(attr))
      os << stringifyBufferType(buffer.getValue());
    else if (isa<TTNNLayoutAttr>(attr))
      os << "ttnn_layout";
    else
      return AliasResult::NoAlias;
    return AliasResult::OverridableAlias;
  }
};
} // namespace

void TTNNDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "ttmlir/Dialect/TTNN/IR/TTNNTypes.cpp.inc"
      >();
}

void TTNNDialect::initialize() {
  registerTTNNOps(*this);
  registerAttributes();
  registerTypes();
  addInterfaces<TTNNAsmInterface>();
}
