//===- DecomposeLayouts.cpp - decomposition of layout changes -------------===//

#include "ttmlir/Dialect/TTNN/Transforms/Device.h"
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h"

namespace mlir::tt::ttnn {
#define GEN_PASS_DEF_TTNNDECOMPOSELAYOUTS
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttnn

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

namespace {
struct DecomposeLayouts : ttnn::impl::TTNNDecomposeLayoutsBase<DecomposeLayouts> {
  void runOnOperation() override {
    SmallVector<ToLayoutOp> changes;
    getOperation().walk([&](ToLayoutOp op) { changes.push_back(op); });
    if (changes.empty())
      markAllAnalysesPreserved();
    for (ToLayoutOp op : changes)
      if (failed(decompose(op)))
        signalPassFailure();
  }

private:
  struct Step {
    StringRef op;
    TTNNLayoutAttr layout;
  };

  /// What to do one after another to get from one layout to another.
  static SmallVector<Step> plan(ArrayRef<int64_t> shape, TTNNLayoutAttr from, TTNNLayoutAttr to) {
    SmallVector<Step> steps;
    TTNNLayoutAttr now = from;
    auto step = [&](bool wanted, StringRef op, auto next) {
      if (wanted)
        steps.push_back({op, now = next()});
    };
    step(!now.isOnDevice() && to.isOnDevice(), ToDeviceOp::getOperationName(),
         [&] { return now.withBufferType(shape, to.isSharded() ? BufferType::DRAM : to.getBufferType()); });
    step(!now.isTiled() && to.isTiled(), ToLayoutOp::getOperationName(),
         [&] { return now.withLayout(shape, Layout::Tile); });
    step(now.getDataType() != to.getDataType(), TypecastOp::getOperationName(),
         [&] { return now.withDataType(to.getDataType()); });
    step(now.isTiled() && !to.isTiled(), ToLayoutOp::getOperationName(),
         [&] { return now.withLayout(shape, Layout::RowMajor); });
    step(now.isOnDevice() && to.isOnDevice() && MemoryConfigAttr::of(now) != MemoryConfigAttr::of(to),
         ToMemoryConfigOp::getOperationName(), [&] { return to; });
    step(now.isOnDevice() && !to.isOnDevice(), FromDeviceOp::getOperationName(), [&] { return to; });
    return steps;
  }

  static LogicalResult decompose(ToLayoutOp op) {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    Value value = op->getOperand(0);
    TTNNLayoutAttr from = TTNNLayoutAttr::of(value.getType()), to = TTNNLayoutAttr::of(type);
    if (!from || !to)
      return op->emitOpError() << "changes from " << value.getType() << " to " << type
                               << "; expected both to have a #ttnn.ttnn_layout";
    // Layouts of the steps between are made for the shape, in tiles or in rows.
    if (!collapsedShape(type.getShape(), Layout::Tile))
      return op->emitOpError() << "result 0 is " << type << "; its size exceeds 64 bits";
    SmallVector<Step> steps = plan(type.getShape(), from, to);
    // A change of order alone, or none, is what the op itself does.
    if (steps.empty() || (steps.size() == 1 && steps[0].op == ToLayoutOp::getOperationName()))
      return success();

    OpBuilder builder(op);
    for (const Step &step : steps) {
      OperationState state(op.getLoc(), step.op);
      state.addOperands(value);
      if (step.op == ToDeviceOp::getOperationName()) {
        Value device = getOrCreateDevice(builder, op);
        if (!device)
          return failure();
        state.addOperands(device);
      }
      // The last step gives exactly what was asked for.
      state.addTypes(&step == &steps.back() ? type : withLayout(type, step.layout));
      value = builder.create(state)->getResult(0);
    }
    op->getResult(0).replaceAllUsesWith(value);
    op.erase();
    return success();
  }
};
} // namespace
