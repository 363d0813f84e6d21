//===- BlockPadding.cpp - padding of block formats ------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "BlockFormats.h"

#include "ttmlir/Conversion/TTIRToD2M/Passes.h"

#include "ttmlir/Dialect/TTCore/IR/TTCore.h"
#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ClampScalarOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConstantOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/LinearOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MatmulOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MaxOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MeshShardOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MinOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReshapeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SliceStaticOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SumOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/TTNNMetalLayoutCastOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/TypecastOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/WhereOp.h"
#include "ttmlir/Dialect/TTIR/IR/TTIR.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::tt {
#define GEN_PASS_DEF_TTIRWIDENPADDEDBLOCKS
#include "ttmlir/Conversion/TTIRToD2M/Passes.h.inc"
} // namespace mlir::tt

using namespace mlir;
using namespace mlir::tt;

/// Elements of a row that share an exponent.
static constexpr int64_t blockSize = 16;

static RankedTensorType blocksOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  std::optional<ttcore::DataType> dataType =
      tensor ? ttcore::elementTypeToDataType(tensor.getElementType()) : std::nullopt;
  return dataType && ttcore::isBlockFormat(*dataType) ? tensor : RankedTensorType();
}

/// Whether elements share an exponent with the padding of tiles.
static bool isPadded(Type type) {
  RankedTensorType blocks = blocksOf(type);
  return blocks && (blocks.getRank() == 0 || blocks.getShape().back() % blockSize != 0);
}

bool tt::isOfTiles(Operation *op) {
  static const llvm::StringSet<> names = {
#define TT_TILE_OP(ttir, tile, kernel, row, ins) "ttir." #ttir,
#include "ttmlir/Target/TTMetal/TileOps.def"
      ttir::ClampScalarOp::getOperationName(),
  };
  const auto isF32 = [](Type type) { return getElementTypeOrSelf(type).isF32(); };
  return names.contains(op->getName().getStringRef()) && llvm::none_of(op->getOperandTypes(), isF32) &&
         llvm::none_of(op->getResultTypes(), isF32);
}

BlockFloats BlockFloats::of(Operation *op) {
  Type narrow = BFloat16Type::get(op->getContext()), wide = Float32Type::get(op->getContext());
  if (isOfTiles(op))
    return {narrow, narrow};
  if (isa<ttir::LinearOp, ttir::MatmulOp, ttir::MaxOp, ttir::MinOp, ttir::SumOp>(op))
    return {narrow, wide};
  return {wide, wide};
}

namespace {
struct WidenPaddedBlocks : tt::impl::TTIRWidenPaddedBlocksBase<WidenPaddedBlocks> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    const auto isAny = [](TypeRange types) { return llvm::any_of(types, isPadded); };
    getOperation().walk([&](Operation *op) {
      // The host computes mesh_shard, and a cast computes nothing; an op that writes to its operands has to have them.
      if (op->hasTrait<OpTrait::IsTerminator>() ||
          isa<func::FuncOp, ttir::MeshShardOp, ttir::TTNNMetalLayoutCastOp>(op) || op->getNumOperands() == 0 ||
          !isMemoryEffectFree(op) || (!isAny(op->getOperandTypes()) && !isAny(op->getResultTypes())))
        return;
      if (auto cast = dyn_cast<ttir::TypecastOp>(op))
        clearPadding(cast);
      else
        widen(op);
    });
  }

private:
  static Value cast(OpBuilder &builder, Location loc, RankedTensorType type, Value value) {
    return ttir::TypecastOp::create(builder, loc, type, value, /*conservative_folding=*/false);
  }

  /// Computes an op in floats. Its results are rounded to blocks afterwards, without what the padding holds then.
  static void widen(Operation *op) {
    const BlockFloats floats = BlockFloats::of(op);
    OpBuilder builder(op);
    const Location loc = ttcore::withoutSourceNumber(op->getLoc());
    for (OpOperand &operand : op->getOpOperands())
      if (RankedTensorType blocks = blocksOf(operand.get().getType()))
        operand.set(cast(builder, loc, blocks.clone(floats.operands), operand.get()));
    builder.setInsertionPointAfter(op);
    for (OpResult result : op->getResults())
      if (RankedTensorType blocks = blocksOf(result.getType())) {
        result.setType(blocks.clone(floats.results));
        Value rounded = cast(builder, loc, blocks, result);
        result.replaceAllUsesExcept(rounded, rounded.getDefiningOp());
        clearPadding(rounded.getDefiningOp<ttir::TypecastOp>());
      }
  }

  /// Zeros the padding of what becomes blocks; that of arguments is 0.
  static void clearPadding(ttir::TypecastOp op) {
    auto type = op.getType();
    if (!isPadded(type) || isa<BlockArgument>(op.getInput()))
      return;
    OpBuilder builder(op);
    const Location loc = ttcore::withoutSourceNumber(op.getLoc());
    Value value = op.getInput();
    RankedTensorType floats = type.clone(builder.getF32Type());
    if (value.getType() != floats)
      value = cast(builder, loc, floats, value);
    // A scalar has no column.
    RankedTensorType rows = floats.getRank() ? floats : RankedTensorType::get({1}, floats.getElementType());
    if (rows != floats)
      value = ttir::ReshapeOp::create(builder, loc, rows, value, builder.getI32ArrayAttr({1}));
    Value kept = ttir::WhereOp::create(builder, loc, rows, positions(builder, loc, rows), value,
                                       constant(builder, loc, rows, ArrayRef(0.0f)));
    if (rows != floats)
      kept = ttir::ReshapeOp::create(builder, loc, floats, kept, builder.getI32ArrayAttr({}));
    op.getInputMutable().assign(kept);
  }

  /// A row of constants that is broadcast to a shape.
  static Value constant(OpBuilder &builder, Location loc, RankedTensorType like, ArrayRef<float> row) {
    SmallVector<int64_t> shape(like.getRank(), 1);
    shape.back() = static_cast<int64_t>(row.size());
    auto type = RankedTensorType::get(shape, like.getElementType());
    return ttir::ConstantOp::create(builder, loc, type, DenseElementsAttr::get(type, row));
  }

  /// One and above, with zeros in the padding: the host fills that of a constant whose elements differ.
  static Value positions(OpBuilder &builder, Location loc, RankedTensorType like) {
    const int64_t width = like.getShape().back();
    SmallVector<float> row(std::max<int64_t>(width, 2));
    for (auto [at, value] : llvm::enumerate(row))
      value = static_cast<float>(at + 1);
    Value all = constant(builder, loc, like, row);
    if (width != 1)
      return all;
    SmallVector<int32_t> ones(like.getRank(), 1), zeros(like.getRank(), 0);
    return ttir::SliceStaticOp::create(
        builder, loc, RankedTensorType::get(SmallVector<int64_t>(like.getRank(), 1), like.getElementType()), all,
        builder.getI32ArrayAttr(zeros), builder.getI32ArrayAttr(ones), builder.getI32ArrayAttr(ones));
  }
};
} // namespace
