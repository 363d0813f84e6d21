//===- InferKVCacheArgumentTypes.cpp - arguments that are caches ---------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/Families/Facts.h"
#include "ttmlir/Dialect/TTCore/Transforms/Constants.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"

#include "mlir/IR/Builders.h"

namespace mlir::tt::ttir {
#define GEN_PASS_DEF_TTIRINFERKVCACHEARGUMENTTYPES
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttir

using namespace mlir;
using namespace mlir::tt;

namespace {
struct InferKVCacheArgumentTypes : ttir::impl::TTIRInferKVCacheArgumentTypesBase<InferKVCacheArgumentTypes> {
  void runOnOperation() override {
    bool changed = false;
    getOperation()->walk([&](Operation *op) {
      if (!op->hasTrait<trait::WritesCache>())
        return;
      // They write to their first operand in place.
      auto argument = dyn_cast<BlockArgument>(op->getOperand(0));
      auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
      if (!function || function.getArgAttr(argument.getArgNumber(), ttcore::kvCacheName))
        return;
      function.setArgAttr(argument.getArgNumber(), ttcore::kvCacheName, UnitAttr::get(&getContext()));
      changed = true;
    });
    if (!changed)
      markAllAnalysesPreserved();
  }
};
} // namespace
