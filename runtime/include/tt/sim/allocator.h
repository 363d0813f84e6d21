//===- allocator.h - the memory of the banks ---------------------*- C++ -*-===//
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
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tt::sim {

/// A block of one bank.
struct Block {
  int64_t address = 0;
  int64_t bytes = 0;
  bool operator==(const Block &) const = default;
};

/// What a block is for; copies share the text.
class Label {
public:
  Label(std::string text) : shared(std::make_shared<const std::string>(std::move(text))) {}
  Label(const char *text) : Label(std::string(text)) {}
  const std::string &text() const { return *shared; }

private:
  std::shared_ptr<const std::string> shared;
};

/// Best-fit allocation with coalescing in an address range; every operation is O(log n) in the number of blocks.
class BankAllocator {
public:
  /// Allocates from [base, end), in multiples of `alignment` bytes.
  BankAllocator(int64_t base, int64_t end, int64_t alignment);

  /// The lowest address of the smallest free block that holds `bytes` (0 takes one unit), or nothing.
  std::optional<Block> allocate(int64_t bytes, Label label);
  /// Takes exactly this block; false when it is not free.
  bool allocateAt(Block block, Label label);
  /// Throws Error when no block starts at the address.
  void deallocate(int64_t address);
  void clear();

  int64_t capacity() const { return end - base; }
  int64_t allocated() const { return used; }
  int64_t free() const { return capacity() - used; }
  int64_t largestFree() const { return freeBySize.empty() ? 0 : freeBySize.rbegin()->first; }
  /// The highest value of allocated() since the last resetPeak().
  int64_t peak() const { return highWater; }
  void resetPeak() { highWater = used; }
  /// Raises the high-water mark, as a run whose blocks are known from an earlier one does.
  void raisePeak(int64_t bytes) { highWater = std::max(highWater, bytes); }
  /// Two states with the same fingerprint have, up to a chance of 2^-64, the same blocks, and so the same future.
  uint64_t fingerprint() const { return hash; }

  struct Resident {
    Block block;
    std::string label;
  };
  /// In order of address.
  std::vector<Resident> residents() const;
  std::vector<Block> freeBlocks() const;

private:
  // Blocks come and go in every run.
  template <class Key, class T> using Map = std::map<Key, T, std::less<>, Recycling<std::pair<const Key, T>>>;
  template <class Key> using Set = std::set<Key, std::less<>, Recycling<Key>>;
  using Free = Map<int64_t, int64_t>; // address -> bytes

  void insertFree(Block block);
  void eraseFree(Free::iterator block);
  void take(Free::iterator from, Block block, Label label);
  int64_t round(int64_t bytes) const;

  struct Used {
    int64_t bytes;
    Label label;
  };
  int64_t base, end, alignment;
  int64_t used = 0, highWater = 0;
  uint64_t hash = 0;
  Map<int64_t, Used> blocks; // by address
  Free freeByAddress;
  Set<std::pair<int64_t, int64_t>> freeBySize; // bytes, address
};

} // namespace tt::sim
