//===- ArithToStableHLO.cpp - constants of the arith dialect --------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Conversion/StableHLOToTTIR/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::tt {
#define GEN_PASS_DEF_CONVERTARITHTOSTABLEHLO
#include "ttmlir/Conversion/StableHLOToTTIR/Passes.h.inc"
} // namespace mlir::tt

using namespace mlir;
using namespace mlir::tt;

namespace {
struct TakeConstant : OpRewritePattern<arith::ConstantOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ConstantOp op, PatternRewriter &rewriter) const override {
    auto elements = dyn_cast<ElementsAttr>(op.getValue());
    if (!elements || !isa<RankedTensorType>(elements.getType()))
      return rewriter.notifyMatchFailure(op, "it is no tensor");
    rewriter.replaceOpWithNewOp<stablehlo::ConstantOp>(op, op.getType(), elements);
    return success();
  }
};

struct ArithToStableHLO : tt::impl::ConvertArithToStableHLOBase<ArithToStableHLO> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    set.add<TakeConstant>(context);
    patterns = FrozenRewritePatternSet(std::move(set));
    return success();
  }

  void runOnOperation() override {
    struct Listener : RewriterBase::Listener {
      void notifyOperationErased(Operation *) override { changed = true; }
      bool changed = false;
    } listener;
    walkAndApplyPatterns(getOperation(), patterns, &listener);
    if (!listener.changed)
      markAllAnalysesPreserved();
  }

private:
  FrozenRewritePatternSet patterns;
};
} // namespace
