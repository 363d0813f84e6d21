//===- Places.cpp - floats that say where something is --------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTCore/Transforms/Places.h"

#include "ttmlir/Dialect/Families/Traits.h"
#include "ttmlir/Dialect/TTCore/IR/TTCore.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace mlir::tt;

static Type elementOf(Value value) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  return tensor ? tensor.getElementType() : Type();
}
static bool isFloat(Value value) { return isa_and_nonnull<FloatType, ttcore::TileType>(elementOf(value)); }
static bool isBoolean(Value value) {
  Type element = elementOf(value);
  return element && element.isInteger(1);
}
/// Booleans are not places: 0 and 1 are exact in each format.
static bool isInteger(Value value) { return isa_and_nonnull<IntegerType>(elementOf(value)) && !isBoolean(value); }

static bool isMadeOfNothing(Value value) {
  Operation *op = value.getDefiningOp();
  return op && op->hasTrait<trait::Creation>();
}

/// Ops of the families; calls and others take their operands unchanged.
static bool isOfAFamily(Operation *op) {
  return op->hasTrait<trait::CheckedShape>() || op->hasTrait<trait::Creation>();
}

ttcore::Places::Places(Operation *scope) {
  SmallVector<Operation *> all;
  scope->walk([&](Operation *op) {
    if (isOfAFamily(op))
      all.push_back(op);
  });
  bool changed = true;
  while (changed) {
    changed = false;
    for (Operation *op : all)
      changed |= goForward(op);
    for (Operation *op : llvm::reverse(all))
      changed |= goBackward(op);
  }
}

/// Whether a periodic function has been fused into the op.
static bool isOfAnAngle(Operation *op) {
  auto activation = op->getAttrOfType<StringAttr>("activation");
  if (!activation || activation.empty())
    return false;
  std::optional<RegisteredOperationName> name = RegisteredOperationName::lookup(
      (op->getName().getDialectNamespace() + "." + activation.getValue()).str(), op->getContext());
  return name && name->hasTrait<trait::Periodic>();
}

bool ttcore::Places::readsPlaces(Operation *op) const {
  return llvm::any_of(op->getOperands(), [&](Value value) { return isPlace(value); });
}

/// Marks the op's floats as places. A constant has no operands and is what its users need.
bool ttcore::Places::require(Operation *op) {
  bool changed = ops.insert(op).second;
  for (Value operand : op->getOperands()) {
    if (!isFloat(operand))
      continue;
    changed |= values.insert(operand).second;
    if (isMadeOfNothing(operand))
      changed |= ops.insert(operand.getDefiningOp()).second;
  }
  for (Value result : op->getResults())
    if (isFloat(result))
      changed |= values.insert(result).second;
  return changed;
}

/// Whether the op computes a place from places, or requires one.
bool ttcore::Places::goForward(Operation *op) {
  if (ops.contains(op) || op->hasTrait<trait::Creation>())
    return false;
  if (op->hasTrait<trait::Product>())
    return isOfAnAngle(op) && readsPlaces(op) && require(op);
  SmallVector<Value> floats = llvm::to_vector(llvm::make_filter_range(op->getOperands(), isFloat));
  const bool isElementwise = op->hasTrait<trait::Elementwise>();
  const bool givesFloats = llvm::any_of(op->getResults(), isFloat);
  if (isElementwise && floats.empty())
    return givesFloats && llvm::any_of(op->getOperands(), isInteger) && require(op);
  if (isElementwise && llvm::any_of(op->getResults(), isInteger))
    return require(op);
  if (op->hasTrait<trait::Periodic>())
    return require(op);
  const bool reads = llvm::any_of(floats, [&](Value value) { return isPlace(value) && !isMadeOfNothing(value); });
  if (!reads)
    return false;
  if (isElementwise && llvm::all_of(op->getResults(), isBoolean))
    return require(op);
  const bool only = llvm::all_of(floats, [&](Value value) { return isPlace(value) || isMadeOfNothing(value); });
  return givesFloats && only && require(op);
}

/// Whether the result of the op is used as a place.
bool ttcore::Places::goBackward(Operation *op) {
  if (ops.contains(op) || op->hasTrait<trait::Creation>() ||
      llvm::none_of(op->getResults(), [&](Value value) { return isPlace(value); }))
    return false;
  // Narrow formats are meant for products of data and weights, not for those with places.
  if (op->hasTrait<trait::Product>() && !readsPlaces(op))
    return false;
  return require(op);
}
