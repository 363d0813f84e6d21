//===- Mesh.cpp - shapes of collectives -----------------------------------===//

#include "Detail.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::shapes;

LogicalResult shapes::meshShard(const Reporter &report, Value input, ttcore::MeshShardType type,
                                ttcore::MeshShardDirection direction, ArrayRef<int64_t> shardShape,
                                ArrayRef<int64_t> shardDims, Types &results) {
  auto shaped = dyn_cast<ShapedType>(input.getType());
  if (!shaped || !shaped.hasStaticShape())
    return report.error("operand 'input' is ", input.getType(), "; dynamic dimensions are not supported");
  if (type == ttcore::MeshShardType::Replicate || type == ttcore::MeshShardType::Maximal) {
    results.push_back(shaped);
    return success();
  }
  int64_t rank = shaped.getRank();
  if (static_cast<int64_t>(shardShape.size()) != rank)
    return report.error("attribute 'shard_shape' has ", static_cast<int64_t>(shardShape.size()),
                        " numbers; expected one per dimension, ", rank);
  SmallVector<bool> seen(rank);
  for (int64_t dim : shardDims) {
    if (dim == -1)
      continue;
    if (dim < 0 || dim >= rank)
      return report.error("attribute 'shard_dims' has ", dim, "; expected -1 to ", rank - 1);
    if (std::exchange(seen[dim], true))
      return report.error("attribute 'shard_dims' has ", dim, " twice");
  }
  Shape shape;
  for (auto [i, size, count] : llvm::enumerate(shaped.getShape(), shardShape)) {
    int64_t dim = i;
    if (count < 1)
      return report.error("attribute 'shard_shape' is ", count, " for dimension ", dim, "; expected 1 or more");
    if (direction == ttcore::MeshShardDirection::FullToShard) {
      if (size % count != 0)
        return report.error("dimension ", dim, " of size ", size, " does not divide into ", count, " shards");
      shape.push_back(size / count);
      continue;
    }
    std::optional<int64_t> full = multiply(size, count);
    if (!full)
      return report.error("dimension ", dim, " of the result does not fit into 64 bits");
    shape.push_back(*full);
  }
  if (failed(checkSize(report, shape)))
    return failure();
  auto tensor = dyn_cast<RankedTensorType>(shaped);
  if (tensor)
    return push(report, shape, tensor, results);
  results.push_back(MemRefType::get(shape, shaped.getElementType()));
  return success();
}

static Operation *operationAround(Value value) {
  if (Operation *op = value.getDefiningOp())
    return op;
  Block *block = cast<BlockArgument>(value).getOwner();
  return block ? block->getParentOp() : nullptr;
}

/// How many chips are along an axis of the mesh (in all of it without an axis);
/// nothing when no mesh is known.
static FailureOr<std::optional<int64_t>> chipsAlong(const Reporter &report, Operation *op,
                                                    std::optional<int64_t> clusterAxis) {
  std::optional<SmallVector<int64_t>> mesh = op ? ttcore::lookupMeshShape(op) : std::nullopt;
  if (!mesh)
    return std::optional<int64_t>();
  if (!clusterAxis)
    return std::optional<int64_t>(product(*mesh));
  if (*clusterAxis < 0 || *clusterAxis >= static_cast<int64_t>(mesh->size()))
    return report.error("attribute 'cluster_axis' is ", *clusterAxis, ", but the mesh is ", text(*mesh));
  return std::optional<int64_t>((*mesh)[*clusterAxis]);
}

/// As `chipsAlong`, of the module around `input`, where a mesh is needed.
static FailureOr<int64_t> chipsNeeded(const Reporter &report, Value input, std::optional<int64_t> clusterAxis) {
  FailureOr<std::optional<int64_t>> chips = chipsAlong(report, operationAround(input), clusterAxis);
  if (failed(chips))
    return failure();
  if (!*chips)
    return report.error(
        "has a result that depends on the mesh, which the module does not tell; set ttcore.meshes on it, "
        "or give the result type");
  return **chips;
}

LogicalResult shapes::allGather(const Reporter &report, Value input, int64_t dim, int64_t clusterAxis, Types &results) {
  FailureOr<RankedTensorType> type = ranked(report, input, "input");
  if (failed(type))
    return failure();
  FailureOr<int64_t> position = axis(report, "all_gather_dim", dim, type->getRank());
  if (failed(position))
    return failure();
  FailureOr<int64_t> chips = chipsNeeded(report, input, clusterAxis);
  if (failed(chips))
    return failure();
  Shape shape(type->getShape());
  std::optional<int64_t> size = multiply(shape[*position], *chips);
  if (!size)
    return report.error("dimension ", *position, " of the result does not fit into 64 bits");
  shape[*position] = *size;
  return push(report, shape, *type, results);
}

LogicalResult shapes::scatterOverMesh(const Reporter &report, Value input, StringRef name, int64_t dim,
                                      std::optional<int64_t> clusterAxis, Types &results) {
  FailureOr<RankedTensorType> type = ranked(report, input, "input");
  if (failed(type))
    return failure();
  FailureOr<int64_t> position = axis(report, name, dim, type->getRank());
  if (failed(position))
    return failure();
  FailureOr<int64_t> chips = chipsNeeded(report, input, clusterAxis);
  if (failed(chips))
    return failure();
  Shape shape(type->getShape());
  if (*chips < 1 || shape[*position] % *chips != 0)
    return report.error("dimension ", *position, " of size ", shape[*position], " does not divide among ", *chips,
                        " chips");
  shape[*position] /= *chips;
  return push(report, shape, *type, results);
}

LogicalResult shapes::allToAll(const Reporter &report, Value input, int64_t splitDim, int64_t concatDim,
                               int64_t splitCount, DenseIntElementsAttr groups, Types &results) {
  FailureOr<RankedTensorType> type = ranked(report, input, "input");
  if (failed(type))
    return failure();
  FailureOr<int64_t> split = axis(report, "split_dim", splitDim, type->getRank());
  if (failed(split))
    return failure();
  FailureOr<int64_t> joined = axis(report, "concat_dim", concatDim, type->getRank());
  if (failed(joined))
    return failure();
  if (groups.getType().getRank() != 2 || groups.getType().getDimSize(1) != splitCount)
    return report.error("attribute 'replica_groups' is ", groups.getType(), "; expected groups of 'split_count' ",
                        splitCount, " chips");
  Shape shape(type->getShape());
  if (splitCount < 1 || shape[*split] % splitCount != 0)
    return report.error("dimension ", *split, " of size ", shape[*split], " does not divide into ", splitCount,
                        " parts");
  shape[*split] /= splitCount;
  std::optional<int64_t> size = multiply(shape[*joined], splitCount);
  if (!size)
    return report.error("dimension ", *joined, " of the result does not fit into 64 bits");
  shape[*joined] = *size;
  return push(report, shape, *type, results);
}

LogicalResult shapes::collectivePermute(const Reporter &report, Value input, DenseIntElementsAttr pairs,
                                        Types &results) {
  if (pairs.getType().getRank() != 2 || pairs.getType().getDimSize(1) != 2)
    return report.error("attribute 'source_target_pairs' is ", pairs.getType(), "; expected pairs, tensor<Nx2xi64>");
  SmallVector<int64_t> sources, targets;
  for (auto [i, chip] : llvm::enumerate(pairs.getValues<int64_t>()))
    (i % 2 ? targets : sources).push_back(chip);
  for (auto [name, chips] : {std::pair<StringRef, SmallVector<int64_t> &>("source", sources), {"target", targets}}) {
    llvm::sort(chips);
    auto twice = std::adjacent_find(chips.begin(), chips.end());
    if (twice != chips.end())
      return report.error("attribute 'source_target_pairs' has ", name, " ", *twice, " twice");
    if (!chips.empty() && chips.front() < 0)
      return report.error("attribute 'source_target_pairs' has ", name, " ", chips.front(), "; expected 0 or more");
  }
  return same(report, input, results);
}

LogicalResult shapes::collectiveBroadcast(const Reporter &report, Value input, DenseIntElementsAttr groups,
                                          Types &results) {
  if (groups.getType().getRank() != 2)
    return report.error("attribute 'replica_groups' is ", groups.getType(), "; expected groups of chips, rank 2");
  return same(report, input, results);
}

LogicalResult shapes::checkMeshMultiple(Operation *op, StringRef name, int64_t dim, std::optional<int64_t> clusterAxis,
                                        Value smaller, Value larger) {
  Reporter report(op);
  FailureOr<RankedTensorType> small = ranked(report, smaller, "smaller");
  if (failed(small))
    return failure();
  FailureOr<RankedTensorType> large = ranked(report, larger, "larger");
  if (failed(large))
    return failure();
  FailureOr<int64_t> position = axis(report, name, dim, small->getRank());
  if (failed(position))
    return failure();
  Shape expected(small->getShape());
  if (large->getRank() == small->getRank())
    expected[*position] = large->getDimSize(*position);
  if (large->getShape() != ArrayRef<int64_t>(expected))
    return report.error("has input and result of shapes ", text(small->getShape()), " and ", text(large->getShape()),
                        "; they may differ only in dimension ", *position);
  int64_t smallSize = small->getDimSize(*position), largeSize = large->getDimSize(*position);
  if (smallSize == 0 ? largeSize != 0 : largeSize % smallSize != 0)
    return report.error("dimension ", *position, " has sizes ", smallSize, " and ", largeSize,
                        "; expected a multiple, one part per chip");
  FailureOr<std::optional<int64_t>> chips = chipsAlong(report, op, clusterAxis);
  if (failed(chips))
    return failure();
  if (*chips && multiply(smallSize, **chips) != largeSize)
    return report.error("dimension ", *position, " has sizes ", smallSize, " and ", largeSize, ", but the mesh has ",
                        **chips, " chips along it");
  return success();
}
