//===- Streams.cpp - generics that read tiles of other cores --------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Generics.h"

#include "ttmlir/Dialect/D2M/Transforms/Indexing.h"
#include "ttmlir/Dialect/D2M/Transforms/Passes.h"
#include "ttmlir/Dialect/D2M/Transforms/Streaming.h"
#include "ttmlir/Dialect/TTMetal/IR/TTMetal.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::tt;

static Value createIndex(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}
static scf::ForOp createFor(OpBuilder &builder, Location loc, Value from, Value to, Value step) {
  auto loop = scf::ForOp::create(builder, loc, from, to, step);
  builder.setInsertionPointToStart(loop.getBody());
  return loop;
}
static scf::ForOp createFor(OpBuilder &builder, Location loc, int64_t from, int64_t to) {
  return createFor(builder, loc, createIndex(builder, loc, from), createIndex(builder, loc, to),
                   createIndex(builder, loc, 1));
}

/// A block of a circular buffer in L1.
static MemRefType blockType(ArrayRef<int64_t> shape, Type element) {
  return MemRefType::get(shape, element, MemRefLayoutAttrInterface(),
                         ttcore::MemorySpaceAttr::get(element.getContext(), ttcore::MemorySpace::DeviceL1));
}

static MemRefType deviceType(std::array<int64_t, 2> grid, ArrayRef<int64_t> shard, Type element) {
  uint64_t bytes = ttmetal::DeviceBuffer{grid, shard, element}.elementBytes();
  SmallVector<int64_t> shape(grid.begin(), grid.end());
  llvm::append_range(shape, shard);
  return MemRefType::get(shape, element,
                         ttcore::ShardLayoutAttr::dense(element.getContext(), shard, static_cast<int64_t>(bytes)),
                         ttcore::MemorySpaceAttr::get(element.getContext(), ttcore::MemorySpace::DeviceL1));
}

/// (row, column) of elements or tiles of a buffer -> (core row, core column, row, column).
static AffineMap placeMap(const ttmetal::DeviceBuffer &buffer, MLIRContext *context) {
  AffineExpr row = getAffineDimExpr(0, context), column = getAffineDimExpr(1, context);
  const int64_t rows = buffer.shard[0], columns = buffer.shard[1];
  return AffineMap::get(2, 0, {row.floorDiv(rows), column.floorDiv(columns), row % rows, column % columns}, context);
}

/// The greatest value of an expression of dimensions of these sizes, if it has no negative parts.
static std::optional<int64_t> greatestOf(AffineExpr expr, ArrayRef<int64_t> sizes) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() < 0 ? std::nullopt : std::optional(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return sizes[dim.getPosition()] - 1;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  const auto lhs = binary ? greatestOf(binary.getLHS(), sizes) : std::nullopt;
  const auto rhs = binary ? greatestOf(binary.getRHS(), sizes) : std::nullopt;
  if (!lhs || !rhs)
    return std::nullopt;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return *lhs + *rhs;
  case AffineExprKind::Mul:
    return *lhs * *rhs;
  case AffineExprKind::Mod:
    return std::min(*lhs, *rhs - 1);
  case AffineExprKind::FloorDiv:
    return *lhs / *rhs;
  default:
    return std::nullopt;
  }
}

/// The buffer as the blocks that are read of it. What pads blocks may lie beyond the buffer: any of its tiles will do.
static Value createView(OpBuilder &builder, Location loc, const Stream &stream) {
  auto buffer = *ttmetal::DeviceBuffer::of(stream.buffer.getType());
  SmallVector<AffineExpr> places(stream.map.getResults());
  const int64_t sizes[] = {stream.blocks[0], stream.blocks[1], stream.block[0], stream.block[1]};
  for (size_t dim : {0, 1})
    if (const int64_t size = buffer.grid[dim] * buffer.shard[dim];
        greatestOf(places[dim], sizes).value_or(size) >= size)
      places[dim] = places[dim] % size;
  AffineMap inside = AffineMap::get(4, 0, places, builder.getContext());
  AffineMap map = simplifyAffineMap(placeMap(buffer, builder.getContext()).compose(inside));
  return d2m::ViewLayoutOp::create(builder, loc, deviceType(stream.blocks, stream.block, buffer.element), stream.buffer,
                                   map);
}

/// Memory on each core of `grid` for blocks of a circular buffer.
static Value createRing(OpBuilder &builder, Location loc, std::array<int64_t, 2> grid, std::array<int64_t, 2> block,
                        int64_t count, Type element) {
  return memref::AllocOp::create(builder, loc, deviceType(grid, {block[0] * count, block[1]}, element));
}

/// Bytes of a block up to which its circular buffer has a second one.
static constexpr uint64_t streamedBytes = 64 << 10;

/// Tiles that a buffer of a reduction's stream has.
static constexpr int64_t reducedTiles = 4;

namespace {
/// A generic with one thread and circular buffers of blocks: those of the rings for streams, and the output's own.
class StreamGeneric {
public:
  StreamGeneric(OpBuilder &builder, Location loc, Value output, std::array<int64_t, 2> outputBlock)
      : builder(builder), loc(loc), output(output), outputBlock(outputBlock) {
    auto buffer = *ttmetal::DeviceBuffer::of(output.getType());
    grid = {buffer.grid[0], buffer.grid[1]};
  }

  /// Returns the number of the stream.
  size_t add(const Stream &stream, int64_t count) {
    views.push_back(createView(builder, loc, stream));
    Type element = cast<MemRefType>(stream.buffer.getType()).getElementType();
    rings.push_back(createRing(builder, loc, grid, stream.block, count, element));
    ringBlocks.push_back(blockType(stream.block, element));
    return views.size() - 1;
  }
  /// An input whose tiles lie where the output's do; added behind all streams.
  size_t addInPlace(Value buffer) {
    views.push_back(buffer);
    return views.size() - 1;
  }
  /// A buffer that the computation alone uses.
  void addScratch(std::array<int64_t, 2> block, Type element) {
    rings.push_back(createRing(builder, loc, grid, block, 1, element));
    ringBlocks.push_back(blockType(block, element));
  }

  /// Begins the thread; the builder is left within.
  void begin(ArrayRef<int64_t> factors, ArrayRef<AffineMap> maps, ArrayRef<ttcore::IteratorType> iterators,
             bool f32Registers = true) {
    MLIRContext *context = builder.getContext();
    SmallVector<Attribute> iteratorAttrs;
    for (ttcore::IteratorType iterator : iterators)
      iteratorAttrs.push_back(ttcore::IteratorTypeAttr::get(context, iterator));
    generic = d2m::GenericOp::create(
        builder, loc, TypeRange(), views, output, rings,
        ttcore::GridAttr::get(context, grid, AffineMap::get(context), AffineMap::get(context)),
        builder.getI64ArrayAttr(factors), builder.getAffineMapArrayAttr(maps), builder.getArrayAttr(iteratorAttrs),
        builder.getArrayAttr(d2m::ThreadAttr::get(context, d2m::ThreadType::Unified, SymbolRefAttr(), -1)), nullptr, 1);
    if (f32Registers)
      generic->setAttr(d2m::f32RegistersName, builder.getUnitAttr());
    Block *body = builder.createBlock(&generic.getRegion(0));
    const auto argument = [&](MemRefType block) { body->addArgument(d2m::CBType::get(context, block), loc); };
    for (Value view : views)
      argument(blockType(cast<MemRefType>(view.getType()).getShape().drop_front(2),
                         cast<MemRefType>(view.getType()).getElementType()));
    argument(blockType(outputBlock, cast<MemRefType>(output.getType()).getElementType()));
    for (MemRefType block : ringBlocks)
      argument(block);
  }

  Value in(size_t number) { return generic.getRegion(0).getArgument(static_cast<unsigned>(number)); }
  Value out() { return generic.getRegion(0).getArgument(static_cast<unsigned>(views.size())); }
  /// The circular buffer of a stream, or, behind those, of the scratch.
  Value ring(size_t number) {
    return generic.getRegion(0).getArgument(static_cast<unsigned>(views.size() + 1 + number));
  }
  /// Loads a block of a stream and waits for it. Cores with one coordinate in dimension `sharedAlong` load the same.
  Value load(size_t stream, ValueRange at, std::optional<int64_t> sharedAlong = {}) {
    SmallVector<Value> dims;
    if (sharedAlong)
      dims.push_back(createIndex(builder, loc, *sharedAlong));
    d2m::RemoteLoadOp::create(builder, loc, Type(), Value(), views[stream], at, ring(stream), ValueRange(),
                              ValueRange(), dims);
    return wait(ring(stream));
  }
  static Type blockOf(Value cb) { return cast<d2m::CBType>(cb.getType()).getUnderlying(); }
  Value wait(Value cb) { return d2m::WaitOp::create(builder, loc, blockOf(cb), cb); }
  Value reserve(Value cb) { return d2m::ReserveOp::create(builder, loc, blockOf(cb), cb); }
  void push(Value cb) { d2m::PushOp::create(builder, loc, cb); }
  void pop(Value cb) { d2m::PopOp::create(builder, loc, cb); }
  Value core(int64_t dim) {
    return d2m::CoreIndexOp::create(builder, loc, builder.getIndexType(), builder.getI64IntegerAttr(dim),
                                    AffineMapAttr());
  }

  /// index = core * count + place
  Value ofCore(int64_t dim, int64_t count, Value place) {
    Value first = arith::MulIOp::create(builder, loc, core(dim), createIndex(builder, loc, count));
    return arith::AddIOp::create(builder, loc, first, place);
  }

  OpBuilder &builder;
  Location loc;
  Value output;
  std::array<int64_t, 2> outputBlock, grid;
  SmallVector<Value> views, rings;
  SmallVector<MemRefType> ringBlocks;
  d2m::GenericOp generic;
};
} // namespace

namespace {
/// The registers of a section, which the builder stands at the begin of. A register can be taken as tiles of any type.
class Registers {
public:
  Registers(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}
  void set(int64_t slot, Value tile) {
    memref::StoreOp::create(builder, loc, tile, as(tile.getType()), createIndex(builder, loc, slot));
  }
  Value get(int64_t slot, Type tile) {
    return memref::LoadOp::create(builder, loc, as(tile), createIndex(builder, loc, slot));
  }
  Value as(Type tile) {
    Value &acquired = acquiredAs[tile];
    if (!acquired) {
      OpBuilder::InsertionGuard guard(builder);
      if (last)
        builder.setInsertionPointAfter(last);
      auto space = ttcore::MemorySpaceAttr::get(tile.getContext(), ttcore::MemorySpace::RegisterDst);
      acquired =
          d2m::AcquireDstOp::create(builder, loc, MemRefType::get({2}, tile, MemRefLayoutAttrInterface(), space));
      last = acquired.getDefiningOp();
    }
    return acquired;
  }

private:
  OpBuilder &builder;
  Location loc;
  Operation *last = nullptr;
  DenseMap<Type, Value> acquiredAs;
};
} // namespace

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void tt::createMatmul(OpBuilder &builder, Location loc, const Product &product, Value output) {
  OpBuilder::InsertionGuard guard(builder);
  auto buffer = *ttmetal::DeviceBuffer::of(output.getType());
  const int64_t rows = product.a.block[0], columns = product.b.block[1];
  const int64_t groups = buffer.shard[0] / rows, columnBlocks = buffer.shard[1] / columns;
  StreamGeneric kernel(builder, loc, output, {rows, columns});
  const bool isOne = product.steps * groups * columnBlocks == 1;
  const size_t a = kernel.add(product.a, isOne ? 1 : product.a.buffers),
               b = kernel.add(product.b, isOne ? 1 : product.b.buffers);
  MLIRContext *context = builder.getContext();
  Type partial = ttcore::TileType::get(context, ttcore::DataType::Float32);
  const bool inParts = product.steps > 1;
  if (inParts)
    kernel.addScratch({rows, columns}, partial);

  // The nest is (row block, column block, step).
  AffineExpr m = getAffineDimExpr(0, context), n = getAffineDimExpr(1, context), k = getAffineDimExpr(2, context);
  AffineMap bRow = product.bRow.replaceDimsAndSymbols({m, k}, {}, 3, 0);
  using ttcore::IteratorType;
  kernel.begin({groups, columnBlocks, product.steps},
               {AffineMap::get(3, 0, {m, k}, context), AffineMap::get(3, 0, {bRow.getResult(0), n}, context),
                AffineMap::get(3, 0, {m, n}, context)},
               {IteratorType::Parallel, IteratorType::Parallel, IteratorType::Reduction});
  auto group = createFor(builder, loc, 0, groups);
  Value row = kernel.ofCore(0, groups, group.getInductionVar()), column = kernel.core(1);
  if (columnBlocks > 1)
    column = kernel.ofCore(1, columnBlocks, createFor(builder, loc, 0, columnBlocks).getInductionVar());
  Value scratch = inParts ? kernel.ring(2) : Value();
  Value sums = inParts ? kernel.reserve(scratch) : kernel.reserve(kernel.out());
  {
    OpBuilder::InsertionGuard inner(builder);
    auto steps = createFor(builder, loc, 0, product.steps);
    Value step = steps.getInductionVar();
    Value blockA = kernel.load(a, {row, step}, 0);
    Value blockB = kernel.load(b, {d2m::expand(builder, loc, product.bRow, {row, step})[0], column},
                               product.isShared ? std::optional<int64_t>(1) : std::nullopt);
    const auto constant = [&](int64_t value) -> Value { return arith::ConstantIntOp::create(builder, loc, value, 32); };
    if (inParts) {
      Value first = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, step, createIndex(builder, loc, 0));
      d2m::SetL1AccumulateOp::create(builder, loc,
                                     arith::SelectOp::create(builder, loc, first, constant(0), constant(1)));
    }
    d2m::TileMatmulBlockOp::create(builder, loc, blockA, blockB, sums, product.transposeB);
    kernel.pop(kernel.ring(a));
    kernel.pop(kernel.ring(b));
  }
  if (inParts) {
    d2m::SetL1AccumulateOp::create(builder, loc, arith::ConstantIntOp::create(builder, loc, 0, 32));
    kernel.push(scratch);
    Value whole = kernel.wait(scratch), result = kernel.reserve(kernel.out());
    OpBuilder::InsertionGuard inner(builder);
    Value r = createFor(builder, loc, 0, rows).getInductionVar();
    Value c = createFor(builder, loc, 0, columns).getInductionVar();
    Registers registers(builder, loc);
    registers.set(0, memref::LoadOp::create(builder, loc, whole, ValueRange{r, c}));
    Type tile = cast<ShapedType>(result.getType()).getElementType();
    memref::StoreOp::create(builder, loc, registers.get(0, tile), result, ValueRange{r, c});
  }
  if (inParts)
    kernel.pop(scratch);
  kernel.push(kernel.out());
  if (columnBlocks > 1) // not in the order of the core's part
    d2m::streamOperand(kernel.generic, static_cast<unsigned>(kernel.views.size()), streamedBytes);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Makes each tile of the output of `steps` tiles of the first stream.
template <class Prepare, class Step>
static void createJoined(StreamGeneric &kernel, int64_t steps, Prepare prepare, Step step) {
  OpBuilder &builder = kernel.builder;
  Location loc = kernel.loc;
  MLIRContext *context = builder.getContext();
  auto buffer = *ttmetal::DeviceBuffer::of(kernel.output.getType());
  AffineExpr m = getAffineDimExpr(0, context), n = getAffineDimExpr(1, context), k = getAffineDimExpr(2, context);
  SmallVector<AffineMap> maps(
      kernel.views.size(),
      AffineMap::get(3, 0, {getAffineConstantExpr(0, context), getAffineConstantExpr(0, context)}, context));
  maps.front() = AffineMap::get(3, 0, {m, n * steps + k}, context);
  maps.push_back(AffineMap::get(3, 0, {m, n}, context));
  using ttcore::IteratorType;
  kernel.begin({buffer.shard[0], buffer.shard[1], steps}, maps,
               {IteratorType::Parallel, IteratorType::Parallel, IteratorType::Reduction});
  prepare();
  {
    OpBuilder::InsertionGuard inner(builder);
    Value r = createFor(builder, loc, 0, buffer.shard[0]).getInductionVar();
    Value c = createFor(builder, loc, 0, buffer.shard[1]).getInductionVar();
    Value row = kernel.ofCore(0, buffer.shard[0], r);
    Value column =
        arith::MulIOp::create(builder, loc, kernel.ofCore(1, buffer.shard[1], c), createIndex(builder, loc, steps));
    Value result = kernel.reserve(kernel.out());
    Registers registers(builder, loc);
    step(registers, row, column);
    Value zero = createIndex(builder, loc, 0);
    memref::StoreOp::create(builder, loc, registers.get(0, buffer.element), result, ValueRange{zero, zero});
    kernel.push(kernel.out());
  }
}

static Value firstTile(OpBuilder &builder, Location loc, Value block) {
  Value zero = createIndex(builder, loc, 0);
  return memref::LoadOp::create(builder, loc, block, ValueRange{zero, zero});
}

void tt::createReduction(OpBuilder &builder, Location loc, const Reduction &reduction, Value output) {
  OpBuilder::InsertionGuard guard(builder);
  MLIRContext *context = builder.getContext();
  StreamGeneric kernel(builder, loc, output, {1, 1});
  const size_t input = kernel.add(reduction.input, reducedTiles * reduction.input.buffers);
  AffineExpr zero = getAffineConstantExpr(0, context);
  const size_t scaler =
      kernel.add({reduction.scaler, {1, 1}, {1, 1}, AffineMap::get(4, 0, {zero, zero}, context), 1}, 1);
  Type tile = cast<MemRefType>(reduction.input.buffer.getType()).getElementType();
  Value factor;
  createJoined(
      kernel, reduction.steps,
      [&] {
        Value first = createIndex(builder, loc, 0);
        factor = firstTile(builder, loc, kernel.load(scaler, {first, first}));
      },
      [&](Registers &registers, Value row, Value column) {
        registers.as(tile);
        OpBuilder::InsertionGuard inner(builder);
        Value step = createFor(builder, loc, 0, reduction.steps).getInductionVar();
        Value next =
            firstTile(builder, loc, kernel.load(input, {row, arith::AddIOp::create(builder, loc, column, step)}));
        Value before = registers.get(0, tile);
        if (reduction.join == Join::Max)
          registers.set(0, d2m::TileReduceMaxOp::create(builder, loc, tile, next, factor, before, reduction.dim));
        else
          registers.set(0, d2m::TileReduceSumOp::create(builder, loc, tile, next, factor, before, reduction.dim));
        kernel.pop(kernel.ring(input));
      });
}

void tt::createAccumulation(OpBuilder &builder, Location loc, const Stream &input, int64_t steps, Value output,
                            JoinBody join) {
  OpBuilder::InsertionGuard guard(builder);
  StreamGeneric kernel(builder, loc, output, {1, 1});
  const size_t stream = kernel.add(input, reducedTiles * input.buffers);
  Type tile = cast<MemRefType>(input.buffer.getType()).getElementType();
  createJoined(
      kernel, steps, [] {},
      [&](Registers &registers, Value row, Value column) {
        registers.set(0, firstTile(builder, loc, kernel.load(stream, {row, column})));
        kernel.pop(kernel.ring(stream));
        OpBuilder::InsertionGuard inner(builder);
        Value step = createFor(builder, loc, 1, steps).getInductionVar();
        registers.set(
            1, firstTile(builder, loc, kernel.load(stream, {row, arith::AddIOp::create(builder, loc, column, step)})));
        kernel.pop(kernel.ring(stream));
        Value before = registers.get(0, tile), next = registers.get(1, tile);
        registers.set(0, join(builder, loc, before, next));
      });
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

void tt::createElementwiseFrom(OpBuilder &builder, Location loc, ArrayRef<TileOperand> operands, Value output,
                               TileBody body) {
  if (llvm::none_of(operands, [](const TileOperand &operand) { return operand.isStream; })) {
    SmallVector<Value> inputs;
    for (const TileOperand &operand : operands)
      inputs.push_back(operand.stream.buffer);
    return createElementwise(builder, loc, inputs, output, body);
  }
  OpBuilder::InsertionGuard guard(builder);
  MLIRContext *context = builder.getContext();
  auto buffer = *ttmetal::DeviceBuffer::of(output.getType());
  StreamGeneric kernel(builder, loc, output, {buffer.shard[0], buffer.shard[1]});
  AffineExpr zero = getAffineConstantExpr(0, context);
  SmallVector<AffineMap> maps;
  SmallVector<size_t> numbers(operands.size());
  for (bool streams : {true, false})
    for (auto [number, operand] : llvm::zip_equal(numbers, operands)) {
      if (operand.isStream != streams)
        continue;
      number = streams ? kernel.add(operand.stream, 1) : kernel.addInPlace(operand.stream.buffer);
      SmallVector<AffineExpr> block;
      for (unsigned dim : {0, 1})
        block.push_back(operand.isShared[dim] ? zero : getAffineDimExpr(dim, context));
      maps.push_back(AffineMap::get(2, 0, block, context));
    }
  maps.push_back(AffineMap::getMultiDimIdentityMap(2, context));
  using ttcore::IteratorType;
  kernel.begin({1, 1}, maps, {IteratorType::Parallel, IteratorType::Parallel}, /*f32Registers=*/false);
  SmallVector<Value> blocks;
  for (auto [number, operand] : llvm::zip_equal(numbers, operands)) {
    if (!operand.isStream) {
      blocks.push_back(kernel.wait(kernel.in(number)));
      continue;
    }
    SmallVector<Value> at;
    for (int64_t dim : {0, 1})
      at.push_back(operand.isShared[static_cast<size_t>(dim)] ? createIndex(builder, loc, 0) : kernel.core(dim));
    blocks.push_back(kernel.load(number, at));
  }
  Value room = kernel.reserve(kernel.out());
  {
    OpBuilder::InsertionGuard inner(builder);
    Value r = createFor(builder, loc, 0, buffer.shard[0]).getInductionVar();
    Value c = createFor(builder, loc, 0, buffer.shard[1]).getInductionVar();
    SmallVector<Value> tiles;
    for (auto [block, operand] : llvm::zip_equal(blocks, operands)) {
      SmallVector<Value> at = {r, c};
      for (size_t dim : {0, 1})
        if (operand.isShared[dim])
          at[dim] = createIndex(builder, loc, 0);
      Value tile = memref::LoadOp::create(builder, loc, block, at);
      if (operand.bcast != d2m::TileBcastType::None)
        tile = d2m::TileBcastOp::create(builder, loc, tile.getType(), tile, operand.bcast);
      tiles.push_back(tile);
    }
    memref::StoreOp::create(builder, loc, body(builder, loc, tiles), room, ValueRange{r, c});
  }
  kernel.push(kernel.out());
  for (auto [number, operand] : llvm::zip_equal(numbers, operands))
    kernel.pop(operand.isStream ? kernel.ring(number) : kernel.in(number));
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

void tt::createCopy(OpBuilder &builder, Location loc, Value own, std::pair<int64_t, int64_t> size, Value other,
                    AffineMap map, bool read) {
  OpBuilder::InsertionGuard guard(builder);
  MLIRContext *context = builder.getContext();
  auto mine = *ttmetal::DeviceBuffer::of(own.getType()), remote = *ttmetal::DeviceBuffer::of(other.getType());
  map = simplifyAffineMap(placeMap(remote, context).compose(map));
  const int64_t piece = d2m::contiguous(map, 1, mine.shard[1]);
  std::array<int64_t, 2> grid = {mine.grid[0], mine.grid[1]};
  auto generic = d2m::GenericOp::create(
      builder, loc, TypeRange(), read ? other : own, read ? own : other, ValueRange(),
      ttcore::GridAttr::get(context, grid, AffineMap::get(context), AffineMap::get(context)),
      builder.getI64ArrayAttr({}), builder.getArrayAttr({}), builder.getArrayAttr({}),
      builder.getArrayAttr(d2m::ThreadAttr::get(context, d2m::ThreadType::Datamovement, SymbolRefAttr(), 0)), nullptr,
      1);
  builder.createBlock(&generic.getRegion(0));
  // What counts of a core's part begins at a multiple of the part, and ends with the part or with all.
  const auto ofCore = [&](int64_t dim, int64_t part, int64_t whole) -> std::pair<Value, Value> {
    Value core =
        d2m::CoreIndexOp::create(builder, loc, builder.getIndexType(), builder.getI64IntegerAttr(dim), AffineMapAttr());
    Value first = arith::MulIOp::create(builder, loc, core, createIndex(builder, loc, part));
    Value left = arith::SubIOp::create(builder, loc, createIndex(builder, loc, whole), first);
    Value most = createIndex(builder, loc, part);
    Value fits = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, left, most);
    return {first, arith::SelectOp::create(builder, loc, fits, left, most)};
  };
  auto [firstRow, rows] = ofCore(0, mine.shard[0], size.first);
  auto [firstColumn, columns] = ofCore(1, mine.shard[1], size.second);
  Value zero = createIndex(builder, loc, 0), one = createIndex(builder, loc, 1),
        pieces = createIndex(builder, loc, piece);
  auto loop = createFor(builder, loc, zero, rows, one);
  Value row = loop.getInductionVar();
  const auto transfer = [&](Value column, int64_t count) {
    Value globalRow = arith::AddIOp::create(builder, loc, firstRow, row);
    Value globalColumn = arith::AddIOp::create(builder, loc, firstColumn, column);
    SmallVector<Value> at = d2m::expand(builder, loc, map, {globalRow, globalColumn});
    Value offset = d2m::byteOffset(builder, loc, remote.shard, remote.elementBytes(), at[2], at[3]);
    Value place = d2m::expand(builder, loc, d2m::rowMajor(mine.shard, context), {row, column})[0];
    SmallVector<Value> there = {at[0], at[1], offset};
    if (read)
      d2m::DMAReadOp::create(builder, loc, d2m::MemTxType::get(context, d2m::DMAType::Read), other, there, own, place,
                             count, AffineMapAttr());
    else
      d2m::DMAWriteOp::create(builder, loc, d2m::MemTxType::get(context, d2m::DMAType::Write), own, place, other, there,
                              ValueRange(), ValueRange(), ValueRange(), ValueRange(), count, AffineMapAttr());
  };
  // Whole pieces, and what is left of a row behind them.
  Value left = arith::RemSIOp::create(builder, loc, columns, pieces);
  Value whole = arith::SubIOp::create(builder, loc, columns, left);
  {
    OpBuilder::InsertionGuard inner(builder);
    transfer(createFor(builder, loc, zero, whole, pieces).getInductionVar(), piece);
  }
  if (const int64_t rest = size.second % piece) {
    OpBuilder::InsertionGuard inner(builder);
    transfer(createFor(builder, loc, whole, columns, pieces).getInductionVar(), rest);
  }
  builder.setInsertionPointAfter(loop);
  d2m::waitForAll(builder, loc, read ? d2m::DMAType::Read : d2m::DMAType::Write);
}
