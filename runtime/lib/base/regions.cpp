//===- regions.cpp - arenas -----------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "base/regions.h"

#include <algorithm>
#include <functional>
#include <iterator>

namespace tt {

void *Regions::take(size_t bytes) noexcept {
  bytes = whole(bytes);
  for (Region &region : regions) {
    if (region.largest < bytes)
      continue;
    const auto piece =
        std::find_if(region.free.begin(), region.free.end(), [&](const Free &free) { return free.bytes >= bytes; });
    if (piece == region.free.end()) {
      region.largest = bytes - 1;
      continue;
    }
    unused -= isUnused(region);
    std::byte *const block = region.memory + piece->from;
    piece->from += bytes;
    piece->bytes -= bytes;
    if (piece->bytes == 0)
      region.free.erase(piece);
    region.used += bytes;
    if (region.used >= busyBytes && !std::exchange(region.wasBusy, true))
      busy = region.memory;
    return block;
  }
  return nullptr;
}

void Regions::add(std::byte *memory) {
  Region region{memory, {}, regionBytes, 0, false};
  region.free.reserve(regionBytes / leastBytes / 2 + 1); // as many as there can be
  region.free.push_back({0, regionBytes});
  const auto place = std::ranges::upper_bound(regions, memory, std::less<>(), &Region::memory);
  regions.insert(place, std::move(region));
  ++unused;
}

void Regions::give(void *block, size_t bytes) noexcept {
  bytes = whole(bytes);
  auto *const data = static_cast<std::byte *>(block);
  Region &region = *std::prev(std::ranges::upper_bound(regions, data, std::less<>(), &Region::memory));
  const auto from = static_cast<size_t>(data - region.memory);
  auto next = std::ranges::upper_bound(region.free, from, std::less<>(), &Free::from);
  const bool joinsNext = next != region.free.end() && from + bytes == next->from;
  const auto before = next == region.free.begin() ? region.free.end() : std::prev(next);
  const bool joinsBefore = before != region.free.end() && before->from + before->bytes == from;
  size_t joined = bytes;
  if (joinsBefore) {
    joined = before->bytes += bytes + (joinsNext ? next->bytes : 0);
    if (joinsNext)
      region.free.erase(next);
  } else if (joinsNext) {
    next->from = from;
    joined = next->bytes += bytes;
  } else {
    region.free.insert(next, {from, bytes});
  }
  region.largest = std::max(region.largest, joined);
  region.used -= bytes;
  unused += isUnused(region);
}

std::byte *Regions::removeUnused() noexcept {
  const auto found = std::ranges::find_if(regions, isUnused);
  if (found == regions.end())
    return nullptr;
  std::byte *const memory = found->memory;
  if (busy == memory)
    busy = nullptr;
  regions.erase(found);
  --unused;
  return memory;
}

} // namespace tt
