//===- Candidates.cpp - ways to compute an op -----------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "../../../Sdy/Transforms/Export/CommonAxes.h"
#include "../Factors.h"
#include "Problem.h"
#include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::shlo;
using namespace mlir::tt::shlo::autosharding;

/// Partial results can be combined.
static bool canReduce(Operation *op) {
  return op->hasTrait<trait::Product>() || (isa<stablehlo::ReduceOp>(op) && sdy::getReductionOp(op).has_value());
}

/// Factors of which all devices may compute their part.
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
  // Devices may exchange edges here; `exchangeTime` tells whether parts are large enough.
  const SmallVector<stablehlo::WindowedDim, 2> windows = stablehlo::getWindowedDims(op);
  for (size_t factor = 0; factor < rule.numFactors(); ++factor)
    if (rule.sizes[factor] > 1 && sdy::isWindowed(rule, windows, static_cast<int32_t>(factor)))
      isWhole[factor] = rule.types[factor].kind == sdy::FactorKind::Reduction && !canReduce(op);
  SmallVector<int64_t> splittable;
  for (auto [factor, whole] : llvm::enumerate(isWhole))
    if (!whole)
      splittable.push_back(static_cast<int64_t>(factor));
  return splittable;
}

/// The axes of each dimension of all tensors; none if a dimension does not divide, or its parts would be strided.
static std::optional<SmallVector<Dims, 4>> shardedDims(const sdy::Rule &rule, ArrayRef<sdy::Axes> factors,
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

/// Returns the time to receive edges from neighbors, if windows are split; none if a part needs more than they hold.
static std::optional<Time> exchangeTime(Operation *op, ArrayRef<Dims> tensors, const Model &model) {
  Time time;
  for (const stablehlo::WindowedDim &window : stablehlo::getWindowedDims(op)) {
    const int64_t parts = sdy::product(tensors[0][window.operand]);
    if (parts == 1)
      continue;
    auto type = cast<RankedTensorType>(op->getOperand(0).getType());
    auto print = stablehlo::getFootprint(op, window, parts);
    if (!print)
      return std::nullopt;
    // Segments are of all operands.
    const unsigned inputs = print->segments.empty() ? stablehlo::getNumWindowedOperands(op) : 1;
    for (unsigned input = 0; input < inputs; ++input)
      time += window.kind == stablehlo::WindowKind::Mirror
                  ? model.timeOfMirroring(type, tensors[0], window.operand)
                  : model.timeOfExchange(type, tensors[0], window.operand, *print);
  }
  return time;
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
    // A tensor without a static shape is replicated, and needs no edges.
    std::optional<Time> exchange = isStatic ? exchangeTime(op, tensors, model) : Time();
    if (!exchange)
      return;
    Time time = model.timeOf(op, tensors);
    time += *exchange;
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
          if (assignments.size() < mostCandidates &&
              rule->sizes[factor] % (sdy::product(assignments[index][factor]) * axis.size) == 0) {
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
      if (std::optional<SmallVector<Dims, 4>> tensors = ::shardedDims(*rule, factors, types))
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
