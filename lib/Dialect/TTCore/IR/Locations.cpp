//===- Locations.cpp - printing of locations ------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTCore/IR/Locations.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

using namespace mlir;
using namespace mlir::tt;

/// "model.py:12" and "model.py:12:3"; nothing for other names.
static std::optional<Location> placeOf(NameLoc name) {
  if (!isa<UnknownLoc>(name.getChildLoc()))
    return std::nullopt;
  auto [rest, last] = name.getName().getValue().rsplit(':');
  auto [file, line] = rest.rsplit(':');
  unsigned lineNumber, columnNumber = 0;
  if (!line.empty() && !line.getAsInteger(10, lineNumber) && !last.getAsInteger(10, columnNumber) && !file.empty())
    return FileLineColLoc::get(name.getContext(), file, lineNumber, columnNumber);
  if (!rest.empty() && !last.getAsInteger(10, lineNumber))
    return FileLineColLoc::get(name.getContext(), rest, lineNumber, 0);
  return std::nullopt;
}

Location ttcore::readableLocation(Location loc) {
  if (auto fused = dyn_cast<FusedLoc>(loc)) {
    SmallVector<Location> parts = llvm::map_to_vector(fused.getLocations(), readableLocation);
    Attribute metadata = fused.getMetadata();
    return isa_and_present<IntegerAttr>(metadata) ? FusedLoc::get(loc.getContext(), parts)
                                                  : FusedLoc::get(parts, metadata, loc.getContext());
  }
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return CallSiteLoc::get(readableLocation(call.getCallee()), readableLocation(call.getCaller()));
  if (auto name = dyn_cast<NameLoc>(loc))
    return placeOf(name).value_or(loc);
  return loc;
}

void ttcore::makeDiagnosticsReadable(MLIRContext *context) {
  DiagnosticEngine &engine = context->getDiagEngine();
  engine.registerHandler([&engine](Diagnostic &given) -> LogicalResult {
    Location loc = readableLocation(given.getLocation());
    bool isReadable = loc == given.getLocation() && llvm::all_of(given.getNotes(), [](Diagnostic &note) {
                        return readableLocation(note.getLocation()) == note.getLocation();
                      });
    // Left to the handlers after this one, which print it or compare it.
    if (isReadable)
      return failure();
    Diagnostic readable(loc, given.getSeverity());
    readable << given.str();
    for (Diagnostic &note : given.getNotes())
      readable.attachNote(readableLocation(note.getLocation())) << note.str();
    engine.emit(std::move(readable));
    return success();
  });
}
