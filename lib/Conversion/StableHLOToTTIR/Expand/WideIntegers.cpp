//===- WideIntegers.cpp - 64-bit integers as pairs of words ---------------===//
// SPDX-License-Identifier: Apache-2.0

#include "WideRanges.h"
#include "Words.h"
#include "ttmlir/Conversion/StableHLOToTTIR/Passes.h"
#include "ttmlir/Dialect/TTCore/Transforms/Inline.h"

#include "mlir/Analysis/CallGraph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::tt {
#define GEN_PASS_DEF_STABLEHLOLEGALIZEWIDEINTEGERS
#include "ttmlir/Conversion/StableHLOToTTIR/Passes.h.inc"
} // namespace mlir::tt

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static bool isF64(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && tensor.getElementType().isF64();
}

/// Returns whether a 64-bit integer is computed from elements of this type, or the elements from it, by their bits.
static bool hasBits(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && tensor.getElementType().isIntOrFloat() &&
         llvm::is_contained({32u, 64u}, tensor.getElementTypeBitWidth());
}

//===----------------------------------------------------------------------===//
// Arithmetic of pairs
//===----------------------------------------------------------------------===//

static Wide both(Expr low, Expr high) { return {low, high}; }

static Wide operator~(Wide a) { return {~a.low, ~a.high}; }

static Wide operator+(Wide a, Wide b) {
  Wide sum = add(a, b.low);
  return {sum.low, sum.high + b.high};
}

static Wide operator-(Wide a, Wide b) {
  Expr borrow = (a.low < b.low).convert(a.low.element());
  return {a.low - b.low, a.high - b.high - borrow};
}

static Wide operator-(Wide a) { return both(a.low.number(0), a.low.number(0)) - a; }

static Wide operator*(Wide a, Wide b) {
  Wide low = product(a.low, b.low);
  return {low.low, low.high + a.low * b.high + a.high * b.low};
}

static Wide select(Expr condition, Wide a, Wide b) {
  return {condition.select(a.low, b.low), condition.select(a.high, b.high)};
}

static Expr shiftLeft(Expr x, Expr by) { return x.apply<stablehlo::ShiftLeftOp>(by); }
static Expr shiftRight(Expr x, Expr by) { return x.apply<stablehlo::ShiftRightLogicalOp>(by); }

/// Shifts words by `by` and by its differences from 32: a shift by 32 or more, thus by a negative number, returns 0.
static Wide shiftLeft(Wide x, Expr by) {
  return {shiftLeft(x.low, by), shiftLeft(x.high, by) | shiftRight(x.low, 32 - by) | shiftLeft(x.low, by - 32)};
}
static Wide shiftRight(Wide x, Expr by) {
  return {shiftRight(x.low, by) | shiftLeft(x.high, 32 - by) | shiftRight(x.high, by - 32), shiftRight(x.high, by)};
}

/// Likewise by a known number.
static Wide shiftLeft(Wide x, int by) {
  if (by == 0)
    return x;
  if (by >= 32)
    return {x.low.number(0), by >= 64 ? x.low.number(0) : by == 32 ? x.low : x.low.shl(by - 32)};
  return {x.low.shl(by), x.high.shl(by) | x.low.shr(32 - by)};
}
static Wide shiftRight(Wide x, int by) {
  if (by == 0)
    return x;
  if (by >= 32)
    return {by >= 64 ? x.low.number(0) : by == 32 ? x.high : x.high.shr(by - 32), x.low.number(0)};
  return {x.low.shr(by) | x.high.shl(32 - by), x.high.shr(by)};
}

static Expr isNegative(Wide x) { return x.high >= 0x80000000LL; }

static Expr isLess(Wide a, Wide b, bool isUnsigned) {
  // The order of signed numbers is that of unsigned ones whose upper bit is flipped.
  Expr ah = isUnsigned ? a.high : a.high ^ a.high.number(0x80000000LL),
       bh = isUnsigned ? b.high : b.high ^ b.high.number(0x80000000LL);
  return (ah < bh) | ((ah == bh) & (a.low < b.low));
}

static Expr compare(Wide a, Wide b, stablehlo::ComparisonDirection direction, bool isUnsigned) {
  using enum stablehlo::ComparisonDirection;
  switch (direction) {
  case EQ:
    return (a.low == b.low) & (a.high == b.high);
  case NE:
    return (a.low != b.low) | (a.high != b.high);
  case LT:
    return isLess(a, b, isUnsigned);
  case GT:
    return isLess(b, a, isUnsigned);
  case LE:
    return ~isLess(b, a, isUnsigned);
  case GE:
    return ~isLess(a, b, isUnsigned);
  }
  llvm_unreachable("all directions are handled");
}

/// Divides bit by bit. The quotient by 0 has all bits set, and the remainder is the dividend.
static std::pair<Wide, Wide> divideUnsigned(Wide a, Wide b) {
  Expr zero = a.low.number(0);
  SmallVector<Expr> found = repeated({a.low, a.high, zero, zero}, 64, [&](Expr, ArrayRef<Expr> values) {
    Wide left = both(values[0], values[1]), rest = both(values[2], values[3]);
    Expr carry = isNegative(rest);
    rest = shiftLeft(rest, 1);
    rest.low = rest.low | left.high.shr(31);
    left = shiftLeft(left, 1);
    Expr fits = carry | ~isLess(rest, b, /*isUnsigned=*/true);
    rest = select(fits, rest - b, rest);
    left.low = left.low | fits.convert(left.low.element());
    return SmallVector<Expr>{left.low, left.high, rest.low, rest.high};
  });
  return {both(found[0], found[1]), both(found[2], found[3])};
}

static Wide absolute(Wide x) { return select(isNegative(x), -x, x); }

static std::pair<Wide, Wide> divide(Wide a, Wide b, bool isUnsigned) {
  if (isUnsigned)
    return divideUnsigned(a, b);
  auto [quotient, rest] = divideUnsigned(absolute(a), absolute(b));
  Expr isDefined = (b.low | b.high) != 0;
  return {select((isNegative(a) ^ isNegative(b)) & isDefined, -quotient, quotient), select(isNegative(a), -rest, rest)};
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// Widens integers of up to 32 bits, and lower words of 64.
static Wide widen(Expr x) {
  ImplicitLocOpBuilder &builder = x.build();
  auto type = cast<IntegerType>(x.element());
  Expr low = x.convert(wordType(builder));
  if (type.isUnsigned() || type.getWidth() == 1)
    return {low, low.number(0)};
  return {low, (x < 0).select(low.number(0xffffffffLL), low.number(0))};
}

/// The words along the last dimension.
static Wide pairIn(Expr words) {
  const int64_t last = words.rank() - 1;
  const ArrayRef<int64_t> shape = words.shape().drop_back();
  return {words.slice(last, 0, 1).reshape(shape), words.slice(last, 1, 2).reshape(shape)};
}

static Expr toFloat(Wide x, bool isUnsigned, FloatType to) {
  ImplicitLocOpBuilder &builder = x.low.build();
  Wide magnitude = isUnsigned ? x : absolute(x);
  Type f32 = builder.getF32Type();
  Expr value = magnitude.high.convert(f32) * 4294967296.0 + magnitude.low.convert(f32);
  return (isUnsigned ? value : isNegative(x).select(-value, value)).convert(to);
}

namespace {
/// The fields of an f64: sign, exponent, the upper 23 bits of the mantissa and the 29 others.
struct Fields {
  explicit Fields(Wide bits)
      : sign(bits.high & 0x80000000LL), exponent(bits.high.shr(20) & 0x7ff),
        upper((bits.high & 0xfffff).shl(3) | bits.low.shr(29)), lower(bits.low & 0x1fffffff) {}

  /// The bits of the f32 that has the upper bits of the mantissa.
  Expr truncated() const { return sign | (exponent - 896).shl(23) | upper; }

  Expr sign, exponent, upper, lower;
};
} // namespace

/// The nearest f32 of an f64, half to even; numbers below the normal ones of f32 are 0.
static Expr nearestFloat(Wide bits) {
  const Fields of(bits);
  Type f32 = of.sign.build().getF32Type();
  Expr isAbove = (of.lower > 0x10000000) | ((of.lower == 0x10000000) & ((of.upper & 1) == 1));
  Expr rounded = of.truncated() + isAbove.convert(of.sign.element());
  Expr isNaN = (of.exponent == 0x7ff) & ((of.upper | of.lower) != 0);
  Expr infinite = of.sign | of.sign.number(0x7f800000);
  Expr large = isNaN.select(infinite.number(0x7fc00000), infinite);
  Expr found = (of.exponent >= 1151).select(large, (of.exponent < 897).select(of.sign, rounded));
  return found.bitcast(f32);
}

/// `number - 1`, of the bits of a number in [1, 2), as f32 that is neither 0 nor 1.
static Expr fraction(Wide bits) {
  const Fields of(bits);
  Type f32 = of.sign.build().getF32Type();
  Expr value = (of.truncated().bitcast(f32) - 1) + of.lower.convert(f32) * std::ldexp(1.0, -52);
  return value.apply<stablehlo::MaxOp>(value.number(std::ldexp(1.0, -24)))
      .apply<stablehlo::MinOp>(value.number(1 - std::ldexp(1.0, -24)));
}

/// The bits of an f64 that is computed in f32.
static Wide bitsOfDouble(Expr x) {
  ImplicitLocOpBuilder &builder = x.build();
  Expr bits = x.convert(builder.getF32Type()).bitcast(wordType(builder));
  Expr exponent = bits.shr(23) & 0xff, mantissa = bits & 0x7fffff;
  Expr moved = (exponent == 255).select(exponent.number(0x7ff), exponent + 896);
  Expr isZero = exponent == 0;
  Expr high = (bits & 0x80000000LL) | isZero.select(exponent, moved.shl(20) | mantissa.shr(3));
  return {isZero.select(exponent, mantissa.shl(29)), high};
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Ops that are applied to each word.
static bool actsOnWords(Operation *op) {
  return isa<stablehlo::AndOp, stablehlo::BroadcastInDimOp, stablehlo::ConcatenateOp, stablehlo::DynamicSliceOp,
             stablehlo::DynamicUpdateSliceOp, stablehlo::GatherOp, stablehlo::NotOp, stablehlo::OrOp, stablehlo::PadOp,
             stablehlo::ReshapeOp, stablehlo::ReverseOp, stablehlo::SelectOp, stablehlo::SliceOp,
             stablehlo::TransposeOp, stablehlo::XorOp>(op);
}

/// Returns whether the op computes with pairs of words.
static bool isConvertible(Operation *op) {
  if (op->getParentOp()->hasTrait<trait::AppliesRegion>())
    return false;
  if (auto cast = dyn_cast<stablehlo::BitcastConvertOp>(op))
    return (isWide(cast.getOperand()) && hasBits(cast.getType())) ||
           (isWide(cast.getResult()) && hasBits(cast.getOperand().getType()));
  if (auto cast = dyn_cast<stablehlo::ConvertOp>(op)) {
    auto from = dyn_cast<RankedTensorType>(cast.getOperand().getType());
    Type element = from ? from.getElementType() : Type();
    return isWide(cast.getOperand()) ? isa<FloatType, IntegerType>(typeOf(cast.getResult()).getElementType())
                                     : isWide(cast.getResult()) && isa_and_present<IntegerType>(element);
  }
  return actsOnWords(op) ||
         isa<stablehlo::AbsOp, stablehlo::AddOp, stablehlo::ClampOp, stablehlo::CompareOp, stablehlo::ConstantOp,
             stablehlo::DivOp, stablehlo::IotaOp, stablehlo::MaxOp, stablehlo::MinOp, stablehlo::MulOp,
             stablehlo::NegOp, stablehlo::RemOp, stablehlo::ShiftLeftOp, stablehlo::ShiftRightArithmeticOp,
             stablehlo::ShiftRightLogicalOp, stablehlo::SignOp, stablehlo::SubtractOp>(op);
}

static bool usesWide(Operation *op) {
  return llvm::any_of(op->getOperands(), isWide) || llvm::any_of(op->getResults(), isWide);
}

/// Returns whether an operand is read as a pair of words.
static bool readsPair(OpOperand &use) {
  return isConvertible(use.getOwner()) && use.getOperandNumber() < dataOperands(use.getOwner());
}

/// Returns whether an operand is the state of random bits, which ExpandRngBitGenerator reads as the words it is joined
/// from.
static bool isRandomState(OpOperand &use) { return isa<stablehlo::RngBitGeneratorOp>(use.getOwner()); }

/// Returns whether an op joins two words to an integer, or splits it.
static bool joinsOrSplitsWords(Operation *op) {
  auto cast = dyn_cast<stablehlo::BitcastConvertOp>(op);
  if (!cast || !isConvertible(op))
    return false;
  Value other = isWide(cast.getOperand()) ? cast.getResult() : cast.getOperand();
  return !isWide(other) && typeOf(other).getElementType().isInteger(32);
}

/// Returns whether a constant has elements that 32 bits do not hold.
static bool exceedsWord(Operation *op) {
  DenseIntElementsAttr elements;
  if (op->getNumResults() != 1 || !isWide(op->getResult(0)) || !matchPattern(op, m_Constant(&elements)))
    return false;
  auto exceeds = [&](const APInt &value) {
    return isUnsigned(op->getResult(0)) ? value.getActiveBits() > 32 : value.getSignificantBits() > 32;
  };
  return elements.isSplat() ? exceeds(elements.getSplatValue<APInt>()) : llvm::any_of(elements, exceeds);
}

/// Returns whether an op moves bits from one word to the other. The sign is in both.
static bool shiftsByWord(Operation *op) {
  if (!isa<stablehlo::ShiftLeftOp, stablehlo::ShiftRightArithmeticOp, stablehlo::ShiftRightLogicalOp>(op) ||
      !isWide(op->getResult(0)))
    return false;
  const int by = knownShift(op->getOperand(1)).value_or(0);
  return by >= 32 && (by < 63 || !isa<stablehlo::ShiftRightArithmeticOp>(op));
}

/// Returns whether all elements are the bits of 1.0, and those of a mantissa.
static bool isInFirstBinade(Value bits) {
  auto either = bits.getDefiningOp<stablehlo::OrOp>();
  if (!either)
    return false;
  const auto isShifted = [](Value value) {
    auto shift = value.getDefiningOp<stablehlo::ShiftRightLogicalOp>();
    return shift && knownShift(shift.getRhs()) == 12;
  };
  const auto isOne = [](Value value) {
    DenseIntElementsAttr elements;
    return matchPattern(spreadOf(value), m_Constant(&elements)) && elements.isSplat() &&
           elements.getSplatValue<APInt>() == 0x3ff0000000000000ULL;
  };
  return (isShifted(either.getLhs()) && isOne(either.getRhs())) ||
         (isShifted(either.getRhs()) && isOne(either.getLhs()));
}

static bool isOnes(Value value) { return matchPattern(spreadOf(value), m_OneFloat()); }

namespace {
struct LegalizeWideIntegers : tt::impl::StableHLOLegalizeWideIntegersBase<LegalizeWideIntegers> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet patterns(context);
    addMaskExpansions(patterns);
    masks = FrozenRewritePatternSet(std::move(patterns));
    return success();
  }

  void runOnOperation() override {
    if (llvm::all_of(getOperation().getOps<func::FuncOp>(),
                     [](func::FuncOp function) { return findRoots(function).empty(); }))
      return;
    if (failed(inlineCalls()))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(convertFunction(function)))
        return signalPassFailure();
  }

private:
  static bool takesOrReturnsWide(func::CallOp call) {
    return llvm::any_of(call.getOperands(), isWide) || llvm::any_of(call.getResults(), isWide);
  }

  /// Inlines the calls that take or return 64-bit integers, callees first, so that the words of these are known on both
  /// sides. Functions that call each other are refused later.
  LogicalResult inlineCalls() {
    constexpr size_t most = 200'000;
    size_t copied = 0;
    SymbolTable symbols(getOperation());
    const CallGraph graph(getOperation());
    llvm::SetVector<func::FuncOp> inlined;
    llvm::DenseSet<Operation *> inCycles;
    for (auto component = llvm::scc_begin(&graph), end = llvm::scc_end(&graph); component != end; ++component) {
      for (CallGraphNode *node : *component)
        if (component.hasCycle() && !node->isExternal())
          inCycles.insert(node->getCallableRegion()->getParentOp());
      if (component.hasCycle() || (*component).front()->isExternal())
        continue;
      SmallVector<func::CallOp> calls;
      (*component).front()->getCallableRegion()->walk([&](func::CallOp call) {
        if (takesOrReturnsWide(call))
          calls.push_back(call);
      });
      for (func::CallOp call : calls) {
        auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
        if (!callee || !callee.getBody().hasOneBlock() || inCycles.contains(callee))
          continue;
        const Location at = call.getLoc();
        copied += ttcore::inlineCall(call, callee).size();
        inlined.insert(callee);
        if (copied > most)
          return emitError(at)
                 << "calls of functions that compute with 64-bit integers which do not fit in 32 bits are "
                    "inlined, which makes more than "
                 << most << " operations";
      }
    }
    for (func::FuncOp callee : llvm::reverse(inlined))
      if (callee.isPrivate() && SymbolTable::symbolKnownUseEmpty(callee, getOperation()))
        symbols.erase(callee);
    return success();
  }

  /// Replaces the neutral element of a maximum or minimum in a window by that of the 32 bits.
  static void narrowNeutral(stablehlo::ReduceWindowOp window) {
    for (OpOperand &operand : window->getOpOperands().drop_front(window.getInputs().size())) {
      DenseIntElementsAttr elements;
      Operation *only = onlyOp(window.getBody());
      if (!isa_and_present<stablehlo::MaxOp, stablehlo::MinOp>(only) || !isWide(operand.get()) ||
          isUnsigned(operand.get()) || !matchPattern(spreadOf(operand.get()), m_Constant(&elements)))
        continue;
      const bool isMax = isa<stablehlo::MaxOp>(only);
      const APInt value = elements.getSplatValue<APInt>();
      if (isMax ? !value.isMinSignedValue() : !value.isMaxSignedValue())
        continue;
      OpBuilder builder(window);
      const APInt narrow = (isMax ? APInt::getSignedMinValue(32) : APInt::getSignedMaxValue(32)).sext(64);
      operand.set(
          stablehlo::ConstantOp::create(builder, window.getLoc(), DenseElementsAttr::get(elements.getType(), narrow)));
    }
  }

  LogicalResult convertFunction(func::FuncOp function) {
    pairs.clear();
    function.walk([](stablehlo::ReduceWindowOp window) { narrowNeutral(window); });
    if (findRoots(function).empty())
      return success();
    dropMasks(function);
    while (carryWords(function)) {
    }
    llvm::SetVector<Operation *> all;
    for (Operation *root : findRoots(function)) {
      if (all.contains(root))
        continue;
      Component component = connectedTo(root);
      if (component.exits.empty() && !component.readsNarrow)
        all.insert_range(component.ops);
      else if (!component.exits.empty() && llvm::any_of(component.ops, joinsOrSplitsWords))
        return component.exits.front()->getOwner()->emitOpError(
            "takes integers that may need 64 bits; the chip has 32 here");
    }
    SmallVector<Operation *> order;
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (all.contains(op))
        order.push_back(op);
    });
    for (Operation *op : order)
      convert(op);
    for (Operation *op : llvm::reverse(order))
      if (isOpTriviallyDead(op))
        op->erase();
    return success();
  }

  /// Returns whether 32 bits are not enough for an op.
  static bool needsWords(Operation *op) {
    auto cast = dyn_cast<stablehlo::BitcastConvertOp>(op);
    const bool readsBits = cast && isConvertible(op) && (isF64(cast.getType()) || isF64(cast.getOperand().getType()));
    return readsBits || exceedsWord(op) || joinsOrSplitsWords(op);
  }

  /// Returns the ops that pairs of words are needed or better for.
  static llvm::SetVector<Operation *> findRoots(func::FuncOp function) {
    llvm::SetVector<Operation *> roots;
    function.walk([&](Operation *op) {
      if (needsWords(op) || shiftsByWord(op))
        roots.insert(op);
    });
    return roots;
  }

  void dropMasks(func::FuncOp function) {
    SmallVector<Operation *> casts;
    function.walk([&](stablehlo::ConvertOp op) { casts.push_back(op); });
    GreedyRewriteConfig config;
    config.setStrictness(GreedyRewriteStrictness::ExistingOps);
    config.enableFolding(false);
    config.enableConstantCSE(false);
    (void)applyOpPatternsGreedily(casts, masks, config);
  }

  /// Returns whether an op reads integers that another one holds in 32 bits as the bits of an f64.
  static bool readsNarrow(Operation *op, const llvm::SetVector<Operation *> &found) {
    auto cast = dyn_cast<stablehlo::BitcastConvertOp>(op);
    if (!cast || !isF64(cast.getType()) || !isWide(cast.getOperand()))
      return false;
    Operation *producer = cast.getOperand().getDefiningOp();
    return !producer || (!found.contains(producer) && !isa<stablehlo::RngBitGeneratorOp>(producer));
  }

  /// Ops that compute with the same integers.
  struct Component {
    llvm::SetVector<Operation *> ops;
    /// Where integers that may not fit reach ops that take the lower word.
    SmallVector<OpOperand *> exits;
    bool readsNarrow = false;
  };

  static Component connectedTo(Operation *root) {
    Component component;
    llvm::SetVector<Operation *> &found = component.ops;
    found.insert(root);
    llvm::DenseSet<Value> met;
    for (size_t i = 0; i < found.size(); ++i) {
      const auto meet = [&](Value value) {
        if (!isWide(value) || !met.insert(value).second)
          return;
        if (Operation *producer = value.getDefiningOp(); producer && isConvertible(producer) && usesWide(producer))
          found.insert(producer);
        for (OpOperand &use : value.getUses())
          if (readsPair(use))
            found.insert(use.getOwner());
      };
      llvm::for_each(found[i]->getOperands().take_front(dataOperands(found[i])), meet);
      llvm::for_each(found[i]->getResults(), meet);
    }
    WideRanges ranges(found);
    for (Operation *op : found) {
      component.readsNarrow |= readsNarrow(op, found);
      if (!isWide(op->getResult(0)))
        continue;
      for (OpOperand &use : op->getResult(0).getUses())
        if (!readsPair(use) && !isRandomState(use) && !ranges.fitsWord(op->getResult(0)))
          component.exits.push_back(&use);
    }
    return component;
  }

  /// A value that a loop, a branch or a barrier carries.
  using Carried = std::pair<Operation *, unsigned>;

  /// Returns where a loop, branch or barrier carries the value of this use, if all its regions can carry words.
  static std::optional<Carried> carriedBy(OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<stablehlo::OptimizationBarrierOp, stablehlo::WhileOp>(user))
      return Carried(user, use.getOperandNumber());
    Operation *parent = user->getParentOp();
    if (!isa<stablehlo::ReturnOp>(user) || !isa<stablehlo::CaseOp, stablehlo::IfOp, stablehlo::WhileOp>(parent))
      return std::nullopt;
    return Carried(parent, use.getOperandNumber());
  }

  /// Loops and branches carry words where integers do not fit, so that these reach ops that compute with pairs. Returns
  /// whether there was such a loop or branch.
  static bool carryWords(func::FuncOp function) {
    llvm::SetVector<Carried> carried;
    llvm::DenseSet<Operation *> seen;
    for (Operation *root : findRoots(function)) {
      if (!needsWords(root) || !seen.insert(root).second)
        continue;
      Component component = connectedTo(root);
      seen.insert_range(component.ops);
      SmallVector<std::optional<Carried>> places =
          llvm::map_to_vector(component.exits, [](OpOperand *use) { return carriedBy(*use); });
      if (llvm::all_of(places, [](const auto &place) { return place.has_value(); }))
        for (const auto &place : places)
          carried.insert(*place);
    }
    llvm::MapVector<Operation *, SmallVector<unsigned>> perOp;
    for (auto [op, index] : carried)
      perOp[op].push_back(index);
    for (auto &[op, indices] : perOp)
      splitCarried(op, indices);
    return !perOp.empty();
  }

  static void splitCarried(Operation *op, ArrayRef<unsigned> indices) {
    ImplicitLocOpBuilder builder(op->getLoc(), op);
    const auto split = [&](Value value) -> Value {
      SmallVector<int64_t> shape(typeOf(value).getShape());
      shape.push_back(2);
      return stablehlo::BitcastConvertOp::create(builder, RankedTensorType::get(shape, wordType(builder)), value);
    };
    const auto join = [&](Value value, Type words, Type type) {
      value.setType(words);
      auto joined = stablehlo::BitcastConvertOp::create(builder, type, value);
      value.replaceAllUsesExcept(joined, joined);
    };
    SmallVector<Type> types(op->getResultTypes()), wide(types);
    for (unsigned i : indices) {
      SmallVector<int64_t> shape(cast<RankedTensorType>(types[i]).getShape());
      shape.push_back(2);
      types[i] = RankedTensorType::get(shape, wordType(builder));
    }
    SmallVector<Value> operands(op->getOperands());
    const bool isLoop = isa<stablehlo::WhileOp>(op);
    if (isa<stablehlo::OptimizationBarrierOp, stablehlo::WhileOp>(op))
      for (unsigned i : indices)
        operands[i] = split(operands[i]);
    for (Region &region : op->getRegions()) {
      Operation *end = region.front().getTerminator();
      builder.setInsertionPoint(end);
      if (!isLoop || region.getRegionNumber() == 1)
        for (unsigned i : indices)
          end->setOperand(i, split(end->getOperand(i)));
      builder.setInsertionPointToStart(&region.front());
      if (isLoop)
        for (unsigned i : indices)
          join(region.getArgument(i), types[i], wide[i]);
    }
    builder.setInsertionPoint(op);
    OperationState state(op->getLoc(), op->getName(), operands, types, op->getAttrs());
    for (Region &region : op->getRegions())
      state.addRegion()->takeBody(region);
    Operation *copy = builder.create(state);
    for (auto [i, result] : llvm::enumerate(op->getResults())) {
      if (!llvm::is_contained(indices, i)) {
        result.replaceAllUsesWith(copy->getResult(i));
        continue;
      }
      result.replaceAllUsesWith(stablehlo::BitcastConvertOp::create(builder, wide[i], copy->getResult(i)));
    }
    op->erase();
  }

  /// The words of a value that another op computes: random bits have all, others the lower one.
  static Wide wordsOf(Expr x) {
    if (!x.value().getDefiningOp<stablehlo::RngBitGeneratorOp>())
      return widen(x);
    SmallVector<int64_t> shape(x.shape());
    shape.push_back(2);
    return pairIn(x.bitcast(RankedTensorType::get(shape, wordType(x.build()))));
  }

  Wide pairOf(ImplicitLocOpBuilder &builder, Value value) {
    if (auto known = pairs.find(value); known != pairs.end())
      return {{builder, known->second.first}, {builder, known->second.second}};
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(value);
    Wide words = wordsOf({builder, value});
    pairs[value] = {words.low.value(), words.high.value()};
    return words;
  }

  void convert(Operation *op) {
    ImplicitLocOpBuilder builder(op->getLoc(), op);
    Value result = op->getResult(0);
    if (isWide(result)) {
      Wide words = compute(builder, op);
      pairs[result] = {words.low.value(), words.high.value()};
      narrowOthers(builder, result, words);
      return;
    }
    if (isa<stablehlo::BitcastConvertOp>(op) && isInFirstBinade(op->getOperand(0)))
      replaceDifferences(builder, op);
    if (!result.use_empty())
      result.replaceAllUsesWith(leave(builder, op).value());
  }

  /// Replaces what is left of numbers in [1, 2) when 1 is subtracted: their mantissa has more bits than that of f32.
  void replaceDifferences(ImplicitLocOpBuilder &builder, Operation *numbers) {
    for (Operation *user : llvm::make_early_inc_range(numbers->getUsers())) {
      auto difference = dyn_cast<stablehlo::SubtractOp>(user);
      if (!difference || difference.getLhs() != numbers->getResult(0) || !isOnes(difference.getRhs()))
        continue;
      Expr value = fraction(pairOf(builder, numbers->getOperand(0)));
      difference.replaceAllUsesWith(value.convert(typeOf(difference.getResult()).getElementType()).value());
      difference.erase();
    }
  }

  /// Ops that compute with 32 bits take the lower word, and states of random bits both.
  void narrowOthers(ImplicitLocOpBuilder &builder, Value value, Wide words) {
    SmallVector<OpOperand *> others, states;
    for (OpOperand &use : value.getUses())
      if (isRandomState(use))
        states.push_back(&use);
      else if (!readsPair(use))
        others.push_back(&use);
    if (!states.empty()) {
      SmallVector<int64_t> shape(words.low.shape());
      shape.push_back(1);
      Expr both = words.low.reshape(shape).concat({words.high.reshape(shape)}, words.low.rank());
      Value joined = stablehlo::BitcastConvertOp::create(builder, value.getType(), both.value());
      for (OpOperand *use : states)
        use->set(joined);
    }
    if (others.empty() || exceedsWord(value.getDefiningOp()))
      return;
    Expr low = words.low.bitcast(Type(builder.getI32Type()));
    low = (isUnsigned(value) ? words.low : low).convert(wideElements(value.getType()));
    for (OpOperand *use : others)
      use->set(low.value());
  }

  /// Computes a result that is not a 64-bit integer.
  Expr leave(ImplicitLocOpBuilder &builder, Operation *op) {
    Value operand = op->getOperand(0);
    if (auto compared = dyn_cast<stablehlo::CompareOp>(op))
      return compare(pairOf(builder, compared.getLhs()), pairOf(builder, compared.getRhs()),
                     compared.getComparisonDirection(), isUnsigned(operand));
    Wide words = pairOf(builder, operand);
    Type to = typeOf(op->getResult(0)).getElementType();
    if (isa<stablehlo::BitcastConvertOp>(op) && to.isF64())
      return nearestFloat(words).convert(to);
    if (isa<stablehlo::BitcastConvertOp>(op)) {
      SmallVector<int64_t> shape(words.low.shape());
      shape.push_back(1);
      return words.low.reshape(shape).concat({words.high.reshape(shape)}, words.low.rank()).bitcast(to);
    }
    if (auto number = dyn_cast<FloatType>(to))
      return toFloat(words, isUnsigned(operand), number);
    if (to.isInteger(1))
      return (words.low | words.high) != 0;
    return (cast<IntegerType>(to).isUnsigned() ? words.low : words.low.bitcast(Type(builder.getI32Type()))).convert(to);
  }

  Wide compute(ImplicitLocOpBuilder &builder, Operation *op) {
    const bool isUnsigned = hlo::isUnsigned(op->getResult(0));
    const auto pair = [&](unsigned i) { return pairOf(builder, op->getOperand(i)); };
    if (actsOnWords(op))
      return {eachWord(builder, op, /*high=*/false), eachWord(builder, op, /*high=*/true)};
    return llvm::TypeSwitch<Operation *, Wide>(op)
        .Case([&](stablehlo::ConstantOp constant) { return wordsOf(builder, constant); })
        .Case([&](stablehlo::IotaOp iota) {
          Expr low =
              Expr::iota(builder, typeOf(iota).clone(wordType(builder)), static_cast<int64_t>(iota.getIotaDimension()));
          return both(low, low.number(0));
        })
        .Case<stablehlo::ConvertOp, stablehlo::BitcastConvertOp>([&](Operation *cast) {
          if (isWide(cast->getOperand(0)))
            return pair(0);
          Expr x(builder, cast->getOperand(0));
          if (x.element().isF64())
            return bitsOfDouble(x);
          return isa<stablehlo::BitcastConvertOp>(cast) ? pairIn(x.bitcast(wordType(builder))) : widen(x);
        })
        .Case([&](stablehlo::AbsOp) { return absolute(pair(0)); })
        .Case([&](stablehlo::NegOp) { return -pair(0); })
        .Case([&](stablehlo::SignOp) {
          Wide x = pair(0);
          Expr ones = x.low.number(0xffffffffLL), isSet = ((x.low | x.high) != 0).convert(x.low.element());
          return select(isNegative(x), both(ones, ones), both(isSet, x.low.number(0)));
        })
        .Case([&](stablehlo::AddOp) { return pair(0) + pair(1); })
        .Case([&](stablehlo::SubtractOp) { return pair(0) - pair(1); })
        .Case([&](stablehlo::MulOp) { return pair(0) * pair(1); })
        .Case([&](stablehlo::DivOp) { return divide(pair(0), pair(1), isUnsigned).first; })
        .Case([&](stablehlo::RemOp) { return divide(pair(0), pair(1), isUnsigned).second; })
        .Case([&](stablehlo::MaxOp) { return select(isLess(pair(0), pair(1), isUnsigned), pair(1), pair(0)); })
        .Case([&](stablehlo::MinOp) { return select(isLess(pair(0), pair(1), isUnsigned), pair(0), pair(1)); })
        .Case([&](stablehlo::ClampOp clamp) {
          const auto bound = [&](unsigned i) {
            Wide limit = pair(i);
            ArrayRef<int64_t> shape = typeOf(clamp.getResult()).getShape();
            return limit.low.rank() == 0 ? both(limit.low.spread(shape), limit.high.spread(shape)) : limit;
          };
          Wide low = bound(0), high = bound(2);
          Wide raised = select(isLess(pair(1), low, isUnsigned), low, pair(1));
          return select(isLess(high, raised, isUnsigned), high, raised);
        })
        .Case([&](stablehlo::ShiftLeftOp) {
          return shifted(builder, op, [](Wide x, auto by) { return shiftLeft(x, by); });
        })
        .Case([&](stablehlo::ShiftRightLogicalOp) {
          return shifted(builder, op, [](Wide x, auto by) { return shiftRight(x, by); });
        })
        .Case([&](stablehlo::ShiftRightArithmeticOp) {
          return shifted(builder, op,
                         [](Wide x, auto by) { return select(isNegative(x), ~shiftRight(~x, by), shiftRight(x, by)); });
        });
  }

  template <class F> Wide shifted(ImplicitLocOpBuilder &builder, Operation *op, F shift) {
    Wide x = pairOf(builder, op->getOperand(0));
    if (std::optional<int> by = knownShift(op->getOperand(1)))
      return shift(x, *by);
    Wide by = pairOf(builder, op->getOperand(1));
    return shift(x, (by.high == 0).select(by.low, by.low.number(64)));
  }

  Expr eachWord(ImplicitLocOpBuilder &builder, Operation *op, bool high) {
    SmallVector<Value> operands(op->getOperands());
    for (Value &operand : MutableArrayRef(operands).take_front(dataOperands(op)))
      if (isWide(operand)) {
        Wide words = pairOf(builder, operand);
        operand = high ? words.high.value() : words.low.value();
      }
    Operation *copy = builder.clone(*op);
    copy->setOperands(operands);
    Value result = copy->getResult(0);
    result.setType(typeOf(result).clone(wordType(builder)));
    return {builder, result};
  }

  static Wide wordsOf(ImplicitLocOpBuilder &builder, stablehlo::ConstantOp op) {
    auto elements = cast<DenseIntElementsAttr>(op.getValue());
    RankedTensorType type = typeOf(op.getResult()).clone(wordType(builder));
    const auto half = [&](unsigned from) {
      const auto word = [&](const APInt &value) { return value.extractBits(32, from); };
      auto all = elements.isSplat() ? SmallVector<APInt>{word(elements.getSplatValue<APInt>())}
                                    : llvm::map_to_vector(elements.getValues<APInt>(), word);
      return Expr(builder, stablehlo::ConstantOp::create(builder, DenseElementsAttr::get(type, all)));
    };
    return {half(0), half(32)};
  }

  FrozenRewritePatternSet masks;
  DenseMap<Value, std::pair<Value, Value>> pairs;
};
} // namespace
