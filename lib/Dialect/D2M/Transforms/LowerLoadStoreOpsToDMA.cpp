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
    semaphores.clear();
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
  /// The cores that load the same block, a part of a row or column of the grid, and what the first of them does, or the
  /// others. Semaphore `ready` counts on the first the cores that have room, `done` says on the others that the block
  /// is there.
  struct Group {
    int64_t cores = 1;
    scf::IfOp choice;
    int64_t ready = 0, done = 0;
  };

  FailureOr<Group> groupOf(RemoteLoadOp load, OpBuilder &builder) {
    Group group;
    Location loc = load.getLoc();
    Value isFirst;
    for (auto [dim, size] : llvm::enumerate(load.getMcastShape())) {
      APInt count;
      if (!matchPattern(size, m_ConstantInt(&count)))
        return load.emitOpError("has a multicast shape that is not constant");
      if (count == 1)
        continue;
      group.cores *= count.getSExtValue();
      Value core = CoreIndexOp::create(builder, loc, builder.getIndexType(),
                                       builder.getI64IntegerAttr(static_cast<int64_t>(dim)), AffineMapAttr());
      Value same = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, core, load.getMcastStartIndex()[dim]);
      isFirst = isFirst ? arith::AndIOp::create(builder, loc, isFirst, same).getResult() : same;
    }
    if (group.cores == 1)
      return group;
    auto generic = load->getParentOfType<GenericOp>();
    group.ready = semaphores[generic];
    group.done = group.ready + 1;
    semaphores[generic] += 2;
    group.choice = scf::IfOp::create(builder, loc, isFirst, /*withElseRegion=*/true);
    return group;
  }

  /// Behind the reads of the first core, the block goes to the others.
  static void share(const Group &group, RemoteLoadOp load, Value room, OpBuilder &builder) {
    Location loc = load.getLoc();
    const auto index = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(builder, loc, value); };
    const auto semaphore = [&](int64_t id) -> Value {
      return GetArgOp::create(builder, loc, LocalSemaphoreType::get(builder.getContext()),
                              builder.getI64IntegerAttr(id), ResolutionStageAttr());
    };
    ValueRange start = load.getMcastStartIndex(), shape = load.getMcastShape();
    SemaphoreWaitOp::create(builder, loc, semaphore(group.ready), index(group.cores - 1), index(0));
    DMAWriteOp::create(builder, loc, MemTxType::get(builder.getContext(), DMAType::McastWrite), room, ValueRange(),
                       room, ValueRange(), start, shape, ValueRange(), ValueRange(),
                       cast<MemRefType>(room.getType()).getNumElements(), AffineMapAttr());
    SemaphoreSetOp::create(builder, loc, semaphore(group.done), index(1), start, shape, ValueRange(), ValueRange());
    builder.setInsertionPointToStart(scf::IfOp(group.choice).elseBlock());
    SemaphoreIncOp::create(builder, loc, semaphore(group.ready), index(1), start, ValueRange(), ValueRange(),
                           ValueRange());
    SemaphoreWaitOp::create(builder, loc, semaphore(group.done), index(1), index(0));
  }

  DenseMap<Operation *, int64_t> semaphores; // of a generic, that are taken

  LogicalResult lower(RemoteLoadOp load) {
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
    const auto index = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(builder, loc, value); };
    Value room = ReserveOp::create(builder, loc, block, load.getCb());
    const int64_t columns = block.getDimSize(1);
    // Elements of a row of the block that lie behind each other in the buffer, too.
    const int64_t piece = contiguous(map, 3, columns);
    FailureOr<Group> group = groupOf(load, builder);
    if (failed(group))
      return failure();
    // The first core of a group reads.
    if (group->cores > 1)
      builder.setInsertionPointToStart(group->choice.thenBlock());
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
    if (group->cores > 1) {
      share(*group, load, room, builder);
      builder.setInsertionPointAfter(group->choice);
    }
    PushOp::create(builder, loc, load.getCb());
    load.erase();
    return success();
  }
};
} // namespace
