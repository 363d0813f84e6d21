//===- ManualComputations.cpp - what devices hold of tensors --------------===//
// SPDX-License-Identifier: Apache-2.0
//
// `ttir.mesh_shard` splits a tensor along whole axes of the mesh, by rows of devices first. In any other order, and
// inside of another computation, each device takes its parts one axis after another.
//
//===----------------------------------------------------------------------===//

#include "ManualComputations.h"
#include "Collective.h"
#include "ttmlir/Dialect/StableHLO/Transforms/Sharding.h"
#include "ttmlir/Dialect/TTCore/Transforms/ShardedArguments.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/AllGatherOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MeshPartitionOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MeshShardOp.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

namespace {
/// The axes of the mesh that split each dimension of a tensor: 0 rows, 1 columns.
struct Split {
  SmallVector<SmallVector<unsigned>> dims;
  SmallVector<int64_t> mesh; // rows, columns

  bool any() const {
    return llvm::any_of(dims, [](const auto &axes) { return !axes.empty(); });
  }
  /// Rows first.
  bool inOrder() const {
    return llvm::all_of(dims, [](const auto &axes) { return llvm::is_sorted(axes); });
  }
  SmallVector<int64_t> counts() const {
    SmallVector<int64_t> counts;
    for (const auto &axes : dims) {
      counts.push_back(1);
      for (unsigned axis : axes)
        counts.back() *= mesh[axis];
    }
    return counts;
  }
  SmallVector<int64_t> shardDims() const {
    SmallVector<int64_t> result(2, -1);
    for (auto [dim, axes] : llvm::enumerate(dims))
      for (unsigned axis : axes)
        result[axis] = static_cast<int64_t>(dim);
    return result;
  }
};
} // namespace

/// The place of an axis among rows and columns; a mesh with one axis is one row.
static unsigned placeOf(sdy::MeshAttr mesh, StringRef name) {
  unsigned place = 0;
  for (sdy::MeshAxisAttr axis : mesh.getAxes()) {
    if (axis.getName() == name)
      break;
    ++place;
  }
  return place + 2 - mesh.getAxes().size();
}

static SmallVector<int64_t> shapeOf(sdy::MeshAttr mesh) {
  SmallVector<int64_t> shape(2 - mesh.getAxes().size(), 1);
  for (sdy::MeshAxisAttr axis : mesh.getAxes())
    shape.push_back(axis.getSize());
  return shape;
}

/// Appends whole axes; size 1 splits nothing.
static LogicalResult append(SmallVector<unsigned> &to, ArrayRef<sdy::AxisRefAttr> axes, sdy::MeshAttr mesh,
                            Operation *op) {
  for (sdy::AxisRefAttr axis : axes) {
    if (axis.getSubAxisInfo())
      return emitError(op->getLoc()) << op->getName() << ": not converted to TTIR: it splits along " << axis
                                     << ", a part of an axis; expected whole axes";
    if (mesh.getAxisSize(axis.getName()).value_or(1) > 1)
      to.push_back(placeOf(mesh, axis.getName()));
  }
  return success();
}

/// Along manual axes; it was checked that nothing is split along others. Partial values are converted where the caller
/// has a tensor for each device.
static FailureOr<Split> splitOf(sdy::TensorShardingAttr sharding, sdy::ManualComputationOp op, sdy::MeshAttr mesh,
                                bool presharded) {
  Split split;
  split.mesh = shapeOf(mesh);
  if (!presharded && !sharding.getUnreducedAxes().empty())
    return emitError(op.getLoc()) << op->getName() << ": not converted to TTIR: " << sharding
                                  << " has partial values at its boundary; reduce them inside";
  for (sdy::DimensionShardingAttr dim : sharding.getDimShardings())
    if (failed(append(split.dims.emplace_back(), dim.getAxes(), mesh, op)))
      return failure();
  return split;
}

static Value meshShard(ImplicitLocOpBuilder &builder, Value value, Type type, ttcore::MeshShardType kind,
                       ttcore::MeshShardDirection direction, ArrayRef<int64_t> counts, ArrayRef<int64_t> dims) {
  MLIRContext *context = builder.getContext();
  return ttir::MeshShardOp::create(builder, type, value, ttcore::MeshShardTypeAttr::get(context, kind),
                                   ttcore::MeshShardDirectionAttr::get(context, direction),
                                   builder.getDenseI64ArrayAttr(counts), builder.getDenseI64ArrayAttr(dims));
}

/// Each device keeps its part, one axis after another, the first one outermost.
static Value partition(ImplicitLocOpBuilder &builder, Value value, const Split &split) {
  for (auto [dim, axes] : llvm::enumerate(split.dims))
    for (unsigned axis : axes) {
      SmallVector<int64_t> shape(typeOf(value).getShape());
      shape[dim] /= split.mesh[axis];
      value = ttir::MeshPartitionOp::create(builder, typeOf(value).clone(shape), value, si32(builder, dim),
                                            ui32(builder, axis));
    }
  return value;
}

static Value gather(ImplicitLocOpBuilder &builder, Value value, const Split &split) {
  for (auto [dim, axes] : llvm::enumerate(split.dims))
    for (unsigned axis : llvm::reverse(axes)) {
      SmallVector<int64_t> shape(typeOf(value).getShape());
      shape[dim] *= split.mesh[axis];
      value = ttir::AllGatherOp::create(builder, typeOf(value).clone(shape), value, si32(builder, dim),
                                        ui32(builder, axis));
    }
  return value;
}

/// Whether the caller provides an argument, or takes a result, as one tensor per device.
static bool isPresharded(Attribute status) {
  auto attr = dyn_cast_if_present<ttcore::ShardStatusAttr>(status);
  return attr && attr.getValue() == ttcore::ShardStatus::Presharded;
}

static bool isPresharded(Value operand) {
  auto argument = dyn_cast<BlockArgument>(operand);
  auto function = argument ? dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp()) : FunctionOpInterface();
  return function && isPresharded(function.getArgAttr(argument.getArgNumber(), ttcore::shardStatusName));
}

static void noteShardDims(BlockArgument argument, ArrayRef<int64_t> dims) {
  cast<FunctionOpInterface>(argument.getOwner()->getParentOp())
      .setArgAttr(argument.getArgNumber(), ttcore::shardDimsName, DenseI64ArrayAttr::get(argument.getContext(), dims));
}

static bool isPreshardedResult(OpOperand &use) {
  auto function = dyn_cast<FunctionOpInterface>(use.getOwner()->getParentOp());
  return function && use.getOwner()->hasTrait<OpTrait::ReturnLike>() &&
         isPresharded(function.getResultAttr(use.getOperandNumber(), ttcore::shardStatusName));
}

bool hlo::isGrid(sdy::MeshAttr mesh) {
  return mesh.getAxes().size() <= 2 && llvm::equal(mesh.getDeviceIds(), llvm::seq<int64_t>(mesh.getDeviceIds().size()));
}

bool hlo::comesInParts(ModuleOp module) {
  bool any = false;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function.isPublic() || function.isExternal())
      continue;
    any = true;
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (!isPresharded(function.getArgAttr(i, ttcore::shardStatusName)))
        return false;
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (!isPresharded(function.getResultAttr(i, ttcore::shardStatusName)))
        return false;
  }
  return any;
}

/// The number of parts of each dimension of `whole`, of which a device has `part`.
static SmallVector<int64_t> countsOf(Type whole, Type part) {
  SmallVector<int64_t> counts;
  for (auto [all, own] :
       llvm::zip_equal(cast<RankedTensorType>(whole).getShape(), cast<RankedTensorType>(part).getShape()))
    counts.push_back(own > 0 ? all / own : 1);
  return counts;
}

/// Without a split, the mesh is not a grid.
static SmallVector<int64_t> shardDimsOf(const FailureOr<Split> &split) {
  return succeeded(split) ? split->shardDims() : SmallVector<int64_t>{-1, -1};
}

/// Exchanges the parts of a value that the caller has, in any order of axes.
static Value exchange(ImplicitLocOpBuilder &builder, Value value, Type type, ttcore::MeshShardDirection direction,
                      const FailureOr<Split> &split) {
  const bool isFull = direction == ttcore::MeshShardDirection::FullToShard;
  return meshShard(builder, value, type, ttcore::MeshShardType::Identity, direction,
                   isFull ? countsOf(value.getType(), type) : countsOf(type, value.getType()), shardDimsOf(split));
}

LogicalResult hlo::lowerManualComputation(RewriterBase &rewriter, sdy::ManualComputationOp op) {
  using ttcore::MeshShardDirection;
  using ttcore::MeshShardType;
  Block *body = &op.getBody().front();
  Operation *terminator = body->getTerminator();
  const bool nested = op->getParentOfType<sdy::ManualComputationOp>() != nullptr;
  rewriter.setInsertionPoint(op);
  ImplicitLocOpBuilder builder(op.getLoc(), rewriter);

  SmallVector<Value> local;
  for (auto [index, operand, sharding] : llvm::enumerate(op.getTensors(), op.getInShardings().getShardings())) {
    sdy::MeshAttr mesh = sharding.getMesh(op);
    Type type = body->getArgument(index).getType();
    if (!mesh || mesh.getTotalSize() == 1 || !isa<RankedTensorType>(type)) {
      local.push_back(operand);
      continue;
    }
    const bool presharded = isPresharded(operand);
    FailureOr<Split> split =
        presharded && !isGrid(mesh) ? FailureOr<Split>(failure()) : splitOf(sharding, op, mesh, presharded);
    if (presharded) {
      local.push_back(exchange(builder, operand, type, MeshShardDirection::FullToShard, split));
      // If nothing uses the argument, the op is gone, but the argument still arrives in shards.
      noteShardDims(cast<BlockArgument>(operand), shardDimsOf(split));
      continue;
    }
    if (failed(split))
      return failure();
    if (nested) {
      local.push_back(partition(builder, operand, *split));
    } else if (split->any() && split->inOrder()) {
      local.push_back(meshShard(builder, operand, type, MeshShardType::Devices, MeshShardDirection::FullToShard,
                                split->counts(), split->shardDims()));
    } else {
      Value everywhere = meshShard(builder, operand, operand.getType(), MeshShardType::Replicate,
                                   MeshShardDirection::FullToShard, {1}, {-1});
      local.push_back(partition(builder, everywhere, *split));
    }
  }

  rewriter.inlineBlockBefore(body, op, local);
  rewriter.setInsertionPoint(op);
  for (auto [index, result, sharding] : llvm::enumerate(op.getResults(), op.getOutShardings().getShardings())) {
    Value value = terminator->getOperand(index);
    sdy::MeshAttr mesh = sharding.getMesh(op);
    if (!mesh || mesh.getTotalSize() == 1 || !isa<RankedTensorType>(result.getType())) {
      rewriter.replaceAllUsesWith(result, value);
      continue;
    }
    const bool inParts =
        !nested && llvm::all_of(result.getUses(), [](OpOperand &use) { return isPreshardedResult(use); });
    FailureOr<Split> split =
        inParts && !isGrid(mesh) ? FailureOr<Split>(failure()) : splitOf(sharding, op, mesh, inParts);
    if (failed(split) && !inParts)
      return failure();
    Value asShards, full;
    for (OpOperand &use : llvm::make_early_inc_range(result.getUses())) {
      const bool presharded = !nested && isPreshardedResult(use);
      Value &created = presharded ? asShards : full;
      if (!created && presharded) {
        created = exchange(builder, value, result.getType(), MeshShardDirection::ShardToFull, split);
      } else if (!created && nested) {
        created = gather(builder, value, *split);
      } else if (!created && split->any() && split->inOrder()) {
        created = meshShard(builder, value, result.getType(), MeshShardType::Devices, MeshShardDirection::ShardToFull,
                            split->counts(), split->shardDims());
      } else if (!created) {
        created = meshShard(builder, gather(builder, value, *split), result.getType(), MeshShardType::Replicate,
                            MeshShardDirection::ShardToFull, {1}, {-1});
      }
      rewriter.modifyOpInPlace(use.getOwner(), [&] { use.set(created); });
    }
  }
  rewriter.eraseOp(terminator);
  rewriter.eraseOp(op);
  return success();
}

//===----------------------------------------------------------------------===//
// sdy.all_slice
//===----------------------------------------------------------------------===//

LogicalResult hlo::lowerAllSlice(RewriterBase &rewriter, stablehlo::CompositeOp op) {
  DictionaryAttr attributes = op.getCompositeAttributes().value_or(DictionaryAttr());
  auto sharding = attributes ? attributes.getAs<sdy::TensorShardingAttr>("out_sharding") : sdy::TensorShardingAttr();
  sdy::MeshAttr mesh = sharding ? sharding.getMesh(op) : sdy::MeshAttr();
  if (!mesh || op.getNumOperands() != 1 || op.getNumResults() != 1 || !isGrid(mesh))
    return success(); // its decomposition is called
  // Without a list of the axes by which it slices, its operand is replicated.
  auto lists = attributes.getAs<sdy::ListOfAxisRefListsAttr>("slicing_axes");
  SmallVector<ArrayRef<sdy::AxisRefAttr>> perDim;
  for (auto [dim, axes] : llvm::enumerate(sharding.getDimShardings()))
    perDim.push_back(!lists                          ? axes.getAxes()
                     : dim < lists.getValue().size() ? lists.getValue()[dim].getValue()
                                                     : ArrayRef<sdy::AxisRefAttr>());
  Split split;
  split.mesh = shapeOf(mesh);
  for (ArrayRef<sdy::AxisRefAttr> axes : perDim) {
    if (llvm::any_of(axes, [](sdy::AxisRefAttr axis) { return !!axis.getSubAxisInfo(); }))
      return success();
    if (failed(append(split.dims.emplace_back(), axes, mesh, op)))
      return failure();
  }
  rewriter.setInsertionPoint(op);
  ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
  auto type = dyn_cast<RankedTensorType>(op.getOperand(0).getType());
  SmallVector<int64_t> counts = split.counts();
  if (!type || type.getRank() != static_cast<int64_t>(counts.size()) ||
      llvm::any_of(llvm::zip(type.getShape(), counts), [](auto pair) { return std::get<0>(pair) % std::get<1>(pair); }))
    return emitError(op.getLoc()) << "sdy.all_slice: not converted to TTIR: " << op.getOperand(0).getType()
                                  << " does not split as " << sharding << " says";
  Value part = partition(builder, op.getOperand(0), split);
  if (part.getType() != op.getResult(0).getType())
    return emitError(op.getLoc()) << "sdy.all_slice: not converted to TTIR: its result is " << op.getResult(0).getType()
                                  << "; expected " << part.getType();
  rewriter.replaceOp(op, part);
  return success();
}

//===----------------------------------------------------------------------===//
// Groups along axes
//===----------------------------------------------------------------------===//

LogicalResult hlo::numberReplicaGroups(Operation *op) {
  auto groups = op->getAttrOfType<stablehlo::ReplicaGroupMeshAxesAttr>("replica_groups");
  if (!groups)
    return success();
  auto mesh = dyn_cast<sdy::MeshAttr>(groups.getMesh());
  if (auto name = dyn_cast<FlatSymbolRefAttr>(groups.getMesh()))
    if (auto found = SymbolTable::lookupNearestSymbolFrom<sdy::MeshOp>(op, name))
      mesh = found.getMesh();
  if (!mesh)
    return emitError(op->getLoc()) << op->getName() << ": its groups are along axes of " << groups.getMesh()
                                   << ", which is no mesh of the module";
  SmallVector<sdy::AxisRefAttr> axes;
  for (Attribute attr : groups.getAxes()) {
    auto axis = dyn_cast<sdy::AxisRefAttr>(attr);
    if (auto name = dyn_cast<StringAttr>(attr))
      axis = sdy::AxisRefAttr::get(op->getContext(), name.getValue(), sdy::SubAxisInfoAttr());
    if (!axis || !mesh.getAxisSize(axis.getName()))
      return emitError(op->getLoc()) << op->getName() << ": its groups are along " << attr << ", which mesh " << mesh
                                     << " does not have";
    axes.push_back(axis);
  }
  SmallVector<int64_t> numbers;
  const SmallVector<SmallVector<int64_t>> rows = shlo::groupsAlong(mesh, axes);
  for (ArrayRef<int64_t> row : rows)
    llvm::append_range(numbers, row);
  const auto size = static_cast<int64_t>(rows.front().size());
  op->setAttr("replica_groups",
              DenseIntElementsAttr::get(RankedTensorType::get({static_cast<int64_t>(numbers.size()) / size, size},
                                                              IntegerType::get(op->getContext(), 64)),
                                        numbers));
  return success();
}
