//===- DataMovement.cpp - lowering of StableHLO creation and data movement ------===//
// SPDX-License-Identifier: Apache-2.0

#include "Patterns.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/ArangeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/BitwiseXorOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConcatOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConstantOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/PadOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReverseOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SliceStaticOp.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

namespace {
struct LowerConstant : OpConversionPattern<stablehlo::ConstantOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::ConstantOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    return replace(rewriter, op, ttir::ConstantOp::create(rewriter, op.getLoc(), op.getType(), op.getValue()));
  }
};

struct LowerIota : OpConversionPattern<stablehlo::IotaOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::IotaOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    int64_t dimension = op.getIotaDimension();
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    // There may be rows of numbers, and no row.
    if (typeOf(op.getResult()).getNumElements() == 0)
      return replace(rewriter, op, zeros(builder, typeOf(op.getResult())));
    return replace(rewriter, op,
                   ttir::ArangeOp::create(rewriter, op.getLoc(), op.getType(), /*start=*/0,
                                          /*end=*/typeOf(op.getResult()).getDimSize(dimension), /*step=*/1, dimension));
  }
};

struct LowerReshape : OpConversionPattern<stablehlo::ReshapeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::ReshapeOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    return replace(rewriter, op, reshape(builder, adaptor.getOperand(), typeOf(op.getResult()).getShape()));
  }
};

struct LowerTranspose : OpConversionPattern<stablehlo::TransposeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::TransposeOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    return replace(rewriter, op, permute(builder, adaptor.getOperand(), op.getPermutation()));
  }
};
} // namespace

/// A tensor of size 0.
static Value noElements(ImplicitLocOpBuilder &builder, RankedTensorType type) {
  return ttir::ConstantOp::create(builder, type, DenseElementsAttr::get(type, ArrayRef<Attribute>()));
}

/// Dimension i of the value becomes dimension `places[i]` of the result; all others are new.
static LogicalResult broadcastTo(ConversionPatternRewriter &rewriter, Operation *op, Value value,
                                 ArrayRef<int64_t> places) {
  ImplicitLocOpBuilder builder(op->getLoc(), rewriter);
  RankedTensorType type = typeOf(op->getResult(0));
  if (type.getNumElements() == 0)
    return replace(rewriter, op, noElements(builder, type));
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(places.size()));
  llvm::sort(order, [&](int64_t a, int64_t b) { return places[a] < places[b]; });
  SmallVector<int64_t> expanded(type.getRank(), 1);
  for (auto [dimension, place] : llvm::enumerate(places))
    expanded[place] = typeOf(value).getDimSize(dimension);
  value = reshape(builder, permute(builder, value, order), expanded);
  return replace(rewriter, op, broadcast(builder, value, type.getShape()));
}

namespace {
struct LowerBroadcastInDim : OpConversionPattern<stablehlo::BroadcastInDimOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::BroadcastInDimOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    return broadcastTo(rewriter, op, adaptor.getOperand(), op.getBroadcastDimensions());
  }
};

struct LowerConcatenate : OpConversionPattern<stablehlo::ConcatenateOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::ConcatenateOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> inputs =
        llvm::filter_to_vector(adaptor.getInputs(), [](Value input) { return typeOf(input).getNumElements() != 0; });
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    if (inputs.empty())
      return replace(rewriter, op, noElements(builder, typeOf(op.getResult())));
    if (inputs.size() == 1)
      return replace(rewriter, op, inputs.front());
    return replace(
        rewriter, op,
        ttir::ConcatOp::create(rewriter, op.getLoc(), op.getType(), inputs, static_cast<int32_t>(op.getDimension())));
  }
};

struct LowerSlice : OpConversionPattern<stablehlo::SliceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::SliceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (llvm::is_contained(typeOf(op.getResult()).getShape(), 0)) {
      ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
      return replace(rewriter, op, noElements(builder, typeOf(op.getResult())));
    }
    for (ArrayRef<int64_t> numbers : {op.getStartIndices(), op.getLimitIndices(), op.getStrides()})
      if (failed(checkNarrow(rewriter, op, numbers)))
        return failure();
    auto list = [&](ArrayRef<int64_t> values) { return rewriter.getI32ArrayAttr(narrow(values)); };
    return replace(rewriter, op,
                   ttir::SliceStaticOp::create(rewriter, op.getLoc(), op.getType(), adaptor.getOperand(),
                                               list(op.getStartIndices()), list(op.getLimitIndices()),
                                               list(op.getStrides())));
  }
};

struct LowerReverse : OpConversionPattern<stablehlo::ReverseOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::ReverseOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    return replace(
        rewriter, op,
        ttir::ReverseOp::create(rewriter, op.getLoc(), op.getType(), adaptor.getOperand(), op.getDimensions()));
  }
};
} // namespace

/// The padding value as the f32 that ttir.pad takes; nothing for an integer that is not exact in f32.
static FailureOr<std::optional<APFloat>> paddingValue(ConversionPatternRewriter &rewriter, stablehlo::PadOp op) {
  APFloat converted(APFloat::IEEEsingle());
  Attribute value = splatValue(op.getPaddingValue());
  if (auto attr = dyn_cast_if_present<FloatAttr>(value))
    return std::optional(APFloat(static_cast<float>(attr.getValueAsDouble())));
  auto attr = dyn_cast_if_present<IntegerAttr>(value);
  if (!attr)
    return notifyMatchFailure(rewriter, op, "the padding value is not a constant");
  bool isSigned = attr.getType().isSignlessInteger() && attr.getValue().getBitWidth() > 1;
  if (converted.convertFromAPInt(attr.getValue(), isSigned, APFloat::rmNearestTiesToEven) != APFloat::opOK)
    return std::optional<APFloat>();
  return std::optional(converted);
}

namespace {
struct LowerPad : OpConversionPattern<stablehlo::PadOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::PadOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (llvm::any_of(op.getInteriorPadding(), [](int64_t size) { return size != 0; }))
      return notifyMatchFailure(rewriter, op, "ttir.pad does not pad between elements");
    SmallVector<int64_t> padding;
    for (auto [low, high] : llvm::zip_equal(op.getEdgePaddingLow(), op.getEdgePaddingHigh())) {
      if (low < 0 || high < 0)
        return notifyMatchFailure(rewriter, op, "ttir.pad does not remove elements");
      padding.append({low, high});
    }
    FailureOr<std::optional<APFloat>> value = paddingValue(rewriter, op);
    if (failed(value) || failed(checkNarrow(rewriter, op, padding)))
      return failure();
    const auto pad = [&](Value operand, const APFloat &with) {
      return ttir::PadOp::create(rewriter, op.getLoc(), op.getType(), operand, narrow(padding), with);
    };
    if (*value)
      return replace(rewriter, op, pad(adaptor.getOperand(), **value));
    // Zeros become the value when the bits that differ from it are flipped back.
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    const auto flip = [&](Value x) {
      RankedTensorType type = typeOf(x);
      Value mask =
          ttir::ConstantOp::create(builder, type, DenseElementsAttr::get(type, splatValue(op.getPaddingValue())));
      return make<ttir::BitwiseXorOp>(builder, type, {x, mask});
    };
    return replace(rewriter, op, flip(pad(flip(adaptor.getOperand()), APFloat(0.0f))));
  }
};
} // namespace

void hlo::addShapePatterns(RewritePatternSet &patterns) {
  patterns.add<LowerBroadcastInDim, LowerConcatenate, LowerConstant, LowerIota, LowerPad, LowerReshape, LowerReverse,
               LowerSlice, LowerTranspose>(patterns.getContext());
}
