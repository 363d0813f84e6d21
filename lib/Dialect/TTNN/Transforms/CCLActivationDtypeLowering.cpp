//===- CCLActivationDtypeLowering.cpp - collectives in a block format -----===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/Families/Facts.h"
#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/TypecastOp.h"
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h"

#include "mlir/IR/Builders.h"

namespace mlir::tt::ttnn {
#define GEN_PASS_DEF_TTNNCCLACTIVATIONDTYPELOWERING
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttnn

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

/// The type in the block format; null for a type that cannot be in it, or already is in a block format.
static RankedTensorType inBlocks(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  TTNNLayoutAttr layout = TTNNLayoutAttr::of(tensor);
  if (!layout || !layout.isTiled() || !layout.isOnDevice() || !isa<FloatType>(tensor.getElementType()) ||
      ttcore::isBlockFormat(layout.getDataType()))
    return {};
  return withLayout(tensor, layout.withDataType(ttcore::DataType::BFP_BFloat8));
}

namespace {
struct CCLActivationDtypeLowering : ttnn::impl::TTNNCCLActivationDtypeLoweringBase<CCLActivationDtypeLowering> {
  void runOnOperation() override {
    bool changed = false;
    getOperation()->walk([&](Operation *op) {
      if (!op->hasTrait<trait::CombinesShards>())
        return;
      Value input = op->getOperand(0), result = op->getResult(0);
      RankedTensorType sent = inBlocks(input.getType()), received = inBlocks(result.getType());
      if (!sent || !received)
        return;
      OpBuilder builder(op);
      Location location = ttcore::withoutSourceNumber(op->getLoc());
      op->setOperand(0, TypecastOp::create(builder, location, sent, input, /*dtype=*/nullptr));
      builder.setInsertionPointAfter(op);
      auto cast = TypecastOp::create(builder, op->getLoc(), result.getType(), result, /*dtype=*/nullptr);
      result.replaceAllUsesExcept(cast.getResult(), cast);
      result.setType(received);
      op->setLoc(location);
      changed = true;
    });
    if (!changed)
      markAllAnalysesPreserved();
  }
};
} // namespace
