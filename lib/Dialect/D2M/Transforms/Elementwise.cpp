//===- Elementwise.cpp - generics tile by tile ----------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Elementwise.h"

#include "DstRegisters.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::d2m;

std::optional<Elementwise> Elementwise::of(Operation *op) {
  auto generic = dyn_cast_or_null<GenericOp>(op);
  if (!generic || generic.getNumRegions() != 1 || generic.getOutputs().size() != 1 || generic.getNumResults() ||
      !generic.getRegion(0).hasOneBlock() || generic.getIteratorTypes().empty() ||
      generic.threadOf(generic.getRegion(0)).getThreadType() != ThreadType::Unified)
    return std::nullopt;
  for (Attribute iterator : generic.getIteratorTypes())
    if (cast<ttcore::IteratorTypeAttr>(iterator).getValue() != ttcore::IteratorType::Parallel)
      return std::nullopt;
  for (Attribute factor : generic.getBlockFactors())
    if (cast<IntegerAttr>(factor).getInt() != 1)
      return std::nullopt;
  Elementwise found{generic, {}, {}, {}};
  // Outside of the loops, a thread only passes blocks on.
  for (Operation &each : found.body()) {
    if (auto loop = dyn_cast<scf::ForOp>(each)) {
      if (!found.loops.empty())
        return std::nullopt;
      found.loops.push_back(loop);
    } else if (auto reserve = dyn_cast<ReserveOp>(each)) {
      if (found.reserve)
        return std::nullopt;
      found.reserve = reserve;
    } else if (!each.hasTrait<trait::AwaitsBlock>() && !each.hasTrait<trait::ReleasesBlock>() &&
               !isa<RemoteLoadOp, CoreIndexOp, arith::ConstantOp>(each)) {
      return std::nullopt;
    }
  }
  if (!found.reserve || found.loops.empty())
    return std::nullopt;
  const int64_t rank = cast<MemRefType>(found.output().getType()).getRank() / 2;
  while (static_cast<int64_t>(found.loops.size()) < rank) {
    scf::ForOp inner;
    for (Operation &each : found.loops.back().getBody()->without_terminator()) {
      if (auto loop = dyn_cast<scf::ForOp>(each); loop && !inner)
        inner = loop;
      else if (!isa<arith::ConstantOp>(each))
        return std::nullopt;
    }
    if (!inner)
      return std::nullopt;
    found.loops.push_back(inner);
  }
  for (Operation &each : found.loops.back().getBody()->without_terminator()) {
    if (auto store = dyn_cast<memref::StoreOp>(each)) {
      if (found.store || store.getMemRef() != found.reserve.getResult() || !found.isPlace(store.getIndices()) ||
          !store.getValueToStore().getDefiningOp() || !isTileOp(*store.getValueToStore().getDefiningOp()))
        return std::nullopt;
      found.store = store;
    } else if (!isa<memref::LoadOp, arith::ConstantOp>(each) && !isTileOp(each)) {
      return std::nullopt;
    }
  }
  return found.store ? std::optional(found) : std::nullopt;
}
