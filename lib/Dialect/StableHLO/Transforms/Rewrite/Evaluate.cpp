//===- Evaluate.cpp - what ops of constants give --------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Evaluate.h"

#include "ttmlir/Dialect/StableHLO/Transforms/Scalars.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/APSInt.h"

#include <cmath>
#include <functional>

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::shlo;
namespace scalars = ::ttmlir::scalars;

namespace {
//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

StringRef comparison(stablehlo::ComparisonDirection direction) {
  switch (direction) {
  case stablehlo::ComparisonDirection::EQ:
    return "eq";
  case stablehlo::ComparisonDirection::NE:
    return "ne";
  case stablehlo::ComparisonDirection::LT:
    return "lt";
  case stablehlo::ComparisonDirection::LE:
    return "le";
  case stablehlo::ComparisonDirection::GT:
    return "gt";
  case stablehlo::ComparisonDirection::GE:
    return "ge";
  }
  return "";
}

} // namespace

const scalars::Function *shlo::scalarFunctionOf(Operation *op, Type element) {
  if (auto compare = dyn_cast<stablehlo::CompareOp>(op))
    return compare.getCompareType() == stablehlo::ComparisonType::TOTALORDER
               ? nullptr
               : scalars::find(comparison(compare.getComparisonDirection()));
  auto interface = dyn_cast<ScalarOpInterface>(op);
  return interface ? scalars::find(interface.getNames().of(element)) : nullptr;
}

namespace {
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

/// The source of the elements of an op that only moves them: (operand, position) for each element of the result, in
/// order, or nothing for another op.
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
    if (isa<stablehlo::ConvertOp>(op))
      return converted(from);
    if (isa<stablehlo::SelectOp>(op))
      return isa<FloatType>(from) ? selected<APFloat>() : selected<APInt>();
    if (isa<stablehlo::ClampOp>(op))
      return isa<FloatType>(from) ? clamped<APFloat>() : clamped<APInt>();
    const scalars::Function *function = scalarFunctionOf(op, from);
    if (!function || function->operands != static_cast<int>(operands.size()))
      return {};
    if (isa<FloatType>(to.getElementType()))
      return isa<FloatType>(from) ? mapped<APFloat, APFloat>(*function) : DenseElementsAttr();
    return isa<FloatType>(from) ? mapped<APInt, APFloat>(*function) : mapped<APInt, APInt>(*function);
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

  template <class To> DenseElementsAttr denseOf(ArrayRef<To> values) const {
    return DenseElementsAttr::get(to, values);
  }

  /// A scalar function of floats: computed in f64, which holds all of them, and rounded once.
  template <class To> std::optional<To> computed(const scalars::Function &function, ArrayRef<APFloat> elements) const {
    const llvm::fltSemantics &semantics = elements.front().getSemantics();
    const unsigned width = APFloat::getSizeInBits(semantics);
    // An approximation in f64 is correct after rounding to half of the digits.
    if (!function.d || width > (function.isExact ? 64u : 32u))
      return std::nullopt;
    const double value = function.d(llvm::map_to_vector<scalars::maxOperands>(elements, wide).data(), {});
    if constexpr (std::is_same_v<To, APInt>) {
      return inType(value, to.getElementType());
    } else {
      // The sign and the payload of a NaN are those of an operand.
      const auto *operand = llvm::find_if(elements, [](const APFloat &element) { return element.isNaN(); });
      if (std::isnan(value) && elements.size() > 1 && operand != elements.end())
        return *operand;
      if (std::isnan(value) && !APFloat::semanticsHasNaN(semantics))
        return std::nullopt;
      return inType(APFloat(value), cast<FloatType>(to.getElementType()));
    }
  }
  template <class To> std::optional<To> computed(const scalars::Function &function, ArrayRef<APInt> elements) const {
    const APInt &first = elements.front();
    const unsigned width = first.getBitWidth();
    if (!function.i || width > 64)
      return std::nullopt;
    const bool isOfUnsigned = isUnsigned(operands.back().getElementType());
    // Division by zero, and of the smallest number by -1, is undefined.
    if (op->hasTrait<trait::Divides>() &&
        (elements.back().isZero() || (!isOfUnsigned && first.isMinSignedValue() && elements.back().isAllOnes())))
      return std::nullopt;
    scalars::Attributes attributes;
    attributes.width = static_cast<int>(width);
    int64_t value;
    if (isOfUnsigned) {
      auto numbers = llvm::map_to_vector<scalars::maxOperands>(elements, std::mem_fn(&APInt::getZExtValue));
      value = static_cast<int64_t>(function.u(numbers.data(), attributes));
    } else {
      auto numbers = llvm::map_to_vector<scalars::maxOperands>(elements, std::mem_fn(&APInt::getSExtValue));
      value = function.i(numbers.data(), attributes);
    }
    return inType(value, to.getElementType());
  }
  static APInt inType(int64_t value, Type type) {
    const unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
    return APInt(width, static_cast<uint64_t>(value), /*isSigned=*/false, /*implicitTrunc=*/true);
  }

  /// A function of the elements of all operands at each position; null if it is undefined for some.
  template <class To, class From> DenseElementsAttr mapped(const scalars::Function &function) const {
    SmallVector<SmallVector<From>> all;
    for (DenseElementsAttr operand : operands)
      all.push_back(elementsOf<From>(operand, asSplat));
    SmallVector<To> results;
    for (size_t i = 0; i < all.front().size(); ++i) {
      const auto elements =
          llvm::map_to_vector<scalars::maxOperands>(all, [&](const SmallVector<From> &values) { return values[i]; });
      std::optional<To> value = computed<To>(function, elements);
      if (!value)
        return {};
      results.push_back(*value);
    }
    return denseOf<To>(results);
  }

  /// The smaller one of `max` and the larger one of `min` and the operand, as the specification states.
  template <class To, class From, class F> DenseElementsAttr eachConverted(F function) const {
    SmallVector<To> results;
    for (const From &element : elementsOf<From>(operands[0], asSplat)) {
      std::optional<To> value = function(element);
      if (!value)
        return {};
      results.push_back(*value);
    }
    return denseOf<To>(results);
  }

  template <class T> DenseElementsAttr moved(ArrayRef<Source> sources) const {
    SmallVector<SmallVector<T>> values;
    for (DenseElementsAttr operand : operands)
      values.push_back(elementsOf<T>(operand, operand.isSplat()));
    SmallVector<T> results;
    results.reserve(sources.size());
    for (auto [operand, at] : sources)
      results.push_back(values[operand][operands[operand].isSplat() ? 0 : at]);
    return denseOf<T>(results);
  }

  template <class T> DenseElementsAttr selected() const {
    SmallVector<bool> preds = elementsOf<bool>(operands[0], operands[0].isSplat());
    SmallVector<T> results, a = elementsOf<T>(operands[1], asSplat), b = elementsOf<T>(operands[2], asSplat);
    for (size_t i = 0; i < a.size(); ++i)
      results.push_back(preds[preds.size() == 1 ? 0 : i] ? a[i] : b[i]);
    return denseOf<T>(results);
  }

  /// The smaller one of `max` and the larger one of `min` and the operand, as the specification states.
  template <class T> DenseElementsAttr clamped() const {
    const scalars::Function &function = *scalars::find("clamp_tensor");
    SmallVector<T> low = elementsOf<T>(operands[0], operands[0].isSplat()), results;
    SmallVector<T> high = elementsOf<T>(operands[2], operands[2].isSplat());
    for (auto [i, value] : llvm::enumerate(elementsOf<T>(operands[1], asSplat))) {
      const T elements[] = {value, low[low.size() == 1 ? 0 : i], high[high.size() == 1 ? 0 : i]};
      std::optional<T> result = computed<T>(function, elements);
      if (!result)
        return {};
      results.push_back(*result);
    }
    return denseOf<T>(results);
  }

  DenseElementsAttr converted(Type from) const {
    const bool isOfUnsigned = isUnsigned(from);
    if (auto type = dyn_cast<FloatType>(to.getElementType())) {
      if (isa<FloatType>(from))
        return eachConverted<APFloat, APFloat>([&](const APFloat &a) { return std::optional(inType(a, type)); });
      return eachConverted<APFloat, APInt>([&](const APInt &a) {
        APFloat value(type.getFloatSemantics());
        value.convertFromAPInt(a, !isOfUnsigned, APFloat::rmNearestTiesToEven);
        return std::optional(value);
      });
    }
    const bool isPred = to.getElementType().isInteger(1);
    const unsigned width = to.getElementType().isIndex() ? 64 : to.getElementType().getIntOrFloatBitWidth();
    if (!isa<FloatType>(from))
      return eachConverted<APInt, APInt>([&](const APInt &a) -> std::optional<APInt> {
        return isPred ? APInt(1, !a.isZero()) : isOfUnsigned ? a.zextOrTrunc(width) : a.sextOrTrunc(width);
      });
    return eachConverted<APInt, APFloat>([&](const APFloat &a) -> std::optional<APInt> {
      if (isPred)
        return APInt(1, !a.isZero());
      llvm::APSInt value(width, isUnsigned(to.getElementType()));
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
    // Copies of one number, from any source.
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
