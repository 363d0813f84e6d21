//===- parallel.cpp - loops over all threads ------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "tt/parallel.h"
#include "base/serial.h"
#include "tt/types.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>

// libgomp's entry points (GCC's OpenMP ABI, stable since GCC 4.9), declared here because GOMP_parallel is in no header
// and clang's omp.h belongs to another runtime.
extern "C" {
void GOMP_parallel(void (*function)(void *), void *data, unsigned threads, unsigned flags);
int omp_get_thread_num();
int omp_get_num_threads();
int omp_get_max_threads();
void omp_set_num_threads(int count);
}

namespace tt {
namespace {

std::atomic<int> requested{0};
thread_local bool inside = false;

// Read when the library is loaded: later, the kernel library may be in a scope that limits it to one thread.
const int defaultThreads = std::max(1, omp_get_max_threads());

/// libgomp ends the process when the system refuses to start a thread.
int mostThreads() { return std::max(1024, 4 * defaultThreads); }

/// The first error of any thread of a loop.
class Guarded {
public:
  /// Calls f with loops inside it in the calling thread.
  template <class F> void call(F &&f) {
    const bool before = std::exchange(inside, true);
    try {
      f();
    } catch (...) {
      std::lock_guard lock(mutex);
      if (!error)
        error = std::current_exception();
    }
    inside = before;
  }
  void finish() const {
    if (error)
      std::rethrow_exception(error);
  }

private:
  std::mutex mutex;
  std::exception_ptr error;
};

/// Calls f(thread, number of threads) in each of up to `most` threads. libgomp may provide fewer than requested.
template <class F> void onThreads(int64_t most, F &&f) {
  struct Loop {
    Guarded guarded;
    F &f;
  } loop{{}, f};
  GOMP_parallel(
      [](void *data) {
        auto &loop = *static_cast<Loop *>(data);
        loop.guarded.call([&] { loop.f(omp_get_thread_num(), omp_get_num_threads()); });
      },
      &loop, static_cast<unsigned>(most), 0);
  loop.guarded.finish();
}

bool runsHere(int64_t pieces) { return pieces <= 1 || inside || detail::threadsAreLost(); }

} // namespace

int threads() {
  const int count = requested.load(std::memory_order_relaxed);
  return count > 0 ? count : defaultThreads;
}

void setThreads(int count) {
  if (count < 0 || count > mostThreads())
    throw Error("setThreads: " + std::to_string(count) + " threads; expected 0 (default) to " +
                std::to_string(mostThreads()));
  requested.store(count, std::memory_order_relaxed);
  omp_set_num_threads(threads()); // oneDNN asks OpenMP
}

SerialLoops::SerialLoops() : before(std::exchange(inside, true)) {}
SerialLoops::~SerialLoops() { inside = before; }

void detail::parallelFor(int64_t n, int64_t grain, Chunk chunk, void *body) {
  if (n <= 0)
    return;
  const int64_t pieces = std::min<int64_t>(threads(), n / std::max<int64_t>(grain, 1));
  if (runsHere(pieces)) {
    chunk(body, 0, n);
    return;
  }
  onThreads(pieces, [&](int64_t thread, int64_t count) {
    for (int64_t piece = thread; piece < pieces; piece += count) {
      const int64_t size = n / pieces, more = n % pieces;
      const int64_t begin = piece * size + std::min(piece, more);
      chunk(body, begin, begin + size + (piece < more ? 1 : 0));
    }
  });
}

//===- Runs ---------------------------------------------------------------===//

namespace {

/// Where the runs of a share end, in parts of it: long ones first, for what they have in common; the last ones, which
/// decide how long a thread waits for the others, are a thirty-second each.
constexpr std::array<uint8_t, 17> runEnds{0, 4, 8, 12, 16, 18, 20, 22, 24, 25, 26, 27, 28, 29, 30, 31, 32};
constexpr uint32_t runCount = runEnds.size() - 1;

} // namespace

ItemRange Runs::runOf(int64_t share, uint32_t index) const {
  const int64_t units = (items + unit - 1) / unit, first = units * share / shares;
  const int64_t size = units * (share + 1) / shares - first;
  const auto end = [&](uint32_t i) { return std::min(items, (first + size * runEnds[i] / runEnds.back()) * unit); };
  return shares == 1 ? ItemRange{0, items} : ItemRange{end(index), end(index + 1)};
}

bool Runs::take(ItemRange &run) {
  for (int64_t i = 0; i < shares; ++i) {
    const int64_t share = (own + i) % shares;
    uint32_t now = left[share].load(std::memory_order_relaxed);
    for (uint32_t first, last; first = now & 0xffff, last = now >> 16, first < last;) {
      const uint32_t index = i == 0 ? first : last - 1;
      const uint32_t then = i == 0 ? last << 16 | (first + 1) : (last - 1) << 16 | first;
      if (!left[share].compare_exchange_weak(now, then, std::memory_order_relaxed))
        continue;
      run = runOf(share, index);
      if (run.size() > 0)
        return true;
      now = then;
    }
  }
  return false;
}

void detail::parallelRuns(int64_t items, int64_t unit, int64_t slots, RunsBody function, void *body) {
  if (items <= 0)
    return;
  unit = std::max<int64_t>(unit, 1);
  const int64_t count = std::min<int64_t>({slots, threads(), (items + unit - 1) / unit});
  if (runsHere(count)) {
    Runs::Left all = uint32_t(1) << 16;
    Runs runs(items, unit, 1, 0, &all);
    function(body, 0, runs);
    return;
  }
  constexpr int64_t few = 64;
  std::array<Runs::Left, few> ofFew;
  const std::unique_ptr<Runs::Left[]> ofMany(count > few ? new Runs::Left[static_cast<size_t>(count)] : nullptr);
  Runs::Left *const left = count > few ? ofMany.get() : ofFew.data();
  for (int64_t share = 0; share < count; ++share)
    left[share].store(runCount << 16, std::memory_order_relaxed);
  onThreads(count, [&](int64_t thread, int64_t) {
    Runs runs(items, unit, count, thread, left);
    function(body, thread, runs);
  });
}

} // namespace tt
