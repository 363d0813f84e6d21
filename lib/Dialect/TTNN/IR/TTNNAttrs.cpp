//===- TTNNAttrs.cpp - parsers and verifiers of TTNN attributes -----------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTNN/IR/TTNN.h"

#include "ttmlir/Dialect/TTCore/IR/AsmDirectives.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

//===----------------------------------------------------------------------===//
// Directives
//===----------------------------------------------------------------------===//

// Cores are written x first, devices y first.
template <typename T> static FailureOr<T> parseUnsigned(AsmParser &parser) {
  llvm::SMLoc where = parser.getCurrentLocation();
  APInt value;
  OptionalParseResult found = parser.parseOptionalInteger(value);
  if (found.has_value() && failed(*found))
    return failure();
  if (!found.has_value() || value.isNegative())
    return parser.emitError(where) << "expected an integer of at least 0";
  if (value.getActiveBits() > 8 * sizeof(T))
    return parser.emitError(where) << "expected an integer of at most " << std::numeric_limits<T>::max();
  return static_cast<T>(value.getZExtValue());
}

static ParseResult parseCoordBracketStyle(AsmParser &parser, CoreCoordAttr &coord) {
  llvm::SMLoc where = parser.getCurrentLocation();
  int64_t x = 0, y = 0;
  if (parseBracketedPair(parser, [&](int64_t first, int64_t second) { x = first, y = second; }))
    return failure();
  if (x < 0 || y < 0)
    return parser.emitError(where) << "core (" << x << ',' << y << ") has a negative coordinate";
  coord = CoreCoordAttr::get(parser.getContext(), x, y);
  return success();
}
static void printCoordBracketStyle(AsmPrinter &printer, CoreCoordAttr coord) {
  printer << '(' << coord.getX() << ',' << coord.getY() << ')';
}

static ParseResult parseCoordBracketStyle(AsmParser &parser, MeshOffsetAttr &coord) {
  return parseBracketedPair(parser,
                            [&](int64_t y, int64_t x) { coord = MeshOffsetAttr::get(parser.getContext(), y, x); });
}
static void printCoordBracketStyle(AsmPrinter &printer, MeshOffsetAttr coord) {
  printer << '(' << coord.getY() << ',' << coord.getX() << ')';
}

#include "ttmlir/Dialect/TTNN/IR/TTNNEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "ttmlir/Dialect/TTNN/IR/TTNNAttrs.cpp.inc"

void TTNNDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ttmlir/Dialect/TTNN/IR/TTNNAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Cores
//===----------------------------------------------------------------------===//

LogicalResult CoreRangeAttr::verify(function_ref<InFlightDiagnostic()> emitError, CoreCoordAttr start,
                                    CoreCoordAttr end) {
  if (start.getX() > end.getX() || start.getY() > end.getY())
    return emitError() << "core range ends at (" << end.getX() << ',' << end.getY() << ") before it starts at ("
                       << start.getX() << ',' << start.getY() << ')';
  return success();
}

static bool overlap(CoreRangeAttr a, CoreRangeAttr b) {
  auto apart = [](uint64_t endA, uint64_t startB) { return endA < startB; };
  return !apart(a.getEndCoord().getX(), b.getStartCoord().getX()) &&
         !apart(b.getEndCoord().getX(), a.getStartCoord().getX()) &&
         !apart(a.getEndCoord().getY(), b.getStartCoord().getY()) &&
         !apart(b.getEndCoord().getY(), a.getStartCoord().getY());
}

LogicalResult CoreRangeSetAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<CoreRangeAttr> ranges) {
  for (size_t i = 0; i < ranges.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (overlap(ranges[i], ranges[j]))
        return emitError() << "core ranges " << ranges[j] << " and " << ranges[i] << " overlap";
  return success();
}

//===----------------------------------------------------------------------===//
// Memory configurations
//===----------------------------------------------------------------------===//

/// Reads an attribute in full, by alias, or without its `#ttnn.name` prefix.
template <class Attr> static ParseResult parseAnyForm(AsmParser &parser, Attr &attr) {
  llvm::SMLoc where = parser.getCurrentLocation();
  Attribute parsed;
  OptionalParseResult full = parser.parseOptionalAttribute(parsed);
  if (!full.has_value())
    parsed = Attr::parse(parser, {});
  else if (failed(*full))
    return failure();
  if (!parsed)
    return failure();
  attr = dyn_cast<Attr>(parsed);
  if (!attr)
    return parser.emitError(where) << "expected #ttnn." << Attr::getMnemonic() << ", found " << parsed;
  return success();
}

Attribute MemoryConfigAttr::parse(AsmParser &parser, Type) {
  llvm::SMLoc start = parser.getCurrentLocation();
  BufferTypeAttr buffer;
  TensorMemoryLayoutAttr layout;
  std::optional<ShardSpecAttr> shardSpec;
  std::optional<NDShardSpecAttr> ndShardSpec;
  if (parser.parseLess() || parseAnyForm(parser, buffer))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    llvm::SMLoc where = parser.getCurrentLocation();
    if (succeeded(parser.parseOptionalKeyword("ndShardSpec"))) {
      NDShardSpecAttr spec;
      if (parser.parseEqual() || parseAnyForm(parser, spec))
        return {};
      ndShardSpec = spec;
      continue;
    }
    // A single attribute with a prefix may be either; without a prefix it is the layout.
    Attribute parsed;
    OptionalParseResult full = parser.parseOptionalAttribute(parsed);
    if (full.has_value() && failed(*full))
      return {};
    if (!full.has_value())
      parsed = TensorMemoryLayoutAttr::parse(parser, {});
    if (!parsed)
      return {};
    if (auto spec = dyn_cast<ShardSpecAttr>(parsed)) {
      shardSpec = spec;
    } else if (auto memoryLayout = dyn_cast<TensorMemoryLayoutAttr>(parsed)) {
      layout = memoryLayout;
    } else {
      parser.emitError(where) << "expected a tensor memory layout or a shard spec, found " << parsed;
      return {};
    }
  }
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(start); }, parser.getContext(), layout, buffer, shardSpec,
                    ndShardSpec);
}

void MemoryConfigAttr::print(AsmPrinter &printer) const {
  printer << '<' << getBufferType();
  if (getTensorMemoryLayout()) {
    printer << ", ";
    printer.printStrippedAttrOrType(getTensorMemoryLayout());
  }
  if (getShardSpec())
    printer << ", " << *getShardSpec();
  if (getNdShardSpec())
    printer << ", ndShardSpec = " << *getNdShardSpec();
  printer << '>';
}

static bool isShardedLayout(TensorMemoryLayoutAttr layout) {
  return layout && layout.getValue() != TensorMemoryLayout::Interleaved;
}

LogicalResult MemoryConfigAttr::verify(function_ref<InFlightDiagnostic()> emitError, TensorMemoryLayoutAttr layout,
                                       BufferTypeAttr buffer, std::optional<ShardSpecAttr> shardSpec,
                                       std::optional<NDShardSpecAttr> ndShardSpec) {
  if (shardSpec && ndShardSpec)
    return emitError() << "has both a shard spec and an ndShardSpec; expected at most one";
  if (buffer.getValue() == BufferType::SystemMemory && layout)
    return emitError() << "system memory has no tensor memory layout, found "
                       << stringifyTensorMemoryLayout(layout.getValue());
  if ((shardSpec || ndShardSpec) && !isShardedLayout(layout))
    return emitError() << "has a shard spec, but its tensor memory layout is not sharded";
  return success();
}

MemoryConfigAttr MemoryConfigAttr::of(TTNNLayoutAttr layout) {
  MLIRContext *context = layout.getContext();
  std::optional<ShardSpecAttr> shardSpec;
  if (layout.isSharded() && layout.getCoreRangeSet())
    shardSpec = ShardSpecAttr::get(context, layout.getCoreRangeSet(), ShapeAttr::get(context, layout.getShardShape()),
                                   ShardOrientationAttr::get(context, ShardOrientation::RowMajor));
  return get(context, layout.getMemLayout(), BufferTypeAttr::get(context, layout.getBufferType()), shardSpec,
             std::nullopt);
}
