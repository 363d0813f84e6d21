//===- TTIRToD2M.cpp - lowering of TTIR to D2M ----------------------------===//

#include "ttmlir/Conversion/TTIRToD2M/Passes.h"

#include "Buffers.h"
#include "Generics.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

namespace mlir::tt {
#define GEN_PASS_DEF_TTIRTOD2M
#include "ttmlir/Conversion/TTIRToD2M/Passes.h.inc"
} // namespace mlir::tt

using namespace mlir;
using namespace mlir::tt;

/// The op on tiles that an elementwise op of TTIR is, or empty.
static StringRef tileOp(StringRef ttirOp) {
  static const llvm::StringMap<StringLiteral> rows = {
#define TT_TILE_OP(ttir, tile, kernel, row, ins) {"ttir." #ttir, "d2m.tile_" #tile},
#include "ttmlir/Target/TTMetal/TileOps.def"
  };
  auto found = rows.find(ttirOp);
  return found == rows.end() ? StringRef() : StringRef(found->second);
}

namespace {
/// Rewrites one function.
class FunctionConverter {
public:
  FunctionConverter(func::FuncOp function, ArrayRef<int64_t> workerGrid, SymbolTable &symbols)
      : function(function), workerGrid(workerGrid), symbols(symbols), builder(function.getContext()) {}
  LogicalResult run();

private:
  LogicalResult convert(Operation *op);
  LogicalResult convertElementwise(Operation *op, TileBody body);
  LogicalResult convertConstant(Operation *op, ElementsAttr values);
  /// The constant of one value; an integer of up to 32 bits is exact as a double.
  LogicalResult convertFilled(Operation *op, double value);
  LogicalResult convertReshape(Operation *op);
  LogicalResult convertReturn(func::ReturnOp op);
  /// Fails with an error at `op`.
  FailureOr<Placement> placeOf(Operation *op, Type type);
  /// A new buffer for a result.
  FailureOr<Value> bufferOf(OpResult result);
  /// The tiles of a value; an argument is brought to the device first.
  FailureOr<Value> tilesOf(Operation *user, Value value);
  Value toDevice(Location loc, Value host, const Placement &placement);

  func::FuncOp function;
  ArrayRef<int64_t> workerGrid;
  SymbolTable &symbols;
  OpBuilder builder;
  DenseMap<Value, Value> tiles;
};
} // namespace

FailureOr<Placement> FunctionConverter::placeOf(Operation *op, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return op->emitError() << "'" << op->getName() << "' is not lowered to D2M: " << type << " is no ranked tensor";
  std::string reason;
  FailureOr<Placement> placement = place(tensor, workerGrid, reason);
  if (failed(placement))
    return op->emitError() << "'" << op->getName() << "' is not lowered to D2M: " << reason;
  return placement;
}

FailureOr<Value> FunctionConverter::bufferOf(OpResult result) {
  FailureOr<Placement> placement = placeOf(result.getOwner(), result.getType());
  if (failed(placement))
    return failure();
  Value buffer = memref::AllocOp::create(builder, result.getLoc(), placement->tiled);
  tiles[result] = buffer;
  return buffer;
}

Value FunctionConverter::toDevice(Location loc, Value host, const Placement &placement) {
  Value rows = memref::AllocOp::create(builder, loc, placement.rowMajor);
  d2m::ToDeviceOp::create(builder, loc, TypeRange(), host, rows, placement.layout);
  Value tiled = memref::AllocOp::create(builder, loc, placement.tiled);
  createTilize(builder, loc, rows, tiled);
  return tiled;
}

FailureOr<Value> FunctionConverter::tilesOf(Operation *user, Value value) {
  if (Value found = tiles.lookup(value))
    return found;
  // What has no tiles is an argument, of the host's type by now.
  auto host = cast<MemRefType>(value.getType());
  FailureOr<Placement> placement = placeOf(user, RankedTensorType::get(host.getShape(), host.getElementType()));
  if (failed(placement))
    return failure();
  return tiles[value] = toDevice(value.getLoc(), value, *placement);
}

LogicalResult FunctionConverter::convertElementwise(Operation *op, TileBody body) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<Value> inputs;
  for (Value operand : op->getOperands()) {
    FailureOr<Value> input = tilesOf(op, operand);
    if (failed(input))
      return failure();
    inputs.push_back(*input);
  }
  for (auto [index, operand] : llvm::enumerate(op->getOperands()))
    if (ArrayRef<int64_t> shape = cast<ShapedType>(operand.getType()).getShape(); shape != type.getShape())
      return op->emitError() << "'" << op->getName() << "' is not lowered to D2M: operand " << index << " is "
                             << operand.getType() << " and the result " << type << "; tiles are not broadcast";
  FailureOr<Value> output = bufferOf(op->getResult(0));
  if (failed(output))
    return failure();
  createElementwise(builder, op->getLoc(), inputs, *output, body);
  return success();
}

LogicalResult FunctionConverter::convertConstant(Operation *op, ElementsAttr values) {
  FailureOr<Placement> placement = placeOf(op, op->getResult(0).getType());
  if (failed(placement))
    return failure();
  auto dense = dyn_cast<DenseElementsAttr>(values);
  if (dense && dense.isSplat() && isa<FloatType>(values.getElementType())) {
    Type tile = placement->tile();
    return convertElementwise(op, [&](OpBuilder &b, Location loc, ValueRange) -> Value {
      Value value = arith::ConstantOp::create(
          b, loc, b.getF32FloatAttr(static_cast<float>(dense.getSplatValue<APFloat>().convertToDouble())));
      return d2m::TileFillOp::create(b, loc, tile, value);
    });
  }
  // The types of values may say less than that of the result, which the device has: i32 for si32.
  if (ttcore::elementTypeToDataType(values.getElementType()) != placement->tile().getDataType())
    return op->emitError() << "'" << op->getName() << "' is not lowered to D2M: values of " << values.getElementType()
                           << "; expected " << placement->host.getElementType();
  auto type = MemRefType::get(placement->host.getShape(), values.getElementType());
  auto module = function->getParentOfType<ModuleOp>();
  OpBuilder atTop = OpBuilder::atBlockBegin(module.getBody());
  auto global = memref::GlobalOp::create(atTop, op->getLoc(), "constant", atTop.getStringAttr("private"), type, values,
                                         /*constant=*/true, IntegerAttr());
  symbols.insert(global);
  Value host = memref::GetGlobalOp::create(builder, op->getLoc(), type, global.getSymName());
  tiles[op->getResult(0)] = toDevice(op->getLoc(), host, *placement);
  return success();
}

LogicalResult FunctionConverter::convertFilled(Operation *op, double value) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Type element = type.getElementType();
  TypedAttr one;
  if (isa<FloatType>(element))
    one = FloatAttr::get(element, value);
  else if (auto integer = dyn_cast<IntegerType>(element); integer && std::abs(value) < 0x1p32)
    one = IntegerAttr::get(element, APInt(integer.getWidth(), static_cast<uint64_t>(static_cast<int64_t>(value)),
                                          /*isSigned=*/false, /*implicitTrunc=*/true));
  else
    return op->emitError() << "'" << op->getName() << "' is not lowered to D2M: " << value << " as " << element;
  return convertConstant(op, DenseElementsAttr::get(type, one));
}

LogicalResult FunctionConverter::convertReshape(Operation *op) {
  ArrayRef<int64_t> from = cast<ShapedType>(op->getOperand(0).getType()).getShape(),
                    to = cast<ShapedType>(op->getResult(0).getType()).getShape();
  if (collapsed(from) != collapsed(to))
    return op->emitError() << "'" << op->getName()
                           << "' is not lowered to D2M: it moves elements to other rows of tiles, from "
                           << op->getOperand(0).getType() << " to " << op->getResult(0).getType();
  FailureOr<Value> same = tilesOf(op, op->getOperand(0));
  if (failed(same))
    return failure();
  tiles[op->getResult(0)] = *same;
  return success();
}

LogicalResult FunctionConverter::convertReturn(func::ReturnOp op) {
  SmallVector<Value> results;
  for (auto [value, type] : llvm::zip(op.getOperands(), function.getFunctionType().getResults())) {
    auto host = cast<MemRefType>(type);
    FailureOr<Value> tiled = tilesOf(op, value);
    FailureOr<Placement> placement = placeOf(op, RankedTensorType::get(host.getShape(), host.getElementType()));
    if (failed(tiled) || failed(placement))
      return failure();
    Value rows = memref::AllocOp::create(builder, op.getLoc(), placement->rowMajor);
    createUntilize(builder, op.getLoc(), *tiled, rows);
    Value result = memref::AllocOp::create(builder, op.getLoc(), host);
    d2m::ToHostOp::create(builder, op.getLoc(), TypeRange(), rows, result, placement->layout);
    results.push_back(result);
  }
  op->setOperands(results);
  return success();
}

LogicalResult FunctionConverter::convert(Operation *op) {
  builder.setInsertionPoint(op);
  MLIRContext *context = op->getContext();
  const auto resultTile = [&] {
    return ttcore::TileType::get(
        context, *ttcore::elementTypeToDataType(cast<ShapedType>(op->getResult(0).getType()).getElementType()));
  };
  if (StringRef name = tileOp(op->getName().getStringRef()); !name.empty())
    return convertElementwise(op, [&](OpBuilder &b, Location loc, ValueRange operands) {
      OperationState state(loc, name, operands, {resultTile()});
      return b.create(state)->getResult(0);
    });
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](ttir::ClampScalarOp clamp) {
        return convertElementwise(op, [&](OpBuilder &b, Location loc, ValueRange operands) -> Value {
          return d2m::TileClampScalarOp::create(b, loc, resultTile(), operands[0], clamp.getMin(), clamp.getMax());
        });
      })
      .Case([&](ttir::TypecastOp) {
        return convertElementwise(op, [&](OpBuilder &b, Location loc, ValueRange operands) -> Value {
          return d2m::TileTypecastOp::create(b, loc, resultTile(), operands[0]);
        });
      })
      .Case([&](ttir::ConstantOp constant) { return convertConstant(op, constant.getValue()); })
      .Case([&](ttir::ZerosOp) { return convertFilled(op, 0); })
      .Case([&](ttir::OnesOp) { return convertFilled(op, 1); })
      .Case([&](ttir::FullOp full) {
        if (auto integer = dyn_cast<IntegerAttr>(full.getFillValue()))
          return convertFilled(op, static_cast<double>(integer.getValue().getSExtValue()));
        return convertFilled(op, cast<FloatAttr>(full.getFillValue()).getValueAsDouble());
      })
      .Case<ttir::ReshapeOp, ttir::SqueezeOp, ttir::UnsqueezeOp>([&](auto) { return convertReshape(op); })
      .Case([&](func::ReturnOp returned) { return convertReturn(returned); })
      .Default([&](Operation *) {
        return op->emitError() << "'" << op->getName()
                               << "' is not lowered to D2M; there are elementwise ops, constants, and reshapes that "
                                  "keep rows";
      });
}

LogicalResult FunctionConverter::run() {
  if (!function.getBody().hasOneBlock())
    return function.emitOpError() << "has " << llvm::range_size(function.getBody()) << " blocks; a program has one";
  // The host's types first: ops ask arguments for them.
  SmallVector<Type> arguments, results;
  for (auto [types, hosts] : {std::pair(function.getFunctionType().getInputs(), &arguments),
                              std::pair(function.getFunctionType().getResults(), &results)})
    for (Type type : types) {
      FailureOr<Placement> placement = placeOf(function, type);
      if (failed(placement))
        return failure();
      hosts->push_back(placement->host);
    }
  function.setFunctionType(builder.getFunctionType(arguments, results));
  Block &body = function.getBody().front();
  for (auto [argument, type] : llvm::zip(body.getArguments(), arguments))
    argument.setType(type);

  SmallVector<Operation *> ops;
  for (Operation &op : body)
    ops.push_back(&op);
  for (Operation *op : ops)
    if (failed(convert(op)))
      return failure();
  ops.pop_back(); // the return
  for (Operation *op : llvm::reverse(ops))
    op->erase();
  return success();
}

namespace {
struct TTIRToD2M : tt::impl::TTIRToD2MBase<TTIRToD2M> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    ttcore::DeviceOp device = ttcore::lookupDevice(module);
    if (!device) {
      module.emitError() << "module has no ttcore.device @" << ttcore::defaultDeviceName
                         << "; run ttcore-register-device first";
      return signalPassFailure();
    }
    const SmallVector<int64_t> grid(device.getDeviceAttr().getWorkerGrid().getShape());
    SymbolTable symbols(module);
    for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (!function.isExternal() && failed(FunctionConverter(function, grid, symbols).run()))
        return signalPassFailure();
  }
};
} // namespace
