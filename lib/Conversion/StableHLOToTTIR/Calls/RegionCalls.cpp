//===- RegionCalls.cpp - calls in what is done with each element ----------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Conversion/StableHLOToTTIR/Passes.h"

#include "ttmlir/Dialect/TTCore/Transforms/Inline.h"

#include "mlir/IR/SymbolTable.h"

namespace mlir::tt {
#define GEN_PASS_DEF_STABLEHLOINLINEREGIONCALLS
#include "ttmlir/Conversion/StableHLOToTTIR/Passes.h.inc"
} // namespace mlir::tt

using namespace mlir;
using namespace mlir::tt;

/// A few calls in each of some functions can create any number of ops.
static constexpr size_t mostCalls = 10000;

namespace {
struct InlineRegionCalls : tt::impl::StableHLOInlineRegionCallsBase<InlineRegionCalls> {
  void runOnOperation() override {
    SmallVector<std::pair<func::CallOp, unsigned>> calls; // with the number of calls around it
    getOperation()->walk([&](Operation *op) {
      if (op->hasTrait<trait::AppliesRegion>())
        for (Region &region : op->getRegions())
          for (func::CallOp call : region.getOps<func::CallOp>())
            calls.push_back({call, 0});
    });
    if (calls.empty())
      return markAllAnalysesPreserved();
    SymbolTableCollection symbols;
    for (size_t done = 0; !calls.empty(); ++done) {
      auto [call, depth] = calls.pop_back_val();
      auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
      if (!callee || callee.isExternal() || !callee.getBody().hasOneBlock() || done == mostCalls ||
          depth == ttcore::maxCallDepth) {
        call.emitError() << call->getName() << ": @" << call.getCallee() << " is not inlined: "
                         << (done == mostCalls               ? "there are more than 10000 calls"
                             : depth == ttcore::maxCallDepth ? "it is called without end"
                                                             : "it has no body of one block");
        return signalPassFailure();
      }
      for (Operation *op : ttcore::inlineCall(call, callee))
        if (auto inner = dyn_cast<func::CallOp>(op))
          calls.push_back({inner, depth + 1});
    }
  }
};
} // namespace
