//===- NumberOps.cpp - numbering of source ops ----------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::tt::ttir {
#define GEN_PASS_DEF_TTIRNUMBEROPS
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttir

using namespace mlir;
using namespace mlir::tt;

namespace {
struct NumberOps : ttir::impl::TTIRNumberOpsBase<NumberOps> {
  void runOnOperation() override {
    markAllAnalysesPreserved(); // locations are nothing to an analysis or a verifier
    auto isCounted = [](Operation *op) {
      return op->getNumResults() != 0 && !isa<FunctionOpInterface, ModuleOp>(op) &&
             !op->hasTrait<OpTrait::IsTerminator>();
    };
    WalkResult numbered = getOperation()->walk([&](Operation *op) {
      return isCounted(op) && !ttcore::sourcePath(op->getLoc()).empty() ? WalkResult::interrupt()
                                                                        : WalkResult::advance();
    });
    if (numbered.wasInterrupted())
      return;
    int64_t next = 0;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isCounted(op))
        op->setLoc(ttcore::withSourceNumber(op->getLoc(), next++));
    });
  }
};
} // namespace
