//===- signals.cpp - signals while programs run ---------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "tt/signals.h"
#include "tt/interrupt.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>

namespace tt {
namespace {

/// The signals that are meant to end or to inspect a program.
constexpr std::array watched = {SIGINT, SIGTERM, SIGALRM, SIGHUP, SIGUSR1, SIGUSR2};

using Handler = void (*)(int);
Handler ofInterpreter = nullptr; // one for all signals; known once a signal has had one

std::atomic<uint32_t> count{0};

void noteSignal(int number) {
  const int before = errno;
  count.fetch_add(1);
  requestInterrupt();
  ofInterpreter(number);
  errno = before;
}

/// Asking the system each time would cost more than a small program takes.
bool isDue() {
  constexpr int64_t interval = 10'000'000; // ns
  static int64_t last = -interval;
  struct timespec time;
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  const int64_t now = time.tv_sec * int64_t(1'000'000'000) + time.tv_nsec;
  return now - last >= interval ? (last = now, true) : false;
}

} // namespace

uint32_t watchedSignals() noexcept { return count.load(std::memory_order_relaxed); }

void watchSignals(bool (*isOfInterpreter)(int number)) {
  if (!isDue())
    return;
  for (const int number : watched) {
    struct sigaction action;
    if (::sigaction(number, nullptr, &action) != 0 || (action.sa_flags & SA_SIGINFO) != 0 ||
        action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN || action.sa_handler == noteSignal)
      continue;
    if (!ofInterpreter && isOfInterpreter(number))
      ofInterpreter = action.sa_handler;
    if (action.sa_handler != ofInterpreter)
      continue; // of another library, which may call the one before: leave it alone
    action.sa_handler = noteSignal;
    ::sigaction(number, &action, nullptr);
  }
}

} // namespace tt
