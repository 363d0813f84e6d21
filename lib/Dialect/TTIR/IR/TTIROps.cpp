//===- TTIROps.cpp - hand-written TTIR verifiers and folders --------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/Families/ArgRoles.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/AllocOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/TTLangOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ToLayoutOp.h"
#include "ttmlir/Dialect/TTIR/IR/TTIR.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttir;

std::optional<shapes::ConfigNumbers> ttir::readConfig(Attribute config, StringRef field) {
  auto image = dyn_cast<FlattenedCompatInfoAttr>(config);
  if (!image)
    return std::nullopt;
  return shapes::ConfigNumbers{false,
                               {field == "batch_size"     ? image.getBatchSize()
                                : field == "input_height" ? image.getInputHeight()
                                                          : image.getInputWidth()}};
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

LogicalResult AllocOp::verify() {
  if (shapes::signedInt(getSize()) < 1)
    return emitOpError("attribute 'size' is ") << shapes::signedInt(getSize()) << "; expected 1 or more";
  if (shapes::signedInt(getAddress()) < 0)
    return emitOpError("attribute 'address' is ") << shapes::signedInt(getAddress()) << "; expected 0 or more";
  return success();
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

LogicalResult ToLayoutOp::verify() {
  Type output = getOutput().getType();
  if (isa<MemRefType>(output)) {
    if (getNumResults() != 0)
      return emitOpError("writes a memref and has ") << getNumResults() << " results; expected none";
    return success();
  }
  if (getNumResults() != 1 || getResult(0).getType() != output)
    return emitOpError("expected one result of the output's type, ") << output;
  return success();
}

void ToLayoutOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  if (isa<MemRefType>(getInput().getType()))
    effects.emplace_back(MemoryEffects::Read::get(), &getInputMutable());
  if (isa<MemRefType>(getOutput().getType()))
    effects.emplace_back(MemoryEffects::Write::get(), &getOutputMutable());
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

LogicalResult TTLangOp::verify() { return verifyArgRoles(*this); }
