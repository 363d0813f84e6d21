//===- recycle.cpp - memory that comes and goes with every run ------------===//

#include "tt/recycle.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace tt {
namespace {

constexpr size_t unit = 64, hugePage = size_t(1) << 21;
constexpr size_t keptInTotal = size_t(1) << 30;
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TT_KEEP_NOTHING 1 // so that the sanitizer sees the use of what was given back
#endif
#endif
#ifdef TT_KEEP_NOTHING
constexpr bool keep = false;
#else
constexpr bool keep = true;
#endif

/// Sizes are rounded up to 1, 1.25, 1.5 or 1.75 times a power of two, and to whole units.
struct SizeClass {
  explicit SizeClass(size_t wanted) {
    const size_t units = std::max((wanted + unit - 1) / unit, size_t(1));
    const auto exponent = static_cast<size_t>(std::bit_width(units)) - 1;
    const size_t step = exponent < 2 ? 1 : size_t(1) << (exponent - 2);
    const size_t steps = (units + step - 1) / step; // 4 to 8 from 4 units on
    bytes = steps * step * unit;
    index = exponent < 2 ? units : exponent * 4 + (steps - 4);
  }
  size_t bytes, index;
};

/// Blocks waiting for their next user, as a list through themselves.
class Pool {
public:
  void *take(const SizeClass &size) noexcept {
    std::lock_guard lock(mutex);
    Waiting *first = lists[size.index];
    if (first) {
      lists[size.index] = first->next;
      kept -= size.bytes;
    }
    return first;
  }
  bool give(void *data, const SizeClass &size) noexcept {
    std::lock_guard lock(mutex);
    if (kept + size.bytes > keptInTotal)
      return false;
    lists[size.index] = new (data) Waiting{lists[size.index]};
    kept += size.bytes;
    return true;
  }
  void trim() noexcept {
    std::lock_guard lock(mutex);
    for (Waiting *&list : lists)
      while (list)
        std::free(std::exchange(list, list->next));
    kept = 0;
  }

private:
  struct Waiting {
    Waiting *next;
  };
  std::mutex mutex;
  std::array<Waiting *, 4 * 64> lists{};
  size_t kept = 0;
};

/// Never destroyed: tensors of static duration may outlive it.
Pool &pool() {
  static Pool *instance = new Pool;
  return *instance;
}

std::atomic<uint64_t> takenBlocks{0}, takenBytes{0};

} // namespace

void *freshMemory(size_t bytes) noexcept {
  if (bytes > SIZE_MAX / 4)
    return nullptr;
  const size_t alignment = bytes >= 2 * hugePage ? hugePage : unit;
  const size_t whole = std::max((bytes + alignment - 1) / alignment, size_t(1)) * alignment;
  void *data = std::aligned_alloc(alignment, whole);
#if defined(__linux__)
  if (data && alignment == hugePage)
    ::madvise(data, whole, MADV_HUGEPAGE); // a hint: small pages are right as well
#endif
  return data;
}

void *takeRecycled(size_t bytes) noexcept {
  if (bytes > SIZE_MAX / 4)
    return nullptr;
  const SizeClass size(bytes);
  if (keep)
    if (void *data = pool().take(size))
      return data;
  takenBlocks.fetch_add(1, std::memory_order_relaxed);
  takenBytes.fetch_add(size.bytes, std::memory_order_relaxed);
  return freshMemory(size.bytes);
}

void giveRecycled(void *data, size_t bytes) noexcept {
  if (!keep || !pool().give(data, SizeClass(bytes)))
    std::free(data);
}

void trimRecycled() noexcept { pool().trim(); }

TakenMemory takenMemory() noexcept {
  return {takenBlocks.load(std::memory_order_relaxed), takenBytes.load(std::memory_order_relaxed)};
}

} // namespace tt
