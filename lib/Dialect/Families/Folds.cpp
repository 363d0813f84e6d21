//===- Folds.cpp - laws by which ops fold ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/Families/Folds.h"

#include "Rules.h"
#include "ttmlir/Dialect/Families/Effects.h"
#include "ttmlir/Dialect/Families/Traits.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tt;

bool folds::mayReplace(Value result, Value value) {
  return llvm::none_of(result.getUsers(), affectsOperands) && llvm::none_of(value.getUsers(), affectsOperands);
}

OpFoldResult folds::forward(Value result, Value value) {
  return result.getType() == value.getType() && mayReplace(result, value) ? OpFoldResult(value) : OpFoldResult();
}

bool folds::holds(Type wide, Type narrow) {
  if (wide == narrow)
    return true;
  if (wide.isF32())
    return narrow.isBF16() || narrow.isF16() || narrow.isInteger(1);
  auto to = dyn_cast<IntegerType>(wide), from = dyn_cast<IntegerType>(narrow);
  return to && from && to.getSignedness() == from.getSignedness() && to.getWidth() >= from.getWidth() &&
         from.getWidth() > 1;
}

//===----------------------------------------------------------------------===//
// Laws
//===----------------------------------------------------------------------===//

static Type elementOf(Value value) { return getElementTypeOrSelf(value.getType()); }

OpFoldResult folds::idempotent(Operation *op, ArrayRef<Attribute>) {
  Value input = op->getOperand(0);
  Operation *inner = input.getDefiningOp();
  if (!inner || inner->getName() != op->getName() || inner->getOperand(0).getType() != input.getType())
    return {};
  return forward(op->getResult(0), input);
}

OpFoldResult folds::involution(Operation *op, ArrayRef<Attribute>) {
  Value input = op->getOperand(0);
  Operation *inner = input.getDefiningOp();
  // For single bits, the library first creates numbers.
  if (!inner || inner->getName() != op->getName() || elementOf(input).isInteger(1) ||
      elementOf(input).isUnsignedInteger() || input.getType() != op->getResult(0).getType())
    return {};
  return forward(op->getResult(0), inner->getOperand(0));
}

OpFoldResult folds::idempotentOperands(Operation *op, ArrayRef<Attribute>) {
  if (op->getOperand(0) != op->getOperand(1))
    return {};
  // Logical ops convert any number to 0 or 1.
  if (op->getName().stripDialect().starts_with("logical") && !elementOf(op->getOperand(0)).isInteger(1))
    return {};
  return forward(op->getResult(0), op->getOperand(0));
}

OpFoldResult folds::neutral(Operation *op, ArrayRef<Attribute>) {
  const NeutralNumbers numbers = cast<NeutralOpInterface>(op).getNumbers();
  Value result = op->getResult(0);
  for (unsigned i : {1, 0}) {
    Value x = op->getOperand(1 - i);
    if ((i == 0 && !numbers.commutes) || x.getType() != result.getType() || elementOf(x).isInteger(1))
      continue;
    Attribute number = splatOf(op->getOperand(i));
    if (number && isa<FloatType>(elementOf(x)) == isa<FloatAttr>(number) && numbers.isNeutral(number))
      if (OpFoldResult same = forward(result, x))
        return same;
  }
  // Of floats, NaN and infinities would be more than what decides.
  if (numbers.absorbing && areIntegers(op))
    for (Value operand : op->getOperands())
      if (numbers.isAbsorbing(splatOf(operand)) && operand.getType() == result.getType())
        if (OpFoldResult same = forward(result, operand))
          return same;
  return {};
}

OpFoldResult folds::cancelling(Operation *op, ArrayRef<Attribute>) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  return areIntegers(op) && op->getOperand(0) == op->getOperand(1) && type.hasStaticShape()
             ? OpFoldResult(filled(type, 0.0))
             : OpFoldResult();
}
