//===- loop_limit.cpp - limits the iterations of loops of a run -----------===//
// SPDX-License-Identifier: Apache-2.0

#include "program/loop_limit.h"

#include "tt/types.h"

#include <string>

namespace tt::runtime {

static thread_local LoopLimit *innermost = nullptr;

LoopLimit::LoopLimit(uint64_t most) : outer(innermost), most(most) { innermost = this; }
LoopLimit::~LoopLimit() { innermost = outer; }

void LoopLimit::count() {
  if (innermost && innermost->counted++ >= innermost->most)
    throw OpError("the loop continues after " + std::to_string(innermost->most) +
                  " iterations, the limit that max_loop_iterations sets for all loops of a run");
}

} // namespace tt::runtime
