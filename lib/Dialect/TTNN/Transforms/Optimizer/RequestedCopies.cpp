//===- RequestedCopies.cpp - tensors of their own that are requested ------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTCore/IR/TTCore.h"
#include "ttmlir/Dialect/TTCore/Transforms/Constants.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/AssignOp.h"
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace mlir::tt::ttnn {
#define GEN_PASS_DEF_TTNNREQUESTEDCOPIES
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttnn

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

namespace {
struct RequestedCopies : ttnn::impl::TTNNRequestedCopiesBase<RequestedCopies> {
  void runOnOperation() override {
    bool changed = false;
    getOperation()->walk([&](ttcore::OptimizationBarrierOp barrier) {
      if (!barrier->hasAttr(ttcore::copyName))
        return;
      OpBuilder builder(barrier);
      for (auto [input, result] : llvm::zip_equal(barrier.getInputs(), barrier.getResults())) {
        auto copy = AssignOp::create(builder, barrier.getLoc(), result.getType(), input);
        ttcore::passRequestsOn(barrier, copy);
        copy->removeDiscardableAttr(ttcore::computeConfigName); // it moves values
        result.replaceAllUsesWith(copy.getResult());
      }
      barrier.erase();
      changed = true;
    });
    if (!changed)
      markAllAnalysesPreserved();
  }
};
} // namespace
