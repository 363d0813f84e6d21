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
#include "llvm/Support/MathExtras.h"

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
  return ttmetal::DeviceBuffer{grid, shard, element}.inL1();
}

/// (row, column) of elements or tiles of a buffer -> (core row, core column, row, column).
static AffineMap placeMap(const ttmetal::DeviceBuffer &buffer, MLIRContext *context) {
  AffineExpr row = getAffineDimExpr(0, context), column = getAffineDimExpr(1, context);
  const int64_t rows = buffer.shard[0], columns = buffer.shard[1];
  return AffineMap::get(2, 0, {row.floorDiv(rows), column.floorDiv(columns), row % rows, column % columns}, context);
}

/// The buffer as the blocks that are read from it. Padding of blocks may be beyond the buffer: any of its tiles is
/// valid there.
static Value createView(OpBuilder &builder, Location loc, const Stream &stream) {
  auto buffer = *ttmetal::DeviceBuffer::of(stream.buffer.getType());
  SmallVector<AffineExpr> places(stream.map.getResults());
  const int64_t sizes[] = {stream.blocks[0], stream.blocks[1], stream.block[0], stream.block[1]};
  for (size_t dim : {0, 1})
    if (const int64_t size = buffer.grid[dim] * buffer.shard[dim];
        d2m::greatestOf(places[dim], sizes).value_or(size) >= size)
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

/// The largest block, in bytes, whose circular buffer has a second block.
static constexpr uint64_t streamedBytes = 64 << 10;

/// The number of tiles of a buffer of a reduction's stream.
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
  /// An input whose tiles have the output's placement; added after all streams.
  size_t addInPlace(Value buffer) {
    views.push_back(buffer);
    return views.size() - 1;
  }
  /// A buffer for the computation alone.
  void addScratch(std::array<int64_t, 2> block, Type element, int64_t count = 1) {
    rings.push_back(createRing(builder, loc, grid, block, count, element));
    ringBlocks.push_back(blockType(block, element));
  }

  /// Begins the thread; leaves the builder inside it.
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
  /// The circular buffer of a stream or, after those, of the scratch space.
  Value ring(size_t number) {
    return generic.getRegion(0).getArgument(static_cast<unsigned>(views.size() + 1 + number));
  }
  /// Loads a block of a stream and waits for it. Cores with equal coordinates in dimension `sharedAlong` load the same
  /// block.
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
/// The registers of a section, at whose beginning the builder is. A register can be used as tiles of any type.
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
  const bool inParts = product.steps > 1, inRegisters = inParts && !product.accumulatesInL1;
  if (inParts)
    kernel.addScratch({rows, columns}, partial, inRegisters ? 2 : 1);
  if (inRegisters)
    kernel.addScratch({rows, columns}, partial);

  // The nest is (row block, column block, step).
  AffineExpr m = getAffineDimExpr(0, context), n = getAffineDimExpr(1, context), k = getAffineDimExpr(2, context);
  AffineMap bRow = product.bRow.replaceDimsAndSymbols({m, k}, {}, 3, 0);
  using ttcore::IteratorType;
  kernel.begin({groups, columnBlocks, product.steps},
               {AffineMap::get(3, 0, {m, k}, context), AffineMap::get(3, 0, {bRow.getResult(0), n}, context),
                AffineMap::get(3, 0, {m, n}, context)},
               {IteratorType::Parallel, IteratorType::Parallel, IteratorType::Reduction});
  Value row, column = kernel.core(1);
  const auto overColumns = [&] {
    if (columnBlocks > 1)
      column = kernel.ofCore(1, columnBlocks, createFor(builder, loc, 0, columnBlocks).getInductionVar());
  };
  if (product.columnsFirst)
    overColumns();
  row = kernel.ofCore(0, groups, createFor(builder, loc, 0, groups).getInductionVar());
  if (!product.columnsFirst)
    overColumns();
  Value scratch = inParts ? kernel.ring(2) : Value(), partialRing = inRegisters ? kernel.ring(3) : Value();
  // Stores tiles that are made of those at the same place of some blocks.
  const auto forEachTile = [&](ArrayRef<Value> blocks, Value result, auto make) {
    OpBuilder::InsertionGuard inner(builder);
    Value r = createFor(builder, loc, 0, rows).getInductionVar();
    Value c = createFor(builder, loc, 0, columns).getInductionVar();
    Registers registers(builder, loc);
    Type tile = cast<ShapedType>(result.getType()).getElementType();
    for (auto [slot, block] : llvm::enumerate(blocks))
      registers.set(static_cast<int64_t>(slot), memref::LoadOp::create(builder, loc, block, ValueRange{r, c}));
    make(registers);
    memref::StoreOp::create(builder, loc, registers.get(0, tile), result, ValueRange{r, c});
  };
  Value sums;
  if (inRegisters) {
    forEachTile({}, kernel.reserve(scratch), [&](Registers &registers) {
      Value zero = arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
      registers.as(partial);
      registers.set(0, d2m::TileFillOp::create(builder, loc, partial, zero));
    });
    kernel.push(scratch);
  } else {
    sums = kernel.reserve(inParts ? scratch : kernel.out());
  }
  {
    OpBuilder::InsertionGuard inner(builder);
    auto steps = createFor(builder, loc, 0, product.steps);
    Value step = steps.getInductionVar();
    Value blockA = kernel.load(a, {row, step}, 0);
    Value blockB = kernel.load(b, {d2m::expand(builder, loc, product.bRow, {row, step})[0], column},
                               product.isShared ? std::optional<int64_t>(1) : std::nullopt);
    const auto constant = [&](int64_t value) -> Value { return arith::ConstantIntOp::create(builder, loc, value, 32); };
    if (inRegisters) {
      sums = kernel.reserve(partialRing);
    } else if (inParts) {
      Value first = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, step, createIndex(builder, loc, 0));
      d2m::SetL1AccumulateOp::create(builder, loc,
                                     arith::SelectOp::create(builder, loc, first, constant(0), constant(1)));
    }
    d2m::TileMatmulBlockOp::create(builder, loc, blockA, blockB, sums, product.transposeB);
    kernel.pop(kernel.ring(a));
    kernel.pop(kernel.ring(b));
    if (inRegisters) {
      kernel.push(partialRing);
      Value before = kernel.wait(scratch), next = kernel.wait(partialRing);
      forEachTile({before, next}, kernel.reserve(scratch), [&](Registers &registers) {
        registers.set(
            0, d2m::TileAddOp::create(builder, loc, partial, registers.get(0, partial), registers.get(1, partial)));
      });
      kernel.push(scratch);
      kernel.pop(scratch);
      kernel.pop(partialRing);
    }
  }
  if (inParts) {
    if (!inRegisters) {
      d2m::SetL1AccumulateOp::create(builder, loc, arith::ConstantIntOp::create(builder, loc, 0, 32));
      kernel.push(scratch);
    }
    Value whole = kernel.wait(scratch);
    forEachTile({whole}, kernel.reserve(kernel.out()), [](Registers &) {});
    kernel.pop(scratch);
  }
  kernel.push(kernel.out());
  if (columnBlocks > 1) // not in the order of the core's part
    d2m::streamOperand(kernel.generic, static_cast<unsigned>(kernel.views.size()), streamedBytes, product.columnsFirst);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Computes each tile of the output from `steps` tiles of the first stream.
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

/// Returns table[at]: an affine function of the indices where one gives all entries, otherwise selected one by one.
/// `sizes` are those of the row-major table.
static Value lookUp(OpBuilder &builder, Location loc, ArrayRef<int64_t> table, ArrayRef<int64_t> sizes, ValueRange at) {
  MLIRContext *context = builder.getContext();
  SmallVector<int64_t> strides(sizes.size(), 1);
  for (size_t dim = sizes.size() - 1; dim-- > 0;)
    strides[dim] = strides[dim + 1] * sizes[dim + 1];
  AffineExpr value = getAffineConstantExpr(table.front(), context);
  SmallVector<int64_t> steps;
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    steps.push_back(size > 1 ? table[static_cast<size_t>(strides[dim])] - table.front() : 0);
    value = value + getAffineDimExpr(static_cast<unsigned>(dim), context) * steps.back();
  }
  bool isAffine = llvm::all_of(steps, [](int64_t step) { return step >= 0; });
  for (auto [number, entry] : llvm::enumerate(table)) {
    int64_t expected = table.front();
    for (auto [step, stride, size] : llvm::zip_equal(steps, strides, sizes))
      expected += step * (static_cast<int64_t>(number) / stride % size);
    isAffine &= entry == expected;
  }
  if (isAffine)
    return d2m::expand(builder, loc, AffineMap::get(static_cast<unsigned>(sizes.size()), 0, value), at)[0];
  Value number = d2m::expand(builder, loc, d2m::rowMajor(sizes, context), at)[0];
  Value found = createIndex(builder, loc, table.front());
  for (auto [place, entry] : llvm::enumerate(table))
    if (entry != table.front()) {
      Value isHere = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, number,
                                           createIndex(builder, loc, static_cast<int64_t>(place)));
      found = arith::SelectOp::create(builder, loc, isHere, createIndex(builder, loc, entry), found);
    }
  return found;
}

namespace {
/// A kernel that copies, row by row.
class CopyKernel {
public:
  CopyKernel(OpBuilder &builder, Location loc, const Copy &copy)
      : builder(builder), loc(loc), copy(copy), mine(*ttmetal::DeviceBuffer::of(copy.own.getType())),
        remote(*ttmetal::DeviceBuffer::of(copy.other.getType())), grid{mine.grid[0], mine.grid[1]} {}

  void create() {
    MLIRContext *context = builder.getContext();
    map = simplifyAffineMap(placeMap(remote, context).compose(copy.map));
    SmallVector<Value> inputs = {copy.read ? copy.other : copy.own}, others;
    if (copy.index) {
      inputs.push_back(copy.index);
      others.push_back(indices = createIndexRow());
    }
    auto generic = d2m::GenericOp::create(
        builder, loc, TypeRange(), inputs, copy.read ? copy.own : copy.other, others,
        ttcore::GridAttr::get(context, grid, AffineMap::get(context), AffineMap::get(context)),
        builder.getI64ArrayAttr({}), builder.getArrayAttr({}), builder.getArrayAttr({}),
        builder.getArrayAttr(d2m::ThreadAttr::get(context, d2m::ThreadType::Datamovement, SymbolRefAttr(), 0)), nullptr,
        1);
    builder.createBlock(&generic.getRegion(0));
    std::tie(firstRow, rows) = ofCore(0, mine.shard[0], copy.size.first);
    std::tie(firstColumn, columns) = ofCore(1, mine.shard[1], copy.size.second);
    if (copy.exchange)
      locateChip(*copy.exchange);
    auto loop = createFor(builder, loc, index(0), rows, index(1));
    row = loop.getInductionVar();
    if (copy.index)
      readIndices();
    if (copy.exchange && !copy.read && !copy.exchange->target)
      there = chipOf(createFor(builder, loc, index(0), targets, index(1)).getInductionVar());
    copyRow();
    builder.setInsertionPointAfter(loop);
    d2m::waitForAll(builder, loc, copy.read ? d2m::DMAType::Read : d2m::DMAType::Write);
  }

private:
  Value index(int64_t value) { return createIndex(builder, loc, value); }
  Value add(Value a, Value b) { return arith::AddIOp::create(builder, loc, a, b); }
  Value coreIndex(int64_t dim) {
    return d2m::CoreIndexOp::create(builder, loc, builder.getIndexType(), builder.getI64IntegerAttr(dim),
                                    AffineMapAttr());
  }

  /// A core's part begins at a multiple of the part, and ends with the part or with all elements.
  std::pair<Value, Value> ofCore(int64_t dim, int64_t part, int64_t whole) {
    Value first = arith::MulIOp::create(builder, loc, coreIndex(dim), index(part));
    Value left = arith::SubIOp::create(builder, loc, index(whole), first);
    Value most = index(part);
    Value fits = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, left, most);
    return {first, arith::SelectOp::create(builder, loc, fits, left, most)};
  }

  /// Sets the position of this chip in its group, and the number of chips that it sends to.
  void locateChip(const Exchange &exchange) {
    for (int64_t dim : {0, 1})
      chip.push_back(d2m::MeshPositionOp::create(builder, loc, builder.getIndexType(), builder.getI64IntegerAttr(dim)));
    position = lookUp(builder, loc, exchange.positions, exchange.mesh, chip);
    if (copy.read)
      return;
    SmallVector<int64_t> counts;
    for (const auto &each : exchange.targets) {
      counts.push_back(static_cast<int64_t>(each.size()));
      mostTargets = std::max(mostTargets, counts.back());
    }
    targets = lookUp(builder, loc, counts, exchange.mesh, chip);
    if (exchange.target) { // chips without targets send nothing
      Value none = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, targets, index(0));
      rows = arith::SelectOp::create(builder, loc, none, index(0), rows);
    }
  }

  /// Returns the row and the column in the mesh of one of the chips that this one sends to.
  SmallVector<Value> chipOf(Value number) {
    const Exchange &exchange = *copy.exchange;
    SmallVector<int64_t> table, sizes(exchange.mesh.begin(), exchange.mesh.end());
    for (const auto &each : exchange.targets)
      for (int64_t i = 0; i < mostTargets; ++i)
        table.push_back(i < static_cast<int64_t>(each.size()) ? each[static_cast<size_t>(i)] : 0);
    sizes.push_back(mostTargets);
    SmallVector<Value> at(chip);
    at.push_back(number);
    Value device = lookUp(builder, loc, table, sizes, at), width = index(exchange.mesh[1]);
    return {arith::DivSIOp::create(builder, loc, device, width), arith::RemSIOp::create(builder, loc, device, width)};
  }

  /// Room in L1 for the indices of a row: one, or one for each element.
  Value createIndexRow() {
    const int64_t count = copy.indexPerElement ? mine.shard[1] : 1;
    indexWidth = llvm::alignTo(llvm::divideCeil(count, tileSize), tileSize);
    return memref::AllocOp::create(builder, loc, deviceType(grid, {tileSize, indexWidth}, builder.getI32Type()));
  }
  void readIndices() {
    MLIRContext *context = builder.getContext();
    auto from = *ttmetal::DeviceBuffer::of(copy.index.getType());
    const int64_t count = copy.indexPerElement ? mine.shard[1] : 1;
    SmallVector<Value> at = d2m::expand(builder, loc, placeMap(from, context),
                                        {add(firstRow, row), copy.indexPerElement ? firstColumn : index(0)});
    const SmallVector<Value> address = {at[0], at[1],
                                        d2m::byteOffset(builder, loc, from.shard, from.elementBytes(), at[2], at[3])};
    d2m::DMAReadOp::create(builder, loc, d2m::MemTxType::get(context, d2m::DMAType::Read), copy.index, address, indices,
                           index(0), count, AffineMapAttr());
    d2m::waitForAll(builder, loc, d2m::DMAType::Read);
  }
  Value indexAt(Value column) {
    Value place = copy.indexPerElement ? column : index(0), width = index(indexWidth);
    SmallVector<Value> at = {coreIndex(0), coreIndex(1), arith::DivSIOp::create(builder, loc, place, width),
                             arith::RemSIOp::create(builder, loc, place, width)};
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                      memref::LoadOp::create(builder, loc, indices, at));
  }

  void copyRow() {
    SmallVector<AffineExpr> places(map.getResults());
    if (copy.exchange && copy.exchange->target)
      places.insert(places.begin(), copy.exchange->target.getResult(0));
    const int64_t piece =
        copy.indexPerElement
            ? 1
            : d2m::contiguous(AffineMap::get(map.getNumDims(), 0, places, builder.getContext()), 1, mine.shard[1]);
    // Whole pieces, and what is left of a row behind them.
    Value zero = index(0), pieces = index(piece);
    Value left = arith::RemSIOp::create(builder, loc, columns, pieces);
    Value whole = arith::SubIOp::create(builder, loc, columns, left);
    {
      OpBuilder::InsertionGuard inner(builder);
      transfer(createFor(builder, loc, zero, whole, pieces).getInductionVar(), piece);
    }
    if (const int64_t rest = copy.size.second % piece) {
      OpBuilder::InsertionGuard inner(builder);
      transfer(createFor(builder, loc, whole, columns, pieces).getInductionVar(), rest);
    }
  }

  void transfer(Value column, int64_t count) {
    MLIRContext *context = builder.getContext();
    SmallVector<Value> from = {add(firstRow, row), add(firstColumn, column)};
    if (copy.index)
      from.push_back(indexAt(column));
    if (copy.exchange)
      from.push_back(position);
    SmallVector<Value> chipThere(there);
    if (copy.exchange && copy.exchange->target)
      chipThere = chipOf(d2m::expand(builder, loc, copy.exchange->target, from)[0]);
    SmallVector<Value> at = d2m::expand(builder, loc, map, from);
    Value offset = d2m::byteOffset(builder, loc, remote.shard, remote.elementBytes(), at[2], at[3]);
    Value place = d2m::expand(builder, loc, d2m::rowMajor(mine.shard, context), {row, column})[0];
    SmallVector<Value> address = {at[0], at[1], offset};
    if (copy.read)
      d2m::DMAReadOp::create(builder, loc, d2m::MemTxType::get(context, d2m::DMAType::Read), copy.other, address,
                             copy.own, place, count, AffineMapAttr());
    else
      d2m::DMAWriteOp::create(builder, loc, d2m::MemTxType::get(context, d2m::DMAType::Write), copy.own, place,
                              copy.other, address, ValueRange(), ValueRange(), chipThere, ValueRange(), count,
                              AffineMapAttr());
  }

  static constexpr int64_t tileSize = 32;
  OpBuilder &builder;
  Location loc;
  const Copy &copy;
  const ttmetal::DeviceBuffer mine, remote;
  const std::array<int64_t, 2> grid;
  AffineMap map; // row, column, and an index or a position -> core row, core column, row, column
  Value firstRow, rows, firstColumn, columns, row;
  // Of indices.
  Value indices;
  int64_t indexWidth = 0;
  // Of an exchange between chips.
  SmallVector<Value> chip;
  SmallVector<Value> there; // the one that is sent to
  Value position, targets;
  int64_t mostTargets = 0;
};
} // namespace

void tt::createCopy(OpBuilder &builder, Location loc, const Copy &copy) {
  OpBuilder::InsertionGuard guard(builder);
  CopyKernel(builder, loc, copy).create();
}
