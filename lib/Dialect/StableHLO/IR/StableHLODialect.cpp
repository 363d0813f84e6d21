//===- StableHLODialect.cpp - the StableHLO dialect -----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Bytecode.h"

#include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.h"

using namespace mlir;
using namespace mlir::stablehlo;

#include "ttmlir/Dialect/StableHLO/IR/StableHLOOpsDialect.cpp.inc"

void StablehloDialect::initialize() {
  registerAttributes();
  registerTypes();
  addInterface(makeBytecode(this));
  registerStableHLOOps(*this);
}

Operation *StablehloDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type || !isa<RankedTensorType>(type))
    return nullptr;
  return ConstantOp::create(builder, loc, type, elements);
}
