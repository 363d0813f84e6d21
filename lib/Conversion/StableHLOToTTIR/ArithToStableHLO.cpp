//===- ArithToStableHLO.cpp - constants of the arith dialect --------------===//

#include "ttmlir/Conversion/StableHLOToTTIR/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::tt {
#define GEN_PASS_DEF_CONVERTARITHTOSTABLEHLO
#include "ttmlir/Conversion/StableHLOToTTIR/Passes.h.inc"
} // namespace mlir::tt

using namespace mlir;
using namespace mlir::tt;

namespace {
struct ArithToStableHLO : tt::impl::ConvertArithToStableHLOBase<ArithToStableHLO> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    bool changed = false;
    getOperation()->walk([&](arith::ConstantOp constant) {
      auto elements = dyn_cast<ElementsAttr>(constant.getValue());
      if (!elements || !isa<RankedTensorType>(elements.getType()))
        return;
      rewriter.setInsertionPoint(constant);
      rewriter.replaceOpWithNewOp<stablehlo::ConstantOp>(constant, constant.getType(), elements);
      changed = true;
    });
    if (!changed)
      markAllAnalysesPreserved();
  }
};
} // namespace
