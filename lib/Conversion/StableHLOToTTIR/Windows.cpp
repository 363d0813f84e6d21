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
    SmallVector<int32_t> dimensions = lowering.narrow(op.getDimensions());
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
  return lowering.attributes().getDenseI32ArrayAttr(lowering.narrow(values));
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

namespace {
/// A convolution over one to three dimensions. One of a dilated input is a transposed convolution, whose windows are
/// laid over the result: its kernel is the other way round, and what padding is missing for a whole window is cut off.
class Convolution {
public:
  Convolution(OpLowering &lowering, stablehlo::ConvolutionOp op)
      : lowering(lowering), op(op), dims(op.getDimensionNumbers()), spatial(dims.getInputSpatialDimensions()),
        rank(spatial.size()), groups(op.getFeatureGroupCount()), padding(orZero(op.getPadding(), rank)),
        dilation(orDefault(op.getRhsDilation(), rank, 1)), stride(orDefault(op.getWindowStrides(), rank, 1)) {
    SmallVector<int64_t> spread = orDefault(op.getLhsDilation(), rank, 1);
    if (!isPlain(spread)) {
      transposed = true;
      stride.swap(spread);
      steps = spread;
    }
  }

  LogicalResult lower() {
    if (failed(check()))
      return failure();
    Value kernel = makeKernel();
    if (transposed && failed(cutPadding()))
      return failure();
    // The result has its dimensions where the input has them; `toResult` moves them to where they belong.
    SmallVector<int64_t> toResult(rank + 2), shape(rank + 2);
    toResult[dims.getOutputBatchDimension()] = dims.getInputBatchDimension();
    toResult[dims.getOutputFeatureDimension()] = dims.getInputFeatureDimension();
    for (auto [from, to] : llvm::zip_equal(spatial, dims.getOutputSpatialDimensions()))
      toResult[to] = from;
    RankedTensorType type = lowering.resultType();
    for (auto [to, from] : llvm::enumerate(toResult))
      shape[from] = type.getDimSize(to);
    Value result = lowering.makeNamed(name(), type.clone(shape), {op.getLhs(), kernel}, attributes());
    return lowering.replace(lowering.permute(result, toResult));
  }

private:
  static bool isPlain(ArrayRef<int64_t> steps) {
    return llvm::all_of(steps, [](int64_t step) { return step == 1; });
  }

  StringRef name() const {
    static constexpr StringRef names[] = {"ttir.conv1d", "ttir.conv2d", "ttir.conv3d"};
    return transposed ? "ttir.conv_transpose2d" : names[rank - 1];
  }

  LogicalResult check() {
    if (rank < 1 || rank > 3)
      return lowering.refuse("it has " + Twine(rank) + " spatial dimensions; 1 to 3 are lowered");
    if (op.getBatchGroupCount() != 1)
      return lowering.refuse("batch groups are not lowered");
    if (transposed && rank != 2)
      return lowering.refuse("its input is dilated over " + Twine(rank) +
                             " dimensions; transposed convolutions are lowered over 2");
    if (transposed && !isPlain(steps))
      return lowering.refuse("its input is dilated and its window has strides; expected one of the two");
    if (rank == 3 && !isPlain(dilation))
      return lowering.refuse("its kernel is dilated over 3 dimensions, which TTIR's conv3d is not");
    if (!transposed && llvm::any_of(padding, [](int64_t size) { return size < 0; }))
      return lowering.refuse("negative padding is not lowered");
    return success();
  }

  /// [out, in / groups, window...], or transposed [in, out / groups, window...].
  Value makeKernel() {
    SmallVector<int64_t> order = {dims.getKernelOutputFeatureDimension(), dims.getKernelInputFeatureDimension()};
    llvm::append_range(order, dims.getKernelSpatialDimensions());
    if (transposed && groups == 1)
      std::swap(order[0], order[1]);
    Value kernel = lowering.permute(op.getRhs(), order);
    SmallVector<int64_t> shape(OpLowering::typeOf(kernel).getShape()), turned;
    for (int64_t d = 0; d < rank; ++d)
      if (shape[2 + d] > 1 && (op.getWindowReversal() && (*op.getWindowReversal())[d]) != transposed)
        turned.push_back(2 + d);
    if (!turned.empty())
      kernel = lowering.makeNamed("ttir.reverse", kernel.getType(), kernel,
                                  lowering.attr("dimensions", lowering.attributes().getDenseI64ArrayAttr(turned)));
    if (!transposed || groups == 1)
      return kernel;
    // Within each group the channels change places.
    SmallVector<int64_t> apart = {groups, shape[0] / groups}, places = {0, 2, 1},
                         joined = {groups * shape[1], apart[1]};
    for (int64_t d = 1; d < rank + 2; ++d)
      apart.push_back(shape[d]);
    for (int64_t d = 0; d < rank; ++d) {
      places.push_back(3 + d);
      joined.push_back(shape[2 + d]);
    }
    return lowering.reshape(lowering.permute(lowering.reshape(kernel, apart), places), joined);
  }

  /// Padding as a transposed convolution has it: what is cut off the full result; beyond that, `extra` behind it.
  LogicalResult cutPadding() {
    ArrayRef<int64_t> kernel = OpLowering::typeOf(op.getRhs()).getShape();
    for (int64_t d = 0; d < rank; ++d) {
      const int64_t reach = dilation[d] * (kernel[dims.getKernelSpatialDimensions()[d]] - 1);
      int64_t &low = padding[2 * d], &high = padding[2 * d + 1];
      if (low > reach)
        return lowering.refuse("its input is dilated and padded by " + Twine(low) + " where the window reaches " +
                               Twine(reach) + "; no more is lowered");
      low = reach - low;
      extra.push_back(std::max<int64_t>(high - reach, 0));
      high = std::max<int64_t>(reach - high, 0);
    }
    return success();
  }

  SmallVector<NamedAttribute> attributes() {
    Builder &builder = lowering.attributes();
    // All paddings before the dimensions, then those behind them.
    SmallVector<int64_t> sides;
    for (int64_t side : {0, 1})
      for (int64_t d = 0; d < rank; ++d)
        sides.push_back(padding[2 * d + side]);
    SmallVector<NamedAttribute> attrs = {
        lowering.attr("batch_dim", builder.getI64IntegerAttr(dims.getInputBatchDimension())),
        lowering.attr("channel_dim", builder.getI64IntegerAttr(dims.getInputFeatureDimension())),
        lowering.attr("groups", builder.getI32IntegerAttr(lowering.narrow(groups).front())),
        lowering.attr("padding", numbers(lowering, sides)), lowering.attr("stride", numbers(lowering, stride))};
    static constexpr StringRef places[] = {"depth_dim", "height_dim", "width_dim"};
    for (int64_t d = 0; d < rank; ++d)
      attrs.push_back(
          lowering.attr(rank == 1 ? "length_dim" : places[3 - rank + d], builder.getI64IntegerAttr(spatial[d])));
    if (rank < 3)
      attrs.push_back(lowering.attr("dilation", numbers(lowering, dilation)));
    if (transposed)
      attrs.push_back(lowering.attr("output_padding", numbers(lowering, extra)));
    return attrs;
  }

  OpLowering &lowering;
  stablehlo::ConvolutionOp op;
  stablehlo::ConvDimensionNumbersAttr dims;
  ArrayRef<int64_t> spatial;
  int64_t rank, groups;
  SmallVector<int64_t> padding, dilation, stride;
  SmallVector<int64_t> steps, extra; // of a transposed one: of the window, and what is added to the result
  bool transposed = false;
};
} // namespace

static LogicalResult lowerConvolution(OpLowering &lowering, stablehlo::ConvolutionOp op) {
  return Convolution(lowering, op).lower();
}

void tt::addWindowRules(Rules &rules) {
  for (auto &entry : {rule(lowerConvolution), rule(lowerReduce), rule(lowerReduceWindow)})
    rules.insert(entry);
}
