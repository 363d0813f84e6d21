//===- ReductionForceKeepDim.cpp - reductions that keep their dimensions -===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/Families/Traits.h"
#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReshapeOp.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"

#include "mlir/IR/Builders.h"

namespace mlir::tt::ttir {
#define GEN_PASS_DEF_TTIRREDUCTIONFORCEKEEPDIM
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttir

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttir;

/// `shape` with 1 in the dimensions in `dims`, or in all without it.
static SmallVector<int64_t> keptShape(ArrayRef<int64_t> shape, ArrayAttr dims) {
  SmallVector<int64_t> kept(shape);
  if (!dims || dims.empty())
    return SmallVector<int64_t>(shape.size(), 1);
  for (auto dim : dims.getAsRange<IntegerAttr>()) {
    int64_t index = dim.getInt();
    kept[index < 0 ? index + kept.size() : index] = 1;
  }
  return kept;
}

namespace {
struct ReductionForceKeepDim : ttir::impl::TTIRReductionForceKeepDimBase<ReductionForceKeepDim> {
  void runOnOperation() override {
    bool changed = false;
    getOperation()->walk([&](Operation *op) {
      auto keep = op->hasTrait<trait::Reduction>() ? op->getAttrOfType<BoolAttr>("keep_dim") : BoolAttr();
      if (!keep || keep.getValue() || op->getNumResults() != 1)
        return;
      auto input = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
      auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
      // A scalar has no dimension to keep.
      if (!input || !result || !result.hasStaticShape() || input.getRank() == result.getRank() || result.getEncoding())
        return;
      OpBuilder builder(op->getContext());
      builder.setInsertionPointAfter(op);
      op->setAttr("keep_dim", builder.getBoolAttr(true));
      op->getResult(0).setType(result.clone(keptShape(input.getShape(), op->getAttrOfType<ArrayAttr>("dim_arg"))));
      SmallVector<int32_t> sizes(result.getShape());
      // The reshape's value is that of the source's op.
      auto reshape = ReshapeOp::create(builder, op->getLoc(), result, op->getResult(0), builder.getI32ArrayAttr(sizes));
      op->setLoc(ttcore::withoutSourceNumber(op->getLoc()));
      op->getResult(0).replaceAllUsesExcept(reshape, reshape);
      changed = true;
    });
    if (!changed)
      markAllAnalysesPreserved();
  }
};
} // namespace
