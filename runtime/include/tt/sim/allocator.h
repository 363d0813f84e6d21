//===- allocator.h - the memory of the banks ---------------------*- C++ -*-===//
//
// All banks of a memory (the L1 of every core, the channels of DRAM, on every
// chip of the mesh) are allocated in lockstep: a buffer has the same address in
// each, so one list of blocks describes them all.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/types.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace tt::sim {

/// A block of one bank.
struct Block {
  int64_t address = 0;
  int64_t bytes = 0;
  bool operator==(const Block &) const = default;
};

/// Best-fit allocation with coalescing in an address range; every operation is O(log n) in the number of blocks.
class BankAllocator {
public:
  /// Allocates from [base, end), in multiples of `alignment` bytes.
  BankAllocator(int64_t base, int64_t end, int64_t alignment);

  /// The lowest address of the smallest free block that holds `bytes` (0 takes one unit), or nothing.
  std::optional<Block> allocate(int64_t bytes, std::string label);
  /// Takes exactly this block; false when it is not free.
  bool allocateAt(Block block, std::string label);
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
  void insertFree(Block block);
  void eraseFree(std::map<int64_t, int64_t>::iterator block);
  void take(std::map<int64_t, int64_t>::iterator from, Block block, std::string label);
  int64_t round(int64_t bytes) const;

  struct Used {
    int64_t bytes;
    std::string label;
  };
  int64_t base, end, alignment;
  int64_t used = 0, highWater = 0;
  uint64_t hash = 0;
  std::map<int64_t, Used> blocks;                   // by address
  std::map<int64_t, int64_t> freeByAddress;         // address -> bytes
  std::set<std::pair<int64_t, int64_t>> freeBySize; // bytes, address
};

} // namespace tt::sim
