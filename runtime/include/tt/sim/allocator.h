//===- allocator.h - allocators of memory banks -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// All banks of a memory (the L1 of every core, the channels of DRAM, on every
// chip of the mesh) are allocated in lockstep: a buffer has the same address in
// each, so one list of blocks describes them all.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/recycle.h"
#include "tt/types.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace tt::sim {

/// A block of one bank.
struct Block {
  int64_t address = 0;
  int64_t bytes = 0;
  bool operator==(const Block &) const = default;
};

/// The purpose of a block; copies share the text.
class Label {
public:
  Label(std::string text) : shared(std::make_shared<const std::string>(std::move(text))) {}
  Label(const char *text) : Label(std::string(text)) {}
  const std::string &text() const { return *shared; }

private:
  std::shared_ptr<const std::string> shared;
};

/// The free piece that an allocator takes, and which end of it: that of the smallest one that fits, or of the first one
/// that fits from below, or its upper end from above. Device memories have the latter two (DRAM from below, L1 from
/// above), as tt-metal's tech_reports/memory/allocator.md says.
enum class Fit : uint8_t { Best, Lowest, Highest };

/// Allocation with coalescing in an address range. Best fit searches the free pieces in O(log n), the others go through
/// them in order; all move what lies behind a piece that comes or goes: there are few, and they lie in little memory.
///
/// The banks of a sub-mesh are a part of those of its mesh: they have every block of the mesh, at the same address, and
/// blocks of their own besides. What is free for the mesh is free in all of its parts.
class BankAllocator {
public:
  /// Allocates from [base, end), in multiples of `alignment` bytes.
  BankAllocator(int64_t base, int64_t end, int64_t alignment, Fit fit);

  /// A block of `bytes` (0 takes one unit) in the piece that the fit says, or nothing.
  std::optional<Block> allocate(int64_t bytes, Label label);
  /// Takes exactly this block; false when it is not free.
  bool allocateAt(Block block, Label label);
  /// Throws Error when no block starts at the address.
  void deallocate(int64_t address);
  void clear();

  int64_t capacity() const { return end - base; }
  int64_t allocated() const { return used; }
  int64_t free() const;
  int64_t largestFree() const;
  int64_t begin() const { return base; }
  /// The lowest address that is taken, here or in a part; the end of the range when there is none.
  int64_t lowest() const;
  /// The highest value of allocated() since the last resetPeak().
  int64_t peak() const { return highWater; }
  void resetPeak() { highWater = used; }
  /// Raises the high-water mark, as a run whose blocks are known from an earlier one does.
  void raisePeak(int64_t bytes) { highWater = std::max(highWater, bytes); }
  /// Two states with the same fingerprint have, up to a chance of 2^-64, the same blocks, and so the same future.
  uint64_t fingerprint() const;

  struct Resident {
    Block block;
    std::string label;
  };
  /// Returns the blocks in order of address.
  std::vector<Resident> residents() const;
  std::vector<Block> freeBlocks() const;

  /// Makes the banks of a sub-mesh, which must be empty, a part of these; both must stay where they are until detach.
  void attach(BankAllocator &part);
  void detach(BankAllocator &part);

private:
  // Blocks come and go in every run.
  template <class Key, class T>
  using Table = std::unordered_map<Key, T, std::hash<Key>, std::equal_to<>, Recycling<std::pair<const Key, T>>>;
  using Free = std::vector<Block, Recycling<Block>>;

  /// Free pieces by their place in freeByAddress.
  void insertFree(Free::iterator at, Block block);
  void eraseFree(Free::iterator at);
  void replaceFree(Free::iterator at, Block block);
  void take(Free::iterator from, Block block, Label label);
  /// The free piece that holds the block, or freeByAddress.end().
  Free::iterator holding(Block block);
  bool isFree(Block block);
  int64_t round(int64_t bytes) const;
  /// Chooses a place for a block of `bytes` bytes among these pieces, which are in order of address.
  template <class Pieces> std::optional<Block> choose(const Pieces &pieces, int64_t bytes) const;

  struct Used {
    int64_t bytes;
    Label label;
  };
  int64_t base, end, alignment;
  Fit fit;
  int64_t used = 0, highWater = 0;
  uint64_t hash = 0;
  Table<int64_t, Used> blocks;    // by address
  Free freeByAddress, freeBySize; // the latter by address among those of one size
  BankAllocator *whole = nullptr; // of the mesh that this is a part of
  std::vector<BankAllocator *> parts;
};

} // namespace tt::sim
