//===- SourceNumbers.cpp - source numbers in locations --------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

using namespace mlir;
using namespace mlir::tt;

static IntegerAttr numberOf(FusedLoc loc) { return dyn_cast_or_null<IntegerAttr>(loc.getMetadata()); }

Location ttcore::withSourceNumber(Location loc, int64_t number) {
  if (!sourcePath(loc).empty())
    return loc;
  return FusedLoc::get({loc}, Builder(loc.getContext()).getI64IntegerAttr(number), loc.getContext());
}

Location ttcore::withoutSourceNumber(Location loc) {
  if (auto fused = dyn_cast<FusedLoc>(loc)) {
    SmallVector<Location> parts;
    for (Location part : fused.getLocations())
      parts.push_back(withoutSourceNumber(part));
    return numberOf(fused) ? FusedLoc::get(loc.getContext(), parts)
                           : FusedLoc::get(parts, fused.getMetadata(), loc.getContext());
  }
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return CallSiteLoc::get(withoutSourceNumber(call.getCallee()), withoutSourceNumber(call.getCaller()));
  return loc;
}

std::string ttcore::sourcePath(Location loc) {
  if (auto fused = dyn_cast<FusedLoc>(loc)) {
    if (IntegerAttr number = numberOf(fused))
      return std::to_string(number.getInt());
    for (Location part : fused.getLocations())
      if (std::string path = sourcePath(part); !path.empty())
        return path;
    return {};
  }
  if (auto call = dyn_cast<CallSiteLoc>(loc)) {
    std::string caller = sourcePath(call.getCaller()), callee = sourcePath(call.getCallee());
    return caller.empty() || callee.empty() ? std::string() : caller + '/' + callee;
  }
  return {};
}

ttcore::ObservedSources::ObservedSources(Operation *op) {
  while (op && !op->hasAttr(observedName))
    op = op->getParentOp();
  if (auto observed = op ? op->getAttrOfType<DenseI64ArrayAttr>(observedName) : DenseI64ArrayAttr())
    numbers.insert(observed.asArrayRef().begin(), observed.asArrayRef().end());
}

/// Number of the innermost op of a chain of calls, -1 for none.
static int64_t innermostNumber(Location loc) {
  if (auto fused = dyn_cast<FusedLoc>(loc)) {
    if (IntegerAttr number = numberOf(fused))
      return number.getInt();
    for (Location part : fused.getLocations())
      if (int64_t number = innermostNumber(part); number >= 0)
        return number;
  } else if (auto call = dyn_cast<CallSiteLoc>(loc)) {
    return innermostNumber(call.getCallee());
  }
  return -1;
}

bool ttcore::ObservedSources::contains(Operation *op) const {
  return !numbers.empty() && numbers.contains(innermostNumber(op->getLoc()));
}
