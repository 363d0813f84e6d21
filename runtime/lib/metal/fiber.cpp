//===- fiber.cpp - cooperative fibers -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "metal/fiber.h"
#include "tt/fork.h"
#include "tt/types.h"

#include <cstdint>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TT_FIBER_ASAN 1
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#endif

namespace tt::metal {
namespace {

#ifdef TT_FIBER_ASAN
constexpr size_t stackBytes = size_t(512) << 10; // frames are larger with red zones
#else
constexpr size_t stackBytes = size_t(128) << 10;
#endif
constexpr size_t kept = 256; // stacks that wait for the next fiber

size_t guardBytes() {
  static const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  return page;
}

/// Stacks that were used before. Never destroyed: threads may end after static objects.
struct Pool {
  ForkMutex mutex{2};
  std::vector<std::byte *> free;
};
Pool &pool() {
  static Pool *stacks = new Pool;
  return *stacks;
}

} // namespace

Stack::Stack() {
  {
    std::lock_guard lock(pool().mutex);
    if (!pool().free.empty()) {
      memory = pool().free.back();
      pool().free.pop_back();
      return;
    }
  }
  void *taken = ::mmap(nullptr, guardBytes() + stackBytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (taken == MAP_FAILED || ::mprotect(taken, guardBytes(), PROT_NONE) != 0)
    throw OutOfMemoryError("no memory for the stack of a kernel");
  memory = static_cast<std::byte *>(taken);
}

Stack::~Stack() {
#ifdef TT_FIBER_ASAN
  ASAN_UNPOISON_MEMORY_REGION(bottom(), stackBytes);
#endif
  std::lock_guard lock(pool().mutex);
  if (pool().free.size() < kept)
    pool().free.push_back(memory);
  else
    ::munmap(memory, guardBytes() + stackBytes);
}

std::byte *Stack::bottom() const { return memory + guardBytes(); }
size_t Stack::size() { return stackBytes; }

Fiber::Fiber(std::function<void()> given) : body(std::move(given)) {
  ::getcontext(&own);
  own.uc_stack.ss_sp = stack.bottom();
  own.uc_stack.ss_size = Stack::size();
  own.uc_link = nullptr; // main() never returns
  const auto self = reinterpret_cast<uintptr_t>(this);
  // makecontext passes integers only.
  ::makecontext(&own, reinterpret_cast<void (*)()>(&Fiber::enter), 2, static_cast<unsigned>(self >> 32),
                static_cast<unsigned>(self));
}

void Fiber::enter(unsigned high, unsigned low) { reinterpret_cast<Fiber *>(uintptr_t(high) << 32 | low)->main(); }

void Fiber::main() {
#ifdef TT_FIBER_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &callerBottom, &callerSize);
#endif
  try {
    body();
  } catch (...) {
    thrown = std::current_exception();
  }
  done = true;
#ifdef TT_FIBER_ASAN
  __sanitizer_start_switch_fiber(nullptr, callerBottom, callerSize); // its frames are gone for good
#endif
  ::setcontext(&caller);
}

void Fiber::resume() {
#ifdef TT_FIBER_ASAN
  void *fake = nullptr;
  __sanitizer_start_switch_fiber(&fake, stack.bottom(), Stack::size());
#endif
  ::swapcontext(&caller, &own);
#ifdef TT_FIBER_ASAN
  __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
}

void Fiber::suspend() {
#ifdef TT_FIBER_ASAN
  __sanitizer_start_switch_fiber(&fakeStack, callerBottom, callerSize);
#endif
  ::swapcontext(&own, &caller);
#ifdef TT_FIBER_ASAN
  __sanitizer_finish_switch_fiber(fakeStack, &callerBottom, &callerSize);
#endif
}

} // namespace tt::metal
