//===- recycle.h - memory that comes and goes with every run -----*- C++ -*-===//
//
// Buffers of values, and the small objects that hold them, are kept when they
// are given back and given out again: a program that runs once more takes
// nothing from the operating system. Fresh pages cost more than most ops.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

namespace tt {

/// At least `bytes` bytes from the operating system, aligned to 64, not initialised, on huge pages when it fills some;
/// nullptr when there is no memory. For std::free.
void *freshMemory(size_t bytes) noexcept;
/// At least `bytes` bytes, aligned to 64, not initialised; nullptr when there is no memory.
void *takeRecycled(size_t bytes) noexcept;
/// `bytes` as when it was taken.
void giveRecycled(void *data, size_t bytes) noexcept;
/// Gives what waits for its next user back to the operating system.
void trimRecycled() noexcept;

/// What takeRecycled got from the operating system since the process began.
struct TakenMemory {
  uint64_t blocks = 0, bytes = 0;
};
TakenMemory takenMemory() noexcept;

/// For containers and shared objects that are made anew in every run.
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
