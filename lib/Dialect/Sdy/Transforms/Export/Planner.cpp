//===- Planner.cpp - collectives between two shardings --------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "PlanSearch.h"

using namespace mlir::sdy;
using namespace mlir::sdy::planning;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {
class Planner : public Search {
public:
  using Search::Search;

  Plan plan() {
    // Free axes first, or first the excess of other dimensions: by dimension.
    Plan best = withPermute(0);
    for (unsigned laterDims = 1; laterDims < 1u << std::min<size_t>(from.size(), 4) && exchanges(best) > 2; ++laterDims)
      if (Plan other = withPermute(laterDims);
          std::pair(isLarge(other), exchanges(other)) < std::pair(isLarge(best), exchanges(best)))
        best = std::move(other);
    // A plan of moves and gathers only, if it is shorter, or if larger parts would otherwise be needed.
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

private:
  //===--------------------------------------------------------------------===//
  // Plans with a permute
  //===--------------------------------------------------------------------===//

  /// Slices to the requested numbers of parts as far as axes are free, exchanges them for the requested axes, moves the
  /// excess of other dimensions, and gathers the rest.
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
    // Free axes go first to the dimension that lacks least, so that few dimensions are left as targets of moves.
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

  /// Before the moves, each dimension has the part of the target that it keeps, the part that it does not, and the part
  /// that leaves it, the first to leave last. Returns none if the incoming axes are not a suffix of those needed.
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
    // Axes that arrive in a dimension that others leave later block them.
    if (!llvm::all_of_zip(to, state, isPrefix))
      return std::nullopt;
    append(plan, {CollectiveStep::Gather, to, {}}, state);
    return plan;
  }

  /// The moves have the right sizes, and the permute puts all axes in order.
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

  bool havePrimes(ArrayRef<Atom> list, Primes requested) const {
    Primes sizes;
    for (Atom atom : list)
      sizes.push_back(atoms[atom].size);
    llvm::sort(sizes), llvm::sort(requested);
    return sizes == requested;
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

  /// `front`, atoms of the sizes of `excess`, `back`. Excess axes keep their place if possible.
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

  /// A free atom: the one requested next, if allowed.
  Atom findFree(ArrayRef<bool> isUsed, int64_t prime, size_t dim, const Dim &current) const {
    if (isPrefix(current, to[dim]) && current.size() < to[dim].size())
      if (Atom next = to[dim][current.size()]; !isUsed[next] && atoms[next].size == prime)
        return next;
    for (bool isRequestedHere : {true, false})
      for (size_t atom = 0; atom < atoms.size(); ++atom)
        if (!isUsed[atom] && atoms[atom].size == prime &&
            (!isRequestedHere || requestedAt[atom] == static_cast<int64_t>(dim)))
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
};
} // namespace

/// Returns the suffix of one list after the other.
static Axes behind(AxesRef list, AxesRef front) { return difference(list, front); }

/// Parts into which `target` can be split: as many of each size on each dimension as `source` has, those that the
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
    for (bool isRequestedHere : {true, false})
      for (size_t at = 0; at < atoms.size(); ++at) {
        if (isRequestedHere && !overlapsAny(atoms[at], target[dim]))
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
    // Parts of an axis with no common split: a permute replaces them by parts of the same sizes.
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
