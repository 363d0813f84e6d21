//===- Window.cpp - lowering of StableHLO reductions and windows ----------===//
// SPDX-License-Identifier: Apache-2.0

#include "Expand/Expressions.h"

#include "ttmlir/Dialect/Families/ScalarsInterface.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/AddOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/AvgPool2dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/AvgPool3dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/CumProdOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/CumSumOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/FullOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/LogicalAndOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/LogicalOrOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MaxOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MaxPool2dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MaxPool3dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MaximumOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MinOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MinimumOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MultiplyOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ProdOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReduceAndOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReduceOrOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReverseOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SumOp.h"

#include "llvm/ADT/StringSwitch.h"

#include <numeric>

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

Operation *hlo::onlyOp(Region &region) {
  Block &body = region.front();
  if (body.getNumArguments() != 2 || !llvm::hasNItems(body, 2))
    return nullptr;
  Operation &inner = body.front();
  bool ordered = llvm::equal(inner.getOperands(), body.getArguments());
  bool swapped = llvm::equal(llvm::reverse(inner.getOperands()), body.getArguments());
  bool plain = inner.getNumOperands() == 2 && (ordered || (swapped && inner.hasTrait<OpTrait::IsCommutative>())) &&
               inner.getNumResults() == 1 && body.getTerminator()->getOperand(0) == inner.getResult(0);
  return plain ? &inner : nullptr;
}

namespace {
/// The ops by which TTIR combines elements as an op of two elements does.
struct Combiner {
  ttcore::ReduceType type;
  Value (*reduce)(ImplicitLocOpBuilder &, Type, Value, ArrayAttr dimensions);
  Value (*pair)(ImplicitLocOpBuilder &, Type, ValueRange); // of two values
  NeutralNumbers numbers;

  /// Whether there is a pool of windows of floats.
  bool hasPool() const { return type == ttcore::ReduceType::Sum || type == ttcore::ReduceType::Max; }
};
} // namespace

std::optional<ttcore::ReduceType> hlo::reduceTypeOf(Operation *op) {
  std::optional<ScalarNames> names = scalarNamesOf(op->getName());
  if (!names)
    return std::nullopt;
  return llvm::StringSwitch<std::optional<ttcore::ReduceType>>(names->of(getElementTypeOrSelf(op->getResult(0))))
      .Case("add", ttcore::ReduceType::Sum)
      .Case("multiply", ttcore::ReduceType::Prod)
      .Cases({"maximum", "logical_or"}, ttcore::ReduceType::Max)
      .Cases({"minimum", "logical_and"}, ttcore::ReduceType::Min)
      .Default(std::nullopt);
}

template <class OpT>
static Value reduceBy(ImplicitLocOpBuilder &builder, Type type, Value input, ArrayAttr dimensions) {
  return OpT::create(builder, type, input, builder.getBoolAttr(false), dimensions);
}

/// Whether combining with this value changes nothing.
static bool isNeutral(const Combiner &combiner, Value init) {
  return combiner.numbers.isNeutral(splatValue(init), /*anyZero=*/true);
}

/// The combiner of an op on these elements; nothing if TTIR has no such reduction.
static std::optional<Combiner> combinerOf(Operation *op, Type element) {
  const std::optional<ttcore::ReduceType> type = reduceTypeOf(op);
  auto neutral = dyn_cast<NeutralOpInterface>(op);
  if (!type || !neutral)
    return std::nullopt;
  const NeutralNumbers numbers = neutral.getNumbers();
  const bool isPred = element.isInteger(1);
  switch (*type) {
  case ttcore::ReduceType::Sum:
    return Combiner{*type, reduceBy<ttir::SumOp>, make<ttir::AddOp>, numbers};
  case ttcore::ReduceType::Prod:
    return Combiner{*type, reduceBy<ttir::ProdOp>, make<ttir::MultiplyOp>, numbers};
  case ttcore::ReduceType::Max:
    return isPred ? Combiner{*type, reduceBy<ttir::ReduceOrOp>, make<ttir::LogicalOrOp>, numbers}
                  : Combiner{*type, reduceBy<ttir::MaxOp>, make<ttir::MaximumOp>, numbers};
  case ttcore::ReduceType::Min:
    return isPred ? Combiner{*type, reduceBy<ttir::ReduceAndOp>, make<ttir::LogicalAndOp>, numbers}
                  : Combiner{*type, reduceBy<ttir::MinOp>, make<ttir::MinimumOp>, numbers};
  default:
    return std::nullopt;
  }
}

/// The combiner of a reduction over one tensor; otherwise refuses.
template <class OpT> static FailureOr<Combiner> findCombiner(ConversionPatternRewriter &rewriter, OpT op) {
  if (op.getInputs().size() != 1)
    return notifyMatchFailure(rewriter, op, "it reduces " + Twine(op.getInputs().size()) + " tensors at once");
  Operation *inner = onlyOp(op.getBody());
  if (!inner)
    return notifyMatchFailure(rewriter, op, "its region is not a single op of the two arguments");
  std::optional<Combiner> combiner = combinerOf(inner, typeOf(op->getResult(0)).getElementType());
  if (!combiner)
    return notifyMatchFailure(rewriter, op, "TTIR has no reduction by " + inner->getName().getStringRef());
  return *combiner;
}

namespace {
struct LowerReduce : OpConversionPattern<stablehlo::ReduceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::ReduceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (op.getInputs().size() == 2)
      return failure(); // values and their positions: ArgReductions.cpp
    FailureOr<Combiner> combiner = findCombiner(rewriter, op);
    if (failed(combiner))
      return failure();
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Value init = adaptor.getInitValues().front(), result = adaptor.getInputs().front();
    RankedTensorType type = typeOf(op->getResult(0));
    const bool nothingToCombine =
        llvm::all_of(op.getDimensions(), [&](int64_t dimension) { return typeOf(result).getDimSize(dimension) == 1; });
    if (nothingToCombine) {
      // A sum that begins with 0 would lose the sign of -0.
      result = reshape(builder, result, type.getShape());
    } else if (isa<stablehlo::MulOp>(onlyOp(op.getBody())) && !type.getElementType().isInteger(1)) {
      // TTNN reduces products along one dimension.
      for (int64_t dimension = typeOf(result).getRank() - 1; dimension >= 0; --dimension)
        if (llvm::is_contained(op.getDimensions(), dimension)) {
          SmallVector<int64_t> shape(typeOf(result).getShape());
          shape.erase(shape.begin() + dimension);
          result = combiner->reduce(builder, typeOf(result).clone(shape), result,
                                    rewriter.getI32ArrayAttr(narrow({dimension})));
        }
    } else if (!op.getDimensions().empty()) {
      result = combiner->reduce(builder, type, result, rewriter.getI32ArrayAttr(narrow(op.getDimensions())));
    }
    if (!isNeutral(*combiner, init))
      result = combiner->pair(builder, type, {result, init});
    return replace(rewriter, op, result);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Pools
//===----------------------------------------------------------------------===//

/// An attribute that may be absent, which means 1 everywhere.
static SmallVector<int64_t> orOnes(std::optional<ArrayRef<int64_t>> attr, size_t count) {
  return attr ? SmallVector<int64_t>(*attr) : SmallVector<int64_t>(count, 1);
}

/// Windows of a reduction, by dimension of its operand. padding: before and after each.
struct Windows {
  explicit Windows(stablehlo::ReduceWindowOp op)
      : rank(op.getWindowDimensions().size()), size(op.getWindowDimensions()),
        stride(orOnes(op.getWindowStrides(), rank)), dilation(orOnes(op.getWindowDilations(), rank)),
        base(orOnes(op.getBaseDilations(), rank)), padding(2 * rank, 0) {
    if (op.getPadding())
      llvm::copy(op.getPadding()->getValues<int64_t>(), padding.begin());
  }

  bool isDilated() const {
    return llvm::any_of(dilation, [](int64_t n) { return n != 1; });
  }

  /// The dimensions that a pool of images covers, or those of a pool of volumes; none if there is no such pool.
  SmallVector<int64_t> covered() const {
    SmallVector<int64_t> found;
    for (size_t dimension = 0; dimension < rank; ++dimension)
      if (size[dimension] != 1 || stride[dimension] != 1 || padding[2 * dimension] != 0 ||
          padding[2 * dimension + 1] != 0)
        found.push_back(dimension);
    for (int64_t dimension : {1, 2, 3})
      if (rank == 4 && found.size() < 2 && !llvm::is_contained(found, dimension))
        found.push_back(dimension);
    llvm::sort(found);
    const bool isImage = rank == 4 && found.size() == 2;
    const bool isVolume = rank > 3 && found.size() == 3 && llvm::all_of(padding, [](int64_t n) { return n >= 0; });
    if (llvm::any_of(base, [](int64_t n) { return n != 1; }) || (!isImage && !isVolume))
      found.clear();
    return found;
  }

  /// The dimension along which each window reaches to the beginning of the tensor, or to its end, and no further.
  std::optional<int64_t> scanned(ArrayRef<int64_t> shape, bool &reachesEnd) const {
    std::optional<int64_t> found;
    for (size_t dimension = 0; dimension < rank; ++dimension) {
      const int64_t before = padding[2 * dimension], after = padding[2 * dimension + 1], others = shape[dimension] - 1;
      if (stride[dimension] != 1 || dilation[dimension] != 1 || base[dimension] != 1)
        return std::nullopt;
      if (size[dimension] == 1 && before == 0 && after == 0)
        continue;
      const bool isBefore = before == others && after == 0, isBehind = before == 0 && after == others;
      if (found || size[dimension] != shape[dimension] || (!isBefore && !isBehind))
        return std::nullopt;
      found = dimension;
      reachesEnd = isBehind;
    }
    return found;
  }

  int64_t pooled(int64_t extent, int64_t dimension) const {
    extent += padding[2 * dimension] + padding[2 * dimension + 1] - (size[dimension] - 1) * dilation[dimension] - 1;
    return extent / stride[dimension] + 1;
  }

  size_t rank;
  SmallVector<int64_t> size, stride, dilation, base, padding;
};

/// The dimension along which windows are the running sums, or products, that TTIR has; nothing if they are not.
static std::optional<int64_t> scannedDimension(stablehlo::ReduceWindowOp op, const Combiner &combiner, Value init,
                                               bool &reachesEnd) {
  RankedTensorType type = typeOf(op.getInputs().front());
  const bool hasScan = combiner.type == ttcore::ReduceType::Sum || combiner.type == ttcore::ReduceType::Prod;
  if (!hasScan || !isNeutral(combiner, init) || !type.hasStaticShape() ||
      !(isa<FloatType>(type.getElementType()) || type.getElementType().isInteger(32)))
    return std::nullopt;
  return Windows(op).scanned(type.getShape(), reachesEnd);
}

namespace {
struct LowerReduceWindow : OpConversionPattern<stablehlo::ReduceWindowOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::ReduceWindowOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    FailureOr<Combiner> combiner = findCombiner(rewriter, op);
    if (failed(combiner))
      return failure();
    Value input = adaptor.getInputs().front();
    bool reachesEnd = false;
    if (std::optional<int64_t> dimension =
            scannedDimension(op, *combiner, adaptor.getInitValues().front(), reachesEnd)) {
      ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
      Type type = input.getType();
      const auto turned = [&](Value value) -> Value {
        return reachesEnd ? ttir::ReverseOp::create(builder, type, value, builder.getDenseI64ArrayAttr(*dimension))
                          : value;
      };
      Value first = turned(input);
      Value scan = combiner->type == ttcore::ReduceType::Sum
                       ? ttir::CumSumOp::create(builder, type, first, builder.getI64IntegerAttr(*dimension)).getResult()
                       : ttir::CumProdOp::create(builder, type, first, builder.getI64IntegerAttr(*dimension));
      return replace(rewriter, op, turned(scan));
    }
    if (!combiner->hasPool() || !isa<FloatType>(typeOf(input).getElementType()))
      return notifyMatchFailure(rewriter, op, "TTIR has pools for the maximum and the sum of floats only");
    if (!isNeutral(*combiner, adaptor.getInitValues().front()))
      return notifyMatchFailure(rewriter, op, "the initial value is not the constant that leaves a window as it is");
    const Windows windows(op);
    const SmallVector<int64_t> covered = windows.covered();
    if (covered.empty())
      return notifyMatchFailure(rewriter, op,
                                "TTIR pools over 2 dimensions of a tensor of rank 4, or over 3, without base dilation");
    if (combiner->type == ttcore::ReduceType::Sum && windows.isDilated())
      return notifyMatchFailure(rewriter, op, "a sum over a dilated window is not lowered");
    for (ArrayRef<int64_t> numbers : {windows.size, windows.stride, windows.dilation, windows.padding})
      if (failed(checkNarrow(rewriter, op, numbers)))
        return failure();
    // The pool requires the covered dimensions before the last one, and all others merged into one before them.
    SmallVector<int64_t> order;
    for (int64_t dimension = 0; dimension < static_cast<int64_t>(windows.rank); ++dimension)
      if (!llvm::is_contained(covered, dimension))
        order.push_back(dimension);
    order.insert(order.end() - 1, covered.begin(), covered.end());
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Value result = pool(builder, *combiner, windows, order, covered, permute(builder, input, order));
    return replace(rewriter, op, permute(builder, result, inverse(order)));
  }

private:
  /// Pools over the covered dimensions. `order`: the window dimension of each input dimension.
  static Value pool(ImplicitLocOpBuilder &builder, const Combiner &combiner, const Windows &windows,
                    ArrayRef<int64_t> order, ArrayRef<int64_t> covered, Value input) {
    RankedTensorType type = typeOf(input);
    const size_t first = order.size() - 1 - covered.size();
    SmallVector<int64_t> shape(type.getShape()), images(type.getShape().drop_front(first));
    images.insert(images.begin(),
                  std::accumulate(shape.begin(), shape.begin() + first, int64_t(1), std::multiplies<>()));
    Value image = reshape(builder, input, images);
    for (auto [i, dimension] : llvm::enumerate(covered))
      images[i + 1] = shape[first + i] = windows.pooled(shape[first + i], dimension);
    RankedTensorType pooledType = type.clone(images);
    Value pooled;
    if (covered.size() == 2)
      pooled =
          combiner.type == ttcore::ReduceType::Max
              ? slide<ttir::MaxPool2dOp>(builder, pooledType, image, windows, covered, ttir::FlattenedCompatInfoAttr())
              : slide<ttir::AvgPool2dOp>(builder, pooledType, image, windows, covered,
                                         /*count_include_pad=*/true, ttir::FlattenedCompatInfoAttr());
    else
      pooled = combiner.type == ttcore::ReduceType::Max
                   ? slide<ttir::MaxPool3dOp>(builder, pooledType, image, windows, covered)
                   : slide<ttir::AvgPool3dOp>(builder, pooledType, image, windows, covered, /*count_include_pad=*/true);
    if (combiner.type == ttcore::ReduceType::Sum) {
      // The mean includes padding, so it is the sum divided by the size of the window.
      float elements = 1;
      for (int64_t dimension : covered)
        elements *= static_cast<float>(windows.size[dimension]);
      SmallVector<int64_t> ones(images.size(), 1);
      Value factor = ttir::FullOp::create(builder, RankedTensorType::get(ones, type.getElementType()), narrow(ones),
                                          builder.getF32FloatAttr(elements));
      pooled = make<ttir::MultiplyOp>(builder, pooledType, {pooled, factor});
    }
    return reshape(builder, pooled, shape);
  }

  template <class OpT, class... Args>
  static Value slide(ImplicitLocOpBuilder &builder, RankedTensorType type, Value image, const Windows &windows,
                     ArrayRef<int64_t> covered, Args... args) {
    const auto of = [&](ArrayRef<int64_t> values) {
      return builder.getDenseI32ArrayAttr(
          narrow(llvm::map_to_vector(covered, [&](int64_t dimension) { return values[dimension]; })));
    };
    SmallVector<int64_t> sides; // all before the dimensions, then all behind them
    for (int64_t after : {0, 1})
      for (int64_t dimension : covered)
        sides.push_back(windows.padding[2 * dimension + after]);
    return OpT::create(builder, type, image, of(windows.size), of(windows.stride), of(windows.dilation),
                       builder.getDenseI32ArrayAttr(narrow(sides)), /*ceil_mode=*/false, args...)
        ->getResult(0);
  }
};
} // namespace

bool hlo::isKnownReduction(stablehlo::ReduceOp op) {
  // Complex numbers have only the sum, computed for each part.
  Operation *inner = op.getInputs().size() == 1 ? onlyOp(op.getBody()) : nullptr;
  return inner && !isa<ComplexType>(typeOf(op->getResult(0)).getElementType()) &&
         combinerOf(inner, typeOf(op->getResult(0)).getElementType());
}

bool hlo::isKnownReduction(stablehlo::ReduceWindowOp op) {
  Operation *inner = op.getInputs().size() == 1 ? onlyOp(op.getBody()) : nullptr;
  RankedTensorType type = typeOf(op.getInputs().front());
  std::optional<Combiner> combiner =
      inner ? combinerOf(inner, typeOf(op->getResult(0)).getElementType()) : std::nullopt;
  const Windows windows(op);
  bool reachesEnd = false;
  if (combiner && !isa<ComplexType>(type.getElementType()) &&
      scannedDimension(op, *combiner, op.getInitValues().front(), reachesEnd))
    return true;
  return combiner && combiner->hasPool() && isa<FloatType>(type.getElementType()) &&
         isNeutral(*combiner, op.getInitValues().front()) &&
         (combiner->type == ttcore::ReduceType::Max || !windows.isDilated()) && !windows.covered().empty();
}

void hlo::addWindowPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerReduce, LowerReduceWindow>(patterns.getContext());
}
