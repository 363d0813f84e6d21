//===- TTIRDialect.cpp - registration of the TTIR dialect -----------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTCore/IR/AsmDirectives.h"
#include "ttmlir/Dialect/TTIR/IR/TTIR.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tt::ttir;

#include "ttmlir/Dialect/TTIR/IR/TTIREnums.cpp.inc"
#include "ttmlir/Dialect/TTIR/IR/TTIROpsDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "ttmlir/Dialect/TTIR/IR/TTIRAttrs.cpp.inc"

void TTIRDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ttmlir/Dialect/TTIR/IR/TTIRAttrs.cpp.inc"
      >();
}

void TTIRDialect::registerOps() { registerTTIROps(*this); }

void TTIRDialect::initialize() {
  registerOps();
  registerAttributes();
}
