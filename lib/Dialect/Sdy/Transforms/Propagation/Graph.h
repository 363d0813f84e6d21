//===- Graph.h - what propagation works on ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_LIB_DIALECT_SDY_TRANSFORMS_PROPAGATION_GRAPH_H
#define TTMLIR_LIB_DIALECT_SDY_TRANSFORMS_PROPAGATION_GRAPH_H

#include "../Common/DataFlow.h"
#include "Strategy.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sdy {

struct PropagationOptions {
  PropagationStrategy strategy = PropagationStrategy::Aggressive;
  /// The conservative mode does not split axes; windows are split only if devices exchange edges.
  bool isConservative = false, exchangesEdges = false, keepsShardingRules = false;
  bool usesOpPriorities = false, usesUserPriorities = false;

  FactorMode mode() const {
    return !isConservative ? FactorMode::Full : exchangesEdges ? FactorMode::Edges : FactorMode::Conservative;
  }
};

/// The values of a module that can have a sharding, and the ops, edges and returns between them. Shardings are kept
/// here while they grow, and become attributes at the end.
class Graph {
public:
  Graph(ModuleOp module, const PropagationOptions &options);

  void propagate();
  /// Sets the attributes that changed.
  void writeBack();

private:
  /// Values that are always split alike.
  struct Slot {
    std::optional<Sharding> sharding;
    TensorShardingAttr initial;
    std::function<void(TensorShardingAttr)> write;
    SmallVector<unsigned, 4> nodes;
    size_t rank = 0;
  };

  /// The priority of an op in the propagation, and its direction.
  enum class OpClass { Other, Simple, DynamicSlice, BroadcastInDim };

  struct Node {
    Operation *op = nullptr;
    const Rule *rule = nullptr;
    SmallVector<int, 4> slots; // -1: a tensor without
    OpClass opClass = OpClass::Other;
    PropagationDirection allowed = PropagationDirection::BOTH;
    bool isElementwise = false, isConservative = false, hasSingleUses = true;
    SmallVector<SmallVector<int64_t>, 0> sizes; // as in Step
    // Edges of manual computations.
    Edge::Kind kind = Edge::Plain;
    Axes manual;
    std::optional<Sharding> outer;
  };

  int addSlot(size_t rank, TensorShardingAttr initial, std::function<void(TensorShardingAttr)> write);
  int getSlot(Value value);
  void addEdges(Operation *op);
  void addOp(Operation *op);
  void addReturns(FunctionOpInterface function, ArrayRef<func::CallOp> calls);
  void addGroups(ModuleOp module);
  void addNode(Node node, bool isReturn = false);

  void runWithUserPriorities();
  void runWithOpPriorities();
  /// Runs to the fixed point.
  void run(unsigned level);
  /// The slots that changed.
  void step(Node &node, unsigned level, SmallVectorImpl<int> &changed);
  PropagationDirection getDirection(const Node &node, size_t factor, unsigned level) const;

  PropagationOptions options;
  Meshes meshes;
  RuleCache rules;
  SmallVector<Slot, 0> slots;
  SmallVector<Node, 0> nodes, returns;
  DenseMap<Value, int> slotOf;
};

/// Rules of ops as attributes; existing ones are kept.
void populateShardingRules(Operation *root, FactorMode mode);
/// Removes them, except those that the user wrote.
void dropShardingRules(Operation *root);

} // namespace mlir::sdy

#endif // TTMLIR_LIB_DIALECT_SDY_TRANSFORMS_PROPAGATION_GRAPH_H
