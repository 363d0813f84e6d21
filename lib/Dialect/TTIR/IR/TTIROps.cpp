//===- TTIROps.cpp - hand-written TTIR verifiers and folders --------------===//
// SPDX-License-Identifier: Apache-2.0

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

/// Roles are in, out or inout, one per input; each written input has a result of its type.
LogicalResult TTLangOp::verify() {
  SmallVector<StringRef> roles;
  getArgRoles().split(roles, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  if (roles.size() != getInputs().size())
    return emitOpError("attribute 'arg_roles' has ")
           << roles.size() << " roles for " << getInputs().size() << " inputs";
  SmallVector<Type> written;
  for (auto [role, input] : llvm::zip(roles, getInputs())) {
    StringRef name = role.trim();
    if (name != "in" && name != "out" && name != "inout")
      return emitOpError("attribute 'arg_roles' has \"") << name << "\"; expected in, out or inout";
    if (name != "in")
      written.push_back(input.getType());
  }
  if (TypeRange(written) != TypeRange(getResultTypes()))
    return emitOpError("has results of types ")
           << getResultTypes() << "; expected those of the written inputs, " << written;
  return success();
}
