//===- WideRanges.cpp - ranges of 64-bit integers -------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "WideRanges.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;
using llvm::ConstantRange;

IntegerType hlo::wideElements(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto integer = tensor && tensor.hasStaticShape() ? dyn_cast<IntegerType>(tensor.getElementType()) : IntegerType();
  return integer && integer.getWidth() == 64 ? integer : IntegerType();
}

unsigned hlo::dataOperands(Operation *op) {
  if (isa<stablehlo::DynamicSliceOp, stablehlo::GatherOp>(op))
    return 1;
  return isa<stablehlo::DynamicUpdateSliceOp>(op) ? 2 : op->getNumOperands();
}

Value hlo::spreadOf(Value value) {
  while (auto spread = value.getDefiningOp<stablehlo::BroadcastInDimOp>())
    value = spread.getOperand();
  return value;
}

std::optional<int> hlo::knownShift(Value value) {
  DenseIntElementsAttr elements;
  if (!matchPattern(spreadOf(value), m_Constant(&elements)) || !elements.isSplat())
    return std::nullopt;
  return static_cast<int>(elements.getSplatValue<APInt>().getLimitedValue(64));
}

/// Returns the difference of two numbers that an operand of a select is, and its least value, 0 or 1, if it is taken
/// only where it is not less and no bits are lost; nothing for other operands.
static std::optional<std::pair<stablehlo::SubtractOp, uint64_t>> guardedDifference(stablehlo::SelectOp select,
                                                                                   unsigned i) {
  Value branch = select->getOperand(i);
  if (auto cast = branch.getDefiningOp<stablehlo::ConvertOp>(); cast && isWide(cast.getOperand()))
    branch = cast.getOperand();
  auto difference = branch.getDefiningOp<stablehlo::SubtractOp>();
  auto order = select.getPred().getDefiningOp<stablehlo::CompareOp>();
  if (!difference || !order || isUnsigned(branch))
    return std::nullopt;
  using Direction = stablehlo::ComparisonDirection;
  const Direction direction = order.getComparisonDirection();
  const bool isLess = direction == Direction::LT || direction == Direction::LE;
  if (!isLess && direction != Direction::GT && direction != Direction::GE)
    return std::nullopt;
  const bool holds = i == 1, isStrict = direction == Direction::LT || direction == Direction::GT;
  Value larger = order.getLhs(), smaller = order.getRhs();
  if (isLess == holds)
    std::swap(larger, smaller);
  if (difference.getLhs() != larger || difference.getRhs() != smaller)
    return std::nullopt;
  return std::pair(difference, uint64_t(isStrict == holds));
}

/// Returns the operands of an op of this type; nulls for other values.
template <class Op> static std::pair<Value, Value> operandsOf(Value value) {
  auto op = value.getDefiningOp<Op>();
  return op ? std::pair<Value, Value>(op->getOperand(0), op->getOperand(1)) : std::pair<Value, Value>();
}

static bool isZero(Value value) { return matchPattern(spreadOf(value), m_Zero()); }

/// Returns the divisor if a select adds it to a remainder whose sign differs from its own.
static Value divisorOfFloorRemainder(stablehlo::SelectOp select) {
  Value rest = select.getOnFalse();
  auto [dividend, divisor] = operandsOf<stablehlo::RemOp>(rest);
  auto [added, shift] = operandsOf<stablehlo::AddOp>(select.getOnTrue());
  if (!divisor || isUnsigned(rest) || added != rest || spreadOf(shift) != spreadOf(divisor) ||
      (shift != divisor && typeOf(spreadOf(shift)).getRank() != 0))
    return {};
  const auto compares = [](Value value, stablehlo::ComparisonDirection direction, Value with) {
    auto order = value.getDefiningOp<stablehlo::CompareOp>();
    return order && order.getComparisonDirection() == direction && order.getLhs() == with && isZero(order.getRhs());
  };
  using enum stablehlo::ComparisonDirection;
  auto [differ, isRest] = operandsOf<stablehlo::AndOp>(select.getPred());
  auto signs = differ ? differ.getDefiningOp<stablehlo::CompareOp>() : stablehlo::CompareOp();
  if (!signs || signs.getComparisonDirection() != NE || !compares(isRest, NE, rest) ||
      !compares(signs.getLhs(), LT, rest))
    return {};
  divisor = spreadOf(divisor);
  return compares(spreadOf(signs.getRhs()), LT, divisor) ? divisor : Value();
}

ConstantRange WideRanges::computed(Value value, int depth) {
  const bool isUnsigned = hlo::isUnsigned(value);
  const ConstantRange any(bits, /*isFullSet=*/true);
  const auto ofType = [&](unsigned width, bool isUnsigned) {
    const auto narrow = ConstantRange::getFull(width);
    return isUnsigned ? narrow.zeroExtend(bits) : narrow.signExtend(bits);
  };
  Operation *op = value.getDefiningOp();
  if (op && isa<stablehlo::RngBitGeneratorOp>(op))
    return any;
  if (!op || !pairs.contains(op))
    return ofType(32, isUnsigned);
  const auto of = [&](unsigned i) { return this->of(op->getOperand(i), depth + 1); };
  const auto order = isUnsigned ? ConstantRange::Unsigned : ConstantRange::Signed;
  const auto joined = [&](ConstantRange a, const ConstantRange &b) { return a.unionWith(b, order); };
  const auto sum = [&](auto add) {
    const ConstantRange a = of(0), b = of(1);
    const ConstantRange word = ofType(32, isUnsigned), found = add(a, b);
    const bool wraps = fitsWord(a, isUnsigned) && fitsWord(b, isUnsigned) && (a == word || b == word);
    return wraps && !fitsWord(found, isUnsigned) ? word : found;
  };
  const auto shifted = [&](auto shift) {
    std::optional<int> by = knownShift(op->getOperand(1));
    return by && *by < 64 ? shift(of(0), ConstantRange(APInt(bits, *by))) : any;
  };
  const auto allOperands = [&] {
    ConstantRange all = of(0);
    for (unsigned i = 1; i < dataOperands(op); ++i)
      all = joined(all, of(i));
    return all;
  };
  return llvm::TypeSwitch<Operation *, ConstantRange>(op)
      .Case([&](stablehlo::ConstantOp constant) {
        ConstantRange all = ConstantRange::getEmpty(bits);
        auto elements = cast<DenseIntElementsAttr>(constant.getValue());
        if (elements.isSplat())
          return ConstantRange(elements.getSplatValue<APInt>());
        for (const APInt &element : elements)
          all = joined(all, ConstantRange(element));
        return all;
      })
      .Case([&](stablehlo::IotaOp iota) {
        const auto size = typeOf(iota.getResult()).getDimSize(static_cast<int64_t>(iota.getIotaDimension()));
        return ConstantRange::getNonEmpty(APInt(bits, 0), APInt(bits, static_cast<uint64_t>(size)));
      })
      .Case([&](stablehlo::ConvertOp cast) {
        if (isWide(cast.getOperand()))
          return of(0);
        auto element = dyn_cast<IntegerType>(typeOf(cast.getOperand()).getElementType());
        if (!element)
          return any;
        return ofType(element.getWidth(), element.isUnsigned() || element.getWidth() == 1);
      })
      .Case([&](stablehlo::AddOp) { return sum([](auto a, auto b) { return a.add(b); }); })
      .Case([&](stablehlo::SubtractOp) { return sum([](auto a, auto b) { return a.sub(b); }); })
      .Case([&](stablehlo::MulOp) { return sum([](auto a, auto b) { return a.multiply(b); }); })
      .Case([&](stablehlo::NegOp) { return ConstantRange(APInt(bits, 0)).sub(of(0)); })
      .Case([&](stablehlo::AbsOp) { return of(0).abs(); })
      .Case([&](stablehlo::RemOp) {
        const ConstantRange x = of(0), by = of(1);
        const ConstantRange rest = isUnsigned ? x.urem(by) : x.srem(by);
        return by.contains(APInt(bits, 0)) ? joined(rest, x) : rest; // the dividend
      })
      .Case([&](stablehlo::DivOp) {
        const ConstantRange x = of(0), by = of(1);
        const ConstantRange found = isUnsigned ? x.udiv(by) : x.sdiv(by);
        return by.contains(APInt(bits, 0)) ? joined(found, ConstantRange(APInt::getAllOnes(bits))) : found;
      })
      .Case([&](stablehlo::AndOp) { return of(0).binaryAnd(of(1)); })
      .Case([&](stablehlo::OrOp) { return of(0).binaryOr(of(1)); })
      .Case([&](stablehlo::XorOp) { return of(0).binaryXor(of(1)); })
      .Case([&](stablehlo::NotOp) { return of(0).binaryNot(); })
      .Case([&](stablehlo::ShiftLeftOp) { return shifted([](auto x, auto by) { return x.shl(by); }); })
      .Case([&](stablehlo::ShiftRightLogicalOp) { return shifted([](auto x, auto by) { return x.lshr(by); }); })
      .Case([&](stablehlo::ShiftRightArithmeticOp) { return shifted([](auto x, auto by) { return x.ashr(by); }); })
      .Case([&](stablehlo::MaxOp) { return isUnsigned ? of(0).umax(of(1)) : of(0).smax(of(1)); })
      .Case([&](stablehlo::MinOp) { return isUnsigned ? of(0).umin(of(1)) : of(0).smin(of(1)); })
      .Case([&](stablehlo::ClampOp) {
        return isUnsigned ? of(1).umax(of(0)).umin(of(2)) : of(1).smax(of(0)).smin(of(2));
      })
      .Case([&](stablehlo::SignOp) { return ConstantRange(APInt::getAllOnes(bits), APInt(bits, 2)); })
      .Case([&](stablehlo::SelectOp select) {
        if (Value divisor = divisorOfFloorRemainder(select)) {
          const ConstantRange by = this->of(divisor, depth + 1);
          if (by.getSignedMin().isStrictlyPositive())
            return ConstantRange(APInt(bits, 0), by.getSignedMax());
        }
        const auto branch = [&](unsigned i) {
          const ConstantRange range = of(i);
          const auto guarded = guardedDifference(select, i);
          if (!guarded)
            return range;
          auto [difference, least] = *guarded;
          const ConstantRange a = this->of(difference.getLhs(), depth + 1),
                              b = this->of(difference.getRhs(), depth + 1);
          if (a.signedSubMayOverflow(b) != ConstantRange::OverflowResult::NeverOverflows)
            return range;
          return range.intersectWith({APInt(bits, least), APInt::getSignedMinValue(bits)});
        };
        return joined(branch(1), branch(2));
      })
      .Case<stablehlo::BroadcastInDimOp, stablehlo::ConcatenateOp, stablehlo::DynamicSliceOp,
            stablehlo::DynamicUpdateSliceOp, stablehlo::GatherOp, stablehlo::PadOp, stablehlo::ReshapeOp,
            stablehlo::ReverseOp, stablehlo::SliceOp, stablehlo::TransposeOp>(
          [&](Operation *) { return allOperands(); })
      .Default([&](Operation *) { return any; });
}
