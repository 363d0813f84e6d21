//===- TTMetalDialect.cpp - the TTMetal dialect and its attributes ---------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTMetal/IR/TTMetal.h"

#include "ttmlir/Dialect/TTCore/IR/AsmDirectives.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttmetal;

#include "ttmlir/Dialect/TTMetal/IR/TTMetalEnums.cpp.inc"
#include "ttmlir/Dialect/TTMetal/IR/TTMetalOpsDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "ttmlir/Dialect/TTMetal/IR/TTMetalAttrs.cpp.inc"

void TTMetalDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "ttmlir/Dialect/TTMetal/IR/TTMetalOps.cpp.inc"
      >();
  registerAttributes();
}

void TTMetalDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ttmlir/Dialect/TTMetal/IR/TTMetalAttrs.cpp.inc"
      >();
}

LogicalResult CoreRangeAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> offset,
                                    ArrayRef<int64_t> size) {
  if (offset.size() != 2 || size.size() != 2)
    return emitError() << "core range has an offset of " << offset.size() << " and a size of " << size.size()
                       << " dimensions; expected rows and columns";
  if (llvm::any_of(offset, [](int64_t each) { return each < 0; }) ||
      llvm::any_of(size, [](int64_t each) { return each <= 0; }))
    return emitError() << "core range has no cores";
  return success();
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

bool ttmetal::isCountable(ShapedType type) {
  int64_t elements = 1;
  for (int64_t size : type.getShape())
    if (size < 0 || size > std::numeric_limits<int32_t>::max() || llvm::MulOverflow(elements, size, elements) ||
        elements > mostElements)
      return false;
  return true;
}

std::optional<DeviceBuffer> DeviceBuffer::of(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref || memref.getRank() != 4 || !memref.hasStaticShape() || !isCountable(memref))
    return std::nullopt;
  auto space = dyn_cast_or_null<ttcore::MemorySpaceAttr>(memref.getMemorySpace());
  if (!space || !isa<ttcore::ShardLayoutAttr>(memref.getLayout()) ||
      (space.getValue() != ttcore::MemorySpace::DeviceL1 && space.getValue() != ttcore::MemorySpace::DeviceDRAM))
    return std::nullopt;
  Type element = memref.getElementType();
  if (!isa<ttcore::TileType>(element) && !ttcore::elementTypeToDataType(element))
    return std::nullopt;
  return DeviceBuffer{memref.getShape().take_front(2), memref.getShape().drop_front(2), element};
}

ttcore::DataType DeviceBuffer::dataType() const {
  if (auto tile = dyn_cast<ttcore::TileType>(element))
    return tile.getDataType();
  return *ttcore::elementTypeToDataType(element);
}

uint64_t DeviceBuffer::pageBytes() const {
  if (auto tile = dyn_cast<ttcore::TileType>(element))
    return tile.getSizeBytes();
  return ttcore::tileBytes(dataType());
}

uint64_t DeviceBuffer::elementBytes() const {
  constexpr uint64_t tileElements = 1024;
  return isa<ttcore::TileType>(element) ? pageBytes() : pageBytes() / tileElements;
}

MemRefType DeviceBuffer::in(ttcore::MemorySpace memory) const {
  SmallVector<int64_t> shape(grid);
  llvm::append_range(shape, shard);
  MLIRContext *context = element.getContext();
  return MemRefType::get(shape, element,
                         ttcore::ShardLayoutAttr::dense(context, shard, static_cast<int64_t>(elementBytes())),
                         ttcore::MemorySpaceAttr::get(context, memory));
}

uint64_t DeviceBuffer::shardBytes() const { return shard[0] * shard[1] * elementBytes(); }
