//===- Window.cpp - lowering of StableHLO reductions and windows ----------===//
// SPDX-License-Identifier: Apache-2.0

#include "Expand/Expressions.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/AddOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/AvgPool2dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/FullOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/LogicalAndOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/LogicalOrOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MaxOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MaxPool2dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MaximumOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MinOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MinimumOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MultiplyOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ProdOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReduceAndOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReduceOrOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SumOp.h"

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
/// How a combining op reduces a tensor.
struct Combiner {
  enum Kind { Sum, Max, Other } kind;
  Value (*reduce)(ImplicitLocOpBuilder &, Type, Value, ArrayAttr dimensions);
  Value (*pair)(ImplicitLocOpBuilder &, Type, ValueRange); // of two values
  std::optional<APFloat> (*floatNeutral)(const llvm::fltSemantics &);
  std::optional<APInt> (*integerNeutral)(unsigned width, bool isSigned);
};
} // namespace

template <class OpT>
static Value reduceBy(ImplicitLocOpBuilder &builder, Type type, Value input, ArrayAttr dimensions) {
  return OpT::create(builder, type, input, builder.getBoolAttr(false), dimensions);
}

/// Whether combining with this value changes nothing.
static bool isNeutral(const Combiner &combiner, Value init) {
  Attribute value = splatValue(init);
  if (auto attr = dyn_cast_if_present<FloatAttr>(value)) {
    std::optional<APFloat> neutral = combiner.floatNeutral(attr.getValue().getSemantics());
    return neutral && attr.getValue().compare(*neutral) == APFloat::cmpEqual;
  }
  if (auto attr = dyn_cast_if_present<IntegerAttr>(value)) {
    std::optional<APInt> neutral =
        combiner.integerNeutral(attr.getValue().getBitWidth(), !attr.getType().isUnsignedInteger());
    return neutral && attr.getValue() == *neutral;
  }
  return false;
}

/// The combiner of an op on these elements; nothing if TTIR has no such reduction.
static std::optional<Combiner> combinerOf(Operation *op, Type element) {
  auto zero = [](const llvm::fltSemantics &format) -> std::optional<APFloat> { return APFloat::getZero(format); };
  auto one = [](const llvm::fltSemantics &format) -> std::optional<APFloat> { return APFloat(format, 1); };
  auto lowest = [](const llvm::fltSemantics &format) -> std::optional<APFloat> {
    return APFloat::getInf(format, true);
  };
  auto highest = [](const llvm::fltSemantics &format) -> std::optional<APFloat> { return APFloat::getInf(format); };
  auto intZero = [](unsigned width, bool) -> std::optional<APInt> { return APInt(width, 0); };
  auto intOne = [](unsigned width, bool) -> std::optional<APInt> { return APInt(width, 1); };
  auto intLowest = [](unsigned width, bool isSigned) -> std::optional<APInt> {
    return isSigned ? APInt::getSignedMinValue(width) : APInt::getMinValue(width);
  };
  auto intHighest = [](unsigned width, bool isSigned) -> std::optional<APInt> {
    return isSigned ? APInt::getSignedMaxValue(width) : APInt::getMaxValue(width);
  };
  if (element.isInteger(1)) {
    if (isa<stablehlo::OrOp, stablehlo::MaxOp, stablehlo::AddOp>(op))
      return Combiner{Combiner::Other, reduceBy<ttir::ReduceOrOp>, make<ttir::LogicalOrOp>, zero, intZero};
    if (isa<stablehlo::AndOp, stablehlo::MinOp, stablehlo::MulOp>(op))
      return Combiner{Combiner::Other, reduceBy<ttir::ReduceAndOp>, make<ttir::LogicalAndOp>, one, intOne};
    return std::nullopt;
  }
  if (isa<stablehlo::AddOp>(op))
    return Combiner{Combiner::Sum, reduceBy<ttir::SumOp>, make<ttir::AddOp>, zero, intZero};
  if (isa<stablehlo::MulOp>(op))
    return Combiner{Combiner::Other, reduceBy<ttir::ProdOp>, make<ttir::MultiplyOp>, one, intOne};
  if (isa<stablehlo::MaxOp>(op))
    return Combiner{Combiner::Max, reduceBy<ttir::MaxOp>, make<ttir::MaximumOp>, lowest, intLowest};
  if (isa<stablehlo::MinOp>(op))
    return Combiner{Combiner::Other, reduceBy<ttir::MinOp>, make<ttir::MinimumOp>, highest, intHighest};
  return std::nullopt;
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
      // A sum that begins at 0 would lose the sign of -0.
      result = reshape(builder, result, type.getShape());
    } else if (isa<stablehlo::MulOp>(onlyOp(op.getBody())) && !type.getElementType().isInteger(1)) {
      // TTNN has products of one dimension.
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

/// An attribute that may be absent, and then is 1 everywhere.
static SmallVector<int64_t> orOnes(std::optional<ArrayRef<int64_t>> attr, size_t count) {
  return attr ? SmallVector<int64_t>(*attr) : SmallVector<int64_t>(count, 1);
}

/// The two dimensions that the window covers, and the other two.
static std::pair<SmallVector<int64_t>, SmallVector<int64_t>>
coveredDimensions(ArrayRef<int64_t> window, ArrayRef<int64_t> stride, ArrayRef<int64_t> padding) {
  SmallVector<int64_t> spatial, others;
  for (size_t dimension = 0; dimension < window.size(); ++dimension) {
    bool covered = window[dimension] != 1 || stride[dimension] != 1 || padding[2 * dimension] != 0 ||
                   padding[2 * dimension + 1] != 0;
    (covered ? spatial : others).push_back(dimension);
  }
  for (int64_t dimension : {1, 2, 3})
    if (spatial.size() < 2 && llvm::is_contained(others, dimension)) {
      spatial.push_back(dimension);
      llvm::erase(others, dimension);
    }
  llvm::sort(spatial);
  return {spatial, others};
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
    RankedTensorType inputType = typeOf(input), type = typeOf(op->getResult(0));
    if (combiner->kind == Combiner::Other || !isa<FloatType>(inputType.getElementType()))
      return notifyMatchFailure(rewriter, op, "TTIR has pools for the maximum and the sum of floats only");
    if (!isNeutral(*combiner, adaptor.getInitValues().front()))
      return notifyMatchFailure(rewriter, op, "the initial value is not the constant that leaves a window as it is");
    const size_t rank = inputType.getRank();
    SmallVector<int64_t> window(op.getWindowDimensions()),
        stride = orOnes(op.getWindowStrides(), rank), dilation = orOnes(op.getWindowDilations(), rank),
        base = orOnes(op.getBaseDilations(), rank), padding(2 * rank, 0);
    if (op.getPadding())
      llvm::copy(op.getPadding()->getValues<int64_t>(), padding.begin());
    if (rank != 4 || llvm::any_of(base, [](int64_t size) { return size != 1; }))
      return notifyMatchFailure(rewriter, op, "TTIR pools tensors of rank 4 without base dilation");
    auto [spatial, others] = coveredDimensions(window, stride, padding);
    if (spatial.size() != 2)
      return notifyMatchFailure(rewriter, op,
                                "the window covers " + Twine(spatial.size()) + " dimensions; TTIR pools over 2");
    if (combiner->kind == Combiner::Sum && dilation != SmallVector<int64_t>(rank, 1))
      return notifyMatchFailure(rewriter, op, "a sum over a dilated window is not lowered");
    for (ArrayRef<int64_t> numbers : {window, stride, dilation, padding})
      if (failed(checkNarrow(rewriter, op, numbers)))
        return failure();

    // The pool wants the covered dimensions second and third.
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    const int64_t height = spatial[0], width = spatial[1];
    SmallVector<int64_t> toPool = {others[0], height, width, others[1]}, shape;
    for (int64_t dimension : toPool)
      shape.push_back(type.getDimSize(dimension));
    auto pair = [&](ArrayRef<int64_t> values) {
      return rewriter.getDenseI32ArrayAttr(narrow({values[height], values[width]}));
    };
    // Top, left, bottom, right.
    Attribute sides = rewriter.getDenseI32ArrayAttr(
        narrow({padding[2 * height], padding[2 * width], padding[2 * height + 1], padding[2 * width + 1]}));
    input = permute(builder, input, toPool);
    Value pooled =
        combiner->kind == Combiner::Max
            ? pool<ttir::MaxPool2dOp>(builder, type.clone(shape), input, pair(window), pair(stride), pair(dilation),
                                      sides, /*ceil_mode=*/false)
            : pool<ttir::AvgPool2dOp>(builder, type.clone(shape), input, pair(window), pair(stride), pair(dilation),
                                      sides, /*ceil_mode=*/false, /*count_include_pad=*/true);
    if (combiner->kind == Combiner::Sum) {
      // The mean counts the padding too, so it is the sum divided by the size of the window.
      SmallVector<int64_t> ones(rank, 1);
      Value count = ttir::FullOp::create(builder, RankedTensorType::get(ones, type.getElementType()), narrow(ones),
                                         rewriter.getF32FloatAttr(window[height] * window[width]));
      pooled = make<ttir::MultiplyOp>(builder, type.clone(shape), {pooled, count});
    }
    return replace(rewriter, op, permute(builder, pooled, inverse(toPool)));
  }

private:
  template <class OpT, class... Args>
  static Value pool(ImplicitLocOpBuilder &builder, RankedTensorType type, Value input, Args... args) {
    return OpT::create(builder, type, input, args..., ttir::FlattenedCompatInfoAttr())->getResult(0);
  }
};
} // namespace

bool hlo::isKnownReduction(stablehlo::ReduceOp op) {
  // Of complex numbers there is only the sum, which is one of their parts.
  Operation *inner = op.getInputs().size() == 1 ? onlyOp(op.getBody()) : nullptr;
  return inner && !isa<ComplexType>(typeOf(op->getResult(0)).getElementType()) &&
         combinerOf(inner, typeOf(op->getResult(0)).getElementType());
}

bool hlo::isKnownReduction(stablehlo::ReduceWindowOp op) {
  Operation *inner = op.getInputs().size() == 1 ? onlyOp(op.getBody()) : nullptr;
  RankedTensorType type = typeOf(op.getInputs().front());
  std::optional<Combiner> combiner =
      inner ? combinerOf(inner, typeOf(op->getResult(0)).getElementType()) : std::nullopt;
  const size_t rank = type.getRank();
  const SmallVector<int64_t> ones(rank, 1);
  SmallVector<int64_t> padding(2 * rank, 0);
  if (op.getPadding())
    llvm::copy(op.getPadding()->getValues<int64_t>(), padding.begin());
  return combiner && combiner->kind != Combiner::Other && isa<FloatType>(type.getElementType()) && rank == 4 &&
         isNeutral(*combiner, op.getInitValues().front()) && orOnes(op.getBaseDilations(), rank) == ones &&
         (combiner->kind == Combiner::Max || orOnes(op.getWindowDilations(), rank) == ones) &&
         coveredDimensions(op.getWindowDimensions(), orOnes(op.getWindowStrides(), rank), padding).first.size() == 2;
}

void hlo::addWindowPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerReduce, LowerReduceWindow>(patterns.getContext());
}
