//===- Mesh.cpp - tensors onto a mesh and back ----------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

/// The dimension that each axis of the mesh splits, -1 for none; fewer than two
/// entries name the last axes.
static FailureOr<SmallVector<int64_t>> splitDims(Lowering &lowering, ArrayRef<int64_t> mesh) {
  auto shard = cast<ttir::MeshShardOp>(lowering.op);
  SmallVector<int64_t> dims(shard.getShardDims());
  if (dims.size() > mesh.size()) {
    (void)lowering.refuse("shard_dims names " + Twine(dims.size()) + " mesh axes but the mesh has " +
                          Twine(mesh.size()));
    return failure();
  }
  dims.insert(dims.begin(), mesh.size() - dims.size(), -1);
  if (shard.getShardType() == ttcore::MeshShardType::Replicate)
    dims.assign(mesh.size(), -1);
  for (auto [axis, dim] : llvm::enumerate(dims)) {
    if (dim < 0)
      continue;
    ArrayRef<int64_t> counts = shard.getShardShape();
    if (dim >= static_cast<int64_t>(counts.size())) {
      (void)lowering.refuse("shard_dims names dimension " + Twine(dim) + " but shard_shape has " +
                            Twine(counts.size()));
      return failure();
    }
    int64_t along = 1;
    for (auto [otherAxis, otherDim] : llvm::enumerate(dims))
      if (otherDim == dim)
        along *= mesh[otherAxis];
    if (counts[dim] != along) {
      (void)lowering.refuse("shard_shape splits dimension " + Twine(dim) + " into " + Twine(counts[dim]) +
                            " parts but the mesh axes it is split along have " + Twine(along) + " devices");
      return failure();
    }
  }
  return dims;
}

static LogicalResult distribute(Lowering &lowering, Value device, ArrayRef<int64_t> dims) {
  SmallVector<ttnn::PlacementAttr> placements;
  for (int64_t dim : dims)
    placements.push_back(dim < 0 ? ttnn::PlacementAttr::get(lowering.context(), ttnn::PlacementType::Replicate, {})
                                 : ttnn::PlacementAttr::get(lowering.context(), ttnn::PlacementType::Shard,
                                                            lowering.attributes().getI64IntegerAttr(dim)));
  return lowering.replace(lowering.make(
      "distribute_tensor", {lowering.op->getOperand(0), device}, lowering.resultType(),
      lowering.attr("mapper_config", ttnn::MeshMapperConfigAttr::get(lowering.context(), placements, {}))));
}

/// An axis that splits nothing holds equal values: only its first device is
/// read, which the override of the mesh shape says; its dimension is then any
/// that no other axis has, or -1.
static LogicalResult aggregate(Lowering &lowering, Value device, ArrayRef<int64_t> dims, ArrayRef<int64_t> mesh) {
  Builder &builder = lowering.attributes();
  SmallVector<IntegerAttr> joined, devices;
  bool whole = true;
  SmallVector<int64_t> taken(dims);
  for (auto [axis, dim] : llvm::enumerate(dims)) {
    int64_t along = dim;
    if (dim < 0) {
      along = 0;
      while (llvm::is_contained(taken, along))
        ++along;
      if (along >= lowering.resultType().getRank())
        along = -1;
      taken.push_back(along);
      whole &= mesh[axis] == 1;
    }
    joined.push_back(builder.getI32IntegerAttr(along));
    devices.push_back(builder.getI32IntegerAttr(dim < 0 ? 1 : mesh[axis]));
  }
  if (whole)
    devices.clear();
  return lowering.replace(lowering.make(
      "aggregate_tensor", {lowering.op->getOperand(0), device}, lowering.resultType(),
      lowering.attr("composer_config", ttnn::MeshComposerConfigAttr::get(lowering.context(), joined, devices))));
}

static LogicalResult lowerMeshShard(Lowering &lowering) {
  auto shard = dyn_cast<ttir::MeshShardOp>(lowering.op);
  if (!isa<RankedTensorType>(shard->getOperand(0).getType()) || !isa<RankedTensorType>(shard->getResult(0).getType()))
    return lowering.refuse("it works on buffers; expected tensors");
  if (shard.getShardType() == ttcore::MeshShardType::Identity)
    return lowering.refuse("an identity stands for an argument or result that is distributed outside, but it is used "
                           "as neither; run ttir-localize-presharded first");
  if (shard.getShardType() == ttcore::MeshShardType::Maximal)
    return lowering.refuse("shard_type maximal, one device holding the tensor, is not supported");
  ttcore::DeviceOp deviceOp = ttcore::lookupDevice(lowering.op);
  Value device = lowering.device();
  if (!device)
    return lowering.refuse("there is no mesh to distribute it over");
  ArrayRef<int64_t> mesh = deviceOp.getDeviceAttr().getMeshShape();
  FailureOr<SmallVector<int64_t>> dims = splitDims(lowering, mesh);
  if (failed(dims))
    return failure();
  return shard.getShardDirection() == ttcore::MeshShardDirection::FullToShard
             ? distribute(lowering, device, *dims)
             : aggregate(lowering, device, *dims, mesh);
}

void ttnn::addMeshRules(Rules &rules) { rules["mesh_shard"] = lowerMeshShard; }
