//===- parallel.cpp - loops over all threads ------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "tt/parallel.h"
#include "base/serial.h"
#include "tt/types.h"

#include <algorithm>
#include <atomic>
#include <exception>
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

struct Loop {
  int64_t n;
  int64_t pieces;
  detail::Chunk chunk;
  void *body;
  std::mutex mutex;
  std::exception_ptr error;
};

void runPieces(void *data) {
  auto &loop = *static_cast<Loop *>(data);
  // libgomp may provide fewer threads than requested, so pieces are distributed by the actual number.
  const int64_t thread = omp_get_thread_num(), count = omp_get_num_threads();
  const bool before = std::exchange(inside, true);
  try {
    for (int64_t piece = thread; piece < loop.pieces; piece += count) {
      const int64_t size = loop.n / loop.pieces, more = loop.n % loop.pieces;
      const int64_t begin = piece * size + std::min(piece, more);
      loop.chunk(loop.body, begin, begin + size + (piece < more ? 1 : 0));
    }
  } catch (...) {
    std::lock_guard lock(loop.mutex);
    if (!loop.error)
      loop.error = std::current_exception();
  }
  inside = before;
}

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
  if (pieces <= 1 || inside || threadsAreLost()) {
    chunk(body, 0, n);
    return;
  }
  Loop loop{n, pieces, chunk, body, {}, nullptr};
  GOMP_parallel(runPieces, &loop, static_cast<unsigned>(pieces), 0);
  if (loop.error)
    std::rethrow_exception(loop.error);
}

} // namespace tt
