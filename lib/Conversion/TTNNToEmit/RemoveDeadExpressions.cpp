//===- RemoveDeadExpressions.cpp - unused expressions of C++ --------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Conversion/TTNNToEmit/Passes.h"

#include "mlir/Dialect/EmitC/IR/EmitC.h"
#include "mlir/IR/Iterators.h"

namespace mlir::tt {
#define GEN_PASS_DEF_REMOVEDEADEMITCEXPRESSIONS
#include "ttmlir/Conversion/TTNNToEmit/Passes.h.inc"
} // namespace mlir::tt

using namespace mlir;

namespace {
struct RemoveDeadEmitCExpressions : tt::impl::RemoveDeadEmitCExpressionsBase<RemoveDeadEmitCExpressions> {
  void runOnOperation() override {
    bool changed = false;
    // Backwards, so that the operands of an unused expression are unused when they are visited.
    getOperation()->walk<WalkOrder::PostOrder, ReverseIterator>([&](emitc::ExpressionOp expression) {
      if (!expression->use_empty() || expression.hasSideEffects())
        return;
      expression->erase();
      changed = true;
    });
    if (!changed)
      markAllAnalysesPreserved();
  }
};
} // namespace
