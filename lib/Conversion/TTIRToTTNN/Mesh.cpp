//===- Mesh.cpp - distribution to a mesh and aggregation ------------------===//

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

namespace {
/// Sends tensors from chip to chip, one after another into one distributed tensor; what nothing was sent to is zero.
class Sender {
public:
  explicit Sender(Lowering &lowering) : lowering(lowering) {
    if (ttcore::DeviceOp device = ttcore::lookupDevice(lowering.op))
      mesh = SmallVector<int64_t>(device.getDeviceAttr().getMeshShape());
  }

  /// Refuses chips that the mesh does not have; -1 stands for none.
  LogicalResult check(DenseIntElementsAttr chips) {
    if (mesh.size() != 2)
      return lowering.refuse("there is no mesh of rows and columns to send over");
    for (const APInt &chip : chips)
      if (chip.getSExtValue() < -1 || chip.getSExtValue() >= mesh[0] * mesh[1])
        return lowering.refuse("it names chip " + Twine(chip.getSExtValue()) + " but the mesh " + Twine(mesh[0]) + "x" +
                               Twine(mesh[1]) + " has " + Twine(mesh[0] * mesh[1]));
    return success();
  }

  /// `received` with the tensor that `from` has in `value` at chip `to`; `received` may be null.
  Value send(Value value, Value received, int64_t from, int64_t to, RankedTensorType type) {
    auto coordinate = [&](StringRef name, int64_t chip) {
      return lowering.attr(name, lowering.attributes().getDenseI64ArrayAttr({chip / mesh[1], chip % mesh[1]}));
    };
    SmallVector<Value> operands = {value};
    if (received)
      operands.push_back(received);
    return lowering.make("point_to_point", operands, type,
                         {coordinate("sender_coord", from), coordinate("receiver_coord", to)});
  }

private:
  Lowering &lowering;
  SmallVector<int64_t> mesh;
};
} // namespace

/// Rows of chips, -1 for none.
static SmallVector<SmallVector<int64_t>> groupsOf(DenseIntElementsAttr attr) {
  SmallVector<SmallVector<int64_t>> groups(attr.getType().getDimSize(0));
  int64_t size = attr.getType().getDimSize(1);
  for (auto [index, chip] : llvm::enumerate(attr))
    if (int64_t id = chip.getSExtValue(); id >= 0)
      groups[index / size].push_back(id);
  return groups;
}

static LogicalResult lowerCollectivePermute(Lowering &lowering) {
  auto op = cast<ttir::CollectivePermuteOp>(lowering.op);
  Sender sender(lowering);
  if (failed(sender.check(op.getSourceTargetPairs())))
    return failure();
  Value received;
  for (ArrayRef<int64_t> pair : groupsOf(op.getSourceTargetPairs()))
    if (pair.size() == 2)
      received = sender.send(op.getInput(), received, pair[0], pair[1], lowering.resultType());
  return received ? lowering.replace(received) : lowering.refuse("it sends nothing");
}

static LogicalResult lowerCollectiveBroadcast(Lowering &lowering) {
  auto op = cast<ttir::CollectiveBroadcastOp>(lowering.op);
  Sender sender(lowering);
  if (failed(sender.check(op.getReplicaGroups())))
    return failure();
  Value received;
  for (ArrayRef<int64_t> group : groupsOf(op.getReplicaGroups()))
    for (int64_t chip : group)
      received = sender.send(op.getInput(), received, group[0], chip, lowering.resultType());
  return received ? lowering.replace(received) : lowering.refuse("its groups are empty");
}

/// Chip i of a group gets part i of every chip of the group.
static LogicalResult lowerAllToAll(Lowering &lowering) {
  auto op = cast<ttir::AllToAllOp>(lowering.op);
  Sender sender(lowering);
  if (failed(sender.check(op.getReplicaGroups())))
    return failure();
  SmallVector<SmallVector<int64_t>> groups = groupsOf(op.getReplicaGroups());
  const int64_t parts = static_cast<int32_t>(op.getSplitCount());
  auto positive = [&](int64_t dim) { return dim < 0 ? dim + lowering.resultType().getRank() : dim; };
  const int64_t split = positive(static_cast<int32_t>(op.getSplitDim()));
  const int64_t joined = positive(static_cast<int32_t>(op.getConcatDim()));
  SmallVector<int64_t> shape(lowering.shapeOf(op.getInput()));
  shape[split] /= parts;
  RankedTensorType type = lowering.typeLike(op.getResult(), shape);
  SmallVector<Value> slices, pieces(parts);
  for (int64_t i = 0; i < parts; ++i)
    slices.push_back(lowering.slice(op.getInput(), lowering.typeLike(op.getInput(), shape), split, i * shape[split],
                                    (i + 1) * shape[split]));
  for (auto [source, piece] : llvm::enumerate(pieces))
    for (ArrayRef<int64_t> group : groups) {
      if (static_cast<int64_t>(group.size()) != parts)
        return lowering.refuse("a group has " + Twine(group.size()) + " chips; expected split_count " + Twine(parts));
      for (auto [target, chip] : llvm::enumerate(group))
        piece = sender.send(slices[target], piece, group[source], chip, type);
    }
  if (!pieces[0])
    return lowering.refuse("it has no groups");
  return lowering.replace(lowering.make("concat", pieces, lowering.resultType(),
                                        lowering.attr("dim", lowering.attributes().getSI32IntegerAttr(joined))));
}

void ttnn::addMeshRules(Rules &rules) {
  rules["all_to_all"] = lowerAllToAll;
  rules["collective_broadcast"] = lowerCollectiveBroadcast;
  rules["collective_permute"] = lowerCollectivePermute;
  rules["mesh_shard"] = lowerMeshShard;
}
