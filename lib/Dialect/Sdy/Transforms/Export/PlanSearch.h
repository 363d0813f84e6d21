//===- PlanSearch.h - plans found by looking at all steps -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_LIB_DIALECT_SDY_TRANSFORMS_EXPORT_PLANSEARCH_H
#define TTMLIR_LIB_DIALECT_SDY_TRANSFORMS_EXPORT_PLANSEARCH_H

#include "PlanStates.h"

#include <deque>
#include <map>
#include <vector>

namespace mlir::sdy::planning {

/// The number of plans without a permute that are examined. Meshes of three axes and tensors of rank four need far
/// fewer.
constexpr unsigned kSearchBudget = 20000;
constexpr unsigned kMostExchanges = 5;
/// The number of placements of axes that are searched for the shortest plan.
constexpr size_t kMostStates = 6000;

/// Plans found by looking at all steps.
struct Search : States {
  using States::States;

  //===--------------------------------------------------------------------===//
  // Plans without a permute
  //===--------------------------------------------------------------------===//

  /// Adds what is needed next and used nowhere.
  State grow(const State &state) const {
    State grown = state;
    SmallVector<bool> isUsed = used(state);
    for (size_t dim = 0; dim < state.size(); ++dim)
      while (isPrefix(grown[dim], to[dim]) && grown[dim].size() < to[dim].size() &&
             !isUsed[to[dim][grown[dim].size()]]) {
        isUsed[to[dim][grown[dim].size()]] = true;
        grown[dim].push_back(to[dim][grown[dim].size()]);
      }
    return grown;
  }

  bool search(const State &start, unsigned steps, Plan &plan, unsigned &budget) const {
    if (budget == 0)
      return false;
    --budget;
    size_t mark = plan.size();
    State state = grow(start);
    append(plan, {CollectiveStep::Slice, state, {}}, start);
    if (state == to)
      return true;
    if (steps > 0) {
      if (llvm::all_of_zip(to, state, isPrefix)) {
        plan.push_back({CollectiveStep::Gather, to, {}});
        return true;
      }
      SmallVector<bool> isBusy(state.size(), false);
      Step step = {CollectiveStep::AllToAll, state, {}};
      if (searchMoves(state, 0, isBusy, step, steps, plan, budget) || searchGather(state, steps, plan, budget))
        return true;
    }
    plan.truncate(mark);
    return false;
  }

  /// Suffixes that are needed nowhere block others.
  bool searchGather(const State &state, unsigned steps, Plan &plan, unsigned &budget) const {
    State after = state;
    for (Dim &dim : after)
      while (!dim.empty() && requestedAt[dim.back()] < 0)
        dim.pop_back();
    if (after == state || steps < 2 || shards(grow(after)) < fewestShards || shards(after) < fewestShards)
      return false;
    plan.push_back({CollectiveStep::Gather, after, {}});
    if (search(after, steps - 1, plan, budget))
      return true;
    plan.pop_back();
    return false;
  }

  /// Tries all choices of moves from dimension `first` on, with each dimension in at most one move.
  bool searchMoves(const State &state, size_t first, SmallVector<bool> &isBusy, Step &step, unsigned steps, Plan &plan,
                   unsigned &budget) const {
    if (first == state.size()) {
      if (step.moves.empty())
        return false;
      plan.push_back(step);
      if (search(step.after, steps - 1, plan, budget))
        return true;
      plan.pop_back();
      return false;
    }
    if (searchMoves(state, first + 1, isBusy, step, steps, plan, budget))
      return true;
    if (isBusy[first])
      return false;
    // A dimension that is already as requested needs no move.
    for (size_t count = 1; count <= state[first].size(); ++count)
      for (size_t target = 0; target < state.size(); ++target) {
        if (target == first || isBusy[target] || budget == 0)
          continue;
        Step saved = step;
        Dim &source = step.after[first], &sink = step.after[target];
        sink.append(source.end() - count, source.end());
        source.truncate(source.size() - count);
        if (shape[target] % shards(ArrayRef(sink)) == 0 || sink == to[target]) {
          step.moves.push_back({first, target, count});
          isBusy[first] = isBusy[target] = true;
          if (searchMoves(state, first + 1, isBusy, step, steps, plan, budget))
            return true;
          isBusy[first] = isBusy[target] = false;
        }
        step = saved;
      }
    return false;
  }

  //===--------------------------------------------------------------------===//
  // All plans
  //===--------------------------------------------------------------------===//

  /// The shortest path through all states, if there are few of them: axes whose sizes do not fit each other need moves
  /// before and after a permute.
  std::optional<Plan> searchAll() const {
    // Placements of k of n atoms in `rank` dimensions.
    size_t rank = from.size(), count = 0, orders = 1, places = 1;
    for (size_t used = 0; used <= atoms.size(); ++used) {
      count += orders * places;
      orders *= atoms.size() - used;
      places = places * (rank + used) / (used + 1);
      if (count > kMostStates)
        return std::nullopt;
    }
    struct Visit {
      State state;
      unsigned cost = 0;
      std::optional<size_t> previous;
      Step step;
      bool isDone = false;
    };
    std::vector<Visit> visits;
    std::map<State, size_t, decltype(&isLess)> numbers(&isLess);
    std::map<std::vector<int64_t>, bool> isCountDone;
    std::deque<size_t> queue;
    auto reach = [&](State state, unsigned cost, std::optional<size_t> previous, Step step) {
      if (shards(state) < fewestShards)
        return;
      for (auto [dim, list] : llvm::enumerate(state))
        if (shape[dim] % shards(ArrayRef(list)) != 0 && list != to[dim] && list != from[dim])
          return;
      auto [entry, isNew] = numbers.try_emplace(state, visits.size());
      if (isNew)
        visits.push_back({state, cost, previous, step});
      else if (visits[entry->second].isDone || visits[entry->second].cost <= cost)
        return;
      else
        visits[entry->second] = {state, cost, previous, step};
      bool isFree = previous && visits[*previous].cost == cost;
      isFree ? queue.push_front(entry->second) : queue.push_back(entry->second);
    };
    reach(from, 0, std::nullopt, {CollectiveStep::Slice, from, {}});
    while (!queue.empty()) {
      size_t number = queue.front();
      queue.pop_front();
      if (visits[number].isDone)
        continue;
      visits[number].isDone = true;
      State state = visits[number].state;
      unsigned cost = visits[number].cost;
      if (state == to)
        return tracePlan(visits, number);
      SmallVector<bool> isUsed = used(state);
      for (size_t atom = 0; atom < atoms.size(); ++atom)
        for (size_t dim = 0; dim < rank && !isUsed[atom]; ++dim) {
          State after = state;
          after[dim].push_back(atom);
          reach(after, cost, number, {CollectiveStep::Slice, after, {}});
        }
      for (State &after : gathers(state))
        reach(after, cost + 1, number, {CollectiveStep::Gather, after, {}});
      SmallVector<bool> isBusy(rank, false);
      Step start = {CollectiveStep::AllToAll, state, {}};
      forEachMove(start, 0, isBusy, [&](const Step &step) { reach(step.after, cost + 1, number, step); });
      // All arrangements with the same counts are one permute away from the first one reached.
      std::vector<int64_t> counts;
      for (const Dim &dim : state)
        counts.push_back(shards(ArrayRef(dim)));
      if (std::exchange(isCountDone[counts], true))
        continue;
      State empty(rank);
      SmallVector<bool> isTaken(atoms.size(), false);
      forEachArrangement(empty, 0, counts, isTaken, [&](const State &after) {
        reach(after, cost + 1, number, {CollectiveStep::Permute, after, {}});
      });
    }
    return std::nullopt;
  }

  static bool isLess(const State &a, const State &b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), [](const Dim &x, const Dim &y) {
      return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
    });
  }

  /// The steps to a state; consecutive slices are merged.
  template <typename Visits> static Plan tracePlan(const Visits &visits, size_t number) {
    Plan plan;
    for (std::optional<size_t> at = number; visits[*at].previous; at = visits[*at].previous)
      if (plan.empty() || plan.front().kind != CollectiveStep::Slice || visits[*at].step.kind != CollectiveStep::Slice)
        plan.insert(plan.begin(), visits[*at].step);
    return plan;
  }

  static SmallVector<State, 0> gathers(const State &state) {
    SmallVector<State, 0> found = {state};
    for (size_t dim = 0; dim < state.size(); ++dim)
      for (size_t at = 0, end = found.size(); at < end; ++at)
        for (size_t size = 0; size < state[dim].size(); ++size) {
          found.push_back(found[at]);
          found.back()[dim].truncate(size);
        }
    return found;
  }

  void forEachMove(const Step &step, size_t first, SmallVector<bool> &isBusy,
                   llvm::function_ref<void(const Step &)> visit) const {
    if (first == step.after.size()) {
      if (!step.moves.empty())
        visit(step);
      return;
    }
    forEachMove(step, first + 1, isBusy, visit);
    if (isBusy[first])
      return;
    for (size_t count = 1; count <= step.after[first].size(); ++count)
      for (size_t target = 0; target < step.after.size(); ++target) {
        if (target == first || isBusy[target])
          continue;
        Step moved = step;
        Dim &source = moved.after[first];
        moved.after[target].append(source.end() - count, source.end());
        source.truncate(source.size() - count);
        moved.moves.push_back({first, target, count});
        isBusy[first] = isBusy[target] = true;
        forEachMove(moved, first + 1, isBusy, visit);
        isBusy[first] = isBusy[target] = false;
      }
  }

  void forEachArrangement(State &state, size_t dim, ArrayRef<int64_t> counts, SmallVector<bool> &isTaken,
                          llvm::function_ref<void(const State &)> visit) const {
    if (dim == counts.size())
      return visit(state);
    int64_t have = shards(ArrayRef(state[dim]));
    if (have == counts[dim])
      return forEachArrangement(state, dim + 1, counts, isTaken, visit);
    for (size_t atom = 0; atom < atoms.size(); ++atom) {
      if (isTaken[atom] || counts[dim] % (have * atoms[atom].size) != 0)
        continue;
      isTaken[atom] = true;
      state[dim].push_back(atom);
      forEachArrangement(state, dim, counts, isTaken, visit);
      state[dim].pop_back();
      isTaken[atom] = false;
    }
  }
};

} // namespace mlir::sdy::planning

#endif // TTMLIR_LIB_DIALECT_SDY_TRANSFORMS_EXPORT_PLANSEARCH_H
