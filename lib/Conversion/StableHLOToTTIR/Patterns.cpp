//===- Patterns.cpp - what patterns that lower StableHLO share ------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Patterns.h"

#include "ttmlir/Dialect/Families/Facts.h"
#include "ttmlir/Dialect/InherentAttributes.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/BroadcastOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConstantOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/GreaterThanOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MaximumOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/PermuteOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReshapeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SubtractOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/TypecastOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/WhereOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ZerosOp.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tt;

LogicalResult hlo::checkNarrow(ConversionPatternRewriter &rewriter, Operation *op, ArrayRef<int64_t> numbers) {
  for (int64_t number : numbers)
    if (!llvm::isInt<32>(number))
      return notifyMatchFailure(rewriter, op,
                                "it has the number " + Twine(number) + " where TTIR's attribute has 32 bits");
  return success();
}

SmallVector<int32_t> hlo::narrow(ArrayRef<int64_t> numbers) {
  return SmallVector<int32_t>(numbers.begin(), numbers.end());
}

Value hlo::reshape(ImplicitLocOpBuilder &builder, Value value, ArrayRef<int64_t> shape) {
  RankedTensorType type = typeOf(value);
  if (type.getShape() == shape)
    return value;
  return ttir::ReshapeOp::create(builder, type.clone(shape), value, builder.getI32ArrayAttr(narrow(shape)));
}

Value hlo::permute(ImplicitLocOpBuilder &builder, Value value, ArrayRef<int64_t> permutation) {
  if (llvm::equal(permutation, llvm::seq<int64_t>(permutation.size())))
    return value;
  SmallVector<int64_t> shape;
  for (int64_t dimension : permutation)
    shape.push_back(typeOf(value).getDimSize(dimension));
  return ttir::PermuteOp::create(builder, typeOf(value).clone(shape), value, permutation);
}

Value hlo::broadcast(ImplicitLocOpBuilder &builder, Value value, ArrayRef<int64_t> shape) {
  if (typeOf(value).getShape() == shape)
    return value;
  SmallVector<int64_t> repeats;
  for (auto [from, to] : llvm::zip_equal(typeOf(value).getShape(), shape))
    repeats.push_back(from == to ? 1 : to);
  return ttir::BroadcastOp::create(builder, typeOf(value).clone(shape), value, repeats);
}

Value hlo::typecast(ImplicitLocOpBuilder &builder, Value value, Type element) {
  RankedTensorType type = typeOf(value);
  if (type.getElementType() == element)
    return value;
  return ttir::TypecastOp::create(builder, type.clone(element), value, /*conservative_folding=*/false);
}

Value hlo::zeros(ImplicitLocOpBuilder &builder, RankedTensorType type) {
  return ttir::ZerosOp::create(builder, type, narrow(type.getShape()));
}

Value hlo::withSign(ImplicitLocOpBuilder &builder, Value magnitude, Value sign) {
  RankedTensorType type = typeOf(sign);
  Attribute element = builder.getFloatAttr(type.getElementType(), -0.0);
  Value minusZero = ttir::ConstantOp::create(builder, type, DenseElementsAttr::get(type, element));
  Value isPositive = make<ttir::GreaterThanOp>(builder, type.clone(builder.getI1Type()), {sign, zeros(builder, type)});
  // 0, -0 or NaN, like the sign if it is not positive.
  Value nothing = make<ttir::MaximumOp>(builder, type, {sign, minusZero});
  Value other = make<ttir::SubtractOp>(builder, type, {nothing, magnitude});
  return make<ttir::WhereOp>(builder, type, {isPositive, magnitude, other});
}

SmallVector<int64_t> hlo::inverse(ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> result(permutation.size());
  for (auto [index, dimension] : llvm::enumerate(permutation))
    result[dimension] = index;
  return result;
}

Attribute hlo::splatValue(Value value) {
  // JAX broadcasts the initial value of a window to the same shape.
  while (Operation *op = value.getDefiningOp()) {
    if (!movesOnlyOperands(op) || op->getNumOperands() != 1)
      break;
    value = op->getOperand(0);
  }
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return {};
  return elements.getSplatValue<Attribute>();
}

LogicalResult hlo::replace(ConversionPatternRewriter &rewriter, Operation *op, Value value) {
  if (Operation *created = value.getDefiningOp(); created && created->getBlock() == op->getBlock())
    for (NamedAttribute attribute : op->getDiscardableAttrs())
      if (!isInherent(created->getName(), attribute.getName()) && !created->hasAttr(attribute.getName()))
        created->setDiscardableAttr(attribute.getName(), attribute.getValue());
  rewriter.replaceOp(op, value);
  return success();
}
