//===- fork.h - mutexes that survive fork() ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A child that was forked has one thread. Mutexes that other threads of its
// parent held are held for ever, unless they are of one of these kinds. The
// threads of parallel loops end before a fork and are started again by the next
// loop, in both processes.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

namespace tt {

/// Forks between the process that loaded the library and this one.
uint32_t forkCount() noexcept;

namespace detail {
/// Throws Error that says why the mutex cannot be had.
[[noreturn]] void throwHeldAtFork();
/// Gives a thread that has just locked the mutex time to say so; false when it has had it.
bool waitForHolder(int attempt) noexcept;
} // namespace detail

/// A mutex whose lock() throws Error in a forked child when a thread of the parent held it: what it guards is then half
/// changed.
template <class Mutex> class ForkAware {
public:
  void lock() {
    if (!mutex.try_lock())
      lockContended();
    holder.store(forkCount(), std::memory_order_relaxed);
  }
  void unlock() { mutex.unlock(); }

private:
  void lockContended() {
    for (int attempt = 0; holder.load(std::memory_order_relaxed) != forkCount(); ++attempt) {
      if (!detail::waitForHolder(attempt))
        detail::throwHeldAtFork();
      if (mutex.try_lock())
        return;
    }
    mutex.lock();
  }
  Mutex mutex;
  std::atomic<uint32_t> holder{0}; // forkCount() of who locked it last
};

/// A mutex of an object that lives as long as the process. The thread that forks takes it before and gives it back
/// behind, in both processes, so it is never found held. Only for what is held for moments, and by nobody who waits for
/// a thread that may fork (the interpreter's lock).
class ForkMutex {
public:
  /// A thread that holds a mutex takes only those of lower ranks.
  explicit ForkMutex(int rank);
  void lock() { mutex.lock(); }
  void unlock() { mutex.unlock(); }

private:
  friend struct ForkMutexes;
  std::mutex mutex;
  const int rank;
  ForkMutex *next = nullptr; // of the ranks below, or its own
};

} // namespace tt
