//===- Strategy.cpp - one step of propagation -----------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Strategy.h"

#include <numeric>

using namespace mlir;
using namespace mlir::sdy;

PropagationDirection sdy::unite(PropagationDirection a, PropagationDirection b) {
  return static_cast<PropagationDirection>(static_cast<uint32_t>(a) | static_cast<uint32_t>(b));
}

PropagationDirection sdy::intersect(PropagationDirection a, PropagationDirection b) {
  return static_cast<PropagationDirection>(static_cast<uint32_t>(a) & static_cast<uint32_t>(b));
}

//===----------------------------------------------------------------------===//
// Axes on which the tensors of an op agree
//===----------------------------------------------------------------------===//

/// Extends `list` by the axes that only `other` has, or cuts it where they differ.
static void agree(Axes &list, AxesRef other, bool &mayGrow) {
  size_t at = 0;
  for (; at < list.size() && at < other.size(); ++at) {
    Axis mine = list[at], its = other[at];
    if (mine == its)
      continue;
    bool isMineShorter = isPrefix(mine, its), isItsShorter = isPrefix(its, mine);
    if (isItsShorter && at + 1 == other.size())
      return; // this axis continues
    if (isMineShorter && at + 1 == list.size() && mayGrow) {
      list[at] = its;
      continue;
    }
    if (isItsShorter)
      list[at] = its;
    mayGrow = false;
    list.truncate(at + (isMineShorter || isItsShorter));
    return;
  }
  if (mayGrow)
    list.append(other.begin() + std::min(at, other.size()), other.end());
}

static Axes findCommon(const Step &step, size_t factor) {
  PropagationDirection direction = step.directions[factor];
  if (direction == PropagationDirection::NONE)
    return {};
  Axes common;
  bool mayGrow = true;
  auto visit = [&](size_t begin, size_t end) {
    for (size_t tensor = begin; tensor < end; ++tensor)
      if (step.rule.has[tensor][factor])
        agree(common, step.tensors[tensor].factors[factor].axes, mayGrow);
  };
  size_t operands = step.rule.operands, tensors = step.tensors.size();
  bool isBackward = direction == PropagationDirection::BACKWARD;
  isBackward ? visit(operands, tensors) : visit(0, operands);
  mayGrow &= direction == PropagationDirection::BOTH;
  isBackward ? visit(0, operands) : visit(operands, tensors);
  return common;
}

//===----------------------------------------------------------------------===//
// Conflicts
//===----------------------------------------------------------------------===//

/// The front of the axis that no other factor of the tensor uses.
static std::optional<Axis> fitAcross(const Step &step, size_t tensor, size_t factor, Axis axis) {
  std::optional<Axis> rest = axis;
  for (size_t other = 0; other < step.rule.numFactors() && rest; ++other)
    if (other != factor) {
      rest = prefixWithout(*rest, step.tensors[tensor].factors[other].axes);
      if (rest)
        rest = prefixWithout(*rest, step.tensors[tensor].factors[other].overflow);
    }
  return rest;
}

/// The front of the axis for which the factor of the tensor has room, after `taken` shards.
static std::optional<Axis> fitWithin(const Step &step, size_t tensor, size_t factor, Axis axis, int64_t taken) {
  const FactorShardings &shardings = step.tensors[tensor];
  const FactorSharding &entry = shardings.factors[factor];
  std::optional<Axis> rest = prefixWithout(axis, shardings.replicated);
  if (rest)
    rest = prefixWithout(*rest, shardings.unreduced);
  if (!rest)
    return std::nullopt;
  if (llvm::any_of(entry.axes, [&](Axis own) { return contains(own, *rest); }))
    return rest;
  int64_t size = step.sizes.empty() ? step.rule.sizes[factor] : step.sizes[tensor][factor];
  if (!entry.isClosed && entry.overflow.empty() && size % taken == 0) {
    // Only a divisor of the factor: the local parts of a tensor have one shape.
    int64_t shared = std::gcd(size / taken, rest->size);
    if (shared == rest->size)
      return rest;
    if (shared > 1)
      return Axis{rest->index, rest->pre, shared};
  }
  if (!entry.axes.empty() && isPrefix(entry.axes.back(), *rest))
    return entry.axes.back();
  return std::nullopt;
}

/// Cuts the list where an axis does not fit. `fit(axis, taken)` returns the part of it that does.
template <typename Fit> static void truncate(const Step &step, Axes &axes, Fit fit) {
  int64_t taken = 1;
  for (size_t at = 0; at < axes.size(); ++at) {
    std::optional<Axis> rest = fit(axes[at], taken);
    bool isCut = rest && *rest != axes[at];
    if (!rest || (step.isConservative && rest->size != step.mesh.getAxes()[rest->index].getSize())) {
      axes.truncate(at);
      return;
    }
    axes[at] = *rest;
    if (isCut) {
      axes.truncate(at + 1);
      return;
    }
    taken *= rest->size;
  }
}

//===----------------------------------------------------------------------===//
// Strategies
//===----------------------------------------------------------------------===//

/// Conflicts between factors stop both.
static bool runBasic(Step &step) {
  bool isChanged = false;
  for (size_t factor = 0; factor < step.rule.numFactors(); ++factor) {
    Axes common = findCommon(step, factor);
    if (common.empty())
      continue;
    truncate(step, common, [&](Axis axis, int64_t taken) {
      std::optional<Axis> rest = axis;
      for (size_t tensor = 0; tensor < step.tensors.size() && rest; ++tensor) {
        rest = fitAcross(step, tensor, factor, *rest);
        if (rest && step.rule.has[tensor][factor])
          rest = fitWithin(step, tensor, factor, *rest, taken);
      }
      return rest;
    });
    for (size_t tensor = 0; tensor < step.tensors.size(); ++tensor)
      if (Axes &axes = step.tensors[tensor].factors[factor].axes;
          step.rule.has[tensor][factor] && isStrictPrefix(axes, common)) {
        axes = common;
        isChanged = true;
      }
  }
  return isChanged;
}

namespace {
/// The tensor from which the axes of a factor come.
struct Source {
  size_t factor;
  int64_t size = -1;
  size_t tensor = 0;
  int64_t shards = 1;
};
} // namespace

/// Among conflicting factors of a tensor, the one whose axes come from the largest tensor wins.
static bool runAggressive(Step &step) {
  size_t operands = step.rule.operands, tensors = step.tensors.size();
  SmallVector<Axes, 8> common(step.rule.numFactors());
  SmallVector<Source, 8> order;
  for (size_t factor = 0; factor < step.rule.numFactors(); ++factor) {
    common[factor] = findCommon(step, factor);
    if (common[factor].empty())
      continue;
    Source source = {factor};
    for (size_t tensor = 0; tensor < tensors; ++tensor)
      if (step.rule.has[tensor][factor] && isPrefix(common[factor], step.tensors[tensor].factors[factor].axes) &&
          step.rule.tensorSizes[tensor] > source.size) {
        source.size = step.rule.tensorSizes[tensor];
        source.tensor = tensor;
      }
    source.shards = step.isElementwise ? product(common[factor]) : 1;
    order.push_back(source);
  }
  llvm::sort(order, [](const Source &a, const Source &b) {
    return std::tuple(-a.size, -a.shards, a.tensor, a.factor) < std::tuple(-b.size, -b.shards, b.tensor, b.factor);
  });
  bool isChanged = false;
  auto update = [&](size_t tensor) {
    for (const Source &source : order) {
      size_t factor = source.factor;
      if (!step.rule.has[tensor][factor])
        continue;
      Axes axes = common[factor];
      truncate(step, axes, [&](Axis axis, int64_t taken) { return fitWithin(step, tensor, factor, axis, taken); });
      Axes &own = step.tensors[tensor].factors[factor].axes;
      if (!isStrictPrefix(own, axes))
        continue;
      truncate(step, axes, [&](Axis axis, int64_t) { return fitAcross(step, tensor, factor, axis); });
      // Axes that the result of an elementwise op cannot have would not help its operands.
      if (step.isElementwise && tensor < operands)
        for (size_t result = operands; result < tensors; ++result)
          if (const Axes &limit = step.tensors[result].factors[factor].axes;
              step.rule.has[result][factor] && isStrictPrefix(limit, axes))
            axes = limit;
      if (!isStrictPrefix(own, axes))
        continue;
      own = axes;
      isChanged = true;
    }
  };
  for (size_t tensor = operands; tensor < tensors; ++tensor)
    update(tensor);
  for (size_t tensor = 0; tensor < operands; ++tensor)
    update(tensor);
  return isChanged;
}

bool sdy::runStep(PropagationStrategy strategy, Step &step) {
  bool isChanged = false;
  if (strategy != PropagationStrategy::Aggressive)
    isChanged |= runBasic(step);
  if (strategy != PropagationStrategy::Basic)
    isChanged |= runAggressive(step);
  return isChanged;
}
