//===- StableHLOToVhlo.cpp - StableHLO to VHLO of the current version -----===//
// SPDX-License-Identifier: Apache-2.0

#include "CompositeAttributes.h"

#include "ttmlir/Dialect/Vhlo/Transforms/Passes.h"

#include "mlir/IR/Builders.h"

namespace mlir::vhlo {
#define GEN_PASS_DEF_STABLEHLOLEGALIZETOVHLO
#include "ttmlir/Dialect/Vhlo/Transforms/Passes.h.inc"
} // namespace mlir::vhlo

using namespace mlir;
using namespace mlir::vhlo;

//===----------------------------------------------------------------------===//
// Attributes of an op
//===----------------------------------------------------------------------===//

/// The number of an enum that StableHLO writes as a number.
static Attribute apiVersion(Attribute given) {
  auto number = dyn_cast<IntegerAttr>(given);
  const DataRow &row = *findAttribute("api_version_v1");
  if (!number || !number.getType().isSignlessInteger(32) || !row.nameOf(static_cast<uint64_t>(number.getInt())))
    return {};
  return VhloAttr::get(given.getContext(), row, {Builder(given.getContext()).getI64IntegerAttr(number.getInt())});
}

/// An attribute of an op in VHLO, or null after an error.
static Attribute inherentOf(Operation *op, const Inherent &inherent, bool allowOthers, Emit emitError) {
  const bool isPart = inherent.form == Form::Part;
  Attribute given = op->getAttr(isPart ? inherent.whole : inherent.name);
  Attribute converted;
  if (!given)
    converted = defaultOf(inherent, op);
  else if (isPart)
    converted = partOfWhole(given, inherent.name);
  else if (inherent.name == "api_version")
    converted = apiVersion(given);
  else if (inherent.form == Form::Unit)
    converted = makeBool(op->getContext(), true);
  else
    converted = toVhlo(given, allowOthers);
  if (converted)
    return converted;
  StringRef name = isPart ? inherent.whole : inherent.name;
  if (given)
    emitError() << "has the attribute " << name << " = " << given << ", which a portable artifact cannot hold";
  else
    emitError() << "has no attribute " << name << ", which a portable artifact needs";
  return {};
}

/// Attributes of other dialects stay if they are allowed.
static LogicalResult discardableOf(Operation *op, NamedAttrList &converted, bool allowOthers, Emit emitError) {
  for (NamedAttribute each : op->getDiscardableAttrs()) {
    Attribute value = toVhlo(each.getValue(), allowOthers);
    if (!value && !allowOthers)
      return emitError() << "has the attribute " << each.getName() << " = " << each.getValue()
                         << ", which a portable artifact cannot hold";
    converted.append(each.getName(), value ? value : each.getValue());
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// The row of an op, or null for an op of another dialect.
static const OpRow *rowOf(Operation *op) { return findOpFor(op->getName().getStringRef()); }

/// Whether an op without a row may stay.
static bool mayStay(Operation *op, bool allowOthers) {
  StringRef dialect = op->getName().getDialectNamespace();
  return isa<ModuleOp>(op) || dialect == "vhlo" || (allowOthers && dialect != "stablehlo" && dialect != "chlo");
}

static LogicalResult convertType(Value value, bool allowOthers, Emit emitError) {
  Type type = toVhlo(value.getType(), allowOthers);
  if (!type && !allowOthers)
    return emitError() << "has a value of type " << value.getType() << ", which a portable artifact cannot hold";
  if (type)
    value.setType(type);
  return success();
}

static LogicalResult convertArguments(Operation *op, bool allowOthers, Emit emitError) {
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Value argument : block.getArguments())
        if (failed(convertType(argument, allowOthers, emitError)))
          return failure();
  return success();
}

/// An op of another dialect keeps its types, between casts.
static void castAround(Operation *op) {
  OpBuilder builder(op);
  auto castFrom = [&](Value value) {
    Type type = toVhlo(value.getType(), /*allowOthers=*/true);
    if (!type || value.use_empty())
      return;
    auto cast = UnrealizedConversionCastOp::create(builder, value.getLoc(), type, value);
    value.replaceAllUsesExcept(cast.getResult(0), cast);
  };
  auto ignored = [&]() -> InFlightDiagnostic { return op->emitError(); };
  for (OpOperand &operand : op->getOpOperands()) {
    // The type of a value of this dialect was converted from one to which it converts back.
    if (!isa<VhloType>(operand.get().getType()))
      continue;
    Type type = toBuiltin(operand.get().getType(), ignored);
    if (type)
      operand.set(UnrealizedConversionCastOp::create(builder, op->getLoc(), type, operand.get()).getResult(0));
  }
  builder.setInsertionPointAfter(op);
  for (Value result : op->getResults())
    castFrom(result);
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      builder.setInsertionPointToStart(&block);
      for (Value argument : block.getArguments())
        castFrom(argument);
    }
}

static LogicalResult convertOp(Operation *op, const OpRow &row, bool allowOthers, Emit emitError) {
  NamedAttrList inherent, discardable;
  for (const Inherent &each : row.attributes) {
    Attribute value = inherentOf(op, each, allowOthers, emitError);
    if (!value)
      return failure();
    inherent.append(each.name, value);
  }
  if (failed(discardableOf(op, discardable, allowOthers, emitError)))
    return failure();
  MLIRContext *context = op->getContext();
  OpBuilder builder(op);
  Operation *converted =
      createOp(builder, op->getLoc(), row, op->getResultTypes(), op->getOperands(), inherent.getDictionary(context),
               discardable.getDictionary(context), op->getNumRegions());
  for (auto [to, from] : llvm::zip_equal(converted->getRegions(), op->getRegions()))
    to.takeBody(from);
  op->replaceAllUsesWith(converted->getResults());
  op->erase();
  return success();
}

LogicalResult vhlo::legalizeToVhlo(ModuleOp module, bool allowOthers) {
  module.getContext()->loadDialect<VhloDialect>();
  auto emitFor = [](Operation *op) { return [op] { return op->emitError() << "'" << op->getName() << "' "; }; };
  // Casts are created while values have their own types, and are converted with them.
  SmallVector<Operation *> others;
  WalkResult result = module.walk([&](Operation *op) -> WalkResult {
    if (rowOf(op))
      return WalkResult::advance();
    if (!mayStay(op, allowOthers))
      return emitFor(op)() << "is an op that a portable artifact cannot hold";
    if (!isa<ModuleOp>(op))
      others.push_back(op);
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  result = module.walk([&](Operation *op) -> WalkResult {
    const OpRow *row = rowOf(op);
    if (!row)
      return WalkResult::advance();
    for (Value value : op->getResults())
      if (failed(convertType(value, allowOthers, emitFor(op))))
        return WalkResult::interrupt();
    if (failed(convertArguments(op, allowOthers, emitFor(op))))
      return WalkResult::interrupt();
    return convertOp(op, *row, allowOthers, emitFor(op));
  });
  if (result.wasInterrupted())
    return failure();
  for (Operation *op : others)
    castAround(op);
  return success();
}

namespace {
struct LegalizeToVhlo : vhlo::impl::StablehloLegalizeToVhloBase<LegalizeToVhlo> {
  using StablehloLegalizeToVhloBase::StablehloLegalizeToVhloBase;
  void runOnOperation() override {
    if (failed(legalizeToVhlo(getOperation(), allowOtherDialects)))
      signalPassFailure();
  }
};
} // namespace
