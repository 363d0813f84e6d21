//===- CommonAxes.cpp - axes of an op's factors on all devices ------------===//
// SPDX-License-Identifier: Apache-2.0

#include "CommonAxes.h"

using namespace mlir;
using namespace mlir::sdy;

/// The axes on which all tensors of the factor agree; none if they do not.
static std::optional<SmallVector<Axes>> getAgreed(const OpShardings &op) {
  SmallVector<Axes> agreed(op.rule.numFactors());
  Axes all;
  for (size_t factor = 0; factor < agreed.size(); ++factor) {
    bool isFirst = true;
    for (size_t tensor = 0; tensor < op.tensors.size(); ++tensor) {
      if (!op.rule.has[tensor][factor])
        continue;
      const FactorSharding &entry = op.tensors[tensor].factors[factor];
      if (!entry.overflow.empty() || (!isFirst && entry.axes != agreed[factor]))
        return std::nullopt;
      agreed[factor] = entry.axes;
      isFirst = false;
    }
    if (op.needsWhole[factor] && !agreed[factor].empty())
      return std::nullopt;
    for (Axis axis : agreed[factor])
      if (overlapsAny(axis, all))
        return std::nullopt;
    llvm::append_range(all, agreed[factor]);
  }
  return agreed;
}

bool sdy::areCompatible(const OpShardings &op) { return getAgreed(op).has_value(); }

static bool isScalar(const OpShardings &op, size_t tensor) { return op.rule.tensors[tensor].empty(); }

namespace {
struct Candidate {
  size_t factor;
  Axes axes;
  int64_t elements = 0;

  auto weight(ArrayRef<FactorType> types, ArrayRef<Axes> assigned) const {
    int64_t kind = types[factor].kind == FactorKind::PassThrough ? 3
                   : types[factor].kind == FactorKind::Reduction ? 2
                                                                 : types[factor].kind == FactorKind::Permutation;
    return std::tuple(elements, kind, product(axes) / product(assigned[factor]), factor,
                      SmallVector<Axis>(axes.begin(), axes.end()));
  }
};
} // namespace

/// The factors directly before this one in a dimension are split completely, so that its parts are contiguous.
static bool isReachable(const OpShardings &op, ArrayRef<Axes> assigned, size_t factor) {
  for (const Rule::Tensor &tensor : op.rule.tensors)
    for (const auto &dim : tensor)
      for (size_t at = 1; at < dim.size(); ++at)
        if (static_cast<size_t>(dim[at]) == factor && product(assigned[dim[at - 1]]) != op.rule.sizes[dim[at - 1]])
          return false;
  return true;
}

/// The largest candidate comes first; conflicting ones are cut.
static SmallVector<Axes> assignGreedily(const OpShardings &op) {
  SmallVector<Axes> assigned(op.rule.numFactors());
  SmallVector<Candidate> candidates;
  for (size_t factor = 0; factor < assigned.size(); ++factor)
    for (size_t tensor = 0; tensor < op.tensors.size(); ++tensor) {
      const Axes &axes = op.tensors[tensor].factors[factor].axes;
      for (size_t length = 1; length <= axes.size() && op.rule.has[tensor][factor]; ++length) {
        Axes prefix(axes.begin(), axes.begin() + length);
        if (llvm::none_of(candidates, [&](const Candidate &c) { return c.factor == factor && c.axes == prefix; }))
          candidates.push_back({factor, prefix});
      }
    }
  for (Candidate &candidate : candidates)
    for (size_t tensor = 0; tensor < op.tensors.size(); ++tensor)
      if (op.rule.has[tensor][candidate.factor] &&
          isPrefix(candidate.axes, op.tensors[tensor].factors[candidate.factor].axes))
        candidate.elements += op.rule.tensorSizes[tensor];

  while (!candidates.empty()) {
    const Candidate *best = nullptr;
    for (const Candidate &candidate : candidates)
      if (isReachable(op, assigned, candidate.factor) &&
          (!best || best->weight(op.rule.types, assigned) < candidate.weight(op.rule.types, assigned)))
        best = &candidate;
    if (!best)
      break;
    size_t factor = best->factor;
    assigned[factor] = best->axes;
    SmallVector<Candidate> rest;
    for (Candidate &candidate : candidates) {
      if (candidate.factor != factor) {
        // A candidate keeps the part before the first axis that is taken.
        Axes kept;
        for (Axis axis : candidate.axes) {
          std::optional<Axis> free = prefixWithout(axis, assigned[factor]);
          if (free)
            kept.push_back(*free);
          if (!free || *free != axis)
            break;
        }
        candidate.axes = kept;
      }
      if (isStrictPrefix(assigned[candidate.factor], candidate.axes))
        rest.push_back(candidate);
    }
    candidates = std::move(rest);
  }
  return assigned;
}

/// The axes of factors that must be unsplit split batches instead, if these have room.
static void moveToBatches(const OpShardings &op, SmallVectorImpl<Axes> &assigned) {
  auto isEverywhere = [&](size_t factor) {
    return llvm::all_of(llvm::seq<size_t>(0, op.tensors.size()),
                        [&](size_t tensor) { return isScalar(op, tensor) || op.rule.has[tensor][factor]; });
  };
  for (size_t factor = 0; factor < assigned.size(); ++factor) {
    if (!op.needsWhole[factor])
      continue;
    Axes axes = std::move(assigned[factor]);
    assigned[factor].clear();
    if (!isEverywhere(factor))
      continue;
    size_t next = 0;
    for (size_t batch = 0; batch < assigned.size() && next < axes.size(); ++batch) {
      if (op.needsWhole[batch] || op.rule.types[batch].kind != FactorKind::PassThrough || !isEverywhere(batch) ||
          !isReachable(op, assigned, batch))
        continue;
      while (next < axes.size() && op.rule.sizes[batch] % (product(assigned[batch]) * axes[next].size) == 0)
        assigned[batch].push_back(axes[next++]);
    }
  }
}

SmallVector<Axes> sdy::findCommonAxes(const OpShardings &op) {
  if (std::optional<SmallVector<Axes>> agreed = getAgreed(op))
    return *agreed;
  SmallVector<Axes> assigned = assignGreedily(op);
  moveToBatches(op, assigned);
  return assigned;
}
