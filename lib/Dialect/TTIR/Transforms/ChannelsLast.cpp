//===- ChannelsLast.cpp - channels-last layout of images ------------------===//

#include "Movement.h"

#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"

namespace mlir::tt::ttir {
#define GEN_PASS_DEF_TTIRCHANNELSLAST
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttir

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttir;

namespace {
struct ChannelsLast : ttir::impl::TTIRChannelsLastBase<ChannelsLast> {
  void runOnOperation() override {
    bool changed = false;
    getOperation()->walk([&](Operation *op) {
      if (isa<Conv2dOp, ConvTranspose2dOp>(op) && !op->hasAttr("flattened_compat_info"))
        changed |= reorder(op);
    });
    if (!changed)
      markAllAnalysesPreserved();
  }

private:
  static constexpr StringRef dims[] = {"batch_dim", "height_dim", "width_dim", "channel_dim"};

  static bool reorder(Operation *op) {
    auto input = cast<RankedTensorType>(op->getOperand(0).getType());
    auto result = cast<RankedTensorType>(op->getResult(0).getType());
    SmallVector<int64_t> order;
    for (StringRef dim : dims)
      order.push_back(op->getAttrOfType<IntegerAttr>(dim).getInt());
    if (llvm::equal(order, llvm::seq<int64_t>(order.size())))
      return false;
    auto toLast = [&](ArrayRef<int64_t> shape) { return Movement::permutation(shape, order); };
    Movement back = toLast(result.getShape());
    SmallVector<int64_t> ordered = back.to;
    SmallVector<int64_t> inverse(order.size());
    for (auto [to, from] : llvm::enumerate(order))
      inverse[from] = to;

    Location loc = op->getLoc();
    OpBuilder builder(op);
    op->setOperand(0, toLast(input.getShape()).apply(builder, ttcore::withoutSourceNumber(loc), op->getOperand(0)));
    for (auto [index, dim] : llvm::enumerate(dims))
      op->setAttr(dim, builder.getI64IntegerAttr(index));
    Value value = op->getResult(0);
    value.setType(result.clone(ordered));
    // The value of the source's op is the one in its own order.
    op->setLoc(ttcore::withoutSourceNumber(loc));
    builder.setInsertionPointAfter(op);
    Value moved = Movement::permutation(ordered, inverse).apply(builder, loc, value);
    value.replaceAllUsesExcept(moved, moved.getDefiningOp());
    return true;
  }
};
} // namespace
