//===- Evaluate.cpp - what ops of constants give --------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Evaluate.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/APSInt.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::shlo;

namespace {
//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// How an integer is read.
struct Sign {
  bool isUnsigned, isPred;
  explicit Sign(Type element)
      : isUnsigned(element.isUnsignedInteger() || element.isInteger(1)), isPred(element.isInteger(1)) {}
};

using MaybeInt = std::optional<APInt>;
using IntFunction = MaybeInt (*)(const APInt &, const APInt &, Sign);
using FloatFunction = APFloat (*)(const APFloat &, const APFloat &);

// Division by zero, and of the smallest number by -1, are not defined.
bool isUndefined(const APInt &a, const APInt &b, Sign sign) {
  return b.isZero() || (!sign.isUnsigned && a.isMinSignedValue() && b.isAllOnes());
}

struct Binary {
  StringLiteral op;
  IntFunction ints;
  FloatFunction floats; // null: not computed
};
constexpr Binary binaries[] = {
    {"stablehlo.add", [](const APInt &a, const APInt &b, Sign s) -> MaybeInt { return s.isPred ? a | b : a + b; },
     [](const APFloat &a, const APFloat &b) { return a + b; }},
    {"stablehlo.subtract", [](const APInt &a, const APInt &b, Sign) -> MaybeInt { return a - b; },
     [](const APFloat &a, const APFloat &b) { return a - b; }},
    {"stablehlo.multiply", [](const APInt &a, const APInt &b, Sign) -> MaybeInt { return a * b; },
     [](const APFloat &a, const APFloat &b) { return a * b; }},
    {"stablehlo.divide",
     [](const APInt &a, const APInt &b, Sign s) -> MaybeInt {
       return isUndefined(a, b, s) ? MaybeInt() : s.isUnsigned ? a.udiv(b) : a.sdiv(b);
     },
     [](const APFloat &a, const APFloat &b) { return a / b; }},
    {"stablehlo.remainder",
     [](const APInt &a, const APInt &b, Sign s) -> MaybeInt {
       return isUndefined(a, b, s) ? MaybeInt() : s.isUnsigned ? a.urem(b) : a.srem(b);
     },
     [](const APFloat &a, const APFloat &b) {
       APFloat rest = a;
       rest.mod(b);
       return rest;
     }},
    {"stablehlo.maximum",
     [](const APInt &a, const APInt &b, Sign s) -> MaybeInt { return (s.isUnsigned ? a.ult(b) : a.slt(b)) ? b : a; },
     [](const APFloat &a, const APFloat &b) { return llvm::maximum(a, b); }},
    {"stablehlo.minimum",
     [](const APInt &a, const APInt &b, Sign s) -> MaybeInt { return (s.isUnsigned ? a.ult(b) : a.slt(b)) ? a : b; },
     [](const APFloat &a, const APFloat &b) { return llvm::minimum(a, b); }},
    {"stablehlo.and", [](const APInt &a, const APInt &b, Sign) -> MaybeInt { return a & b; }, nullptr},
    {"stablehlo.or", [](const APInt &a, const APInt &b, Sign) -> MaybeInt { return a | b; }, nullptr},
    {"stablehlo.xor", [](const APInt &a, const APInt &b, Sign) -> MaybeInt { return a ^ b; }, nullptr},
    {"stablehlo.shift_left",
     [](const APInt &a, const APInt &b, Sign) -> MaybeInt {
       return b.uge(a.getBitWidth()) ? APInt::getZero(a.getBitWidth()) : a.shl(b);
     },
     nullptr},
    {"stablehlo.shift_right_logical",
     [](const APInt &a, const APInt &b, Sign) -> MaybeInt {
       return b.uge(a.getBitWidth()) ? APInt::getZero(a.getBitWidth()) : a.lshr(b);
     },
     nullptr},
    {"stablehlo.shift_right_arithmetic",
     [](const APInt &a, const APInt &b, Sign) -> MaybeInt {
       return a.ashr(b.uge(a.getBitWidth()) ? APInt(a.getBitWidth(), a.getBitWidth() - 1) : b);
     },
     nullptr},
};

APFloat rounded(APFloat value, APFloat::roundingMode mode) {
  value.roundToIntegral(mode);
  return value;
}

struct Unary {
  StringLiteral op;
  MaybeInt (*ints)(const APInt &, Sign); // null: floats only
  APFloat (*floats)(const APFloat &);    // null: integers only
};
constexpr Unary unaries[] = {
    {"stablehlo.negate", [](const APInt &a, Sign) -> MaybeInt { return -a; }, [](const APFloat &a) { return -a; }},
    {"stablehlo.abs", [](const APInt &a, Sign) -> MaybeInt { return a.abs(); },
     [](const APFloat &a) { return llvm::abs(a); }},
    {"stablehlo.not", [](const APInt &a, Sign) -> MaybeInt { return ~a; }, nullptr},
    {"stablehlo.sign",
     [](const APInt &a, Sign) -> MaybeInt {
       return APInt(a.getBitWidth(), a.isZero() ? 0 : a.isNegative() ? -1 : 1, /*isSigned=*/true);
     },
     [](const APFloat &a) {
       if (a.isZero() || a.isNaN())
         return a;
       return APFloat::getOne(a.getSemantics(), a.isNegative());
     }},
    {"stablehlo.popcnt", [](const APInt &a, Sign) -> MaybeInt { return APInt(a.getBitWidth(), a.popcount()); },
     nullptr},
    {"stablehlo.count_leading_zeros",
     [](const APInt &a, Sign) -> MaybeInt { return APInt(a.getBitWidth(), a.countl_zero()); }, nullptr},
    {"stablehlo.floor", nullptr, [](const APFloat &a) { return rounded(a, APFloat::rmTowardNegative); }},
    {"stablehlo.ceil", nullptr, [](const APFloat &a) { return rounded(a, APFloat::rmTowardPositive); }},
    {"stablehlo.round_nearest_afz", nullptr, [](const APFloat &a) { return rounded(a, APFloat::rmNearestTiesToAway); }},
    {"stablehlo.round_nearest_even", nullptr,
     [](const APFloat &a) { return rounded(a, APFloat::rmNearestTiesToEven); }},
};

/// Of elements of up to 32 bits, computed with 64.
struct Function {
  StringLiteral op;
  double (*function)(double);
};
constexpr Function functions[] = {
    {"stablehlo.cbrt", [](double x) { return std::cbrt(x); }},
    {"stablehlo.cosine", [](double x) { return std::cos(x); }},
    {"stablehlo.exponential", [](double x) { return std::exp(x); }},
    {"stablehlo.exponential_minus_one", [](double x) { return std::expm1(x); }},
    {"stablehlo.log", [](double x) { return std::log(x); }},
    {"stablehlo.log_plus_one", [](double x) { return std::log1p(x); }},
    {"stablehlo.logistic", [](double x) { return 1 / (1 + std::exp(-x)); }},
    {"stablehlo.rsqrt", [](double x) { return 1 / std::sqrt(x); }},
    {"stablehlo.sine", [](double x) { return std::sin(x); }},
    {"stablehlo.sqrt", [](double x) { return std::sqrt(x); }},
    {"stablehlo.tan", [](double x) { return std::tan(x); }},
    {"stablehlo.tanh", [](double x) { return std::tanh(x); }},
};

template <class Row, size_t N> const Row *find(const Row (&rows)[N], Operation *op) {
  const Row *row = llvm::find_if(rows, [&](const Row &row) { return row.op == op->getName().getStringRef(); });
  return row == std::end(rows) ? nullptr : row;
}

bool holds(stablehlo::ComparisonDirection direction, bool less, bool equal, bool ordered) {
  switch (direction) {
  case stablehlo::ComparisonDirection::EQ:
    return ordered && equal;
  case stablehlo::ComparisonDirection::NE:
    return !ordered || !equal;
  case stablehlo::ComparisonDirection::LT:
    return ordered && less;
  case stablehlo::ComparisonDirection::LE:
    return ordered && (less || equal);
  case stablehlo::ComparisonDirection::GT:
    return ordered && !less && !equal;
  case stablehlo::ComparisonDirection::GE:
    return ordered && !less;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Elements of a constant: all of them, or the one of a splat.
template <class T> SmallVector<T> elementsOf(DenseElementsAttr attr, bool asSplat) {
  if (asSplat)
    return {attr.getSplatValue<T>()};
  return llvm::to_vector(attr.getValues<T>());
}

/// Where the elements of an op that only moves come from: (operand, position), or nothing for another op. For each
/// element of the result, in order.
using Source = std::pair<unsigned, int64_t>;
std::optional<SmallVector<Source>> sourcesOf(Operation *op) {
  RankedTensorType to = typeOf(op->getResult(0));
  ArrayRef<int64_t> shape = to.getShape();
  SmallVector<int64_t> strides = computeStrides(shape), index(shape.size());
  SmallVector<Source> sources;
  sources.reserve(to.getNumElements());
  auto linear = [](ArrayRef<int64_t> index, ArrayRef<int64_t> shape) {
    int64_t at = 0;
    for (auto [i, size] : llvm::zip_equal(index, shape))
      at = at * size + i;
    return at;
  };
  auto forEach = [&](auto source) {
    for (int64_t n = 0, count = to.getNumElements(); n < count; ++n) {
      index = delinearize(n, strides);
      sources.push_back(source());
    }
    return sources;
  };
  ArrayRef<int64_t> from;
  if (op->getNumOperands())
    from = typeOf(op->getOperand(0)).getShape();
  SmallVector<int64_t> place(from.size());
  auto placed = [&]() -> Source { return {0, linear(place, from)}; };
  if (isa<stablehlo::ReshapeOp>(op)) {
    for (int64_t n = 0, count = to.getNumElements(); n < count; ++n)
      sources.push_back({0, n});
    return sources;
  }
  if (auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op))
    return forEach([&] {
      for (auto [d, at] : llvm::enumerate(broadcast.getBroadcastDimensions()))
        place[d] = from[d] == 1 ? 0 : index[at];
      return placed();
    });
  if (isa<stablehlo::BroadcastOp>(op))
    return forEach([&] {
      llvm::copy(ArrayRef(index).take_back(from.size()), place.begin());
      return placed();
    });
  if (auto slice = dyn_cast<stablehlo::SliceOp>(op))
    return forEach([&] {
      for (size_t d = 0; d < from.size(); ++d)
        place[d] = slice.getStartIndices()[d] + index[d] * slice.getStrides()[d];
      return placed();
    });
  if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op))
    return forEach([&] {
      for (auto [d, at] : llvm::enumerate(transpose.getPermutation()))
        place[at] = index[d];
      return placed();
    });
  if (auto reverse = dyn_cast<stablehlo::ReverseOp>(op))
    return forEach([&] {
      place = index;
      for (int64_t d : reverse.getDimensions())
        place[d] = from[d] - 1 - index[d];
      return placed();
    });
  if (auto concat = dyn_cast<stablehlo::ConcatenateOp>(op))
    return forEach([&]() -> Source {
      int64_t &at = index[concat.getDimension()];
      for (auto [n, operand] : llvm::enumerate(op->getOperands())) {
        ArrayRef<int64_t> part = typeOf(operand).getShape();
        if (at < part[concat.getDimension()])
          return {static_cast<unsigned>(n), linear(index, part)};
        at -= part[concat.getDimension()];
      }
      return {0, 0};
    });
  if (auto pad = dyn_cast<stablehlo::PadOp>(op))
    return forEach([&]() -> Source {
      for (size_t d = 0; d < from.size(); ++d) {
        const int64_t at = index[d] - pad.getEdgePaddingLow()[d], step = pad.getInteriorPadding()[d] + 1;
        if (at < 0 || at % step || at / step >= from[d])
          return {1, 0};
        place[d] = at / step;
      }
      return placed();
    });
  return std::nullopt;
}

/// One op of constants. `asSplat`: every operand is one number, and so is the result.
class Evaluation {
public:
  Evaluation(Operation *op, ArrayRef<DenseElementsAttr> operands, bool asSplat)
      : op(op), operands(operands), asSplat(asSplat), to(typeOf(op->getResult(0))) {}

  DenseElementsAttr moved() const {
    std::optional<SmallVector<Source>> sources = sourcesOf(op);
    if (!sources)
      return {};
    return isa<FloatType>(to.getElementType()) ? moved<APFloat>(*sources) : moved<APInt>(*sources);
  }

  DenseElementsAttr elementwise() const {
    if (operands.empty())
      return {};
    Type from = operands.back().getElementType();
    const bool isFloat = isa<FloatType>(from);
    const Sign sign(from);
    if (const Binary *row = find(binaries, op)) {
      if (!isFloat)
        return mapped<APInt, APInt>([&](const APInt &a, const APInt &b) { return row->ints(a, b, sign); });
      if (row->floats)
        return mapped<APFloat, APFloat>(
            [&](const APFloat &a, const APFloat &b) { return std::optional(row->floats(a, b)); });
      return {};
    }
    if (const Unary *row = find(unaries, op)) {
      if (!isFloat && row->ints)
        return mapped<APInt, APInt>([&](const APInt &a) { return row->ints(a, sign); });
      if (isFloat && row->floats)
        return mapped<APFloat, APFloat>([&](const APFloat &a) { return std::optional(row->floats(a)); });
      return {};
    }
    if (const Function *row = find(functions, op); row && isFloat && cast<FloatType>(from).getWidth() <= 32)
      return mapped<APFloat, APFloat>([&](const APFloat &a) {
        return std::optional(inType(APFloat(row->function(wide(a))), cast<FloatType>(from)));
      });
    if (auto compare = dyn_cast<stablehlo::CompareOp>(op)) {
      if (compare.getCompareType() == stablehlo::ComparisonType::TOTALORDER)
        return {};
      auto direction = compare.getComparisonDirection();
      auto truth = [](bool value) { return std::optional(APInt(1, value)); };
      if (!isFloat)
        return mapped<APInt, APInt>([&](const APInt &a, const APInt &b) {
          return truth(holds(direction, sign.isUnsigned ? a.ult(b) : a.slt(b), a == b, true));
        });
      return mapped<APInt, APFloat>([&](const APFloat &a, const APFloat &b) {
        APFloat::cmpResult order = a.compare(b);
        return truth(holds(direction, order == APFloat::cmpLessThan, order == APFloat::cmpEqual,
                           order != APFloat::cmpUnordered));
      });
    }
    if (isa<stablehlo::IsFiniteOp>(op))
      return mapped<APInt, APFloat>([&](const APFloat &a) { return std::optional(APInt(1, a.isFinite())); });
    if (isa<stablehlo::ConvertOp>(op))
      return converted(from);
    if (isa<stablehlo::SelectOp>(op))
      return isFloat ? selected<APFloat>() : selected<APInt>();
    if (isa<stablehlo::ClampOp>(op))
      return isFloat ? clamped<APFloat>() : clamped<APInt>();
    return {};
  }

private:
  static double wide(APFloat value) {
    bool ignored = false;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &ignored);
    return value.convertToDouble();
  }
  static APFloat inType(APFloat value, FloatType type) {
    bool ignored = false;
    value.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &ignored);
    return value;
  }

  /// The attribute of computed elements; null when one of them is not defined.
  template <class To> DenseElementsAttr made(ArrayRef<To> values) const { return DenseElementsAttr::get(to, values); }

  /// A function of the elements at each place.
  template <class To, class From, class F> DenseElementsAttr mapped(F function) const {
    SmallVector<To> results;
    if constexpr (std::is_invocable_v<F, const From &, const From &>) {
      for (auto [a, b] :
           llvm::zip_equal(elementsOf<From>(operands[0], asSplat), elementsOf<From>(operands[1], asSplat))) {
        std::optional<To> value = function(a, b);
        if (!value)
          return {};
        results.push_back(*value);
      }
    } else {
      for (const From &a : elementsOf<From>(operands[0], asSplat)) {
        std::optional<To> value = function(a);
        if (!value)
          return {};
        results.push_back(*value);
      }
    }
    return made<To>(results);
  }

  template <class T> DenseElementsAttr moved(ArrayRef<Source> sources) const {
    SmallVector<SmallVector<T>> values;
    for (DenseElementsAttr operand : operands)
      values.push_back(elementsOf<T>(operand, operand.isSplat()));
    SmallVector<T> results;
    results.reserve(sources.size());
    for (auto [operand, at] : sources)
      results.push_back(values[operand][operands[operand].isSplat() ? 0 : at]);
    return made<T>(results);
  }

  template <class T> DenseElementsAttr selected() const {
    SmallVector<bool> preds = elementsOf<bool>(operands[0], operands[0].isSplat());
    SmallVector<T> results, a = elementsOf<T>(operands[1], asSplat), b = elementsOf<T>(operands[2], asSplat);
    for (size_t i = 0; i < a.size(); ++i)
      results.push_back(preds[preds.size() == 1 ? 0 : i] ? a[i] : b[i]);
    return made<T>(results);
  }

  /// The smaller one of `max` and the larger one of `min` and the operand, as the specification says.
  template <class T> DenseElementsAttr clamped() const {
    constexpr bool isFloat = std::is_same_v<T, APFloat>;
    const Binary *largest = llvm::find_if(binaries, [](const Binary &row) { return row.op == "stablehlo.maximum"; });
    const Binary *smallest = llvm::find_if(binaries, [](const Binary &row) { return row.op == "stablehlo.minimum"; });
    const auto apply = [sign = Sign(to.getElementType())](const Binary *row, const T &a, const T &b) {
      if constexpr (isFloat)
        return row->floats(a, b);
      else
        return *row->ints(a, b, sign);
    };
    SmallVector<T> low = elementsOf<T>(operands[0], operands[0].isSplat()), results;
    SmallVector<T> high = elementsOf<T>(operands[2], operands[2].isSplat());
    for (auto [i, value] : llvm::enumerate(elementsOf<T>(operands[1], asSplat)))
      results.push_back(
          apply(smallest, apply(largest, low[low.size() == 1 ? 0 : i], value), high[high.size() == 1 ? 0 : i]));
    return made<T>(results);
  }

  DenseElementsAttr converted(Type from) const {
    const Sign sign(from);
    if (auto type = dyn_cast<FloatType>(to.getElementType())) {
      if (isa<FloatType>(from))
        return mapped<APFloat, APFloat>([&](const APFloat &a) { return std::optional(inType(a, type)); });
      return mapped<APFloat, APInt>([&](const APInt &a) {
        APFloat value(type.getFloatSemantics());
        value.convertFromAPInt(a, !sign.isUnsigned, APFloat::rmNearestTiesToEven);
        return std::optional(value);
      });
    }
    const bool isPred = to.getElementType().isInteger(1);
    const unsigned width = to.getElementType().isIndex() ? 64 : to.getElementType().getIntOrFloatBitWidth();
    if (!isa<FloatType>(from))
      return mapped<APInt, APInt>([&](const APInt &a) -> MaybeInt {
        return isPred ? APInt(1, !a.isZero()) : sign.isUnsigned ? a.zextOrTrunc(width) : a.sextOrTrunc(width);
      });
    const Sign into(to.getElementType());
    return mapped<APInt, APFloat>([&](const APFloat &a) -> MaybeInt {
      if (isPred)
        return APInt(1, !a.isZero());
      llvm::APSInt value(width, into.isUnsigned);
      bool ignored = false;
      if (a.convertToInteger(value, APFloat::rmTowardZero, &ignored) & APFloat::opInvalidOp)
        return {};
      return value;
    });
  }

  Operation *op;
  ArrayRef<DenseElementsAttr> operands;
  bool asSplat;
  RankedTensorType to;
};
} // namespace

static bool isPlain(Type element) { return isa<FloatType>(element) || element.isIntOrIndex(); }

DenseElementsAttr shlo::evaluate(Operation *op, const EvaluationLimits &limits) {
  if (op->getNumResults() != 1 || op->getNumRegions() || op->getNumOperands() == 0)
    return {};
  auto to = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!to || !to.hasStaticShape() || !isPlain(to.getElementType()))
    return {};
  if (auto size = dyn_cast<stablehlo::GetDimensionSizeOp>(op)) {
    SmallVector<OpFoldResult> folded;
    return succeeded(op->fold(ArrayRef<Attribute>{Attribute()}, folded)) && folded.size() == 1
               ? dyn_cast_if_present<DenseElementsAttr>(dyn_cast<Attribute>(folded.front()))
               : DenseElementsAttr();
  }
  SmallVector<DenseElementsAttr> operands;
  for (Value operand : op->getOperands()) {
    DenseElementsAttr constant;
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type || !isPlain(type.getElementType()) || !matchPattern(operand, m_Constant(&constant)))
      return {};
    operands.push_back(constant);
  }
  if (limits.onlyMoves && !movesOnlyOperands(op))
    return {};
  if (!limits.withFloats && (isa<FloatType>(to.getElementType()) ||
                             llvm::any_of(operands, [](auto c) { return isa<FloatType>(c.getElementType()); })))
    return {};
  const bool areSplats = llvm::all_of(operands, [](DenseElementsAttr operand) { return operand.isSplat(); });
  if (movesOnlyOperands(op)) {
    // Copies of one number, wherever they come from.
    if (areSplats && llvm::all_equal(llvm::map_range(
                         operands, [](DenseElementsAttr operand) { return operand.getSplatValue<Attribute>(); })))
      return DenseElementsAttr::get(to, operands.front().getSplatValue<Attribute>());
    if (to.getNumElements() > limits.elements)
      return {};
    if (DenseElementsAttr moved = Evaluation(op, operands, false).moved())
      return moved;
  }
  if (!areSplats && to.getNumElements() > limits.elements)
    return {};
  return Evaluation(op, operands, areSplats && to.getNumElements() > 0).elementwise();
}
