//===- Problem.cpp - what may be split how, and what that costs -----------===//
// SPDX-License-Identifier: Apache-2.0

#include "Problem.h"

#include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.h"

#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::shlo;
using namespace mlir::tt::shlo::autosharding;

Dims autosharding::wholeOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return Dims(tensor ? tensor.getRank() : 0);
}

Dims Candidate::given(unsigned result) const {
  Dims dims = results[result];
  if (scattered >= 0)
    sdy::addOrMerge(dims[scattered], reduced);
  return dims;
}

/// Whether the op only moves, forwards or converts the elements of one operand.
static bool isRearrangement(Operation *op) {
  return op->getNumOperands() == 1 && op->getNumRegions() == 0 &&
         (movesOnlyOperands(op) || op->hasTrait<trait::ForwardsValues>() || isa<stablehlo::ConvertOp>(op));
}

Problem::Problem(func::FuncOp function, sdy::MeshAttr mesh, const sdy::Meshes &meshes, Model &model)
    : mesh(mesh), function(function), meshes(meshes), model(model) {
  for (auto [index, axis] : llvm::enumerate(mesh.getAxes()))
    if (axis.getSize() > 1)
      axes.push_back({static_cast<int32_t>(index), 1, axis.getSize()});
  for (BlockArgument argument : function.getArguments())
    addArgument(argument);
  for (Operation &op : function.front())
    if (!isa<func::ReturnOp, sdy::ShardingGroupOp>(op))
      addOp(&op);
  addCopies();
  findPeak();
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

/// The sharding that the program already has for a value.
std::optional<Dims> Problem::given(Value value) const {
  sdy::TensorShardingAttr attribute = sdy::getShardingAttr(value);
  if (!attribute || meshes.find(attribute.getMeshOrRef()) != mesh)
    return std::nullopt;
  sdy::Sharding sharding = sdy::resolve(attribute, meshes);
  bool isSaid = llvm::any_of(sharding.dims, [](const sdy::DimSharding &dim) { return !dim.axes.empty(); }) ||
                llvm::all_of(sharding.dims, [](const sdy::DimSharding &dim) { return dim.isClosed; });
  if (!isSaid)
    return std::nullopt;
  Dims dims;
  for (const sdy::DimSharding &dim : sharding.dims)
    dims.push_back(dim.axes);
  return dims;
}

/// Each axis splits a dimension, or none; the replicated tensor first.
std::vector<Dims> Problem::splitsOf(RankedTensorType type) const {
  std::vector<Dims> splits = {wholeOf(type)};
  for (sdy::Axis axis : axes) {
    std::vector<Dims> more;
    for (const Dims &split : splits)
      for (int64_t dim = 0; dim < type.getRank(); ++dim)
        if (type.getDimSize(dim) % (sdy::product(split[dim]) * axis.size) == 0) {
          Dims &added = more.emplace_back(split);
          added[dim].push_back(axis);
        }
    more.resize(std::min(more.size(), mostCandidates - splits.size()));
    llvm::append_range(splits, more);
  }
  return splits;
}

void Problem::addArgument(BlockArgument argument) {
  RankedTensorType type = sdy::getStaticTensor(argument.getType());
  auto candidates = std::make_shared<std::vector<Candidate>>();
  std::vector<Dims> splits = {wholeOf(argument.getType())};
  if (std::optional<Dims> fixed = given(argument))
    splits = {*fixed};
  else if (type)
    splits = splitsOf(type);
  for (Dims &split : splits)
    candidates->push_back({{}, {std::move(split)}, {}, -1, {}});
  sources[argument] = {static_cast<unsigned>(variables.size()), 0};
  variables.push_back({argument, nullptr, {}, candidates});
  if (auto kind =
          function.getArgAttrOfType<ttcore::ArgumentTypeAttr>(argument.getArgNumber(), ttcore::argumentTypeName))
    if (kind.getValue() != ttcore::ArgumentType::Input)
      weights.insert(argument);
}

void Problem::addOp(Operation *op) {
  bool isLeaf = op->getNumOperands() == 0 && op->getNumRegions() == 0;
  bool isComputed = op->getNumOperands() > 0 && op->getNumRegions() == 0 && isPure(op) &&
                    (sdy::isElementwise(op) || isRearrangement(op)) &&
                    llvm::all_of(op->getOperands(), [&](Value operand) { return isFree.contains(operand); });
  if (isLeaf || isComputed) {
    isFree.insert_range(op->getResults());
    return;
  }
  if (op->hasTrait<trait::Product>()) {
    Value right = op->getOperand(1);
    while (Operation *source = right.getDefiningOp()) {
      if (!isRearrangement(source))
        break;
      right = source->getOperand(0);
    }
    bool isTyped = llvm::any_of(llvm::seq(0u, function.getNumArguments()), [&](unsigned index) {
      return function.getArgAttr(index, ttcore::argumentTypeName) != nullptr;
    });
    if (isa<BlockArgument>(right) && !isTyped)
      weights.insert(right);
  }
  Variable variable = {op->getNumResults() ? Value(op->getResult(0)) : Value(), op, {}, nullptr};
  llvm::append_range(variable.inputs, op->getOperands());
  if (op->getNumRegions() > 0) {
    SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    llvm::append_range(variable.inputs, captured);
  }
  variable.candidates = candidatesOf(op, variable.inputs);
  for (OpResult result : op->getResults())
    sources[result] = {static_cast<unsigned>(variables.size()), result.getResultNumber()};
  variables.push_back(std::move(variable));
}

/// A value with several users can be resharded once for all of them.
void Problem::addCopies() {
  struct Use {
    unsigned variable, operand;
  };
  llvm::MapVector<Value, SmallVector<Use>> uses;
  for (auto [index, variable] : llvm::enumerate(variables))
    for (auto [operand, value] : llvm::enumerate(variable.inputs))
      if (!isFree.contains(value) && sdy::getStaticTensor(value.getType()) && sources.count(value))
        uses[value].push_back({static_cast<unsigned>(index), static_cast<unsigned>(operand)});
  for (auto &[value, users] : uses) {
    auto type = cast<RankedTensorType>(value.getType());
    Source source = sources[value];
    if (users.size() > 1) {
      auto candidates = std::make_shared<std::vector<Candidate>>();
      auto add = [&](Dims dims) {
        if (llvm::none_of(*candidates, [&](const Candidate &c) { return c.results[0] == dims; }))
          candidates->push_back({{dims}, {dims}, {}, -1, {}});
      };
      add(wholeOf(type));
      for (const Candidate &candidate : *variables[source.variable].candidates)
        add(candidate.given(source.result));
      for (Use use : users)
        for (const Candidate &candidate : *variables[use.variable].candidates)
          add(candidate.operands[use.operand]);
      auto copy = static_cast<unsigned>(variables.size());
      variables.push_back({value, nullptr, {value}, candidates, /*isCopy=*/true});
      joins.push_back({source, copy, 0, type});
      source = {copy, 0};
    }
    for (Use use : users)
      joins.push_back({source, use.variable, use.operand, type});
  }
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Dims Problem::dimsOf(Source source, ArrayRef<unsigned> choice) const {
  return (*variables[source.variable].candidates)[choice[source.variable]].given(source.result);
}

/// Calls `change` where the lifetime of a value begins or ends, and `visit` where an op has its operands and results.
static void walkAlive(func::FuncOp function, function_ref<void(Value, bool)> change, function_ref<void()> visit) {
  DenseMap<Value, Operation *> lastUse;
  Block &block = function.front();
  for (Operation &op : block)
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        lastUse[operand] = &op;
    });
  for (Operation &op : block) {
    for (OpResult result : op.getResults())
      change(result, true);
    visit();
    SmallPtrSet<Operation *, 1> seen;
    SetVector<Value> ended;
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (lastUse.lookup(operand) == &op && operand.getDefiningOp() && operand.getDefiningOp()->getBlock() == &block)
          ended.insert(operand);
    });
    for (Value value : ended)
      change(value, false);
    for (OpResult result : op.getResults())
      if (result.use_empty())
        change(result, false);
  }
}

void Problem::findPeak() {
  llvm::SetVector<Value> alive, peak;
  int64_t bytes = 0, most = 0;
  walkAlive(
      function,
      [&](Value value, bool begins) {
        RankedTensorType type = sdy::getStaticTensor(value.getType());
        if (!type || !sources.count(value))
          return;
        bytes += (begins ? 1 : -1) * model.bytesOf(type, wholeOf(type));
        begins ? void(alive.insert(value)) : void(alive.remove(value));
      },
      [&] {
        if (bytes > most)
          most = bytes, peak = alive;
      });
  for (Value value : peak)
    alivePeak.push_back(sources.lookup(value));
}

Problem::Memory Problem::memoryOf(ArrayRef<unsigned> choice) const {
  Memory memory;
  for (BlockArgument argument : function.getArguments())
    if (RankedTensorType type = sdy::getStaticTensor(argument.getType()))
      memory.arguments += model.bytesOf(type, dimsOf(sources.lookup(argument), choice));
  int64_t bytes = 0;
  walkAlive(
      function,
      [&](Value value, bool begins) {
        RankedTensorType type = sdy::getStaticTensor(value.getType());
        if (type && sources.count(value))
          bytes += (begins ? 1 : -1) * model.bytesOf(type, dimsOf(sources.lookup(value), choice));
      },
      [&] { memory.activations = std::max(memory.activations, bytes); });
  return memory;
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

static bool isWhole(const Dims &dims) {
  return llvm::all_of(dims, [](const sdy::Axes &axes) { return axes.empty(); });
}

std::vector<unsigned> Problem::start() const { return std::vector<unsigned>(variables.size(), 0); }

Network Problem::network(Variant variant, Price price) const {
  // More than any time, but finite: sums stay ordered.
  constexpr double forbidden = 1e18;
  Network network;
  auto bytesOf = [&](Value value, const Dims &dims) {
    RankedTensorType type = sdy::getStaticTensor(value.getType());
    return type ? static_cast<double>(model.bytesOf(type, dims)) : 0.0;
  };
  auto isSplitOverAll = [&](const Dims &dims) {
    size_t count = 0;
    for (const sdy::Axes &dim : dims)
      count += dim.size();
    return count == axes.size();
  };
  for (const Variable &variable : variables) {
    std::vector<double> &costs = network.costs.emplace_back();
    bool isWeight = weights.contains(variable.value);
    for (const Candidate &candidate : *variable.candidates) {
      double cost = candidate.time.total;
      bool isAllowed = true;
      if (variable.isArgument()) {
        const Dims &dims = candidate.results[0];
        bool isFirst = cast<BlockArgument>(variable.value).getArgNumber() < price.count;
        cost += (isFirst ? price.perByte : price.perByteOfRest) * bytesOf(variable.value, dims);
        if (variant == Variant::DataParallel)
          isAllowed = isWhole(isWeight || dims.empty() ? dims : Dims(dims.begin() + 1, dims.end()));
        else if (variant == Variant::TensorParallel)
          isAllowed = isWeight ? dims.size() < 2 || isSplitOverAll(dims) : isWhole(dims);
      }
      if (variant == Variant::Whole)
        isAllowed = llvm::all_of(candidate.operands, isWhole) && llvm::all_of(candidate.results, isWhole);
      costs.push_back(cost + (isAllowed ? 0 : forbidden));
    }
    double least = *llvm::min_element(costs);
    if (least >= forbidden) // the program says a sharding that the variant has not
      for (double &cost : costs)
        cost -= forbidden;
  }
  for (Source source : alivePeak)
    for (auto [cost, candidate] : llvm::zip(network.costs[source.variable], *variables[source.variable].candidates))
      cost += price.perByte *
              bytesOf(variables[source.variable].op->getResult(source.result), candidate.given(source.result));

  using Key = std::tuple<const void *, unsigned, const void *, unsigned, const void *>;
  std::map<Key, std::shared_ptr<const std::vector<double>>> tables;
  for (const Join &join : joins) {
    const Candidates &from = variables[join.from.variable].candidates, &to = variables[join.to].candidates;
    auto &table = tables[{from.get(), join.from.result, to.get(), join.operand, join.type.getAsOpaquePointer()}];
    if (!table) {
      auto costs = std::make_shared<std::vector<double>>();
      for (const Candidate &first : *from) {
        Dims dims = first.given(join.from.result);
        for (const Candidate &second : *to)
          costs->push_back(model.timeOfReshard(join.type, dims, second.operands[join.operand]).total);
      }
      table = std::move(costs);
    }
    network.pairs.push_back({join.from.variable, join.to, table});
  }
  return network;
}

Time Problem::timeOf(ArrayRef<unsigned> choice) const {
  Time time;
  for (auto [variable, chosen] : llvm::zip(variables, choice))
    time += (*variable.candidates)[chosen].time;
  for (const Join &join : joins)
    time += model.timeOfReshard(join.type, dimsOf(join.from, choice),
                                (*variables[join.to].candidates)[choice[join.to]].operands[join.operand]);
  return time;
}
