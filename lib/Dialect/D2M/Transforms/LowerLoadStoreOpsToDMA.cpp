//===- LowerLoadStoreOpsToDMA.cpp - transfers of blocks piece by piece ----===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/D2M/Transforms/Indexing.h"
#include "ttmlir/Dialect/D2M/Transforms/Passes.h"
#include "ttmlir/Dialect/TTMetal/IR/TTMetal.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <numeric>

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
  using Base::Base;

  void runOnOperation() override {
    semaphores.clear();
    SmallVector<RemoteLoadOp> loads;
    SmallVector<RemoteStoreOp> stores;
    SmallVector<ViewLayoutOp> views;
    getOperation()->walk([&](Operation *op) {
      if (auto load = dyn_cast<RemoteLoadOp>(op); load && load->getParentOfType<GenericOp>())
        loads.push_back(load);
      else if (auto store = dyn_cast<RemoteStoreOp>(op); store && store->getParentOfType<GenericOp>())
        stores.push_back(store);
      else if (auto view = dyn_cast<ViewLayoutOp>(op))
        views.push_back(view);
    });
    for (RemoteLoadOp load : loads)
      if (failed(lower(load)))
        return signalPassFailure();
    for (RemoteStoreOp store : stores)
      if (failed(lower(store)))
        return signalPassFailure();
    // Generics read the buffers themselves now.
    for (ViewLayoutOp view : llvm::reverse(views)) {
      view.getResult().replaceUsesWithIf(view.getInput(),
                                         [](OpOperand &use) { return isa<GenericOp>(use.getOwner()); });
      if (view->use_empty())
        view->erase();
    }
    if (useTensorAccessorDMA)
      getOperation()->walk([](GenericOp generic) {
        SmallVector<int64_t> inDram;
        for (auto [number, operand] : llvm::enumerate(generic->getOperands()))
          if (liesIn(operand.getType(), ttcore::MemorySpace::DeviceDRAM))
            inDram.push_back(static_cast<int64_t>(number));
        if (!inDram.empty())
          generic->setAttr(tensorAccessorsName, DenseI64ArrayAttr::get(generic.getContext(), inDram));
      });
  }

private:
  /// The cores that load the same block, a part of a row or column of the grid, and what the first of them does, or the
  /// others. Semaphore `ready` counts, on the first core, the cores that have room; `done` signals to the others that
  /// the block has arrived.
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

  /// After the reads of the first core, the block is sent to the others.
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

  /// The operands of a load or a store: blocks of a circular buffer and those of a buffer of all cores, below views.
  struct Transfer {
    Value buffer;
    AffineMap map; // indices of the op, row and column of the block -> core row, core column, row, column
    ttmetal::DeviceBuffer described;
    MemRefType block;
    ArrayRef<int64_t> blocks; // of all cores
    // Padding of blocks that may be beyond the buffer, by rows and columns of cores: a load reads any tile there, and a
    // store writes none.
    std::array<bool, 2> isBeyond;
  };

  template <class Op> static FailureOr<Transfer> transferOf(Op op) {
    auto [buffer, map] = bufferOf(op.getMemref());
    auto described = ttmetal::DeviceBuffer::of(buffer.getType());
    auto block = op.getCb() ? dyn_cast<MemRefType>(op.getCb().getType().getUnderlying()) : MemRefType();
    if (!described || !block || block.getRank() != 2 || map.getNumResults() != 4)
      return op.emitOpError() << "expected a buffer of the device with two dimensions of cores and two of elements, "
                                 "and a circular buffer";
    if (block.getElementType() != described->element)
      return op.emitOpError() << (std::is_same_v<Op, RemoteLoadOp> ? "reads " : "writes ") << described->element
                              << (std::is_same_v<Op, RemoteLoadOp> ? " into blocks of " : " from blocks of ")
                              << block.getElementType();
    ArrayRef<int64_t> blocks = cast<ShapedType>(op.getMemref().getType()).getShape().take_front(2);
    Transfer transfer{buffer, map, *described, block, blocks, {}};
    const int64_t sizes[] = {blocks[0], blocks[1], block.getDimSize(0), block.getDimSize(1)};
    SmallVector<AffineExpr> places(simplifyAffineMap(map).getResults());
    for (unsigned dim : {0, 1}) {
      const int64_t size = described->grid[dim];
      if (greatestOf(places[dim], sizes).value_or(size) < size)
        continue;
      transfer.isBeyond[dim] = !std::is_same_v<Op, RemoteLoadOp>;
      if (!transfer.isBeyond[dim])
        places[dim] = places[dim] % size;
    }
    transfer.map = AffineMap::get(4, 0, places, map.getContext());
    return transfer;
  }

  /// Returns the greatest length of aligned pieces of rows that are contiguous in the buffer, by the indices of all
  /// blocks; where a dimension is large, of its first 64.
  static int64_t enumeratedPiece(const Transfer &transfer) {
    constexpr int64_t most = 64;
    Builder builder(transfer.map.getContext());
    ArrayRef<int64_t> block = transfer.block.getShape();
    int64_t piece = block[1];
    const auto placeOf = [&](ArrayRef<int64_t> at) {
      SmallVector<AffineExpr> dims;
      for (int64_t each : at)
        dims.push_back(builder.getAffineConstantExpr(each));
      SmallVector<int64_t> place;
      for (AffineExpr expr : transfer.map.getResults())
        place.push_back(cast<AffineConstantExpr>(expr.replaceDims(dims)).getValue());
      return place;
    };
    for (int64_t y = 0; y < std::min(transfer.blocks[0], most); ++y)
      for (int64_t x = 0; x < std::min(transfer.blocks[1], most); ++x)
        for (int64_t r = 0; r < std::min(block[0], most); ++r) {
          SmallVector<int64_t> next = placeOf({y, x, r, 0});
          for (int64_t c = 1; c < block[1]; ++c) {
            ++next.back();
            SmallVector<int64_t> place = placeOf({y, x, r, c});
            if (place != next) // a piece ends here
              piece = std::gcd(piece, c);
            next = place;
          }
        }
    return piece;
  }

  /// Loops over the contiguous pieces of a block; calls `move` with a piece's address in the buffer, its index in the
  /// block, and its number of elements. Leaves the builder after the loops.
  void forEachPiece(const Transfer &transfer, ValueRange indices, OpBuilder &builder, Location loc,
                    llvm::function_ref<void(ValueRange, Value, int64_t)> move) {
    const auto index = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(builder, loc, value); };
    ArrayRef<int64_t> shape = transfer.block.getShape();
    // The number of elements of a block's row that are also contiguous in the buffer.
    const int64_t piece = contiguous(transfer.map, 3, shape[1]);
    if (debugCoalescingInference)
      emitRemark(loc) << "moves pieces of " << piece << " of the " << shape[1]
                      << " elements of a row; an enumeration finds " << enumeratedPiece(transfer);
    auto rows = scf::ForOp::create(builder, loc, index(0), index(shape[0]), index(1));
    builder.setInsertionPointToStart(rows.getBody());
    auto pieces = scf::ForOp::create(builder, loc, index(0), index(shape[1]), index(piece));
    builder.setInsertionPointToStart(pieces.getBody());
    SmallVector<Value> at(indices);
    at.append({rows.getInductionVar(), pieces.getInductionVar()});
    SmallVector<Value> place = expand(builder, loc, transfer.map, at);
    Value own = expand(builder, loc, rowMajor(shape, builder.getContext()), {at[2], at[3]})[0];
    const ttmetal::DeviceBuffer &buffer = transfer.described;
    Value offset = byteOffset(builder, loc, buffer.shard, buffer.elementBytes(), place[2], place[3]);
    Value isThere;
    for (size_t dim : {0, 1}) {
      if (!transfer.isBeyond[dim])
        continue;
      Value below = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, place[dim], index(buffer.grid[dim]));
      isThere = isThere ? arith::AndIOp::create(builder, loc, isThere, below).getResult() : below;
    }
    if (isThere)
      builder.setInsertionPointToStart(scf::IfOp::create(builder, loc, isThere, /*withElseRegion=*/false).thenBlock());
    move(ValueRange{place[0], place[1], offset}, own, piece);
    builder.setInsertionPointAfter(rows);
  }

  /// A load makes a block of pieces of the buffer, a store the other way round.
  template <class Op> LogicalResult lower(Op op) {
    constexpr bool isLoad = std::is_same_v<Op, RemoteLoadOp>;
    FailureOr<Transfer> transfer = transferOf(op);
    if (failed(transfer))
      return failure();
    OpBuilder builder(op);
    Location loc = op.getLoc();
    using Begin = std::conditional_t<isLoad, ReserveOp, WaitOp>;
    using End = std::conditional_t<isLoad, PushOp, PopOp>;
    Value block = Begin::create(builder, loc, transfer->block, op.getCb());
    FailureOr<Group> group = Group();
    if constexpr (isLoad)
      group = groupOf(op, builder);
    if (failed(group))
      return failure();
    if (group->cores > 1) // the first core of a group reads
      builder.setInsertionPointToStart(group->choice.thenBlock());
    constexpr DMAType direction = isLoad ? DMAType::Read : DMAType::Write;
    auto type = MemTxType::get(builder.getContext(), direction);
    forEachPiece(*transfer, op.getIndices(), builder, loc, [&](ValueRange place, Value own, int64_t count) {
      if constexpr (isLoad)
        DMAReadOp::create(builder, loc, type, transfer->buffer, place, block, own, count, AffineMapAttr());
      else
        DMAWriteOp::create(builder, loc, type, block, own, transfer->buffer, place, ValueRange(), ValueRange(),
                           ValueRange(), ValueRange(), count, AffineMapAttr());
    });
    waitForAll(builder, loc, direction);
    if constexpr (isLoad)
      if (group->cores > 1) {
        share(*group, op, block, builder);
        builder.setInsertionPointAfter(group->choice);
      }
    End::create(builder, loc, op.getCb());
    op.erase();
    return success();
  }
};
} // namespace
