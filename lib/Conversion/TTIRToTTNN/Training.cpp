//===- Training.cpp - lowering of optimizer steps -------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Patterns.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/AdamWOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/AdamWOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/AssignOp.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

namespace {
/// The TTNN op writes to its operands. TTIR's op does not change them, so the TTNN op writes to copies, which are the
/// results.
struct LowerAdamW : OpConversionPattern<ttir::AdamWOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ttir::AdamWOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    SmallVector<Value> written;
    auto copy = [&](Value value, Value result) {
      written.push_back(AssignOp::create(builder, typeOf(result), value));
      return written.back();
    };
    Value param = copy(adaptor.getParam(), op.getParamOut()), average = copy(adaptor.getExpAvg(), op.getExpAvgOut());
    Value square = copy(adaptor.getExpAvgSq(), op.getExpAvgSqOut()), largest;
    if (adaptor.getMaxExpAvgSq())
      largest = copy(adaptor.getMaxExpAvgSq(), op.getMaxExpAvgSqOut());
    AdamWOp::create(builder, param, adaptor.getGrad(), average, square, largest, op.getLrAttr(), op.getBeta1Attr(),
                    op.getBeta2Attr(), op.getBeta1PowAttr(), op.getBeta2PowAttr(), op.getEpsilonAttr(),
                    op.getWeightDecayAttr(), op.getStochasticRoundingAttr());
    rewriter.replaceOp(op, written);
    return success();
  }
};
} // namespace

void ttnn::addTrainingPatterns(RewritePatternSet &patterns) { patterns.add<LowerAdamW>(patterns.getContext()); }
