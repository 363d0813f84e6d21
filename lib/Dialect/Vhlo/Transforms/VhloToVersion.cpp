//===- VhloToVersion.cpp - VHLO to a version ------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Data.h"

#include "ttmlir/Dialect/Vhlo/Transforms/Passes.h"

#include "mlir/IR/Builders.h"

namespace mlir::vhlo {
#define GEN_PASS_DEF_VHLOTOVERSION
#include "ttmlir/Dialect/Vhlo/Transforms/Passes.h.inc"
} // namespace mlir::vhlo

using namespace mlir;
using namespace mlir::vhlo;

//===----------------------------------------------------------------------===//
// Attributes and types
//===----------------------------------------------------------------------===//

static std::string notIn(const Version &target) { return ", which version " + target.str() + " has not"; }

/// Whether this check skips the attribute or type.
static bool isOpaque(StringRef mnemonic) {
  return llvm::is_contained({"quant_per_axis_v1", "future_v1", "mesh_v1", "mesh_axis_v1"}, mnemonic);
}

/// Returns the text of the first attribute or type within an attribute that a version lacks.
static std::optional<std::string> newerThan(Attribute attribute, const Version &target);

/// The same of a VhloType or VhloAttr itself, `kind`.
template <class Stored> static std::optional<std::string> newer(Stored stored, StringRef kind, const Version &target) {
  if (!stored)
    return std::nullopt;
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (target < stored.row().since)
    return stream << "the " << kind << ' ' << stored, text;
  if (isOpaque(stored.row().mnemonic))
    return std::nullopt;
  for (Attribute field : stored.fields())
    if (auto found = newerThan(field, target))
      return found;
  return std::nullopt;
}

static std::optional<std::string> newerThan(Type type, const Version &target) {
  return newer(dyn_cast<VhloType>(type), "type", target);
}

static std::optional<std::string> newerThan(Attribute attribute, const Version &target) {
  if (auto type = dyn_cast_or_null<TypeAttr>(attribute))
    return newerThan(type.getValue(), target);
  if (auto array = dyn_cast_or_null<ArrayAttr>(attribute)) {
    for (Attribute each : array)
      if (auto found = newerThan(each, target))
        return found;
    return std::nullopt;
  }
  return newer(dyn_cast_or_null<VhloAttr>(attribute), "attribute", target);
}

static LogicalResult checkData(Operation *op, const Version &target) {
  auto check = [&](const std::optional<std::string> &found) -> LogicalResult {
    return found ? op->emitError() << "'" << op->getName() << "' has " << *found << notIn(target) : success();
  };
  for (NamedAttribute each : op->getAttrDictionary())
    if (failed(check(newerThan(each.getValue(), target))))
      return failure();
  for (Type type : op->getResultTypes())
    if (failed(check(newerThan(type, target))))
      return failure();
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Type type : block.getArgumentTypes())
        if (failed(check(newerThan(type, target))))
          return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Additional requirements of a version on an op
//===----------------------------------------------------------------------===//

/// The type of the elements of a tensor, or the type itself.
static Type elementOf(Type type) {
  auto vhlo = dyn_cast<VhloType>(type);
  return vhlo && vhlo.is("tensor_v1") ? cast<TypeAttr>(vhlo.fields().back()).getValue() : type;
}

/// Results of a reduction have the element types of the operands.
static LogicalResult checkElements(Operation *op, const Version &target) {
  for (auto [operand, result] : llvm::zip(op->getOperandTypes(), op->getResultTypes()))
    if (elementOf(operand) != elementOf(result))
      return op->emitError() << "'" << op->getName() << "' makes " << elementOf(result) << " of " << elementOf(operand)
                             << "; version " << target.str() << " keeps the type of elements";
  return success();
}

static LogicalResult checkCall(Operation *op, const Version &target) {
  auto refuse = [&](StringRef what) -> LogicalResult {
    return op->emitError() << "'" << op->getName() << "' has " << what << notIn(target);
  };
  auto isA = [](auto value, StringRef mnemonic) { return value && value.is(mnemonic); };
  if (target < Version{1, 17, 0} &&
      llvm::any_of(op->getOperandTypes(), [&](Type type) { return isA(dyn_cast<VhloType>(type), "future_v1"); }))
    return refuse("an operand that is a future");
  if (!(target < Version{1, 3, 0}))
    return success();
  if (isA(op->getAttrOfType<VhloAttr>("backend_config"), "dict_v1"))
    return refuse("a backend_config that is a dictionary");
  if (op->getAttr("api_version") == makeEnum(op->getContext(), "api_version_v1", "API_VERSION_TYPED_FFI"))
    return refuse("the api_version API_VERSION_TYPED_FFI");
  return success();
}

static LogicalResult checkConstraints(Operation *op, const OpRow &row, const Version &target) {
  StringRef base = row.split().first;
  if (base == "custom_call")
    return checkCall(op, target);
  if (target < Version{0, 17, 0} &&
      llvm::is_contained({"all_reduce", "reduce", "reduce_scatter", "reduce_window", "scatter", "select_and_scatter"},
                         base))
    return checkElements(op, target);
  return success();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Whether the older row can express an op of the newer one: missing attributes have their defaults, and lists of one
/// element are single values. The attribute of a convolution with dynamic padding was never read.
static bool canGoBack(Operation *op, const OpRow &from, const OpRow &to) {
  DictionaryAttr attributes = inherentAttributes(op);
  for (const Inherent &each : from.attributes)
    if (!to.find(each.name) && !isDefault(each, attributes.get(each.name)))
      return false;
  StringRef base = from.split().first;
  if (llvm::is_contained({"all_gather", "all_reduce", "all_to_all", "collective_broadcast"}, base))
    return op->getNumOperands() == 1;
  return base != "composite" || op->getNumRegions() == 0;
}

/// Replaces an op by one of the next or previous version.
static FailureOr<Operation *> replaceBy(Operation *op, const OpRow &to) {
  NamedAttrList attributes;
  DictionaryAttr given = inherentAttributes(op);
  for (const Inherent &each : to.attributes) {
    Attribute value = given.get(each.name);
    if (!value)
      value = defaultOf(each, op);
    if (!value)
      return op->emitError() << "'" << op->getName() << "' has no attribute " << each.name;
    attributes.append(each.name, value);
  }
  OpBuilder builder(op);
  Operation *converted =
      createOp(builder, op->getLoc(), to, op->getResultTypes(), op->getOperands(),
               attributes.getDictionary(op->getContext()), op->getDiscardableAttrDictionary(), op->getNumRegions());
  for (auto [into, from] : llvm::zip_equal(converted->getRegions(), op->getRegions()))
    into.takeBody(from);
  op->replaceAllUsesWith(converted->getResults());
  op->erase();
  return converted;
}

static LogicalResult convertOp(Operation *op, const Version &target) {
  const OpRow *row = findOp(op->getName().getStringRef());
  while (!row->legalIn(target)) {
    const bool isNewer = target < row->since;
    auto [base, number] = row->split();
    const OpRow *next = findOp(base, isNewer ? number - 1 : number + 1);
    if (!next || (isNewer && !canGoBack(op, *row, *next)))
      return op->emitError() << "'" << op->getName() << "' is of version " << row->since.str()
                             << (next ? " and has what " + next->name.str() + " cannot say" : "") << "; version "
                             << target.str() << " has no such op";
    FailureOr<Operation *> replaced = replaceBy(op, *next);
    if (failed(replaced))
      return failure();
    op = *replaced;
    row = next;
  }
  if (failed(checkConstraints(op, *row, target)))
    return failure();
  return checkData(op, target);
}

/// Locations of older versions have one line and column.
static void shortenPlaces(ModuleOp module) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([](FileLineColRange range) -> std::optional<Attribute> {
    return FileLineColLoc::get(range.getFilename(), range.getStartLine(), range.getStartColumn());
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/false, /*replaceLocs=*/true);
}

LogicalResult vhlo::convertToVersion(ModuleOp module, const Version &given) {
  const Version target = given.withoutPatch();
  if (target < Version{1, 9, 0})
    shortenPlaces(module);
  WalkResult result = module.walk([&](Operation *op) -> WalkResult {
    if (op->getName().getDialectNamespace() == VhloDialect::getDialectNamespace())
      return convertOp(op, target);
    if (target < Version{1, 11, 0} && !isa<ModuleOp>(op))
      return op->emitError() << "'" << op->getName() << "' is of another dialect" << notIn(target);
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct ToVersion : vhlo::impl::VhloToVersionBase<ToVersion> {
  using VhloToVersionBase::VhloToVersionBase;
  void runOnOperation() override {
    auto error = [&](const Twine &text) { getOperation().emitError(text); };
    FailureOr<Version> version = Version::parseTarget(target, error);
    if (failed(version) || failed(convertToVersion(getOperation(), *version)))
      signalPassFailure();
  }
};
} // namespace
