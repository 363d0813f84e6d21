//===- Factors.cpp - shardings of an op by its factors --------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Factors.h"

#include <numeric>

using namespace mlir;
using namespace mlir::sdy;

/// Sizes of rules are compared, also in sums; beyond this number, which no tensor reaches, all may be equal.
static constexpr int64_t kMany = int64_t(1) << 56;

Rule::Rule(OpShardingRuleAttr attribute)
    : attribute(attribute), sizes(attribute.getFactorSizes()), types(attribute.getFactorSizes().size()),
      operands(attribute.getOperandMappings().size()) {
  for (auto [factors, kind] : {std::pair(attribute.getReductionFactors(), FactorKind::Reduction),
                               std::pair(attribute.getNeedReplicationFactors(), FactorKind::NeedReplication),
                               std::pair(attribute.getPermutationFactors(), FactorKind::Permutation)})
    for (int64_t factor : factors)
      types[factor].kind = kind;
  for (int64_t factor : attribute.getBlockedPropagationFactors())
    types[factor].isBlocked = true;
  auto append = [&](ArrayRef<TensorMappingAttr> mappings) {
    for (TensorMappingAttr mapping : mappings) {
      Tensor &tensor = tensors.emplace_back();
      auto &tensorHas = has.emplace_back(sizes.size(), false);
      auto &last = isLast.emplace_back(sizes.size(), false);
      int64_t &size = tensorSizes.emplace_back(1);
      for (DimMappingAttr dim : mapping.getDimMappings()) {
        tensor.emplace_back(dim.getFactorIndices().begin(), dim.getFactorIndices().end());
        for (int64_t factor : dim.getFactorIndices())
          tensorHas[factor] = true, size = std::min(size, kMany / std::max<int64_t>(sizes[factor], 1)) * sizes[factor];
        last[tensor.back().back()] = true;
      }
    }
  };
  append(attribute.getOperandMappings());
  append(attribute.getResultMappings());
}

const Rule *RuleCache::get(OpShardingRuleAttr attribute) {
  std::unique_ptr<Rule> &rule = rules[attribute];
  if (!rule)
    rule = std::make_unique<Rule>(attribute);
  return rule.get();
}

bool sdy::isWindowed(const Rule &rule, ArrayRef<WindowedDim> windows, int32_t factor) {
  return llvm::any_of(windows, [&](const WindowedDim &window) {
    const auto &other = rule.tensors[window.kind == WindowKind::Contraction ? 1 : rule.operands];
    return llvm::is_contained(rule.tensors[0][window.operand], factor) &&
           llvm::is_contained(other[window.result], factor);
  });
}

FactorShardings sdy::project(const Rule &rule, size_t tensor, const Sharding *sharding, bool isMissingClosed) {
  FactorShardings result;
  result.factors.resize(rule.numFactors());
  if (!sharding) {
    for (FactorSharding &factor : result.factors)
      factor.isClosed = isMissingClosed;
    return result;
  }
  result.replicated = sharding->replicated;
  result.unreduced = sharding->unreduced;
  for (auto [dim, factors] : llvm::zip(sharding->dims, rule.tensors[tensor])) {
    // Axes from `next` on remain; the first of them may be the rest of one.
    size_t next = 0;
    Axis first = dim.axes.empty() ? Axis() : dim.axes.front();
    auto advance = [&] {
      if (++next < dim.axes.size())
        first = dim.axes[next];
    };
    auto takeRest = [&](Axes &axes) {
      for (; next < dim.axes.size(); advance())
        axes.push_back(first);
    };
    bool hasOverflow = false;
    for (int32_t factor : factors) {
      FactorSharding &entry = result.factors[factor];
      entry.isClosed = dim.isClosed || hasOverflow;
      if (hasOverflow)
        continue;
      if (factor == factors.back()) {
        takeRest(entry.axes);
        continue;
      }
      int64_t rest = rule.sizes[factor];
      while (next < dim.axes.size()) {
        int64_t shared = std::gcd(rest, first.size);
        if (first.size != 1 && shared == 1)
          break;
        rest /= shared;
        if (shared == first.size) {
          entry.axes.push_back(first);
          advance();
        } else {
          entry.axes.push_back({first.index, first.pre, shared});
          first = {first.index, first.pre * shared, first.size / shared};
        }
      }
      if (rest > 1 && next < dim.axes.size()) {
        takeRest(entry.overflow);
        hasOverflow = true;
      }
    }
  }
  return result;
}

void sdy::unproject(const Rule &rule, size_t tensor, const FactorShardings &factors, Sharding &sharding) {
  for (auto [dim, indices] : llvm::zip(sharding.dims, rule.tensors[tensor])) {
    dim.axes.clear();
    dim.isClosed = false;
    for (int32_t index : indices) {
      const FactorSharding &factor = factors.factors[index];
      dim.isClosed |= factor.isClosed;
      addOrMerge(dim.axes, factor.axes);
      addOrMerge(dim.axes, factor.overflow);
      // Factors after one that is not split completely would be strided.
      if (!factor.overflow.empty() || product(factor.axes) != rule.sizes[index])
        break;
    }
  }
}
