//===- TTCoreAttrs.cpp - attributes and types of the TTCore dialect -------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTCore/IR/AsmDirectives.h"
#include "ttmlir/Dialect/TTCore/IR/TTCore.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttcore;

//===----------------------------------------------------------------------===//
// Custom directives
//===----------------------------------------------------------------------===//

namespace mlir::tt::ttcore {
static ParseResult parseCoordBracketStyle(AsmParser &parser, CoreCoordAttr &coord) {
  return parseBracketedPair(parser,
                            [&](int64_t y, int64_t x) { coord = CoreCoordAttr::get(parser.getContext(), y, x); });
}
static void printCoordBracketStyle(AsmPrinter &printer, CoreCoordAttr coord) {
  printer << '(' << coord.getY() << ',' << coord.getX() << ')';
}

static ParseResult parseCoreCoordList(AsmParser &parser, SmallVector<CoreCoordAttr> &coords) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parseBracketedPair(
        parser, [&](int64_t y, int64_t x) { coords.push_back(CoreCoordAttr::get(parser.getContext(), y, x)); });
  });
}
static void printCoreCoordList(AsmPrinter &printer, ArrayRef<CoreCoordAttr> coords) {
  printer << '[';
  llvm::interleaveComma(coords, printer,
                        [&](CoreCoordAttr coord) { printer << '(' << coord.getY() << ", " << coord.getX() << ')'; });
  printer << ']';
}
} // namespace mlir::tt::ttcore

#include "ttmlir/Dialect/TTCore/IR/TTCoreEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "ttmlir/Dialect/TTCore/IR/TTCoreAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "ttmlir/Dialect/TTCore/IR/TTCoreTypes.cpp.inc"

void TTCoreDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ttmlir/Dialect/TTCore/IR/TTCoreAttrs.cpp.inc"
      >();
}

void TTCoreDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "ttmlir/Dialect/TTCore/IR/TTCoreTypes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Data types
//===----------------------------------------------------------------------===//

namespace {
/// Bits of one value, and of the exponent that a face row of 16 shares.
struct Format {
  DataType type;
  unsigned bits, sharedExponentBits;
};
constexpr Format formats[] = {
    {DataType::Float32, 32, 0},    {DataType::Float16, 16, 0},    {DataType::BFloat16, 16, 0},
    {DataType::BFP_Float8, 8, 8},  {DataType::BFP_BFloat8, 8, 8}, {DataType::BFP_Float4, 4, 8},
    {DataType::BFP_BFloat4, 4, 8}, {DataType::BFP_Float2, 2, 8},  {DataType::BFP_BFloat2, 2, 8},
    {DataType::UInt32, 32, 0},     {DataType::UInt16, 16, 0},     {DataType::UInt8, 8, 0},
    {DataType::Int32, 32, 0},      {DataType::Bool, 8, 0},
};
const Format &formatOf(DataType type) { return formats[static_cast<unsigned>(type)]; }
constexpr int64_t faceRow = 16;
} // namespace

bool ttcore::isBlockFormat(DataType dataType) { return formatOf(dataType).sharedExponentBits != 0; }

static uint64_t formatBytes(DataType dataType, uint64_t values) {
  const Format &format = formatOf(dataType);
  return (values * format.bits + values / faceRow * format.sharedExponentBits) / 8;
}

uint64_t ttcore::tileBytes(DataType dataType) { return formatBytes(dataType, 32 * 32); }

std::optional<DataType> ttcore::elementTypeToDataType(Type elementType) {
  if (auto tile = dyn_cast_or_null<TileType>(elementType))
    return tile.getDataType();
  if (isa_and_nonnull<Float32Type, Float64Type>(elementType))
    return DataType::Float32;
  if (isa_and_nonnull<Float16Type>(elementType))
    return DataType::Float16;
  if (isa_and_nonnull<BFloat16Type>(elementType))
    return DataType::BFloat16;
  auto integer = dyn_cast_or_null<IntegerType>(elementType);
  if (!integer)
    return std::nullopt;
  // Integers without signedness in their name are signed, and the chip has no narrow signed ones.
  switch (integer.getWidth()) {
  case 1:
    return DataType::Bool;
  case 2:
  case 4:
  case 8:
    return integer.isUnsigned() ? DataType::UInt8 : DataType::Int32;
  case 16:
    return integer.isUnsigned() ? DataType::UInt16 : DataType::Int32;
  case 32:
  case 64:
    return integer.isUnsigned() ? DataType::UInt32 : DataType::Int32;
  default:
    return std::nullopt;
  }
}

Type ttcore::dataTypeToElementType(MLIRContext *context, DataType dataType) {
  switch (dataType) {
  case DataType::Float32:
    return Float32Type::get(context);
  case DataType::Float16:
  case DataType::BFP_Float8:
  case DataType::BFP_Float4:
  case DataType::BFP_Float2:
    return Float16Type::get(context);
  case DataType::BFloat16:
  case DataType::BFP_BFloat8:
  case DataType::BFP_BFloat4:
  case DataType::BFP_BFloat2:
    return BFloat16Type::get(context);
  case DataType::UInt32:
    return IntegerType::get(context, 32, IntegerType::Unsigned);
  case DataType::UInt16:
    return IntegerType::get(context, 16, IntegerType::Unsigned);
  case DataType::UInt8:
    return IntegerType::get(context, 8, IntegerType::Unsigned);
  case DataType::Int32:
    return IntegerType::get(context, 32, IntegerType::Signed);
  case DataType::Bool:
    return IntegerType::get(context, 1);
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Tiles and layouts
//===----------------------------------------------------------------------===//

LogicalResult TileType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape, DataType) {
  if (shape.size() != 2)
    return emitError() << "a tile has a height and a width, found " << shape.size() << " dimensions";
  for (int64_t size : shape)
    if (size != 4 && size != 8 && size != 16 && size != 32)
      return emitError() << "tile " << shape[0] << 'x' << shape[1] << " has a side of " << size
                         << "; expected 4, 8, 16 or 32";
  return success();
}

uint64_t TileType::getSizeBytes() const { return formatBytes(getDataType(), getHeight() * getWidth()); }
Type TileType::getElementType() const { return dataTypeToElementType(getContext(), getDataType()); }

LogicalResult MetalLayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> logicalShape,
                                      ArrayRef<int64_t> dimAlignments, DenseIntElementsAttr collapsedIntervals,
                                      MemorySpace, TensorMemoryLayout) {
  if (logicalShape.size() != dimAlignments.size())
    return emitError() << "logical_shape has " << logicalShape.size() << " dimensions but dim_alignments "
                       << dimAlignments.size();
  if (llvm::any_of(dimAlignments, [](int64_t alignment) { return alignment <= 0; }))
    return emitError() << "dim_alignments are positive";
  if (!collapsedIntervals)
    return emitError() << "collapsed_intervals holds integers";
  auto type = collapsedIntervals.getType();
  if (!type.getElementType().isInteger(64) || (type.getRank() == 2 && type.getDimSize(1) != 2))
    return emitError() << "collapsed_intervals is a tensor<Nx2xi64>, found " << type;
  // Ranges of consecutive dimensions; an end of -1 is the last one.
  const auto rank = static_cast<int64_t>(logicalShape.size());
  const auto values = llvm::to_vector(collapsedIntervals.getValues<int64_t>());
  int64_t last = 0;
  for (size_t i = 0; i + 1 < values.size(); i += 2) {
    const int64_t begin = values[i] < 0 ? values[i] + rank : values[i],
                  end = values[i + 1] < 0 ? values[i + 1] + rank : values[i + 1];
    if (begin < last || end < begin || end > rank)
      return emitError() << "collapsed_intervals has [" << values[i] << ", " << values[i + 1]
                         << "); expected intervals of " << rank << " dimensions, one after another";
    last = end;
  }
  return success();
}

ShardLayoutAttr ShardLayoutAttr::dense(MLIRContext *context, ArrayRef<int64_t> shape, int64_t elementBytes) {
  SmallVector<int64_t> stride(shape.size(), elementBytes);
  for (size_t i = shape.size(); i-- > 1;)
    stride[i - 1] = stride[i] * shape[i];
  return get(context, stride, 1);
}

AffineMap ShardLayoutAttr::getAffineMap() const {
  const auto rank = static_cast<unsigned>(getStride().size());
  SmallVector<AffineExpr> results;
  AffineExpr bytes = getAffineConstantExpr(0, getContext());
  for (unsigned i = 0; i < rank; ++i) {
    results.push_back(getAffineDimExpr(i, getContext()));
    bytes = bytes + getAffineDimExpr(rank + i, getContext()) * getStride()[i];
  }
  results.push_back(bytes);
  return AffineMap::get(2 * rank, 0, results, getContext());
}

LogicalResult ShardLayoutAttr::verifyLayout(ArrayRef<int64_t> shape,
                                            function_ref<InFlightDiagnostic()> emitError) const {
  if (shape.size() == 2 * getStride().size())
    return success();
  return emitError() << "layout " << *this << " is of " << 2 * getStride().size()
                     << " dimensions, those of a grid and of a part; the buffer has " << shape.size();
}

//===----------------------------------------------------------------------===//
// Meshes and devices
//===----------------------------------------------------------------------===//

LogicalResult CoreRangeAttr::verify(function_ref<InFlightDiagnostic()> emitError, CoreCoordAttr start,
                                    CoreCoordAttr end) {
  if (start.getY() > end.getY() || start.getX() > end.getX())
    return emitError() << "core range ends at (" << end.getY() << ',' << end.getX() << ") before it starts at ("
                       << start.getY() << ',' << start.getX() << ')';
  return success();
}

/// A larger number of chips is treated as a mistake.

static LogicalResult verifyMeshShape(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape) {
  int64_t chips = 1;
  for (int64_t size : shape) {
    if (size <= 0 || size > maxMeshSize || (chips *= size) > maxMeshSize) {
      InFlightDiagnostic diagnostic = emitError() << "mesh shape ";
      llvm::interleave(shape, diagnostic, "x");
      return diagnostic << " is not that of 1 to " << maxMeshSize << " chips";
    }
  }
  return success();
}

LogicalResult MeshAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringAttr, ArrayRef<int64_t> shape) {
  return verifyMeshShape(emitError, shape);
}

MeshAttr MeshesAttr::getMesh(StringRef name) const {
  for (MeshAttr mesh : getMeshes())
    if (mesh.getName() == name)
      return mesh;
  return {};
}

LogicalResult DeviceAttr::verify(function_ref<InFlightDiagnostic()> emitError, GridAttr, GridAttr, AffineMap, AffineMap,
                                 ArrayRef<int64_t> meshShape, ArrayRef<unsigned> chipIds, ArrayRef<Topology> topology) {
  if (failed(verifyMeshShape(emitError, meshShape)))
    return failure();
  int64_t chips = 1;
  for (int64_t size : meshShape)
    chips *= size;
  if (chips != static_cast<int64_t>(chipIds.size()))
    return emitError() << "meshShape has " << chips << " chips but chipIds " << chipIds.size();
  if (!topology.empty() && topology.size() != meshShape.size())
    return emitError() << "meshTopology has " << topology.size() << " axes but meshShape " << meshShape.size();
  return success();
}

DeviceOp ttcore::lookupDevice(Operation *op, StringRef name) {
  for (Operation *scope = op; scope; scope = scope->getParentOp())
    if (scope->hasTrait<OpTrait::SymbolTable>())
      if (auto device = dyn_cast_or_null<DeviceOp>(SymbolTable::lookupSymbolIn(scope, name)))
        return device;
  return {};
}

std::optional<SmallVector<int64_t>> ttcore::lookupMeshShape(Operation *op) {
  if (DeviceOp device = lookupDevice(op))
    return llvm::to_vector(device.getDeviceAttr().getMeshShape());
  for (Operation *scope = op; scope; scope = scope->getParentOp())
    if (auto meshes = scope->getAttrOfType<MeshesAttr>(meshesName); meshes && !meshes.getMeshes().empty())
      return llvm::to_vector(meshes.getMeshes().front().getShape());
  return std::nullopt;
}
