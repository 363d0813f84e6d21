//===- Planner.cpp - collectives between two shardings --------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Planner.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::sdy;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {
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

/// How many plans without a permute are looked at. Meshes of three axes and tensors of rank four need far fewer.
constexpr unsigned kSearchBudget = 20000;

class Planner {
public:
  Planner(ArrayRef<int64_t> shape, ArrayRef<Axes> source, ArrayRef<Axes> target, ArrayRef<int64_t> axisSizes,
          bool changesMesh)
      : shape(shape), axisSizes(axisSizes), changesMesh(changesMesh) {
    canSplit = collectAtoms(source, target);
    if (!canSplit)
      return;
    from = split(source), to = split(target);
    fewestShards = std::min(shards(from), shards(to));
    wantedAt.assign(atoms.size(), -1);
    for (auto [dim, list] : llvm::enumerate(to))
      for (Atom atom : list)
        wantedAt[atom] = dim;
  }

  bool canSplit;

  Plan plan() {
    Plan best = withPermute();
    // A plan that only moves and gathers, if it is shorter.
    if (!changesMesh)
      for (unsigned steps = 0; steps < exchanges(best); ++steps) {
        Plan found;
        unsigned budget = kSearchBudget;
        if (search(from, steps, found, budget)) {
          best = found;
          break;
        }
      }
    return best;
  }

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

  State from, to;

private:
  //===--------------------------------------------------------------------===//
  // Atoms
  //===--------------------------------------------------------------------===//

  /// False if two parts of an axis have no split in common.
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

  static void append(Plan &plan, Step step, const State &before) {
    if (step.after != before)
      plan.push_back(std::move(step));
  }

  //===--------------------------------------------------------------------===//
  // Plans without a permute
  //===--------------------------------------------------------------------===//

  /// Adds what is wanted next and used nowhere.
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
      if (searchMoves(state, 0, isBusy, step, steps, plan, budget) ||
          searchGather(state, steps, plan, budget))
        return true;
    }
    plan.truncate(mark);
    return false;
  }

  /// Tails that are wanted nowhere stand in the way of others.
  bool searchGather(const State &state, unsigned steps, Plan &plan, unsigned &budget) const {
    State after = state;
    for (Dim &dim : after)
      while (!dim.empty() && wantedAt[dim.back()] < 0)
        dim.pop_back();
    if (after == state || steps < 2 || shards(grow(after)) < fewestShards || shards(after) < fewestShards)
      return false;
    plan.push_back({CollectiveStep::Gather, after, {}});
    if (search(after, steps - 1, plan, budget))
      return true;
    plan.pop_back();
    return false;
  }

  /// All choices of moves from dimension `from` on, each dimension in one move at most.
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
    // A dimension that is as wanted needs no move.
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
  // Plans with a permute
  //===--------------------------------------------------------------------===//

  /// Slices to the wanted numbers of parts as far as axes are free, exchanges them for the wanted axes, moves what other
  /// dimensions have too many of, and gathers the rest.
  Plan withPermute() const {
    size_t rank = from.size();
    State sliced = from;
    SmallVector<bool> isUsed = used(from);
    SmallVector<SmallVector<int64_t>> missing(rank), excess(rank); // prime sizes
    for (size_t dim = 0; dim < rank; ++dim) {
      SmallVector<int64_t> have, want;
      for (Atom atom : from[dim])
        have.push_back(atoms[atom].size);
      for (Atom atom : to[dim])
        want.push_back(atoms[atom].size);
      for (int64_t prime : want)
        if (auto *found = llvm::find(have, prime); found != have.end())
          have.erase(found);
        else
          missing[dim].push_back(prime);
      excess[dim] = have;
    }
    // Free axes go first where least is missing, so that few dimensions are left to be moved to.
    SmallVector<size_t> order = llvm::to_vector(llvm::seq<size_t>(0, rank));
    llvm::sort(order, [&](size_t a, size_t b) {
      return std::pair(missing[a].size(), a) < std::pair(missing[b].size(), b);
    });
    for (size_t dim : order)
      for (size_t at = 0; at < missing[dim].size();) {
        Atom atom = findFree(isUsed, missing[dim][at], dim, sliced[dim]);
        if (atom < 0) {
          ++at;
          continue;
        }
        isUsed[atom] = true;
        sliced[dim].push_back(atom);
        missing[dim].erase(missing[dim].begin() + at);
      }

    // Rounds of moves between different dimensions.
    SmallVector<SmallVector<std::pair<std::pair<size_t, size_t>, SmallVector<int64_t>>>> rounds;
    auto isAnyMissing = [&] { return llvm::any_of(missing, [](const auto &list) { return !list.empty(); }); };
    while (isAnyMissing()) {
      auto &round = rounds.emplace_back();
      SmallVector<bool> isBusy(rank, false);
      for (bool isFound = true; isFound;) {
        isFound = false;
        size_t bestFrom = 0, bestTo = 0;
        SmallVector<int64_t> best;
        for (size_t source = 0; source < rank; ++source)
          for (size_t target = 0; target < rank; ++target) {
            if (source == target || isBusy[source] || isBusy[target])
              continue;
            SmallVector<int64_t> left = excess[source], shared;
            for (int64_t prime : missing[target])
              if (auto *found = llvm::find(left, prime); found != left.end()) {
                left.erase(found);
                shared.push_back(prime);
              }
            if (shared.size() > best.size())
              best = shared, bestFrom = source, bestTo = target;
          }
        if (best.empty())
          continue;
        isFound = isBusy[bestFrom] = isBusy[bestTo] = true;
        for (int64_t prime : best) {
          excess[bestFrom].erase(llvm::find(excess[bestFrom], prime));
          missing[bestTo].erase(llvm::find(missing[bestTo], prime));
        }
        round.push_back({{bestFrom, bestTo}, best});
      }
      if (round.empty())
        return gatherAndSlice();
    }

    // Before the moves each dimension has what it keeps of the target, what it does not, and what leaves it, the first
    // to leave last.
    State arranged(rank);
    SmallVector<size_t> kept(rank);
    for (size_t dim = 0; dim < rank; ++dim)
      kept[dim] = to[dim].size();
    SmallVector<Dim> leaving(rank);
    SmallVector<Step> moves;
    for (auto &round : llvm::reverse(rounds)) {
      Step step = {CollectiveStep::AllToAll, {}, {}};
      for (auto &[dims, primes] : round) {
        auto [source, target] = dims;
        // The last of the target that have these sizes; others in between cannot be told apart from here.
        ArrayRef<Atom> tail = ArrayRef(to[target]).slice(kept[target] - primes.size(), primes.size());
        SmallVector<int64_t> sizes;
        for (Atom atom : tail)
          sizes.push_back(atoms[atom].size);
        SmallVector<int64_t> wanted = primes;
        llvm::sort(sizes), llvm::sort(wanted);
        if (sizes != wanted || !excess[target].empty())
          return gatherAndSlice();
        kept[target] -= primes.size();
        leaving[source].append(tail.begin(), tail.end());
        step.moves.push_back({source, target, primes.size()});
      }
      llvm::sort(step.moves, [](const Step::Move &a, const Step::Move &b) { return a.from < b.from; });
      moves.insert(moves.begin(), step);
    }
    SmallVector<bool> isPlaced(atoms.size(), false);
    for (size_t dim = 0; dim < rank; ++dim) {
      arranged[dim].append(to[dim].begin(), to[dim].begin() + kept[dim]);
      for (const Dim &list : {arranged[dim], leaving[dim]})
        for (Atom atom : list)
          isPlaced[atom] = true;
    }
    for (size_t dim = 0; dim < rank; ++dim) {
      // What stays and is not wanted keeps its place if it can.
      for (int64_t prime : excess[dim]) {
        Atom chosen = -1;
        for (Atom atom : sliced[dim])
          if (chosen < 0 && !isPlaced[atom] && atoms[atom].size == prime)
            chosen = atom;
        for (size_t atom = 0; atom < atoms.size() && chosen < 0; ++atom)
          if (!isPlaced[atom] && atoms[atom].size == prime)
            chosen = atom;
        if (chosen < 0)
          return gatherAndSlice();
        isPlaced[chosen] = true;
        arranged[dim].push_back(chosen);
      }
      llvm::append_range(arranged[dim], leaving[dim]);
    }

    Plan plan;
    append(plan, {CollectiveStep::Slice, sliced, {}}, from);
    if (changesMesh || arranged != sliced)
      plan.push_back({CollectiveStep::Permute, arranged, {}});
    State state = arranged;
    for (Step &step : moves) {
      for (const Step::Move &move : step.moves) {
        Dim &source = state[move.from];
        state[move.to].append(source.end() - move.count, source.end());
        source.truncate(source.size() - move.count);
      }
      step.after = state;
      plan.push_back(step);
    }
    append(plan, {CollectiveStep::Gather, to, {}}, state);
    return plan;
  }

  /// A free atom: the one wanted next, if it may be.
  Atom findFree(ArrayRef<bool> isUsed, int64_t prime, size_t dim, const Dim &current) const {
    if (isPrefix(current, to[dim]) && current.size() < to[dim].size())
      if (Atom next = to[dim][current.size()]; !isUsed[next] && atoms[next].size == prime)
        return next;
    for (bool isWantedHere : {true, false})
      for (size_t atom = 0; atom < atoms.size(); ++atom)
        if (!isUsed[atom] && atoms[atom].size == prime &&
            (!isWantedHere || wantedAt[atom] == static_cast<int64_t>(dim)))
          return atom;
    return -1;
  }

  /// Always possible, at the cost of larger parts in between.
  Plan gatherAndSlice() const {
    State shared(from.size());
    for (size_t dim = 0; dim < from.size(); ++dim)
      for (auto [a, b] : llvm::zip(from[dim], to[dim])) {
        if (a != b)
          break;
        shared[dim].push_back(a);
      }
    Plan plan;
    append(plan, {CollectiveStep::Gather, shared, {}}, from);
    if (changesMesh)
      plan.push_back({CollectiveStep::Permute, shared, {}});
    append(plan, {CollectiveStep::Slice, to, {}}, shared);
    return plan;
  }

  ArrayRef<int64_t> shape, axisSizes;
  bool changesMesh;
  SmallVector<Axis> atoms;
  SmallVector<int64_t> wantedAt;
  int64_t fewestShards = 1;
};
} // namespace

/// What one list has behind the other.
static Axes behind(AxesRef list, AxesRef front) { return difference(list, front); }

SmallVector<CollectiveStep, 0> mlir::sdy::planReshard(ArrayRef<int64_t> shape, ArrayRef<Axes> source,
                                                   ArrayRef<Axes> target, ArrayRef<int64_t> axisSizes,
                                                   bool changesMesh) {
  SmallVector<CollectiveStep, 0> steps;
  SmallVector<Axes> current(source);
  auto add = [&](CollectiveStep step) {
    for (size_t dim = 0; dim < current.size(); ++dim)
      step.axes.push_back(step.kind == CollectiveStep::Slice    ? behind(step.dims[dim], current[dim])
                          : step.kind == CollectiveStep::Gather ? behind(current[dim], step.dims[dim])
                                                                : Axes());
    current = step.dims;
    steps.push_back(std::move(step));
  };
  Planner planner(shape, source, target, axisSizes, changesMesh);
  if (!planner.canSplit) {
    // Parts of an axis with no split in common: only whole tensors have both.
    SmallVector<Axes> shared;
    for (auto [a, b] : llvm::zip(source, target)) {
      Axes prefix;
      for (auto [x, y] : llvm::zip(a, b)) {
        if (x != y)
          break;
        prefix.push_back(x);
      }
      shared.push_back(prefix);
    }
    if (shared != current)
      add({CollectiveStep::Gather, {}, {}, shared});
    if (changesMesh)
      add({CollectiveStep::Permute, {}, {}, shared});
    if (SmallVector<Axes>(target) != current)
      add({CollectiveStep::Slice, {}, {}, SmallVector<Axes>(target)});
    return steps;
  }
  State before = planner.from;
  for (const Step &step : planner.plan()) {
    CollectiveStep collective = {step.kind, {}, {}, planner.merge(step.after)};
    for (const Step::Move &move : step.moves)
      collective.moves.push_back({planner.merge(ArrayRef(before[move.from]).take_back(move.count)),
                                  static_cast<int64_t>(move.from), static_cast<int64_t>(move.to)});
    before = step.after;
    add(std::move(collective));
  }
  return steps;
}
