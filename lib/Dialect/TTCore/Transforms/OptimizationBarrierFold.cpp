//===- OptimizationBarrierFold.cpp - removal of optimization barriers ----===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTCore/IR/TTCore.h"
#include "ttmlir/Dialect/TTCore/Transforms/Passes.h"

namespace mlir::tt::ttcore {
#define GEN_PASS_DEF_TTCOREOPTIMIZATIONBARRIERFOLD
#include "ttmlir/Dialect/TTCore/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttcore

using namespace mlir;
using namespace mlir::tt;

namespace {
struct OptimizationBarrierFold : ttcore::impl::TTCoreOptimizationBarrierFoldBase<OptimizationBarrierFold> {
  void runOnOperation() override {
    bool changed = false;
    getOperation()->walk([&](ttcore::OptimizationBarrierOp barrier) {
      barrier->replaceAllUsesWith(barrier.getInputs());
      barrier->erase();
      changed = true;
    });
    if (!changed)
      markAllAnalysesPreserved();
  }
};
} // namespace
