//===- Planner.cpp - collectives between two shardings --------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Planner.h"

#include "llvm/ADT/STLExtras.h"

#include <deque>
#include <map>
#include <vector>

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

using Primes = SmallVector<int64_t>;
/// Parts of these sizes that change dimension, at the same time as others.
struct Transfer {
  size_t from, to;
  Primes primes;
};
using Round = SmallVector<Transfer>;

/// How many plans without a permute are looked at. Meshes of three axes and tensors of rank four need far fewer.
constexpr unsigned kSearchBudget = 20000;
constexpr unsigned kMostExchanges = 5;
/// How many placements of axes are searched for the shortest way.
constexpr size_t kMostStates = 6000;

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
    // Free axes first, or first what other dimensions have too much of: by dimension.
    Plan best = withPermute(0);
    for (unsigned laterDims = 1; laterDims < 1u << std::min<size_t>(from.size(), 4) && exchanges(best) > 2; ++laterDims)
      if (Plan other = withPermute(laterDims);
          std::pair(isLarge(other), exchanges(other)) < std::pair(isLarge(best), exchanges(best)))
        best = std::move(other);
    // A plan that only moves and gathers, if it is shorter, or if larger parts would be needed.
    unsigned limit = isLarge(best) ? kMostExchanges : exchanges(best);
    if (!changesMesh)
      for (unsigned steps = 0; steps < limit; ++steps) {
        Plan found;
        unsigned budget = kSearchBudget;
        if (search(from, steps, found, budget)) {
          best = found;
          break;
        }
      }
    if ((isLarge(best) || exchanges(best) > 2) && !changesMesh)
      if (std::optional<Plan> found = searchAll(); found && (isLarge(best) || exchanges(*found) < exchanges(best)))
        best = std::move(*found);
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

  bool isLarge(const Plan &plan) const {
    return llvm::any_of(plan, [&](const Step &step) { return shards(step.after) < fewestShards; });
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
      if (searchMoves(state, 0, isBusy, step, steps, plan, budget) || searchGather(state, steps, plan, budget))
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

  /// Slices to the wanted numbers of parts as far as axes are free, exchanges them for the wanted axes, moves what
  /// other dimensions have too many of, and gathers the rest.
  Plan withPermute(unsigned laterDims) const {
    size_t rank = from.size();
    State sliced = from;
    SmallVector<bool> isUsed = used(from);
    SmallVector<Primes> missing(rank), excess(rank);
    for (size_t dim = 0; dim < rank; ++dim) {
      Primes have, want;
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
    llvm::sort(order,
               [&](size_t a, size_t b) { return std::pair(missing[a].size(), a) < std::pair(missing[b].size(), b); });
    auto fill = [&](size_t dim) {
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
    };
    for (size_t dim : order)
      if (!(laterDims >> dim & 1))
        fill(dim);

    // Rounds of moves between different dimensions.
    SmallVector<Round> rounds;
    auto isAnyMissing = [&] { return llvm::any_of(missing, [](const auto &list) { return !list.empty(); }); };
    while (isAnyMissing()) {
      Round &round = rounds.emplace_back();
      SmallVector<bool> isBusy(rank, false);
      for (bool isFound = true; isFound;) {
        isFound = false;
        size_t bestFrom = 0, bestTo = 0;
        Primes best;
        for (size_t source = 0; source < rank; ++source)
          for (size_t target = 0; target < rank; ++target) {
            if (source == target || isBusy[source] || isBusy[target])
              continue;
            Primes left = excess[source], shared;
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
        round.push_back({bestFrom, bestTo, best});
      }
      if (!round.empty())
        continue;
      rounds.pop_back();
      State saved = sliced;
      for (size_t dim : order)
        fill(dim);
      if (sliced == saved)
        return gatherAndSlice();
    }

    std::optional<Plan> plan = permuteThenMove(sliced, rounds, excess);
    if (!plan)
      plan = moveThenPermute(sliced, rounds, excess);
    return plan ? *plan : gatherAndSlice();
  }

  /// Before the moves each dimension has what it keeps of the target, what it does not, and what leaves it, the first
  /// to leave last. None if what comes is not the end of what is wanted.
  std::optional<Plan> permuteThenMove(const State &sliced, ArrayRef<Round> rounds, ArrayRef<Primes> excess) const {
    State front(to), leaving(from.size());
    SmallVector<Step, 0> moves;
    for (const Round &round : llvm::reverse(rounds)) {
      Step step = {CollectiveStep::AllToAll, {}, {}};
      for (const Transfer &transfer : round) {
        Dim &sink = front[transfer.to];
        size_t count = transfer.primes.size();
        if (!excess[transfer.to].empty() || !havePrimes(ArrayRef(sink).take_back(count), transfer.primes))
          return std::nullopt;
        leaving[transfer.from].append(sink.end() - count, sink.end());
        sink.truncate(sink.size() - count);
        step.moves.push_back({transfer.from, transfer.to, count});
      }
      moves.insert(moves.begin(), step);
    }
    std::optional<State> arranged = arrange(sliced, front, excess, leaving);
    if (!arranged || !haveSameCounts(*arranged, sliced))
      return std::nullopt;
    Plan plan;
    append(plan, {CollectiveStep::Slice, sliced, {}}, from);
    if (changesMesh || *arranged != sliced)
      plan.push_back({CollectiveStep::Permute, *arranged, {}});
    State state = *arranged;
    for (Step &step : moves)
      plan.push_back(move(step, state));
    // What comes to a dimension that is left later is in the way.
    if (!llvm::all_of_zip(to, state, isPrefix))
      return std::nullopt;
    append(plan, {CollectiveStep::Gather, to, {}}, state);
    return plan;
  }

  /// The moves have the right sizes, and the permute puts all in order.
  std::optional<Plan> moveThenPermute(const State &sliced, ArrayRef<Round> rounds, ArrayRef<Primes> excess) const {
    Plan plan;
    append(plan, {CollectiveStep::Slice, sliced, {}}, from);
    State state = sliced;
    for (const Round &round : rounds) {
      Step step = {CollectiveStep::AllToAll, {}, {}};
      for (const Transfer &transfer : round) {
        size_t count = transfer.primes.size();
        if (!havePrimes(ArrayRef(state[transfer.from]).take_back(count), transfer.primes))
          return std::nullopt;
        step.moves.push_back({transfer.from, transfer.to, count});
      }
      plan.push_back(move(step, state));
    }
    std::optional<State> arranged = arrange(state, to, excess, State(from.size()));
    if (!arranged || !haveSameCounts(*arranged, state))
      return std::nullopt;
    if (changesMesh || *arranged != state)
      plan.push_back({CollectiveStep::Permute, *arranged, {}});
    append(plan, {CollectiveStep::Gather, to, {}}, *arranged);
    return plan;
  }

  bool haveSameCounts(const State &a, const State &b) const {
    return llvm::all_of_zip(a, b,
                            [&](const Dim &x, const Dim &y) { return shards(ArrayRef(x)) == shards(ArrayRef(y)); });
  }

  bool havePrimes(ArrayRef<Atom> list, Primes wanted) const {
    Primes sizes;
    for (Atom atom : list)
      sizes.push_back(atoms[atom].size);
    llvm::sort(sizes), llvm::sort(wanted);
    return sizes == wanted;
  }

  static Step move(Step step, State &state) {
    llvm::sort(step.moves, [](const Step::Move &a, const Step::Move &b) { return a.from < b.from; });
    for (const Step::Move &move : step.moves) {
      Dim &source = state[move.from];
      state[move.to].append(source.end() - move.count, source.end());
      source.truncate(source.size() - move.count);
    }
    step.after = state;
    return step;
  }

  /// `front`, atoms of the sizes of `excess`, `back`. What is in excess keeps its place if it can.
  std::optional<State> arrange(const State &current, const State &front, ArrayRef<Primes> excess,
                               const State &back) const {
    SmallVector<bool> isPlaced(atoms.size(), false);
    for (const State &side : {front, back})
      for (const Dim &dim : side)
        for (Atom atom : dim)
          isPlaced[atom] = true;
    State arranged = front;
    for (size_t dim = 0; dim < front.size(); ++dim) {
      for (int64_t prime : excess[dim]) {
        Atom chosen = -1;
        for (Atom atom : current[dim])
          if (chosen < 0 && !isPlaced[atom] && atoms[atom].size == prime)
            chosen = atom;
        for (size_t atom = 0; atom < atoms.size() && chosen < 0; ++atom)
          if (!isPlaced[atom] && atoms[atom].size == prime)
            chosen = atom;
        if (chosen < 0)
          return std::nullopt;
        isPlaced[chosen] = true;
        arranged[dim].push_back(chosen);
      }
      llvm::append_range(arranged[dim], back[dim]);
    }
    return arranged;
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

  //===--------------------------------------------------------------------===//
  // All plans
  //===--------------------------------------------------------------------===//

  /// The shortest way through all states, where there are few of them: axes whose sizes do not fit each other need
  /// moves before and after a permute.
  std::optional<Plan> searchAll() const {
    // Places of k of n atoms in rank dimensions.
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
      // All arrangements of the same counts are one permute away from the first that is reached.
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

  /// The steps to a state; slices that follow each other are one.
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

/// Parts that `target` can be split into, as many of each size on each dimension as `source` has, and those that the
/// target has there first.
static SmallVector<Axes> relabel(ArrayRef<Axes> source, ArrayRef<Axes> target, ArrayRef<int64_t> axisSizes) {
  SmallVector<Axis> atoms;
  auto addPrimes = [](auto &list, int32_t index, int64_t pre, int64_t size) {
    for (int64_t prime = 2; size > 1; ++prime)
      for (; size % prime == 0; size /= prime, pre *= prime)
        list.push_back(Axis{index, pre, prime});
  };
  for (const Axes &dim : target)
    for (Axis axis : dim)
      addPrimes(atoms, axis.index, axis.pre, axis.size);
  Axes used(atoms.begin(), atoms.end());
  for (auto [index, size] : llvm::enumerate(axisSizes))
    for (Axis axis : difference({Axis{static_cast<int32_t>(index), 1, size}}, used))
      addPrimes(atoms, axis.index, axis.pre, axis.size);
  SmallVector<Axes> relabelled(source.size());
  for (auto [dim, axes] : llvm::enumerate(source)) {
    SmallVector<Axis> primes;
    for (Axis axis : axes)
      addPrimes(primes, axis.index, axis.pre, axis.size);
    Axes chosen;
    for (bool isWantedHere : {true, false})
      for (size_t at = 0; at < atoms.size(); ++at) {
        if (isWantedHere && !overlapsAny(atoms[at], target[dim]))
          continue;
        auto *found = llvm::find_if(primes, [&](Axis prime) { return prime.size == atoms[at].size; });
        if (found == primes.end())
          continue;
        chosen.push_back(atoms[at]);
        primes.erase(found);
        atoms.erase(atoms.begin() + at--);
      }
    addOrMerge(relabelled[dim], chosen);
  }
  return relabelled;
}

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
    // Parts of an axis with no split in common: a permute puts parts of the same sizes in their place.
    SmallVector<Axes> relabelled = relabel(source, target, axisSizes);
    add({CollectiveStep::Permute, {}, {}, relabelled});
    for (CollectiveStep &step : planReshard(shape, relabelled, target, axisSizes))
      steps.push_back(std::move(step));
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
