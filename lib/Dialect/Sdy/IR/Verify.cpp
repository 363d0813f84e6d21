//===- Verify.cpp - verification of shardings -----------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Verify.h"
#include "ttmlir/Dialect/Sdy/IR/Axes.h"

using namespace mlir;
using namespace mlir::sdy;

FailureOr<MeshAttr> sdy::findMesh(EmitError emitError, TensorShardingAttr sharding, Operation *op,
                                  SymbolTableCollection *symbols) {
  MeshAttr mesh;
  auto name = dyn_cast<FlatSymbolRefAttr>(sharding.getMeshOrRef());
  if (name && symbols) {
    auto found = symbols->lookupNearestSymbolFrom<MeshOp>(op, name);
    mesh = found ? found.getMesh() : MeshAttr();
  } else {
    mesh = sharding.getMesh(op);
  }
  if (!mesh)
    return emitError() << "refers to mesh " << name << ", which does not exist";
  return mesh;
}

namespace {
/// The part [begin, end) of the factors of an axis: an axis of size 8 is [1, 8), its part (2)2 is [2, 4).
struct Part {
  AxisRefAttr axis;
  int64_t begin, end;
};
} // namespace

LogicalResult sdy::verifyAxes(EmitError emitError, ArrayRef<AxisRefAttr> axes, MeshAttr mesh) {
  SmallVector<Part> parts;
  for (AxisRefAttr axis : axes) {
    std::optional<int64_t> size = mesh.getAxisSize(axis.getName());
    if (!size)
      return emitError() << "names axis \"" << axis.getName() << "\", which mesh " << mesh << " does not have";
    Part part = {axis, 1, *size};
    if (SubAxisInfoAttr sub = axis.getSubAxisInfo()) {
      // Compared by division, because the product may overflow.
      if (sub.getPreSize() > *size || sub.getSize() >= *size || *size / sub.getPreSize() < sub.getSize() ||
          *size % (sub.getPreSize() * sub.getSize()) != 0)
        return emitError() << "names part (" << sub.getPreSize() << ")" << sub.getSize() << " of axis \""
                           << axis.getName() << "\", whose size is " << *size
                           << "; expected pre-size times size to divide it, and not the whole axis";
      part.begin = sub.getPreSize();
      part.end = sub.getPreSize() * sub.getSize();
    }
    for (const Part &other : parts) {
      if (other.axis.getName() != axis.getName())
        continue;
      if (other.axis == axis || std::max(part.begin, other.begin) < std::min(part.end, other.end))
        return emitError() << "names axis \"" << axis.getName() << "\", or a part of it, twice";
      // No order of devices along the axis contains both parts.
      if (!canCoexist({0, part.begin, part.end / part.begin}, {0, other.begin, other.end / other.begin}))
        return emitError() << "names parts " << other.axis << " and " << axis
                           << ", which no split of the axis has both";
    }
    parts.push_back(part);
  }
  return success();
}

LogicalResult sdy::verifySharding(EmitError emitError, TensorShardingAttr sharding, MeshAttr mesh, Type type) {
  SmallVector<AxisRefAttr> axes;
  for (DimensionShardingAttr dimension : sharding.getDimShardings())
    llvm::append_range(axes, dimension.getAxes());
  llvm::append_range(axes, sharding.getReplicatedAxes());
  llvm::append_range(axes, sharding.getUnreducedAxes());
  if (failed(verifyAxes(emitError, axes, mesh)))
    return failure();
  for (DimensionShardingAttr dimension : sharding.getDimShardings())
    for (auto [major, minor] :
         llvm::zip(dimension.getAxes(), dimension.getAxes().drop_front(!dimension.getAxes().empty()))) {
      SubAxisInfoAttr a = major.getSubAxisInfo(), b = minor.getSubAxisInfo();
      if (a && b && major.getName() == minor.getName() && a.getPreSize() * a.getSize() == b.getPreSize())
        return emitError() << "names parts " << major << " and " << minor << " one after the other; expected one part";
    }
  // A tensor on a single device needs no dimensions.
  bool onOneDevice = mesh.getAxes().empty() && !mesh.getDeviceIds().empty() && sharding.getDimShardings().empty();
  auto shaped = dyn_cast<ShapedType>(type);
  if (onOneDevice || !shaped || !shaped.hasRank())
    return success();
  if (static_cast<int64_t>(sharding.getDimShardings().size()) != shaped.getRank())
    return emitError() << "has " << sharding.getDimShardings().size() << " dimensions, but " << type << " has "
                       << shaped.getRank();
  return success();
}

LogicalResult sdy::verifySharding(EmitError emitError, TensorShardingAttr sharding, Type type, Operation *op,
                                  SymbolTableCollection *symbols) {
  FailureOr<MeshAttr> mesh = findMesh(emitError, sharding, op, symbols);
  return failed(mesh) ? failure() : verifySharding(emitError, sharding, *mesh, type);
}

LogicalResult sdy::verifyShardings(EmitError emitError, TensorShardingPerValueAttr shardings, TypeRange types,
                                   Operation *op, SymbolTableCollection *symbols) {
  if (shardings.getShardings().size() != types.size())
    return emitError() << "has " << shardings.getShardings().size() << " shardings; expected one for each of "
                       << types.size() << " values";
  for (auto [sharding, type] : llvm::zip_equal(shardings.getShardings(), types))
    if (failed(verifySharding(emitError, sharding, type, op, symbols)))
      return failure();
  return success();
}

int64_t sdy::getSize(AxisRefAttr axis, MeshAttr mesh) {
  return axis.getSubAxisInfo() ? axis.getSubAxisInfo().getSize() : mesh.getAxisSize(axis.getName()).value_or(1);
}
