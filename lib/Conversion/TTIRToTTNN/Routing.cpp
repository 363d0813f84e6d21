//===- Routing.cpp - lowering of mixtures of experts ----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Patterns.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/AllToAllDispatchMetadataOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MoeComputeOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/AllToAllDispatchMetadataOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/MoeComputeOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/PrepareMoEComputeW0W1WeightsOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/PrepareMoEComputeW2WeightsOp.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

namespace {
/// TTNN's op can have buffers for its results, which the runtime places by itself.
struct LowerDispatchMetadata : OpConversionPattern<ttir::AllToAllDispatchMetadataOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ttir::AllToAllDispatchMetadataOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<AllToAllDispatchMetadataOp>(
        op, op->getResultTypes(), adaptor.getInputTensor(), adaptor.getExpertIndices(), adaptor.getExpertScores(),
        adaptor.getExpertMapping(), /*dispatched_buffer=*/Value(), /*indices_buffer=*/Value(),
        /*scores_buffer=*/Value(), /*cross_device_semaphore=*/Value(), op.getNumDevicesAttr(), op.getClusterAxisAttr());
    return success();
  }
};

/// TTNN's op takes weights in the order of its kernel, which separate ops produce.
struct LowerMoeCompute : OpConversionPattern<ttir::MoeComputeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ttir::MoeComputeOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value device = findDevice(rewriter, op);
    if (!device)
      return failure();
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    const bool biased = bool(op.getBias_0());
    ArrayRef<int64_t> sizes = shapeOf(adaptor.getW0());
    const int64_t hidden = sizes[2], intermediate = sizes[3];
    auto number = [&](int64_t value) {
      return IntegerAttr::get(IntegerType::get(getContext(), 32, IntegerType::Unsigned), value);
    };
    Value first = PrepareMoEComputeW0W1WeightsOp::create(
        builder, typeLike(adaptor.getW0(), {sizes[0], sizes[1], hidden + biased, 2 * intermediate}), adaptor.getW0(),
        adaptor.getW1(), adaptor.getBias_0(), adaptor.getBias_1(), device, number(hidden), number(intermediate));
    Value last = PrepareMoEComputeW2WeightsOp::create(
        builder, typeLike(adaptor.getW2(), {sizes[0], sizes[1], intermediate + biased, hidden}), adaptor.getW2(),
        adaptor.getBias_2(), device, number(hidden), number(intermediate));
    rewriter.replaceOpWithNewOp<MoeComputeOp>(
        op, op.getCombineOutput().getType(), adaptor.getTilizeInputTensor(), adaptor.getTilizeExpertIndicesTensor(),
        adaptor.getTilizeExpertScoresTensor(), adaptor.getTilizeExpertMappingTensor(), first, last,
        /*optional_output_tensor=*/Value(), /*cross_device_semaphore=*/Value(), device, op.getLayerIdAttr(),
        op.getOutputHeightShardDimAttr(), op.getIntermediateSizeAttr(), rewriter.getBoolAttr(biased),
        op.getActivationFunctionAttr(), op.getClusterAxisAttr(), /*num_links=*/IntegerAttr(),
        /*topology=*/ttcore::TopologyAttr(), CoreRangeSetAttr::get(getContext(), {}));
    return success();
  }
};
} // namespace

void ttnn::addExpertPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerDispatchMetadata, LowerMoeCompute>(patterns.getContext());
}
