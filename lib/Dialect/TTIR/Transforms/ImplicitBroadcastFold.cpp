//===- ImplicitBroadcastFold.cpp - removal of implicit broadcasts ---------===//
// SPDX-License-Identifier: Apache-2.0

#include "Broadcast.h"

#include "ttmlir/Dialect/Families/Traits.h"
#include "ttmlir/Dialect/TTCore/Transforms/Fusion.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/BroadcastOp.h"
#include "ttmlir/Dialect/TTIR/IR/TTIR.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"

namespace mlir::tt::ttir {
#define GEN_PASS_DEF_TTIRIMPLICITBROADCASTFOLD
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttir

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttir;

namespace {
/// An elementwise op reads a value before its broadcast if another operand still gives the result its shape. For a
/// pattern of a trait, the driver first visits every registered op, 0.4 ms a run: this one matches any op.
struct ReadBeforeBroadcast : RewritePattern {
  ReadBeforeBroadcast(MLIRContext *context, ttcore::FusionState &state)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context), state(state) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!op->hasTrait<trait::Elementwise>())
      return failure();
    auto result =
        op->getNumResults() == 1 ? dyn_cast<RankedTensorType>(op->getResult(0).getType()) : RankedTensorType();
    if (!result)
      return rewriter.notifyMatchFailure(op, "has no single tensor as result");
    SmallVector<Value> operands(op->getOperands()), passed;
    for (Value &operand : operands) {
      auto broadcast = state.passed<BroadcastOp>(operand);
      if (!broadcast || !haveSameFormat(broadcast))
        continue;
      Value before = std::exchange(operand, broadcast.getInput());
      std::optional<SmallVector<int64_t>> shape = broadcastShape(ValueRange(operands).getTypes());
      if (shape && result.getShape() == ArrayRef<int64_t>(*shape))
        passed.push_back(before);
      else
        operand = before;
    }
    if (passed.empty())
      return rewriter.notifyMatchFailure(op, "needs all of its broadcasts, or has none");
    rewriter.modifyOpInPlace(op, [&] { op->setOperands(operands); });
    for (Value value : passed)
      state.released(value);
    return success();
  }

private:
  static bool haveSameFormat(BroadcastOp broadcast) {
    auto from = dyn_cast<RankedTensorType>(broadcast.getInput().getType());
    auto to = dyn_cast<RankedTensorType>(broadcast.getType());
    return from && to && from.getElementType() == to.getElementType() && from.getEncoding() == to.getEncoding();
  }

  ttcore::FusionState &state;
};

struct ImplicitBroadcastFold : ttir::impl::TTIRImplicitBroadcastFoldBase<ImplicitBroadcastFold> {
  void runOnOperation() override {
    ttcore::FusionState state(getOperation());
    RewritePatternSet patterns(&getContext());
    patterns.add<ReadBeforeBroadcast>(&getContext(), state);
    state.apply(getOperation(), std::move(patterns));
    if (!state.hasChanged())
      markAllAnalysesPreserved();
  }
};
} // namespace
