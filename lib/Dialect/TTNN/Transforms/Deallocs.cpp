//===- Deallocs.cpp - changes of deallocations ---------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTCore/Transforms/Constants.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/DeallocateOp.h"
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::tt::ttnn {
#define GEN_PASS_DEF_TTNNADJUSTDEALLOCS
#define GEN_PASS_DEF_TTNNFORCEFINALDEALLOCS
#define GEN_PASS_DEF_TTNNREMOVEDEALLOCS
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttnn

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

/// Erases the deallocations for which `isWrong` holds; returns whether there were any.
static bool eraseDeallocs(Operation *root, llvm::function_ref<bool(DeallocateOp)> isWrong) {
  bool changed = false;
  root->walk([&](DeallocateOp dealloc) {
    if (!isWrong(dealloc))
      return;
    dealloc->erase();
    changed = true;
  });
  return changed;
}

/// Whether a run needs what the run before had.
static bool isKept(Value value) {
  return ttcore::isConstantArgument(value) || value.getDefiningOp<ttcore::LoadCachedOp>();
}

namespace {
struct RemoveDeallocs : ttnn::impl::TTNNRemoveDeallocsBase<RemoveDeallocs> {
  void runOnOperation() override {
    if (!eraseDeallocs(getOperation(), [](DeallocateOp) { return true; }))
      markAllAnalysesPreserved();
  }
};

struct AdjustDeallocs : ttnn::impl::TTNNAdjustDeallocsBase<AdjustDeallocs> {
  void runOnOperation() override {
    if (!eraseDeallocs(getOperation(), [](DeallocateOp dealloc) { return isKept(dealloc.getInput()); }))
      markAllAnalysesPreserved();
  }
};

struct ForceFinalDeallocs : ttnn::impl::TTNNForceFinalDeallocsBase<ForceFinalDeallocs> {
  void runOnOperation() override {
    bool changed = false;
    getOperation()->walk([&](DeallocateOp dealloc) {
      auto comesLater = [&](Operation *user) {
        return user != dealloc && (user->getBlock() != dealloc->getBlock() || dealloc->isBeforeInBlock(user));
      };
      if (dealloc.getForce() || llvm::any_of(dealloc.getInput().getUsers(), comesLater))
        return;
      dealloc.setForce(true);
      changed = true;
    });
    if (!changed)
      markAllAnalysesPreserved();
  }
};
} // namespace
