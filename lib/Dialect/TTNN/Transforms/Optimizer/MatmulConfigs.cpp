//===- MatmulConfigs.cpp - program configs of matrix products -------------===//
// SPDX-License-Identifier: Apache-2.0

#include "MatmulConfigs.h"

#include "ttmlir/Dialect/TTNN/IR/Ops/ConstantOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/DeallocateOp.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

namespace {
/// The tiles of a product, and of each core.
struct Blocks {
  int64_t rows, columns; // of a core
  enum class Along { Both, Rows, Columns } along;
  int64_t tiles() const { return rows * columns; }
};
} // namespace

/// The largest divisor of `size` that is not above `most`.
static int64_t divisor(int64_t size, int64_t most) {
  int64_t found = std::min(size, most);
  while (size % found)
    --found;
  return found;
}

Attribute ttnn::matmulConfigOf(Operation *op, const ChipMemory &chip, std::optional<std::array<int64_t, 2>> requested) {
  if (familyOf(op) != Family::Product || op->getAttr("matmul_program_config"))
    return {};
  auto left = dyn_cast<RankedTensorType>(op->getOperand(0).getType()),
       right = dyn_cast<RankedTensorType>(op->getOperand(1).getType()),
       result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!left || !right || !result || left.getRank() < 2 || right.getRank() < 2 || result.getRank() < 2 ||
      flag(op, "transpose_a") || llvm::any_of(right.getShape().drop_back(2), [](int64_t size) { return size != 1; }))
    return {};
  std::optional<::ttmlir::cost::PlacedTensor> a = placedTensor(left), b = placedTensor(right), c = placedTensor(result);
  if (!a || !b || !c || !a->onDevice() || !b->onDevice() || !c->onDevice() || !c->tiled || c->tiles == 0 ||
      !TTNNLayoutAttr::of(left).isTiled() || !TTNNLayoutAttr::of(right).isTiled())
    return {};
  const int64_t columns = ::ttmlir::cost::tilesAlong(c->columns), rows = c->tiles / columns,
                inner = ::ttmlir::cost::tilesAlong(left.getShape().back());
  if (inner == 0)
    return {};
  const auto [gridRows, gridColumns] = requested.value_or(std::array{chip.gridRows, chip.gridColumns});
  Blocks best{llvm::divideCeilSigned(rows, gridRows), llvm::divideCeilSigned(columns, gridColumns),
              Blocks::Along::Both};
  for (Blocks other : {Blocks{rows, llvm::divideCeilSigned(columns, chip.cores()), Blocks::Along::Columns},
                       Blocks{llvm::divideCeilSigned(rows, chip.cores()), columns, Blocks::Along::Rows}})
    if (!requested && other.tiles() < best.tiles())
      best = other;

  // The amount that a core has at a time: its part of the result, or as much of it as has room.
  const int64_t room = chip.usable() / 2, partial = 4096 + c->tileBytes;
  int64_t blockRows = best.rows, blockColumns = best.columns, depth = divisor(inner, 8);
  auto bytes = [&] {
    return 2 * depth * (blockRows * a->tileBytes + blockColumns * b->tileBytes) + blockRows * blockColumns * partial;
  };
  while (bytes() > room) {
    if (depth > 1 && depth * (blockRows + blockColumns) > blockRows * blockColumns)
      depth = divisor(inner, depth - 1);
    else if (blockRows >= blockColumns && blockRows > 1)
      blockRows = divisor(best.rows, blockRows - 1);
    else if (blockColumns > 1)
      blockColumns = divisor(best.columns, blockColumns - 1);
    else if (depth > 1)
      depth = divisor(inner, depth - 1);
    else
      return {};
  }
  // Four tiles in f32 fit into the registers at a time.
  const int64_t subColumns = divisor(blockColumns, 4), subRows = divisor(blockRows, 4 / subColumns);
  MLIRContext *context = op->getContext();
  auto grid = CoreCoordAttr::get(context, gridColumns, gridRows);
  if (best.along == Blocks::Along::Both)
    return MatmulMultiCoreReuseMultiCastProgramConfigAttr::get(
        context, grid, depth, subRows, subColumns, blockRows, blockColumns, best.rows, best.columns,
        /*transpose_mcast=*/false, UnaryWithParamAttr(), /*fuse_batch=*/true);
  return MatmulMultiCoreReuseMultiCast1DProgramConfigAttr::get(
      context, grid, depth, subRows, subColumns, blockRows, blockColumns, best.rows, best.columns, /*fuse_batch=*/true,
      UnaryWithParamAttr(), /*mcast_in0=*/best.along == Blocks::Along::Columns, /*gather_in0=*/false,
      CoreRangeSetAttr::get(context, {}), /*num_global_cb_receivers=*/0, /*untilize_out=*/false);
}

//===----------------------------------------------------------------------===//
// Weights in DRAM
//===----------------------------------------------------------------------===//

/// Whether the op multiplies one row of tiles with the weight, without a program config.
static bool isOfOneRow(Operation *op, Value weight) {
  if (familyOf(op) != Family::Product || op->getOperand(1) != weight || op->getOperand(0) == weight ||
      op->getAttr("matmul_program_config") || flag(op, "transpose_a"))
    return false;
  std::optional<::ttmlir::cost::PlacedTensor> result = placedTensor(op->getResult(0).getType()),
                                              left = placedTensor(op->getOperand(0).getType());
  return result && left && left->onDevice() && result->onDevice() && result->tiled && result->tiles > 0 &&
         result->tiles == ::ttmlir::cost::tilesAlong(result->columns) &&
         cast<RankedTensorType>(op->getOperand(0).getType()).getRank() >= 2;
}

/// The result's columns are divided among the channels: columns of the weight, or rows of a transposed one.
static TTNNLayoutAttr shardedInDram(RankedTensorType type, bool byRows, const ChipMemory &chip) {
  TTNNLayoutAttr layout = TTNNLayoutAttr::of(type);
  std::optional<std::array<int64_t, 2>> matrix = collapsedShape(type.getShape(), Layout::Tile);
  if (!isTiledInDram(layout) || !matrix || type.getNumElements() == 0)
    return {};
  const size_t cut = byRows ? 0 : 1;
  SmallVector<int64_t> shard = {(*matrix)[0] / tileHeight, (*matrix)[1] / tileWidth}, grid = {1, 1};
  const int64_t tiles = shard[cut];
  if (tiles < chip.channels)
    return {};
  shard[cut] = llvm::divideCeil(tiles, chip.channels);
  grid[cut] = llvm::divideCeil(tiles, shard[cut]);
  auto memref = MemRefType::get(shard, layout.getMemref().getElementType(), MemRefLayoutAttrInterface(),
                                layout.getMemref().getMemorySpace());
  return TTNNLayoutAttr::get(type.getContext(), layout.getLinear(), grid, memref,
                             TensorMemoryLayoutAttr::get(type.getContext(), byRows ? TensorMemoryLayout::HeightSharded
                                                                                   : TensorMemoryLayout::WidthSharded),
                             layout.getTensorMesh(), layout.getIgnorePhysicalLayout(), CoreRangeSetAttr());
}

void ttnn::shardWeightsInDram(Block &block, const ChipMemory &chip) {
  for (Operation &op : block) {
    if (!isa<ConstantOp>(op) || op.use_empty())
      continue;
    Value weight = op.getResult(0);
    auto type = cast<RankedTensorType>(weight.getType());
    auto users = llvm::make_filter_range(weight.getUsers(), [](Operation *user) { return !isa<DeallocateOp>(user); });
    const bool byRows = !users.empty() && flag(*users.begin(), "transpose_b");
    if (users.empty() || type.getRank() < 2 ||
        llvm::any_of(type.getShape().drop_back(2), [](int64_t size) { return size != 1; }) ||
        !llvm::all_of(users, [&](Operation *user) {
          return user->getBlock() == &block && isOfOneRow(user, weight) && flag(user, "transpose_b") == byRows;
        }))
      continue;
    TTNNLayoutAttr layout = shardedInDram(type, byRows, chip);
    if (!layout)
      continue;
    weight.setType(withLayout(type, layout));
    for (Operation *user : users) {
      auto left = cast<RankedTensorType>(user->getOperand(0).getType());
      const int64_t columns = placedTensor(user->getResult(0).getType())->tiles,
                    inner = ::ttmlir::cost::tilesAlong(left.getShape().back());
      if (inner > 0)
        user->setAttr("matmul_program_config",
                      MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfigAttr::get(
                          type.getContext(), divisor(inner, 8), 1, llvm::divideCeilSigned(columns, chip.cores()),
                          UnaryWithParamAttr()));
    }
  }
}
