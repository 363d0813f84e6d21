//===- regions.h - arenas ---------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Blocks for values that come and go. The lowest place that a block fits in is
// taken, so what is alive at one time lies in little memory, and a new result
// where one has just died: its lines are still in the caches. Lists by size
// give out what was used when a result of that size was last needed.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace tt {

/// Not safe for threads. Calls an allocator in add() only.
class Regions {
public:
  /// Larger blocks leave too little of a region to others; smaller ones are not worth a search.
  static constexpr size_t regionBytes = size_t(16) << 20, mostBytes = regionBytes / 4, leastBytes = size_t(1) << 12;
  /// Blocks begin at multiples of this, in bytes.
  static constexpr size_t alignment = 64;
  static constexpr size_t busyBytes = size_t(1) << 20;

  /// leastBytes <= `bytes` <= mostBytes of an existing region; nullptr when none has room.
  void *take(size_t bytes) noexcept;
  /// Adds memory of regionBytes bytes. Throws std::bad_alloc.
  void add(std::byte *memory);
  /// `bytes` as when the block was taken.
  void give(void *block, size_t bytes) noexcept;
  /// Takes out a region of which nothing is used; nullptr when there is none.
  std::byte *removeUnused() noexcept;
  /// A region of which busyBytes have come to be used at one time, for the first time; nullptr when there is none since
  /// the last call.
  std::byte *newlyBusy() noexcept { return std::exchange(busy, nullptr); }
  /// Bytes of regions of which nothing is used.
  size_t unusedBytes() const { return unused * regionBytes; }

private:
  struct Free {
    size_t from, bytes;
  };
  struct Region {
    std::byte *memory;
    std::vector<Free> free; // in order, never side by side
    size_t largest;         // no free piece is larger
    size_t used;            // bytes
    bool wasBusy;
  };
  static size_t whole(size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }
  static bool isUnused(const Region &region) { return region.used == 0; }

  std::vector<Region> regions; // by address
  size_t unused = 0;
  std::byte *busy = nullptr;
};

} // namespace tt
