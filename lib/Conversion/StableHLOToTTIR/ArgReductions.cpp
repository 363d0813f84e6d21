//===- ArgReductions.cpp - where the greatest or smallest element is ------===//
// SPDX-License-Identifier: Apache-2.0
//
// StableHLO reduces pairs of a value and its position. There are many ways to write the region, so it is not compared
// with any form: it is evaluated for pairs of numbers, and identified by its results.
//
//===----------------------------------------------------------------------===//

#include "Expand/Expressions.h"

#include "ttmlir/Dialect/StableHLO/Transforms/Scalars.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ArangeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ArgMaxOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/BitwiseNotOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/BroadcastOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MaxOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MinOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/NegOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReshapeOp.h"

#include <cmath>

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

//===----------------------------------------------------------------------===//
// What a region computes
//===----------------------------------------------------------------------===//

/// Evaluates an op on scalars; nothing for an op that is not a function of numbers.
static std::optional<double> evaluate(Operation *op, ArrayRef<double> x) {
  if (x.empty())
    return std::nullopt;
  Type element = getElementTypeOrSelf(op->getOperands().back());
  const ::ttmlir::scalars::Function *function = shlo::scalarFunctionOf(op, element);
  if (!function || function->operands != static_cast<int>(x.size()))
    return std::nullopt;
  if (isa<FloatType>(element))
    return function->d ? std::optional(function->d(x.data(), {})) : std::nullopt;
  if (!function->i)
    return std::nullopt;
  auto numbers =
      llvm::map_to_vector<::ttmlir::scalars::maxOperands>(x, [](double n) { return static_cast<int64_t>(n); });
  const int64_t result = function->i(numbers.data(), {});
  return getElementTypeOrSelf(op->getResult(0)).isInteger(1) ? result & 1 : result;
}

/// Returns the results of the region for these arguments, or nothing if it has other ops.
static std::optional<SmallVector<double>> evaluate(Block &body, ArrayRef<double> arguments) {
  DenseMap<Value, double> values;
  for (auto [argument, value] : llvm::zip_equal(body.getArguments(), arguments))
    values[argument] = value;
  auto known = [&](ValueRange operands) -> std::optional<SmallVector<double>> {
    SmallVector<double> numbers;
    for (Value operand : operands) {
      auto found = values.find(operand);
      if (found == values.end())
        return std::nullopt;
      numbers.push_back(found->second);
    }
    return numbers;
  };
  for (Operation &op : body.without_terminator()) {
    std::optional<SmallVector<double>> operands = known(op.getOperands());
    if (!operands || op.getNumResults() != 1)
      return std::nullopt;
    std::optional<double> result = evaluate(&op, *operands);
    if (!result)
      return std::nullopt;
    values[op.getResult(0)] = *result;
  }
  return known(body.getTerminator()->getOperands());
}

/// 1 for a region that keeps the greater of two values with its position, and the smaller position of equal ones; -1
/// for the smaller value; 0 for another region.
static int directionOf(Block &body) {
  constexpr double numbers[] = {-INFINITY, -2, -1, 0, 1, 3, INFINITY}, positions[] = {0, 1, 5};
  const bool isFloat = isa<FloatType>(getElementTypeOrSelf(body.getArgument(0).getType()));
  int direction = 0;
  for (double a : numbers)
    for (double b : numbers)
      for (double i : positions)
        for (double j : positions) {
          if (i == j || (!isFloat && (std::isinf(a) || std::isinf(b))))
            continue;
          std::optional<SmallVector<double>> found = evaluate(body, {a, i, b, j});
          if (!found)
            return 0;
          const double value = found->front(), position = found->back();
          if (a == b && (value != a || position != std::min(i, j)))
            return 0;
          if (a == b)
            continue;
          if ((value != a && value != b) || position != (value == a ? i : j))
            return 0;
          const int chosen = (value == std::max(a, b)) ? 1 : -1;
          if (direction != 0 && chosen != direction)
            return 0;
          direction = chosen;
        }
  return direction;
}

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

/// Whether a tensor counts along a dimension, from 0. Its producer is StableHLO, or TTIR already.
static bool counts(Value value, int64_t dimension) {
  if (auto iota = value.getDefiningOp<stablehlo::IotaOp>())
    return static_cast<int64_t>(iota.getIotaDimension()) == dimension;
  if (auto broadcast = value.getDefiningOp<stablehlo::BroadcastInDimOp>()) {
    const auto *place = llvm::find(broadcast.getBroadcastDimensions(), dimension);
    const int64_t from = place - broadcast.getBroadcastDimensions().begin();
    return place != broadcast.getBroadcastDimensions().end() &&
           typeOf(broadcast.getOperand()).getDimSize(from) == typeOf(value).getDimSize(dimension) &&
           counts(broadcast.getOperand(), from);
  }
  if (auto reshape = value.getDefiningOp<stablehlo::ReshapeOp>()) {
    RankedTensorType from = typeOf(reshape.getOperand());
    return from.getRank() == 1 && from.getDimSize(0) == typeOf(value).getDimSize(dimension) &&
           counts(reshape.getOperand(), 0);
  }
  const int64_t size = typeOf(value).getDimSize(dimension);
  if (auto broadcast = value.getDefiningOp<ttir::BroadcastOp>())
    return typeOf(broadcast.getInput()).getDimSize(dimension) == size && counts(broadcast.getInput(), dimension);
  if (auto reshape = value.getDefiningOp<ttir::ReshapeOp>()) {
    RankedTensorType from = typeOf(reshape.getInput());
    return from.getRank() == 1 && from.getDimSize(0) == size && counts(reshape.getInput(), 0);
  }
  auto range = value.getDefiningOp<ttir::ArangeOp>();
  return range && range.getStart() == 0 && range.getStep() == 1 &&
         static_cast<int64_t>(range.getArangeDimension()) == dimension;
}

/// Whether no element comes after this one: an infinity, or the least or greatest integer.
static bool isLast(Value init, bool greatest) {
  Attribute value = splatValue(init);
  if (auto attr = dyn_cast_if_present<FloatAttr>(value))
    return attr.getValue().isInfinity() && attr.getValue().isNegative() == greatest;
  auto attr = dyn_cast_if_present<IntegerAttr>(value);
  if (!attr || attr.getType().isInteger(1))
    return false;
  const APInt number = attr.getValue();
  if (attr.getType().isUnsignedInteger())
    return greatest ? number.isMinValue() : number.isMaxValue();
  return greatest ? number.isMinSignedValue() : number.isMaxSignedValue();
}

bool hlo::isArgReduction(stablehlo::ReduceOp op) {
  if (op.getInputs().size() != 2 || op.getDimensions().size() != 1 ||
      !counts(op.getInputs()[1], op.getDimensions().front()) || typeOf(op.getInputs()[0]).getNumElements() == 0)
    return false;
  const int direction = directionOf(op.getBody().front());
  return direction != 0 && isLast(op.getInitValues()[0], direction > 0);
}

namespace {
struct LowerArgReduce : OpConversionPattern<stablehlo::ReduceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::ReduceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (op.getInputs().size() != 2)
      return failure(); // another pattern's
    if (op.getDimensions().size() != 1 || !counts(adaptor.getInputs()[1], op.getDimensions().front()))
      return notifyMatchFailure(rewriter, op, "it reduces two tensors, of which the second is no position");
    if (typeOf(op.getInputs()[0]).getNumElements() == 0)
      return notifyMatchFailure(rewriter, op, "it reduces two tensors without elements");
    const int direction = directionOf(op.getBody().front());
    if (direction == 0 || !isLast(op.getInitValues()[0], direction > 0))
      return notifyMatchFailure(rewriter, op,
                                "it reduces two tensors, not to the greatest or smallest value and its first position");

    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Value input = adaptor.getInputs().front(), ordered = input;
    RankedTensorType type = typeOf(input), positions = typeOf(op.getResult(1));
    ArrayAttr dimensions = rewriter.getI32ArrayAttr(narrow(op.getDimensions()));
    // The smallest is the greatest of -x; for integers, of ~x, because -x of the least integer is not representable.
    if (direction < 0)
      ordered = isa<FloatType>(type.getElementType()) ? make<ttir::NegOp>(builder, type, input)
                                                      : make<ttir::BitwiseNotOp>(builder, type, input);
    Value position = ttir::ArgMaxOp::create(builder, positions.clone(builder.getI32Type()), ordered,
                                            builder.getBoolAttr(false), dimensions);
    Value value = op.getResult(0).use_empty() ? zeros(builder, typeOf(op.getResult(0)))
                  : direction > 0             ? reduced<ttir::MaxOp>(builder, op, input, dimensions)
                                              : reduced<ttir::MinOp>(builder, op, input, dimensions);
    rewriter.replaceOp(op, {value, typecast(builder, position, positions.getElementType())});
    if (value.use_empty())
      rewriter.eraseOp(value.getDefiningOp());
    return success();
  }

private:
  template <class OpT>
  static Value reduced(ImplicitLocOpBuilder &builder, stablehlo::ReduceOp op, Value input, ArrayAttr dimensions) {
    return OpT::create(builder, op->getResult(0).getType(), input, builder.getBoolAttr(false), dimensions);
  }
};
} // namespace

void hlo::addArgReductionPatterns(RewritePatternSet &patterns) { patterns.add<LowerArgReduce>(patterns.getContext()); }
