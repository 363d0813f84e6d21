//===- D2MToTTKernel.cpp - lowering of threads to kernels -----------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Conversion/D2MToTTMetal/Passes.h"

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

/// What a kernel calls for an op on tiles, or empty.
static StringRef kernelOp(StringRef tileOp) {
  static const llvm::StringMap<StringLiteral> rows = {
#define TT_TILE_OP(ttir, tile, kernel, row, ins) {"d2m.tile_" #tile, "ttkernel." #kernel},
#include "ttmlir/Target/TTMetal/TileOps.def"
  };
  auto found = rows.find(tileOp);
  return found == rows.end() ? StringRef() : StringRef(found->second);
}

/// Of the registers, a memref of !ttcore.tile in dst.
static bool isRegisters(Value memref) { return liesIn(memref.getType(), ttcore::MemorySpace::RegisterDst); }

static constexpr int64_t tileElements = 1024;

namespace {
class KernelConverter {
public:
  explicit KernelConverter(func::FuncOp function) : function(function), builder(function.getContext()) {}

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
        .Case([&](WaitOp wait) { return step<ttkernel::CBWaitFrontOp>(op, wait.getCb(), wait.getResult()); })
        .Case([&](ReserveOp reserve) {
          return step<ttkernel::CBReserveBackOp>(op, reserve.getCb(), reserve.getResult());
        })
        .Case([&](PushOp push) { return step<ttkernel::CBPushBackOp>(op, push.getCb()); })
        .Case([&](PopOp pop) { return step<ttkernel::CBPopFrontOp>(op, pop.getCb()); })
        .Case([&](AcquireDstOp acquire) {
          if (cast<ShapedType>(acquire.getType()).getRank() != 1)
            return LogicalResult(op->emitOpError() << "gives " << acquire.getType() << "; expected a row of registers");
          // Registers of another type are the same ones.
          if (sections.insert(op->getBlock()).second)
            ttkernel::TileRegsAcquireOp::create(builder, loc);
          return success();
        })
        .Case([&](memref::LoadOp load) { return success(); }) // where its value goes
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

  LogicalResult convertTileOp(Operation *op, StringRef name) {
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
    OperationState init(op->getLoc(), (name + "_init").str()), call(op->getLoc(), name, slots, TypeRange());
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

  /// Before the first tile goes through the registers, with a buffer that is read and one that is written.
  void initialise() {
    auto arguments = function.getOps<ttkernel::GetCompileTimeArgValOp>();
    if (!written || arguments.empty())
      return;
    Operation *last = nullptr;
    for (Operation *argument : arguments)
      last = argument;
    builder.setInsertionPointAfter(last);
    ttkernel::InitSFPUOp::create(builder, function.getLoc(), read ? read : written, written);
  }

  func::FuncOp function;
  OpBuilder builder;
  DenseMap<Value, Value> cbs;    // !d2m.cb to !ttkernel.cb
  DenseMap<Value, Value> blocks; // memrefs that were waited for, or reserved, to their buffers
  DenseSet<Block *> sections;
  Value read, written; // the first buffers that tiles go to registers from, and back to
};

struct ConvertD2MToTTKernel : tt::impl::ConvertD2MToTTKernelBase<ConvertD2MToTTKernel> {
  void runOnOperation() override {
    if (getOperation()->hasAttr(ttkernel::threadName) && failed(KernelConverter(getOperation()).run()))
      signalPassFailure();
  }
};
} // namespace
