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

/// The type of the written operand, if it is a value.
LogicalResult ToLayoutOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, ValueRange operands,
                                           DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
                                           SmallVectorImpl<Type> &results) {
  if (operands.size() != 2)
    return emitOptionalError(location, "ttir.to_layout: has ", operands.size(), " operands; expected 2");
  if (Type output = operands[1].getType(); isa<RankedTensorType>(output))
    results.push_back(output);
  return success();
}

LogicalResult ToLayoutOp::refineReturnTypes(MLIRContext *, std::optional<Location>, ValueRange, DictionaryAttr,
                                            OpaqueProperties, RegionRange, SmallVectorImpl<Type> &) {
  return success();
}

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

LogicalResult TTLangOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, ValueRange operands,
                                         DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
                                         SmallVectorImpl<Type> &results) {
  Adaptor adaptor(operands, attributes, properties, regions);
  if (!adaptor.getArgRolesAttr())
    return emitOptionalError(location, "ttir.tt_lang_op: attribute 'arg_roles' is missing");
  return writtenTypes(adaptor.getArgRoles(), operands, results,
                      [&](const Twine &text) { return emitOptionalError(location, "ttir.tt_lang_op: ", text.str()); });
}

LogicalResult TTLangOp::refineReturnTypes(MLIRContext *, std::optional<Location>, ValueRange, DictionaryAttr,
                                          OpaqueProperties, RegionRange, SmallVectorImpl<Type> &) {
  return success();
}

LogicalResult TTLangOp::verify() { return verifyArgRoles(*this); }
