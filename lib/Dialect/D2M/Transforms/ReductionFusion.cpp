//===- ReductionFusion.cpp - elementwise ops inside reductions ------------===//
// SPDX-License-Identifier: Apache-2.0
//
// The matrix unit reduces tiles of circular buffers. A fused kernel therefore computes as many tiles as fit into a
// small circular buffer, and then reduces these in a second section of the registers. A row of more tiles is reduced in
// chunks; in between, the result so far is in a circular buffer with the width of the registers.
//
//===----------------------------------------------------------------------===//

#include "ReductionFusion.h"

#include "DstRegisters.h"

#include "ttmlir/Dialect/TTMetal/IR/TTMetal.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::d2m;

/// Tiles of the circular buffer between the producer and the reduction. Fewer at a time cost more in copies of the
/// result so far than the buffer is worth.
static constexpr int64_t leastChunk = 4, mostChunk = 8;
/// Bytes of a buffer for all tiles of a row, if no chunk divides them.
static constexpr int64_t rowBytes = 128 << 10;
/// Ops on tiles by which a core may have more to do than the producer's cores had: as much as two launches take.
static constexpr int64_t mostMoreOps = 96;
/// Circular buffers of a core.
static constexpr size_t portsOfCore = 32;

static std::optional<int64_t> constantOf(Value value) {
  APInt number;
  return matchPattern(value, m_ConstantInt(&number)) ? std::optional(number.getSExtValue()) : std::nullopt;
}

namespace {
/// A generic that joins `count` tiles of a stream to each tile of its output, in one section of the registers.
struct Joining {
  GenericOp generic;
  BlockArgument ring;       // the circular buffer of the stream
  Block *section = nullptr; // computes one tile of the output
  ReserveOp reserve;        // of the output, before the section's registers
  scf::ForOp steps;         // over the tiles
  RemoteLoadOp first, next; // before the loop (null if the loop takes all tiles), and in it
  int64_t count = 0;
  Value row, column; // block of the first tile

  static std::optional<Joining> of(GenericOp generic, unsigned input) {
    if (!isReduction(generic))
      return std::nullopt;
    Joining found;
    found.generic = generic;
    found.count = cast<IntegerAttr>(generic.getBlockFactors()[2]).getInt();
    Value view = generic.getInputs()[input];
    SmallVector<RemoteLoadOp> loads;
    generic.walk([&](RemoteLoadOp load) {
      if (load.getMemref() == view)
        loads.push_back(load);
    });
    for (RemoteLoadOp load : loads) {
      auto loop = dyn_cast<scf::ForOp>(load->getParentOp());
      // A loop before the section computes tiles of another producer.
      const auto acquireOf = [](Block *block) {
        auto acquires = block->getOps<AcquireDstOp>();
        return acquires.empty() ? AcquireDstOp() : *acquires.begin();
      };
      AcquireDstOp outside = loop ? acquireOf(loop->getBlock()) : AcquireDstOp();
      if (acquireOf(load->getBlock()) && !found.first)
        found.first = load;
      else if (outside && outside->isBeforeInBlock(loop) && !found.next)
        found.next = load;
      else
        return std::nullopt;
    }
    if (!found.next || !found.next.getMcastDims().empty())
      return std::nullopt;
    found.steps = cast<scf::ForOp>(found.next->getParentOp());
    found.section = found.steps->getBlock();
    found.ring = dyn_cast<BlockArgument>(found.next.getCb());
    return found.isComplete() ? std::optional(found) : std::nullopt;
  }

private:
  bool isComplete() {
    if (!ring || (first && first.getCb() != ring))
      return false;
    for (Operation *user : ring.getUsers())
      if (user != first && user != next && !isa<WaitOp, PopOp>(user))
        return false;
    auto block = cast<MemRefType>(cast<CBType>(ring.getType()).getUnderlying());
    if (block.getNumElements() != 1 || constantOf(steps.getLowerBound()) != (first ? 1 : 0) ||
        constantOf(steps.getUpperBound()) != count || constantOf(steps.getStep()) != 1 || next.getIndices().size() != 2)
      return false;
    auto step = next.getIndices()[1].getDefiningOp<arith::AddIOp>();
    if (!step || step.getRhs() != steps.getInductionVar())
      return false;
    row = next.getIndices()[0];
    column = step.getLhs();
    if (first && (first.getIndices()[0] != row || first.getIndices()[1] != column))
      return false;
    auto reserves = llvm::to_vector(section->getOps<ReserveOp>());
    if (reserves.size() != 1)
      return false;
    reserve = reserves.front();
    const auto isBefore = [&](Value value) {
      Operation *op = value.getDefiningOp();
      return !op || op->getBlock() != section || op->isBeforeInBlock(reserve);
    };
    return isBefore(row) && isBefore(column) && reserve->isBeforeInBlock(*section->getOps<AcquireDstOp>().begin());
  }
};

/// The part of a buffer that a producer reads for one of its tiles.
struct Source {
  Value buffer;
  AffineMap map; // core row, core column, row and column of the producer's tile -> place in the buffer
  SmallVector<memref::LoadOp> loads;
};

class ReductionFusion {
public:
  ReductionFusion(Elementwise producer, GenericOp reduction, unsigned input)
      : producer(producer), reduction(reduction), input(input), builder(reduction), loc(reduction.getLoc()) {}

  GenericOp fuse() {
    std::optional<Joining> joining = Joining::of(reduction, input);
    if (!joining || !findSources() || !findPlaces())
      return {};
    Value between = producer.output();
    auto tile = cast<MemRefType>(between.getType()).getElementType();
    const auto bytes = static_cast<int64_t>(ttmetal::DeviceBuffer::of(between.getType())->elementBytes());
    chunk = std::min(joining->count, mostChunk);
    while (joining->count % chunk)
      --chunk;
    if (chunk < std::min(joining->count, leastChunk)) {
      if (joining->count * bytes > rowBytes)
        return {};
      chunk = joining->count;
    }
    const bool inChunks = chunk < joining->count;
    if (moreOps(joining->count) > mostMoreOps ||
        reduction->getNumOperands() + sources.size() + (inChunks ? 1 : 0) > portsOfCore)
      return {};

    fused = cast<GenericOp>(builder.clone(*reduction));
    fused->setLoc(builder.getFusedLoc({producer.generic.getLoc(), reduction.getLoc()}));
    Joining inside = *Joining::of(fused, input);
    replaceOperands(inside, tile, inChunks);
    builder.setInsertionPoint(inside.reserve);
    if (inChunks) {
      reduceInChunks(inside);
    } else {
      createTiles(inside, inside.column);
      eraseLoads(inside);
    }
    if (!holdsTiles()) {
      fused.erase();
      return {};
    }
    return fused;
  }

private:
  /// Returns the number of ops on tiles that a core of the reduction does more than one of the producer did.
  int64_t moreOps(int64_t count) {
    const auto tilesOf = [](Value buffer) {
      const auto placed = *ttmetal::DeviceBuffer::of(buffer.getType());
      return placed.shard[0] * placed.shard[1];
    };
    const int64_t tiles = tilesOf(reduction.getOutputs().front()) * count - tilesOf(producer.output());
    return tiles * llvm::count_if(*producer.loops.back().getBody(), isTileOp);
  }

  Value index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
  static Type blockOf(Value cb) { return cast<CBType>(cb.getType()).getUnderlying(); }

  bool findSources() {
    for (Operation &op : producer.loops.back().getBody()->without_terminator())
      if (auto load = dyn_cast<memref::LoadOp>(op)) {
        auto wait = load.getMemRef().getDefiningOp<WaitOp>();
        auto cb = wait ? dyn_cast<BlockArgument>(wait.getCb()) : BlockArgument();
        if (!cb || !addSource(load, cb))
          return false;
      }
    return true;
  }

  bool addSource(memref::LoadOp load, BlockArgument cb) {
    MLIRContext *context = load.getContext();
    SmallVector<AffineExpr> place;
    Value buffer;
    if (cb.getArgNumber() < producer.generic.getInputs().size()) {
      buffer = producer.generic.getInputs()[cb.getArgNumber()];
      for (unsigned dim : {0, 1})
        place.push_back(getAffineDimExpr(dim, context));
    } else {
      RemoteLoadOp remote;
      for (Operation *user : cb.getUsers())
        if (auto each = dyn_cast<RemoteLoadOp>(user)) {
          if (remote || !each.getMcastDims().empty())
            return false;
          remote = each;
        }
      if (!remote)
        return false;
      buffer = remote.getMemref();
      for (Value at : remote.getIndices()) {
        auto core = at.getDefiningOp<CoreIndexOp>();
        const std::optional<int64_t> constant = constantOf(at);
        if (!core && !constant)
          return false;
        place.push_back(core ? getAffineDimExpr(static_cast<unsigned>(core.getDim()), context)
                             : getAffineConstantExpr(*constant, context));
      }
    }
    for (auto [at, loop] : llvm::zip_equal(load.getIndices(), producer.loops)) {
      const std::optional<int64_t> constant = constantOf(at);
      if (at != loop.getInductionVar() && !constant)
        return false;
      place.push_back(constant ? getAffineConstantExpr(*constant, context)
                               : getAffineDimExpr(static_cast<unsigned>(place.size()), context));
    }
    if (place.size() != 4)
      return false;
    AffineMap map = AffineMap::get(4, 0, place, context);
    for (Source &source : sources)
      if (source.buffer == buffer && source.map == map) {
        source.loads.push_back(load);
        return true;
      }
    sources.push_back({buffer, map, {load}});
    return true;
  }

  /// Finds the tiles of the producer that the reduction reads: a map from the indices of its stream.
  bool findPlaces() {
    Value value = reduction.getInputs()[input];
    places = AffineMap::getMultiDimIdentityMap(4, value.getContext());
    while (auto view = value.getDefiningOp<ViewLayoutOp>()) {
      if (view.getRemapping().getNumDims() != places.getNumResults())
        return false;
      places = view.getRemapping().compose(places);
      value = view.getInput();
    }
    return value == producer.output() && places.getNumResults() == 4;
  }

  MemRefType inL1(ArrayRef<int64_t> grid, ArrayRef<int64_t> shard, Type element) {
    return ttmetal::DeviceBuffer{grid, shard, element}.inL1();
  }

  /// Adds a circular buffer of `count` tiles; returns it as an argument of the thread.
  Value addRing(int64_t count, Type tile) {
    OpBuilder before(fused);
    Value ring = memref::AllocOp::create(before, loc, inL1(fused.getGrid().getShape(), {count, 1}, tile));
    fused.getAdditionalArgsMutable().append(ring);
    auto block = MemRefType::get({1, 1}, tile, MemRefLayoutAttrInterface(),
                                 ttcore::MemorySpaceAttr::get(tile.getContext(), ttcore::MemorySpace::DeviceL1));
    return fused.getRegion(0).front().addArgument(CBType::get(tile.getContext(), block), loc);
  }

  void replaceOperands(Joining &inside, Type tile, bool inChunks) {
    OpBuilder before(fused);
    auto stream = cast<MemRefType>(reduction.getInputs()[input].getType());
    Value oldRing = fused->getOperand(inside.ring.getArgNumber());
    const int64_t ahead = cast<MemRefType>(oldRing.getType()).getDimSize(2);
    fused->setOperand(inside.ring.getArgNumber(),
                      memref::AllocOp::create(before, loc, inL1(fused.getGrid().getShape(), {chunk, 1}, tile)));
    Block &body = fused.getRegion(0).front();
    SmallVector<Value> inputs(fused.getInputs());
    SmallVector<Attribute> maps(fused.getIndexingMaps().getValue());
    inputs.erase(inputs.begin() + input);
    const Attribute map = maps[input];
    maps.erase(maps.begin() + input);
    body.eraseArgument(input);
    for (auto [number, source] : llvm::enumerate(sources)) {
      Type element = cast<MemRefType>(source.buffer.getType()).getElementType();
      Value view = ViewLayoutOp::create(before, loc,
                                        inL1(stream.getShape().take_front(2), stream.getShape().drop_front(2), element),
                                        source.buffer, simplifyAffineMap(source.map.compose(places)));
      const auto at = static_cast<unsigned>(input + number);
      inputs.insert(inputs.begin() + at, view);
      maps.insert(maps.begin() + at, map);
      auto block = MemRefType::get(stream.getShape().drop_front(2), element, MemRefLayoutAttrInterface(),
                                   ttcore::MemorySpaceAttr::get(element.getContext(), ttcore::MemorySpace::DeviceL1));
      body.insertArgument(at, CBType::get(element.getContext(), block), loc);
      views.push_back(view);
    }
    fused.getInputsMutable().assign(inputs);
    fused.setIndexingMapsAttr(before.getArrayAttr(maps));
    // As many tiles are read ahead as before, of all sources.
    const int64_t each = llvm::divideCeil(ahead, std::max<int64_t>(1, static_cast<int64_t>(views.size())));
    for (Value view : views)
      rings.push_back(addRing(each, cast<MemRefType>(view.getType()).getElementType()));
    if (inChunks)
      soFar = addRing(2, wideTile(tile));
  }

  /// A tile that holds what registers of 32 bits do.
  static Type wideTile(Type tile) {
    return isa<FloatType>(cast<ttcore::TileType>(tile).getElementType())
               ? Type(ttcore::TileType::get(tile.getContext(), ttcore::DataType::Float32))
               : tile;
  }

  /// Computes a chunk of the producer's tiles, which the reduction reads from block (row, column) on.
  void createTiles(Joining &inside, Value column) {
    OpBuilder::InsertionGuard guard(builder);
    auto loop = scf::ForOp::create(builder, loc, index(0), index(chunk), index(1));
    builder.setInsertionPointToStart(loop.getBody());
    const SmallVector<Value> at = {inside.row, arith::AddIOp::create(builder, loc, column, loop.getInductionVar())};
    IRMapping mapping;
    Value first = index(0);
    for (auto [source, view, ring] : llvm::zip_equal(sources, views, rings)) {
      RemoteLoadOp::create(builder, loc, Type(), Value(), view, at, ring, ValueRange(), ValueRange(), ValueRange());
      Value block = WaitOp::create(builder, loc, blockOf(ring), ring);
      for (memref::LoadOp load : source.loads)
        mapping.map(load.getResult(), memref::LoadOp::create(builder, loc, block, ValueRange{first, first}));
    }
    Value room = ReserveOp::create(builder, loc, blockOf(inside.ring), inside.ring);
    for (Operation &op : producer.loops.back().getBody()->without_terminator()) {
      if (isa<memref::LoadOp, memref::StoreOp>(op))
        continue;
      for (Value operand : op.getOperands()) // constants before the loop
        if (!mapping.contains(operand))
          mapping.map(operand, builder.clone(*operand.getDefiningOp())->getResult(0));
      builder.clone(op, mapping);
    }
    stores.push_back(
        memref::StoreOp::create(builder, loc, mapping.lookup(producer.tile()), room, ValueRange{first, first}));
    PushOp::create(builder, loc, inside.ring);
    for (Value ring : rings)
      PopOp::create(builder, loc, ring);
  }

  static void eraseLoads(Joining &inside) {
    if (inside.first)
      inside.first.erase();
    inside.next.erase();
  }

  /// Copies the result so far to the register of the result.
  void restore(Value registers) {
    Value first = index(0), block = WaitOp::create(builder, loc, blockOf(soFar), soFar);
    memref::StoreOp::create(builder, loc, memref::LoadOp::create(builder, loc, block, ValueRange{first, first}),
                            registers, first);
    PopOp::create(builder, loc, soFar);
  }
  Value acquire(Type tile) {
    auto space = ttcore::MemorySpaceAttr::get(tile.getContext(), ttcore::MemorySpace::RegisterDst);
    return AcquireDstOp::create(builder, loc, MemRefType::get({2}, tile, MemRefLayoutAttrInterface(), space));
  }

  void reduceInChunks(Joining &inside) {
    SmallVector<Operation *> acquires, prologue;
    for (Operation &op : llvm::make_range(std::next(inside.reserve->getIterator()), inside.steps->getIterator())) {
      if (isa<AcquireDstOp>(op))
        acquires.push_back(&op);
      else if (!isa<RemoteLoadOp>(op))
        prologue.push_back(&op);
    }
    const int64_t count = inside.count / chunk;
    auto loop = scf::ForOp::create(builder, loc, index(0), index(count), index(1));
    builder.setInsertionPointToStart(loop.getBody());
    Value number = loop.getInductionVar();
    Value offset = arith::MulIOp::create(builder, loc, number, index(chunk));
    createTiles(inside, arith::AddIOp::create(builder, loc, inside.column, offset));
    Type tile = cast<MemRefType>(blockOf(soFar)).getElementType();
    Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, number, index(0));
    for (Operation *op : acquires)
      op->moveBefore(loop.getBody()->getTerminator());
    Value registers = acquire(tile);
    // The first tile of all, or the result so far, is in the register before the other tiles join it.
    auto choice = scf::IfOp::create(builder, loc, isFirst, /*withElseRegion=*/true);
    for (Operation *op : prologue)
      if (op->hasTrait<OpTrait::ConstantLike>())
        op->moveBefore(loop);
      else
        op->moveBefore(choice.thenBlock()->getTerminator());
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(choice.elseBlock());
      restore(registers);
    }
    const bool takesFirst = inside.first != nullptr;
    eraseLoads(inside);
    inside.steps->moveBefore(loop.getBody()->getTerminator());
    builder.setInsertionPoint(inside.steps);
    inside.steps.setUpperBound(index(chunk));
    if (takesFirst)
      inside.steps.setLowerBound(arith::SelectOp::create(builder, loc, isFirst, index(1), index(0)));
    builder.setInsertionPointAfter(inside.steps);
    Value first = index(0);
    Value room = ReserveOp::create(builder, loc, blockOf(soFar), soFar);
    memref::StoreOp::create(builder, loc, memref::LoadOp::create(builder, loc, registers, first), room,
                            ValueRange{first, first});
    PushOp::create(builder, loc, soFar);
    // The whole result goes to the output.
    builder.setInsertionPointAfter(loop);
    Value last = acquire(tile);
    restore(last);
    for (Operation &op : llvm::make_range(std::next(loop->getIterator()), inside.section->end()))
      if (auto load = dyn_cast<memref::LoadOp>(op);
          load && liesIn(load.getMemRefType(), ttcore::MemorySpace::RegisterDst)) {
        builder.setInsertionPointAfterValue(last);
        load.getMemrefMutable().assign(load.getMemRefType() == last.getType() ? last : acquire(load.getType()));
      }
    inside.reserve->moveAfter(loop);
  }

  /// Whether registers of 32 bits hold the producer's tiles as its own registers did, and suffice.
  bool holdsTiles() {
    bool isNarrow = !producer.generic->hasAttr(f32RegistersName);
    for (Value operand : producer.generic->getOperands())
      isNarrow &= !isWide(operand.getType());
    for (memref::StoreOp store : stores) {
      // Registers of 16 bits round what is packed to a block format, too.
      auto type = cast<ttcore::TileType>(store.getValueToStore().getType()).getDataType();
      if (isNarrow && ttcore::isBlockFormat(type) && !isa<TileTypecastOp>(producer.tile().getDefiningOp()))
        return false;
      if (isNarrow)
        roundTiles(store);
      scheduleTiles(store);
      RegisterAssignment registers;
      for (Operation &op : *store->getBlock())
        if (isTileOp(op) && failed(registers.assign(&op)))
          return false;
    }
    return true;
  }

  Elementwise producer;
  GenericOp reduction, fused;
  const unsigned input;
  OpBuilder builder;
  Location loc;
  SmallVector<Source> sources;
  AffineMap places;                    // indices of the reduction's stream -> place in the producer's result
  SmallVector<Value> views;            // of sources
  SmallVector<Value> rings;            // of sources, in the thread
  Value soFar;                         // the circular buffer of a result that is not complete
  int64_t chunk = 0;                   // tiles that are computed before they are reduced
  SmallVector<memref::StoreOp> stores; // of the producer's tiles
};
} // namespace

bool d2m::isReduction(GenericOp generic) {
  if (generic.getNumRegions() != 1 || generic.getOutputs().size() != 1 || generic.getNumResults() ||
      !generic.getRegion(0).hasOneBlock() || generic.getIteratorTypes().size() != 3 ||
      generic.threadOf(generic.getRegion(0)).getThreadType() != ThreadType::Unified)
    return false;
  const auto isJoined = [&](unsigned dim) {
    return cast<ttcore::IteratorTypeAttr>(generic.getIteratorTypes()[dim]).getValue() ==
           ttcore::IteratorType::Reduction;
  };
  return !isJoined(0) && !isJoined(1) && isJoined(2);
}

GenericOp d2m::fuseIntoReduction(Elementwise producer, GenericOp reduction, unsigned input) {
  return ReductionFusion(producer, reduction, input).fuse();
}
