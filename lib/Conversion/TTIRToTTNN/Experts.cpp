//===- Experts.cpp - lowering of mixtures of experts ----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Patterns.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/AllToAllDispatchMetadataOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/AllToAllDispatchMetadataOp.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

namespace {
/// TTNN's may have buffers for its results, which the runtime places by itself.
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
} // namespace

void ttnn::addExpertPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerDispatchMetadata>(patterns.getContext());
}
