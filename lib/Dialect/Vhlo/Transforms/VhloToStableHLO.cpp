//===- VhloToStableHLO.cpp - VHLO of the current version to StableHLO -----===//
// SPDX-License-Identifier: Apache-2.0

#include "CompositeAttributes.h"

#include "ttmlir/Dialect/Vhlo/Transforms/Passes.h"

#include "mlir/IR/Builders.h"

namespace mlir::vhlo {
#define GEN_PASS_DEF_VHLOLEGALIZETOSTABLEHLO
#include "ttmlir/Dialect/Vhlo/Transforms/Passes.h.inc"
} // namespace mlir::vhlo

using namespace mlir;
using namespace mlir::vhlo;

//===----------------------------------------------------------------------===//
// Attributes of an op
//===----------------------------------------------------------------------===//

/// The elements of a tensor as an array. They are dimensions; a splat may claim more elements than can be held.
template <class Array> static Attribute arrayOf(Attribute tensor) {
  auto elements = dyn_cast<DenseIntElementsAttr>(tensor);
  constexpr bool isBool = std::is_same_v<Array, DenseBoolArrayAttr>;
  using Element = std::conditional_t<isBool, bool, int64_t>;
  constexpr int64_t most = 1 << 16;
  if (!elements || !elements.getElementType().isSignlessInteger(isBool ? 1 : 64) || elements.getNumElements() > most)
    return {};
  return Array::get(tensor.getContext(), llvm::to_vector(elements.getValues<Element>()));
}

static Attribute symbolOf(Attribute name) {
  auto text = dyn_cast<StringAttr>(name);
  return text ? FlatSymbolRefAttr::get(text) : FlatSymbolRefAttr();
}

static Attribute symbolsOf(Attribute names) {
  auto array = dyn_cast<ArrayAttr>(names);
  if (!array)
    return {};
  SmallVector<Attribute> symbols = llvm::map_to_vector(array, symbolOf);
  return llvm::is_contained(symbols, Attribute()) ? ArrayAttr() : ArrayAttr::get(names.getContext(), symbols);
}

/// An attribute as StableHLO writes it: null if there is none to write.
static FailureOr<Attribute> inForm(const Inherent &inherent, Attribute value, Emit emitError) {
  Attribute converted = toBuiltin(value, emitError);
  if (!converted)
    return failure();
  Attribute result = converted;
  switch (inherent.form) {
  case Form::Plain:
  case Form::Part:
    break;
  case Form::Array:
    result = arrayOf<DenseI64ArrayAttr>(converted);
    break;
  case Form::Bools:
    result = arrayOf<DenseBoolArrayAttr>(converted);
    break;
  case Form::Symbol:
    result = symbolOf(converted);
    break;
  case Form::Symbols:
    result = symbolsOf(converted);
    break;
  case Form::Unit:
    if (auto flag = dyn_cast<BoolAttr>(converted))
      return flag.getValue() ? Attribute(UnitAttr::get(value.getContext())) : Attribute();
    result = {};
  }
  if (!result)
    return emitError() << "has the attribute " << inherent.name << " " << value << ", which is of another kind",
           failure();
  return result;
}

/// Layouts are written for all operands and results, or not at all.
static bool isAbsent(const OpRow &row, const Inherent &inherent, DictionaryAttr attributes) {
  if (!inherent.name.ends_with("_layouts"))
    return isDefault(inherent, attributes.get(inherent.name));
  return llvm::all_of(row.attributes, [&](const Inherent &each) {
    return !each.name.ends_with("_layouts") || isDefault(each, attributes.get(each.name));
  });
}

static LogicalResult inherentOf(const OpRow &row, DictionaryAttr attributes, NamedAttrList &converted, Emit emitError) {
  for (const Inherent &inherent : row.attributes) {
    Attribute given = attributes.get(inherent.name);
    if (!given)
      return emitError() << "has no attribute " << inherent.name;
    if (inherent.form == Form::Part) {
      if (converted.get(inherent.whole))
        continue;
      FailureOr<Attribute> whole = assemble(row, inherent.whole, attributes, emitError);
      if (failed(whole))
        return failure();
      if (*whole)
        converted.append(inherent.whole, *whole);
      continue;
    }
    if (isAbsent(row, inherent, attributes))
      continue;
    FailureOr<Attribute> value = inForm(inherent, given, emitError);
    if (failed(value))
      return failure();
    if (*value)
      converted.append(inherent.name, *value);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static LogicalResult convertType(Value value, Emit emitError) {
  Type type = toBuiltin(value.getType(), emitError);
  if (!type)
    return failure();
  value.setType(type);
  return success();
}

static StringRef nameOf(const OpRow &row, Operation *op) {
  if (row.name != "return_v1")
    return row.stablehlo;
  StringRef parent = op->getParentOp()->getName().getStringRef();
  return parent == "vhlo.func_v1" || parent == "func.func" ? "func.return" : "stablehlo.return";
}

/// Replaces an op, whose operands and regions are converted.
static LogicalResult convertOp(Operation *op, Emit emitError) {
  const OpRow *row = findOp(op->getName().getStringRef());
  if (!row || row->stablehlo.empty())
    return emitError() << "is no op of the current version, " << Version::current().str();
  NamedAttrList inherent;
  if (failed(inherentOf(*row, inherentAttributes(op), inherent, emitError)))
    return failure();
  OperationName name(nameOf(*row, op), op->getContext());
  if (!name.isRegistered())
    return emitError() << "is " << name << " in StableHLO, which this version has not";
  for (NamedAttribute each : inherent)
    if (!llvm::is_contained(name.getAttributeNames(), each.getName()))
      return emitError() << "has the attribute " << each.getName() << ", which " << name << " has not";

  OpBuilder builder(op);
  OperationState state(op->getLoc(), name, op->getOperands(), op->getResultTypes());
  for (NamedAttribute each : op->getDiscardableAttrs()) {
    Attribute value = toBuiltin(each.getValue(), emitError);
    if (!value)
      return failure();
    state.addAttribute(each.getName(), value);
  }
  for (unsigned i = 0; i < op->getNumRegions(); ++i)
    state.addRegion();
  Operation *converted = builder.create(state);
  for (auto [to, from] : llvm::zip_equal(converted->getRegions(), op->getRegions()))
    to.takeBody(from);
  op->replaceAllUsesWith(converted->getResults());
  DictionaryAttr attributes = inherent.getDictionary(op->getContext());
  LogicalResult result = attributes.empty() ? success() : converted->setPropertiesFromAttribute(attributes, emitError);
  op->erase();
  return result;
}

/// A cast between a value of VHLO and the same value of another dialect is an identity now.
static void dropCast(UnrealizedConversionCastOp cast) {
  if (!llvm::equal(cast.getOperandTypes(), cast.getResultTypes()))
    return;
  cast->replaceAllUsesWith(cast.getInputs());
  cast.erase();
}

LogicalResult vhlo::legalizeToStableHLO(ModuleOp module) {
  MLIRContext *context = module.getContext();
  context->loadDialect<func::FuncDialect, quant::QuantDialect, stablehlo::StablehloDialect>();
  // From the inside out: an op is created after its contents.
  WalkResult result = module.walk([&](Operation *op) -> WalkResult {
    auto emitError = [&] { return op->emitError() << "'" << op->getName() << "' "; };
    for (Value value : op->getResults())
      if (failed(convertType(value, emitError)))
        return WalkResult::interrupt();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          if (failed(convertType(argument, emitError)))
            return WalkResult::interrupt();
    if (op->getName().getDialectNamespace() == VhloDialect::getDialectNamespace())
      return convertOp(op, emitError);
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  module.walk(dropCast);
  return success();
}

namespace {
struct Legalize : vhlo::impl::VhloLegalizeToStablehloBase<Legalize> {
  void runOnOperation() override {
    if (failed(legalizeToStableHLO(getOperation())))
      signalPassFailure();
  }
};
} // namespace
