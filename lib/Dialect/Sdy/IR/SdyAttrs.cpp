//===- SdyAttrs.cpp - attributes of the Shardy dialect --------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Syntax.h"
#include "ttmlir/Dialect/Sdy/IR/Axes.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace mlir::sdy;

#include "ttmlir/Dialect/Sdy/IR/SdyEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "ttmlir/Dialect/Sdy/IR/SdyAttrs.cpp.inc"

void SdyDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ttmlir/Dialect/Sdy/IR/SdyAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// MeshAxisAttr, MeshAttr
//===----------------------------------------------------------------------===//

LogicalResult MeshAxisAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef name, int64_t size) {
  if (size <= 0)
    return emitError() << "mesh axis \"" << name << "\" has size " << size << "; expected 1 or more";
  return success();
}

LogicalResult MeshAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<MeshAxisAttr> axes,
                               ArrayRef<int64_t> deviceIds) {
  llvm::StringSet<> names;
  std::optional<int64_t> devices = 1;
  for (MeshAxisAttr axis : axes) {
    if (!names.insert(axis.getName()).second)
      return emitError() << "mesh has two axes \"" << axis.getName() << "\"";
    devices = devices ? llvm::checkedMul(*devices, axis.getSize()) : devices;
  }
  // Passes enumerate the devices of a mesh.
  if (!devices || *devices > maxMeshDevices)
    return emitError() << "mesh has " << (devices ? std::to_string(*devices) : "2^63 or more")
                       << " devices; expected 1 to " << maxMeshDevices;
  if (deviceIds.empty())
    return success();
  if (static_cast<int64_t>(deviceIds.size()) != *devices)
    return emitError() << "mesh of " << *devices << " devices has " << deviceIds.size() << " device_ids";
  // A mesh without axes is one device of a larger system, so its number has no upper bound.
  if (axes.empty())
    return deviceIds.front() >= 0 ? success()
                                  : emitError() << "mesh has device id " << deviceIds.front() << "; expected 0 or more";
  SmallVector<int64_t> sorted(deviceIds);
  llvm::sort(sorted);
  for (auto [index, id] : llvm::enumerate(sorted))
    if (id != static_cast<int64_t>(index))
      return emitError() << "mesh device_ids are not 0 to " << *devices - 1 << ", each once";
  return success();
}

std::optional<int64_t> MeshAttr::getAxisSize(StringRef name) const {
  for (MeshAxisAttr axis : getAxes())
    if (axis.getName() == name)
      return axis.getSize();
  return std::nullopt;
}

int64_t MeshAttr::getTotalSize() const {
  int64_t size = 1;
  for (MeshAxisAttr axis : getAxes())
    size *= axis.getSize();
  return size;
}

//===----------------------------------------------------------------------===//
// SubAxisInfoAttr
//===----------------------------------------------------------------------===//

LogicalResult SubAxisInfoAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t preSize, int64_t size) {
  if (preSize < 1 || size < 2)
    return emitError() << "sub-axis (" << preSize << ")" << size
                       << "; expected a pre-size of 1 or more and a size of 2 "
                       << "or more";
  return success();
}

//===----------------------------------------------------------------------===//
// DimensionShardingAttr
//===----------------------------------------------------------------------===//

Attribute DimensionShardingAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<AxisRefAttr> axes;
  bool isClosed = true;
  // `?` ends the list.
  auto parseEntry = [&]() -> ParseResult {
    if (!isClosed)
      return parser.emitError(parser.getCurrentLocation(), "expected '}' after '?'");
    if (succeeded(parser.parseOptionalQuestion())) {
      isClosed = false;
      return success();
    }
    return parser.parseCustomAttributeWithFallback(axes.emplace_back());
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, parseEntry))
    return {};
  // `p1` is one token to the lexer.
  std::optional<int64_t> priority;
  SMLoc priorityLoc = parser.getCurrentLocation();
  StringRef word;
  if (succeeded(parser.parseOptionalKeyword(&word))) {
    int64_t value;
    if (!word.consume_front("p") || word.getAsInteger(10, value))
      return parser.emitError(priorityLoc, "expected a priority such as p1"), Attribute();
    priority = value;
  }
  return parser.getChecked<DimensionShardingAttr>(loc, parser.getContext(), axes, isClosed, priority);
}

void DimensionShardingAttr::print(AsmPrinter &printer) const {
  printer << '{';
  llvm::interleaveComma(getAxes(), printer, [&](AxisRefAttr axis) { printer.printStrippedAttrOrType(axis); });
  if (!getIsClosed())
    printer << (getAxes().empty() ? "?" : ", ?");
  printer << '}';
  if (getPriority())
    printer << 'p' << *getPriority();
}

LogicalResult DimensionShardingAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<AxisRefAttr> axes,
                                            bool isClosed, std::optional<int64_t> priority) {
  if (priority && *priority < 0)
    return emitError() << "dimension_sharding has priority " << *priority << "; expected 0 or more";
  if (priority && axes.empty() && isClosed)
    return emitError() << "dimension_sharding without axes is closed and has a priority; there is nothing to order";
  return success();
}

//===----------------------------------------------------------------------===//
// TensorShardingAttr
//===----------------------------------------------------------------------===//

LogicalResult TensorShardingAttr::verify(function_ref<InFlightDiagnostic()> emitError, Attribute meshOrRef,
                                         ArrayRef<DimensionShardingAttr>, ArrayRef<AxisRefAttr>, ArrayRef<AxisRefAttr>,
                                         ReductionOp) {
  if (!isa_and_present<MeshAttr, FlatSymbolRefAttr>(meshOrRef))
    return emitError() << "sharding has mesh " << meshOrRef << "; expected a symbol or a #sdy.mesh";
  return success();
}

MeshAttr TensorShardingAttr::getMesh(Operation *op) const {
  if (auto mesh = dyn_cast<MeshAttr>(getMeshOrRef()))
    return mesh;
  auto mesh = SymbolTable::lookupNearestSymbolFrom<MeshOp>(op, cast<FlatSymbolRefAttr>(getMeshOrRef()));
  return mesh ? mesh.getMesh() : MeshAttr();
}
