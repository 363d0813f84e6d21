//===- fiber.cpp - cooperative fibers -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "metal/fiber.h"
#include "tt/fork.h"
#include "tt/types.h"

#include <array>
#include <cstdint>
#include <mutex>
#include <new>
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
constexpr size_t kept = 256;    // stacks that wait for the next fiber
constexpr size_t keptAlone = 8; // of these, by the thread that used them last

size_t guardBytes() {
  static const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  return page;
}

/// Stacks that were used before. Never destroyed: threads may end after static objects.
struct Pool {
  void give(std::byte *stack);
  ForkMutex mutex{2};
  std::vector<std::byte *> free;
};
Pool &pool() {
  static Pool *stacks = new Pool;
  return *stacks;
}

void Pool::give(std::byte *stack) {
  {
    std::lock_guard lock(mutex);
    if (free.size() < kept)
      return free.push_back(stack);
  }
  ::munmap(stack, guardBytes() + stackBytes);
}

/// The last ones of a thread: threads that simulate cores do not wait for each other.
struct OwnPool {
  std::array<std::byte *, keptAlone> free;
  size_t count = 0;
  ~OwnPool() {
    while (count)
      pool().give(free[--count]);
    count = keptAlone + 1; // nothing is kept here any more
  }
};
// Not inlined: a fiber may end in another thread than it has begun in.
[[gnu::noinline]] OwnPool &ownPool() {
  thread_local OwnPool own;
  return own;
}

} // namespace

Stack::Stack() {
  if (OwnPool &own = ownPool(); own.count && own.count <= keptAlone) {
    memory = own.free[--own.count];
    return;
  }
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
  if (OwnPool &own = ownPool(); own.count < keptAlone)
    own.free[own.count++] = memory;
  else
    pool().give(memory);
}

std::byte *Stack::bottom() const { return memory + guardBytes(); }
size_t Stack::size() { return stackBytes; }

Fiber::Fiber(std::function<void()> given) : body(std::move(given)) { prepare(); }

#ifdef __x86_64__

// swapcontext saves the mask of signals with a system call, which takes longer than a kernel's step on a tile. A call
// preserves these registers, and the modes of floating point.
extern "C" {
/// Saves the stack pointer in `from`, and continues where `to` was saved.
[[gnu::visibility("hidden")]] void ttSwitchStack(void **from, void *to);
/// Calls the function in r12 with the argument in r13.
[[gnu::visibility("hidden")]] void ttEnterStack();
}
asm(R"(
.pushsection .text
.hidden ttSwitchStack
.globl ttSwitchStack
.type ttSwitchStack, @function
ttSwitchStack:
  endbr64
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  subq $8, %rsp
  stmxcsr (%rsp)
  fnstcw 4(%rsp)
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  ldmxcsr (%rsp)
  fldcw 4(%rsp)
  addq $8, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  retq
.size ttSwitchStack, .-ttSwitchStack
.hidden ttEnterStack
.globl ttEnterStack
.type ttEnterStack, @function
ttEnterStack:
  .cfi_startproc
  .cfi_undefined rip
  endbr64
  movq %r13, %rdi
  callq *%r12
  ud2
  .cfi_endproc
.size ttEnterStack, .-ttEnterStack
.popsection
)");

void Fiber::prepare() {
  // In the order in which ttSwitchStack loads them. Behind the address to return to, the stack is aligned to 16 bytes.
  struct Saved {
    uint32_t mxcsr;
    uint16_t x87, unused = 0;
    void *r15 = nullptr, *r14 = nullptr, *r13, *r12, *rbx = nullptr, *rbp = nullptr, *next;
  } saved;
  asm("stmxcsr %0\n\tfnstcw %1" : "=m"(saved.mxcsr), "=m"(saved.x87));
  saved.r12 = reinterpret_cast<void *>(&Fiber::enter);
  saved.r13 = this;
  saved.next = reinterpret_cast<void *>(&ttEnterStack);
  static_assert(sizeof saved == 64);
  own = new (stack.bottom() + Stack::size() - sizeof saved) Saved(saved);
}

void Fiber::enter(Fiber *fiber) { fiber->main(); }

static void switchStack(void *&from, void *&to) { ttSwitchStack(&from, to); }

#else

void Fiber::prepare() {
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

static void switchStack(ucontext_t &from, ucontext_t &to) { ::swapcontext(&from, &to); }

#endif

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
  switchStack(own, caller);
}

void Fiber::resume() {
#ifdef TT_FIBER_ASAN
  void *fake = nullptr;
  __sanitizer_start_switch_fiber(&fake, stack.bottom(), Stack::size());
#endif
  switchStack(caller, own);
#ifdef TT_FIBER_ASAN
  __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
}

void Fiber::suspend() {
#ifdef TT_FIBER_ASAN
  __sanitizer_start_switch_fiber(&fakeStack, callerBottom, callerSize);
#endif
  switchStack(own, caller);
#ifdef TT_FIBER_ASAN
  __sanitizer_finish_switch_fiber(fakeStack, &callerBottom, &callerSize);
#endif
}

} // namespace tt::metal
