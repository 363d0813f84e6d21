//===- LegalLayouts.cpp - layouts that ops may be given -------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "LegalLayouts.h"

#include "ttmlir/Dialect/Families/Traits.h"
#include "ttmlir/Dialect/TTCore/Transforms/Constants.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/DeallocateOp.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

using ::ttmlir::cost::Memory;
using ::ttmlir::cost::PlacedTensor;
using ::ttmlir::cost::Shards;

//===----------------------------------------------------------------------===//
// The chip
//===----------------------------------------------------------------------===//

ChipMemory::ChipMemory(ttcore::ChipDescAttr chip)
    : gridRows(chip.getGrid()[0]), gridColumns(chip.getGrid()[1]),
      base(llvm::alignTo(chip.getL1UnreservedBase(), chip.getNocL1AddressAlignBytes())),
      end(llvm::alignDown(chip.getL1Size(), chip.getNocL1AddressAlignBytes())),
      l1Alignment(chip.getNocL1AddressAlignBytes()), dramAlignment(chip.getNocDRAMAddressAlignBytes()),
      channels(chip.getNumDramChannels()) {}

ttcore::ChipDescAttr ttnn::chipOf(Operation *op) {
  auto module = isa<ModuleOp>(op) ? cast<ModuleOp>(op) : op->getParentOfType<ModuleOp>();
  auto system =
      module ? module->getAttrOfType<ttcore::SystemDescAttr>(ttcore::systemDescName) : ttcore::SystemDescAttr();
  if (system && !system.getChipDescs().empty())
    return system.getChipDescs().front();
  op->emitError() << "layouts are chosen for a chip, but the module has no " << ttcore::systemDescName
                  << "; run ttcore-register-device first";
  return {};
}

int64_t ttnn::l1BytesOfBank(const ChipMemory &chip, const PlacedTensor &tensor) {
  if (tensor.memory != Memory::L1)
    return 0;
  if (tensor.shards == Shards::None) {
    // Copies between DRAM and L1 have the larger alignment in both.
    const int64_t page =
        llvm::alignTo(tensor.tiled ? tensor.tileBytes : tensor.columns * (tensor.tileBytes / 1024), chip.dramAlignment);
    return llvm::divideCeil(tensor.pages(), chip.cores()) * page;
  }
  const int64_t rows = tensor.tiled ? ::ttmlir::cost::tilesAlong(tensor.shardRows) : tensor.shardRows;
  const int64_t row = tensor.tiled ? ::ttmlir::cost::tilesAlong(tensor.shardColumns) * tensor.tileBytes
                                   : llvm::alignTo(tensor.shardColumns * (tensor.tileBytes / 1024), chip.l1Alignment);
  return llvm::alignTo(rows * row, chip.l1Alignment);
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

bool ttnn::isTiledInDram(TTNNLayoutAttr layout) {
  return layout && layout.isTiled() && layout.getBufferType() == BufferType::DRAM && !layout.isSharded();
}

TTNNLayoutAttr ttnn::interleavedInL1(RankedTensorType type, TTNNLayoutAttr layout) {
  return layout.withBufferType(type.getShape(), BufferType::L1);
}

/// Returns the first `count` cores of the grid, row by row.
static CoreRangeSetAttr firstCores(MLIRContext *context, int64_t count, int64_t gridColumns) {
  auto at = [&](int64_t x, int64_t y) { return CoreCoordAttr::get(context, x, y); };
  SmallVector<CoreRangeAttr> ranges;
  const int64_t rows = count / gridColumns, rest = count % gridColumns;
  if (rows)
    ranges.push_back(CoreRangeAttr::get(context, at(0, 0), at(gridColumns - 1, rows - 1)));
  if (rest)
    ranges.push_back(CoreRangeAttr::get(context, at(0, rows), at(rest - 1, rows)));
  return CoreRangeSetAttr::get(context, ranges);
}

TTNNLayoutAttr ttnn::shardedInL1(RankedTensorType type, TTNNLayoutAttr layout, TensorMemoryLayout kind,
                                 int64_t gridRows, int64_t gridColumns, const ChipMemory &chip) {
  MLIRContext *context = type.getContext();
  std::optional<std::array<int64_t, 2>> matrix = collapsedShape(type.getShape(), Layout::Tile);
  if (!matrix || !layout.isTiled() || gridRows < 1 || gridColumns < 1 || gridRows > chip.cores() ||
      gridColumns > chip.cores() || gridRows * gridColumns > chip.cores())
    return {};
  const int64_t rows = (*matrix)[0] / tileHeight, columns = (*matrix)[1] / tileWidth;
  if (rows == 0 || columns == 0)
    return {};
  const bool isBlock = kind == TensorMemoryLayout::BlockSharded;
  if (isBlock && (gridRows > chip.gridRows || gridColumns > chip.gridColumns))
    return {};
  const int64_t cores = gridRows * gridColumns;
  SmallVector<int64_t> shard = {rows, columns};
  if (kind == TensorMemoryLayout::HeightSharded || isBlock)
    shard[0] = llvm::divideCeil(rows, isBlock ? gridRows : cores);
  if (kind == TensorMemoryLayout::WidthSharded || isBlock)
    shard[1] = llvm::divideCeil(columns, isBlock ? gridColumns : cores);
  CoreRangeSetAttr range =
      isBlock ? CoreRangeSetAttr::get(context,
                                      {CoreRangeAttr::get(context, CoreCoordAttr::get(context, 0, 0),
                                                          CoreCoordAttr::get(context, gridColumns - 1, gridRows - 1))})
              : firstCores(context, cores, chip.gridColumns);
  auto memref = MemRefType::get(shard, layout.getMemref().getElementType(), MemRefLayoutAttrInterface(),
                                BufferTypeAttr::get(context, BufferType::L1));
  return TTNNLayoutAttr::get(context, layout.getLinear(), {gridRows, gridColumns}, memref,
                             TensorMemoryLayoutAttr::get(context, kind), layout.getTensorMesh(),
                             layout.getIgnorePhysicalLayout(), range);
}

TTNNLayoutAttr ttnn::shardedInL1(RankedTensorType type, TTNNLayoutAttr layout, TensorMemoryLayout kind,
                                 const ChipMemory &chip) {
  std::optional<std::array<int64_t, 2>> matrix = collapsedShape(type.getShape(), Layout::Tile);
  if (!matrix)
    return {};
  // As many cores as have work, with equal shares except for the last.
  auto busy = [](int64_t tiles, int64_t cores) {
    return tiles ? llvm::divideCeil(tiles, llvm::divideCeil(tiles, cores)) : 0;
  };
  const int64_t rows = (*matrix)[0] / tileHeight, columns = (*matrix)[1] / tileWidth;
  switch (kind) {
  case TensorMemoryLayout::HeightSharded:
    return shardedInL1(type, layout, kind, busy(rows, chip.cores()), 1, chip);
  case TensorMemoryLayout::WidthSharded:
    return shardedInL1(type, layout, kind, 1, busy(columns, chip.cores()), chip);
  case TensorMemoryLayout::BlockSharded:
    return shardedInL1(type, layout, kind, busy(rows, chip.gridRows), busy(columns, chip.gridColumns), chip);
  default:
    return {};
  }
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

bool ttnn::choosesLayouts(func::FuncOp function) {
  auto type = function->getAttrOfType<StringAttr>(ttcore::functionTypeName);
  return !function.isExternal() && function.getBody().hasOneBlock() &&
         (!type || type.getValue() == ttcore::forwardDeviceType || type.getValue() == ttcore::traceMainType);
}

bool ttnn::isPlaceable(Operation *op) {
  if (familyOf(op) == Family::None || op->getNumRegions() || !isMemoryEffectFree(op) ||
      op->hasTrait<trait::Collective>() || op->hasTrait<trait::Creation>() ||
      !isa_and_nonnull<func::FuncOp>(op->getParentOp()))
    return false;
  auto isOnDevice = [](Value value) {
    TTNNLayoutAttr layout = TTNNLayoutAttr::of(value.getType());
    return layout && layout.isOnDevice();
  };
  StringRef name = op->getName().stripDialect();
  if (name == "to_device" || name == "from_device" || name == "to_dtype" || name.starts_with("prepare_") ||
      llvm::none_of(op->getOperands(), isOnDevice))
    return false;
  for (Value result : op->getResults()) {
    if (!isTiledInDram(TTNNLayoutAttr::of(result.getType())) || ttcore::mayBeWritten(result) || result.use_empty())
      return false;
    for (Operation *user : result.getUsers())
      if (!isa<DeallocateOp>(user) &&
          (user->getBlock() != op->getBlock() || !isa_and_nonnull<TTNNDialect>(user->getDialect()) ||
           user->getNumRegions() || user->hasTrait<trait::Collective>() || !isMemoryEffectFree(user)))
        return false;
  }
  return true;
}

/// The kinds of sharding that kernels of the family support.
static ArrayRef<TensorMemoryLayout> shardKinds(Operation *op) {
  static constexpr TensorMemoryLayout all[] = {TensorMemoryLayout::HeightSharded, TensorMemoryLayout::BlockSharded,
                                               TensorMemoryLayout::WidthSharded};
  switch (familyOf(op)) {
  case Family::Elementwise:
  case Family::Convolution:
  case Family::Reshape:
    return all;
  case Family::Product: {
    // One weight matrix for all rows; products of batches have matrices of their own.
    auto right = dyn_cast<RankedTensorType>(op->getOperand(1).getType());
    const bool isOne = right && llvm::all_of(right.getShape().drop_back(std::min<int64_t>(2, right.getRank())),
                                             [](int64_t size) { return size == 1; });
    return isOne ? ArrayRef(all) : ArrayRef<TensorMemoryLayout>();
  }
  case Family::Norm:
    return ArrayRef(all).take_front(op->getName().stripDialect() == "softmax" ? 1 : 2);
  case Family::Pool:
    return ArrayRef(all).take_front(1);
  default:
    return {};
  }
}

SmallVector<SmallVector<TTNNLayoutAttr, 1>> ttnn::legalLayouts(Operation *op, const ChipMemory &chip, bool sharded,
                                                               int64_t most) {
  SmallVector<SmallVector<TTNNLayoutAttr, 1>> found(1);
  for (Value result : op->getResults())
    found[0].push_back(TTNNLayoutAttr::of(result.getType()));
  if (!isPlaceable(op))
    return found;
  // Attention reads queries, keys and values from DRAM, and writes there.
  if (familyOf(op) == Family::Attention)
    return found;
  auto add = [&](auto make) {
    SmallVector<TTNNLayoutAttr, 1> layouts;
    for (auto [result, layout] : llvm::zip_equal(op->getResults(), found[0]))
      layouts.push_back(make(cast<RankedTensorType>(result.getType()), layout));
    auto isNull = [](TTNNLayoutAttr layout) { return !layout; };
    if (static_cast<int64_t>(found.size()) < most && llvm::none_of(layouts, isNull))
      found.push_back(std::move(layouts));
  };
  add(interleavedInL1);
  if (sharded && op->getNumResults() == 1)
    for (TensorMemoryLayout kind : shardKinds(op))
      add([&](RankedTensorType type, TTNNLayoutAttr layout) { return shardedInL1(type, layout, kind, chip); });
  return found;
}

TTNNLayoutAttr ttnn::layoutOnGrid(Operation *op, int64_t gridRows, int64_t gridColumns, const ChipMemory &chip) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  std::optional<std::array<int64_t, 2>> matrix = collapsedShape(type.getShape(), Layout::Tile);
  // Each row and each column of the grid has a shard.
  auto isBusy = [](int64_t tiles, int64_t cores) {
    return tiles > 0 && llvm::divideCeil(tiles, llvm::divideCeil(tiles, cores)) == static_cast<uint64_t>(cores);
  };
  if (!matrix || gridRows < 1 || gridColumns < 1 || !isBusy((*matrix)[0] / tileHeight, gridRows) ||
      !isBusy((*matrix)[1] / tileWidth, gridColumns))
    return {};
  ArrayRef<TensorMemoryLayout> kinds = shardKinds(op);
  for (auto [kind, isOfKind] : {std::pair(TensorMemoryLayout::BlockSharded, true),
                                std::pair(TensorMemoryLayout::HeightSharded, gridColumns == 1),
                                std::pair(TensorMemoryLayout::WidthSharded, gridRows == 1)})
    if (isOfKind && llvm::is_contained(kinds, kind))
      return shardedInL1(type, TTNNLayoutAttr::of(type), kind, gridRows, gridColumns, chip);
  return {};
}

bool ttnn::accepts(Operation *op, unsigned index, const PlacedTensor &operand, ArrayRef<PlacedTensor> results) {
  if (operand.memory != Memory::L1)
    return true;
  const bool isSharded = operand.shards != Shards::None;
  switch (familyOf(op)) {
  case Family::None:
    return true;
  case Family::Attention:
    return false;
  case Family::Elementwise:
  case Family::Norm:
    // The same shards in and out.
    return !isSharded || (!results.empty() && isOnSameCores(operand, results[0]) &&
                          operand.shardRows == results[0].shardRows && operand.shardColumns == results[0].shardColumns);
  case Family::Reshape:
    return !isSharded || (!results.empty() && haveSamePlacement(operand, results[0]));
  case Family::Product:
    return !isSharded ||
           (index == 0 && !results.empty() && (!results[0].isShardInL1() || results[0].shards == operand.shards));
  case Family::Convolution:
    return !isSharded || index == 0;
  case Family::Pool:
    return !isSharded || operand.shards == Shards::Height;
  case Family::DataMovement:
    return !isSharded || op->getName().stripDialect() == "to_memory_config";
  default:
    return !isSharded;
  }
}

std::string ttnn::describe(TTNNLayoutAttr layout) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (!layout)
    return "no layout";
  switch (layout.getBufferType()) {
  case BufferType::DRAM:
    out << "DRAM";
    break;
  case BufferType::SystemMemory:
    out << "host";
    break;
  default:
    out << "L1";
    break;
  }
  if (!layout.isOnDevice())
    return text;
  if (!layout.isSharded()) {
    out << ", interleaved";
    return text;
  }
  StringRef kind = stringifyTensorMemoryLayout(layout.getMemLayout().getValue());
  out << ", " << kind.split('_').first << " sharded on " << layout.getGridShape()[0] << 'x' << layout.getGridShape()[1]
      << " cores, " << layout.getMemref().getShape()[0] << 'x' << layout.getMemref().getShape()[1]
      << (layout.isTiled() ? " tiles each" : " values each");
  return text;
}
