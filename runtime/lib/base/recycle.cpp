//===- recycle.cpp - recycling of per-run memory --------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "tt/recycle.h"
#include "base/regions.h"
#include "tt/fork.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>
#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace tt {
namespace {

constexpr size_t unit = 64, hugePage = size_t(1) << 21;
/// Blocks of this size and more come from the system and return to it; malloc would keep memory between others.
constexpr size_t mappedFrom = size_t(1) << 18, spareBytes = size_t(1) << 24;
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
  explicit SizeClass(size_t requested) {
    const size_t units = std::max((requested + unit - 1) / unit, size_t(1));
    const auto exponent = static_cast<size_t>(std::bit_width(units)) - 1;
    const size_t step = exponent < 2 ? 1 : size_t(1) << (exponent - 2);
    const size_t steps = (units + step - 1) / step; // 4 to 8 from 4 units on
    bytes = steps * step * unit;
    index = exponent < 2 ? units : exponent * 4 + (steps - 4);
  }
  size_t bytes, index;
};

std::atomic<uint64_t> takenBlocks{0}, takenBytes{0};

void *takeFresh(size_t bytes) noexcept {
  takenBlocks.fetch_add(1, std::memory_order_relaxed);
  takenBytes.fetch_add(bytes, std::memory_order_relaxed);
  return freshMemory(bytes);
}

/// A block that waits for reuse, in a list through such blocks.
struct Waiting {
  Waiting *next;
  size_t bytes;
};

/// Blocks that wait for reuse: those of medium size in regions, others in lists through themselves.
class Pool {
public:
  void *take(size_t bytes) noexcept {
    if (isInRegions(bytes))
      return takeOfRegions(bytes);
    const SizeClass size(bytes);
    {
      std::lock_guard lock(mutex);
      if (Waiting *first = lists[size.index]) {
        lists[size.index] = first->next;
        kept -= size.bytes;
        return first;
      }
    }
    return takeFresh(size.bytes);
  }
  void give(void *data, size_t bytes) noexcept {
    if (isInRegions(bytes)) {
      std::unique_lock lock(mutex);
      regions.give(data, bytes);
      std::byte *const unused = regions.unusedBytes() > keptInTotal ? regions.removeUnused() : nullptr;
      lock.unlock();
      freeFresh(unused, Regions::regionBytes);
      return;
    }
    const SizeClass size(bytes);
    {
      std::lock_guard lock(mutex);
      if (keep && kept + size.bytes <= keptInTotal) {
        lists[size.index] = new (data) Waiting{lists[size.index], size.bytes};
        kept += size.bytes;
        return;
      }
    }
    freeFresh(data, size.bytes);
  }
  void trim() noexcept {
    std::lock_guard lock(mutex);
    for (Waiting *&list : lists)
      while (list) {
        const size_t bytes = list->bytes;
        freeFresh(std::exchange(list, list->next), bytes);
      }
    kept = 0;
    while (std::byte *unused = regions.removeUnused())
      freeFresh(unused, Regions::regionBytes);
  }

private:
  static bool isInRegions(size_t bytes) { return keep && bytes >= Regions::leastBytes && bytes <= Regions::mostBytes; }
  void *takeOfRegions(size_t bytes) noexcept {
    std::lock_guard lock(mutex);
    if (void *block = regions.take(bytes)) {
      if (std::byte *const busy = regions.newlyBusy())
        useHugePages(busy);
      return block;
    }
    auto *const memory = static_cast<std::byte *>(takeFresh(Regions::regionBytes));
    if (!memory)
      return nullptr;
#if defined(__linux__)
    // Little of the first one may ever be used.
    ::madvise(memory, Regions::regionBytes, MADV_NOHUGEPAGE);
#endif
    try {
      regions.add(memory);
    } catch (const std::bad_alloc &) {
      freeFresh(memory, Regions::regionBytes);
      return nullptr;
    }
    return regions.take(bytes);
  }

  /// Uses huge pages for the memory in which programs keep their values: fewer page lookups, and a single copy. Used
  /// small pages become a huge one; the system clears the others at their first write, so a program whose values grow
  /// pays for the growth and not for the region.
  static void useHugePages(std::byte *region) noexcept {
#if defined(__linux__)
#ifndef MADV_COLLAPSE
    constexpr int MADV_COLLAPSE = 25; // since Linux 6.1; hints both: small pages are right as well
#endif
    ::madvise(region, Regions::regionBytes, MADV_HUGEPAGE);
    ::madvise(region, std::max(Regions::busyBytes, hugePage), MADV_COLLAPSE);
#endif
  }

  Regions regions;
  ForkMutex mutex{1};
  std::array<Waiting *, 4 * 64> lists{};
  size_t kept = 0;
};

/// Never destroyed: tensors of static duration may outlive it.
Pool &pool() {
  static Pool *instance = new Pool;
  return *instance;
}

/// The small blocks that a thread freed last, which it takes again without a lock: those of objects that hold tensors,
/// several for each.
class Small {
public:
  static bool has(size_t bytes) { return keep && bytes <= mostBytes; }
  void *take(size_t bytes) noexcept {
    List &list = lists[classOf(bytes)];
    if (!list.first)
      return pool().take(bytes);
    --list.length;
    return std::exchange(list.first, list.first->next);
  }
  void give(void *data, size_t bytes) noexcept {
    List &list = lists[classOf(bytes)];
    if (ended || list.length == longest) {
      pool().give(data, bytes);
      return;
    }
    list.first = new (data) Waiting{list.first, bytes};
    ++list.length;
  }
  void trim() noexcept {
    for (List &list : lists) {
      while (list.first) {
        Waiting *const block = std::exchange(list.first, list.first->next);
        pool().give(block, block->bytes);
      }
      list.length = 0;
    }
  }
  /// Objects of static duration are created and destroyed after the thread's own objects.
  void end() noexcept {
    trim();
    ended = true;
  }

private:
  static constexpr size_t mostBytes = 512;
  static constexpr uint32_t longest = 64;
  /// Returns the class of a size in units, so that blocks of one class have one size of the pool as well.
  static size_t classOf(size_t bytes) { return bytes ? (bytes - 1) / unit : 0; }
  struct List {
    Waiting *first = nullptr;
    uint32_t length = 0;
  };
  std::array<List, mostBytes / unit> lists{};
  bool ended = false;
};

/// Constant-initialised and never destroyed, so that it can be used at any time.
constinit thread_local Small small;

/// Passes a thread's small blocks to the others when it ends.
struct AtThreadEnd {
  ~AtThreadEnd() { small.end(); }
};

size_t roundUp(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

#if defined(__linux__)
/// The sanitizer watches what malloc gives only.
bool isMapped(size_t bytes) { return keep && bytes >= mappedFrom; }
size_t pageBytes() {
  static const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

void *map(size_t bytes) noexcept {
  const size_t size = roundUp(bytes, pageBytes());
  // More, so that it contains the beginning of a huge page; memory before and after it is freed again.
  const size_t more = bytes >= hugePage ? hugePage - pageBytes() : 0;
  void *mapped = ::mmap(nullptr, size + more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    return nullptr;
  if (!more)
    return mapped;
  auto *const all = static_cast<std::byte *>(mapped);
  const size_t before = (hugePage - reinterpret_cast<uintptr_t>(all) % hugePage) % hugePage;
  if (before)
    ::munmap(all, before);
  if (more > before)
    ::munmap(all + before + size, more - before);
  ::madvise(all + before, bytes / hugePage * hugePage, MADV_HUGEPAGE); // a hint: small pages are right as well
  return all + before;
}
void unmap(void *data, size_t bytes) noexcept {
  if (data)
    ::munmap(data, roundUp(bytes, pageBytes()));
}
#else
bool isMapped(size_t) { return false; }
void *map(size_t) noexcept { return nullptr; }
void unmap(void *, size_t) noexcept {}
#endif

/// The block that was freed last. Preparing a program allocates blocks of one size repeatedly, for one weight after the
/// other, and fresh pages cost more than the work.
class Spare {
public:
  void *take(size_t bytes) noexcept {
    std::lock_guard lock(mutex);
    return data && this->bytes == bytes ? std::exchange(data, nullptr) : nullptr;
  }
  void keep(void *block, size_t size) noexcept {
    {
      std::lock_guard lock(mutex);
      std::swap(data, block);
      std::swap(bytes, size);
    }
    unmap(block, size);
  }

private:
  ForkMutex mutex{0}; // taken by the others
  void *data = nullptr;
  size_t bytes = 0;
};
Spare &spare() {
  static Spare *instance = new Spare;
  return *instance;
}

/// Memory for lasting values. A slab is freed with its last piece.
class Slabs {
public:
  std::shared_ptr<std::byte> take(size_t bytes) {
    if (bytes > slabBytes / 2)
      return fresh(bytes);
    const size_t whole = roundUp(std::max<size_t>(bytes, 1), unit);
    std::lock_guard lock(mutex);
    std::shared_ptr<std::byte> slab = current.lock();
    if (!slab || used + whole > slabBytes) {
      if (slab)
        giveBackRest(slab.get());
      slab = fresh(slabBytes);
      current = slab;
      used = 0;
    }
    std::byte *const at = slab.get() + used;
    used += whole;
    return {std::move(slab), at};
  }
  void settle() noexcept {
    std::lock_guard lock(mutex);
    if (const std::shared_ptr<std::byte> slab = current.lock())
      giveBackRest(slab.get());
  }

private:
  static constexpr size_t slabBytes = 16 * hugePage;

  static std::shared_ptr<std::byte> fresh(size_t bytes) {
    void *data = freshMemory(bytes);
    if (!data)
      throw std::bad_alloc();
    return {static_cast<std::byte *>(data), [bytes](std::byte *p) { freeFresh(p, bytes); }};
  }
  void giveBackRest(std::byte *slab) noexcept {
#if defined(__linux__)
    const size_t from = roundUp(used, pageBytes()), to = roundUp(used, hugePage);
    if (!isMapped(slabBytes) || from >= to)
      return;
    // Dropping a part of a huge page frees nothing while the rest is in use; marking it as free first makes the system
    // split it.
    ::madvise(slab + from, to - from, MADV_FREE);
    ::madvise(slab + from, to - from, MADV_DONTNEED);
#endif
  }

  ForkMutex mutex{1};
  std::weak_ptr<std::byte> current;
  size_t used = 0;
};

/// Never destroyed: kernels of static duration may outlive it.
Slabs &slabs() {
  static Slabs *instance = new Slabs;
  return *instance;
}

} // namespace

void poison(void *data, size_t bytes) noexcept {
  static const bool requested = [] {
    const char *value = std::getenv("TTRT_POISON");
    return value && std::strcmp(value, "1") == 0;
  }();
  if (requested && data)
    std::memset(data, 0xff, bytes);
}

void *freshMemory(size_t bytes) noexcept {
  if (bytes > SIZE_MAX / 4)
    return nullptr;
  void *data = nullptr;
  if (!isMapped(bytes))
    data = std::aligned_alloc(unit, roundUp(std::max<size_t>(bytes, 1), unit));
  else if (!(data = spare().take(bytes)))
    data = map(bytes);
  poison(data, bytes);
  return data;
}

void freeFresh(void *data, size_t bytes) noexcept {
  if (!data)
    return;
  if (!isMapped(bytes))
    std::free(data);
  else if (bytes <= spareBytes)
    spare().keep(data, bytes);
  else
    unmap(data, bytes);
}

void emptyFresh(void *data, size_t bytes) noexcept {
#if defined(__linux__)
  const auto at = reinterpret_cast<uintptr_t>(data);
  const uintptr_t from = roundUp(at, hugePage), to = (at + bytes) / hugePage * hugePage;
  if (keep && from < to)
    ::madvise(static_cast<std::byte *>(data) + (from - at), to - from, MADV_DONTNEED);
#endif
}

std::shared_ptr<std::byte> takeLasting(size_t bytes) { return slabs().take(bytes); }
void settleLasting() noexcept {
  slabs().settle();
  spare().keep(nullptr, 0);
}

void *takeRecycled(size_t bytes) noexcept {
  if (bytes > SIZE_MAX / 4)
    return nullptr;
  void *data = Small::has(bytes) ? small.take(bytes) : pool().take(bytes);
  poison(data, bytes);
  return data;
}

void giveRecycled(void *data, size_t bytes) noexcept {
  if (!Small::has(bytes)) {
    pool().give(data, bytes);
    return;
  }
  thread_local const AtThreadEnd atEnd;
  (void)atEnd;
  small.give(data, bytes);
}

void trimRecycled() noexcept {
  small.trim();
  pool().trim();
  spare().keep(nullptr, 0);
}

TakenMemory takenMemory() noexcept {
  return {takenBlocks.load(std::memory_order_relaxed), takenBytes.load(std::memory_order_relaxed)};
}

} // namespace tt
