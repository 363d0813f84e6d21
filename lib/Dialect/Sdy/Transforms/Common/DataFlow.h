//===- DataFlow.h - values that flow into and out of regions ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_LIB_DIALECT_SDY_TRANSFORMS_COMMON_DATAFLOW_H
#define TTMLIR_LIB_DIALECT_SDY_TRANSFORMS_COMMON_DATAFLOW_H

#include "Sharding.h"

namespace mlir::sdy {

/// Sources and targets that hold the same value at different times, and so must be split alike. The first target, the
/// owner, represents all; a data_flow_edge after it holds their sharding.
struct Edge {
  enum Kind { Plain, ManualArgument, ManualResult };

  SmallVector<Value, 4> targets;
  SmallVector<OpOperand *, 4> sources;
  Kind kind = Plain;

  Value owner() const { return targets.front(); }
};

SmallVector<Edge> getEdges(Operation *op);
/// The edge op after an owner; null if there is none.
DataFlowEdgeOp findEdgeOp(Value owner);

/// The sharding that the op of the edge has for its owner: on the op, or among those of a computation, without manual
/// axes inside of one.
TensorShardingAttr getOwnerSharding(const Edge &edge);
void setOwnerSharding(const Edge &edge, TensorShardingAttr sharding);

/// The manual axes of a computation, in its mesh.
Axes getManualAxes(ManualComputationOp op, MeshAttr mesh);
/// Returns the sharding as seen inside: without manual axes.
Sharding withoutManualAxes(Sharding sharding, AxesRef manual);
/// Returns the sharding as seen outside: the manual axes of `outer` come first in each dimension; its replicated and
/// unreduced axes stay.
Sharding withManualAxes(const Sharding &inner, const Sharding &outer, AxesRef manual);

} // namespace mlir::sdy

#endif // TTMLIR_LIB_DIALECT_SDY_TRANSFORMS_COMMON_DATAFLOW_H
