//===- regions.h - arenas ---------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Blocks for temporary values. A block is placed at the lowest address where it fits, so values that are alive at one
// time are close together, and a new result reuses memory that is still in the caches. Lists by size would return the
// memory that was used when a result of that size was last needed.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace tt {

/// Not thread-safe. Calls an allocator in add() only.
class Regions {
public:
  /// Larger blocks leave too little of a region to others; smaller ones are not worth a search.
  static constexpr size_t regionBytes = size_t(16) << 20, mostBytes = regionBytes / 4, leastBytes = size_t(1) << 12;
  /// Blocks begin at multiples of this, in bytes.
  static constexpr size_t alignment = 64;
  static constexpr size_t busyBytes = size_t(1) << 20;

  /// leastBytes <= `bytes` <= mostBytes of an existing region; nullptr if none has room.
  void *take(size_t bytes) noexcept;
  /// Adds memory of regionBytes bytes. Throws std::bad_alloc.
  void add(std::byte *memory);
  /// `bytes` as when the block was taken.
  void give(void *block, size_t bytes) noexcept;
  /// Removes a region without used blocks; nullptr if there is none.
  std::byte *removeUnused() noexcept;
  /// A region in which busyBytes are in use at one time for the first time; nullptr if there is none since the last
  /// call.
  std::byte *newlyBusy() noexcept { return std::exchange(busy, nullptr); }
  /// Bytes of regions without used blocks.
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
