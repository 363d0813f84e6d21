//===- Shapes.cpp - lowering of StableHLO creation and data movement ------===//

#include "Lowering.h"

using namespace mlir;
using namespace mlir::tt;

static LogicalResult lowerConstant(OpLowering &lowering, stablehlo::ConstantOp op) {
  return lowering.replace(lowering.make<ttir::ConstantOp>(lowering.resultType(), op.getValue()));
}

static LogicalResult lowerIota(OpLowering &lowering, stablehlo::IotaOp op) {
  RankedTensorType type = lowering.resultType();
  int64_t dimension = op.getIotaDimension();
  return lowering.replace(
      lowering.make<ttir::ArangeOp>(type, /*start=*/0, /*end=*/type.getDimSize(dimension), /*step=*/1, dimension));
}

static LogicalResult lowerReshape(OpLowering &lowering, stablehlo::ReshapeOp op) {
  return lowering.replace(lowering.reshape(op.getOperand(), lowering.resultType().getShape()));
}

static LogicalResult lowerTranspose(OpLowering &lowering, stablehlo::TransposeOp op) {
  return lowering.replace(lowering.permute(op.getOperand(), op.getPermutation()));
}

/// Dimension i of the value goes to dimension `places[i]` of the result, all others are new.
static LogicalResult broadcastTo(OpLowering &lowering, Value value, ArrayRef<int64_t> places) {
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(places.size()));
  llvm::sort(order, [&](int64_t a, int64_t b) { return places[a] < places[b]; });
  SmallVector<int64_t> expanded(lowering.resultType().getRank(), 1);
  for (auto [dimension, place] : llvm::enumerate(places))
    expanded[place] = OpLowering::typeOf(value).getDimSize(dimension);
  value = lowering.reshape(lowering.permute(value, order), expanded);
  return lowering.replace(lowering.broadcast(value, lowering.resultType().getShape()));
}

static LogicalResult lowerBroadcastInDim(OpLowering &lowering, stablehlo::BroadcastInDimOp op) {
  return broadcastTo(lowering, op.getOperand(), op.getBroadcastDimensions());
}

static LogicalResult lowerBroadcast(OpLowering &lowering, stablehlo::BroadcastOp op) {
  int64_t added = op.getBroadcastSizes().size();
  return broadcastTo(lowering, op.getOperand(),
                     llvm::to_vector(llvm::seq<int64_t>(added, lowering.resultType().getRank())));
}

static LogicalResult lowerConcatenate(OpLowering &lowering, stablehlo::ConcatenateOp op) {
  if (op.getInputs().size() == 1)
    return lowering.replace(op.getInputs().front());
  return lowering.replace(
      lowering.make<ttir::ConcatOp>(lowering.resultType(), op.getInputs(), static_cast<int32_t>(op.getDimension())));
}

static LogicalResult lowerSlice(OpLowering &lowering, stablehlo::SliceOp op) {
  auto list = [&](ArrayRef<int64_t> values) { return lowering.attributes().getI32ArrayAttr(lowering.narrow(values)); };
  if (llvm::is_contained(lowering.resultType().getShape(), 0))
    return lowering.refuse("the slice has no elements");
  return lowering.replace(lowering.make<ttir::SliceStaticOp>(lowering.resultType(), op.getOperand(),
                                                             list(op.getStartIndices()), list(op.getLimitIndices()),
                                                             list(op.getStrides())));
}

static LogicalResult lowerReverse(OpLowering &lowering, stablehlo::ReverseOp op) {
  return lowering.replace(lowering.make<ttir::ReverseOp>(lowering.resultType(), op.getOperand(), op.getDimensions()));
}

static LogicalResult lowerPad(OpLowering &lowering, stablehlo::PadOp op) {
  if (llvm::any_of(op.getInteriorPadding(), [](int64_t size) { return size != 0; }))
    return lowering.refuse("ttir.pad does not pad between elements");
  SmallVector<int32_t> padding;
  for (auto [low, high] : llvm::zip_equal(op.getEdgePaddingLow(), op.getEdgePaddingHigh())) {
    if (low < 0 || high < 0)
      return lowering.refuse("ttir.pad does not remove elements");
    padding.append(lowering.narrow({low, high}));
  }
  Attribute value = splatValue(op.getPaddingValue());
  float number;
  if (auto attr = dyn_cast_if_present<FloatAttr>(value)) {
    number = static_cast<float>(attr.getValueAsDouble());
  } else if (auto attr = dyn_cast_if_present<IntegerAttr>(value)) {
    const APInt &bits = attr.getValue();
    bool isSigned = attr.getType().isSignlessInteger() && bits.getBitWidth() > 1;
    APFloat converted(APFloat::IEEEsingle());
    if (converted.convertFromAPInt(bits, isSigned, APFloat::rmNearestTiesToEven) != APFloat::opOK)
      return lowering.refuse("the padding value is not exact as the f32 that ttir.pad takes");
    number = converted.convertToFloat();
  } else {
    return lowering.refuse("the padding value is not a constant");
  }
  return lowering.replace(lowering.make<ttir::PadOp>(lowering.resultType(), op.getOperand(), padding, APFloat(number)));
}

template <typename OpT> static LogicalResult refuseDynamic(OpLowering &lowering, OpT) {
  return lowering.refuse("blocks at a computed start are not lowered");
}

void tt::addShapeRules(Rules &rules) {
  for (auto &entry :
       {rule(lowerBroadcast), rule(lowerBroadcastInDim), rule(lowerConcatenate), rule(lowerConstant), rule(lowerIota),
        rule(lowerPad), rule(lowerReshape), rule(lowerReverse), rule(lowerSlice), rule(lowerTranspose),
        rule(refuseDynamic<stablehlo::DynamicSliceOp>), rule(refuseDynamic<stablehlo::DynamicUpdateSliceOp>)})
    rules.insert(entry);
}
