//===- Normalization.cpp - lowering of normalization ops ------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Patterns.h"

#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/BatchNormInferenceOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/BatchNormTrainingOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/DistributedLayerNormOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/DistributedRMSNormOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/GroupNormOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/LayerNormOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/RMSNormOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/AddOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/BatchNormInferenceOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/BatchNormTrainingOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/DistributedLayerNormOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/DistributedRMSNormOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/GroupNormOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/LayerNormOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/MeanOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/MultiplyOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/RMSNormOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/SubtractOp.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

//===----------------------------------------------------------------------===//
// layer_norm, rms_norm, group_norm
//===----------------------------------------------------------------------===//

namespace {
/// TTNN normalizes the last dimension, so several are merged into it.
template <class From, class To> struct LowerLastDimNorm : OpConversionPattern<From> {
  using OpConversionPattern<From>::OpConversionPattern;
  LogicalResult matchAndRewrite(From op, typename From::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    RankedTensorType type = op.getType(), created = type;
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    SmallVector<Value> operands(adaptor.getOperands());
    if (ArrayRef<int64_t> normalized = op.getNormalizedShape(); normalized.size() > 1) {
      int64_t joined = 1;
      for (int64_t size : normalized)
        joined *= size;
      SmallVector<int64_t> shape(type.getShape().drop_back(normalized.size()));
      shape.push_back(joined);
      created = typeLike(op.getResult(), shape);
      for (auto [index, operand] : llvm::enumerate(operands))
        operand = reshape(builder, operand, index == 0 ? ArrayRef(shape) : ArrayRef(joined));
    }
    typename To::Properties properties;
    properties.epsilon = op.getEpsilonAttr();
    properties.operandSegmentSizes = op.getProperties().operandSegmentSizes;
    Value norm =
        To::create(builder, TypeRange(created), operands, properties, llvm::to_vector(op->getDiscardableAttrs()));
    rewriter.replaceOp(op, reshape(builder, norm, type));
    return success();
  }
};

/// TTNN has channels last.
struct LowerGroupNorm : OpConversionPattern<ttir::GroupNormOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ttir::GroupNormOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    RankedTensorType type = typeOf(op.getResult());
    int64_t rank = type.getRank(), channel = op.getChannelDim();
    if (channel < 0)
      channel += rank;
    SmallVector<int64_t> order, shape;
    for (int64_t dim = 0; dim < rank; ++dim)
      if (dim != channel)
        order.push_back(dim);
    order.push_back(channel);
    for (int64_t dim : order)
      shape.push_back(type.getDimSize(dim));
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Value value = GroupNormOp::create(
        builder, typeLike(op.getResult(), shape), permute(builder, adaptor.getInput(), order), adaptor.getInputMask(),
        adaptor.getWeight(), adaptor.getBias(), op.getNumGroupsAttr(), op.getEpsilonAttr());
    rewriter.replaceOp(op, permute(builder, value, inverse(order)));
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// batch_norm
//===----------------------------------------------------------------------===//

namespace {
/// A batch norm with its channels moved to dimension 1 of 4, as TTNN requires, and back.
class Channels {
public:
  Channels(ArrayRef<int64_t> shape, int64_t dimension) {
    int64_t rank = shape.size(), channel = dimension < 0 ? dimension + rank : dimension;
    for (int64_t i = 0; i < rank; ++i)
      if (i != channel)
        order.push_back(i);
    order.insert(order.begin() + std::min<int64_t>(1, rank - 1), channel);
    for (int64_t dim : order)
      ordered.push_back(shape[dim]);
    // Adds dimensions of size 1, or folds the inner ones.
    folded = ordered;
    if (folded.size() == 1)
      folded.insert(folded.begin(), 1);
    folded.resize(std::max<size_t>(folded.size(), 4), 1);
    while (folded.size() > 4) {
      folded[2] *= folded[3];
      folded.erase(folded.begin() + 3);
    }
  }

  Value fold(ImplicitLocOpBuilder &builder, Value value) const {
    return reshape(builder, permute(builder, value, order), folded);
  }
  Value unfold(ImplicitLocOpBuilder &builder, Value value) const {
    return permute(builder, reshape(builder, value, ordered), inverse(order));
  }
  int64_t count() const { return folded[1]; }
  ArrayRef<int64_t> foldedShape() const { return folded; }

private:
  SmallVector<int64_t> order, ordered, folded;
};

/// The statistics that training returns: running ones moved towards those of the batch. They have no source number,
/// because the op's own result has it.
class Statistics {
public:
  Statistics(ImplicitLocOpBuilder &builder, Value device, Value input, const Channels &channels, double momentum)
      : builder(builder), device(device), input(input), channels(channels.count()), momentum(momentum) {
    mean = reduce(input);
    Value spread = reshape(builder, mean, ArrayRef<int64_t>{1, this->channels, 1, 1});
    Value centred = make<SubtractOp>({input, spread}, channels.foldedShape());
    variance = reduce(make<MultiplyOp>({centred, centred}, channels.foldedShape()));
  }

  Value update(Value running, Value batch, RankedTensorType type) {
    Value old = make<MultiplyOp>({running, factor(1 - momentum)}, {channels});
    Value fresh = make<MultiplyOp>({batch, factor(momentum)}, {channels});
    return ttnn::make<AddOp>(builder, type, {old, fresh});
  }

  Value mean, variance;

private:
  RankedTensorType wide(ArrayRef<int64_t> shape) const { return typeLike(input, shape, ttcore::DataType::Float32); }
  template <class OpT> Value make(ValueRange operands, ArrayRef<int64_t> shape) {
    return ttnn::make<OpT>(builder, wide(shape), operands);
  }
  Value factor(double value) { return scalar(builder, device, value, 1, input); }
  Value reduce(Value value) {
    return MeanOp::create(builder, wide({channels}), value, builder.getBoolAttr(false),
                          builder.getI32ArrayAttr({0, 2, 3}), /*compute_config=*/nullptr);
  }

  ImplicitLocOpBuilder &builder;
  Value device, input;
  int64_t channels;
  double momentum;
};

struct LowerBatchNormInference : OpConversionPattern<ttir::BatchNormInferenceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ttir::BatchNormInferenceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Channels channels(shapeOf(op.getOperand()), op.getDimensionAttr().getInt());
    Value input = channels.fold(builder, adaptor.getOperand());
    Value value = BatchNormInferenceOp::create(builder, typeLike(op.getResult(), channels.foldedShape()), input,
                                               adaptor.getMean(), adaptor.getVariance(), adaptor.getScale(),
                                               adaptor.getOffset(), op.getEpsilonAttr(), /*compute_config=*/nullptr);
    rewriter.replaceOp(op, channels.unfold(builder, value));
    return success();
  }
};

/// The TTNN op would update running statistics in place; TTIR returns them, so separate ops compute them.
struct LowerBatchNormTraining : OpConversionPattern<ttir::BatchNormTrainingOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ttir::BatchNormTrainingOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value device = findDevice(rewriter, op);
    if (!device)
      return failure();
    ImplicitLocOpBuilder separate(ttcore::withoutSourceNumber(op.getLoc()), rewriter), builder(op.getLoc(), rewriter);
    Channels channels(shapeOf(op.getOperand()), op.getDimensionAttr().getInt());
    Value input = channels.fold(separate, adaptor.getOperand());
    Value mean, variance;
    if (!op.getBatchMean().use_empty() || !op.getBatchVariance().use_empty()) {
      Statistics statistics(separate, device, input, channels, op.getMomentum().convertToDouble());
      mean = statistics.update(adaptor.getRunningMean(), statistics.mean, typeOf(op.getBatchMean()));
      variance = statistics.update(adaptor.getRunningVariance(), statistics.variance, typeOf(op.getBatchVariance()));
    }
    Value value = BatchNormTrainingOp::create(
        builder, typeLike(op.getResult(), channels.foldedShape()), input, /*running_mean=*/Value(),
        /*running_var=*/Value(), adaptor.getScale(), adaptor.getOffset(), op.getEpsilonAttr(), op.getMomentumAttr(),
        /*compute_config=*/nullptr);
    rewriter.replaceOp(op, {channels.unfold(builder, value), mean, variance});
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Norms over chips
//===----------------------------------------------------------------------===//

namespace {
struct LowerDistributedLayerNorm : OpConversionPattern<ttir::DistributedLayerNormOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ttir::DistributedLayerNormOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value device = findDevice(rewriter, op);
    if (!device)
      return failure();
    rewriter.replaceOpWithNewOp<DistributedLayerNormOp>(op, op.getType(), adaptor.getInput(), adaptor.getWeight(),
                                                        adaptor.getBias(), adaptor.getResidual(), device,
                                                        op.getClusterAxisAttr(), op.getEpsilonAttr());
    return success();
  }
};

/// The library creates the buffer for statistics and the semaphore.
struct LowerDistributedRMSNorm : OpConversionPattern<ttir::DistributedRMSNormOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ttir::DistributedRMSNormOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value device = findDevice(rewriter, op);
    if (!device)
      return failure();
    rewriter.replaceOpWithNewOp<DistributedRMSNormOp>(
        op, op.getType(), adaptor.getInput(), adaptor.getWeight(), adaptor.getResidual(), /*stats=*/Value(),
        /*semaphore=*/Value(), device, op.getClusterAxisAttr(), op.getEpsilonAttr(), /*sub_device_id=*/nullptr,
        /*num_links=*/nullptr, /*topology=*/nullptr, /*compute_config=*/nullptr, /*program_config=*/nullptr);
    return success();
  }
};
} // namespace

void ttnn::addNormalizationPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerBatchNormInference, LowerBatchNormTraining, LowerDistributedLayerNorm, LowerDistributedRMSNorm,
               LowerGroupNorm, LowerLastDimNorm<ttir::LayerNormOp, LayerNormOp>,
               LowerLastDimNorm<ttir::RMSNormOp, RMSNormOp>>(patterns.getContext());
}
