//===- fork.cpp - fork handlers -------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "tt/fork.h"
#include "tt/parallel.h"
#include "tt/types.h"

#include <chrono>
#include <pthread.h>
#include <thread>

// libgomp's, see parallel.cpp. Ends the calling thread's pool; returns nonzero inside of a parallel region.
extern "C" int omp_pause_resource_all(int kind);

namespace tt {
namespace {

std::atomic<uint32_t> forks{0};
/// The child of a fork inside a parallel loop has a pool whose threads do not exist.
std::atomic<bool> poolIsLost{false};
bool poolIsKept = false; // by the fork that is going on; under the lock of ForkMutexes

} // namespace

/// All ForkMutexes, those of higher ranks first.
struct ForkMutexes {
  std::mutex mutex;
  ForkMutex *first = nullptr;

  static ForkMutexes &instance() {
    static auto *list = new ForkMutexes;
    return *list;
  }
  void add(ForkMutex &added) {
    std::lock_guard lock(mutex);
    ForkMutex **place = &first;
    while (*place && (*place)->rank >= added.rank)
      place = &(*place)->next;
    added.next = *place;
    *place = &added;
  }

  static void prepare() {
    // Threads that end free memory, so they are ended before its mutexes are locked.
    const bool kept = omp_pause_resource_all(/*soft=*/1) != 0;
    ForkMutexes &all = instance();
    all.mutex.lock();
    poolIsKept = kept;
    for (ForkMutex *each = all.first; each; each = each->next)
      each->mutex.lock();
  }
  static void release() {
    ForkMutexes &all = instance();
    for (ForkMutex *each = all.first; each; each = each->next)
      each->mutex.unlock();
    all.mutex.unlock();
  }
  static void child() {
    forks.fetch_add(1, std::memory_order_relaxed);
    if (poolIsKept)
      poolIsLost.store(true, std::memory_order_relaxed);
    release();
  }
};

namespace {
[[maybe_unused]] const int registered =
    ::pthread_atfork(ForkMutexes::prepare, ForkMutexes::release, ForkMutexes::child);
} // namespace

ForkMutex::ForkMutex(int rank) : rank(rank) { ForkMutexes::instance().add(*this); }

uint32_t forkCount() noexcept { return forks.load(std::memory_order_relaxed); }

namespace detail {

bool threadsAreLost() noexcept { return poolIsLost.load(std::memory_order_relaxed); }

bool waitForHolder(int attempt) noexcept {
  if (attempt >= 100)
    return false;
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return true;
}

void throwHeldAtFork() {
  throw Error(
      "in use by another thread when this process was forked from its parent; what it was used for did not come "
      "along. Open a device and load what is needed in the child, or fork when no other thread runs programs");
}

} // namespace detail
} // namespace tt
