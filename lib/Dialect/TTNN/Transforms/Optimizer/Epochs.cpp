//===- Epochs.cpp - ops on the cores of a chip, epoch by epoch ------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Epochs.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <array>
#include <random>
#include <tuple>

using namespace mlir;
using namespace mlir::tt::ttnn;

/// The number of ops that are examined to choose the plan of an epoch.
static constexpr size_t window = 64;

namespace {
/// The free cores of a chip: a bit for each column of a row.
class FreeCores {
public:
  FreeCores(int64_t rows, int64_t columns)
      : columns(columns), free(rows, llvm::maskTrailingOnes<uint64_t>(columns)), left(rows * columns) {}

  bool none() const { return left == 0; }

  /// The first free rectangle, row by row.
  std::optional<std::pair<int64_t, int64_t>> find(int64_t rows, int64_t wide) const {
    if (rows * wide > left || wide > columns)
      return std::nullopt;
    for (int64_t row = 0; row + rows <= static_cast<int64_t>(free.size()); ++row) {
      uint64_t bits = free[row];
      for (int64_t below = 1; below < rows; ++below)
        bits &= free[row + below];
      uint64_t run = bits;
      for (int64_t shift = 1; shift < wide; ++shift)
        run &= bits >> shift;
      if (run)
        return std::pair(row, static_cast<int64_t>(llvm::countr_zero(run)));
    }
    return std::nullopt;
  }

  bool isFree(int64_t row, int64_t column, int64_t rows, int64_t wide) const {
    const uint64_t mask = llvm::maskTrailingOnes<uint64_t>(wide) << column;
    return llvm::all_of(llvm::seq(row, row + rows), [&](int64_t each) { return (free[each] & mask) == mask; });
  }

  void take(int64_t row, int64_t column, int64_t rows, int64_t wide) {
    const uint64_t mask = llvm::maskTrailingOnes<uint64_t>(wide) << column;
    for (int64_t i = 0; i < rows; ++i)
      free[row + i] &= ~mask;
    left -= rows * wide;
  }

private:
  int64_t columns;
  SmallVector<uint64_t> free;
  int64_t left;
};

/// A trial for an epoch: a limit for the cycles of each op, and a number of rows of its grid (0: any).
struct Plan {
  int64_t cycles = 0, rows = 0;
};

class Placer {
public:
  Placer(ArrayRef<EpochOp> ops, const EpochOptions &options) : ops(ops), options(options) {}

  SmallVector<EpochPlace> run() {
    SmallVector<EpochPlace> all;
    for (int64_t epoch = 0; all.size() < ops.size(); ++epoch) {
      SmallVector<EpochPlace> best;
      double bestScore = 0;
      const size_t first = all.size(), end = endOfEpoch(first);
      for (const Plan &plan : plansFor(ops.slice(first, std::min(window, end - first)))) {
        SmallVector<EpochPlace> tried = fill(ops.slice(first, end - first), plan);
        const double score = scoreOf(first, tried);
        if (best.empty() || score > bestScore) {
          bestScore = score;
          best = std::move(tried);
        }
      }
      for (EpochPlace &place : best)
        place.epoch = epoch;
      llvm::append_range(all, best);
    }
    return all;
  }

private:
  /// The end of the ops that may be in the epoch of `first`: the next one requests another epoch.
  size_t endOfEpoch(size_t first) const {
    std::optional<int64_t> requested = ops[first].requestedEpoch;
    size_t end = first + 1;
    for (; end < ops.size(); ++end) {
      const std::optional<int64_t> other = ops[end].requestedEpoch;
      if (requested && other && *other != *requested)
        break;
      requested = requested ? requested : other;
    }
    return end;
  }

  SmallVector<Plan> plansFor(ArrayRef<EpochOp> begin) const {
    if (options.policy == EpochPolicy::Smallest || options.policy == EpochPolicy::Any)
      return {Plan()};
    int64_t heaviest = 1;
    SmallVector<int64_t> rows;
    for (const EpochOp &op : begin) {
      int64_t least = op.grids.front().cycles;
      for (const GridChoice &grid : op.grids) {
        least = std::min(least, grid.cycles);
        rows.push_back(grid.rows);
      }
      // Ops that only move values have no work except these cycles.
      heaviest = std::max({heaviest, op.work, least});
    }
    llvm::sort(rows);
    rows.erase(llvm::unique(rows), rows.end());
    if (options.policy == EpochPolicy::Work)
      rows = {0};
    else if (rows.size() > 5) // the largest numbers
      rows.erase(rows.begin(), rows.end() - 5);
    SmallVector<Plan> plans;
    for (int64_t each : rows)
      for (int64_t cores = 1; cores <= options.rows * options.columns; cores *= 2)
        plans.push_back({static_cast<int64_t>(llvm::divideCeil(heaviest, cores)), each});
    return plans;
  }

  /// The grids of an op, the best first.
  SmallVector<GridChoice, 16> preferred(const EpochOp &op, const Plan &plan) {
    SmallVector<GridChoice, 16> grids = op.grids;
    if (options.policy == EpochPolicy::Any) {
      // Not std::shuffle, which differs between libraries.
      for (size_t i = grids.size(); i > 1; --i)
        std::swap(grids[i - 1], grids[random() % i]);
      return grids;
    }
    int64_t rows = 0;
    for (const GridChoice &grid : grids)
      if (grid.rows <= plan.rows)
        rows = std::max(rows, grid.rows);
    llvm::sort(grids, [&](const GridChoice &a, const GridChoice &b) {
      auto key = [&](const GridChoice &grid) {
        const bool isSlow = options.policy != EpochPolicy::Smallest && grid.cycles > plan.cycles;
        return std::tuple(plan.rows ? std::abs(grid.rows - rows) : 0, isSlow, isSlow ? grid.cycles : grid.cores(),
                          grid.cores(), grid.cycles, grid.rows, grid.columns);
      };
      return key(a) < key(b);
    });
    return grids;
  }

  SmallVector<EpochPlace> fill(ArrayRef<EpochOp> epoch, const Plan &plan) {
    FreeCores cores(options.rows, options.columns);
    SmallVector<EpochPlace> places;
    for (const EpochOp &op : epoch) {
      std::optional<EpochPlace> place = put(op, plan, cores);
      if (!place)
        break;
      places.push_back(*place);
      if (cores.none())
        break;
    }
    return places;
  }

  std::optional<EpochPlace> put(const EpochOp &op, const Plan &plan, FreeCores &cores) {
    for (const GridChoice &grid : preferred(op, plan)) {
      for (bool isTransposed : {false, true}) {
        const bool isFixed = op.isTransposed || op.core || !options.transposeGrids || grid.rows == grid.columns;
        if (isFixed && isTransposed != op.isTransposed)
          continue;
        const int64_t rows = isTransposed ? grid.columns : grid.rows, columns = isTransposed ? grid.rows : grid.columns;
        if (auto at = find(op, cores, rows, columns)) {
          cores.take(at->first, at->second, rows, columns);
          return EpochPlace{0, at->first, at->second, grid, isTransposed};
        }
      }
      // An op that fits into no epoch would not be placed at all.
      if (!options.otherGrids && (op.isTransposed || (grid.rows <= options.rows && grid.columns <= options.columns)))
        break;
    }
    return std::nullopt;
  }

  static std::optional<std::pair<int64_t, int64_t>> find(const EpochOp &op, const FreeCores &cores, int64_t rows,
                                                         int64_t columns) {
    if (!op.core)
      return cores.find(rows, columns);
    const auto [row, column] = *op.core;
    return cores.isFree(row, column, rows, columns) ? std::optional(std::pair(row, column)) : std::nullopt;
  }

  /// The work that an epoch does in a cycle, including its launch.
  double scoreOf(size_t first, ArrayRef<EpochPlace> places) const {
    int64_t slowest = 0;
    double work = 0;
    for (auto [index, place] : llvm::enumerate(places)) {
      slowest = std::max(slowest, place.grid.cycles);
      work += static_cast<double>(ops[first + index].work);
    }
    return work / static_cast<double>(std::max<int64_t>(1, slowest + options.launch));
  }

  ArrayRef<EpochOp> ops;
  const EpochOptions &options;
  std::mt19937 random{0};
};
} // namespace

SmallVector<EpochPlace> ttnn::placeEpochs(ArrayRef<EpochOp> ops, const EpochOptions &options) {
  return Placer(ops, options).run();
}
