//===- deferred.cpp - work of making kernels that is put off --------------===//
// SPDX-License-Identifier: Apache-2.0

#include "core/deferred.h"
#include "tt/parallel.h"

#include <atomic>

namespace tt::ttnn {

static thread_local DeferredWork *innermost = nullptr;

DeferredWork::DeferredWork() : outer(innermost) { innermost = this; }
DeferredWork::~DeferredWork() { innermost = outer; }
DeferredWork *DeferredWork::current() { return innermost; }

void DeferredWork::finish() {
  std::atomic<size_t> next{0};
  const auto takeTurns = [&] {
    for (size_t i; (i = next++) < all.size();)
      if (const auto work = all[i].lock())
        work->perform();
  };
  if (all.size() < 2)
    takeTurns();
  else // pieces of very different sizes: each thread takes the next one
    parallelFor(threads(), 1, [&](int64_t, int64_t) { takeTurns(); });
  all.clear();
}

} // namespace tt::ttnn
