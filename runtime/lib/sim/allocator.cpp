//===- allocator.cpp - the memory of the banks ----------------------------===//

#include "tt/sim/allocator.h"

namespace tt::sim {
namespace {

/// One term of the fingerprint: terms are combined by exclusive or, so a block that leaves takes its term with it.
uint64_t mix(Block block) {
  // splitmix64's finaliser (Steele, Lea, Flood 2014) over address and size.
  uint64_t x = static_cast<uint64_t>(block.address) * 0x9e3779b97f4a7c15u + static_cast<uint64_t>(block.bytes);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

} // namespace

BankAllocator::BankAllocator(int64_t base, int64_t end, int64_t alignment)
    : base((base + alignment - 1) / alignment * alignment), end(end / alignment * alignment), alignment(alignment) {
  clear();
}

void BankAllocator::clear() {
  blocks.clear();
  freeByAddress.clear();
  freeBySize.clear();
  used = 0;
  hash = 0;
  if (end > base)
    insertFree({base, end - base});
}

int64_t BankAllocator::round(int64_t bytes) const {
  return std::max<int64_t>((bytes + alignment - 1) / alignment, 1) * alignment;
}

void BankAllocator::insertFree(Block block) {
  freeByAddress.emplace(block.address, block.bytes);
  freeBySize.emplace(block.bytes, block.address);
}

void BankAllocator::eraseFree(Free::iterator block) {
  freeBySize.erase(std::pair(block->second, block->first));
  freeByAddress.erase(block);
}

void BankAllocator::take(Free::iterator from, Block block, Label label) {
  const Block whole{from->first, from->second};
  eraseFree(from);
  if (block.address > whole.address)
    insertFree({whole.address, block.address - whole.address});
  const int64_t rest = whole.address + whole.bytes - (block.address + block.bytes);
  if (rest > 0)
    insertFree({block.address + block.bytes, rest});
  blocks.emplace(block.address, Used{block.bytes, std::move(label)});
  used += block.bytes;
  highWater = std::max(highWater, used);
  hash ^= mix(block);
}

std::optional<Block> BankAllocator::allocate(int64_t bytes, Label label) {
  if (bytes < 0 || bytes > capacity())
    return std::nullopt;
  bytes = round(bytes);
  auto fit = freeBySize.lower_bound(std::pair(bytes, int64_t(0)));
  if (fit == freeBySize.end())
    return std::nullopt;
  const Block block{fit->second, bytes};
  take(freeByAddress.find(fit->second), block, std::move(label));
  return block;
}

bool BankAllocator::allocateAt(Block block, Label label) {
  auto from = freeByAddress.upper_bound(block.address);
  if (from == freeByAddress.begin())
    return false;
  --from;
  if (block.address + block.bytes > from->first + from->second)
    return false;
  take(from, block, std::move(label));
  return true;
}

void BankAllocator::deallocate(int64_t address) {
  auto found = blocks.find(address);
  if (found == blocks.end())
    throw Error("no buffer at address " + std::to_string(address) + " to deallocate");
  Block block{address, found->second.bytes};
  used -= block.bytes;
  hash ^= mix(block);
  blocks.erase(found);
  auto next = freeByAddress.lower_bound(block.address);
  if (next != freeByAddress.end() && next->first == block.address + block.bytes) {
    block.bytes += next->second;
    auto after = std::next(next);
    eraseFree(next);
    next = after;
  }
  if (next != freeByAddress.begin()) {
    auto previous = std::prev(next);
    if (previous->first + previous->second == block.address) {
      block = {previous->first, previous->second + block.bytes};
      eraseFree(previous);
    }
  }
  insertFree(block);
}

std::vector<BankAllocator::Resident> BankAllocator::residents() const {
  std::vector<Resident> result;
  result.reserve(blocks.size());
  for (const auto &[address, block] : blocks)
    result.push_back({{address, block.bytes}, block.label.text()});
  return result;
}

std::vector<Block> BankAllocator::freeBlocks() const {
  std::vector<Block> result;
  for (const auto &[address, bytes] : freeByAddress)
    result.push_back({address, bytes});
  return result;
}

} // namespace tt::sim
