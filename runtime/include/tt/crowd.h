//===- crowd.h - loops while other programs hold the cores -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>

namespace tt {

/// Decides which loops of a calling thread stay on that thread because other programs hold the cores. A thread of the
/// pool that has to wait for a core comes a time slice late, which is longer than most loops take, and libgomp waits
/// for all threads. So after a late start, loops stay on the calling thread for a while, and for longer each time that
/// the next attempt is late, too.
class Crowd {
public:
  using Clock = std::chrono::steady_clock;
  /// Less than a time slice of the system, more than it takes to wake a thread.
  static constexpr Clock::duration latest = std::chrono::milliseconds(1);
  static constexpr std::chrono::milliseconds shortest{4}, longest{128};

  bool isNear(Clock::time_point now) const { return now < until; }
  /// Of a loop on all threads: when it began, and when the last of them started.
  void observe(Clock::time_point begin, Clock::time_point lastStart) {
    if (lastStart - begin < latest) {
      pause = shortest;
      return;
    }
    until = lastStart + pause;
    pause = std::min(2 * pause, longest);
  }

private:
  std::chrono::milliseconds pause = shortest;
  Clock::time_point until{};
};

} // namespace tt
