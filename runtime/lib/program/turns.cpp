//===- turns.cpp - how often loops of a run go round ----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "program/turns.h"

#include "tt/types.h"

#include <string>

namespace tt::runtime {

static thread_local LoopTurns *innermost = nullptr;

LoopTurns::LoopTurns(uint64_t most) : outer(innermost), most(most) { innermost = this; }
LoopTurns::~LoopTurns() { innermost = outer; }

void LoopTurns::take() {
  if (innermost && innermost->taken++ >= innermost->most)
    throw OpError("the loop is to go on, and the loops of this run have taken " + std::to_string(innermost->most) +
                  " turns, as many as max_loop_turns allows");
}

} // namespace tt::runtime
