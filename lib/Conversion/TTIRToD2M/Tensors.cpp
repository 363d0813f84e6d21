//===- Tensors.cpp - tensors of TTNN as buffers ---------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Tensors.h"

#include "ttmlir/Conversion/TTIRToD2M/Passes.h"
#include "ttmlir/Dialect/TTCore/Transforms/ShardedArguments.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MeshShardOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/TTNNMetalLayoutCastOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/AggregateTensorOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/ReshapeOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/ToLayoutOp.h"
#include "ttmlir/Dialect/TTNN/Transforms/Device.h"
#include "ttmlir/Dialect/TTNN/Transforms/Distribution.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::tt {
#define GEN_PASS_DEF_TTIRCASTTTNNLAYOUTS
#include "ttmlir/Conversion/TTIRToD2M/Passes.h.inc"
} // namespace mlir::tt

using namespace mlir;
using namespace mlir::tt;
using ttnn::TTNNLayoutAttr;

RankedTensorType tt::withoutLayout(RankedTensorType type) {
  Type element = type.getElementType();
  if (TTNNLayoutAttr layout = TTNNLayoutAttr::of(type); layout && ttcore::isBlockFormat(layout.getDataType()))
    element = ttcore::TileType::get(type.getContext(), layout.getDataType());
  return RankedTensorType::get(type.getShape(), element);
}

/// Tiles in DRAM, page after page.
static RankedTensorType inDram(RankedTensorType type, ArrayRef<int64_t> shape) {
  TTNNLayoutAttr layout = TTNNLayoutAttr::of(type);
  auto tiles = TTNNLayoutAttr::get(type.getContext(), shape, layout.getDataType(), ttnn::Layout::Tile,
                                   ttnn::BufferType::DRAM, layout.getTensorMesh());
  return RankedTensorType::get(shape, type.getElementType(), tiles);
}

/// The tensor of the values of `type` that lies like a placement: on the same cores, in L1. If the tiles of TTNN, which
/// pads every matrix, are others than those of the flattened rows, it is the matrix of these.
static RankedTensorType placedLike(RankedTensorType type, const Placement &placement) {
  MLIRContext *context = type.getContext();
  SmallVector<int64_t> shape(type.getShape());
  const bool isPadded = shape.size() > 2 && shape[shape.size() - 2] % ttnn::tileHeight != 0 &&
                        ShapedType::getNumElements(ArrayRef(shape).drop_back(2)) != 1;
  if (shape.size() < 2 || isPadded) {
    auto [rows, columns] = collapsed(type.getShape());
    shape = {rows, columns};
  }
  RankedTensorType interleaved = inDram(type, shape);
  TTNNLayoutAttr layout = TTNNLayoutAttr::of(interleaved);
  auto shard = MemRefType::get(placement.tiles, layout.getMemref().getElementType(), MemRefLayoutAttrInterface(),
                               ttnn::BufferTypeAttr::get(context, ttnn::BufferType::L1));
  const auto core = [&](int64_t y, int64_t x) {
    return ttnn::CoreCoordAttr::get(context, static_cast<uint64_t>(x), static_cast<uint64_t>(y));
  };
  auto cores = ttnn::CoreRangeSetAttr::get(
      context, {ttnn::CoreRangeAttr::get(context, core(0, 0), core(placement.grid[0] - 1, placement.grid[1] - 1))});
  auto sharded = TTNNLayoutAttr::get(context, layout.getLinear(), placement.grid, shard,
                                     ttnn::TensorMemoryLayoutAttr::get(context, ttnn::TensorMemoryLayout::BlockSharded),
                                     layout.getTensorMesh(),
                                     /*ignorePhysicalLayout=*/false, cores);
  return RankedTensorType::get(shape, type.getElementType(), sharded);
}

static Value reshaped(OpBuilder &builder, Location loc, Value tensor, RankedTensorType type) {
  return ttnn::ReshapeOp::create(builder, loc, type, tensor,
                                 builder.getI32ArrayAttr(SmallVector<int32_t>(type.getShape())));
}

static Value laidOut(OpBuilder &builder, Location loc, Value tensor, RankedTensorType type) {
  return tensor.getType() == type ? tensor : ttnn::ToLayoutOp::create(builder, loc, type, tensor).getResult();
}

Value tt::enterTensor(OpBuilder &builder, Location loc, Value tensor, const Placement &placement) {
  auto type = cast<RankedTensorType>(tensor.getType());
  RankedTensorType placed = placedLike(type, placement);
  if (placed.getShape() != type.getShape()) {
    tensor = laidOut(builder, loc, tensor, inDram(type, type.getShape()));
    tensor = reshaped(builder, loc, tensor, inDram(type, placed.getShape()));
  }
  tensor = laidOut(builder, loc, tensor, placed);
  return ttir::TTNNMetalLayoutCastOp::create(builder, loc, placement.tiled, tensor, AffineMapAttr(), AffineMapAttr());
}

Value tt::leaveTensor(OpBuilder &builder, Location loc, Value tiles, const Placement &placement,
                      RankedTensorType type) {
  RankedTensorType placed = placedLike(type, placement);
  Value tensor = ttir::TTNNMetalLayoutCastOp::create(builder, loc, placed, tiles, AffineMapAttr(), AffineMapAttr());
  if (placed.getShape() != type.getShape()) {
    tensor = laidOut(builder, loc, tensor, inDram(type, placed.getShape()));
    tensor = reshaped(builder, loc, tensor, inDram(type, type.getShape()));
  }
  return laidOut(builder, loc, tensor, type);
}

//===----------------------------------------------------------------------===//
// The types of functions
//===----------------------------------------------------------------------===//

namespace {
/// Arguments and results of a function keep, or get, a layout; the ops in between compute values without.
struct CastTTNNLayouts : tt::impl::TTIRCastTTNNLayoutsBase<CastTTNNLayouts> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    if (!function.getBody().hasOneBlock()) {
      function.emitOpError() << "has " << llvm::range_size(function.getBody()) << " blocks; a program has one";
      return signalPassFailure();
    }
    Block &body = function.getBody().front();
    const ttnn::Distribution distribution(function);
    Operation *end = body.getTerminator();
    const auto isDistributed =
        llvm::map_to_vector(end->getOperands(), [&](Value value) { return distribution.contains(value); });
    SmallVector<Type> arguments, results;
    OpBuilder builder = OpBuilder::atBlockBegin(&body);
    for (BlockArgument argument : body.getArguments()) {
      const bool staysOnHost = !argument.use_empty() && llvm::all_of(argument.getUsers(), [](Operation *user) {
        return joinsHost(user) && ttnn::isMeshShard(user, ttcore::MeshShardDirection::FullToShard);
      });
      FailureOr<RankedTensorType> type =
          typeOf(argument.getType(), staysOnHost, distribution.contains(argument), "argument", argument.getArgNumber());
      if (failed(type))
        return signalPassFailure();
      argument.setType(*type);
      arguments.push_back(*type);
      Value plain = ttir::TTNNMetalLayoutCastOp::create(builder, argument.getLoc(), withoutLayout(*type), argument,
                                                        AffineMapAttr(), AffineMapAttr());
      argument.replaceAllUsesExcept(plain, plain.getDefiningOp());
    }
    for (auto shard : llvm::to_vector(body.getOps<ttir::MeshShardOp>()))
      if (joinsHost(shard) && failed(lower(shard)))
        return signalPassFailure();
    for (Operation &op : body)
      if (!isa<ttir::TTNNMetalLayoutCastOp>(op) && !isa<ttnn::TTNNDialect>(op.getDialect()))
        for (OpResult result : op.getResults())
          if (auto type = dyn_cast<RankedTensorType>(result.getType()))
            result.setType(withoutLayout(type));
    builder.setInsertionPoint(end);
    for (auto [number, given] : llvm::enumerate(function.getResultTypes())) {
      Value value = end->getOperand(static_cast<unsigned>(number));
      Value tensor = tensorOf(value);
      const bool isOnHost = tensor && tensor.getDefiningOp<ttnn::AggregateTensorOp>();
      FailureOr<RankedTensorType> type = typeOf(given, isOnHost, isDistributed[number], "result", number);
      if (failed(type))
        return signalPassFailure();
      results.push_back(*type);
      end->setOperand(static_cast<unsigned>(number),
                      isOnHost ? laidOut(builder, end->getLoc(), tensor, *type)
                               : ttir::TTNNMetalLayoutCastOp::create(builder, end->getLoc(), *type, value,
                                                                     AffineMapAttr(), AffineMapAttr())
                                     .getResult());
    }
    for (auto cast : llvm::make_early_inc_range(body.getOps<ttir::TTNNMetalLayoutCastOp>()))
      if (cast->use_empty())
        cast.erase();
    function.setFunctionType(FunctionType::get(&getContext(), arguments, results));
  }

private:
  /// Whether values are divided or joined on the host: not where the mesh has one chip, nor where an identity stands
  /// for what is distributed outside.
  static bool joinsHost(Operation *op) {
    auto shard = dyn_cast<ttir::MeshShardOp>(op);
    return shard && shard.getShardType() != ttcore::MeshShardType::Identity && hasSeveralChips(op);
  }

  static bool hasSeveralChips(Operation *op) {
    std::optional<SmallVector<int64_t>> mesh = ttcore::lookupMeshShape(op);
    return mesh && ShapedType::getNumElements(*mesh) > 1;
  }

  /// The tensor whose values these are, or null.
  static Value tensorOf(Value values) {
    auto cast = values.getDefiningOp<ttir::TTNNMetalLayoutCastOp>();
    return cast && TTNNLayoutAttr::of(cast.getInput().getType()) ? cast.getInput() : Value();
  }

  /// Rows on the host, or tiles in DRAM; block formats have no rows.
  static RankedTensorType placed(RankedTensorType type, ttcore::DataType dataType, bool onHost,
                                 ttcore::TensorMeshAttr mesh) {
    onHost &= !ttcore::isBlockFormat(dataType);
    return ttnn::withLayout(type, TTNNLayoutAttr::get(type.getContext(), type.getShape(), dataType,
                                                      onHost ? ttnn::Layout::RowMajor : ttnn::Layout::Tile,
                                                      onHost ? ttnn::BufferType::SystemMemory : ttnn::BufferType::DRAM,
                                                      mesh));
  }

  /// The chips get parts of what is on the host, which gets what they join.
  LogicalResult lower(ttir::MeshShardOp shard) {
    OpBuilder builder(shard);
    Location loc = shard.getLoc();
    auto from = cast<RankedTensorType>(shard.getInput().getType()), to = cast<RankedTensorType>(shard.getType());
    std::optional<ttcore::DataType> dataType = ttcore::elementTypeToDataType(from.getElementType());
    const bool divides = shard.getShardDirection() == ttcore::MeshShardDirection::FullToShard;
    if (!dataType || !from.hasStaticShape())
      return shard.emitOpError() << "operand is " << from
                                 << "; expected a tensor of static shape with elements of a data format";
    ttcore::TensorMeshAttr mesh = ttcore::distributedOver(shard);
    RankedTensorType input = placed(from, *dataType, divides, divides ? ttcore::TensorMeshAttr() : mesh);
    Value tensor = tensorOf(shard.getInput());
    if (!tensor)
      tensor = ttir::TTNNMetalLayoutCastOp::create(
          builder, loc, placed(from, *dataType, /*onHost=*/false, divides ? ttcore::TensorMeshAttr() : mesh),
          shard.getInput(), AffineMapAttr(), AffineMapAttr());
    tensor = laidOut(builder, loc, tensor, input);
    Value device = ttnn::getOrCreateDevice(builder, shard, [&](const Twine &why) { shard.emitOpError() << why; });
    if (!device)
      return failure();
    std::string reason;
    Value result = ttnn::createMeshShard(builder, shard, tensor,
                                         placed(to, *dataType, !divides, divides ? mesh : ttcore::TensorMeshAttr()),
                                         device, reason);
    if (!result)
      return shard.emitOpError() << "is not lowered to TTNN: " << reason;
    shard.replaceAllUsesWith(
        ttir::TTNNMetalLayoutCastOp::create(builder, loc, withoutLayout(cast<RankedTensorType>(result.getType())),
                                            result, AffineMapAttr(), AffineMapAttr())
            .getResult());
    shard.erase();
    return success();
  }

  /// A tensor without a layout of TTNN gets one.
  FailureOr<RankedTensorType> typeOf(Type given, bool onHost, bool isDistributed, StringRef what, size_t number) {
    auto type = dyn_cast<RankedTensorType>(given);
    if (type && TTNNLayoutAttr::of(type))
      return type;
    auto dataType = type && type.hasStaticShape() ? ttcore::elementTypeToDataType(type.getElementType()) : std::nullopt;
    if (!dataType || !ttnn::collapsedShape(type.getShape(), ttnn::Layout::Tile))
      return getOperation().emitOpError() << what << " " << number << " is " << given
                                          << "; expected a tensor of static shape with elements of a data format";
    return placed(type, *dataType, onHost,
                  isDistributed && hasSeveralChips(getOperation()) ? ttcore::distributedOver(getOperation())
                                                                   : ttcore::TensorMeshAttr());
  }
};
} // namespace
