//===- PlanStates.h - shardings as a planner sees them ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_LIB_DIALECT_SDY_TRANSFORMS_EXPORT_PLANSTATES_H
#define TTMLIR_LIB_DIALECT_SDY_TRANSFORMS_EXPORT_PLANSTATES_H

#include "Planner.h"

#include "llvm/ADT/STLExtras.h"

namespace mlir::sdy::planning {

using llvm::ArrayRef;
using llvm::SmallVector;

/// An atom: a part of an axis, of prime size, that both shardings use as a whole or not at all.
using Atom = int8_t;
using Dim = SmallVector<Atom, 6>;
using State = SmallVector<Dim, 4>;

struct Step {
  CollectiveStep::Kind kind;
  State after;
  struct Move {
    size_t from, to, count;
  };
  SmallVector<Move, 2> moves;
};
using Plan = SmallVector<Step, 0>;

using Primes = SmallVector<int64_t>;
/// Parts of these sizes that move to another dimension at the same time as others.
struct Transfer {
  size_t from, to;
  Primes primes;
};
using Round = SmallVector<Transfer>;

/// Two shardings as lists of atoms, and queries about them.
struct States {
  States(ArrayRef<int64_t> shape, ArrayRef<Axes> source, ArrayRef<Axes> target, ArrayRef<int64_t> axisSizes,
         bool changesMesh)
      : shape(shape), axisSizes(axisSizes), changesMesh(changesMesh) {
    canSplit = collectAtoms(source, target);
    if (!canSplit)
      return;
    from = split(source), to = split(target);
    fewestShards = std::min(shards(from), shards(to));
    requestedAt.assign(atoms.size(), -1);
    for (auto [dim, list] : llvm::enumerate(to))
      for (Atom atom : list)
        requestedAt[atom] = dim;
  }

  bool canSplit;

  SmallVector<Axes> merge(const State &state) const {
    SmallVector<Axes> dims;
    for (const Dim &dim : state)
      dims.push_back(merge(ArrayRef(dim)));
    return dims;
  }

  Axes merge(ArrayRef<Atom> list) const {
    Axes axes;
    for (Atom atom : list)
      addOrMerge(axes, atoms[atom]);
    return axes;
  }

  //===--------------------------------------------------------------------===//
  // Atoms
  //===--------------------------------------------------------------------===//

  /// False if two parts of an axis have no common split.
  bool collectAtoms(ArrayRef<Axes> source, ArrayRef<Axes> target) {
    for (auto [index, size] : llvm::enumerate(axisSizes)) {
      SmallVector<int64_t> cuts = {1, size};
      for (ArrayRef<Axes> side : {source, target})
        for (const Axes &dim : side)
          for (Axis axis : dim)
            if (axis.index == static_cast<int32_t>(index))
              cuts.append({axis.pre, axis.next()});
      llvm::sort(cuts);
      for (size_t at = 0; at + 1 < cuts.size(); ++at) {
        if (cuts[at + 1] % cuts[at] != 0)
          return false;
        int64_t pre = cuts[at];
        for (int64_t rest = cuts[at + 1] / cuts[at], prime = 2; rest > 1; ++prime)
          for (; rest % prime == 0; rest /= prime, pre *= prime)
            atoms.push_back({static_cast<int32_t>(index), pre, prime});
      }
    }
    return atoms.size() <= std::numeric_limits<Atom>::max();
  }

  State split(ArrayRef<Axes> dims) const {
    State state;
    for (const Axes &axes : dims) {
      Dim &dim = state.emplace_back();
      for (Axis axis : axes)
        for (auto [index, atom] : llvm::enumerate(atoms))
          if (contains(axis, atom))
            dim.push_back(index);
    }
    return state;
  }

  int64_t shards(ArrayRef<Atom> dim) const {
    int64_t size = 1;
    for (Atom atom : dim)
      size *= atoms[atom].size;
    return size;
  }
  int64_t shards(const State &state) const {
    int64_t size = 1;
    for (const Dim &dim : state)
      size *= shards(ArrayRef(dim));
    return size;
  }

  SmallVector<bool> used(const State &state) const {
    SmallVector<bool> isUsed(atoms.size(), false);
    for (const Dim &dim : state)
      for (Atom atom : dim)
        isUsed[atom] = true;
    return isUsed;
  }

  static bool isPrefix(const Dim &a, const Dim &of) {
    return a.size() <= of.size() && std::equal(a.begin(), a.end(), of.begin());
  }

  static unsigned exchanges(const Plan &plan) {
    return llvm::count_if(plan, [](const Step &step) { return step.kind != CollectiveStep::Slice; });
  }

  bool isLarge(const Plan &plan) const {
    return llvm::any_of(plan, [&](const Step &step) { return shards(step.after) < fewestShards; });
  }

  static void append(Plan &plan, Step step, const State &before) {
    if (step.after != before)
      plan.push_back(std::move(step));
  }

  State from, to;
  ArrayRef<int64_t> shape, axisSizes;
  bool changesMesh;
  SmallVector<Axis> atoms;
  SmallVector<int64_t> requestedAt;
  int64_t fewestShards = 1;
};

} // namespace mlir::sdy::planning

#endif // TTMLIR_LIB_DIALECT_SDY_TRANSFORMS_EXPORT_PLANSTATES_H
