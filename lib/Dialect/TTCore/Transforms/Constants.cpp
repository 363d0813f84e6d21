//===- Constants.cpp - values that do not change between runs -------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTCore/Transforms/Constants.h"

#include "ttmlir/Dialect/Families/Effects.h"
#include "ttmlir/Dialect/Families/Traits.h"
#include "ttmlir/Dialect/TTCore/IR/TTCore.h"
#include "ttmlir/Dialect/TTCore/Transforms/MergedOps.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::tt;

bool ttcore::isConstantArgument(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto function = argument ? dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp()) : FunctionOpInterface();
  if (!function || argument.getOwner() != &function.getFunctionBody().front())
    return false;
  auto kind = function.getArgAttrOfType<ArgumentTypeAttr>(argument.getArgNumber(), argumentTypeName);
  return kind && (kind.getValue() == ArgumentType::Parameter || kind.getValue() == ArgumentType::Constant);
}

FailureOr<ttcore::DataType> ttcore::weightDtypeOf(Attribute attribute, llvm::function_ref<InFlightDiagnostic()> error) {
  auto name = dyn_cast<StringAttr>(attribute);
  std::optional<DataType> type = name ? symbolizeDataType(name.getValue()) : std::nullopt;
  if (type && isa<FloatType>(dataTypeToElementType(attribute.getContext(), *type)))
    return *type;
  return error() << weightDtypeName << " is " << attribute
                 << "; expected the name of a float format: \"f32\", \"bf16\", \"bfp_bf8\" or \"bfp_bf4\"";
}

static bool haveSame(StringRef name, Operation *lhs, Operation *rhs) {
  return lhs->getDiscardableAttr(name) == rhs->getDiscardableAttr(name);
}

/// An op without requests joins its neighbors' requests: ops that passes create may have no epoch number.
static bool mayShare(StringRef name, Operation *lhs, Operation *rhs) {
  Attribute left = lhs->getDiscardableAttr(name), right = rhs->getDiscardableAttr(name);
  return !left || !right || left == right;
}

static bool mayShareCores(Operation *lhs, Operation *rhs) {
  return mayShare(ttcore::epochName, lhs, rhs) && mayShare(ttcore::gridName, lhs, rhs);
}

FailureOr<ttcore::GridAttr> ttcore::requestedGrid(Operation *op) {
  Attribute value = op->getDiscardableAttr(gridName);
  auto grid = dyn_cast_or_null<GridAttr>(value);
  if (value && (!grid || grid.getShape().size() != 2 || llvm::any_of(grid.getShape(), [](int64_t n) { return n < 1; })))
    return op->emitOpError() << gridName << " is " << value
                             << "; expected a grid of rows and columns of cores, such as #ttcore.grid<2x4>";
  return grid;
}

bool ttcore::mayFuse(Operation *lhs, Operation *rhs) {
  return haveSame(computeConfigName, lhs, rhs) && haveSame(fusionGroupName, lhs, rhs) && mayShareCores(lhs, rhs);
}

bool ttcore::mayJoin(Operation *op, Operation *product) {
  return (!op->getDiscardableAttr(computeConfigName) || haveSame(computeConfigName, op, product)) &&
         haveSame(fusionGroupName, op, product) && mayShareCores(op, product);
}

bool ttcore::hasRequests(Operation *op) {
  return llvm::any_of(requestNames, [&](StringRef name) { return op->getDiscardableAttr(name); });
}

static void passOn(StringRef name, Operation *from, Operation *to) {
  if (Attribute annotation = from->getDiscardableAttr(name))
    to->setDiscardableAttr(name, annotation);
}

void ttcore::passRequestsOn(Operation *from, Operation *to) {
  for (StringRef name : requestNames)
    passOn(name, from, to);
  if (from->hasAttr(mergedName))
    recordMerged(from, to);
}

void ttcore::passAnnotationsOn(Operation *from, Operation *to) {
  passOn(weightDtypeName, from, to);
  passRequestsOn(from, to);
}

bool ttcore::isConstantCreation(Operation *op) {
  // Random and uninitialized tensors are not free of side effects.
  return op->hasTrait<trait::Creation>() && isMemoryEffectFree(op) &&
         llvm::none_of(op->getOperandTypes(), llvm::IsaPred<ShapedType>);
}

bool ttcore::mayBeWritten(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    return affectsOperands(user) && user->getName().stripDialect() != "deallocate";
  });
}

bool ttcore::ConstantAnalysis::isConstant(Value value) {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  // Values are visited in the order of their definitions, with a stack of values that wait for their operands.
  SmallVector<Value> stack = {value};
  while (!stack.empty()) {
    Value current = stack.back();
    Operation *op = current.getDefiningOp();
    if (!op || isConstantCreation(op) || !isPure(op) || op->getNumRegions() != 0 || op->getNumOperands() == 0) {
      known[current] = op ? isConstantCreation(op) : isConstantArgument(current) && !mayBeWritten(current);
      stack.pop_back();
      continue;
    }
    bool all = true;
    for (Value operand : op->getOperands()) {
      if (!isa<ShapedType>(operand.getType()))
        continue;
      auto found = known.find(operand);
      if (found == known.end())
        stack.push_back(operand);
      else
        all &= found->second;
    }
    if (stack.back() != current)
      continue;
    known[current] = all;
    stack.pop_back();
  }
  return known.lookup(value);
}

void ttcore::ConstantAnalysis::forget(Operation *op) {
  for (Value result : op->getResults())
    known.erase(result);
}
