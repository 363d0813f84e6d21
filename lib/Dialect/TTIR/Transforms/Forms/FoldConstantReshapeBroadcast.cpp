//===- FoldConstantReshapeBroadcast.cpp - constants in their final shape -===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTIR/IR/Ops/BroadcastOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReshapeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SqueezeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/UnsqueezeOp.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

namespace mlir::tt::ttir {
#define GEN_PASS_DEF_TTIRFOLDCONSTANTRESHAPEBROADCAST
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttir

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttir;

namespace {
struct FoldConstantReshapeBroadcast : ttir::impl::TTIRFoldConstantReshapeBroadcastBase<FoldConstantReshapeBroadcast> {
  void runOnOperation() override {
    bool changed = false;
    // In program order, so that the result of one fold is a constant for the next.
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (!isa<ReshapeOp, SqueezeOp, UnsqueezeOp, BroadcastOp>(op) || !matchPattern(op->getOperand(0), m_Constant()))
        return WalkResult::advance();
      OpBuilder builder(op);
      SmallVector<Value> folded;
      if (failed(builder.tryFold(op, folded)) || folded.size() != 1)
        return WalkResult::advance();
      Operation *constant = op->getOperand(0).getDefiningOp();
      op->replaceAllUsesWith(folded);
      op->erase();
      if (constant->use_empty())
        constant->erase();
      changed = true;
      return WalkResult::skip();
    });
    if (!changed)
      markAllAnalysesPreserved();
  }
};
} // namespace
