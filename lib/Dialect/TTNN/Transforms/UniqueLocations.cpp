//===- UniqueLocations.cpp - check of unique locations --------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTNN/Transforms/Passes.h"

namespace mlir::tt::ttnn {
#define GEN_PASS_DEF_TTNNUNIQUELOCATIONS
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttnn

using namespace mlir;

namespace {
struct UniqueLocations : tt::ttnn::impl::TTNNUniqueLocationsBase<UniqueLocations> {
  void runOnOperation() override {
    DenseMap<Location, Operation *> known;
    WalkResult result = getOperation().walk([&](Operation *op) {
      if (op->getNumResults() == 0)
        return WalkResult::advance();
      auto [entry, isNew] = known.try_emplace(op->getLoc(), op);
      if (isNew)
        return WalkResult::advance();
      op->emitOpError() << "has the same location as the '" << entry->second->getName() << "' before it";
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
