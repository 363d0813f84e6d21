//===- DataFlow.cpp - values that flow into and out of regions ------------===//
// SPDX-License-Identifier: Apache-2.0

#include "DataFlow.h"
#include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.h"

using namespace mlir;
using namespace mlir::sdy;
namespace hlo = mlir::stablehlo;

SmallVector<Edge> sdy::getEdges(Operation *op) {
  SmallVector<Edge> edges;
  auto add = [&](ValueRange targets, ArrayRef<OpOperand *> sources, Edge::Kind kind = Edge::Plain) {
    if (getStaticTensor(targets.front().getType()))
      edges.push_back({llvm::to_vector<4>(targets), llvm::to_vector<4>(sources), kind});
  };
  auto returned = [](Region &region, unsigned index) { return &region.front().getTerminator()->getOpOperand(index); };
  if (auto loop = dyn_cast<hlo::WhileOp>(op)) {
    for (unsigned index = 0; index < op->getNumResults(); ++index)
      add({op->getResult(index), loop.getCond().getArgument(index), loop.getBody().getArgument(index)},
          {&op->getOpOperand(index), returned(loop.getBody(), index)});
  } else if (op->hasTrait<tt::trait::ControlsFlow>()) {
    for (OpResult result : op->getResults())
      add(result, llvm::map_to_vector<4>(op->getRegions(),
                                         [&](Region &region) { return returned(region, result.getResultNumber()); }));
  } else if (isa<hlo::OptimizationBarrierOp>(op)) {
    for (OpResult result : op->getResults())
      add(result, &op->getOpOperand(result.getResultNumber()));
  } else if (op->hasTrait<tt::trait::ListsShardings>()) {
    bool isManual = isa<ManualComputationOp>(op);
    for (BlockArgument argument : op->getRegion(0).getArguments())
      add(argument, &op->getOpOperand(argument.getArgNumber()), isManual ? Edge::ManualArgument : Edge::Plain);
    for (OpResult result : op->getResults())
      add(result, returned(op->getRegion(0), result.getResultNumber()), isManual ? Edge::ManualResult : Edge::Plain);
  }
  return edges;
}

DataFlowEdgeOp sdy::findEdgeOp(Value owner) {
  for (Operation *user : owner.getUsers())
    if (auto edge = dyn_cast<DataFlowEdgeOp>(user))
      return edge;
  return {};
}

/// The list that holds the sharding of a computation's argument or result; null for other owners.
static StringRef getListName(const Edge &edge) {
  bool isArgument = isa<BlockArgument>(edge.owner());
  Operation *op = isArgument ? edge.owner().getParentBlock()->getParentOp() : edge.owner().getDefiningOp();
  if (!op->hasTrait<tt::trait::ListsShardings>())
    return {};
  return isArgument ? "in_shardings" : "out_shardings";
}

static unsigned getNumber(Value owner) {
  if (auto argument = dyn_cast<BlockArgument>(owner))
    return argument.getArgNumber();
  return cast<OpResult>(owner).getResultNumber();
}

static Operation *getOp(Value owner) {
  return isa<BlockArgument>(owner) ? owner.getParentBlock()->getParentOp() : owner.getDefiningOp();
}

TensorShardingAttr sdy::getOwnerSharding(const Edge &edge) {
  StringRef name = getListName(edge);
  if (name.empty())
    return getShardingAttr(edge.owner());
  Operation *op = getOp(edge.owner());
  auto shardings = op->getAttrOfType<TensorShardingPerValueAttr>(name);
  if (!shardings)
    return {};
  TensorShardingAttr sharding = shardings.getShardings()[getNumber(edge.owner())];
  if (edge.kind != Edge::ManualArgument)
    return sharding;
  Sharding outer = resolve(sharding, Meshes(op));
  return toAttribute(withoutManualAxes(outer, getManualAxes(cast<ManualComputationOp>(op), outer.mesh)));
}

void sdy::setOwnerSharding(const Edge &edge, TensorShardingAttr sharding) {
  StringRef name = getListName(edge);
  if (name.empty())
    return setShardingAttr(edge.owner(), sharding);
  Operation *op = getOp(edge.owner());
  auto shardings = op->getAttrOfType<TensorShardingPerValueAttr>(name);
  SmallVector<TensorShardingAttr> list;
  if (shardings) {
    llvm::append_range(list, shardings.getShardings());
  } else {
    TypeRange types = name == "in_shardings" ? TypeRange(op->getOperandTypes()) : TypeRange(op->getResultTypes());
    for (Type type : types) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      SmallVector<DimensionShardingAttr> dims(tensor ? tensor.getRank() : 0,
                                              DimensionShardingAttr::get(op->getContext(), {}, false, std::nullopt));
      list.push_back(
          TensorShardingAttr::get(op->getContext(), sharding.getMeshOrRef(), dims, {}, {}, ReductionOp::SUM));
    }
  }
  TensorShardingAttr &entry = list[getNumber(edge.owner())];
  if (edge.kind == Edge::ManualArgument) {
    Meshes meshes(op);
    Sharding outer = resolve(entry, meshes), inner = resolve(sharding, meshes);
    sharding = toAttribute(withManualAxes(inner, outer, getManualAxes(cast<ManualComputationOp>(op), outer.mesh)));
  }
  entry = sharding;
  op->setAttr(name, TensorShardingPerValueAttr::get(op->getContext(), list));
}

//===----------------------------------------------------------------------===//
// Manual axes
//===----------------------------------------------------------------------===//

Axes sdy::getManualAxes(ManualComputationOp op, MeshAttr mesh) {
  Axes axes;
  for (StringAttr name : op.getManualAxes().getValue())
    for (auto [index, axis] : llvm::enumerate(mesh.getAxes()))
      if (axis.getName() == name)
        axes.push_back({static_cast<int32_t>(index), 1, axis.getSize()});
  return axes;
}

static void removeAxes(Axes &axes, AxesRef removed) {
  llvm::erase_if(axes, [&](Axis axis) { return overlapsAny(axis, removed); });
}

Sharding sdy::withoutManualAxes(Sharding sharding, AxesRef manual) {
  for (DimSharding &dim : sharding.dims)
    removeAxes(dim.axes, manual);
  removeAxes(sharding.replicated, manual);
  removeAxes(sharding.unreduced, manual);
  return sharding;
}

Sharding sdy::withManualAxes(const Sharding &inner, const Sharding &outer, AxesRef manual) {
  Sharding result = outer;
  result.placeOn(inner.meshOrRef, inner.mesh);
  for (auto [dim, innerDim] : llvm::zip(result.dims, inner.dims)) {
    llvm::erase_if(dim.axes, [&](Axis axis) { return !overlapsAny(axis, manual); });
    addOrMerge(dim.axes, innerDim.axes);
    dim.isClosed = innerDim.isClosed;
    dim.priority = innerDim.priority;
  }
  return result;
}
