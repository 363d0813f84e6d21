//===- ChannelsLast.cpp - channels-last layout of images ------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTCore/Transforms/Fusion.h"
#include "ttmlir/Dialect/TTIR/IR/DataMovementOps.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/Conv2dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConvTranspose2dOp.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"

namespace mlir::tt::ttir {
#define GEN_PASS_DEF_TTIRCHANNELSLAST
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttir

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttir;

static constexpr StringRef dims[] = {"batch_dim", "height_dim", "width_dim", "channel_dim"};

namespace {
/// A convolution of images with channels last, between permutes.
template <class Op> struct MoveChannelsLast : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (op.getFlattenedCompatInfo())
      return rewriter.notifyMatchFailure(op, "the image is flattened");
    NamedAttrList attrs(op->getAttrDictionary());
    SmallVector<int64_t> order, inverse(std::size(dims));
    for (auto [index, dim] : llvm::enumerate(dims)) {
      order.push_back(cast<IntegerAttr>(attrs.get(dim)).getInt());
      inverse[order.back()] = index;
      attrs.set(dim, rewriter.getI64IntegerAttr(index));
    }
    if (llvm::equal(order, llvm::seq<int64_t>(order.size())))
      return rewriter.notifyMatchFailure(op, "the channels come last");

    auto input = cast<RankedTensorType>(op.getInput().getType()), result = cast<RankedTensorType>(op.getType());
    Location loc = op.getLoc(), own = ttcore::withoutSourceNumber(loc);
    SmallVector<Value> operands(op->getOperands());
    operands[0] = move(rewriter, own, Movement::permutation(input.getShape(), order), op.getInput());
    SmallVector<int64_t> ordered = Movement::permutation(result.getShape(), order).to;
    Movement back = Movement::permutation(ordered, inverse);
    // The value of the source op is the one in its own order.
    auto conv = Op::create(rewriter, back.isIdentity() ? loc : own, TypeRange(result.clone(ordered)),
                           ValueRange(operands), attrs.getAttrs());
    rewriter.replaceOp(op, move(rewriter, loc, back, conv));
    return success();
  }
};

struct ChannelsLast : ttir::impl::TTIRChannelsLastBase<ChannelsLast> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<MoveChannelsLast<Conv2dOp>, MoveChannelsLast<ConvTranspose2dOp>>(&getContext());
    ttcore::FusionState state(getOperation());
    state.apply(getOperation(), std::move(patterns));
    if (!state.hasChanged())
      markAllAnalysesPreserved();
  }
};
} // namespace
