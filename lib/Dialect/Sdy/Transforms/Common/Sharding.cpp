//===- Sharding.cpp - shardings to compute with ---------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Sharding.h"

using namespace mlir;
using namespace mlir::sdy;

//===----------------------------------------------------------------------===//
// Sharding
//===----------------------------------------------------------------------===//

Sharding Sharding::open(Attribute meshOrRef, MeshAttr mesh, size_t rank, bool isClosed) {
  Sharding sharding;
  sharding.meshOrRef = meshOrRef;
  sharding.mesh = mesh;
  sharding.dims.resize(rank);
  for (DimSharding &dim : sharding.dims)
    dim.isClosed = isClosed;
  return sharding;
}

void Sharding::placeOn(Attribute otherMeshOrRef, MeshAttr other) {
  if (!isPlaceholder())
    return;
  meshOrRef = otherMeshOrRef;
  mesh = other;
}

bool Sharding::isReplicated() const {
  return !isMaximal() && unreduced.empty() &&
         llvm::all_of(dims, [](const DimSharding &dim) { return dim.axes.empty(); });
}

Axes Sharding::allAxes() const {
  Axes all;
  for (const DimSharding &dim : dims)
    llvm::append_range(all, dim.axes);
  return all;
}

int64_t Sharding::shards() const { return product(allAxes()); }

bool sdy::haveSameDims(const Sharding &a, const Sharding &b) {
  return llvm::equal(a.dims, b.dims, [](const DimSharding &x, const DimSharding &y) { return x.axes == y.axes; });
}

bool sdy::haveSameAxes(MeshAttr a, MeshAttr b) { return a.getAxes() == b.getAxes(); }

bool sdy::areEquivalent(const std::optional<Sharding> &a, const std::optional<Sharding> &b) {
  bool isReplicatedA = !a || a->isReplicated(), isReplicatedB = !b || b->isReplicated();
  if (isReplicatedA || isReplicatedB)
    return isReplicatedA && isReplicatedB;
  return a->mesh == b->mesh && haveSameDims(*a, *b) && a->unreduced == b->unreduced &&
         (a->unreduced.empty() || a->reductionOp == b->reductionOp);
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

Meshes::Meshes(Operation *root) {
  // A pass on a function reads the meshes of its module.
  Operation *module = root;
  while (module->getParentOp())
    module = module->getParentOp();
  module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto mesh = dyn_cast<MeshOp>(op))
      byName[FlatSymbolRefAttr::get(mesh.getSymNameAttr())] = mesh.getMesh();
    return isa<ModuleOp>(op) ? WalkResult::advance() : WalkResult::skip();
  });
}

MeshAttr Meshes::find(Attribute meshOrRef) const {
  if (auto mesh = dyn_cast<MeshAttr>(meshOrRef))
    return mesh;
  return byName.lookup(meshOrRef);
}

Axes sdy::resolve(ArrayRef<AxisRefAttr> axes, MeshAttr mesh) {
  Axes resolved;
  for (AxisRefAttr axis : axes)
    for (auto [index, entry] : llvm::enumerate(mesh.getAxes()))
      if (entry.getName() == axis.getName()) {
        SubAxisInfoAttr part = axis.getSubAxisInfo();
        resolved.push_back(
            {static_cast<int32_t>(index), part ? part.getPreSize() : 1, part ? part.getSize() : entry.getSize()});
      }
  return resolved;
}

Sharding sdy::resolve(TensorShardingAttr attribute, const Meshes &meshes) {
  Sharding sharding;
  sharding.meshOrRef = attribute.getMeshOrRef();
  sharding.mesh = meshes.find(attribute.getMeshOrRef());
  for (DimensionShardingAttr dim : attribute.getDimShardings())
    sharding.dims.push_back({resolve(dim.getAxes(), sharding.mesh), dim.getIsClosed(), dim.getPriority()});
  sharding.replicated = resolve(attribute.getReplicatedAxes(), sharding.mesh);
  sharding.unreduced = resolve(attribute.getUnreducedAxes(), sharding.mesh);
  sharding.reductionOp = attribute.getReductionOp();
  return sharding;
}

SmallVector<AxisRefAttr> sdy::toAttributes(MLIRContext *context, AxesRef axes, MeshAttr mesh) {
  return llvm::map_to_vector(axes, [&](Axis axis) {
    MeshAxisAttr entry = mesh.getAxes()[axis.index];
    bool isWhole = axis.pre == 1 && axis.size == entry.getSize();
    return AxisRefAttr::get(context, entry.getName(),
                            isWhole ? SubAxisInfoAttr() : SubAxisInfoAttr::get(context, axis.pre, axis.size));
  });
}

AxisRefListAttr sdy::toListAttribute(MLIRContext *context, AxesRef axes, MeshAttr mesh) {
  return AxisRefListAttr::get(context, toAttributes(context, axes, mesh));
}

ListOfAxisRefListsAttr sdy::toListsAttribute(MLIRContext *context, ArrayRef<Axes> lists, MeshAttr mesh) {
  SmallVector<AxisRefListAttr> attributes;
  for (const Axes &axes : lists)
    attributes.push_back(toListAttribute(context, axes, mesh));
  return ListOfAxisRefListsAttr::get(context, attributes);
}

TensorShardingAttr sdy::toAttribute(const Sharding &sharding) {
  MLIRContext *context = sharding.meshOrRef.getContext();
  SmallVector<DimensionShardingAttr> dims;
  for (const DimSharding &dim : sharding.dims) {
    // A dimension that was open with a priority, and was closed without axes, has no order.
    const bool isDone = dim.isClosed && dim.axes.empty();
    dims.push_back(DimensionShardingAttr::get(context, toAttributes(context, dim.axes, sharding.mesh), dim.isClosed,
                                              isDone ? std::nullopt : dim.priority));
  }
  return TensorShardingAttr::get(context, sharding.meshOrRef, dims,
                                 toAttributes(context, sharding.replicated, sharding.mesh),
                                 toAttributes(context, sharding.unreduced, sharding.mesh),
                                 sharding.unreduced.empty() ? ReductionOp::SUM : sharding.reductionOp);
}

//===----------------------------------------------------------------------===//
// Where shardings stand
//===----------------------------------------------------------------------===//

/// The inherent attribute by which an op names the sharding of its only result; empty if that is a discardable one.
static StringRef getOwnAttributeName(Operation *op) {
  if (isa_and_nonnull<SdyDialect>(op->getDialect()))
    for (StringAttr name : op->getName().getAttributeNames())
      if (name.getValue() == "sharding" || name.getValue() == "out_sharding")
        return name.getValue();
  return {};
}

bool sdy::canHoldSharding(Value value) {
  if (!isa<ShapedType>(value.getType()))
    return false;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return isa<FunctionOpInterface>(argument.getOwner()->getParentOp()) && argument.getOwner()->isEntryBlock();
  return !value.getDefiningOp()->hasTrait<tt::trait::ListsShardings>();
}

TensorShardingAttr sdy::getShardingAttr(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
    return function && argument.getOwner()->isEntryBlock()
               ? function.getArgAttrOfType<TensorShardingAttr>(argument.getArgNumber(), kShardingAttr)
               : TensorShardingAttr();
  }
  Operation *op = value.getDefiningOp();
  if (StringRef name = getOwnAttributeName(op); !name.empty())
    return op->getAttrOfType<TensorShardingAttr>(name);
  auto shardings = op->getAttrOfType<TensorShardingPerValueAttr>(kShardingAttr);
  unsigned index = cast<OpResult>(value).getResultNumber();
  return shardings && index < shardings.getShardings().size() ? shardings.getShardings()[index] : TensorShardingAttr();
}

void sdy::setShardingAttr(Value value, TensorShardingAttr sharding) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    cast<FunctionOpInterface>(argument.getOwner()->getParentOp())
        .setArgAttr(argument.getArgNumber(), kShardingAttr, sharding);
    return;
  }
  Operation *op = value.getDefiningOp();
  if (StringRef name = getOwnAttributeName(op); !name.empty()) {
    op->setAttr(name, sharding);
    return;
  }
  // The other results get open shardings: each needs one.
  SmallVector<TensorShardingAttr> shardings;
  if (auto existing = op->getAttrOfType<TensorShardingPerValueAttr>(kShardingAttr))
    llvm::append_range(shardings, existing.getShardings());
  for (unsigned index = shardings.size(); index < op->getNumResults(); ++index) {
    auto shaped = dyn_cast<ShapedType>(op->getResult(index).getType());
    SmallVector<DimensionShardingAttr> dims(
        shaped && shaped.hasRank() ? shaped.getRank() : 0,
        DimensionShardingAttr::get(op->getContext(), {}, /*is_closed=*/false, std::nullopt));
    shardings.push_back(
        TensorShardingAttr::get(op->getContext(), sharding.getMeshOrRef(), dims, {}, {}, ReductionOp::SUM));
  }
  shardings[cast<OpResult>(value).getResultNumber()] = sharding;
  op->setAttr(kShardingAttr, TensorShardingPerValueAttr::get(op->getContext(), shardings));
}

TensorShardingAttr sdy::getResultShardingAttr(FunctionOpInterface function, unsigned index) {
  return function.getResultAttrOfType<TensorShardingAttr>(index, kShardingAttr);
}

void sdy::setResultShardingAttr(FunctionOpInterface function, unsigned index, TensorShardingAttr sharding) {
  function.setResultAttr(index, StringAttr::get(function.getContext(), kShardingAttr), sharding);
}

void sdy::replaceShardings(Operation *root, function_ref<TensorShardingAttr(TensorShardingAttr)> change) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](TensorShardingAttr sharding) { return std::pair(change(sharding), WalkResult::skip()); });
  replacer.recursivelyReplaceElementsIn(root, /*replaceAttrs=*/true);
}
