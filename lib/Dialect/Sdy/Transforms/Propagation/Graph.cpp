//===- Graph.cpp - what propagation works on ------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Graph.h"
#include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>

using namespace mlir;
using namespace mlir::sdy;
namespace hlo = mlir::stablehlo;

/// The op priorities: see Graph::getDirection.
static constexpr unsigned kLevels = 5;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

int Graph::addSlot(size_t rank, TensorShardingAttr initial, std::function<void(TensorShardingAttr)> write) {
  Slot &slot = slots.emplace_back();
  slot.rank = rank;
  slot.initial = initial;
  slot.write = std::move(write);
  if (initial)
    slot.sharding = resolve(initial, meshes);
  return slots.size() - 1;
}

int Graph::getSlot(Value value) {
  auto [entry, isNew] = slotOf.try_emplace(value, -1);
  RankedTensorType tensor = getStaticTensor(value.getType());
  // Scalars are not split.
  if (!isNew || !tensor || tensor.getRank() == 0 || !canHoldSharding(value))
    return entry->second;
  int slot = addSlot(tensor.getRank(), getShardingAttr(value),
                     [value](TensorShardingAttr sharding) { setShardingAttr(value, sharding); });
  return slotOf[value] = slot;
}

/// Members of a group share a slot, unless they already differ.
void Graph::addGroups(ModuleOp module) {
  std::map<uint64_t, int> groups; // by any 64 bits
  module.walk([&](ShardingGroupOp op) {
    int slot = getSlot(op.getInput());
    if (slot < 0)
      return;
    auto [entry, isNew] = groups.try_emplace(op.getGroupId(), slot);
    if (isNew || entry->second == slot)
      return;
    Slot &leader = slots[entry->second], &member = slots[slot];
    if (leader.rank != member.rank || (leader.sharding && member.sharding && leader.sharding != member.sharding))
      return;
    if (!leader.sharding)
      leader.sharding = member.sharding;
    // An attribute that differs from that of the group is written at the end.
    if (leader.initial != member.initial)
      leader.initial = {};
    leader.write = [first = leader.write, second = member.write](TensorShardingAttr sharding) {
      first(sharding);
      second(sharding);
    };
    slotOf[op.getInput()] = entry->second;
  });
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

void Graph::addNode(Node node, bool isReturn) {
  // A value whose parts have other ranks than the rule states has none.
  for (auto [index, slot] : llvm::enumerate(node.slots))
    if (slot >= 0 && slots[slot].rank != node.rule->tensors[index].size())
      slot = -1;
  if (llvm::all_of(node.slots, [](int slot) { return slot < 0; }))
    return;
  if (!isReturn)
    for (int slot : node.slots)
      if (slot >= 0 && !llvm::is_contained(slots[slot].nodes, nodes.size()))
        slots[slot].nodes.push_back(nodes.size());
  (isReturn ? returns : nodes).push_back(std::move(node));
}

void Graph::addEdges(Operation *op) {
  for (const Edge &edge : getEdges(op)) {
    DataFlowEdgeOp edgeOp = findEdgeOp(edge.owner());
    if (!edgeOp)
      continue;
    int slot = getSlot(edgeOp.getResult());
    for (Value target : edge.targets)
      slotOf[target] = slot;
    Node node;
    node.op = op;
    node.opClass = OpClass::Simple;
    node.kind = edge.kind;
    for (OpOperand *source : edge.sources)
      node.slots.push_back(getSlot(source->get()));
    node.slots.push_back(slot);
    Value shapeOf = edge.kind == Edge::Plain ? edge.owner() : edge.sources.front()->get();
    RankedTensorType tensor = getStaticTensor(shapeOf.getType());
    if (!tensor)
      continue;
    node.rule = rules.get(getIdentityRule(op->getContext(), tensor.getShape(), edge.sources.size(), 1));
    if (auto manual = dyn_cast<ManualComputationOp>(op)) {
      unsigned index = edge.kind == Edge::ManualArgument ? cast<BlockArgument>(edge.owner()).getArgNumber()
                                                         : cast<OpResult>(edge.owner()).getResultNumber();
      node.outer = resolve((edge.kind == Edge::ManualArgument ? manual.getInShardings() : manual.getOutShardings())
                               .getShardings()[index],
                           meshes);
      node.manual = getManualAxes(manual, node.outer->mesh);
    }
    addNode(std::move(node));
  }
}

/// A slice or a shared head has a factor whose size is that of another tensor's dimension.
static SmallVector<SmallVector<int64_t>, 0> findSizes(Operation *op, const Rule &rule) {
  SmallVector<SmallVector<int64_t>, 0> sizes(rule.tensors.size(), SmallVector<int64_t>(rule.sizes));
  bool isAny = false;
  for (auto [index, tensor] : llvm::enumerate(rule.tensors)) {
    Type type =
        index < rule.operands ? op->getOperand(index).getType() : op->getResult(index - rule.operands).getType();
    auto shaped = dyn_cast<RankedTensorType>(type);
    if (!shaped || shaped.getRank() != static_cast<int64_t>(tensor.size()))
      continue;
    for (auto [dim, factors] : llvm::enumerate(tensor))
      if (factors.size() == 1 && rule.sizes[factors[0]] != shaped.getDimSize(dim) && rule.sizes[factors[0]] != 1) {
        sizes[index][factors[0]] = shaped.getDimSize(dim);
        isAny = true;
      }
  }
  if (!isAny)
    sizes.clear();
  return sizes;
}

void Graph::addOp(Operation *op) {
  OpShardingRuleAttr attribute = getShardingRule(op, options.mode());
  if (!attribute)
    return;
  Node node;
  node.op = op;
  node.rule = rules.get(attribute);
  for (Value operand : op->getOperands())
    node.slots.push_back(getSlot(operand));
  for (Value result : op->getResults())
    node.slots.push_back(getSlot(result));
  node.sizes = findSizes(op, *node.rule);
  node.isElementwise = isElementwise(op);
  node.isConservative = options.isConservative;
  auto call = dyn_cast<hlo::CustomCallOp>(op);
  bool isMove = call && (call.getCallTargetName() == "MoveToHost" || call.getCallTargetName() == "MoveToDevice");
  if (node.isElementwise || isMove || op->hasTrait<tt::trait::Rearranges>())
    node.opClass = OpClass::Simple;
  else if (op->hasTrait<tt::trait::TakesStart>())
    node.opClass = OpClass::DynamicSlice;
  else if (op->hasTrait<tt::trait::Repeats>())
    node.opClass = OpClass::BroadcastInDim;
  if (auto barrier = dyn_cast<PropagationBarrierOp>(op))
    node.allowed = barrier.getAllowedDirection();
  node.hasSingleUses = llvm::all_of(op->getOperands(), [](Value operand) {
    auto shaped = dyn_cast<ShapedType>(operand.getType());
    return !shaped || !shaped.hasRank() || shaped.getRank() == 0 || operand.hasOneUse();
  });
  addNode(std::move(node));
}

/// Between each returned value and the sharding of the function's result, and from there to its calls. An entry's
/// results take part only at the beginning and the end of each run.
void Graph::addReturns(FunctionOpInterface function, ArrayRef<func::CallOp> calls) {
  if (function.isExternal() || !function.getFunctionBody().hasOneBlock())
    return;
  auto identity = [&](int from, int to, RankedTensorType tensor) {
    Node node;
    node.op = function;
    node.opClass = OpClass::Simple;
    node.slots = {from, to};
    node.rule = rules.get(getIdentityRule(function->getContext(), tensor.getShape(), 1, 1));
    addNode(std::move(node), /*isReturn=*/calls.empty());
  };
  for (func::CallOp call : calls)
    for (auto [operand, argument] : llvm::zip(call.getOperands(), function.getArguments()))
      if (RankedTensorType tensor = getStaticTensor(operand.getType()); tensor && tensor.getRank() > 0)
        identity(getSlot(operand), getSlot(argument), tensor);
  for (auto [index, value] : llvm::enumerate(function.getFunctionBody().front().getTerminator()->getOperands())) {
    RankedTensorType tensor = getStaticTensor(value.getType());
    int from = getSlot(value);
    if (!tensor || from < 0 || index >= function.getNumResults())
      continue;
    unsigned number = index;
    int to = addSlot(tensor.getRank(), getResultShardingAttr(function, index),
                     [=](TensorShardingAttr sharding) { setResultShardingAttr(function, number, sharding); });
    identity(from, to, tensor);
    for (func::CallOp call : calls)
      identity(to, getSlot(call.getResult(index)), tensor);
  }
}

Graph::Graph(ModuleOp module, const PropagationOptions &options) : options(options), meshes(module) {
  // Edges first: values inside of regions have the slots of their owners.
  module.walk<WalkOrder::PreOrder>([&](Operation *op) { addEdges(op); });
  addGroups(module);
  DenseMap<StringAttr, SmallVector<func::CallOp>> calls;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto call = dyn_cast<func::CallOp>(op))
      calls[call.getCalleeAttr().getAttr()].push_back(call);
    if (!isa<FunctionOpInterface, ReshardOp, DataFlowEdgeOp>(op))
      addOp(op);
  });
  module.walk([&](func::FuncOp function) { addReturns(function, calls.lookup(function.getSymNameAttr())); });
}

//===----------------------------------------------------------------------===//
// Propagation
//===----------------------------------------------------------------------===//

PropagationDirection Graph::getDirection(const Node &node, size_t factor, unsigned level) const {
  FactorType type = node.rule->types[factor];
  if (type.isBlocked)
    return PropagationDirection::NONE;
  // Ops that move no data go first, then ops whose tensors are split alike, and broadcasts last.
  PropagationDirection direction = PropagationDirection::NONE;
  if (level >= 1 || node.hasSingleUses) {
    if (node.opClass == OpClass::Simple)
      direction = PropagationDirection::BOTH;
    if (node.opClass == OpClass::DynamicSlice)
      direction = PropagationDirection::FORWARD;
  }
  if (level >= 3 || (level == 2 && type.kind == FactorKind::PassThrough))
    direction = unite(direction, node.opClass == OpClass::BroadcastInDim ? PropagationDirection::BACKWARD
                                                                         : PropagationDirection::BOTH);
  if (level >= 4)
    direction = PropagationDirection::BOTH;
  return intersect(direction, node.allowed);
}

void Graph::step(Node &node, unsigned level, SmallVectorImpl<int> &changed) {
  // The mesh, if all agree on one; without axes there is nothing to do.
  MeshAttr mesh;
  Attribute meshOrRef;
  bool hasAxes = false;
  for (int index : node.slots) {
    if (index < 0 || !slots[index].sharding)
      continue;
    const Sharding &sharding = *slots[index].sharding;
    if (sharding.isPlaceholder())
      continue;
    if (mesh && mesh != sharding.mesh)
      return;
    if (!mesh)
      meshOrRef = sharding.meshOrRef;
    mesh = sharding.mesh;
    hasAxes |= llvm::any_of(sharding.dims, [](const DimSharding &dim) { return !dim.axes.empty(); });
  }
  bool isManual = node.kind != Edge::Plain;
  if (isManual && !mesh) {
    mesh = node.outer->mesh;
    meshOrRef = node.outer->meshOrRef;
  }
  if ((!hasAxes && !isManual) || mesh.getAxes().empty())
    return;

  SmallVector<PropagationDirection, 8> directions;
  for (size_t factor = 0; factor < node.rule->numFactors(); ++factor)
    directions.push_back(getDirection(node, factor, level));
  if (llvm::all_of(directions, [](PropagationDirection d) { return d == PropagationDirection::NONE; }))
    return;

  auto view = [&](size_t tensor) -> std::optional<Sharding> {
    int slot = node.slots[tensor];
    if (slot < 0)
      return std::nullopt;
    bool isEdge = isManual && tensor + 1 == node.slots.size();
    if (!isEdge)
      return slots[slot].sharding;
    Sharding sharding =
        slots[slot].sharding ? *slots[slot].sharding : Sharding::open(meshOrRef, mesh, slots[slot].rank);
    return node.kind == Edge::ManualArgument ? withManualAxes(sharding, *node.outer, node.manual)
                                             : withoutManualAxes(sharding, node.manual);
  };
  SmallVector<FactorShardings, 4> tensors;
  for (size_t tensor = 0; tensor < node.slots.size(); ++tensor) {
    std::optional<Sharding> manualView = isManual ? view(tensor) : std::nullopt;
    const std::optional<Sharding> *sharding = &manualView;
    if (!isManual && node.slots[tensor] >= 0)
      sharding = &slots[node.slots[tensor]].sharding;
    tensors.push_back(project(*node.rule, tensor, *sharding ? &**sharding : nullptr));
  }
  SmallVector<FactorShardings, 4> before = tensors;
  Step step{*node.rule, mesh, directions, node.isConservative, node.isElementwise, tensors, node.sizes};
  if (!runStep(options.strategy, step))
    return;

  for (size_t tensor = 0; tensor < node.slots.size(); ++tensor) {
    int index = node.slots[tensor];
    if (index < 0 || tensors[tensor].factors == before[tensor].factors)
      continue;
    Slot &slot = slots[index];
    std::optional<Sharding> old = isManual ? view(tensor) : slot.sharding;
    Sharding sharding = old ? *old : Sharding::open(meshOrRef, mesh, slot.rank);
    sharding.placeOn(meshOrRef, mesh);
    unproject(*node.rule, tensor, tensors[tensor], sharding);
    // Axes are only added, so propagation terminates for any factor sizes of a rule.
    if (old && !llvm::all_of_zip(old->dims, sharding.dims, [](const DimSharding &before, const DimSharding &after) {
          return isPrefix(before.axes, after.axes);
        }))
      continue;
    // Openness never travels.
    for (size_t dim = 0; dim < sharding.dims.size(); ++dim)
      sharding.dims[dim].isClosed = old && old->dims[dim].isClosed;
    if (isManual && tensor + 1 == node.slots.size())
      sharding = node.kind == Edge::ManualArgument
                     ? withoutManualAxes(sharding, node.manual)
                     : withManualAxes(sharding, slot.sharding ? *slot.sharding : *node.outer, node.manual);
    if (slot.sharding ? *slot.sharding == sharding : sharding.isReplicated())
      continue;
    slot.sharding = std::move(sharding);
    changed.push_back(index);
  }
}

void Graph::run(unsigned level) {
  SmallVector<int, 4> changed;
  auto stepReturns = [&] {
    for (Node &node : returns)
      step(node, level, changed);
  };
  stepReturns();
  // Last in, first out, from the top of the module: a change is followed to its end before the next one begins.
  std::vector<unsigned> worklist;
  std::vector<bool> isQueued(nodes.size(), false);
  bool isChanged = true;
  while (isChanged) {
    isChanged = false;
    for (unsigned index = nodes.size(); index-- > 0;) {
      worklist.push_back(index);
      isQueued[index] = true;
    }
    while (!worklist.empty()) {
      unsigned index = worklist.back();
      worklist.pop_back();
      isQueued[index] = false;
      changed.clear();
      step(nodes[index], level, changed);
      isChanged |= !changed.empty();
      for (int slot : changed)
        for (unsigned user : slots[slot].nodes)
          if (user != index && !isQueued[user]) {
            isQueued[user] = true;
            worklist.push_back(user);
          }
    }
  }
  stepReturns();
}

void Graph::runWithOpPriorities() {
  if (!options.usesOpPriorities)
    return run(kLevels - 1);
  for (unsigned level = 0; level < kLevels; ++level)
    run(level);
}

/// A dimension of a later priority is held back: its axes count as replicated, so that no other dimension takes them.
void Graph::runWithUserPriorities() {
  std::map<int64_t, SmallVector<std::tuple<int, size_t, DimSharding>>> later;
  for (auto [index, slot] : llvm::enumerate(slots)) {
    if (!slot.sharding)
      continue;
    for (auto [number, dim] : llvm::enumerate(slot.sharding->dims)) {
      if (!dim.priority)
        continue;
      int64_t priority = *dim.priority;
      dim.priority.reset();
      if (priority == 0)
        continue;
      later[priority].emplace_back(index, number, dim);
      llvm::append_range(slot.sharding->replicated, dim.axes);
      dim = {{}, /*isClosed=*/true, std::nullopt};
    }
    sortAndMerge(slot.sharding->replicated);
  }
  runWithOpPriorities();
  for (auto &[priority, dims] : later) {
    for (auto &[slot, number, dim] : dims) {
      Sharding &sharding = *slots[slot].sharding;
      sharding.replicated = difference(sharding.replicated, dim.axes);
      sharding.dims[number] = dim;
    }
    runWithOpPriorities();
  }
}

void Graph::propagate() { options.usesUserPriorities ? runWithUserPriorities() : runWithOpPriorities(); }

void Graph::writeBack() {
  for (Slot &slot : slots) {
    if (!slot.sharding)
      continue;
    TensorShardingAttr attribute = toAttribute(*slot.sharding);
    if (attribute != slot.initial)
      slot.write(attribute);
  }
}

//===----------------------------------------------------------------------===//
// Rules as attributes
//===----------------------------------------------------------------------===//

void sdy::populateShardingRules(Operation *root, FactorMode mode) {
  root->walk([&](Operation *op) {
    if (!isa<FunctionOpInterface>(op))
      if (OpShardingRuleAttr rule = getShardingRule(op, mode))
        op->setAttr(kShardingRuleAttr, rule);
  });
}

void sdy::dropShardingRules(Operation *root) {
  root->walk([](Operation *op) {
    auto rule = op->getAttrOfType<OpShardingRuleAttr>(kShardingRuleAttr);
    if (rule && !rule.getIsCustomRule())
      op->removeAttr(kShardingRuleAttr);
  });
}
