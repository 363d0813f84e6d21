//===- DecomposeLayouts.cpp - decomposition of layout changes -------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTNN/IR/Ops/FromDeviceOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/ToDeviceOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/ToLayoutOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/ToMemoryConfigOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/TypecastOp.h"
#include "ttmlir/Dialect/TTNN/Transforms/Device.h"
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h"

namespace mlir::tt::ttnn {
#define GEN_PASS_DEF_TTNNDECOMPOSELAYOUTS
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttnn

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

template <class OpT>
static Value make(OpBuilder &builder, Location location, RankedTensorType type, Value value, Value device) {
  if constexpr (std::is_same_v<OpT, ToDeviceOp>)
    return OpT::create(builder, location, type, value, device);
  else if constexpr (std::is_same_v<OpT, TypecastOp>)
    return OpT::create(builder, location, type, value, /*dtype=*/nullptr);
  else
    return OpT::create(builder, location, type, value);
}

namespace {
struct DecomposeLayouts : ttnn::impl::TTNNDecomposeLayoutsBase<DecomposeLayouts> {
  void runOnOperation() override {
    SmallVector<ToLayoutOp> changes;
    getOperation()->walk([&](ToLayoutOp op) { changes.push_back(op); });
    if (changes.empty())
      markAllAnalysesPreserved();
    for (ToLayoutOp op : changes)
      if (failed(decompose(op)))
        signalPassFailure();
  }

private:
  struct Step {
    Value (*make)(OpBuilder &, Location, RankedTensorType, Value value, Value device);
    TTNNLayoutAttr layout;
  };

  /// Returns the steps from one layout to another.
  static SmallVector<Step> plan(ArrayRef<int64_t> shape, TTNNLayoutAttr from, TTNNLayoutAttr to) {
    SmallVector<Step> steps;
    TTNNLayoutAttr now = from;
    auto step = [&](bool needed, auto make, auto next) {
      if (needed)
        steps.push_back({make, now = next()});
    };
    step(!now.isOnDevice() && to.isOnDevice(), make<ToDeviceOp>,
         [&] { return now.withBufferType(shape, to.isSharded() ? BufferType::DRAM : to.getBufferType()); });
    step(!now.isTiled() && to.isTiled(), make<ToLayoutOp>, [&] { return now.withLayout(shape, Layout::Tile); });
    step(now.getDataType() != to.getDataType(), make<TypecastOp>, [&] { return now.withDataType(to.getDataType()); });
    step(now.isTiled() && !to.isTiled(), make<ToLayoutOp>, [&] { return now.withLayout(shape, Layout::RowMajor); });
    step(now.isOnDevice() && to.isOnDevice() && MemoryConfigAttr::of(now) != MemoryConfigAttr::of(to),
         make<ToMemoryConfigOp>, [&] { return to; });
    step(now.isOnDevice() && !to.isOnDevice(), make<FromDeviceOp>, [&] { return to; });
    return steps;
  }

  static LogicalResult decompose(ToLayoutOp op) {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    Value value = op->getOperand(0);
    TTNNLayoutAttr from = TTNNLayoutAttr::of(value.getType()), to = TTNNLayoutAttr::of(type);
    if (!from || !to)
      return op->emitOpError() << "changes from " << value.getType() << " to " << type
                               << "; expected both to have a #ttnn.ttnn_layout";
    // Layouts of intermediate steps are built for the shape, in tiles or in rows.
    if (!collapsedShape(type.getShape(), Layout::Tile))
      return op->emitOpError() << "result 0 is " << type << "; its size exceeds 64 bits";
    SmallVector<Step> steps = plan(type.getShape(), from, to);
    // The op itself performs a change of order alone, or none.
    if (steps.empty() || (steps.size() == 1 && steps[0].make == make<ToLayoutOp>))
      return success();

    OpBuilder builder(op);
    for (const Step &step : steps) {
      Value device;
      if (step.make == make<ToDeviceOp>) {
        device = getOrCreateDevice(builder, op, [&](const Twine &why) { op->emitOpError() << why; });
        if (!device)
          return failure();
      }
      // The last step gives exactly what was requested.
      value =
          step.make(builder, op.getLoc(), &step == &steps.back() ? type : withLayout(type, step.layout), value, device);
    }
    op->getResult(0).replaceAllUsesWith(value);
    op.erase();
    return success();
  }
};
} // namespace
