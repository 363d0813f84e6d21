//===- parallel.h - loops over all threads -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A parallel loop over libgomp's own pool, which oneDNN uses as well: two pools
// would fight for the cores. clang's -fopenmp would bring a second OpenMP
// runtime, hence the direct call of GOMP_parallel.
//
//===----------------------------------------------------------------------===//
#pragma once

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

} // namespace tt
