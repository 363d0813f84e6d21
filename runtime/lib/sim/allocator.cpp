//===- allocator.cpp - allocators of memory banks -------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "tt/sim/allocator.h"

namespace tt::sim {
namespace {

/// One term of the fingerprint: terms are combined by exclusive or, so a freed block removes its term.
uint64_t mix(Block block) {
  // splitmix64's finalizer (Steele, Lea, Flood 2014) over address and size.
  uint64_t x = static_cast<uint64_t>(block.address) * 0x9e3779b97f4a7c15u + static_cast<uint64_t>(block.bytes);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

std::pair<int64_t, int64_t> bySize(const Block &block) { return {block.bytes, block.address}; }

int64_t endOf(const Block &block) { return block.address + block.bytes; }

} // namespace

BankAllocator::BankAllocator(int64_t base, int64_t end, int64_t alignment, Fit fit)
    : base((base + alignment - 1) / alignment * alignment), end(end / alignment * alignment), alignment(alignment),
      fit(fit) {
  clear();
}

void BankAllocator::clear() {
  blocks.clear();
  freeByAddress.clear();
  freeBySize.clear();
  used = 0;
  hash = 0;
  if (end > base)
    insertFree(freeByAddress.end(), {base, end - base});
  if (whole)
    for (const auto &[address, block] : whole->blocks)
      allocateAt({address, block.bytes}, block.label);
}

int64_t BankAllocator::round(int64_t bytes) const {
  return std::max<int64_t>((bytes + alignment - 1) / alignment, 1) * alignment;
}

void BankAllocator::insertFree(Free::iterator at, Block block) {
  freeByAddress.insert(at, block);
  freeBySize.insert(std::ranges::lower_bound(freeBySize, bySize(block), {}, bySize), block);
}

void BankAllocator::eraseFree(Free::iterator at) {
  freeBySize.erase(std::ranges::lower_bound(freeBySize, bySize(*at), {}, bySize));
  freeByAddress.erase(at);
}

void BankAllocator::replaceFree(Free::iterator at, Block block) {
  const auto from = std::ranges::lower_bound(freeBySize, bySize(*at), {}, bySize);
  const auto to = std::ranges::lower_bound(freeBySize, bySize(block), {}, bySize);
  *at = *from = block;
  if (from < to)
    std::rotate(from, from + 1, to);
  else
    std::rotate(to, from, from + 1);
}

void BankAllocator::take(Free::iterator from, Block block, Label label) {
  const Block before{from->address, block.address - from->address}, rest{endOf(block), endOf(*from) - endOf(block)};
  if (!before.bytes && !rest.bytes)
    eraseFree(from);
  else
    replaceFree(from, before.bytes ? before : rest);
  if (before.bytes && rest.bytes)
    insertFree(from + 1, rest);
  for (BankAllocator *part : parts)
    part->take(part->holding(block), block, label);
  blocks.emplace(block.address, Used{block.bytes, std::move(label)});
  used += block.bytes;
  highWater = std::max(highWater, used);
  hash ^= mix(block);
}

std::optional<Block> BankAllocator::allocate(int64_t bytes, Label label) {
  if (bytes < 0 || bytes > capacity())
    return std::nullopt;
  bytes = round(bytes);
  std::optional<Block> block;
  if (!parts.empty()) {
    block = choose(freeBlocks(), bytes);
  } else if (fit != Fit::Best) {
    block = choose(freeByAddress, bytes);
  } else if (const auto piece = std::ranges::lower_bound(freeBySize, bySize({0, bytes}), {}, bySize);
             piece != freeBySize.end()) {
    block = Block{piece->address, bytes};
  }
  if (block)
    take(holding(*block), *block, std::move(label));
  return block;
}

template <class Pieces> std::optional<Block> BankAllocator::choose(const Pieces &pieces, int64_t bytes) const {
  const Block *found = nullptr;
  for (const Block &piece : pieces)
    if (piece.bytes >= bytes && (!found || fit == Fit::Highest || (fit == Fit::Best && piece.bytes < found->bytes)))
      found = &piece;
  if (!found)
    return std::nullopt;
  return Block{fit == Fit::Highest ? endOf(*found) - bytes : found->address, bytes};
}

BankAllocator::Free::iterator BankAllocator::holding(Block block) {
  const auto behind = std::ranges::upper_bound(freeByAddress, block.address, {}, &Block::address);
  if (behind == freeByAddress.begin() || endOf(block) > endOf(*(behind - 1)))
    return freeByAddress.end();
  return behind - 1;
}

bool BankAllocator::isFree(Block block) {
  return holding(block) != freeByAddress.end() &&
         std::ranges::all_of(parts, [&](BankAllocator *part) { return part->isFree(block); });
}

bool BankAllocator::allocateAt(Block block, Label label) {
  if (!isFree(block))
    return false;
  take(holding(block), block, std::move(label));
  return true;
}

void BankAllocator::deallocate(int64_t address) {
  const auto found = blocks.find(address);
  if (found == blocks.end())
    throw Error("no buffer at address " + std::to_string(address) + " to deallocate");
  const Block block{address, found->second.bytes};
  for (BankAllocator *part : parts)
    part->deallocate(address);
  used -= block.bytes;
  hash ^= mix(block);
  blocks.erase(found);
  const auto next = std::ranges::lower_bound(freeByAddress, address, {}, &Block::address);
  const auto before = next == freeByAddress.begin() ? freeByAddress.end() : next - 1;
  const bool joinsNext = next != freeByAddress.end() && next->address == endOf(block);
  const bool joinsBefore = before != freeByAddress.end() && endOf(*before) == address;
  const int64_t joined = block.bytes + (joinsNext ? next->bytes : 0);
  if (joinsBefore) {
    replaceFree(before, {before->address, before->bytes + joined});
    if (joinsNext)
      eraseFree(next);
  } else if (joinsNext) {
    replaceFree(next, {address, joined});
  } else {
    insertFree(next, block);
  }
}

std::vector<Block> BankAllocator::freeBlocks() const {
  std::vector<Block> common(freeByAddress.begin(), freeByAddress.end());
  for (const BankAllocator *part : parts) {
    std::vector<Block> both;
    auto theirs = part->freeByAddress.begin();
    for (auto ours = common.begin(); ours != common.end() && theirs != part->freeByAddress.end();) {
      const int64_t from = std::max(ours->address, theirs->address), to = std::min(endOf(*ours), endOf(*theirs));
      if (from < to)
        both.push_back({from, to - from});
      endOf(*ours) < endOf(*theirs) ? (void)++ours : (void)++theirs;
    }
    common = std::move(both);
  }
  return common;
}

int64_t BankAllocator::free() const {
  if (parts.empty())
    return capacity() - used;
  int64_t bytes = 0;
  for (const Block &piece : freeBlocks())
    bytes += piece.bytes;
  return bytes;
}

int64_t BankAllocator::largestFree() const {
  if (parts.empty())
    return freeBySize.empty() ? 0 : freeBySize.back().bytes;
  int64_t bytes = 0;
  for (const Block &piece : freeBlocks())
    bytes = std::max(bytes, piece.bytes);
  return bytes;
}

int64_t BankAllocator::lowest() const {
  int64_t found = base;
  if (!freeByAddress.empty() && freeByAddress.front().address == base)
    found = endOf(freeByAddress.front());
  for (const BankAllocator *part : parts)
    found = std::min(found, part->lowest());
  return found;
}

uint64_t BankAllocator::fingerprint() const {
  uint64_t result = hash;
  for (const BankAllocator *part : parts)
    result = result * 0x9e3779b97f4a7c15u + part->hash;
  return result;
}

void BankAllocator::attach(BankAllocator &part) {
  part.whole = this;
  part.clear();
  parts.push_back(&part);
}

void BankAllocator::detach(BankAllocator &part) {
  std::erase(parts, &part);
  part.whole = nullptr;
}

std::vector<BankAllocator::Resident> BankAllocator::residents() const {
  std::vector<Resident> result;
  result.reserve(blocks.size());
  for (const auto &[address, block] : blocks)
    result.push_back({{address, block.bytes}, block.label.text()});
  std::ranges::sort(result, {}, [](const Resident &resident) { return resident.block.address; });
  return result;
}

} // namespace tt::sim
