//===- turns.h - how often loops of a run go round --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tt::runtime {

/// While it lives, loops that this thread runs take at most so many turns together. The newest of a thread counts.
class LoopTurns {
public:
  explicit LoopTurns(uint64_t most);
  ~LoopTurns();
  LoopTurns(const LoopTurns &) = delete;
  LoopTurns &operator=(const LoopTurns &) = delete;
  /// Counts one. Throws OpError when there were as many as may be.
  static void take();

private:
  LoopTurns *const outer;
  const uint64_t most;
  uint64_t taken = 0;
};

} // namespace tt::runtime
