//===- Dynamic.cpp - StableHLO ops with computed shapes -------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Shape.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::stablehlo;

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// An operand with one number for each of `rank` dimensions.
static LogicalResult checkNumbers(Operation *op, StringRef name, Value numbers, int64_t rank) {
  auto type = cast<RankedTensorType>(numbers.getType());
  if (type.isDynamicDim(0) || type.getDimSize(0) == rank)
    return success();
  return op->emitOpError() << name << " is " << type << "; expected one number for each of " << rank << " dimensions";
}

static int64_t rankOf(Value value) { return cast<RankedTensorType>(value.getType()).getRank(); }

static LogicalResult checkElements(Operation *op, Value operand) {
  Type from = getElementTypeOrSelf(operand.getType()), to = getElementTypeOrSelf(op->getResult(0).getType());
  if (from == to)
    return success();
  return op->emitOpError() << "has a result of " << to << " elements; expected " << from << ", as its operand has";
}

static LogicalResult checkSameRank(Operation *op, Value operand) {
  if (rankOf(operand) == rankOf(op->getResult(0)))
    return success();
  return op->emitOpError() << "has a result of rank " << rankOf(op->getResult(0)) << "; expected " << rankOf(operand)
                           << ", as its operand has";
}

LogicalResult DynamicBroadcastInDimOp::verify() {
  auto from = cast<RankedTensorType>(getOperand().getType()), to = cast<RankedTensorType>(getType());
  if (failed(checkElements(*this, getOperand())) ||
      failed(checkNumbers(*this, "output_dimensions", getOutputDimensions(), to.getRank())) ||
      failed(checkLength(getLoc(), getOperationName(), "broadcast_dimensions", getBroadcastDimensions().size(),
                         from.getRank())) ||
      failed(checkDimensions(getLoc(), getOperationName(), "broadcast_dimensions", getBroadcastDimensions(),
                             to.getRank())))
    return failure();
  for (auto [dimension, at] : llvm::enumerate(getBroadcastDimensions())) {
    const int64_t size = from.getDimSize(dimension), result = to.getDimSize(at);
    if (size != 1 && size != result && !ShapedType::isDynamic(size) && !ShapedType::isDynamic(result))
      return emitOpError() << "operand dimension " << dimension << " has size " << size << ", result dimension " << at
                           << " size " << result << "; expected equal sizes, or 1";
  }
  for (auto known : {getKnownExpandingDimensions(), getKnownNonexpandingDimensions()})
    if (known && failed(checkDimensions(getLoc(), getOperationName(), "known dimensions", *known, from.getRank())))
      return failure();
  return success();
}

LogicalResult DynamicGatherOp::verify() {
  return success(succeeded(checkElements(*this, getOperand())) &&
                 succeeded(checkNumbers(*this, "slice_sizes", getSliceSizes(), rankOf(getOperand()))));
}

LogicalResult DynamicIotaOp::verify() {
  const int64_t rank = rankOf(getResult());
  if (static_cast<int64_t>(getIotaDimension()) >= rank)
    return emitOpError() << "iota_dimension is " << getIotaDimension() << "; expected less than the rank, " << rank;
  return checkNumbers(*this, "output_shape", getOutputShape(), rank);
}

LogicalResult DynamicPadOp::verify() {
  const int64_t rank = rankOf(getOperand());
  if (getElementTypeOrSelf(getPaddingValue().getType()) != getElementTypeOrSelf(getOperand().getType()))
    return emitOpError() << "padding_value is " << getPaddingValue().getType() << "; expected the elements of "
                         << getOperand().getType();
  return success(succeeded(checkElements(*this, getOperand())) && succeeded(checkSameRank(*this, getOperand())) &&
                 succeeded(checkNumbers(*this, "edge_padding_low", getEdgePaddingLow(), rank)) &&
                 succeeded(checkNumbers(*this, "edge_padding_high", getEdgePaddingHigh(), rank)) &&
                 succeeded(checkNumbers(*this, "interior_padding", getInteriorPadding(), rank)));
}

LogicalResult DynamicReshapeOp::verify() {
  auto from = cast<RankedTensorType>(getOperand().getType()), to = cast<RankedTensorType>(getType());
  if (from.hasStaticShape() && to.hasStaticShape() && from.getNumElements() != to.getNumElements())
    return emitOpError() << "has " << from.getNumElements() << " elements and a result of " << to.getNumElements()
                         << "; expected as many";
  return success(succeeded(checkElements(*this, getOperand())) &&
                 succeeded(checkNumbers(*this, "output_shape", getOutputShape(), rankOf(getResult()))));
}

LogicalResult DynamicConvOp::verify() {
  const auto spatial = static_cast<int64_t>(getDimensionNumbers().getInputSpatialDimensions().size());
  auto padding = cast<RankedTensorType>(getPadding().getType());
  if (padding.getRank() != 2 || padding.getDimSize(0) != spatial || padding.getDimSize(1) != 2)
    return emitOpError() << "padding is " << padding << "; expected a pair for each of " << spatial
                         << " spatial dimensions";
  auto kernel = cast<RankedTensorType>(getRhs().getType());
  if (rankOf(getLhs()) != spatial + 2 || kernel.getRank() != spatial + 2)
    return emitOpError() << "operands are " << getLhs().getType() << " and " << kernel << "; dim_numbers expects rank "
                         << spatial + 2;
  SmallVector<int64_t> sizes;
  for (int64_t dimension : getDimensionNumbers().getKernelSpatialDimensions())
    sizes.push_back(kernel.getDimSize(dimension));
  if (failed(readWindows(getLoc(), getOperationName(), sizes, getWindowStrides(), std::nullopt, getLhsDilation(),
                         getRhsDilation())))
    return failure();
  return checkResultKind(*this, getLhs().getType(), getType());
}

LogicalResult RealDynamicSliceOp::verify() {
  const int64_t rank = rankOf(getOperand());
  return success(succeeded(checkElements(*this, getOperand())) && succeeded(checkSameRank(*this, getOperand())) &&
                 succeeded(checkNumbers(*this, "start_indices", getStartIndices(), rank)) &&
                 succeeded(checkNumbers(*this, "limit_indices", getLimitIndices(), rank)) &&
                 succeeded(checkNumbers(*this, "strides", getStrides(), rank)));
}

static LogicalResult checkDimension(Operation *op, Value operand, uint64_t dimension) {
  if (static_cast<int64_t>(dimension) < rankOf(operand))
    return success();
  return op->emitOpError() << "dimension is " << dimension << "; expected less than the rank of " << operand.getType();
}

LogicalResult GetDimensionSizeOp::verify() { return checkDimension(*this, getOperand(), getDimension()); }

LogicalResult SetDimensionSizeOp::verify() {
  return success(succeeded(checkDimension(*this, getOperand(), getDimension())) &&
                 succeeded(checkSameRank(*this, getOperand())) && succeeded(checkElements(*this, getOperand())));
}

OpFoldResult GetDimensionSizeOp::fold(FoldAdaptor) {
  const int64_t size = cast<RankedTensorType>(getOperand().getType()).getDimSize(getDimension());
  if (ShapedType::isDynamic(size) || !llvm::isInt<32>(size))
    return {};
  return DenseIntElementsAttr::get(cast<RankedTensorType>(getType()), static_cast<int32_t>(size));
}

//===----------------------------------------------------------------------===//
// Static forms
//===----------------------------------------------------------------------===//

/// The numbers of a constant.
static std::optional<SmallVector<int64_t>> numbersOf(Value value) {
  DenseIntElementsAttr constant;
  if (!matchPattern(value, m_Constant(&constant)))
    return std::nullopt;
  return llvm::map_to_vector(constant.getValues<APInt>(), [](const APInt &number) { return number.getSExtValue(); });
}

/// The type of a result whose sizes are constant, if the declared one agrees.
static RankedTensorType resolved(Value result, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(result.getType());
  const bool valid = llvm::all_of(shape, [](int64_t size) { return size >= 0; });
  return valid && succeeded(verifyCompatibleShape(type.getShape(), shape)) && type.hasStaticShape()
             ? type
             : RankedTensorType();
}

LogicalResult DynamicBroadcastInDimOp::canonicalize(DynamicBroadcastInDimOp op, PatternRewriter &rewriter) {
  // A static result type states the computed shape.
  if (!cast<RankedTensorType>(op.getType()).hasStaticShape() ||
      !cast<RankedTensorType>(op.getOperand().getType()).hasStaticShape())
    return failure();
  rewriter.replaceOpWithNewOp<BroadcastInDimOp>(op, op.getType(), op.getOperand(), op.getBroadcastDimensions());
  return success();
}

LogicalResult DynamicIotaOp::canonicalize(DynamicIotaOp op, PatternRewriter &rewriter) {
  if (!cast<RankedTensorType>(op.getType()).hasStaticShape())
    return failure();
  rewriter.replaceOpWithNewOp<IotaOp>(op, op.getType(), op.getIotaDimension());
  return success();
}

LogicalResult DynamicReshapeOp::canonicalize(DynamicReshapeOp op, PatternRewriter &rewriter) {
  if (!cast<RankedTensorType>(op.getType()).hasStaticShape() ||
      !cast<RankedTensorType>(op.getOperand().getType()).hasStaticShape())
    return failure();
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getOperand());
  return success();
}

LogicalResult DynamicPadOp::canonicalize(DynamicPadOp op, PatternRewriter &rewriter) {
  auto low = numbersOf(op.getEdgePaddingLow()), high = numbersOf(op.getEdgePaddingHigh()),
       interior = numbersOf(op.getInteriorPadding());
  if (!low || !high || !interior || !cast<RankedTensorType>(op.getType()).hasStaticShape())
    return failure();
  auto isBad = [](int64_t number) { return number < 0; };
  if (llvm::any_of(*interior, isBad))
    return failure();
  auto created =
      PadOp::create(rewriter, op.getLoc(), op.getType(), op.getOperand(), op.getPaddingValue(), *low, *high, *interior);
  rewriter.replaceOp(op, created);
  return success();
}

/// An element of a vector as a scalar, computed from scalars if a few ops computed the vector.
static Value scalarOf(PatternRewriter &rewriter, Location loc, Value vector, int64_t index, unsigned ops = 8) {
  auto type = cast<RankedTensorType>(vector.getType());
  if (type.getRank() == 0)
    return vector;
  auto scalar = RankedTensorType::get({}, type.getElementType());
  if (DenseIntElementsAttr constant; matchPattern(vector, m_Constant(&constant)))
    return ConstantOp::create(rewriter, loc, DenseIntElementsAttr::get(scalar, constant.getValues<APInt>()[index]));
  Operation *op = vector.getDefiningOp();
  if (auto concat = dyn_cast_or_null<ConcatenateOp>(op))
    for (int64_t at = index; Value part : concat.getInputs()) {
      auto partType = cast<RankedTensorType>(part.getType());
      if (!partType.hasStaticShape())
        break;
      if (at < partType.getDimSize(0))
        return scalarOf(rewriter, loc, part, at, ops);
      at -= partType.getDimSize(0);
    }
  if (auto reshape = dyn_cast_or_null<ReshapeOp>(op);
      reshape && cast<RankedTensorType>(reshape.getOperand().getType()).getRank() <= 1)
    return scalarOf(rewriter, loc, reshape.getOperand(), index, ops);
  if (ops && op && tt::isPointwise(op) && op->getNumRegions() == 0) {
    OperationState state(loc, op->getName());
    for (Value operand : op->getOperands())
      state.operands.push_back(scalarOf(rewriter, loc, operand, index, ops - 1));
    state.addTypes(scalar);
    state.propertiesAttr = op->getPropertiesAsAttribute();
    return rewriter.create(state)->getResult(0);
  }
  Value part = SliceOp::create(rewriter, loc, RankedTensorType::get({1}, type.getElementType()), vector,
                               ArrayRef<int64_t>(index), ArrayRef<int64_t>(index + 1), ArrayRef<int64_t>(1));
  return ReshapeOp::create(rewriter, loc, scalar, part);
}

/// A slice of known size whose start is computed: a block, and every n-th of its elements.
static LogicalResult sliceBlock(RealDynamicSliceOp op, ArrayRef<int64_t> strides, PatternRewriter &rewriter) {
  auto from = cast<RankedTensorType>(op.getOperand().getType()), to = cast<RankedTensorType>(op.getType());
  SmallVector<int64_t> block, none(strides.size(), 0);
  for (auto [size, stride, whole] : llvm::zip_equal(to.getShape(), strides, from.getShape())) {
    block.push_back(size == 0 ? 0 : (size - 1) * stride + 1);
    if (stride <= 0 || block.back() > whole)
      return failure();
  }
  SmallVector<Value> starts;
  for (int64_t dimension : llvm::seq(from.getRank()))
    starts.push_back(scalarOf(rewriter, op.getLoc(), op.getStartIndices(), dimension));
  Value found = DynamicSliceOp::create(rewriter, op.getLoc(), from.clone(block), op.getOperand(), starts, block);
  if (ArrayRef(block) != to.getShape())
    found = SliceOp::create(rewriter, op.getLoc(), to, found, none, block, strides);
  rewriter.replaceOp(op, found);
  return success();
}

LogicalResult RealDynamicSliceOp::canonicalize(RealDynamicSliceOp op, PatternRewriter &rewriter) {
  auto starts = numbersOf(op.getStartIndices()), limits = numbersOf(op.getLimitIndices()),
       strides = numbersOf(op.getStrides());
  auto from = cast<RankedTensorType>(op.getOperand().getType());
  if (!strides || !from.hasStaticShape() || !cast<RankedTensorType>(op.getType()).hasStaticShape())
    return failure();
  if (!starts || !limits)
    return starts || cast<RankedTensorType>(op.getStartIndices().getType()).isDynamicDim(0)
               ? failure()
               : sliceBlock(op, *strides, rewriter);
  SmallVector<int64_t> shape;
  for (auto [start, limit, stride, size] : llvm::zip_equal(*starts, *limits, *strides, from.getShape())) {
    if (start < 0 || start > limit || limit > size || stride <= 0)
      return failure();
    shape.push_back((limit - start + stride - 1) / stride);
  }
  if (!resolved(op.getResult(), shape))
    return failure();
  rewriter.replaceOpWithNewOp<SliceOp>(op, op.getType(), op.getOperand(), *starts, *limits, *strides);
  return success();
}

LogicalResult DynamicGatherOp::canonicalize(DynamicGatherOp op, PatternRewriter &rewriter) {
  auto sizes = numbersOf(op.getSliceSizes());
  if (!sizes || !cast<RankedTensorType>(op.getType()).hasStaticShape())
    return failure();
  rewriter.replaceOpWithNewOp<GatherOp>(op, op.getType(), op.getOperand(), op.getStartIndices(),
                                        op.getDimensionNumbers(), *sizes, op.getIndicesAreSorted());
  return success();
}

LogicalResult DynamicConvOp::canonicalize(DynamicConvOp op, PatternRewriter &rewriter) {
  auto numbers = numbersOf(op.getPadding());
  if (!numbers || !cast<RankedTensorType>(op.getType()).hasStaticShape())
    return failure();
  auto type = RankedTensorType::get({static_cast<int64_t>(numbers->size() / 2), 2}, rewriter.getI64Type());
  auto constant = DenseIntElementsAttr::get(type, *numbers);
  rewriter.replaceOpWithNewOp<ConvolutionOp>(
      op, op.getType(), op.getLhs(), op.getRhs(), op.getWindowStridesAttr(), constant, op.getLhsDilationAttr(),
      op.getRhsDilationAttr(), op.getWindowReversalAttr(), op.getDimensionNumbersAttr(), op.getFeatureGroupCountAttr(),
      op.getBatchGroupCountAttr(), op.getPrecisionConfigAttr());
  return success();
}
