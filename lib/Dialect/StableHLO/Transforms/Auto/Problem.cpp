//===- Problem.cpp - what may be split how, and what that costs -----------===//
// SPDX-License-Identifier: Apache-2.0

#include "Problem.h"

#include "../../../Sdy/Transforms/Export/CommonAxes.h"
#include "../Factors.h"
#include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.h"

#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::shlo;
using namespace mlir::tt::shlo::autosharding;

static Dims wholeOf(Type type) {
  auto tensor = sdy::getStaticTensor(type);
  return Dims(tensor ? tensor.getRank() : 0);
}

Dims Candidate::given(unsigned result) const {
  Dims dims = results[result];
  if (scattered >= 0)
    sdy::addOrMerge(dims[scattered], reduced);
  return dims;
}

/// What only rearranges one operand.
static bool isRearrangement(Operation *op) {
  return isa<stablehlo::ReshapeOp, stablehlo::TransposeOp, stablehlo::ConvertOp, stablehlo::BroadcastInDimOp>(op);
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

/// The sharding that the program has for a value already.
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

/// Each axis splits a dimension, or none; the whole tensor first.
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
                    (sdy::isElementwise(op) || isRearrangement(op) || isa<stablehlo::SliceOp>(op)) &&
                    llvm::all_of(op->getOperands(), [&](Value operand) { return isFree.contains(operand); });
  if (isLeaf || isComputed) {
    isFree.insert_range(op->getResults());
    return;
  }
  if (isa<stablehlo::DotGeneralOp, stablehlo::ConvolutionOp>(op)) {
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

/// Partial results can be combined.
static bool canReduce(Operation *op) {
  return isa<stablehlo::DotGeneralOp, stablehlo::ConvolutionOp>(op) ||
         (isa<stablehlo::ReduceOp>(op) && sdy::getReductionOp(op).has_value());
}

/// Factors that all devices may compute their part of.
static SmallVector<int64_t> splittableFactors(Operation *op, const sdy::Rule &rule) {
  SmallVector<bool> isWhole(rule.numFactors());
  for (size_t factor = 0; factor < rule.numFactors(); ++factor) {
    sdy::FactorKind kind = rule.types[factor].kind;
    isWhole[factor] = rule.sizes[factor] == 1 || kind == sdy::FactorKind::NeedReplication ||
                      kind == sdy::FactorKind::Permutation || (kind == sdy::FactorKind::Reduction && !canReduce(op));
  }
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  for (auto [type, tensor, whole] : llvm::zip(types, rule.tensors, wholeDims(op)))
    for (auto [dim, factors] : llvm::enumerate(tensor)) {
      bool isWindow =
          llvm::any_of(factors, [&](int32_t f) { return rule.types[f].kind == sdy::FactorKind::Permutation; });
      for (int32_t factor : factors)
        if (isWindow || llvm::is_contained(whole, static_cast<int64_t>(dim)))
          isWhole[factor] = true;
    }
  SmallVector<int64_t> splittable;
  for (auto [factor, whole] : llvm::enumerate(isWhole))
    if (!whole)
      splittable.push_back(static_cast<int64_t>(factor));
  return splittable;
}

/// The axes of each dimension of all tensors; none if a dimension does not divide, or its parts would lie in strides.
static std::optional<SmallVector<Dims, 4>> tensorsOf(const sdy::Rule &rule, ArrayRef<sdy::Axes> factors,
                                                     ArrayRef<Type> types) {
  SmallVector<Dims, 4> tensors;
  for (auto [tensor, type] : llvm::zip(rule.tensors, types)) {
    Dims &dims = tensors.emplace_back(tensor.size());
    for (auto [dim, indices] : llvm::enumerate(tensor)) {
      bool isFull = true;
      for (int32_t factor : indices) {
        if (!factors[factor].empty() && !isFull)
          return std::nullopt;
        sdy::addOrMerge(dims[dim], factors[factor]);
        isFull = sdy::product(factors[factor]) == rule.sizes[factor];
      }
      if (cast<RankedTensorType>(type).getDimSize(dim) % sdy::product(dims[dim]) != 0)
        return std::nullopt;
    }
  }
  return tensors;
}

Candidates Problem::candidatesOf(Operation *op, ArrayRef<Value> inputs) {
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  bool isStatic = llvm::all_of(types, [](Type type) { return sdy::getStaticTensor(type) != nullptr; });
  sdy::OpShardingRuleAttr attribute = isStatic ? sdy::getShardingRule(op) : sdy::OpShardingRuleAttr();
  const sdy::Rule *rule = attribute ? rules.get(attribute) : nullptr;
  std::optional<Dims> fixed = op->getNumResults() ? given(op->getResult(0)) : std::nullopt;

  // Layers repeat their ops.
  std::vector<const void *> key = {op->getName().getAsOpaquePointer(), attribute.getAsOpaquePointer(),
                                   op->getRawDictionaryAttrs().getAsOpaquePointer(),
                                   op->getPropertiesAsAttribute().getAsOpaquePointer()};
  for (Type type : types)
    key.push_back(type.getAsOpaquePointer());
  if (op->getNumRegions() == 0)
    if (auto found = known.find(key); found != known.end())
      return found->second;

  auto found = std::make_shared<std::vector<Candidate>>();
  auto add = [&](SmallVector<Dims, 4> tensors, const sdy::Axes &reduced) {
    Time time = model.timeOf(op, rule, tensors);
    Candidate candidate;
    candidate.operands.assign(tensors.begin(), tensors.begin() + op->getNumOperands());
    for (Value captured : inputs.drop_front(op->getNumOperands()))
      candidate.operands.push_back(wholeOf(captured.getType()));
    candidate.results.assign(tensors.begin() + op->getNumOperands(), tensors.end());
    candidate.time = time;
    if (reduced.empty()) {
      found->push_back(std::move(candidate));
      return;
    }
    candidate.reduced = reduced;
    SmallVector<RankedTensorType> results;
    for (Type type : op->getResultTypes())
      results.push_back(cast<RankedTensorType>(type));
    for (auto [type, dims] : llvm::zip(results, candidate.results))
      candidate.time += model.timeOfReduction(type, dims, reduced, /*isScattered=*/false);
    found->push_back(candidate);
    for (int64_t dim = 0; results.size() == 1 && dim < results[0].getRank(); ++dim) {
      if (results[0].getDimSize(dim) % (sdy::product(candidate.results[0][dim]) * sdy::product(reduced)) != 0)
        continue;
      candidate.scattered = dim;
      candidate.time = time;
      candidate.time += model.timeOfReduction(results[0], candidate.results[0], reduced, /*isScattered=*/true);
      found->push_back(candidate);
    }
  };

  if (rule) {
    SmallVector<int64_t> splittable = splittableFactors(op, *rule);
    std::vector<SmallVector<sdy::Axes>> assignments = {SmallVector<sdy::Axes>(rule->numFactors())};
    for (sdy::Axis axis : axes) {
      size_t count = assignments.size();
      for (size_t index = 0; index < count; ++index)
        for (int64_t factor : splittable)
          if (rule->sizes[factor] % (sdy::product(assignments[index][factor]) * axis.size) == 0) {
            SmallVector<sdy::Axes> more = assignments[index];
            more[factor].push_back(axis);
            assignments.push_back(std::move(more));
          }
    }
    for (const auto &factors : assignments) {
      sdy::Axes reduced;
      for (auto [factor, list] : llvm::enumerate(factors))
        if (rule->types[factor].kind == sdy::FactorKind::Reduction)
          llvm::append_range(reduced, list);
      sdy::sortAndMerge(reduced);
      if (std::optional<SmallVector<Dims, 4>> tensors = tensorsOf(*rule, factors, types))
        add(std::move(*tensors), reduced);
    }
  } else {
    add(llvm::map_to_vector<4>(types, wholeOf), {});
  }
  if (fixed) {
    auto matching = std::make_shared<std::vector<Candidate>>();
    llvm::copy_if(*found, std::back_inserter(*matching),
                  [&](const Candidate &candidate) { return candidate.given(0) == *fixed; });
    if (!matching->empty())
      found = matching;
  }
  if (op->getNumRegions() == 0)
    known[key] = found;
  return found;
}

/// A value with several users may be brought to a sharding once, for all of them.
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

/// Calls `change` where a value begins or ends to be alive, and `visit` where an op has its operands and results.
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
  // More than any time, and no infinity: sums stay ordered.
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

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

void Problem::apply(ArrayRef<unsigned> choice, Attribute meshOrRef) const {
  auto toAttribute = [&](const Dims &dims) {
    sdy::Sharding sharding = sdy::Sharding::open(meshOrRef, mesh, dims.size(), /*isClosed=*/true);
    for (auto [dim, axes] : llvm::zip(sharding.dims, dims))
      dim.axes = axes;
    return sdy::toAttribute(sharding);
  };
  DenseMap<std::pair<Value, Attribute>, Value> reshards;
  auto bring = [&](OpBuilder &builder, Value value, const Dims &from, const Dims &to) {
    if (from == to)
      return value;
    sdy::TensorShardingAttr target = toAttribute(to);
    Value &known = reshards[{value, target}];
    if (!known)
      known = sdy::ReshardOp::create(builder, value.getLoc(), value, target);
    return known;
  };

  DenseMap<Value, Dims> copies;
  for (auto [variable, chosen] : llvm::zip(variables, choice))
    if (variable.isCopy)
      copies[variable.value] = (*variable.candidates)[chosen].results[0];
  // What users take, and how it is split.
  DenseMap<Value, std::pair<Value, Dims>> values;
  for (auto [variable, chosen] : llvm::zip(variables, choice)) {
    const Candidate &candidate = (*variable.candidates)[chosen];
    if (variable.isArgument()) {
      if (!variable.value || !sdy::getStaticTensor(variable.value.getType()))
        continue;
      sdy::setShardingAttr(variable.value, toAttribute(candidate.results[0]));
      values[variable.value] = {variable.value, candidate.results[0]};
    }
    if (!variable.op)
      continue;
    OpBuilder builder(variable.op);
    for (auto [index, input] : llvm::enumerate(variable.inputs)) {
      auto source = values.find(input);
      if (source == values.end())
        continue;
      auto [value, dims] = source->second;
      const Dims &wanted = candidate.operands[index];
      if (auto copy = copies.find(input); copy != copies.end() && dims != wanted) {
        value = bring(builder, value, dims, copy->second);
        dims = copy->second;
      }
      value = bring(builder, value, dims, wanted);
      if (index < variable.op->getNumOperands())
        variable.op->setOperand(index, value);
      else if (value != input)
        for (Region &region : variable.op->getRegions())
          replaceAllUsesInRegionWith(input, value, region);
    }
    builder.setInsertionPointAfter(variable.op);
    for (OpResult result : variable.op->getResults()) {
      if (!sdy::getStaticTensor(result.getType()) || !sdy::canHoldSharding(result))
        continue;
      const Dims &computed = candidate.results[result.getResultNumber()];
      Dims dims = candidate.given(result.getResultNumber());
      sdy::setShardingAttr(result, toAttribute(computed));
      values[result] = {bring(builder, result, computed, dims), dims};
    }
  }
  auto terminator = cast<func::ReturnOp>(function.front().getTerminator());
  for (OpOperand &operand : terminator->getOpOperands()) {
    auto source = values.find(operand.get());
    if (source == values.end())
      continue;
    auto [value, dims] = source->second;
    operand.set(value);
    if (!sdy::getResultShardingAttr(function, operand.getOperandNumber()))
      sdy::setResultShardingAttr(function, operand.getOperandNumber(), toAttribute(dims));
  }
}
