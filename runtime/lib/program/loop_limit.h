//===- loop_limit.h - limits the iterations of loops of a run ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tt::runtime {

/// Limits the iterations of all loops that this thread runs while it exists. The newest one of a thread counts.
class LoopLimit {
public:
  explicit LoopLimit(uint64_t most);
  ~LoopLimit();
  LoopLimit(const LoopLimit &) = delete;
  LoopLimit &operator=(const LoopLimit &) = delete;
  /// Counts one iteration. Throws OpError if the limit is reached.
  static void count();

private:
  LoopLimit *const outer;
  const uint64_t most;
  uint64_t counted = 0;
};

} // namespace tt::runtime
