//===- Ordering.cpp - lowering of StableHLO sorts -------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// TTIR sorts one tensor in ascending or descending order, with NaN after all numbers and equal zeros, and returns the
// original positions. Elements that a comparator compares in their total order are sorted by their bits. A comparator
// of several keys is a stable sort by the last key, then by the one before, and so on; other inputs follow.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/BitcastConvertOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/BitwiseXorOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/EqualOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/FullOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/GatherOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/LessThanOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/NotEqualOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SortOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/WhereOp.h"

#include "mlir/IR/Matchers.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

using stablehlo::ComparisonDirection;

//===----------------------------------------------------------------------===//
// Comparators
//===----------------------------------------------------------------------===//

namespace {
/// An element as a comparator sees it.
struct Compared {
  BlockArgument argument;
  bool oneZero = false, oneNaN = false; // instead of zeros of both signs, and of all NaN
};

struct Key {
  unsigned input;
  bool descending = false, inTotalOrder = false, oneZero = false, oneNaN = false;

  /// Whether the order of TTIR is another one.
  bool isByBits() const { return inTotalOrder && !(oneZero && oneNaN); }
};
} // namespace

static bool isFloatConstant(Value value, llvm::function_ref<bool(const APFloat &)> matches) {
  auto attr = dyn_cast_if_present<FloatAttr>(splatValue(value));
  return attr && matches(attr.getValue());
}

/// The argument that an operand of a comparison is, after ops that make all zeros equal and all NaN equal: `x == 0 ? 0
/// : x` and `x != x ? NaN : x`.
static Compared comparedOf(Value value) {
  Compared compared;
  while (auto select = value.getDefiningOp<stablehlo::SelectOp>()) {
    auto requested = select.getPred().getDefiningOp<stablehlo::CompareOp>();
    if (!requested)
      return {};
    auto isZero = [](const APFloat &number) { return number.isZero(); };
    auto isNaN = [](const APFloat &number) { return number.isNaN(); };
    const bool zeros = requested.getComparisonDirection() == ComparisonDirection::EQ &&
                       isFloatConstant(requested.getRhs(), isZero) && isFloatConstant(select.getOnTrue(), isZero);
    const bool nans = requested.getComparisonDirection() == ComparisonDirection::NE &&
                      requested.getLhs() == requested.getRhs() && isFloatConstant(select.getOnTrue(), isNaN);
    // It tests the value itself, or its predecessor.
    BlockArgument argument = comparedOf(requested.getLhs()).argument;
    if ((!zeros && !nans) || !argument || argument != comparedOf(select.getOnFalse()).argument)
      return {};
    compared.oneZero |= zeros;
    compared.oneNaN |= nans;
    value = select.getOnFalse();
  }
  compared.argument = dyn_cast<BlockArgument>(value);
  return compared;
}

/// The input whose elements a, b, in this order, a comparison compares, or nothing. Arguments of regions around the
/// comparator are not elements.
static std::optional<Key> comparedInput(stablehlo::CompareOp compare, Block &comparator) {
  const Compared left = comparedOf(compare.getLhs()), right = comparedOf(compare.getRhs());
  BlockArgument a = left.argument, b = right.argument;
  if (!a || !b || a.getOwner() != &comparator || b.getOwner() != &comparator || a.getArgNumber() % 2 != 0 ||
      b.getArgNumber() != a.getArgNumber() + 1 || left.oneZero != right.oneZero || left.oneNaN != right.oneNaN)
    return std::nullopt;
  Key key{a.getArgNumber() / 2};
  key.descending = compare.getComparisonDirection() == ComparisonDirection::GT;
  key.inTotalOrder = isa<FloatType>(getElementTypeOrSelf(a.getType())) &&
                     compare.getCompareType() == stablehlo::ComparisonType::TOTALORDER;
  key.oneZero = left.oneZero;
  key.oneNaN = left.oneNaN;
  return key;
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
    const std::optional<Key> key = comparedInput(compare, comparator);
    if (!key || (direction != ComparisonDirection::LT && direction != ComparisonDirection::GT))
      return std::nullopt;
    keys.push_back(*key);
    if (!either)
      return keys;
    auto both = (first == either.getLhs() ? either.getRhs() : either.getLhs()).getDefiningOp<stablehlo::AndOp>();
    if (!both)
      return std::nullopt;
    auto isTie = [&](Value value) {
      auto tie = value.getDefiningOp<stablehlo::CompareOp>();
      if (!tie || tie.getComparisonDirection() != ComparisonDirection::EQ)
        return false;
      const std::optional<Key> tied = comparedInput(tie, comparator);
      return tied && tied->input == key->input;
    };
    if (!isTie(both.getLhs()) && !isTie(both.getRhs()))
      return std::nullopt;
    order = isTie(both.getLhs()) ? both.getRhs() : both.getLhs();
  }
}

//===----------------------------------------------------------------------===//
// Sorts
//===----------------------------------------------------------------------===//

Value hlo::totalOrder(ImplicitLocOpBuilder &builder, Value value) {
  RankedTensorType type = typeOf(value).clone(builder.getI32Type());
  Value bits = ttir::BitcastConvertOp::create(builder, type, typecast(builder, value, builder.getF32Type()));
  SmallVector<int64_t> ones(type.getRank(), 1);
  Value magnitude = ttir::FullOp::create(builder, type.clone(ones), narrow(ones),
                                         builder.getI32IntegerAttr(std::numeric_limits<int32_t>::max()));
  Value isNegative =
      make<ttir::LessThanOp>(builder, type.clone(builder.getI1Type()), {bits, zeros(builder, type.clone(ones))});
  return make<ttir::WhereOp>(builder, type,
                             {isNegative, make<ttir::BitwiseXorOp>(builder, type, {bits, magnitude}), bits});
}

/// Maps `value` to one that TTIR's order sorts by this key.
static Value sortedBy(ImplicitLocOpBuilder &builder, const Key &key, Value value) {
  if (!key.isByBits())
    return value;
  RankedTensorType type = typeOf(value), truth = type.clone(builder.getI1Type());
  SmallVector<int64_t> ones(type.getRank(), 1);
  Value zero = zeros(builder, type.clone(ones));
  if (key.oneZero)
    value = make<ttir::WhereOp>(builder, type, {make<ttir::EqualOp>(builder, truth, {value, zero}), zero, value});
  if (key.oneNaN) {
    Value nan = ttir::FullOp::create(builder, type.clone(ones), narrow(ones), builder.getF32FloatAttr(NAN));
    value = make<ttir::WhereOp>(builder, type, {make<ttir::NotEqualOp>(builder, truth, {value, value}), nan, value});
  }
  return totalOrder(builder, value);
}

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
      Value by = sortedBy(builder, key, values[key.input]);
      auto sorted = ttir::SortOp::create(builder, TypeRange{by.getType(), type.clone(builder.getI32Type())}, by,
                                         builder.getSI32IntegerAttr(dim), builder.getBoolAttr(key.descending),
                                         builder.getBoolAttr(true));
      for (auto [input, value] : llvm::enumerate(values))
        value = input == key.input && !key.isByBits()
                    ? sorted.getValues()
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
