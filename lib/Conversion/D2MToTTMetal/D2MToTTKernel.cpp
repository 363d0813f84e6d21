//===- D2MToTTKernel.cpp - lowering of threads to kernels -----------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Conversion/D2MToTTMetal/Passes.h"
#include "ttmlir/Dialect/D2M/Transforms/Passes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::tt {
#define GEN_PASS_DEF_CONVERTD2MTOTTKERNEL
#include "ttmlir/Conversion/D2MToTTMetal/Passes.h.inc"
} // namespace mlir::tt

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::d2m;

/// Returns the function that a kernel calls for an op on tiles, or empty.
static StringRef kernelOp(StringRef tileOp) {
  static const llvm::StringMap<StringLiteral> rows = {
#define TT_TILE_OP(ttir, tile, kernel, row, ins) {"d2m.tile_" #tile, "ttkernel." #kernel},
#include "ttmlir/Target/TTMetal/TileOps.def"
  };
  auto found = rows.find(tileOp);
  return found == rows.end() ? StringRef() : StringRef(found->second);
}

/// Whether a value is a memref of registers: of !ttcore.tile in dst.
static bool isRegisters(Value memref) { return liesIn(memref.getType(), ttcore::MemorySpace::RegisterDst); }

static constexpr int64_t tileElements = 1024;

/// The number of f32 tiles that fit into the registers while the packer has the other half.
static constexpr int64_t registerCount = 4;

static int64_t bytesOf(Type element) {
  if (auto tile = dyn_cast<ttcore::TileType>(element))
    return static_cast<int64_t>(tile.getSizeBytes());
  return static_cast<int64_t>(ttcore::tileBytes(*ttcore::elementTypeToDataType(element))) / tileElements;
}

/// The largest divisor of `size` that is at most `most`.
static int64_t divisorUpTo(int64_t size, int64_t most) {
  int64_t divisor = std::min(size, most);
  while (size % divisor)
    --divisor;
  return divisor;
}

namespace {
class KernelConverter {
public:
  KernelConverter(func::FuncOp function, int64_t subblockTiles, bool tileByTile)
      : function(function), builder(function.getContext()), subblockTiles(subblockTiles), tileByTile(tileByTile) {}

  LogicalResult run() {
    SmallVector<Operation *> ops;
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op != function)
        ops.push_back(op);
    });
    for (Operation *op : ops)
      if (failed(convert(op)))
        return failure();
    initialise();
    function->removeAttr(tensorAccessorsName);
    // Users come after what they use.
    for (Operation *op : llvm::reverse(ops))
      if (isa_and_nonnull<memref::MemRefDialect, D2MDialect>(op->getDialect()))
        op->erase();
    return success();
  }

private:
  LogicalResult convert(Operation *op) {
    builder.setInsertionPoint(op);
    Location loc = op->getLoc();
    if (StringRef name = kernelOp(op->getName().getStringRef()); !name.empty())
      return convertTileOp(op, name);
    return TypeSwitch<Operation *, LogicalResult>(op)
        .Case([&](GetCBOp get) {
          auto block = cast<CBType>(get.getType()).getUnderlying();
          const bool isTiled = isa<ttcore::TileType>(block.getElementType());
          if (!ttmetal::isCountable(block) || (!isTiled && block.getNumElements() % tileElements))
            return LogicalResult(op->emitOpError() << "has blocks of " << block << "; expected whole tiles");
          auto type = ttkernel::CBType::get(op->getContext(), block.getNumElements() * (isTiled ? tileElements : 1),
                                            block.getElementType());
          cbs[get.getResult()] = ttkernel::GetCompileTimeArgValOp::create(builder, loc, type,
                                                                          static_cast<uint32_t>(get.getCbOperandIdx()));
          return success();
        })
        .Case([&](GetArgOp get) {
          if (isa<LocalSemaphoreType>(get.getType())) {
            addresses[get.getResult()] =
                ttkernel::GetSemaphoreOp::create(builder, loc, indexType(), index(loc, get.getOperandIndex()));
            return success();
          }
          if (!isa<MemRefType>(get.getType()))
            return LogicalResult(op->emitOpError() << "gives " << get.getType() << "; expected a buffer");
          if (auto port = get->getAttrOfType<IntegerAttr>(portArgumentName))
            return convertRoom(get, port.getInt());
          const auto number = static_cast<uint32_t>(get.getOperandIndex());
          if (get.getResolutionStage() == ResolutionStage::Compile)
            addresses[get.getResult()] = arith::IndexCastOp::create(
                builder, loc, indexType(),
                ttkernel::GetCompileTimeArgValOp::create(builder, loc, builder.getI32Type(), number));
          else
            addresses[get.getResult()] = ttkernel::GetCommonArgValOp::create(builder, loc, indexType(), number);
          return createAccessor(get);
        })
        .Case([&](CoreIndexOp core) {
          Value index = core.getDim() == 0 ? ttkernel::MyLogicalYOp::create(builder, loc, indexType()).getResult()
                                           : ttkernel::MyLogicalXOp::create(builder, loc, indexType()).getResult();
          core.getResult().replaceAllUsesWith(index);
          return success();
        })
        .Case([&](MeshPositionOp position) {
          Value device = ttkernel::ExperimentalGetMyDeviceIdOp::create(builder, loc, indexType());
          Value columns = index(loc, meshColumns());
          Value place = position.getDim() == 0 ? arith::DivSIOp::create(builder, loc, device, columns).getResult()
                                               : arith::RemSIOp::create(builder, loc, device, columns).getResult();
          position.getResult().replaceAllUsesWith(place);
          return success();
        })
        .Case([&](DMAReadOp read) {
          return convertTransfer(op, read.getSrc(), read.getSrcIndices(), read.getDst(), read.getDstIndices(),
                                 read.getNumElems(), true, {});
        })
        .Case([&](DMAWriteOp write) {
          if (!write.getMcastShape().empty())
            return convertMulticast(write);
          return convertTransfer(op, write.getDst(), write.getDstIndices(), write.getSrc(), write.getSrcIndices(),
                                 write.getNumElems(), false, write.getStartDevice());
        })
        .Case([&](SemaphoreSetOp set) {
          Value address = addresses.lookup(set.getSemaphore());
          if (!address)
            return noSemaphore(op);
          ttkernel::NocSemaphoreSetOp::create(builder, loc, address, set.getValue());
          if (set.getMcastShape().empty())
            return success();
          FailureOr<std::pair<Value, Value>> group = groupOf(op, set.getDstCoreIndex(), set.getMcastShape(), address);
          if (succeeded(group))
            ttkernel::NocSemaphoreSetMulticastOp::create(builder, loc, address, group->first, group->second);
          return LogicalResult(group);
        })
        .Case([&](SemaphoreIncOp increase) {
          Value address = addresses.lookup(increase.getSemaphore());
          if (!address || increase.getDstCoreIndex().size() != 2)
            return noSemaphore(op);
          Value target = ttkernel::GetNocAddrOp::create(builder, loc, indexType(), increase.getDstCoreIndex()[1],
                                                        increase.getDstCoreIndex()[0], address);
          ttkernel::NocSemaphoreIncOp::create(builder, loc, target, increase.getValue());
          return success();
        })
        .Case([&](SemaphoreWaitOp wait) {
          Value address = addresses.lookup(wait.getSemaphore());
          if (!address)
            return noSemaphore(op);
          ttkernel::NocSemaphoreWaitOp::create(builder, loc, address, wait.getValue());
          if (wait.getResetValue())
            ttkernel::NocSemaphoreSetOp::create(builder, loc, address, wait.getResetValue());
          return success();
        })
        .Case([&](DMAWaitOp wait) {
          if (wait.getMemTx().getType().getDmaType() == DMAType::Read)
            ttkernel::NocAsyncReadBarrierOp::create(builder, loc);
          else
            ttkernel::NocAsyncWriteBarrierOp::create(builder, loc);
          return success();
        })
        .Case([&](TileMatmulBlockOp matmul) { return convertMatmul(matmul); })
        .Case([&](TileBcastOp bcast) { return convertBcast(bcast); })
        .Case<TileReduceSumOp, TileReduceMaxOp>([&](auto reduce) { return convertReduce(reduce); })
        .Case([&](SetL1AccumulateOp accumulate) {
          Value enable = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), accumulate.getEnable());
          ttkernel::PackReconfigL1AccOp::create(builder, loc, enable);
          return success();
        })
        .Case([&](WaitOp wait) { return step<ttkernel::CBWaitFrontOp>(op, wait.getCb(), wait.getResult()); })
        .Case([&](ReserveOp reserve) {
          return step<ttkernel::CBReserveBackOp>(op, reserve.getCb(), reserve.getResult());
        })
        .Case([&](PushOp push) { return step<ttkernel::CBPushBackOp>(op, push.getCb()); })
        .Case([&](PopOp pop) { return step<ttkernel::CBPopFrontOp>(op, pop.getCb()); })
        .Case([&](AcquireDstOp acquire) {
          if (cast<ShapedType>(acquire.getType()).getRank() != 1)
            return LogicalResult(op->emitOpError() << "gives " << acquire.getType() << "; expected a row of registers");
          // Registers of another type are the same registers.
          if (sections.insert(op->getBlock()).second)
            ttkernel::TileRegsAcquireOp::create(builder, loc);
          return success();
        })
        .Case([&](NullTxOp) { return success(); })
        .Case([&](memref::LoadOp load) {
          if (isa<ttcore::TileType>(load.getType()))
            return success(); // where its value goes
          return convertLoad(load);
        })
        .Case([&](memref::StoreOp store) { return convertStore(store); })
        .Case([&](TileTilizeBlockOp tilize) {
          return convertBlock<ttkernel::TilizeInitOp, ttkernel::TilizeBlockOp>(tilize, tilize.getOutput());
        })
        .Case([&](TileUntilizeBlockOp untilize) {
          return convertBlock<ttkernel::UntilizeInitOp, ttkernel::UntilizeBlockOp>(untilize, untilize.getInput());
        })
        .Case([&](TileClampScalarOp clamp) {
          const auto bound = [&](Attribute value) {
            if (auto integer = dyn_cast<IntegerAttr>(value))
              return builder.getF32FloatAttr(static_cast<float>(integer.getInt()));
            return cast<FloatAttr>(value);
          };
          constexpr int64_t exact = int64_t(1) << 24;
          for (Attribute value : {clamp.getMin(), clamp.getMax()})
            if (auto integer = dyn_cast<IntegerAttr>(value); integer && std::abs(integer.getInt()) > exact)
              return LogicalResult(op->emitOpError() << "has the bound " << integer.getInt()
                                                     << ", which the kernel's f32 does not hold exactly");
          FailureOr<Value> slot = inPlace(op);
          if (failed(slot))
            return failure();
          ttkernel::ClampTileInitOp::create(builder, loc);
          ttkernel::ClampTileOp::create(builder, loc, *slot, bound(clamp.getMin()), bound(clamp.getMax()));
          return success();
        })
        .Case([&](TileCheckPositionsOp) {
          return convertTileOp(op, ttkernel::CheckPositionsTileOp::getOperationName(), op->getAttrs());
        })
        .Case([&](TileTypecastOp cast) {
          const auto format = [](Type tile) { return llvm::cast<ttcore::TileType>(tile).getDataType(); };
          const ttcore::DataType from = format(cast.getInput().getType()), to = format(cast.getType());
          FailureOr<Value> slot = inPlace(op);
          if (failed(slot))
            return failure();
          ttkernel::TypecastTileInitOp::create(builder, loc, from, to);
          ttkernel::TypecastTileOp::create(builder, loc, *slot, from, to);
          return success();
        })
        .Case([&](TileFillOp fill) {
          FloatAttr value;
          if (!matchPattern(fill.getValue(), m_Constant(&value)))
            return LogicalResult(op->emitOpError("has a value that is no float constant"));
          FailureOr<Value> slot = resultSlot(op);
          if (failed(slot))
            return failure();
          ttkernel::FillTileInitOp::create(builder, loc);
          ttkernel::FillTileOp::create(builder, loc, *slot, builder.getF32FloatAttr(value.getValue().convertToFloat()));
          return success();
        })
        .Default([&](Operation *) {
          if (isa_and_nonnull<D2MDialect>(op->getDialect()))
            return LogicalResult(op->emitError() << "'" << op->getName() << "' is not lowered to a kernel");
          return success();
        });
  }

  /// Pages are tiles, or as many elements.
  Value pages(Location loc, Value cb) {
    const auto elements = static_cast<int64_t>(cast<ttkernel::CBType>(cb.getType()).getNumElements());
    return arith::ConstantIndexOp::create(builder, loc, elements / tileElements);
  }

  template <class Step> LogicalResult step(Operation *op, Value cb, Value block = nullptr) {
    Value port = cbs.lookup(cb);
    if (!port)
      return op->emitOpError(
          "has a circular buffer that is none of the kernel's; run d2m-generic-regions-to-funcs first");
    if (block)
      blocks[block] = port;
    Step::create(builder, op->getLoc(), port, pages(op->getLoc(), port));
    if (block && llvm::any_of(block.getUsers(), llvm::IsaPred<DMAReadOp, DMAWriteOp>)) {
      using Pointer = std::conditional_t<std::is_same_v<Step, ttkernel::CBWaitFrontOp>, ttkernel::GetReadPtrOp,
                                         ttkernel::GetWritePtrOp>;
      addresses[block] = Pointer::create(builder, op->getLoc(), indexType(), port);
    }
    return success();
  }

  Type indexType() { return builder.getIndexType(); }
  Value index(Location loc, int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }

  static LogicalResult noSemaphore(Operation *op) {
    return op->emitOpError("expected a semaphore of the kernel, and for others than this core's the two coordinates of "
                           "one core");
  }

  /// The network address of an address on all cores of a rectangle, and the number of these cores without this one.
  FailureOr<std::pair<Value, Value>> groupOf(Operation *op, ValueRange start, ValueRange shape, Value address) {
    Location loc = op->getLoc();
    if (start.size() != 2 || shape.size() != 2)
      return op->emitOpError() << "goes to cores of " << start.size() << " coordinates; expected a rectangle";
    Value one = index(loc, 1);
    const auto last = [&](size_t dim) -> Value {
      Value end = arith::AddIOp::create(builder, loc, start[dim], shape[dim]);
      return arith::SubIOp::create(builder, loc, end, one);
    };
    Value target = ttkernel::GetNocMulticastAddrOp::create(builder, loc, indexType(), start[1], start[0], last(1),
                                                           last(0), address);
    Value all = arith::MulIOp::create(builder, loc, shape[0], shape[1]);
    return std::pair(target, arith::SubIOp::create(builder, loc, all, one).getResult());
  }

  /// Sends a block of this core to the same address of other cores.
  LogicalResult convertMulticast(DMAWriteOp op) {
    Location loc = op.getLoc();
    Value address = addresses.lookup(op.getSrc());
    if (!address || op.getSrc() != op.getDst())
      return op.emitOpError("expected a block that goes to its own place on other cores");
    auto group = groupOf(op, op.getMcastStartIndex(), op.getMcastShape(), address);
    if (failed(group))
      return failure();
    const int64_t bytes = bytesOf(cast<ShapedType>(op.getSrc().getType()).getElementType()) * op.getNumElems();
    ttkernel::NocAsyncWriteMulticastOp::create(builder, loc, address, group->first, index(loc, bytes), group->second);
    return success();
  }

  /// Returns the columns of the mesh that programs run on.
  int64_t meshColumns() {
    ttcore::DeviceOp device = ttcore::lookupDevice(function);
    return device ? device.getDeviceAttr().getMeshShape().back() : 1;
  }

  /// Loads an integer of this core's part of a buffer.
  LogicalResult convertLoad(memref::LoadOp load) {
    Location loc = load.getLoc();
    Value base = addresses.lookup(load.getMemRef());
    if (!base || load.getMemRefType().getRank() != 4 || !load.getType().isInteger(32))
      return load.emitOpError() << "loads " << load.getType() << " from " << load.getMemRefType()
                                << "; expected a tile, or 32 bits of a buffer of the kernel";
    Value row =
        arith::MulIOp::create(builder, loc, load.getIndices()[2], index(loc, load.getMemRefType().getDimSize(3)));
    Value number = arith::AddIOp::create(builder, loc, row, load.getIndices()[3]);
    load.getResult().replaceAllUsesWith(
        ttkernel::LoadFromL1Op::create(builder, loc, builder.getI32Type(), base, number).getResult());
    return success();
  }

  /// A piece of the core's own memory, at an element index, and one of another core's: its row, its column, and the
  /// byte offset into its part. `chip`: the row and the column in the mesh of the chip that is written to, or none.
  LogicalResult convertTransfer(Operation *op, Value remote, ValueRange at, Value own, ValueRange place, int64_t count,
                                bool read, ValueRange chip) {
    Location loc = op->getLoc();
    Value base = addresses.lookup(remote), to = addresses.lookup(own);
    if (!base || !to || at.size() != 3 || place.size() != 1 || (!chip.empty() && chip.size() != 2))
      return op->emitOpError("expected a buffer of all cores with three indices, and one of this core with one; run "
                             "d2m-lower-load-store-ops-to-dma first");
    const int64_t bytes = bytesOf(cast<ShapedType>(remote.getType()).getElementType());
    FailureOr<Value> source = networkAddress(op, remote, base, at);
    if (failed(source))
      return failure();
    Value target =
        arith::AddIOp::create(builder, loc, to, arith::MulIOp::create(builder, loc, place[0], index(loc, bytes)));
    Value size = index(loc, count * bytes);
    if (read) {
      ttkernel::NocAsyncReadOp::create(builder, loc, *source, target, size);
    } else if (chip.empty()) {
      ttkernel::NocAsyncWriteOp::create(builder, loc, target, *source, size);
    } else {
      Value line = arith::MulIOp::create(builder, loc, chip[0], index(loc, meshColumns()));
      ttkernel::ExperimentalFabricFastWriteAnyLenOp::create(
          builder, loc, arith::AddIOp::create(builder, loc, line, chip[1]), *source, target, size);
    }
    return success();
  }

  /// A buffer that a kernel works in is where a circular buffer is written, of which no page is ever pushed.
  LogicalResult convertRoom(GetArgOp get, int64_t portArgument) {
    auto buffer = ttmetal::DeviceBuffer::of(get.getType());
    if (!buffer || portArgument < 0)
      return get.emitOpError() << "has " << portArgumentName << " = " << portArgument << " for " << get.getType()
                               << "; expected the number of an argument, and a buffer of the device";
    const bool isTiled = isa<ttcore::TileType>(buffer->element);
    const int64_t elements = ShapedType::getNumElements(buffer->shard) * (isTiled ? tileElements : 1);
    Value port = ttkernel::GetCompileTimeArgValOp::create(
        builder, get.getLoc(), ttkernel::CBType::get(get.getContext(), elements, buffer->element),
        static_cast<uint32_t>(portArgument));
    addresses[get.getResult()] = ttkernel::GetWritePtrOp::create(builder, get.getLoc(), indexType(), port);
    return success();
  }

  /// Creates the accessor of a buffer, if the kernel has the arguments of one. A page is the part of a core.
  LogicalResult createAccessor(GetArgOp get) {
    auto pairs = function->getAttrOfType<DenseI64ArrayAttr>(tensorAccessorsName);
    for (size_t i = 0; pairs && i + 1 < static_cast<size_t>(pairs.size()); i += 2) {
      if (pairs[i] != static_cast<int64_t>(get.getOperandIndex()))
        continue;
      auto buffer = ttmetal::DeviceBuffer::of(get.getType());
      if (!buffer || pairs[i + 1] < 0)
        return get.emitOpError() << "has a TensorAccessor for " << get.getType() << "; expected a buffer of the device";
      Location loc = get.getLoc();
      Value args = ttkernel::TensorAccessorArgsOp::create(
          builder, loc, ttkernel::TensorAccessorArgsType::get(get.getContext()), static_cast<uint32_t>(pairs[i + 1]));
      accessors[get.getResult()] = ttkernel::TensorAccessorOp::create(
          builder, loc, ttkernel::TensorAccessorType::get(get.getContext()), args, addresses[get.getResult()],
          index(loc, static_cast<int64_t>(buffer->shardBytes())));
    }
    return success();
  }

  /// The network address of bytes of a buffer: in a core's part, by its row, its column, and the byte offset. In DRAM,
  /// the parts of cores are in the channels in turn.
  FailureOr<Value> networkAddress(Operation *op, Value buffer, Value base, ValueRange at) {
    Location loc = op->getLoc();
    const auto numberOfCore = [&](const ttmetal::DeviceBuffer &of) -> Value {
      Value before = arith::MulIOp::create(builder, loc, at[0], index(loc, of.grid[1]));
      return arith::AddIOp::create(builder, loc, before, at[1]);
    };
    if (Value accessor = accessors.lookup(buffer))
      return ttkernel::TensorAccessorGetNocAddrOp::create(
                 builder, loc, indexType(), accessor, numberOfCore(*ttmetal::DeviceBuffer::of(buffer.getType())), at[2])
          .getResult();
    Value address = arith::AddIOp::create(builder, loc, base, at[2]);
    if (!liesIn(buffer.getType(), ttcore::MemorySpace::DeviceDRAM))
      return ttkernel::GetNocAddrOp::create(builder, loc, indexType(), at[1], at[0], address).getResult();
    auto module = function->getParentOfType<ModuleOp>();
    auto system = module ? module->getAttrOfType<ttcore::SystemDescAttr>(ttcore::systemDescName) : nullptr;
    auto described = ttmetal::DeviceBuffer::of(buffer.getType());
    if (!system || system.getChipDescs().empty() || !described)
      return op->emitOpError() << "uses a buffer in DRAM, " << buffer.getType()
                               << "; expected one with a #ttcore.shard "
                               << "layout and a module with " << ttcore::systemDescName;
    ttcore::ChipDescAttr chip = system.getChipDescs().front();
    const auto part =
        static_cast<int64_t>(llvm::alignTo(described->shardBytes(), std::max(1u, chip.getNocDRAMAddressAlignBytes())));
    Value core = numberOfCore(*described);
    Value channels = index(loc, std::max<int64_t>(1, chip.getNumDramChannels()));
    Value before =
        arith::MulIOp::create(builder, loc, arith::DivSIOp::create(builder, loc, core, channels), index(loc, part));
    Value bank = arith::RemSIOp::create(builder, loc, core, channels);
    return ttkernel::GetNocAddrFromBankIDOp::create(builder, loc, indexType(), bank,
                                                    arith::AddIOp::create(builder, loc, address, before))
        .getResult();
  }

  /// Computes as many output tiles at a time as fit into the registers, each with all of the block's products.
  LogicalResult convertMatmul(TileMatmulBlockOp op) {
    Location loc = op.getLoc();
    Value a = blocks.lookup(op.getA()), b = blocks.lookup(op.getB()), out = blocks.lookup(op.getOutput());
    auto shapeOf = [](Value block) { return cast<ShapedType>(block.getType()).getShape(); };
    if (!a || !b || !out)
      return op.emitOpError("expected blocks of circular buffers of the kernel");
    const int64_t rows = shapeOf(op.getOutput())[0], columns = shapeOf(op.getOutput())[1],
                  inner = shapeOf(op.getA())[1];
    if (shapeOf(op.getA())[0] != rows || shapeOf(op.getB())[0] != inner || shapeOf(op.getB())[1] != columns)
      return op.emitOpError() << "multiplies " << op.getA().getType() << " and " << op.getB().getType() << " to "
                              << op.getOutput().getType();
    const int64_t ct = divisorUpTo(columns, subblockTiles), rt = divisorUpTo(rows, subblockTiles / ct);
    Value transpose = index(loc, op.getTransposeB()), cts = index(loc, ct), rts = index(loc, rt),
          kts = index(loc, inner), zero = index(loc, 0);
    if (tileByTile && op.getTransposeB())
      return op.emitOpError("has a transposed operand, which only products of blocks have: not with use-tile-matmul");
    if (tileByTile)
      ttkernel::MatmulInitOp::create(builder, loc, a, b, out);
    else
      ttkernel::MatmulBlockInitOp::create(builder, loc, a, b, out, transpose, cts, rts, kts);
    auto rowLoop = scf::ForOp::create(builder, loc, zero, index(loc, rows), rts);
    builder.setInsertionPointToStart(rowLoop.getBody());
    auto columnLoop = scf::ForOp::create(builder, loc, zero, index(loc, columns), cts);
    builder.setInsertionPointToStart(columnLoop.getBody());
    Value row = rowLoop.getInductionVar(), column = columnLoop.getInductionVar();
    ttkernel::TileRegsAcquireOp::create(builder, loc);
    if (tileByTile)
      multiplyTiles(loc, a, b, row, column, {rt, ct, inner, columns});
    else
      ttkernel::ExperimentalMatmulBlockOp::create(builder, loc, a, b, arith::MulIOp::create(builder, loc, row, kts),
                                                  column, zero, transpose, cts, rts, kts, index(loc, columns));
    for (int64_t r = 0; r < rt; ++r)
      for (int64_t c = 0; c < ct; ++c) {
        Value outRow = arith::AddIOp::create(builder, loc, row, index(loc, r));
        Value outColumn = arith::AddIOp::create(builder, loc, column, index(loc, c));
        Value place = arith::AddIOp::create(
            builder, loc, arith::MulIOp::create(builder, loc, outRow, index(loc, columns)), outColumn);
        ttkernel::PackTileOp::create(builder, loc, index(loc, r * ct + c), out, place);
      }
    return success();
  }

  struct Subblock {
    int64_t rows, columns, inner, stride; // tiles; stride: of a row of the right block
  };
  /// Adds the products of a subblock's tiles to registers, one step of K after the other.
  void multiplyTiles(Location loc, Value a, Value b, Value row, Value column, Subblock subblock) {
    OpBuilder::InsertionGuard guard(builder);
    Value inner = index(loc, subblock.inner), stride = index(loc, subblock.stride);
    auto loop = scf::ForOp::create(builder, loc, index(loc, 0), inner, index(loc, 1));
    builder.setInsertionPointToStart(loop.getBody());
    Value step = loop.getInductionVar();
    Value below = arith::MulIOp::create(builder, loc, step, stride);
    for (int64_t r = 0; r < subblock.rows; ++r)
      for (int64_t c = 0; c < subblock.columns; ++c) {
        Value line = arith::AddIOp::create(builder, loc, row, index(loc, r));
        Value left = arith::AddIOp::create(builder, loc, arith::MulIOp::create(builder, loc, line, inner), step);
        Value across = arith::AddIOp::create(builder, loc, column, index(loc, c));
        Value right = arith::AddIOp::create(builder, loc, below, across);
        ttkernel::MatmulTilesOp::create(builder, loc, a, b, left, right, index(loc, r * subblock.columns + c));
      }
  }

  /// The buffer from which a tile was loaded, and the tile's number in its block.
  std::pair<Value, Value> placeOf(Location loc, Value tile) {
    auto load = tile.getDefiningOp<memref::LoadOp>();
    if (!load || isRegisters(load.getMemRef()))
      return {};
    return {blocks.lookup(load.getMemRef()), linear(loc, load.getIndices(), load.getMemRefType())};
  }

  template <class Op> LogicalResult convertReduce(Op op) {
    Location loc = op.getLoc();
    auto [in, tile] = placeOf(loc, op.getA());
    auto [scaler, scalerTile] = placeOf(loc, op.getB());
    FailureOr<Value> slot = resultSlot(op);
    if (failed(slot))
      return failure();
    if (!in || !scaler || slotOf(op.getC()) != *slot)
      return op.emitOpError("expected tiles of circular buffers, and its result so far in the register of its result");
    const auto type = std::is_same_v<Op, TileReduceMaxOp> ? ttkernel::ReduceType::Max : ttkernel::ReduceType::Sum;
    const auto dim = op.getReduceDim() == ReduceDim::R   ? ttkernel::ReduceDim::Row
                     : op.getReduceDim() == ReduceDim::C ? ttkernel::ReduceDim::Col
                                                         : ttkernel::ReduceDim::Scalar;
    ttkernel::ReduceInitOp::create(builder, loc, in, scaler, scaler, type, dim);
    ttkernel::ReduceTileOp::create(builder, loc, in, scaler, tile, scalerTile, *slot, type, dim);
    ttkernel::ReduceUninitOp::create(builder, loc);
    return success();
  }

  LogicalResult convertBcast(TileBcastOp op) {
    auto [in, tile] = placeOf(op.getLoc(), op.getInput());
    FailureOr<Value> slot = resultSlot(op);
    if (failed(slot))
      return failure();
    if (!in)
      return op.emitOpError("expected a tile of a circular buffer");
    const auto type = static_cast<ttkernel::BcastType>(op.getBcastType()); // the same values
    ttkernel::UnaryBcastInitOp::create(builder, op.getLoc(), in, in, type);
    ttkernel::UnaryBcastOp::create(builder, op.getLoc(), in, tile, *slot, type);
    return success();
  }

  template <class Init, class Block, class Op> LogicalResult convertBlock(Op op, Value tiled) {
    Value in = blocks.lookup(op.getInput()), out = blocks.lookup(op.getOutput());
    ArrayRef<int64_t> shape = cast<ShapedType>(tiled.getType()).getShape();
    if (!in || !out || shape.size() != 2 || shape.front() != 1)
      return op.emitOpError("expected one row of tiles, of blocks of circular buffers");
    Value count = arith::ConstantIndexOp::create(builder, op.getLoc(), shape.back());
    if constexpr (std::is_same_v<Init, ttkernel::UntilizeInitOp>)
      Init::create(builder, op.getLoc(), in);
    else
      Init::create(builder, op.getLoc(), in, count, out);
    Block::create(builder, op.getLoc(), in, count, out);
    return success();
  }

  /// A tile's number among those of its block.
  Value linear(Location loc, ValueRange indices, MemRefType type) {
    Value number = indices.front();
    for (size_t i = 1; i < indices.size(); ++i) {
      Value size = arith::ConstantIndexOp::create(builder, loc, type.getDimSize(static_cast<unsigned>(i)));
      number = arith::AddIOp::create(builder, loc, arith::MulIOp::create(builder, loc, number, size), indices[i]);
    }
    return number;
  }

  /// The register a tile was loaded from.
  static Value slotOf(Value tile) {
    auto load = tile.getDefiningOp<memref::LoadOp>();
    return load && isRegisters(load.getMemRef()) ? load.getIndices().front() : Value();
  }
  /// The register that the result of an op goes to.
  static FailureOr<Value> resultSlot(Operation *op) {
    for (Operation *user : op->getUsers())
      if (auto store = dyn_cast<memref::StoreOp>(user); store && isRegisters(store.getMemRef()))
        return store.getIndices().front();
    return op->emitOpError(
        "has a result outside of the registers; run d2m-insert-dst-register-access-unscheduled first");
  }
  static FailureOr<Value> inPlace(Operation *op) {
    Value slot = slotOf(op->getOperand(0));
    FailureOr<Value> result = resultSlot(op);
    if (failed(result))
      return failure();
    if (slot != *result)
      return op->emitOpError("has its operand and its result in different registers");
    return slot;
  }

  /// An op of the matrix unit, on tiles of two circular buffers.
  LogicalResult convertTiles(Operation *op) {
    Location loc = op->getLoc();
    auto [left, leftTile] = placeOf(loc, op->getOperand(0));
    auto [right, rightTile] = placeOf(loc, op->getOperand(1));
    FailureOr<Value> slot = resultSlot(op);
    if (failed(slot))
      return failure();
    if (!left || !right)
      return op->emitOpError("expected tiles of circular buffers of the kernel");
    if (!tiles.first)
      tiles = {left, right};
    StringRef name = op->getName().stripDialect();
    name.consume_front("tile_");
    const std::string callee = ("ttkernel." + name + "_tiles").str();
    builder.create(OperationState(loc, callee + "_init", {left, right}, TypeRange()));
    builder.create(OperationState(loc, callee, {left, right, leftTile, rightTile, *slot}, TypeRange()));
    return success();
  }

  LogicalResult convertTileOp(Operation *op, StringRef name, ArrayRef<NamedAttribute> attributes = {}) {
    if (op->hasTrait<OnMatrixUnit>() && llvm::none_of(op->getOperands(), [](Value tile) { return slotOf(tile); }))
      return convertTiles(op);
    SmallVector<Value> slots;
    for (Value operand : op->getOperands()) {
      slots.push_back(slotOf(operand));
      if (!slots.back())
        return op->emitOpError("has an operand outside of the registers; run "
                               "d2m-insert-dst-register-access-unscheduled first");
    }
    FailureOr<Value> result = slots.size() == 1 ? inPlace(op) : resultSlot(op);
    if (failed(result))
      return failure();
    if (slots.size() > 1)
      slots.push_back(*result);
    OperationState init(op->getLoc(), (name + "_init").str()), call(op->getLoc(), name, slots, TypeRange(), attributes);
    builder.create(init);
    builder.create(call);
    return success();
  }

  LogicalResult convertStore(memref::StoreOp store) {
    Location loc = store.getLoc();
    Value tile = store.getValueToStore();
    auto load = tile.getDefiningOp<memref::LoadOp>();
    if (isRegisters(store.getMemRef())) {
      if (!load || isRegisters(load.getMemRef()))
        return success(); // an op has put it there
      Value cb = blocks.lookup(load.getMemRef());
      if (!cb)
        return store.emitOpError("has a tile that is of no circular buffer of the kernel");
      if (!read)
        read = cb;
      ttkernel::CopyTileInitOp::create(builder, loc, cb);
      ttkernel::CopyTileOp::create(builder, loc, cb, linear(loc, load.getIndices(), load.getMemRefType()),
                                   store.getIndices().front());
      return success();
    }
    Value cb = blocks.lookup(store.getMemRef()), slot = slotOf(tile);
    if (!cb || !slot)
      return store.emitOpError("stores what is in no register, or to no circular buffer of the kernel");
    if (!written)
      written = cb;
    ttkernel::PackTileOp::create(builder, loc, slot, cb, linear(loc, store.getIndices(), store.getMemRefType()));
    return success();
  }

  /// Runs before the first tile enters the registers, with a buffer that is read and one that is written.
  void initialise() {
    auto arguments = function.getOps<ttkernel::GetCompileTimeArgValOp>();
    if (!written || arguments.empty())
      return;
    Operation *last = nullptr;
    for (Operation *argument : arguments)
      last = argument;
    builder.setInsertionPointAfter(last);
    if (tiles.first)
      ttkernel::BinaryOpInitCommonOp::create(builder, function.getLoc(), tiles.first, tiles.second, written);
    else
      ttkernel::InitSFPUOp::create(builder, function.getLoc(), read ? read : written, written);
  }

  func::FuncOp function;
  OpBuilder builder;
  const int64_t subblockTiles;
  const bool tileByTile;            // products
  DenseMap<Value, Value> cbs;       // !d2m.cb to !ttkernel.cb
  DenseMap<Value, Value> addresses; // of buffers, and of room that was reserved
  DenseMap<Value, Value> accessors; // of buffers, where kernels have them
  DenseMap<Value, Value> blocks;    // memrefs that were waited for, or reserved, to their buffers
  DenseSet<Block *> sections;
  Value read, written;           // the first buffers that tiles go to registers from, and back to
  std::pair<Value, Value> tiles; // the first ones of the matrix unit
};

struct ConvertD2MToTTKernel : tt::impl::ConvertD2MToTTKernelBase<ConvertD2MToTTKernel> {
  using Base::Base;

  void runOnOperation() override {
    const int64_t most = maxDstPhysicalSizeTiles ? maxDstPhysicalSizeTiles : registerCount;
    if (getOperation()->hasAttr(ttkernel::threadName) &&
        failed(KernelConverter(getOperation(), std::min(most, registerCount), useTileMatmul).run()))
      signalPassFailure();
  }
};
} // namespace
