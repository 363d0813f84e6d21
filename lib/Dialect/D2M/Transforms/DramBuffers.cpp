//===- DramBuffers.cpp - generics on buffers in DRAM ----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "DramBuffers.h"

#include "Elementwise.h"

#include "ttmlir/Dialect/D2M/Transforms/Indexing.h"
#include "ttmlir/Dialect/D2M/Transforms/Streaming.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/TTNNMetalLayoutCastOp.h"
#include "ttmlir/Dialect/TTMetal/IR/TTMetal.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::d2m;

static constexpr int64_t tileSize = 32;

static Value createIndex(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

static ttmetal::DeviceBuffer describe(Value buffer) { return *ttmetal::DeviceBuffer::of(buffer.getType()); }

/// The tiles, or elements, of a block of a circular buffer.
static ArrayRef<int64_t> blockShape(Value cb) {
  return cast<ShapedType>(cast<CBType>(cb.getType()).getUnderlying()).getShape();
}

static MemRefType inL1(ArrayRef<int64_t> grid, ArrayRef<int64_t> shard, Type element) {
  return ttmetal::DeviceBuffer{grid, shard, element}.inL1();
}

static int64_t divisorUpTo(int64_t size, int64_t most) {
  int64_t divisor = std::clamp<int64_t>(most, 1, size);
  while (size % divisor)
    --divisor;
  return divisor;
}

/// The loops around an op of a generic's region, outermost first, and their trip counts. Nothing if one has bounds that
/// are not constant.
static std::optional<SmallVector<std::pair<scf::ForOp, int64_t>>> loopsAround(Operation *op) {
  SmallVector<std::pair<scf::ForOp, int64_t>> loops;
  for (Operation *parent = op->getParentOp(); parent && !isa<GenericOp>(parent); parent = parent->getParentOp()) {
    auto loop = dyn_cast<scf::ForOp>(parent);
    APInt from, to, step;
    if (!loop || !matchPattern(loop.getLowerBound(), m_ConstantInt(&from)) ||
        !matchPattern(loop.getUpperBound(), m_ConstantInt(&to)) ||
        !matchPattern(loop.getStep(), m_ConstantInt(&step)) || !from.isZero() || !step.isOne())
      return std::nullopt;
    loops.emplace_back(loop, to.getSExtValue());
  }
  std::reverse(loops.begin(), loops.end());
  return loops;
}

static bool isOutput(GenericOp generic, unsigned operand) { return operand >= generic.getInputs().size(); }

/// The ops of a unified thread that take the next block of an operand: those that wait for it, or push it.
static SmallVector<Operation *> stepsOf(GenericOp generic, unsigned operand) {
  SmallVector<Operation *> steps;
  for (Operation *user : generic.getRegion(0).getArgument(operand).getUsers())
    if (isOutput(generic, operand) ? isa<PushOp>(user) : isa<WaitOp>(user))
      steps.push_back(user);
  return steps;
}

/// Whether a unified thread takes the blocks of an operand in order, each of them once.
static bool takesBlocks(GenericOp generic, unsigned operand) {
  const SmallVector<Operation *> steps = stepsOf(generic, operand);
  auto loops = steps.size() == 1 ? loopsAround(steps.front()) : std::nullopt;
  if (!loops)
    return false;
  const ttmetal::DeviceBuffer buffer = describe(generic->getOperand(operand));
  ArrayRef<int64_t> block = blockShape(generic.getRegion(0).getArgument(operand));
  int64_t runs = 1, blocks = 1;
  for (auto [loop, count] : *loops)
    runs *= count;
  for (auto [size, part] : llvm::zip_equal(buffer.shard, block)) {
    if (size % part)
      return false;
    blocks *= size / part;
  }
  return runs == blocks;
}

/// The loop over rows of a generic that copies its part of one buffer from or to another one.
static scf::ForOp copyLoop(GenericOp generic) {
  scf::ForOp found;
  for (Operation &op : generic.getRegion(0).front())
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (found)
        return {};
      found = loop;
    }
  bool isCopy = found != nullptr;
  generic.getRegion(0).walk([&](Operation *op) {
    if (isa<D2MDialect>(op->getDialect()) && !op->hasTrait<trait::CopiesMemory>() &&
        !isa<CoreIndexOp, MeshPositionOp>(op))
      isCopy = false;
  });
  return isCopy ? found : scf::ForOp();
}

bool d2m::canLieInDram(Value buffer) {
  for (OpOperand &use : buffer.getUses()) {
    if (isa<ToDeviceOp, ToHostOp, ViewLayoutOp, ttir::TTNNMetalLayoutCastOp>(use.getOwner()))
      continue;
    auto generic = dyn_cast<GenericOp>(use.getOwner());
    if (!generic) // within a generic, which has it as an operand, too
      if (use.getOwner()->getParentOfType<GenericOp>())
        continue;
    if (!generic || generic.getNumRegions() != 1)
      return false;
    const unsigned number = use.getOperandNumber();
    if (number >= generic.getInputs().size() + generic.getOutputs().size())
      return false;
    const bool isUnified = generic.threadOf(generic.getRegion(0)).getThreadType() == ThreadType::Unified;
    if (isUnified ? !takesBlocks(generic, number) : !copyLoop(generic))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// Reads smaller blocks of a stream: `factors` times as many in each dimension; `at` is the index among them.
static void splitStream(GenericOp generic, RemoteLoadOp load, ArrayRef<int64_t> factors, ValueRange at) {
  MLIRContext *context = load.getContext();
  Location loc = load.getLoc();
  Value view = load.getMemref();
  auto type = cast<MemRefType>(view.getType());
  std::array<int64_t, 2> blocks, block;
  SmallVector<AffineExpr> numbers, places;
  for (unsigned dim : {0, 1}) {
    blocks[dim] = type.getDimSize(dim) * factors[dim];
    block[dim] = type.getDimSize(dim + 2) / factors[dim];
    AffineExpr number = getAffineDimExpr(dim, context), place = getAffineDimExpr(dim + 2, context);
    numbers.push_back(number.floorDiv(factors[dim]));
    places.push_back(number % factors[dim] * block[dim] + place);
  }
  numbers.append(places);
  OpBuilder builder(generic);
  Value smaller = ViewLayoutOp::create(builder, loc, inL1(blocks, block, type.getElementType()), view,
                                       AffineMap::get(4, 0, numbers, context));
  // The memory of the circular buffer belongs to the generic alone.
  Value ring = generic->getOperand(cast<BlockArgument>(load.getCb()).getArgNumber());
  const ttmetal::DeviceBuffer old = describe(ring);
  const int64_t count = old.shard[0] / type.getDimSize(2);
  ring.setType(inL1(old.grid, {block[0] * count, block[1]}, old.element));
  for (OpOperand &operand : generic->getOpOperands())
    if (operand.get() == view)
      operand.set(smaller);
  builder.setInsertionPoint(load);
  SmallVector<Value> indices;
  for (auto [index, factor, part] : llvm::zip_equal(load.getIndices(), factors, at)) {
    Value first = arith::MulIOp::create(builder, loc, index, createIndex(builder, loc, factor));
    indices.push_back(factor == 1 ? index : arith::AddIOp::create(builder, loc, first, part).getResult());
  }
  load.getMemrefMutable().assign(smaller);
  load.getIndicesMutable().assign(indices);
}

bool d2m::splitBlocks(GenericOp generic, uint64_t blockBytes) {
  std::optional<Elementwise> elementwise = Elementwise::of(generic);
  if (!elementwise)
    return false;
  const SmallVector<int64_t> shard(describe(elementwise->output()).shard);
  uint64_t tileBytes = 0;
  for (Value operand :
       llvm::concat<Value>(SmallVector<Value>(generic.getInputs()), SmallVector<Value>(generic.getOutputs())))
    tileBytes += describe(operand).elementBytes();
  const auto most = std::max<int64_t>(1, static_cast<int64_t>(blockBytes / tileBytes));
  const std::array<int64_t, 2> block = {shard[1] <= most ? divisorUpTo(shard[0], most / shard[1]) : 1,
                                        divisorUpTo(shard[1], most)};
  const std::array<int64_t, 2> parts = {shard[0] / block[0], shard[1] / block[1]};
  if (parts[0] * parts[1] == 1)
    return false;

  Block &body = elementwise->body();
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  Location loc = generic.getLoc();
  auto loop = scf::ForOp::create(builder, loc, createIndex(builder, loc, 0),
                                 createIndex(builder, loc, parts[0] * parts[1]), createIndex(builder, loc, 1));
  Block *inner = loop.getBody();
  inner->getOperations().splice(inner->begin(), body.getOperations(), std::next(loop->getIterator()), body.end());
  builder.setInsertionPointToStart(inner);
  Value number = loop.getInductionVar(), columns = createIndex(builder, loc, parts[1]);
  const SmallVector<Value> at = {arith::DivSIOp::create(builder, loc, number, columns),
                                 arith::RemSIOp::create(builder, loc, number, columns)};
  // A block of one row or column serves all rows or columns.
  for (BlockArgument cb : body.getArguments()) {
    auto type = cast<MemRefType>(cast<CBType>(cb.getType()).getUnderlying());
    SmallVector<int64_t> shape(type.getShape());
    for (size_t dim : {0, 1})
      shape[dim] = shape[dim] == shard[dim] ? block[dim] : shape[dim];
    cb.setType(CBType::get(generic.getContext(),
                           MemRefType::get(shape, type.getElementType(), type.getLayout(), type.getMemorySpace())));
  }
  SmallVector<RemoteLoadOp> loads;
  for (Operation &op : *inner) {
    if (op.hasTrait<trait::AwaitsBlock>())
      op.getResult(0).setType(cast<CBType>(op.getOperand(0).getType()).getUnderlying());
    else if (auto load = dyn_cast<RemoteLoadOp>(op))
      loads.push_back(load);
  }
  builder.setInsertionPoint(elementwise->loops.front());
  for (auto [each, size] : llvm::zip_equal(elementwise->loops, block))
    each.setUpperBound(createIndex(builder, loc, size));
  for (RemoteLoadOp load : loads) {
    ArrayRef<int64_t> shape = cast<MemRefType>(load.getMemref().getType()).getShape();
    SmallVector<int64_t> factors;
    for (size_t dim : {0, 1})
      factors.push_back(shape[dim + 2] == shard[dim] ? parts[dim] : 1);
    if (factors[0] * factors[1] > 1)
      splitStream(generic, load, factors, at);
  }
  return true;
}

/// Rows of tiles are converted in parts, in which both operands are read or written.
static bool splitRows(GenericOp generic, uint64_t blockBytes) {
  Region &region = generic.getRegion(0);
  Operation *convert = nullptr;
  region.walk([&](Operation *op) {
    if (op->hasTrait<trait::ConvertsTiles>())
      convert = op;
  });
  if (!convert || generic.getInputs().size() != 1)
    return false;
  const unsigned tiled = isa<TileTilizeBlockOp>(convert) ? 1 : 0;
  ArrayRef<int64_t> block = blockShape(region.getArgument(tiled));
  const uint64_t tileBytes = 2 * describe(generic->getOperand(tiled)).elementBytes();
  const int64_t part = divisorUpTo(block[1], static_cast<int64_t>(blockBytes / tileBytes));
  const int64_t parts = block[1] / part;
  if (parts == 1)
    return false;
  auto rows = cast<scf::ForOp>(convert->getParentOp());
  OpBuilder builder = OpBuilder::atBlockBegin(rows.getBody());
  Location loc = convert->getLoc();
  auto loop = scf::ForOp::create(builder, loc, createIndex(builder, loc, 0), createIndex(builder, loc, parts),
                                 createIndex(builder, loc, 1));
  Block *outer = rows.getBody(), *inner = loop.getBody();
  inner->getOperations().splice(inner->begin(), outer->getOperations(), std::next(loop->getIterator()),
                                std::prev(outer->end()));
  for (BlockArgument cb : region.getArguments()) {
    auto type = cast<MemRefType>(cast<CBType>(cb.getType()).getUnderlying());
    const std::array<int64_t, 2> shape = {type.getDimSize(0), type.getDimSize(1) / parts};
    cb.setType(CBType::get(generic.getContext(),
                           MemRefType::get(shape, type.getElementType(), type.getLayout(), type.getMemorySpace())));
  }
  for (Operation &op : *inner)
    if (op.hasTrait<trait::AwaitsBlock>())
      op.getResult(0).setType(cast<CBType>(op.getOperand(0).getType()).getUnderlying());
  return true;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

void d2m::streamOperand(GenericOp generic, unsigned operand, uint64_t blockBytes, bool columnsFirst) {
  MLIRContext *context = generic.getContext();
  Location loc = generic.getLoc();
  Value source = generic->getOperand(operand);
  const ttmetal::DeviceBuffer buffer = describe(source);
  BlockArgument cb = generic.getRegion(0).getArgument(operand);
  const SmallVector<int64_t> block(blockShape(cb));
  const std::array<int64_t, 2> parts = {buffer.shard[0] / block[0], buffer.shard[1] / block[1]};
  const uint64_t bytes = buffer.elementBytes() * static_cast<uint64_t>(block[0] * block[1]);
  const int64_t count = parts[0] * parts[1] > 1 && bytes <= blockBytes ? 2 : 1;

  OpBuilder builder(generic);
  SmallVector<AffineExpr> numbers, places;
  SmallVector<int64_t> blocks;
  for (unsigned dim : {0, 1}) {
    AffineExpr number = getAffineDimExpr(dim, context), place = getAffineDimExpr(dim + 2, context);
    numbers.push_back(number.floorDiv(parts[dim]));
    places.push_back(number % parts[dim] * block[dim] + place);
    blocks.push_back(buffer.grid[dim] * parts[dim]);
  }
  numbers.append(places);
  Value view = ViewLayoutOp::create(builder, loc, inL1(blocks, block, buffer.element), source,
                                    AffineMap::get(4, 0, numbers, context));
  Value ring = memref::AllocOp::create(
      builder, loc, inL1(generic.getGrid().getShape(), {block[0] * count, block[1]}, buffer.element));
  SmallVector<Operation *> steps = stepsOf(generic, operand);
  generic->setOperand(operand, view);
  generic.getAdditionalArgsMutable().append(ring);
  BlockArgument own = generic.getRegion(0).addArgument(cb.getType(), cb.getLoc());
  cb.replaceAllUsesWith(own);

  for (Operation *step : steps) {
    builder.setInsertionPoint(step);
    Value number = createIndex(builder, loc, 0);
    const auto loops = *loopsAround(step);
    for (auto [loop, size] : loops) {
      number = arith::MulIOp::create(builder, loc, number, createIndex(builder, loc, size));
      number = arith::AddIOp::create(builder, loc, number, scf::ForOp(loop).getInductionVar());
    }
    Value inner = createIndex(builder, loc, parts[columnsFirst ? 0 : 1]);
    Value blockRow = arith::DivSIOp::create(builder, loc, number, inner);
    Value blockColumn = arith::RemSIOp::create(builder, loc, number, inner);
    if (columnsFirst)
      std::swap(blockRow, blockColumn);
    SmallVector<Value> at;
    for (int64_t dim : {0, 1}) {
      Value core =
          CoreIndexOp::create(builder, loc, builder.getIndexType(), builder.getI64IntegerAttr(dim), AffineMapAttr());
      Value first =
          arith::MulIOp::create(builder, loc, core, createIndex(builder, loc, parts[static_cast<size_t>(dim)]));
      at.push_back(arith::AddIOp::create(builder, loc, first, dim == 0 ? blockRow : blockColumn));
    }
    if (isa<WaitOp>(step)) {
      RemoteLoadOp::create(builder, loc, Type(), Value(), view, at, own, ValueRange(), ValueRange(), ValueRange());
    } else {
      builder.setInsertionPointAfter(step);
      RemoteStoreOp::create(builder, loc, Type(), view, at, Value(), own, ValueRange(), ValueRange(), Value(),
                            ValueRange());
    }
  }
}

/// The address of an element of this core's part of a buffer: the core's row and column, and the byte offset into its
/// part.
static SmallVector<Value> placeHere(OpBuilder &builder, Location loc, const ttmetal::DeviceBuffer &buffer,
                                    Value element) {
  SmallVector<Value> at;
  for (int64_t dim : {0, 1})
    at.push_back(
        CoreIndexOp::create(builder, loc, builder.getIndexType(), builder.getI64IntegerAttr(dim), AffineMapAttr()));
  at.push_back(arith::MulIOp::create(builder, loc, element,
                                     createIndex(builder, loc, static_cast<int64_t>(buffer.elementBytes()))));
  return at;
}

static void createRead(OpBuilder &builder, Location loc, Value from, ValueRange at, Value to, Value place,
                       int64_t count) {
  DMAReadOp::create(builder, loc, MemTxType::get(builder.getContext(), DMAType::Read), from, at, to, place, count,
                    AffineMapAttr());
}
static void createWrite(OpBuilder &builder, Location loc, Value from, Value place, Value to, ValueRange at,
                        int64_t count, ValueRange chip = {}) {
  DMAWriteOp::create(builder, loc, MemTxType::get(builder.getContext(), DMAType::Write), from, place, to, at,
                     ValueRange(), ValueRange(), chip, ValueRange(), count, AffineMapAttr());
}

/// Replaces a transfer between this core's part of a buffer in DRAM and that of another core by two transfers through
/// `piece`, which has room for `most` elements.
static void copyInPieces(Operation *transfer, Value own, Value piece, int64_t most) {
  OpBuilder builder(transfer);
  Location loc = transfer->getLoc();
  const ttmetal::DeviceBuffer buffer = describe(own);
  auto read = dyn_cast<DMAReadOp>(transfer);
  auto write = dyn_cast<DMAWriteOp>(transfer);
  Value other = read ? read.getSrc() : write.getDst(), zero = createIndex(builder, loc, 0);
  const SmallVector<Value> there(read ? read.getSrcIndices() : write.getDstIndices());
  Value here = read ? read.getDstIndices()[0] : write.getSrcIndices()[0];
  const auto count = static_cast<int64_t>(read ? read.getNumElems() : write.getNumElems());
  const auto copy = [&](Value first, int64_t elements) {
    SmallVector<Value> from(there);
    from[2] = arith::AddIOp::create(
        builder, loc, there[2],
        arith::MulIOp::create(builder, loc, first,
                              createIndex(builder, loc, static_cast<int64_t>(buffer.elementBytes()))));
    SmallVector<Value> to = placeHere(builder, loc, buffer, arith::AddIOp::create(builder, loc, here, first));
    createRead(builder, loc, read ? other : own, read ? from : to, piece, zero, elements);
    waitForAll(builder, loc, DMAType::Read);
    createWrite(builder, loc, piece, zero, read ? own : other, read ? to : from, elements,
                write ? ValueRange(write.getStartDevice()) : ValueRange());
    waitForAll(builder, loc, DMAType::Write);
  };
  const int64_t whole = count / most * most;
  if (whole) {
    OpBuilder::InsertionGuard guard(builder);
    auto loop =
        scf::ForOp::create(builder, loc, zero, createIndex(builder, loc, whole), createIndex(builder, loc, most));
    builder.setInsertionPointToStart(loop.getBody());
    copy(loop.getInductionVar(), most);
  }
  if (whole < count)
    copy(createIndex(builder, loc, whole), count - whole);
  transfer->erase();
}

/// Copies rows of a core's part through a row in L1, or piece by piece if rows are longer than `rowBytes`.
static void copyThroughRow(GenericOp generic, Value own, uint64_t rowBytes) {
  scf::ForOp rows = copyLoop(generic);
  SmallVector<Operation *> transfers;
  bool reads = false;
  generic.getRegion(0).walk([&](Operation *op) {
    if (auto read = dyn_cast<DMAReadOp>(op); read && read.getDst() == own) {
      reads = true;
      transfers.push_back(op);
    } else if (auto write = dyn_cast<DMAWriteOp>(op); write && write.getSrc() == own) {
      transfers.push_back(op);
    }
  });
  if (transfers.empty()) // what is copied from or to this buffer is that of other cores
    return;
  Location loc = generic.getLoc();
  const ttmetal::DeviceBuffer buffer = describe(own);
  const int64_t columns = buffer.shard[1];
  const auto most = static_cast<int64_t>(rowBytes / buffer.elementBytes());
  // Buffers are whole tiles; elements of this one are numbered.
  const int64_t width = llvm::divideCeil(llvm::divideCeil(std::min(columns, most), tileSize), tileSize) * tileSize;
  OpBuilder builder(generic);
  Value row =
      memref::AllocOp::create(builder, loc, inL1(generic.getGrid().getShape(), {tileSize, width}, buffer.element));
  generic.getAdditionalArgsMutable().append(row);
  if (columns > most) {
    for (Operation *transfer : transfers)
      copyInPieces(transfer, own, row, most);
    return;
  }
  for (Operation *transfer : transfers) {
    builder.setInsertionPoint(transfer);
    MutableOperandRange place =
        reads ? cast<DMAReadOp>(transfer).getDstIndicesMutable() : cast<DMAWriteOp>(transfer).getSrcIndicesMutable();
    Value column = arith::RemSIOp::create(builder, loc, place[0].get(), createIndex(builder, loc, columns));
    place.assign(column);
    transfer->replaceUsesOfWith(own, row);
  }
  const auto place = [&] {
    return placeHere(builder, loc, buffer,
                     arith::MulIOp::create(builder, loc, rows.getInductionVar(), createIndex(builder, loc, columns)));
  };
  if (reads) {
    builder.setInsertionPoint(rows.getBody()->getTerminator());
    waitForAll(builder, loc, DMAType::Read);
    createWrite(builder, loc, row, createIndex(builder, loc, 0), own, place(), columns);
  } else {
    builder.setInsertionPointToStart(rows.getBody());
    createRead(builder, loc, own, place(), row, createIndex(builder, loc, 0), columns);
    waitForAll(builder, loc, DMAType::Read);
    builder.setInsertionPoint(rows.getBody()->getTerminator());
  }
  waitForAll(builder, loc, DMAType::Write);
}

void d2m::moveToDram(memref::AllocOp alloc, uint64_t blockBytes) {
  Value buffer = alloc.getResult();
  auto type = cast<MemRefType>(buffer.getType());
  buffer.setType(MemRefType::get(type.getShape(), type.getElementType(), type.getLayout(),
                                 ttcore::MemorySpaceAttr::get(type.getContext(), ttcore::MemorySpace::DeviceDRAM)));
  streamBuffer(buffer, blockBytes);
}

void d2m::streamBuffer(Value buffer, uint64_t blockBytes) {
  const auto genericsOf = [](Value value) {
    llvm::SetVector<GenericOp> generics;
    for (Operation *user : value.getUsers())
      if (auto generic = dyn_cast<GenericOp>(user))
        generics.insert(generic);
    return generics;
  };
  for (GenericOp generic : genericsOf(buffer)) {
    if (generic.threadOf(generic.getRegion(0)).getThreadType() != ThreadType::Unified) {
      copyThroughRow(generic, buffer, blockBytes);
      continue;
    }
    splitBlocks(generic, blockBytes);
    const bool takesParts = splitRows(generic, blockBytes);
    const size_t operands = generic.getInputs().size() + generic.getOutputs().size();
    for (unsigned number = 0; number < operands; ++number)
      if (generic->getOperand(number) == buffer ||
          (takesParts && !generic->getOperand(number).getDefiningOp<ViewLayoutOp>()))
        streamOperand(generic, number, blockBytes);
  }
  // Streams of other cores' parts, too.
  for (Operation *user : llvm::to_vector(buffer.getUsers()))
    if (auto view = dyn_cast<ViewLayoutOp>(user))
      for (GenericOp generic : genericsOf(view))
        splitBlocks(generic, blockBytes);
}

void d2m::streamAll(GenericOp generic, uint64_t blockBytes) {
  if (generic.getNumRegions() != 1 || generic.threadOf(generic.getRegion(0)).getThreadType() != ThreadType::Unified)
    return;
  const size_t operands = generic.getInputs().size() + generic.getOutputs().size();
  for (unsigned number = 0; number < operands; ++number)
    if (!generic->getOperand(number).getDefiningOp<ViewLayoutOp>() && takesBlocks(generic, number))
      streamOperand(generic, number, blockBytes);
}
