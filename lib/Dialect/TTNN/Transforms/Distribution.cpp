//===- Distribution.cpp - which values differ from chip to chip -----------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTNN/Transforms/Distribution.h"

#include "ttmlir/Dialect/Families/Traits.h"
#include "ttmlir/Dialect/TTCore/IR/TTCore.h"
#include "ttmlir/Dialect/TTCore/Transforms/ShardedArguments.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/DistributedLayerNormOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/DistributedRMSNormOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/GetDimensionSizeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MeshShardOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/AggregateTensorOp.h"
#include "ttmlir/Dialect/TTNN/IR/Ops/DistributeTensorOp.h"
#include "ttmlir/Dialect/TTNN/IR/TTNN.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

bool ttnn::isMeshShard(Operation *op, ttcore::MeshShardDirection direction) {
  auto shard = dyn_cast<ttir::MeshShardOp>(op);
  return shard && shard.getShardDirection() == direction;
}

/// Whether the devices exchange values, so that each gets its own, even for an operand that is the same on all.
static bool isCollective(Operation *op) { return op->hasTrait<trait::Collective>(); }

static bool hasSeveralDevices(Operation *op) {
  std::optional<SmallVector<int64_t>> mesh = ttcore::lookupMeshShape(op);
  return mesh && llvm::any_of(*mesh, [](int64_t size) { return size > 1; });
}

static bool isMarked(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return false;
  if (isa_and_nonnull<ttcore::TensorMeshAttr>(tensor.getEncoding()))
    return true;
  TTNNLayoutAttr layout = TTNNLayoutAttr::of(type);
  return layout && layout.getTensorMesh();
}

Distribution::Distribution(Operation *root) : isWhole(isa<ModuleOp>(root)) {
  root->walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (isMarked(result.getType()))
        add(result);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          if (isMarked(argument.getType()))
            add(argument);
  });
  // Loops carry results of their bodies back to their beginning.
  bool changed = true;
  while (changed) {
    changed = false;
    root->walk<WalkOrder::PreOrder>([&](Operation *op) { changed |= visit(op); });
  }
}

bool Distribution::isDistributedBy(Operation *op) const {
  if (isMeshShard(op, ttcore::MeshShardDirection::FullToShard))
    return true;
  // All parts have the same sizes.
  if (isMeshShard(op, ttcore::MeshShardDirection::ShardToFull) || isa<ttir::GetDimensionSizeOp>(op))
    return false;
  if (isCollective(op) && hasSeveralDevices(op))
    return true;
  return llvm::any_of(op->getOperands(), [&](Value value) { return contains(value); });
}

bool Distribution::visit(Operation *op) {
  bool changed = false;
  if (op->hasTrait<trait::ControlsFlow>()) {
    // Chips that take different branches have different results.
    auto branches = dyn_cast<ttcore::CaseOp>(op);
    const bool differ = branches && contains(branches.getIndex());
    for (const Link &link : linksOf(op)) {
      const bool isResult = isa<OpResult>(link.values.front());
      if ((differ && isResult) || llvm::any_of(link.values, [&](Value value) { return contains(value); }) ||
          llvm::any_of(link.sources, [&](OpOperand *source) { return contains(source->get()); }))
        for (Value value : link.values)
          changed |= add(value);
    }
    if (auto loop = dyn_cast<ttcore::WhileOp>(op))
      if (Block *condition = bodyOf(op, loop.getCondAttr());
          condition && contains(condition->getTerminator()->getOperand(0)))
        for (const Link &link : linksOf(op))
          if (isa<OpResult>(link.values.front()))
            for (Value value : link.values)
              changed |= add(value);
    return changed;
  }
  if (op->getNumResults() && isDistributedBy(op))
    for (Value result : op->getResults())
      changed |= add(result);
  return changed;
}

Block *Distribution::bodyOf(Operation *op, FlatSymbolRefAttr name) const {
  // In a pass on functions, other threads may change the other functions.
  if (!isWhole)
    return nullptr;
  auto function = symbols.lookupNearestSymbolFrom<func::FuncOp>(op, name);
  return function && !function.isExternal() ? &function.getBody().front() : nullptr;
}

SmallVector<Distribution::Link> Distribution::linksOf(Operation *op) const {
  SmallVector<Link> links;
  if (auto loop = dyn_cast<ttcore::WhileOp>(op)) {
    Block *condition = bodyOf(op, loop.getCondAttr()), *body = bodyOf(op, loop.getBodyAttr());
    if (!condition || !body)
      return links;
    for (unsigned i = 0; i < loop.getInputs().size(); ++i) {
      Link &link = links.emplace_back();
      if (i < op->getNumResults()) {
        link.values.push_back(op->getResult(i));
        link.sources.push_back(&body->getTerminator()->getOpOperand(i));
      }
      llvm::append_values(link.values, Value(condition->getArgument(i)), Value(body->getArgument(i)));
      link.sources.push_back(&op->getOpOperand(i));
    }
  } else if (auto branches = dyn_cast<ttcore::CaseOp>(op)) {
    SmallVector<Block *> bodies;
    for (Attribute name : branches.getBranches())
      if (Block *body = bodyOf(op, cast<FlatSymbolRefAttr>(name)))
        bodies.push_back(body);
    for (OpResult result : op->getResults()) {
      Link &link = links.emplace_back();
      link.values.push_back(result);
      for (Block *body : bodies)
        link.sources.push_back(&body->getTerminator()->getOpOperand(result.getResultNumber()));
    }
    // After the number of the branch.
    for (unsigned i = 0; i < branches.getInputs().size(); ++i) {
      Link &link = links.emplace_back();
      for (Block *body : bodies)
        link.values.push_back(body->getArgument(i));
      link.sources.push_back(&op->getOpOperand(1 + i));
    }
  }
  return links;
}

void Distribution::distributeOperands(Operation *root) {
  SmallVector<Operation *> controls;
  root->walk([&](Operation *op) {
    if (op->hasTrait<trait::ControlsFlow>())
      controls.push_back(op);
  });
  for (Operation *op : controls)
    for (const Link &link : linksOf(op)) {
      if (link.values.empty() || !contains(link.values.front()))
        continue;
      for (OpOperand *source : link.sources) {
        if (contains(source->get()))
          continue;
        OpBuilder builder(source->getOwner());
        auto replicate = ttcore::MeshShardTypeAttr::get(op->getContext(), ttcore::MeshShardType::Replicate);
        auto direction = ttcore::MeshShardDirectionAttr::get(op->getContext(), ttcore::MeshShardDirection::FullToShard);
        auto shard = ttir::MeshShardOp::create(builder, source->getOwner()->getLoc(), source->get().getType(),
                                               source->get(), replicate, direction, builder.getDenseI64ArrayAttr({1}),
                                               builder.getDenseI64ArrayAttr({-1}));
        add(shard.getResult());
        source->set(shard.getResult());
      }
    }
}

//===----------------------------------------------------------------------===//
// Between the host and the chips
//===----------------------------------------------------------------------===//

/// The dimension that each axis of the mesh splits, -1 for none; with fewer than two entries, those of the last axes.
static FailureOr<SmallVector<int64_t>> splitDims(ttir::MeshShardOp shard, ArrayRef<int64_t> mesh, std::string &reason) {
  const auto refuse = [&](const Twine &why) {
    reason = why.str();
    return failure();
  };
  SmallVector<int64_t> dims(shard.getShardDims());
  if (dims.size() > mesh.size())
    return refuse("shard_dims names " + Twine(dims.size()) + " mesh axes but the mesh has " + Twine(mesh.size()));
  dims.insert(dims.begin(), mesh.size() - dims.size(), -1);
  if (shard.getShardType() == ttcore::MeshShardType::Replicate)
    dims.assign(mesh.size(), -1);
  for (auto [axis, dim] : llvm::enumerate(dims)) {
    if (dim < 0)
      continue;
    ArrayRef<int64_t> counts = shard.getShardShape();
    if (dim >= static_cast<int64_t>(counts.size()))
      return refuse("shard_dims names dimension " + Twine(dim) + " but shard_shape has " + Twine(counts.size()));
    int64_t along = 1;
    for (auto [otherAxis, otherDim] : llvm::enumerate(dims))
      if (otherDim == dim)
        along *= mesh[otherAxis];
    if (counts[dim] != along)
      return refuse("shard_shape splits dimension " + Twine(dim) + " into " + Twine(counts[dim]) +
                    " parts but the mesh axes it is split along have " + Twine(along) + " devices");
  }
  return dims;
}

static MeshMapperConfigAttr mapperFor(ArrayRef<int64_t> dims, Builder &builder) {
  MLIRContext *context = builder.getContext();
  SmallVector<PlacementAttr> placements;
  for (int64_t dim : dims)
    placements.push_back(dim < 0 ? PlacementAttr::get(context, PlacementType::Replicate, {})
                                 : PlacementAttr::get(context, PlacementType::Shard, builder.getI64IntegerAttr(dim)));
  return MeshMapperConfigAttr::get(context, placements, {});
}

/// Devices along an axis that splits nothing hold equal values: only the first one is read, as the override of the mesh
/// shape states; its dimension is then any one that no other axis has, or -1.
static MeshComposerConfigAttr composerFor(ArrayRef<int64_t> dims, ArrayRef<int64_t> mesh, int64_t rank,
                                          Builder &builder) {
  SmallVector<IntegerAttr> joined, devices;
  bool whole = true;
  SmallVector<int64_t> taken(dims);
  for (auto [axis, dim] : llvm::enumerate(dims)) {
    int64_t along = dim;
    if (dim < 0) {
      along = 0;
      while (llvm::is_contained(taken, along))
        ++along;
      if (along >= rank)
        along = -1;
      taken.push_back(along);
      whole &= mesh[axis] == 1;
    }
    joined.push_back(builder.getI32IntegerAttr(along));
    devices.push_back(builder.getI32IntegerAttr(dim < 0 ? 1 : mesh[axis]));
  }
  if (whole)
    devices.clear();
  return MeshComposerConfigAttr::get(builder.getContext(), joined, devices);
}

Value ttnn::createMeshShard(OpBuilder &builder, ttir::MeshShardOp op, Value input, Type to, Value device,
                            std::string &reason) {
  auto type = dyn_cast<RankedTensorType>(to);
  if (!type || !isa<RankedTensorType>(op.getInput().getType())) {
    reason = "it works on buffers; expected tensors";
    return {};
  }
  if (op.getShardType() == ttcore::MeshShardType::Identity) {
    reason = "an identity stands for an argument or result that is distributed outside, but it is used as neither; run "
             "ttir-localize-presharded first";
    return {};
  }
  if (op.getShardType() == ttcore::MeshShardType::Maximal) {
    reason = "shard_type maximal, one device holding the tensor, is not supported";
    return {};
  }
  ArrayRef<int64_t> mesh = ttcore::lookupDevice(op).getDeviceAttr().getMeshShape();
  FailureOr<SmallVector<int64_t>> dims = splitDims(op, mesh, reason);
  if (failed(dims))
    return {};
  if (op.getShardDirection() == ttcore::MeshShardDirection::FullToShard)
    return DistributeTensorOp::create(builder, op.getLoc(), type, input, device, mapperFor(*dims, builder),
                                      /*cq_id=*/nullptr);
  return AggregateTensorOp::create(builder, op.getLoc(), type, input, device,
                                   composerFor(*dims, mesh, type.getRank(), builder));
}
