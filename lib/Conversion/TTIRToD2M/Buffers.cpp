//===- Buffers.cpp - L1 buffer layouts of tensors -------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Buffers.h"

#include "ttmlir/Dialect/TTCore/Transforms/Shares.h"
#include "ttmlir/Dialect/TTMetal/IR/TTMetal.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttcore;

static constexpr int64_t tileSize = 32;

std::pair<int64_t, int64_t> tt::collapsed(ArrayRef<int64_t> shape) {
  if (shape.empty())
    return {1, 1};
  return {ShapedType::getNumElements(shape.drop_back()), shape.back()};
}

/// Whether circular buffers and registers of the simulated cores hold the type.
static bool isComputed(DataType type) {
  switch (type) {
#define TT_CORE_TYPE(type) case DataType::type:
#include "ttmlir/Target/TTMetal/CoreTypes.def"
    return true;
  default:
    return false;
  }
}

/// Returns the rows of tiles of each of several matrices, or 1 if there are others than whole ones.
static int64_t rowsOfMatrix(ArrayRef<int64_t> shape) {
  if (shape.size() < 3)
    return 1;
  const int64_t rows = shape[shape.size() - 2];
  return rows > 0 && rows % tileSize == 0 ? rows / tileSize : 1;
}

FailureOr<Placement> tt::place(RankedTensorType type, ArrayRef<int64_t> workerGrid, std::string &reason,
                               bool collapses) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  std::optional<DataType> dataType = elementTypeToDataType(type.getElementType());
  if (!dataType || !isComputed(*dataType)) {
    reason = text +
             " has elements that cores do not compute with; expected f32, bf16, i32, ui32, ui16, ui8, i1, bfp_bf8 " +
             "or bfp_bf4";
    return failure();
  }
  if (!type.hasStaticShape()) {
    reason = text + " has dynamic dimensions";
    return failure();
  }
  if (!ttmetal::isCountable(type)) {
    reason = text + " has more elements than the memories of a device";
    return failure();
  }
  MLIRContext *context = type.getContext();
  auto [rows, columns] = collapsed(type.getShape());
  Placement placed;
  // The rows of tiles of a matrix that stay together; 1: all parts of rows are equal.
  const int64_t matrix = collapses ? 1 : rowsOfMatrix(type.getShape());
  for (auto [size, cores, whole] : llvm::zip(std::array{rows, columns}, workerGrid, std::array{matrix, int64_t(1)})) {
    // One tile, also without elements.
    const Share share = shareOf(std::max<int64_t>(1, llvm::divideCeil(size, tileSize)), cores, whole);
    placed.grid.push_back(share.cores);
    placed.tiles.push_back(share.tiles);
  }

  auto memory = MemorySpaceAttr::get(context, MemorySpace::DeviceL1);
  const auto buffer = [&](ArrayRef<int64_t> shard, Type element, int64_t bytes) {
    SmallVector<int64_t> shape(ArrayRef<int64_t>(placed.grid));
    shape.append(shard.begin(), shard.end());
    return MemRefType::get(shape, element, ShardLayoutAttr::dense(context, shard, bytes), memory);
  };
  const auto tile = TileType::get(context, *dataType);
  // As host values are stored: an i1 is a byte, an i64 four bytes; block formats are rows of bf16.
  Type element = dataTypeToElementType(context, *dataType);
  const auto tileElements = tileSize * tileSize;
  placed.tiled = buffer(placed.tiles, tile, tile.getSizeBytes());
  placed.rowMajor = buffer({placed.tiles[0] * tileSize, placed.tiles[1] * tileSize}, element,
                           static_cast<int64_t>(tileBytes(*elementTypeToDataType(element))) / tileElements);
  placed.host = MemRefType::get(type.getShape(), element);

  SmallVector<int64_t> logical(type.getShape());
  if (logical.empty())
    logical.push_back(1);
  SmallVector<int64_t> alignments(logical.size(), 1);
  for (size_t i = logical.size() - std::min<size_t>(2, logical.size()); i < logical.size(); ++i)
    alignments[i] = tileSize;
  const auto rank = static_cast<int64_t>(logical.size());
  const SmallVector<int64_t> intervals = {0, rank - 1, rank - 1, rank};
  placed.layout = MetalLayoutAttr::get(
      context, logical, alignments,
      DenseIntElementsAttr::get(RankedTensorType::get({2, 2}, IntegerType::get(context, 64)), ArrayRef(intervals)),
      MemorySpace::DeviceL1, TensorMemoryLayout::Sharded);
  return placed;
}
