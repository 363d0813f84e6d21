//===- recycle.h - recycling of per-run memory ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Buffers of values, and the small objects that hold them, are kept when they
// are given back and given out again: a program that runs once more takes
// nothing from the operating system. Fresh pages cost more than most ops.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace tt {

/// Returns at least `bytes` bytes from the operating system, aligned to 64, uninitialized, on huge pages as far as it
/// fills them; nullptr when there is no memory. freeFresh returns a large block to the system.
void *freshMemory(size_t bytes) noexcept;
/// `bytes` as when it was taken.
void freeFresh(void *data, size_t bytes) noexcept;
/// The values of a piece of a block are not needed: whole huge pages in it are given back, and read as zeros from now
/// on.
void emptyFresh(void *data, size_t bytes) noexcept;

/// Memory for data that is built once and read by every run (weights in the order of a kernel): pieces follow one
/// another, because each on huge pages of its own would waste the rest of the last. Throws std::bad_alloc.
std::shared_ptr<std::byte> takeLasting(size_t bytes);
/// Ends a series of pieces: gives back what the last piece leaves of its huge page.
void settleLasting() noexcept;

/// Returns at least `bytes` bytes, aligned to 64, uninitialized; nullptr when there is no memory.
void *takeRecycled(size_t bytes) noexcept;
/// `bytes` as when it was taken.
void giveRecycled(void *data, size_t bytes) noexcept;
/// Gives what waits for its next user back to the operating system.
void trimRecycled() noexcept;

/// The memory that takeRecycled got from the operating system since the process began.
struct TakenMemory {
  uint64_t blocks = 0, bytes = 0;
};
TakenMemory takenMemory() noexcept;

/// Fills memory that was just taken, and scratch memory before each kernel, with bytes of 0xff (NaN in every type of
/// float), when the environment variable TTRT_POISON is 1: what is read before it was written shows in results. Does
/// nothing otherwise.
void poison(void *data, size_t bytes) noexcept;

/// Allocates for containers and shared objects that every run creates again.
template <class T> struct Recycling {
  using value_type = T;
  Recycling() = default;
  template <class U> Recycling(const Recycling<U> &) {}
  T *allocate(size_t n) {
    if (void *data = takeRecycled(n * sizeof(T)))
      return static_cast<T *>(data);
    throw std::bad_alloc();
  }
  void deallocate(T *data, size_t n) noexcept { giveRecycled(data, n * sizeof(T)); }
  template <class U> bool operator==(const Recycling<U> &) const { return true; }
};

} // namespace tt
