//===- Patterns.cpp - patterns that lower TTIR to D2M ----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Patterns.h"

#include "../Complement.h"
#include "../Composites/Shapes.h"
#include "BlockFormats.h"
#include "Caches.h"
#include "DataMovement.h"
#include "Generics.h"
#include "Tensors.h"
#include "TileExpressions.h"

#include "ttmlir/Dialect/D2M/IR/D2M.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ClampScalarOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConstantOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/FullOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/OnesOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/TTNNMetalLayoutCastOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/TypecastOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ZerosOp.h"
#include "ttmlir/Dialect/TTIR/IR/TTIR.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/ConstantOp.h"
#include "ttmlir/Dialect/TTNN/Transforms/Device.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

#include <cmath>

using namespace mlir;
using namespace mlir::tt;

Placement tt::placeOf(const TileTypes &types, Type type) {
  std::string reason;
  return *types.place(type, reason);
}

Value tt::toDevice(OpBuilder &builder, Location loc, Value host, const Placement &placement) {
  Value rows = memref::AllocOp::create(builder, loc, placement.rowMajor);
  d2m::ToDeviceOp::create(builder, loc, TypeRange(), host, rows, placement.layout);
  Value tiled = memref::AllocOp::create(builder, loc, placement.tiled);
  createTilize(builder, loc, rows, tiled);
  return tiled;
}

//===----------------------------------------------------------------------===//
// Elementwise ops
//===----------------------------------------------------------------------===//

/// Replaces an op by a generic whose cores compute tiles from tiles at the same positions.
static LogicalResult lowerElementwise(ConversionPatternRewriter &rewriter, const TileTypes &types, Operation *op,
                                      ValueRange inputs, TileBody body) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<TileOperand> operands;
  for (auto [value, operand] : llvm::zip_equal(inputs, op->getOperandTypes()))
    operands.push_back(broadcastOperand(rewriter, op->getLoc(), types, value, cast<RankedTensorType>(operand), type));
  Value output = memref::AllocOp::create(rewriter, op->getLoc(), placeOf(types, type).tiled);
  createElementwiseFrom(rewriter, op->getLoc(), operands, output, body);
  rewriter.replaceOp(op, output);
  return success();
}

namespace {
/// Ops that are also an op on tiles: the rows of TileOps.def.
class LowerByRow : public ConversionPattern {
public:
  LowerByRow(const TileTypes &types, MLIRContext *context, StringRef ttir, StringRef tile)
      : ConversionPattern(types, ttir, /*benefit=*/1, context), types(types), tile(tile, context) {}

  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                                ConversionPatternRewriter &rewriter) const override {
    Type result = placeOf(types, op->getResult(0).getType()).tile();
    return lowerElementwise(rewriter, types, op, operands, [&](OpBuilder &b, Location loc, ValueRange tiles) {
      OperationState state(loc, tile, tiles, result);
      return b.create(state)->getResult(0);
    });
  }

private:
  const TileTypes &types;
  OperationName tile;
};

struct LowerClamp : TilePattern<ttir::ClampScalarOp> {
  using TilePattern::TilePattern;
  LogicalResult matchAndRewrite(ttir::ClampScalarOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Type tile = placeOf(types, op.getType()).tile();
    return lowerElementwise(rewriter, types, op, adaptor.getOperands(),
                            [&](OpBuilder &b, Location loc, ValueRange tiles) -> Value {
                              return d2m::TileClampScalarOp::create(b, loc, tile, tiles[0], op.getMin(), op.getMax());
                            });
  }
};

struct LowerTypecast : TilePattern<ttir::TypecastOp> {
  using TilePattern::TilePattern;
  LogicalResult matchAndRewrite(ttir::TypecastOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Type tile = placeOf(types, op.getType()).tile();
    return lowerElementwise(rewriter, types, op, adaptor.getOperands(),
                            [&](OpBuilder &b, Location loc, ValueRange tiles) -> Value {
                              return d2m::TileTypecastOp::create(b, loc, tile, tiles[0]);
                            });
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// Constants with a single float are created on the cores, others are sent by the host.
static LogicalResult lowerConstant(ConversionPatternRewriter &rewriter, const TileTypes &types, SymbolTable &symbols,
                                   Operation *op, ElementsAttr values) {
  Placement placement = placeOf(types, op->getResult(0).getType());
  auto dense = dyn_cast<DenseElementsAttr>(values);
  if (dense && dense.isSplat() && isa<FloatType>(values.getElementType())) {
    const auto number = static_cast<float>(dense.getSplatValue<APFloat>().convertToDouble());
    return lowerElementwise(rewriter, types, op, {}, [&](OpBuilder &b, Location loc, ValueRange) -> Value {
      Value value = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(number));
      return d2m::TileFillOp::create(b, loc, placement.tile(), value);
    });
  }
  // Value types may be less specific than that of the result, which the device has: i32 for si32.
  if (ttcore::elementTypeToDataType(values.getElementType()) != placement.tile().getDataType())
    return notifyMatchFailure(rewriter, op, [&](Diagnostic &reason) {
      reason << "values of " << values.getElementType() << "; expected " << placement.host.getElementType();
    });
  if (types.options.takesTensors) {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    auto layout = ttnn::TTNNLayoutAttr::get(op->getContext(), type.getShape(), placement.tile().getDataType(),
                                            ttnn::Layout::Tile, ttnn::BufferType::DRAM);
    std::string reason;
    Value device = ttnn::getOrCreateDevice(rewriter, op, [&](const Twine &why) { reason = why.str(); });
    if (!device)
      return notifyMatchFailure(rewriter, op, reason);
    Value tensor = ttnn::ConstantOp::create(rewriter, op->getLoc(), ttnn::withLayout(type, layout), device, values,
                                            /*dtype=*/nullptr);
    rewriter.replaceOp(op, enterTensor(rewriter, op->getLoc(), tensor, placement));
    return success();
  }
  auto type = MemRefType::get(placement.host.getShape(), values.getElementType());
  memref::GlobalOp global;
  {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(cast<ModuleOp>(symbols.getOp()).getBody());
    global = memref::GlobalOp::create(rewriter, op->getLoc(), "constant", rewriter.getStringAttr("private"), type,
                                      values, /*constant=*/true, IntegerAttr());
  }
  symbols.insert(global);
  Value host = memref::GetGlobalOp::create(rewriter, op->getLoc(), type, global.getSymName());
  rewriter.replaceOp(op, toDevice(rewriter, op->getLoc(), host, placement));
  return success();
}

/// A splat constant; an integer of up to 32 bits is exact as a double.
static LogicalResult lowerFilled(ConversionPatternRewriter &rewriter, const TileTypes &types, SymbolTable &symbols,
                                 Operation *op, double value) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Type element = type.getElementType();
  TypedAttr one;
  if (isa<FloatType>(element))
    one = FloatAttr::get(element, value);
  else if (auto integer = dyn_cast<IntegerType>(element); integer && std::abs(value) < 0x1p32)
    one = IntegerAttr::get(element, APInt(integer.getWidth(), static_cast<uint64_t>(static_cast<int64_t>(value)),
                                          /*isSigned=*/false, /*implicitTrunc=*/true));
  else
    return notifyMatchFailure(rewriter, op, [&](Diagnostic &reason) { reason << value << " as " << element; });
  return lowerConstant(rewriter, types, symbols, op, DenseElementsAttr::get(type, one));
}

static double valueOf(ttir::ZerosOp) { return 0; }
static double valueOf(ttir::OnesOp) { return 1; }
static double valueOf(ttir::FullOp op) {
  if (auto integer = dyn_cast<IntegerAttr>(op.getFillValue()))
    return static_cast<double>(integer.getValue().getSExtValue());
  return cast<FloatAttr>(op.getFillValue()).getValueAsDouble();
}

namespace {
template <class OpT> class ConstantPattern : public TilePattern<OpT> {
public:
  ConstantPattern(const TileTypes &types, MLIRContext *context, SymbolTable &symbols)
      : TilePattern<OpT>(types, context), symbols(symbols) {}

protected:
  SymbolTable &symbols;
};

struct LowerConstant : ConstantPattern<ttir::ConstantOp> {
  using ConstantPattern::ConstantPattern;
  LogicalResult matchAndRewrite(ttir::ConstantOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    return lowerConstant(rewriter, types, symbols, op, op.getValue());
  }
};

template <class OpT> struct LowerFilled : ConstantPattern<OpT> {
  using ConstantPattern<OpT>::ConstantPattern;
  LogicalResult matchAndRewrite(OpT op, typename OpT::Adaptor, ConversionPatternRewriter &rewriter) const override {
    return lowerFilled(rewriter, this->types, this->symbols, op, valueOf(op));
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

namespace {
/// Ops on tensors of block formats that are not computed tile by tile become ops on floats, with casts before and
/// after.
struct LowerBlocks : ConversionPattern {
  LowerBlocks(const TileTypes &types, MLIRContext *context)
      : ConversionPattern(types, MatchAnyOpTypeTag(), /*benefit=*/3, context) {
    setHasBoundedRewriteRecursion();
  }

  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value>, ConversionPatternRewriter &rewriter) const override {
    const auto isBlocks = [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && isa<ttcore::TileType>(tensor.getElementType());
    };
    if (!isa_and_nonnull<ttir::TTIRDialect>(op->getDialect()) ||
        isa<ttir::TypecastOp, ttir::TTNNMetalLayoutCastOp>(op) || isOfTiles(op) ||
        !(llvm::any_of(op->getOperandTypes(), isBlocks) || llvm::any_of(op->getResultTypes(), isBlocks)))
      return failure();
    const BlockFloats floats = BlockFloats::of(op);
    IRMapping operands;
    for (Value operand : op->getOperands())
      if (isBlocks(operand.getType()))
        operands.map(operand, castTo(rewriter, op->getLoc(), operand, floats.operands));
    Operation *wide = rewriter.clone(*op, operands);
    SmallVector<Value> results;
    for (auto [result, old] : llvm::zip_equal(wide->getResults(), op->getResults())) {
      if (isBlocks(old.getType()))
        result.setType(cast<RankedTensorType>(old.getType()).clone(floats.results));
      results.push_back(castTo(rewriter, op->getLoc(), result, cast<RankedTensorType>(old.getType()).getElementType()));
    }
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// Results without elements need no computation.
struct LowerEmpty : ConversionPattern {
  LowerEmpty(const TileTypes &types, MLIRContext *context)
      : ConversionPattern(types, MatchAnyOpTypeTag(), /*benefit=*/2, context), types(types) {}

  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value>, ConversionPatternRewriter &rewriter) const override {
    const auto isEmpty = [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && tensor.hasStaticShape() && tensor.getNumElements() == 0;
    };
    if (!isa_and_nonnull<ttir::TTIRDialect>(op->getDialect()) || isa<ttir::TTNNMetalLayoutCastOp>(op) ||
        op->getNumResults() == 0 || !llvm::all_of(op->getResultTypes(), isEmpty))
      return failure();
    SmallVector<Value> results;
    for (Type type : op->getResultTypes())
      results.push_back(memref::AllocOp::create(rewriter, op->getLoc(), placeOf(types, type).tiled));
    rewriter.replaceOp(op, results);
    return success();
  }

private:
  const TileTypes &types;
};
} // namespace

namespace {
struct LowerReturn : TilePattern<func::ReturnOp> {
  using TilePattern::TilePattern;
  LogicalResult matchAndRewrite(func::ReturnOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> results;
    auto written = op->getAttrOfType<DenseI64ArrayAttr>(writtenArgumentsName);
    const size_t count = op.getNumOperands() - (written ? static_cast<size_t>(written.size()) : 0);
    for (auto [number, value, tiled] : llvm::enumerate(op.getOperands(), adaptor.getOperands())) {
      Placement placement = placeOf(types, value.getType());
      if (number < count) {
        Value host = hostOf(rewriter, op.getLoc(), types, tiled, placement);
        if (host.getDefiningOp<memref::AllocOp>() || host.getDefiningOp<d2m::MeshShardOp>()) {
          results.push_back(host);
          continue;
        }
      }
      Value rows = rowsOf(rewriter, op.getLoc(), types, tiled, placement), result;
      if (number < count)
        results.push_back(result = memref::AllocOp::create(rewriter, op.getLoc(), placement.host));
      else
        result = op->getParentOfType<func::FuncOp>().getArgument(static_cast<unsigned>(written[number - count]));
      d2m::ToHostOp::create(rewriter, op.getLoc(), TypeRange(), rows, result, placement.layout);
    }
    rewriter.modifyOpInPlace(op, [&] {
      op->setOperands(results);
      op->removeDiscardableAttr(writtenArgumentsName);
    });
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Tensors of TTNN
//===----------------------------------------------------------------------===//

namespace {
/// Between a tensor with a layout of TTNN and its values (ttir-cast-ttnn-layouts).
struct LowerLayoutCast : TilePattern<ttir::TTNNMetalLayoutCastOp> {
  using TilePattern::TilePattern;
  LogicalResult matchAndRewrite(ttir::TTNNMetalLayoutCastOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto from = dyn_cast<RankedTensorType>(op.getInput().getType()), to = dyn_cast<RankedTensorType>(op.getType());
    const bool enters = from && ttnn::TTNNLayoutAttr::of(from);
    if (!from || !to || enters == bool(ttnn::TTNNLayoutAttr::of(to)) || from.getShape() != to.getShape())
      return notifyMatchFailure(rewriter, op, "is not from a tensor with a #ttnn.ttnn_layout to one without, or back");
    Placement placement = placeOf(types, enters ? to : from);
    rewriter.replaceOp(op, enters ? enterTensor(rewriter, op.getLoc(), op.getInput(), placement)
                                  : leaveTensor(rewriter, op.getLoc(), adaptor.getInput(), placement, to));
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

void tt::addPatterns(RewritePatternSet &patterns, const TileTypes &types, SymbolTable &symbols) {
  MLIRContext *context = patterns.getContext();
#define TT_TILE_OP(ttir, tile, kernel, row, ins)                                                                       \
  patterns.add(std::make_unique<LowerByRow>(types, context, "ttir." #ttir, "d2m.tile_" #tile));
#include "ttmlir/Target/TTMetal/TileOps.def"
  patterns.add<LowerClamp, LowerBlocks, LowerEmpty, LowerLayoutCast, LowerReturn, LowerTypecast>(types, context);
  patterns.add<NegateBoolean>(context);
  patterns.add<LowerConstant, LowerFilled<ttir::FullOp>, LowerFilled<ttir::OnesOp>, LowerFilled<ttir::ZerosOp>>(
      types, context, symbols);
  addCollectivePatterns(patterns, types);
  addMatmulPatterns(patterns, types);
  addMovementPatterns(patterns, types);
  addReductionPatterns(patterns, types);
  CompositeTable ofTiles;
  addCollectiveComposites(ofTiles);
  addIndexingComposites(ofTiles);
  addRandomComposites(ofTiles);
  addRoutingComposites(ofTiles);
  addComposites(patterns, types, ofTiles);
  addComposites(patterns, types, composites());
}
