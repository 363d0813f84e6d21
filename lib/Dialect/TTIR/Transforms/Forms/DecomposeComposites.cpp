//===- DecomposeComposites.cpp - composites as calls ----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTCore/IR/TTCore.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::tt::ttir {
#define GEN_PASS_DEF_TTIRDECOMPOSECOMPOSITES
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttir

using namespace mlir;
using namespace mlir::tt;

namespace {
struct DecomposeComposites : ttir::impl::TTIRDecomposeCompositesBase<DecomposeComposites> {
  void runOnOperation() override {
    SmallVector<ttcore::CompositeOp> composites;
    getOperation().walk([&](ttcore::CompositeOp op) { composites.push_back(op); });
    if (composites.empty())
      return markAllAnalysesPreserved();
    for (ttcore::CompositeOp op : composites) {
      OpBuilder builder(op);
      auto call =
          func::CallOp::create(builder, op.getLoc(), op.getDecompositionAttr(), op.getResultTypes(), op.getInputs());
      op->replaceAllUsesWith(call);
      op.erase();
    }
  }
};
} // namespace
