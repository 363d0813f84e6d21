//===- TTKernelDialect.cpp - the TTKernel dialect --------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTKernel/IR/TTKernel.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tt::ttkernel;

#include "ttmlir/Dialect/TTKernel/IR/TTKernelEnums.cpp.inc"
#include "ttmlir/Dialect/TTKernel/IR/TTKernelOpsDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "ttmlir/Dialect/TTKernel/IR/TTKernelTypes.cpp.inc"

void TTKernelDialect::initialize() {
  registerTTKernelOps(*this);
  registerTypes();
}

void TTKernelDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "ttmlir/Dialect/TTKernel/IR/TTKernelTypes.cpp.inc"
      >();
}
