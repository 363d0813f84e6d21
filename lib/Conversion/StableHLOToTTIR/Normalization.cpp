//===- Normalization.cpp - lowering of StableHLO batch norms --------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Patterns.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/AddOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/BatchNormInferenceOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConstantOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MeanOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MultiplyOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/RsqrtOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SubtractOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SumOp.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

namespace {
/// Values of a tensor, of its features, and statistics over its other dimensions.
class Features {
public:
  Features(ImplicitLocOpBuilder &builder, RankedTensorType type, int64_t dimension)
      : builder(builder), type(type), dimension(dimension) {}

  /// A vector at the position of the features, to be broadcast.
  Value spread(Value vector) {
    SmallVector<int64_t> shape(type.getRank(), 1);
    shape[dimension] = type.getDimSize(dimension);
    return reshape(builder, vector, shape);
  }
  template <class OpT> Value over(Value tensor) {
    SmallVector<int64_t> others;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (dim != dimension)
        others.push_back(dim);
    if (others.empty())
      return tensor;
    return OpT::create(builder, vectorType(), tensor, builder.getBoolAttr(false),
                       builder.getI32ArrayAttr(narrow(others)));
  }
  Value sum(Value tensor) { return over<ttir::SumOp>(tensor); }
  Value mean(Value tensor) { return over<ttir::MeanOp>(tensor); }
  template <class OpT> Value tensor(Value a, Value b) { return make<OpT>(builder, type, {a, b}); }
  template <class OpT> Value vector(ValueRange operands) { return make<OpT>(builder, vectorType(), operands); }
  Value number(double value) {
    auto element = cast<FloatType>(type.getElementType());
    return ttir::ConstantOp::create(builder, vectorType(),
                                    DenseElementsAttr::get(vectorType(), builder.getFloatAttr(element, value)));
  }
  Value inverseDeviation(Value variance, APFloat epsilon) {
    return vector<ttir::RsqrtOp>(vector<ttir::AddOp>({variance, number(epsilon.convertToFloat())}));
  }
  int64_t count() { return type.getNumElements() / type.getDimSize(dimension); }

private:
  RankedTensorType vectorType() { return RankedTensorType::get({type.getDimSize(dimension)}, type.getElementType()); }
  ImplicitLocOpBuilder &builder;
  RankedTensorType type;
  int64_t dimension;
};

Value normalized(ImplicitLocOpBuilder &builder, ValueRange operands, APFloat epsilon, uint64_t dimension) {
  const NamedAttribute attributes[] = {
      builder.getNamedAttr("epsilon", builder.getF32FloatAttr(epsilon.convertToFloat())),
      builder.getNamedAttr("dimension", builder.getI32IntegerAttr(static_cast<int32_t>(dimension)))};
  return ttir::BatchNormInferenceOp::create(builder, TypeRange(operands.front().getType()), operands, attributes);
}

struct LowerBatchNormInference : OpConversionPattern<stablehlo::BatchNormInferenceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::BatchNormInferenceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    return replace(rewriter, op, normalized(builder, adaptor.getOperands(), op.getEpsilon(), op.getFeatureIndex()));
  }
};

struct LowerBatchNormTraining : OpConversionPattern<stablehlo::BatchNormTrainingOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::BatchNormTrainingOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (typeOf(adaptor.getOperand()).getNumElements() == 0)
      return notifyMatchFailure(rewriter, op, "there are no elements to take a mean of");
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Features f(builder, typeOf(adaptor.getOperand()), static_cast<int64_t>(op.getFeatureIndex()));
    Value x = adaptor.getOperand(), mean = f.mean(x);
    Value centred = f.tensor<ttir::SubtractOp>(x, f.spread(mean));
    Value variance = f.mean(f.tensor<ttir::MultiplyOp>(centred, centred));
    Value result = normalized(builder, {x, adaptor.getScale(), adaptor.getOffset(), mean, variance}, op.getEpsilon(),
                              op.getFeatureIndex());
    rewriter.replaceOp(op, {result, mean, variance});
    return success();
  }
};

/// With c = x - mean and r = 1 / sqrt(variance + epsilon), over n elements of a feature:
///   grad_offset = sum(g), grad_scale = sum(g c) r,
///   grad_operand = scale r (g - grad_offset / n - c r grad_scale / n).
struct LowerBatchNormGrad : OpConversionPattern<stablehlo::BatchNormGradOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::BatchNormGradOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (typeOf(adaptor.getOperand()).getNumElements() == 0)
      return notifyMatchFailure(rewriter, op, "there are no elements to take a mean of");
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Features f(builder, typeOf(adaptor.getOperand()), static_cast<int64_t>(op.getFeatureIndex()));
    Value g = adaptor.getGradOutput();
    Value c = f.tensor<ttir::SubtractOp>(adaptor.getOperand(), f.spread(adaptor.getMean()));
    Value r = f.inverseDeviation(adaptor.getVariance(), op.getEpsilon());
    Value gradOffset = f.sum(g);
    Value gradScale = f.vector<ttir::MultiplyOp>({f.sum(f.tensor<ttir::MultiplyOp>(g, c)), r});
    Value part = f.number(1.0 / static_cast<double>(f.count()));
    Value shift = f.vector<ttir::MultiplyOp>({gradOffset, part});
    Value slope = f.vector<ttir::MultiplyOp>({f.vector<ttir::MultiplyOp>({gradScale, r}), part});
    Value inner = f.tensor<ttir::SubtractOp>(f.tensor<ttir::SubtractOp>(g, f.spread(shift)),
                                             f.tensor<ttir::MultiplyOp>(c, f.spread(slope)));
    Value factor = f.vector<ttir::MultiplyOp>({adaptor.getScale(), r});
    rewriter.replaceOp(op, {f.tensor<ttir::MultiplyOp>(inner, f.spread(factor)), gradScale, gradOffset});
    return success();
  }
};
} // namespace

void hlo::addNormalizationPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerBatchNormGrad, LowerBatchNormInference, LowerBatchNormTraining>(patterns.getContext());
}
