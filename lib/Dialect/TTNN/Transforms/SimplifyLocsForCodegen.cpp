//===- SimplifyLocsForCodegen.cpp - names without what they name ---------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTNN/Transforms/Passes.h"

namespace mlir::tt::ttnn {
#define GEN_PASS_DEF_TTNNSIMPLIFYLOCSFORCODEGEN
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttnn

using namespace mlir;
using namespace mlir::tt;

/// Also handles names in fused locations and in those of calls; numbers of source ops stay.
static Location simplified(Location location) {
  if (auto name = dyn_cast<NameLoc>(location))
    return NameLoc::get(name.getName());
  if (auto call = dyn_cast<CallSiteLoc>(location))
    return CallSiteLoc::get(simplified(call.getCallee()), simplified(call.getCaller()));
  auto fused = dyn_cast<FusedLoc>(location);
  if (!fused)
    return location;
  SmallVector<Location> parts = llvm::map_to_vector(fused.getLocations(), simplified);
  return FusedLoc::get(parts, fused.getMetadata(), location.getContext());
}

namespace {
struct SimplifyLocsForCodegen : ttnn::impl::TTNNSimplifyLocsForCodegenBase<SimplifyLocsForCodegen> {
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      if (op->getName().getDialectNamespace() == ttnn::TTNNDialect::getDialectNamespace())
        op->setLoc(simplified(op->getLoc()));
    });
    markAllAnalysesPreserved();
  }
};
} // namespace
