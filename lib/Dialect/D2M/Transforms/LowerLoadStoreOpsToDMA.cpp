//===- LowerLoadStoreOpsToDMA.cpp - transfers of blocks piece by piece ----===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/D2M/Transforms/Indexing.h"
#include "ttmlir/Dialect/D2M/Transforms/Passes.h"
#include "ttmlir/Dialect/TTMetal/IR/TTMetal.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::tt::d2m {
#define GEN_PASS_DEF_D2MLOWERLOADSTOREOPSTODMA
#include "ttmlir/Dialect/D2M/Transforms/Passes.h.inc"
} // namespace mlir::tt::d2m

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::d2m;

/// The buffer below views, and the map from the indices of the outermost view to those of the buffer.
static std::pair<Value, AffineMap> bufferOf(Value operand) {
  AffineMap map = AffineMap::getMultiDimIdentityMap(
      static_cast<unsigned>(cast<ShapedType>(operand.getType()).getRank()), operand.getContext());
  while (auto view = operand.getDefiningOp<ViewLayoutOp>()) {
    map = view.getRemapping().compose(map);
    operand = view.getInput();
  }
  return {operand, map};
}

namespace {
struct LowerLoadStoreOpsToDMA : d2m::impl::D2MLowerLoadStoreOpsToDMABase<LowerLoadStoreOpsToDMA> {
  void runOnOperation() override {
    SmallVector<RemoteLoadOp> loads;
    SmallVector<ViewLayoutOp> views;
    getOperation()->walk([&](Operation *op) {
      if (auto load = dyn_cast<RemoteLoadOp>(op); load && load->getParentOfType<GenericOp>())
        loads.push_back(load);
      else if (auto view = dyn_cast<ViewLayoutOp>(op))
        views.push_back(view);
    });
    for (RemoteLoadOp load : loads)
      if (failed(lower(load)))
        return signalPassFailure();
    // Generics read the buffers themselves now.
    for (ViewLayoutOp view : llvm::reverse(views)) {
      view.getResult().replaceUsesWithIf(view.getInput(),
                                         [](OpOperand &use) { return isa<GenericOp>(use.getOwner()); });
      if (view->use_empty())
        view->erase();
    }
  }

private:
  static LogicalResult lower(RemoteLoadOp load) {
    auto [buffer, map] = bufferOf(load.getMemref());
    auto described = ttmetal::DeviceBuffer::of(buffer.getType());
    auto block = load.getCb() ? dyn_cast<MemRefType>(load.getCb().getType().getUnderlying()) : MemRefType();
    if (!described || !block || block.getRank() != 2 || map.getNumResults() != 4)
      return load.emitOpError() << "expected a buffer of the device with two dimensions of cores and two of elements, "
                                   "and a circular buffer";
    if (block.getElementType() != described->element)
      return load.emitOpError() << "reads " << described->element << " into blocks of " << block.getElementType();
    OpBuilder builder(load);
    Location loc = load.getLoc();
    Value room = ReserveOp::create(builder, loc, block, load.getCb());
    const int64_t columns = block.getDimSize(1);
    // Elements of a row of the block that lie behind each other in the buffer, too.
    const int64_t piece = contiguous(map, 3, columns);
    const auto index = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(builder, loc, value); };
    SmallVector<Value> at(load.getIndices());
    auto rows = scf::ForOp::create(builder, loc, index(0), index(block.getDimSize(0)), index(1));
    builder.setInsertionPointToStart(rows.getBody());
    auto pieces = scf::ForOp::create(builder, loc, index(0), index(columns), index(piece));
    builder.setInsertionPointToStart(pieces.getBody());
    at.append({rows.getInductionVar(), pieces.getInductionVar()});
    SmallVector<Value> place = expand(builder, loc, map, at);
    Value own = expand(builder, loc, rowMajor({block.getDimSize(0), columns}, builder.getContext()), {at[2], at[3]})[0];
    Value offset = byteOffset(builder, loc, described->shard, described->elementBytes(), place[2], place[3]);
    DMAReadOp::create(builder, loc, MemTxType::get(builder.getContext(), DMAType::Read), buffer,
                      ValueRange{place[0], place[1], offset}, room, own, piece, AffineMapAttr());
    builder.setInsertionPointAfter(rows);
    waitForAll(builder, loc, DMAType::Read);
    PushOp::create(builder, loc, load.getCb());
    load.erase();
    return success();
  }
};
} // namespace
