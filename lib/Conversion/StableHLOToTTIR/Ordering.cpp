//===- Ordering.cpp - lowering of StableHLO sorts -------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// TTIR sorts one tensor upwards or downwards, NaN behind all numbers, and says
// where the elements were. A comparator of several keys is a stable sort by
// the last key, then by the one before, and so on; other inputs follow.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/GatherOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SortOp.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

using stablehlo::ComparisonDirection;

//===----------------------------------------------------------------------===//
// Comparators
//===----------------------------------------------------------------------===//

namespace {
struct Key {
  unsigned input;
  bool descending;
};
} // namespace

static bool isFloatConstant(Value value, llvm::function_ref<bool(const APFloat &)> matches) {
  auto attr = dyn_cast_if_present<FloatAttr>(splatValue(value));
  return attr && matches(attr.getValue());
}

/// The argument that an operand of a comparison is, after what makes one zero and one NaN of all: `x == 0 ? 0 : x` and
/// `x != x ? NaN : x`.
static BlockArgument argumentOf(Value value) {
  while (auto select = value.getDefiningOp<stablehlo::SelectOp>()) {
    auto asked = select.getPred().getDefiningOp<stablehlo::CompareOp>();
    if (!asked)
      return {};
    auto isZero = [](const APFloat &number) { return number.isZero(); };
    auto isNaN = [](const APFloat &number) { return number.isNaN(); };
    const bool zeros = asked.getComparisonDirection() == ComparisonDirection::EQ &&
                       isFloatConstant(asked.getRhs(), isZero) && isFloatConstant(select.getOnTrue(), isZero);
    const bool nans = asked.getComparisonDirection() == ComparisonDirection::NE && asked.getLhs() == asked.getRhs() &&
                      isFloatConstant(select.getOnTrue(), isNaN);
    // It asks about the value itself, or about what it was before.
    if ((!zeros && !nans) || !argumentOf(asked.getLhs()) ||
        argumentOf(asked.getLhs()) != argumentOf(select.getOnFalse()))
      return {};
    value = select.getOnFalse();
  }
  return dyn_cast<BlockArgument>(value);
}

/// The input whose elements a, b, in this order, a comparison compares, or nothing. Arguments of what is around the
/// comparator are no elements.
static std::optional<unsigned> comparedInput(stablehlo::CompareOp compare, Block &comparator) {
  BlockArgument a = argumentOf(compare.getLhs()), b = argumentOf(compare.getRhs());
  if (!a || !b || a.getOwner() != &comparator || b.getOwner() != &comparator || a.getArgNumber() % 2 != 0 ||
      b.getArgNumber() != a.getArgNumber() + 1)
    return std::nullopt;
  return a.getArgNumber() / 2;
}

/// The keys of `a0 < b0`, or of `a0 < b0 or (a0 == b0 and ...)`, the first one first; nothing for other comparators.
static std::optional<SmallVector<Key>> keysOf(Block &comparator) {
  Value order = comparator.getTerminator()->getOperand(0);
  SmallVector<Key> keys;
  while (true) {
    auto either = order.getDefiningOp<stablehlo::OrOp>();
    Value first = either ? either.getLhs() : order;
    auto compare = first.getDefiningOp<stablehlo::CompareOp>();
    if (!compare && either) { // operands of `or` in the other order
      first = either.getRhs();
      compare = first.getDefiningOp<stablehlo::CompareOp>();
    }
    if (!compare)
      return std::nullopt;
    const ComparisonDirection direction = compare.getComparisonDirection();
    const std::optional<unsigned> input = comparedInput(compare, comparator);
    if (!input || (direction != ComparisonDirection::LT && direction != ComparisonDirection::GT))
      return std::nullopt;
    keys.push_back({*input, direction == ComparisonDirection::GT});
    if (!either)
      return keys;
    auto both = (first == either.getLhs() ? either.getRhs() : either.getLhs()).getDefiningOp<stablehlo::AndOp>();
    if (!both)
      return std::nullopt;
    auto isTie = [&](Value value) {
      auto tie = value.getDefiningOp<stablehlo::CompareOp>();
      return tie && tie.getComparisonDirection() == ComparisonDirection::EQ && comparedInput(tie, comparator) == input;
    };
    if (!isTie(both.getLhs()) && !isTie(both.getRhs()))
      return std::nullopt;
    order = isTie(both.getLhs()) ? both.getRhs() : both.getLhs();
  }
}

//===----------------------------------------------------------------------===//
// Sorts
//===----------------------------------------------------------------------===//

namespace {
struct LowerSort : OpConversionPattern<stablehlo::SortOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::SortOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    const std::optional<SmallVector<Key>> keys = keysOf(op.getComparator().front());
    if (!keys)
      return notifyMatchFailure(rewriter, op,
                                "its comparator is not a < b or a > b of one input, or of several one after another");
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    SmallVector<Value> values(adaptor.getInputs());
    RankedTensorType type = typeOf(values.front());
    if (type.getNumElements() == 0) {
      rewriter.replaceOp(op, values);
      return success();
    }
    const int64_t given = op.getDimension();
    const auto dim = static_cast<int32_t>(given < 0 ? given + type.getRank() : given);
    for (const Key &key : llvm::reverse(*keys)) {
      Value by = values[key.input];
      auto sorted = ttir::SortOp::create(builder, TypeRange{by.getType(), type.clone(builder.getI32Type())}, by,
                                         builder.getSI32IntegerAttr(dim), builder.getBoolAttr(key.descending),
                                         builder.getBoolAttr(true));
      for (auto [input, value] : llvm::enumerate(values))
        value = input == key.input ? sorted.getValues()
                                   : ttir::GatherOp::create(builder, value.getType(), value, sorted.getIndices(),
                                                            builder.getI32IntegerAttr(dim))
                                         .getResult();
    }
    rewriter.replaceOp(op, values);
    return success();
  }
};
} // namespace

void hlo::addOrderingPatterns(RewritePatternSet &patterns) { patterns.add<LowerSort>(patterns.getContext()); }
