//===- TTNNLayout.cpp - the TTNN layout attribute -------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTNN/IR/TTNN.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

//===----------------------------------------------------------------------===//
// Collapsing to rows and columns
//===----------------------------------------------------------------------===//

static int64_t paddedTo(int64_t size, Layout layout, int64_t tile) {
  return layout == Layout::Tile ? llvm::alignTo(size, tile) : size;
}

AffineMap ttnn::collapseToMatrix(MLIRContext *context, ArrayRef<int64_t> shape, Layout layout) {
  unsigned rank = shape.size();
  AffineExpr row = getAffineConstantExpr(0, context);
  AffineExpr column = rank == 0 ? row : getAffineDimExpr(rank - 1, context);
  int64_t stride = 1;
  AffineExpr rows;
  // Terms are added outermost last, printed outermost first.
  SmallVector<AffineExpr> terms;
  for (unsigned i = rank; i-- > 1;) {
    terms.push_back(getAffineDimExpr(i - 1, context) * stride);
    if (i > 1)
      stride *= i == rank - 1 ? paddedTo(shape[i - 1], layout, tileHeight) : shape[i - 1];
  }
  for (AffineExpr term : llvm::reverse(terms))
    rows = rows ? rows + term : term;
  return AffineMap::get(rank, 0, {rows ? rows : row, column}, context);
}

std::optional<std::array<int64_t, 2>> ttnn::collapsedShape(ArrayRef<int64_t> shape, Layout layout) {
  if (ShapedType::isDynamicShape(shape))
    return std::nullopt;
  std::array<int64_t, 2> matrix = {1, shape.empty() ? 1 : shape.back()};
  for (size_t i = 0; i + 1 < shape.size(); ++i) {
    int64_t size = i + 2 == shape.size() ? paddedTo(shape[i], layout, tileHeight) : shape[i];
    std::optional<int64_t> product = llvm::checkedMul(matrix[0], size);
    if (!product)
      return std::nullopt;
    matrix[0] = *product;
  }
  matrix[0] = paddedTo(matrix[0], layout, tileHeight);
  matrix[1] = paddedTo(matrix[1], layout, tileWidth);
  return llvm::checkedMul(matrix[0], matrix[1]) ? std::optional(matrix) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Making layouts
//===----------------------------------------------------------------------===//

static MemRefType shardOf(MLIRContext *context, ArrayRef<int64_t> matrix, ttcore::DataType dataType, Layout layout,
                          BufferType buffer) {
  auto memory = BufferTypeAttr::get(context, buffer);
  if (layout == Layout::Tile)
    return MemRefType::get(
        {llvm::divideCeilSigned(matrix[0], tileHeight), llvm::divideCeilSigned(matrix[1], tileWidth)},
        ttcore::TileType::get(context, dataType), MemRefLayoutAttrInterface(), memory);
  return MemRefType::get(matrix, ttcore::dataTypeToElementType(context, dataType), MemRefLayoutAttrInterface(), memory);
}

TTNNLayoutAttr TTNNLayoutAttr::get(MLIRContext *context, ArrayRef<int64_t> tensorShape, ttcore::DataType dataType,
                                   Layout layout, BufferType buffer, ttcore::TensorMeshAttr mesh) {
  std::optional<std::array<int64_t, 2>> matrix = collapsedShape(tensorShape, layout);
  if (!matrix)
    return {};
  TensorMemoryLayoutAttr memoryLayout;
  if (buffer != BufferType::SystemMemory)
    memoryLayout = TensorMemoryLayoutAttr::get(context, TensorMemoryLayout::Interleaved);
  return get(context, collapseToMatrix(context, tensorShape, layout), {1, 1},
             shardOf(context, *matrix, dataType, layout, buffer), memoryLayout, mesh, /*ignorePhysicalLayout=*/false,
             CoreRangeSetAttr());
}

TTNNLayoutAttr TTNNLayoutAttr::of(Type type) {
  auto tensor = dyn_cast_or_null<RankedTensorType>(type);
  return tensor ? dyn_cast_or_null<TTNNLayoutAttr>(tensor.getEncoding()) : TTNNLayoutAttr();
}

TTNNLayoutAttr TTNNLayoutAttr::withDataType(ttcore::DataType dataType) const {
  Type element = isTiled() ? Type(ttcore::TileType::get(getContext(), dataType))
                           : ttcore::dataTypeToElementType(getContext(), dataType);
  auto memref = MemRefType::get(getMemref().getShape(), element, getMemref().getLayout(), getMemref().getMemorySpace());
  return get(getContext(), getLinear(), getGridShape(), memref, getMemLayout(), getTensorMesh(),
             getIgnorePhysicalLayout(), getCoreRangeSet());
}

TTNNLayoutAttr TTNNLayoutAttr::withLayout(ArrayRef<int64_t> tensorShape, Layout layout) const {
  if (layout == getLayout())
    return *this;
  if (!isSharded())
    return get(getContext(), tensorShape, getDataType(), layout, getBufferType(), getTensorMesh());
  MemRefType memref = shardOf(getContext(), getShardShape(), getDataType(), layout, getBufferType());
  return get(getContext(), collapseToMatrix(getContext(), tensorShape, layout), getGridShape(), memref, getMemLayout(),
             getTensorMesh(), getIgnorePhysicalLayout(), getCoreRangeSet());
}

TTNNLayoutAttr TTNNLayoutAttr::withBufferType(ArrayRef<int64_t> tensorShape, BufferType buffer) const {
  return get(getContext(), tensorShape, getDataType(), getLayout(), buffer, getTensorMesh());
}

TTNNLayoutAttr TTNNLayoutAttr::withShape(ArrayRef<int64_t> tensorShape) const {
  return get(getContext(), tensorShape, getDataType(), getLayout(), getBufferType(), getTensorMesh());
}

TTNNLayoutAttr TTNNLayoutAttr::withMesh(ttcore::TensorMeshAttr mesh) const {
  return get(getContext(), getLinear(), getGridShape(), getMemref(), getMemLayout(), mesh, getIgnorePhysicalLayout(),
             getCoreRangeSet());
}

//===----------------------------------------------------------------------===//
// Asking layouts
//===----------------------------------------------------------------------===//

bool TTNNLayoutAttr::isTiled() const { return isa<ttcore::TileType>(getMemref().getElementType()); }
Layout TTNNLayoutAttr::getLayout() const { return isTiled() ? Layout::Tile : Layout::RowMajor; }

ttcore::DataType TTNNLayoutAttr::getDataType() const {
  if (auto tile = dyn_cast<ttcore::TileType>(getMemref().getElementType()))
    return tile.getDataType();
  // The verifier took no other element types.
  return *ttcore::elementTypeToDataType(getMemref().getElementType());
}

BufferType TTNNLayoutAttr::getBufferType() const {
  return cast<BufferTypeAttr>(getMemref().getMemorySpace()).getValue();
}

bool TTNNLayoutAttr::isSharded() const {
  return getMemLayout() && getMemLayout().getValue() != TensorMemoryLayout::Interleaved;
}

SmallVector<int64_t> TTNNLayoutAttr::getShardShape() const {
  SmallVector<int64_t> shape(getMemref().getShape());
  if (auto tile = dyn_cast<ttcore::TileType>(getMemref().getElementType())) {
    shape[shape.size() - 2] *= tile.getHeight();
    shape[shape.size() - 1] *= tile.getWidth();
  }
  return shape;
}

uint64_t TTNNLayoutAttr::getShardBytes() const {
  uint64_t count = getMemref().getNumElements();
  if (auto tile = dyn_cast<ttcore::TileType>(getMemref().getElementType()))
    return count * tile.getSizeBytes();
  return count * ttcore::tileBytes(getDataType()) / (tileHeight * tileWidth);
}

std::optional<ttcore::DataType> ttnn::getDataType(RankedTensorType type) {
  if (TTNNLayoutAttr layout = TTNNLayoutAttr::of(type))
    return layout.getDataType();
  if (auto tile = dyn_cast<ttcore::TileType>(type.getElementType()))
    return tile.getDataType();
  return ttcore::elementTypeToDataType(type.getElementType());
}

RankedTensorType ttnn::withLayout(RankedTensorType type, TTNNLayoutAttr layout) {
  return RankedTensorType::get(type.getShape(), ttcore::dataTypeToElementType(type.getContext(), layout.getDataType()),
                               layout);
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

LogicalResult TTNNLayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError, AffineMap linear,
                                     ArrayRef<int64_t> grid, MemRefType memref, TensorMemoryLayoutAttr memoryLayout,
                                     ttcore::TensorMeshAttr, bool, CoreRangeSetAttr cores) {
  // A shard is a matrix. A tensor in one piece may keep its dimensions.
  const int64_t rank = memref.getRank();
  if (memoryLayout && memoryLayout.getValue() != TensorMemoryLayout::Interleaved && rank != 2)
    return emitError() << "memref of a sharded layout has 2 dimensions, found " << rank << " in " << memref;
  if (rank < 1 || (isa<ttcore::TileType>(memref.getElementType()) && rank < 2))
    return emitError() << "memref of a layout has " << (rank < 1 ? 1 : 2) << " dimensions or more, found " << rank
                       << " in " << memref;
  if (!memref.hasStaticShape())
    return emitError() << "memref of a layout has a static shape, found " << memref;
  if (linear.getNumResults() != rank)
    return emitError() << "map of a layout has " << rank << " results, like its memref, found "
                       << linear.getNumResults();
  if (linear.getNumSymbols() != 0)
    return emitError() << "map of a layout has no symbols, found " << linear.getNumSymbols();
  if (grid.size() != 2 && static_cast<int64_t>(grid.size()) != rank)
    return emitError() << "grid of a layout has 2 dimensions, or " << rank << " like its memref, found " << grid.size();
  if (llvm::any_of(grid, [](int64_t size) { return size <= 0; })) {
    InFlightDiagnostic diagnostic = emitError() << "grid ";
    llvm::interleave(grid, diagnostic, "x");
    return diagnostic << " of a layout is empty";
  }

  auto buffer = dyn_cast_or_null<BufferTypeAttr>(memref.getMemorySpace());
  if (!buffer)
    return emitError() << "memref of a layout lies in a #ttnn.buffer_type, found " << memref;
  bool onHost = buffer.getValue() == BufferType::SystemMemory;
  if (onHost && memoryLayout)
    return emitError() << "tensor in system memory has no tensor memory layout, found "
                       << stringifyTensorMemoryLayout(memoryLayout.getValue());
  if (!onHost && !memoryLayout)
    return emitError() << "tensor in " << stringifyBufferType(buffer.getValue())
                       << " needs a tensor memory layout, such as <interleaved>";

  Type element = memref.getElementType();
  if (auto tile = dyn_cast<ttcore::TileType>(element)) {
    if (ttcore::isBlockFormat(tile.getDataType()) && (tile.getHeight() != tileHeight || tile.getWidth() != tileWidth))
      return emitError() << "block format " << stringifyDataType(tile.getDataType()) << " needs tiles of " << tileHeight
                         << 'x' << tileWidth << ", found " << tile.getHeight() << 'x' << tile.getWidth();
  } else if (!ttcore::elementTypeToDataType(element)) {
    return emitError() << "no data format holds values of " << element;
  }

  if (cores && !cores.getCoreRanges().empty()) {
    uint64_t count = 0;
    for (CoreRangeAttr range : cores.getCoreRanges())
      count += (range.getEndCoord().getX() - range.getStartCoord().getX() + 1) *
               (range.getEndCoord().getY() - range.getStartCoord().getY() + 1);
    std::optional<int64_t> whole = 1;
    for (int64_t size : grid)
      whole = whole ? llvm::checkedMul(*whole, size) : std::nullopt;
    if (!whole || count != static_cast<uint64_t>(*whole)) {
      InFlightDiagnostic diagnostic = emitError() << "core_ranges hold " << count << " cores but grid ";
      llvm::interleave(grid, diagnostic, "x");
      return whole ? diagnostic << ' ' << *whole : diagnostic << " more than 64 bits count";
    }
  }
  return success();
}

LogicalResult TTNNLayoutAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                             function_ref<InFlightDiagnostic()> emitError) const {
  if (getLinear().getNumDims() != shape.size())
    return emitError() << "layout maps " << getLinear().getNumDims() << " dimensions but the tensor has "
                       << shape.size();
  return success();
}
