//===- FlattenSlidingWindow.cpp - windows over flattened images ----------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/InherentAttributes.h"
#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/Conv2dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConvTranspose2dOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReshapeOp.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"

#include "mlir/IR/Builders.h"

namespace mlir::tt::ttir {
#define GEN_PASS_DEF_TTIRFLATTENSLIDINGWINDOW
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttir

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttir;

static constexpr StringLiteral infoName = "flattened_compat_info";

static bool isChannelsLast(Operation *op) {
  auto inOrder = [](auto convolution) {
    return convolution.getBatchDim() == 0 && convolution.getHeightDim() == 1 && convolution.getWidthDim() == 2 &&
           convolution.getChannelDim() == 3;
  };
  if (auto convolution = dyn_cast<Conv2dOp>(op))
    return inOrder(convolution);
  if (auto convolution = dyn_cast<ConvTranspose2dOp>(op))
    return inOrder(convolution);
  // Pools are.
  return isInherent(op->getName(), StringAttr::get(op->getContext(), infoName));
}

static RankedTensorType flattened(RankedTensorType type) {
  ArrayRef<int64_t> shape = type.getShape();
  return type.clone(ArrayRef<int64_t>{1, 1, shape[0] * shape[1] * shape[2], shape[3]});
}

static Value reshape(OpBuilder &builder, Location location, Value value, RankedTensorType type) {
  return ReshapeOp::create(builder, location, type, value,
                           builder.getI32ArrayAttr(SmallVector<int32_t>(type.getShape())));
}

namespace {
struct FlattenSlidingWindow : ttir::impl::TTIRFlattenSlidingWindowBase<FlattenSlidingWindow> {
  void runOnOperation() override {
    bool changed = false;
    getOperation()->walk([&](Operation *op) {
      auto isImage = [](Type type) {
        auto tensor = dyn_cast<RankedTensorType>(type);
        return tensor && tensor.hasStaticShape() && tensor.getRank() == 4 && !tensor.getEncoding();
      };
      // A pool with a destination would have to flatten that, too.
      if (!isChannelsLast(op) || op->hasAttr(infoName) || !llvm::all_of(op->getResultTypes(), isImage) ||
          !isImage(op->getOperand(0).getType()) || (!op->hasTrait<trait::Convolves>() && op->getNumOperands() != 1))
        return;
      changed = true;
      OpBuilder builder(op);
      Location location = op->getLoc(), own = ttcore::withoutSourceNumber(location);
      auto image = cast<RankedTensorType>(op->getOperand(0).getType());
      op->setOperand(0, reshape(builder, own, op->getOperand(0), flattened(image)));
      op->setAttr(infoName, FlattenedCompatInfoAttr::get(op->getContext(), image.getDimSize(0), image.getDimSize(1),
                                                         image.getDimSize(2)));
      builder.setInsertionPointAfter(op);
      for (Value result : op->getResults()) {
        auto type = cast<RankedTensorType>(result.getType());
        result.setType(flattened(type));
        // The last reshape produces the value of the source op.
        Value back = reshape(builder, location, result, type);
        result.replaceAllUsesExcept(back, back.getDefiningOp());
      }
      op->setLoc(own);
    });
    if (!changed)
      markAllAnalysesPreserved();
  }
};
} // namespace
