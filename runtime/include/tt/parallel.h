//===- parallel.h - loops over all threads -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A parallel loop over libgomp's own pool, which oneDNN uses as well: two pools
// would fight for the cores. clang's -fopenmp would bring a second OpenMP
// runtime, hence the direct call of GOMP_parallel.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

namespace tt {

/// Threads that parallelFor and the kernel library use; by default those of the
/// machine, or OMP_NUM_THREADS.
int threads();
/// Sets the number of threads for this process; 0 means the default again.
/// Throws Error for a negative number, and for more than 1024 and four times the default.
void setThreads(int count);

namespace detail {
/// Whether this is a child that was forked inside a parallel loop: there, loops run in the calling thread.
bool threadsAreLost() noexcept;
using Chunk = void (*)(void *body, int64_t begin, int64_t end);
void parallelFor(int64_t n, int64_t grain, Chunk chunk, void *body);
} // namespace detail

/// A range of items.
struct ItemRange {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
};

/// The items that the threads of a loop take, in runs: see parallelRuns. Each thread has a share of consecutive items
/// and takes its runs in order; then it takes those of others from the end, so that a thread that is slower, or starts
/// later, does not decide when the loop ends. The ends of the runs depend on the numbers of items and of slots only.
class Runs {
public:
  /// The state of a share: the runs [first, last) are left. Both in one word, first in the lower half.
  using Left = std::atomic<uint32_t>;

  Runs(int64_t items, int64_t unit, int64_t shares, int64_t own, Left *left)
      : items(items), unit(unit), shares(shares), own(own), left(left) {}

  /// The next items for the calling thread; false if none are left.
  bool take(ItemRange &run);

private:
  ItemRange runOf(int64_t share, uint32_t index) const;

  int64_t items, unit, shares, own;
  Left *left; // of each share
};

namespace detail {
using RunsBody = void (*)(void *body, int64_t slot, Runs &runs);
void parallelRuns(int64_t items, int64_t unit, int64_t slots, RunsBody function, void *body);
} // namespace detail

/// Calls f(begin, end) for consecutive pieces of [0, n), each at least `grain`
/// long but the last, from all threads, and returns when all are done. Runs in
/// the calling thread when there is one piece only, and when called from inside
/// another parallelFor. The first exception that f throws is thrown here.
template <class F> void parallelFor(int64_t n, int64_t grain, F &&f) {
  using Body = std::remove_reference_t<F>;
  detail::parallelFor(
      n, grain, [](void *body, int64_t begin, int64_t end) { (*static_cast<Body *>(body))(begin, end); },
      const_cast<void *>(static_cast<const void *>(&f)));
}

/// Calls f(slot, runs) from up to `slots` threads, each with another slot of [0, slots), whose memory is its own. f
/// takes runs of the items [0, items) while there are some; they begin and end at multiples of `unit`, or at `items`.
/// For items that take long: a loop over many that take a few nanoseconds is a parallelFor. Runs in the calling thread,
/// with all items in one run, where parallelFor does. The first exception that f throws is thrown here.
template <class F> void parallelRuns(int64_t items, int64_t unit, int64_t slots, F &&f) {
  using Body = std::remove_reference_t<F>;
  detail::parallelRuns(
      items, unit, slots, [](void *body, int64_t slot, Runs &runs) { (*static_cast<Body *>(body))(slot, runs); },
      const_cast<void *>(static_cast<const void *>(&f)));
}

} // namespace tt
