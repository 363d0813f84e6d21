//===- interrupt.h - cancellation of runs -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A run can be ended between two ops, from a signal handler or another thread:
//
//   tt::Interruptible here;                     // in the thread that runs programs
//   std::signal(SIGINT, [](int) { tt::requestInterrupt(); });
//   tt::runtime::submit(…);                     // throws tt::Interrupted
//
// What was running is as if it had failed: memory is given back, the device can
// be used again. Inputs that ops change in place may be changed already.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>

namespace tt {

/// A call was ended because somebody requested it. Not an Error: nothing is wrong.
class Interrupted : public std::exception {
public:
  const char *what() const noexcept override { return "interrupted"; }
};

/// Asks every thread that has an Interruptible to end what it is doing. May be called in signal handlers.
void requestInterrupt() noexcept;

/// While it lives, calls of the runtime in this thread can be interrupted. The newest of a thread counts.
class Interruptible {
public:
  Interruptible();
  virtual ~Interruptible();
  Interruptible(const Interruptible &) = delete;
  Interruptible &operator=(const Interruptible &) = delete;
  /// Returns that of the calling thread, or nullptr.
  static Interruptible *current() noexcept;
  /// Whether an interruption was requested since construction, or the last decision. In any thread.
  bool isRequested() const noexcept;
  /// Implements checkInterrupt(), in its own thread.
  void check();

protected:
  /// Called in its thread after a request: false to go on.
  virtual bool decide() { return true; }

private:
  Interruptible *const outer;
  std::atomic<uint32_t> seen;
};

namespace detail {
extern std::atomic<bool> interruptPending;
void checkInterrupt();
} // namespace detail

/// Called between ops by what takes long: throws Interrupted when somebody has requested it. Costs a load otherwise.
inline void checkInterrupt() {
  if (detail::interruptPending.load(std::memory_order_relaxed)) [[unlikely]]
    detail::checkInterrupt();
}

} // namespace tt
