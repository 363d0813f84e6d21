//===- interrupt.cpp - cancellation of runs -------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "tt/interrupt.h"

namespace tt {
namespace {

std::atomic<uint32_t> requests{0};
std::atomic<int> listeners{0};
thread_local Interruptible *innermost = nullptr;

} // namespace

std::atomic<bool> detail::interruptPending{false};

void requestInterrupt() noexcept {
  if (!listeners.load())
    return;
  requests.fetch_add(1);
  detail::interruptPending.store(true);
}

Interruptible::Interruptible() : outer(innermost), seen(requests.load()) {
  listeners.fetch_add(1);
  innermost = this;
}

Interruptible::~Interruptible() {
  innermost = outer;
  if (listeners.fetch_sub(1) == 1)
    detail::interruptPending.store(false);
}

Interruptible *Interruptible::current() noexcept { return innermost; }

bool Interruptible::isRequested() const noexcept {
  return detail::interruptPending.load(std::memory_order_relaxed) &&
         seen.load(std::memory_order_relaxed) != requests.load();
}

void Interruptible::check() {
  if (!isRequested())
    return;
  seen.store(requests.load());
  if (decide())
    throw Interrupted();
}

void detail::checkInterrupt() {
  if (Interruptible *const here = innermost)
    here->check();
}

} // namespace tt
