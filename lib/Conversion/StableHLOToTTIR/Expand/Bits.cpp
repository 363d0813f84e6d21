//===- Bits.cpp - StableHLO ops on the bits of numbers --------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "../Patterns.h"
#include "Words.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/RandOp.h"

#include <numbers>

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

static Type uint32(ImplicitLocOpBuilder &builder) { return wordType(builder); }

//===----------------------------------------------------------------------===//
// Counting
//===----------------------------------------------------------------------===//

/// The number of set bits of 32: sums of neighbors, of pairs, of quadruples (H. S. Warren, "Hacker's Delight").
static Expr countOnes(Expr x) {
  x = x - (x.shr(1) & 0x55555555);
  x = (x & 0x33333333) + (x.shr(2) & 0x33333333);
  x = (x + x.shr(4)) & 0x0f0f0f0f;
  x = x + x.shr(8);
  return (x + x.shr(16)) & 0x3f;
}

/// The bits of an integer as an unsigned one of 32. The upper bits of a 64-bit integer follow from its lower ones: it
/// is a number that 32 bits hold (docs/numerics.md).
static Expr bitsOf(Expr x) {
  auto type = cast<IntegerType>(x.element());
  ImplicitLocOpBuilder &builder = x.build();
  Expr wide = x.convert(uint32(builder));
  return type.getWidth() < 32 ? wide & static_cast<double>((uint64_t(1) << type.getWidth()) - 1) : wide;
}

static bool isNegativeWide(Expr x) {
  auto type = cast<IntegerType>(x.element());
  return type.getWidth() > 32 && !type.isUnsigned();
}

namespace {
template <class OpT> struct ExpandCount : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpT op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Expr x(builder, op.getOperand());
    if (!isa<IntegerType>(x.element()))
      return failure();
    const unsigned width = x.element().getIntOrFloatBitWidth();
    Expr bits = bitsOf(x);
    if constexpr (std::is_same_v<OpT, stablehlo::PopulationCountOp>) {
      Expr count = countOnes(bits).convert(x.element());
      rewriter.replaceOp(op, (isNegativeWide(x) ? (x < 0).select(count + 32, count) : count).value());
    } else {
      for (int shift : {1, 2, 4, 8, 16})
        bits = bits | bits.shr(shift);
      Expr count = static_cast<double>(width) - countOnes(bits).convert(x.element());
      rewriter.replaceOp(op, (isNegativeWide(x) ? (x < 0).select(count.number(0), count) : count).value());
    }
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

/// Rounds the bits of an f32 to fewer: half to even in the mantissa; exponents beyond the range become infinite, or 0
/// with the sign.
struct ExpandReducePrecision : OpRewritePattern<stablehlo::ReducePrecisionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::ReducePrecisionOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Expr given(builder, op.getOperand());
    if (!isa<FloatType>(given.element()))
      return failure();
    const int exponent = static_cast<int>(op.getExponentBits()), mantissa = static_cast<int>(op.getMantissaBits());
    Expr x = given.convert(builder.getF32Type());
    Expr bits = x.bitcast(uint32(builder));
    if (mantissa < 23) {
      const int gone = 23 - mantissa;
      Expr last = bits.shr(gone) & 1;
      const uint64_t below = (uint64_t(1) << gone) - 1;
      bits = (bits + (last + static_cast<double>(below >> 1))) & static_cast<double>(0xffffffffULL & ~below);
    }
    if (exponent < 8) {
      const int64_t bias = 127, reduced = (int64_t(1) << (exponent - 1)) - 1;
      Expr sign = bits & 0x80000000LL, magnitude = bits & 0x7f800000;
      Expr tooLarge = magnitude > static_cast<double>((bias + reduced) << 23);
      Expr tooSmall = magnitude <= magnitude.number(static_cast<double>((bias - reduced) << 23));
      bits = tooSmall.select(sign, tooLarge.select(sign | sign.number(0x7f800000), bits));
    }
    Expr rounded = bits.bitcast(builder.getF32Type());
    // Without a mantissa there is no NaN.
    Expr invalid = mantissa > 0 ? x : x.number(INFINITY);
    rewriter.replaceOp(op, (x != x).select(invalid, rounded).convert(given.element()).value());
    return success();
  }
};

/// The next number in the order of the bits.
struct ExpandNextAfter : OpRewritePattern<chlo::NextAfterOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(chlo::NextAfterOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Expr from(builder, op.getX()), to(builder, op.getY());
    if (!from.element().isF32() && !from.element().isF16() && !from.element().isBF16())
      return rewriter.notifyMatchFailure(op, "only f32, bf16 and f16 are expanded");
    const unsigned width = from.element().getIntOrFloatBitWidth();
    auto word = [&](Expr number) {
      Type own = builder.getIntegerType(width, /*isSigned=*/false);
      return number.bitcast(own).convert(uint32(builder));
    };
    Expr x = word(from), y = word(to);
    const double signBit = std::ldexp(1.0, static_cast<int>(width) - 1), largest = signBit - 1;
    Expr xAbs = x & largest, yAbs = y & largest, xSign = x & signBit, ySign = y & signBit;
    Expr isZero = xAbs == 0;
    // One step from 0 is the smallest number of the target's sign.
    Expr fromZero = (yAbs == 0).select(y, ySign | ySign.number(1));
    Expr away = (xAbs > yAbs) | (xSign != ySign);
    Expr stepped = away.select(x - 1, x + 1);
    Expr bits = (x == y).select(y, isZero.select(fromZero, stepped));
    Expr result = bits.convert(builder.getIntegerType(width, /*isSigned=*/false)).bitcast(from.element());
    Expr invalid = (from != from) | (to != to);
    rewriter.replaceOp(op, invalid.select(from.number(NAN), result).value());
    return success();
  }
};

/// The bits as integers in the order of the numbers: -NaN, -inf, ..., -0, 0, ..., inf, NaN.
Expr totalOrder(Expr x) {
  ImplicitLocOpBuilder &builder = x.build();
  Expr bits = x.convert(builder.getF32Type()).bitcast(Type(builder.getI32Type()));
  return (bits < 0).select(bits ^ bits.number(0x7fffffff), bits);
}

struct ExpandTotalOrder : OpRewritePattern<stablehlo::CompareOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::CompareOp op, PatternRewriter &rewriter) const override {
    // Comparators of sorts are matched as a whole.
    if (op.getCompareType() != stablehlo::ComparisonType::TOTALORDER || isa<stablehlo::SortOp>(op->getParentOp()))
      return failure();
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Expr a = totalOrder({builder, op.getLhs()}), b = totalOrder({builder, op.getRhs()});
    rewriter.replaceOp(op, a.compare(op.getComparisonDirection(), b).value());
    return success();
  }
};

/// Elements that are split into parts, or joined from them, by shifts of words of 32 bits; the lowest part is the
/// first. Integers of 64 bits are numbers that 32 bits hold (docs/numerics.md): their upper word follows from the lower
/// one. Parts that are joined to 64 bits need not fit, so they are left, unless they are split again.
struct ExpandBitcast : OpRewritePattern<stablehlo::BitcastConvertOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::BitcastConvertOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Expr x(builder, op.getOperand());
    RankedTensorType to = typeOf(op.getResult());
    if (!x.element().isIntOrFloat() || !to.getElementType().isIntOrFloat())
      return failure();
    const unsigned from = x.element().getIntOrFloatBitWidth(), width = to.getElementType().getIntOrFloatBitWidth();
    const unsigned narrow = std::min(from, width);
    if (from == width || narrow < 2)
      return failure();
    auto given = op.getOperand().getDefiningOp<stablehlo::BitcastConvertOp>();
    if (given && given.getOperand().getType() == to) {
      rewriter.replaceOp(op, given.getOperand());
      return success();
    }
    // Words of random bits exist before they are joined to numbers.
    if (width > 32 || from > 64 ||
        (from == 64 && (x.isFloat() || given || op.getOperand().getDefiningOp<stablehlo::RngBitGeneratorOp>())))
      return failure();
    if (to.getNumElements() == 0) {
      rewriter.replaceOpWithNewOp<stablehlo::ConstantOp>(op, DenseElementsAttr::get(to, ArrayRef<Attribute>()));
      return success();
    }
    rewriter.replaceOp(op, (from > width ? split(x, to, narrow) : joined(x, to, narrow)).value());
    return success();
  }

private:
  static Expr split(Expr x, RankedTensorType to, unsigned narrow) {
    ImplicitLocOpBuilder &builder = x.build();
    const unsigned wide = x.element().getIntOrFloatBitWidth();
    Type part = builder.getIntegerType(narrow, false), word = uint32(builder);
    SmallVector<Expr> words;
    if (wide == 64) {
      Expr low = x.convert(word);
      words = {low, cast<IntegerType>(x.element()).isUnsigned()
                        ? low.number(0)
                        : (x < 0).select(low.number(0xffffffff), low.number(0))};
    } else {
      words = {x.bitcast(Type(builder.getIntegerType(wide, false))).convert(word)};
    }
    const double mask = static_cast<double>((uint64_t(1) << narrow) - 1);
    SmallVector<int64_t> shape(x.shape());
    shape.push_back(1);
    SmallVector<Expr> parts;
    for (unsigned at = 0; at < wide; at += narrow) {
      Expr bits = words[at / 32];
      bits = at % 32 ? bits.shr(static_cast<int>(at % 32)) : bits;
      parts.push_back((narrow < 32 ? bits & mask : bits).convert(part).reshape(shape));
    }
    Expr all = parts.front().concat(ArrayRef(parts).drop_front(), static_cast<int64_t>(shape.size()) - 1);
    return all.bitcast(to);
  }

  static Expr joined(Expr x, RankedTensorType to, unsigned narrow) {
    ImplicitLocOpBuilder &builder = x.build();
    const unsigned wide = to.getElementTypeBitWidth();
    Type part = builder.getIntegerType(narrow, false), word = uint32(builder);
    Expr bits = x.bitcast(part).convert(word);
    if (narrow < 32)
      bits = bits & static_cast<double>((uint64_t(1) << narrow) - 1);
    const int64_t last = x.rank() - 1;
    std::optional<Expr> joined;
    for (unsigned at = 0; at < wide; at += narrow) {
      const int64_t i = at / narrow;
      Expr piece = bits.slice(last, i, i + 1).reshape(to.getShape());
      piece = at ? piece.shl(static_cast<int>(at)) : piece;
      joined = joined ? *joined | piece : piece;
    }
    return joined->convert(builder.getIntegerType(wide, false)).bitcast(to);
  }
};

//===----------------------------------------------------------------------===//
// Random bits
//===----------------------------------------------------------------------===//

Expr rotate(Expr x, int bits) { return x.shl(bits) | x.shr(32 - bits); }

/// J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011): Philox4x32-10.
SmallVector<Expr> philox(SmallVector<Expr> x, Expr k0, Expr k1) {
  for (int round = 0; round < 10; ++round) {
    Wide a = product(x[0], x[0].number(0xD2511F53)), b = product(x[2], x[2].number(0xCD9E8D57));
    x = {b.high ^ x[1] ^ k0, b.low, a.high ^ x[3] ^ k1, a.low};
    k0 = k0 + k0.number(0x9E3779B9);
    k1 = k1 + k1.number(0xBB67AE85);
  }
  return x;
}

/// Computes Threefry-2x32-20, of the same paper.
SmallVector<Expr> threefry(Expr x0, Expr x1, Expr k0, Expr k1) {
  constexpr int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  Expr keys[] = {k0, k1, k0 ^ k1 ^ k0.number(0x1BD11BDA)};
  x0 = x0 + keys[0];
  x1 = x1 + keys[1];
  for (int group = 0; group < 5; ++group) {
    for (int rotation : rotations[group % 2]) {
      x0 = x0 + x1;
      x1 = rotate(x1, rotation) ^ x0;
    }
    x0 = x0 + keys[(group + 1) % 3];
    x1 = x1 + keys[(group + 2) % 3] + static_cast<double>(group + 1);
  }
  return {x0, x1};
}

/// The state is a key and a counter of 64 bits each. Philox counts in 128 bits, whose upper half is a third number of
/// the state or starts as the key. The bits equal those of XLA's CPU (facts of the algorithm: the two functions above,
/// and which word goes where). A 64-bit state that was joined from pairs of words is split into them again, and the
/// join is removed.
struct ExpandRngBitGenerator : OpRewritePattern<stablehlo::RngBitGeneratorOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::RngBitGeneratorOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    RankedTensorType stateType = typeOf(op.getInitialState()), type = typeOf(op.getOutput());
    auto element = dyn_cast<IntegerType>(type.getElementType());
    const int64_t numbers = stateType.getDimSize(0);
    if (!stateType.getElementType().isUnsignedInteger(64) || (numbers != 2 && numbers != 3))
      return rewriter.notifyMatchFailure(op, "the state is neither tensor<2xui64> nor tensor<3xui64>");
    if (!element || type.getNumElements() > std::numeric_limits<int32_t>::max() / 4)
      return rewriter.notifyMatchFailure(op, "the bits are not integers");
    Type word = uint32(builder);
    auto words = RankedTensorType::get({numbers, 2}, word);
    Expr state(builder, op.getInitialState());
    auto joined = op.getInitialState().getDefiningOp<stablehlo::BitcastConvertOp>();
    if (joined && joined.getOperand().getType() == words)
      state = Expr(builder, joined.getOperand());
    else
      state = state.bitcast(words);
    auto at = [&](int64_t i, int64_t j) { return state.slice({i, j}, {i + 1, j + 1}, {1, 1}).reshape({}); };
    auto number = [&](int64_t i) { return Wide{at(i, 0), at(i, 1)}; };
    Wide key = number(0), counter = number(1), upper = numbers == 3 ? number(2) : key;

    // One or two words of 32 bits for each element.
    const bool isWide = element.getWidth() == 64;
    SmallVector<int64_t> shape(type.getShape());
    int64_t blocks = 0;
    const bool isThreefry = op.getRngAlgorithm() == stablehlo::RngAlgorithm::THREE_FRY;
    Expr bits = type.getNumElements() == 0 ? noBits(builder, shape, isWide)
                : isThreefry               ? threefryBits(builder, key, counter, shape, isWide, blocks)
                                           : philoxBits(builder, key, counter, upper, shape, isWide, blocks);
    Expr output = bits;
    if (isWide) {
      replaceSplit(rewriter, op.getOutput(), bits);
      if (!op.getOutput().use_empty())
        output = bits.bitcast(type);
    } else if (element.getWidth() < 32) {
      output = (bits & static_cast<double>((uint64_t(1) << element.getWidth()) - 1)).convert(element);
    } else if (element != word) {
      output = bits.bitcast(Type(element));
    }
    Wide next = add(counter, counter.low.number(static_cast<double>(blocks)));
    SmallVector<Wide> parts = {key, next};
    if (numbers == 3)
      parts.push_back(add(upper, carry(next, counter)));
    auto pair = [](Wide x) { return x.low.reshape({1, 1}).concat({x.high.reshape({1, 1})}, 1); };
    SmallVector<Expr> rows = llvm::map_to_vector(parts, pair);
    Expr after = rows.front().concat(ArrayRef(rows).drop_front(), 0);
    auto lowWords = [&] {
      SmallVector<Expr> low = llvm::map_to_vector(parts, [](Wide x) { return x.low.reshape({1}); });
      return low.front().concat(ArrayRef(low).drop_front(), 0).convert(stateType.getElementType());
    };
    replaceSplit(rewriter, op.getOutputState(), after);
    if (!op.getOutputState().use_empty())
      rewriter.replaceAllUsesWith(op.getOutputState(), (joined ? after.bitcast(stateType) : lowWords()).value());
    if (!op.getOutput().use_empty())
      rewriter.replaceAllUsesWith(op.getOutput(), output.value());
    rewriter.eraseOp(op);
    if (joined && joined->use_empty())
      rewriter.eraseOp(joined);
    return success();
  }

private:
  static Expr noBits(ImplicitLocOpBuilder &builder, SmallVector<int64_t> shape, bool isWide) {
    if (isWide)
      shape.push_back(2);
    auto none = RankedTensorType::get(shape, uint32(builder));
    return {builder, stablehlo::ConstantOp::create(builder, DenseElementsAttr::get(none, ArrayRef<Attribute>()))};
  }

  /// Where numbers of 64 bits are split into words, the words are used directly.
  static void replaceSplit(PatternRewriter &rewriter, Value wide, Expr words) {
    for (Operation *user : llvm::make_early_inc_range(wide.getUsers()))
      if (auto cast = dyn_cast<stablehlo::BitcastConvertOp>(user); cast && cast.getType() == words.type())
        rewriter.replaceOp(cast, words.value());
  }

  /// counter + 0, 1, 2, ...
  static Wide counters(ImplicitLocOpBuilder &builder, Wide counter, ArrayRef<int64_t> shape) {
    Type word = uint32(builder);
    int64_t count = 1;
    for (int64_t size : shape)
      count *= size;
    Expr number = Expr::iota(builder, RankedTensorType::get({count}, word), 0).reshape(shape);
    return add({counter.low.spread(shape), counter.high.spread(shape)}, number);
  }

  /// Returns the carry from the lower half of a 128-bit counter to the upper one after fewer than 2^32 steps.
  static Expr carry(Wide after, Wide before) { return (after.high < before.high).convert(after.high.element()); }

  static Expr philoxBits(ImplicitLocOpBuilder &builder, Wide key, Wide counter, Wide upper, ArrayRef<int64_t> shape,
                         bool isWide, int64_t &blocks) {
    int64_t count = isWide ? 2 : 1;
    for (int64_t size : shape)
      count *= size;
    blocks = (count + 3) / 4;
    Wide at = counters(builder, counter, {blocks});
    Expr k0 = key.low.spread({blocks}), k1 = key.high.spread({blocks});
    Wide above = add({upper.low.spread({blocks}), upper.high.spread({blocks})},
                     carry(at, {counter.low.spread({blocks}), counter.high.spread({blocks})}));
    SmallVector<Expr> words = philox({at.low, at.high, above.low, above.high}, k0, k1);
    for (Expr &word : words)
      word = word.reshape({blocks, 1});
    Expr flat = words[0].concat(ArrayRef(words).drop_front(), 1).reshape({4 * blocks}).slice(0, 0, count);
    SmallVector<int64_t> to(shape);
    if (isWide)
      to.push_back(2);
    return flat.reshape(to);
  }

  static Expr threefryBits(ImplicitLocOpBuilder &builder, Wide key, Wide counter, ArrayRef<int64_t> shape, bool isWide,
                           int64_t &blocks) {
    SmallVector<int64_t> halved(shape);
    size_t split = 0;
    if (!isWide && !shape.empty()) {
      // The first even dimension, else the largest, holds pairs.
      const auto *even = llvm::find_if(shape, [](int64_t size) { return size % 2 == 0; });
      split = even != shape.end() ? even - shape.begin() : std::max_element(shape.begin(), shape.end()) - shape.begin();
      halved[split] = (shape[split] + 1) / 2;
    }
    blocks = 1;
    for (int64_t size : halved)
      blocks *= size;
    Wide at = counters(builder, counter, halved);
    SmallVector<Expr> words = threefry(at.low, at.high, key.low.spread(halved), key.high.spread(halved));
    SmallVector<int64_t> paired(halved);
    const size_t where = isWide || shape.empty() ? halved.size() : split + 1;
    paired.insert(paired.begin() + where, 1);
    Expr pairs = words[0].reshape(paired).concat({words[1].reshape(paired)}, static_cast<int64_t>(where));
    if (isWide)
      return pairs;
    if (shape.empty())
      return pairs.slice(0, 0, 1).reshape({});
    SmallVector<int64_t> merged(halved);
    merged[split] *= 2;
    return pairs.reshape(merged).slice(static_cast<int64_t>(split), 0, shape[split]);
  }
};

/// Numbers of a distribution: floats from those that the chip draws, integers from bits of Philox. The specification
/// leaves algorithm and state open: the key is the module's `stablehlo.rng_seed`, or 0, and each op has its own seed,
/// or part of the counter.
struct ExpandRng : OpRewritePattern<stablehlo::RngOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::RngOp op, PatternRewriter &rewriter) const override {
    RankedTensorType type = typeOf(op.getResult());
    Type element = type.getElementType();
    const bool isNormal = op.getRngDistribution() == stablehlo::RngDistribution::NORMAL;
    auto number = op->getAttrOfType<IntegerAttr>(rngNumberAttr);
    if (!number || element.isInteger(1) ||
        !(isa<FloatType>(element) || (!isNormal && element.isInteger() && element.getIntOrFloatBitWidth() <= 32)))
      return rewriter.notifyMatchFailure(op, "only floats, and uniform integers of up to 32 bits, are expanded");
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    if (type.getNumElements() == 0) {
      rewriter.replaceOpWithNewOp<stablehlo::ConstantOp>(op, DenseElementsAttr::get(type, ArrayRef<Attribute>()));
      return success();
    }
    SmallVector<int64_t> shape(type.getShape());
    auto spread = [&](Value scalar, Type to) { return Expr(builder, scalar).convert(to).spread(shape); };
    if (isNormal) {
      // G. Box and M. Muller, "A note on the generation of random normal deviates" (1958).
      SmallVector<int64_t> two = {2};
      llvm::append_range(two, shape);
      Expr both = units(builder, op, number, two);
      Expr u = both.slice(0, 0, 1).reshape(shape), v = both.slice(0, 1, 2).reshape(shape);
      Expr radius = ((-u).apply<stablehlo::Log1pOp>() * -2).apply<stablehlo::SqrtOp>();
      Expr normal = radius * (v * (2 * std::numbers::pi)).apply<stablehlo::CosineOp>();
      Expr mean = spread(op.getA(), normal.element()), deviation = spread(op.getB(), normal.element());
      rewriter.replaceOp(op, (mean + deviation * normal).convert(element).value());
      return success();
    }
    if (isa<FloatType>(element)) {
      Expr u = units(builder, op, number, shape);
      auto from = dyn_cast_or_null<FloatAttr>(splatValue(op.getA())),
           to = dyn_cast_or_null<FloatAttr>(splatValue(op.getB()));
      if (from && to && from.getValue().isZero() && to.getValue().isExactlyValue(1) && element.isF32()) {
        rewriter.replaceOp(op, u.value());
        return success();
      }
      // Rounding must not reach the upper bound, which is exclusive.
      Value below;
      if (from && to && from.getValue() < to.getValue()) {
        APFloat number = to.getValue();
        number.next(/*nextDown=*/true);
        below = stablehlo::ConstantOp::create(builder,
                                              DenseElementsAttr::get(cast<ShapedType>(op.getB().getType()),
                                                                     Attribute(builder.getFloatAttr(element, number))));
      } else {
        below = chlo::NextAfterOp::create(builder, op.getB().getType(), op.getB(), op.getA());
      }
      Expr low = spread(op.getA(), u.element()), high = spread(op.getB(), u.element());
      Expr rounded = (low + u * (high - low)).convert(element);
      rewriter.replaceOp(op, rounded.apply<stablehlo::MinOp>(Expr(builder, below).spread(shape)).value());
      return success();
    }
    // The upper half of bits * (high - low) is below high - low.
    Expr random = bits(builder, op, number, shape);
    Type word = uint32(builder);
    Expr low = spread(op.getA(), word), high = spread(op.getB(), word);
    rewriter.replaceOp(op, (low + product(random, high - low).high).convert(element).value());
    return success();
  }

private:
  static uint64_t keyOf(stablehlo::RngOp op) {
    auto module = op->getParentOfType<ModuleOp>();
    auto seed = module ? module->getAttrOfType<IntegerAttr>("stablehlo.rng_seed") : IntegerAttr();
    return seed ? seed.getValue().getZExtValue() : 0;
  }

  static Expr bits(ImplicitLocOpBuilder &builder, stablehlo::RngOp op, IntegerAttr number, ArrayRef<int64_t> shape) {
    const uint64_t key = keyOf(op);
    Type word = uint32(builder);
    auto words = RankedTensorType::get({2, 2}, word);
    const uint32_t values[] = {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32), 0,
                               static_cast<uint32_t>(number.getInt())};
    Expr state(builder, stablehlo::ConstantOp::create(builder, DenseElementsAttr::get(words, ArrayRef(values))));
    auto whole = RankedTensorType::get({2}, builder.getIntegerType(64, /*isSigned=*/false));
    auto generator = stablehlo::RngBitGeneratorOp::create(
        builder, TypeRange{whole, RankedTensorType::get(shape, word)}, state.bitcast(whole).value(),
        stablehlo::RngAlgorithmAttr::get(builder.getContext(), stablehlo::RngAlgorithm::PHILOX));
    return {builder, generator.getOutput()};
  }

  /// In [0, 1), in f32.
  static Expr units(ImplicitLocOpBuilder &builder, stablehlo::RngOp op, IntegerAttr number, ArrayRef<int64_t> shape) {
    // The upper bits of a product spread seeds that are near each other; a seed of 0 would differ from run to run.
    const uint64_t mixed = (keyOf(op) + 1) * 0xd1342543de82ef95ULL + (number.getInt() + 1) * 0x9e3779b97f4a7c15ULL;
    const auto seed = std::max<uint32_t>(1, static_cast<uint32_t>(mixed >> 32));
    SmallVector<int64_t> sizes(shape);
    if (sizes.empty())
      sizes.push_back(1);
    Expr drawn(builder, ttir::RandOp::create(builder, RankedTensorType::get(sizes, builder.getF32Type()),
                                             builder.getI32ArrayAttr(SmallVector<int32_t>(sizes.begin(), sizes.end())),
                                             builder.getF32FloatAttr(0), builder.getF32FloatAttr(1),
                                             builder.getIntegerAttr(uint32(builder), seed)));
    return drawn.reshape(shape);
  }
};

/// The upper half of a product.
struct ExpandMulhi : OpRewritePattern<chlo::MulhiOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(chlo::MulhiOp op, PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Expr a(builder, op.getLhs()), b(builder, op.getRhs());
    auto type = dyn_cast<IntegerType>(a.element());
    if (!type || type.getWidth() > 32)
      return rewriter.notifyMatchFailure(op, "only integers of up to 32 bits are expanded");
    Type word = uint32(builder);
    if (type.getWidth() < 32) {
      Type wide = builder.getIntegerType(32);
      Expr whole = a.convert(wide) * b.convert(wide);
      Expr high = whole.apply<stablehlo::ShiftRightArithmeticOp>(whole.number(type.getWidth()));
      rewriter.replaceOp(op, high.convert(type).value());
      return success();
    }
    Expr x = a.bitcast(word), y = b.bitcast(word);
    Expr high = product(x, y).high;
    // For signed numbers: each negative one represents itself plus 2^32.
    if (!type.isUnsigned())
      high = high - (a < 0).select(y, y.number(0)) - (b < 0).select(x, x.number(0));
    rewriter.replaceOp(op, high.bitcast(Type(type)).value());
    return success();
  }
};

/// An integer that loses its upper bits does not need them: a mask of 32 bits is not a number of the chip's 64-bit
/// integers.
struct DropMask : OpRewritePattern<stablehlo::ConvertOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::ConvertOp op, PatternRewriter &rewriter) const override {
    auto masked = op.getOperand().getDefiningOp<stablehlo::AndOp>();
    auto to = dyn_cast<IntegerType>(typeOf(op.getResult()).getElementType());
    if (!masked || !to || to.getWidth() == 1 || to.getWidth() >= typeOf(masked.getResult()).getElementTypeBitWidth())
      return failure();
    for (auto [value, mask] : {std::pair(masked.getLhs(), masked.getRhs()), {masked.getRhs(), masked.getLhs()}}) {
      if (auto spread = mask.getDefiningOp<stablehlo::BroadcastInDimOp>())
        mask = spread.getOperand();
      DenseIntElementsAttr constant;
      if (!matchPattern(mask, m_Constant(&constant)) || !constant.isSplat() ||
          constant.getSplatValue<APInt>().countr_one() < to.getWidth())
        continue;
      rewriter.replaceOpWithNewOp<stablehlo::ConvertOp>(op, op.getType(), value);
      // The chip could not hold it, used or not.
      llvm::SmallSetVector<Operation *, 4> unused;
      unused.insert(masked);
      while (!unused.empty()) {
        Operation *last = unused.pop_back_val();
        if (!isOpTriviallyDead(last))
          continue;
        for (Value operand : last->getOperands())
          if (Operation *defining = operand.getDefiningOp(); defining && operand != value)
            unused.insert(defining);
        rewriter.eraseOp(last);
      }
      return success();
    }
    return failure();
  }
};
} // namespace

void hlo::addMaskExpansions(RewritePatternSet &patterns) { patterns.add<DropMask>(patterns.getContext()); }

void hlo::addBitExpansions(RewritePatternSet &patterns) {
  addMaskExpansions(patterns);
  patterns
      .add<ExpandBitcast, ExpandTotalOrder, ExpandCount<stablehlo::ClzOp>, ExpandCount<stablehlo::PopulationCountOp>,
           ExpandMulhi, ExpandNextAfter, ExpandReducePrecision, ExpandRng, ExpandRngBitGenerator>(
          patterns.getContext());
}
