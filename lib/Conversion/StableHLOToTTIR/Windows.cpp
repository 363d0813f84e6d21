//===- Windows.cpp - lowering of StableHLO reductions and windows ---------===//

#include "Lowering.h"

using namespace mlir;
using namespace mlir::tt;

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// The op of a region that returns `op(partial, element)` of its two arguments and does nothing else, or null.
static Operation *onlyOp(Region &region) {
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
  StringRef reduction; // over dimensions
  StringRef pair;      // of two values
  std::optional<APFloat> (*floatNeutral)(const llvm::fltSemantics &);
  std::optional<APInt> (*integerNeutral)(unsigned width, bool isSigned);
};
} // namespace

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
      return Combiner{"ttir.reduce_or", "ttir.logical_or", zero, intZero};
    if (isa<stablehlo::AndOp, stablehlo::MinOp, stablehlo::MulOp>(op))
      return Combiner{"ttir.reduce_and", "ttir.logical_and", one, intOne};
    return std::nullopt;
  }
  if (isa<stablehlo::AddOp>(op))
    return Combiner{"ttir.sum", "ttir.add", zero, intZero};
  if (isa<stablehlo::MulOp>(op))
    return Combiner{"ttir.prod", "ttir.multiply", one, intOne};
  if (isa<stablehlo::MaxOp>(op))
    return Combiner{"ttir.max", "ttir.maximum", lowest, intLowest};
  if (isa<stablehlo::MinOp>(op))
    return Combiner{"ttir.min", "ttir.minimum", highest, intHighest};
  return std::nullopt;
}

/// The combiner of a reduction over one tensor; otherwise refuses.
template <typename OpT> static std::optional<Combiner> findCombiner(OpLowering &lowering, OpT op) {
  if (op.getInputs().size() != 1) {
    (void)lowering.refuse("it reduces " + Twine(op.getInputs().size()) + " tensors at once");
    return std::nullopt;
  }
  Operation *inner = onlyOp(op.getBody());
  if (!inner) {
    (void)lowering.refuse("its region is not a single op of the two arguments");
    return std::nullopt;
  }
  std::optional<Combiner> combiner = combinerOf(inner, lowering.resultType().getElementType());
  if (!combiner)
    (void)lowering.refuse("TTIR has no reduction by " + inner->getName().getStringRef());
  return combiner;
}

static LogicalResult lowerReduce(OpLowering &lowering, stablehlo::ReduceOp op) {
  std::optional<Combiner> combiner = findCombiner(lowering, op);
  if (!combiner)
    return failure();
  Value input = op.getInputs().front(), init = op.getInitValues().front();
  RankedTensorType type = lowering.resultType();
  Value result = input;
  if (!op.getDimensions().empty()) {
    Builder &attributes = lowering.attributes();
    SmallVector<int32_t> dimensions(op.getDimensions());
    result = lowering.makeNamed(combiner->reduction, type, input,
                                {lowering.attr("dim_arg", attributes.getI32ArrayAttr(dimensions)),
                                 lowering.attr("keep_dim", attributes.getBoolAttr(false))});
  }
  if (!isNeutral(*combiner, init))
    result = lowering.makeNamed(combiner->pair, type, {result, init});
  return lowering.replace(result);
}

//===----------------------------------------------------------------------===//
// Pools
//===----------------------------------------------------------------------===//

/// An attribute that may be absent, and then is `value` everywhere.
static SmallVector<int64_t> orDefault(std::optional<ArrayRef<int64_t>> attr, size_t count, int64_t value) {
  return attr ? SmallVector<int64_t>(*attr) : SmallVector<int64_t>(count, value);
}

static SmallVector<int64_t> orZero(std::optional<DenseIntElementsAttr> padding, size_t count) {
  return padding ? SmallVector<int64_t>(padding->getValues<int64_t>()) : SmallVector<int64_t>(2 * count, 0);
}

static DenseI32ArrayAttr numbers(OpLowering &lowering, ArrayRef<int64_t> values) {
  return lowering.attributes().getDenseI32ArrayAttr(SmallVector<int32_t>(values));
}

static SmallVector<int64_t> inverse(ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> result(permutation.size());
  for (auto [index, dimension] : llvm::enumerate(permutation))
    result[dimension] = index;
  return result;
}

static LogicalResult lowerReduceWindow(OpLowering &lowering, stablehlo::ReduceWindowOp op) {
  std::optional<Combiner> combiner = findCombiner(lowering, op);
  if (!combiner)
    return failure();
  bool isMax = combiner->reduction == "ttir.max", isSum = combiner->reduction == "ttir.sum";
  RankedTensorType inputType = OpLowering::typeOf(op.getInputs().front());
  if ((!isMax && !isSum) || !isa<FloatType>(inputType.getElementType()))
    return lowering.refuse("TTIR has pools for the maximum and the sum of floats only");
  if (!isNeutral(*combiner, op.getInitValues().front()))
    return lowering.refuse("the initial value is not the constant that leaves a window as it is");
  size_t rank = inputType.getRank();
  SmallVector<int64_t> window(op.getWindowDimensions()),
      stride = orDefault(op.getWindowStrides(), rank, 1), dilation = orDefault(op.getWindowDilations(), rank, 1),
      base = orDefault(op.getBaseDilations(), rank, 1), padding = orZero(op.getPadding(), rank);
  if (rank != 4 || llvm::any_of(base, [](int64_t size) { return size != 1; }))
    return lowering.refuse("TTIR pools tensors of rank 4 without base dilation");
  // The two dimensions that the window covers; the pool wants them second and third.
  SmallVector<int64_t> spatial, others;
  for (size_t dimension = 0; dimension < rank; ++dimension) {
    bool covered = window[dimension] != 1 || stride[dimension] != 1 || padding[2 * dimension] != 0 ||
                   padding[2 * dimension + 1] != 0;
    (covered ? spatial : others).push_back(dimension);
  }
  for (int64_t dimension : {1, 2, 3})
    if (spatial.size() < 2 && llvm::is_contained(others, dimension)) {
      spatial.push_back(dimension);
      llvm::erase(others, dimension);
    }
  if (spatial.size() != 2)
    return lowering.refuse("the window covers " + Twine(spatial.size()) + " dimensions; TTIR pools over 2");
  llvm::sort(spatial);
  int64_t height = spatial[0], width = spatial[1];
  if (isSum && dilation != SmallVector<int64_t>(rank, 1))
    return lowering.refuse("a sum over a dilated window is not lowered");
  SmallVector<int64_t> toPool = {others[0], height, width, others[1]};
  Value input = lowering.permute(op.getInputs().front(), toPool);
  RankedTensorType type = lowering.resultType();
  SmallVector<int64_t> pooledShape;
  for (int64_t dimension : toPool)
    pooledShape.push_back(type.getDimSize(dimension));
  SmallVector<NamedAttribute> attrs = {
      lowering.attr("ceil_mode", lowering.attributes().getBoolAttr(false)),
      lowering.attr("dilation", numbers(lowering, {dilation[height], dilation[width]})),
      lowering.attr("kernel", numbers(lowering, {window[height], window[width]})),
      // Top, left, bottom, right.
      lowering.attr("padding", numbers(lowering, {padding[2 * height], padding[2 * width], padding[2 * height + 1],
                                                  padding[2 * width + 1]})),
      lowering.attr("stride", numbers(lowering, {stride[height], stride[width]}))};
  if (isSum)
    attrs.push_back(lowering.attr("count_include_pad", lowering.attributes().getBoolAttr(true)));
  RankedTensorType pooledType = type.clone(pooledShape);
  Value pooled = lowering.makeNamed(isMax ? "ttir.max_pool2d" : "ttir.avg_pool2d", pooledType, input, attrs);
  if (isSum) {
    // The mean counts the padding too, so it is the sum divided by the size of the window.
    Value count = lowering.makeNamed(
        "ttir.full", RankedTensorType::get(SmallVector<int64_t>(rank, 1), type.getElementType()), {},
        {lowering.attr("shape", numbers(lowering, SmallVector<int64_t>(rank, 1))),
         lowering.attr("fill_value", lowering.attributes().getF32FloatAttr(window[height] * window[width]))});
    pooled = lowering.makeNamed("ttir.multiply", pooledType, {pooled, count});
  }
  return lowering.replace(lowering.permute(pooled, inverse(toPool)));
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

static LogicalResult lowerConvolution(OpLowering &lowering, stablehlo::ConvolutionOp op) {
  stablehlo::ConvDimensionNumbersAttr dims = op.getDimensionNumbers();
  ArrayRef<int64_t> spatial = dims.getInputSpatialDimensions();
  if (spatial.size() != 2)
    return lowering.refuse("it has " + Twine(spatial.size()) + " spatial dimensions; only 2 are lowered");
  if (op.getBatchGroupCount() != 1)
    return lowering.refuse("batch groups are not lowered");
  if (orDefault(op.getLhsDilation(), 2, 1) != SmallVector<int64_t>{1, 1})
    return lowering.refuse("a dilated input (a transposed convolution) is not lowered");
  if (op.getWindowReversal() && llvm::is_contained(*op.getWindowReversal(), true))
    return lowering.refuse("a reversed window is not lowered");

  SmallVector<int64_t> padding = orZero(op.getPadding(), 2);
  if (llvm::any_of(padding, [](int64_t size) { return size < 0; }))
    return lowering.refuse("negative padding is not lowered");

  Value weight =
      lowering.permute(op.getRhs(), {dims.getKernelOutputFeatureDimension(), dims.getKernelInputFeatureDimension(),
                                     dims.getKernelSpatialDimensions()[0], dims.getKernelSpatialDimensions()[1]});
  // The result has its dimensions where the input has them; `toResult` moves them to where they belong.
  SmallVector<int64_t> toResult(4);
  toResult[dims.getOutputBatchDimension()] = dims.getInputBatchDimension();
  toResult[dims.getOutputFeatureDimension()] = dims.getInputFeatureDimension();
  for (auto [from, to] : llvm::zip_equal(spatial, dims.getOutputSpatialDimensions()))
    toResult[to] = from;
  RankedTensorType type = lowering.resultType();
  SmallVector<int64_t> shape(4);
  for (auto [to, from] : llvm::enumerate(toResult))
    shape[from] = type.getDimSize(to);
  Builder &attributes = lowering.attributes();
  auto dimension = [&](StringRef name, int64_t value) {
    return lowering.attr(name, attributes.getI64IntegerAttr(value));
  };
  Value result = lowering.makeNamed(
      "ttir.conv2d", type.clone(shape), {op.getLhs(), weight},
      {dimension("batch_dim", dims.getInputBatchDimension()), dimension("channel_dim", dims.getInputFeatureDimension()),
       lowering.attr("dilation", numbers(lowering, orDefault(op.getRhsDilation(), 2, 1))),
       lowering.attr("groups", attributes.getI32IntegerAttr(op.getFeatureGroupCount())),
       dimension("height_dim", spatial[0]),
       // Top, left, bottom, right.
       lowering.attr("padding", numbers(lowering, {padding[0], padding[2], padding[1], padding[3]})),
       lowering.attr("stride", numbers(lowering, orDefault(op.getWindowStrides(), 2, 1))),
       dimension("width_dim", spatial[1])});
  return lowering.replace(lowering.permute(result, toResult));
}

void tt::addWindowRules(Rules &rules) {
  for (auto &entry : {rule(lowerConvolution), rule(lowerReduce), rule(lowerReduceWindow)})
    rules.insert(entry);
}
