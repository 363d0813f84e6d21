//===- ring.cpp - circular buffers of a kernel ----------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "metal/core.h"
#include "tt/sim/formats.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tt::metal {
namespace {

std::string pages(uint32_t count) { return std::to_string(count) + (count == 1 ? " page" : " pages"); }

} // namespace

void KernelRun::settleClock() { clock.compute(work, core.l1.chip.speed); }

Ring &KernelRun::ring(uint32_t cb, std::string_view function) const {
  if (cb < maxPorts && core.rings[cb])
    return *core.rings[cb];
  std::string there;
  for (const auto &ring : core.rings)
    if (ring)
      there += (there.empty() ? "" : ", ") + std::to_string(ring->port);
  fail(function, "port " + std::to_string(cb) + " is no circular buffer of this core; " +
                     (there.empty() ? "it has none" : "there are " + there));
}

void KernelRun::waitFront(uint32_t cb, uint32_t count) {
  Ring &ring = this->ring(cb, "cb_wait_front");
  if (count > ring.pages)
    fail("cb_wait_front",
         "waits for " + pages(count) + " of port " + std::to_string(cb) + ", which has " + std::to_string(ring.pages));
  waitFor({&ring, true, count});
  settleClock();
  if (count)
    clock.waitUntil(ring.pushedAt.of(ring.popped + count - 1), {Awaited::Kind::Pages, cb});
  ring.waited = std::max(ring.waited, count);
}

void KernelRun::popFront(uint32_t cb, uint32_t count) {
  Ring &ring = this->ring(cb, "cb_pop_front");
  if (count > ring.waited)
    fail("cb_pop_front", "pops " + pages(count) + " of port " + std::to_string(cb) + ", of which cb_wait_front has " +
                             "waited for " + std::to_string(ring.waited));
  settleClock();
  clock.waitForTransfers();
  if (count)
    ring.poppedAt.note(ring.popped + count, clock.now, ring.pushed - std::min<uint64_t>(ring.pushed, ring.pages));
  pauses = 0;
  std::atomic_ref(ring.popped).store(ring.popped + count);
  ring.waited -= count;
}

void KernelRun::reserveBack(uint32_t cb, uint32_t count) {
  Ring &ring = this->ring(cb, "cb_reserve_back");
  if (count > ring.pages)
    fail("cb_reserve_back",
         "reserves " + pages(count) + " of port " + std::to_string(cb) + ", which has " + std::to_string(ring.pages));
  waitFor({&ring, false, count});
  settleClock();
  if (const uint64_t end = ring.pushed + count; count && end > ring.pages)
    clock.waitUntil(ring.poppedAt.of(end - 1 - ring.pages), {Awaited::Kind::Room, cb});
  ring.reserved = std::max(ring.reserved, count);
}

void KernelRun::pushBack(uint32_t cb, uint32_t count) {
  Ring &ring = this->ring(cb, "cb_push_back");
  if (count > ring.reserved)
    fail("cb_push_back", "pushes " + pages(count) + " to port " + std::to_string(cb) + ", of which cb_reserve_back " +
                             "has reserved " + std::to_string(ring.reserved));
  // The pointers of a circular buffer belong to one processor.
  if (count && ring.producer && ring.producer != this)
    fail("cb_push_back", "pushes to port " + std::to_string(cb) + ", to which kernel " +
                             std::string(ring.producer->kernel.symbol) +
                             " has pushed; one kernel fills a circular buffer");
  ring.producer = count ? this : ring.producer;
  settleClock();
  clock.waitForTransfers();
  if (count)
    ring.pushedAt.note(ring.pushed + count, clock.now, ring.popped);
  pauses = 0;
  std::atomic_ref(ring.pushed).store(ring.pushed + count);
  ring.reserved -= count;
  ring.packed = 0;
}

namespace {

/// The offset of `bytes` bytes from page `page` on, after `first` pages among all used ones; they have to be
/// contiguous.
uint32_t offsetOf(const KernelRun &run, const Ring &ring, uint64_t first, uint32_t page, uint64_t bytes,
                  std::string_view function) {
  const auto start = static_cast<uint32_t>(first % ring.pages);
  const uint64_t offset = (uint64_t(start) + page) * ring.pageBytes, end = uint64_t(ring.pages) * ring.pageBytes;
  if (offset + bytes > end)
    run.fail(function, "page " + std::to_string(page) + " of port " + std::to_string(ring.port) +
                           " lies behind the end of its ring: the first is page " + std::to_string(start) + " of " +
                           std::to_string(ring.pages) +
                           "; wait for and reserve numbers of pages that divide those of the ring");
  return static_cast<uint32_t>(offset);
}

} // namespace

void PageTimes::note(uint64_t end, double now, uint64_t past) {
  while (first < calls.size() && calls[first].end <= past)
    ++first;
  if (2 * first >= calls.size()) {
    calls.erase(calls.begin(), calls.begin() + static_cast<int64_t>(first));
    first = 0;
  }
  calls.push_back({end, now});
}

double PageTimes::of(uint64_t page) const {
  return std::ranges::upper_bound(calls.begin() + static_cast<int64_t>(first), calls.end(), page, {}, &Call::end)->now;
}

void HostRows::read(uint64_t first, uint64_t count, std::byte *to) const {
  const uint64_t there = bytes ? std::min(count, rows - std::min(rows, first)) : 0;
  for (uint64_t i = 0; i < there; ++i, to += shardBytes) {
    std::memcpy(to, row(first + i), bytes);
    std::memset(to + bytes, 0, shardBytes - bytes);
  }
  std::memset(to, 0, (count - there) * shardBytes);
}

void HostRows::write(uint64_t first, uint64_t count, const std::byte *from) const {
  const uint64_t there = bytes ? std::min(count, rows - std::min(rows, first)) : 0;
  for (uint64_t i = 0; i < there; ++i, from += shardBytes)
    std::memcpy(row(first + i), from, bytes);
}

void Ring::fill(uint64_t page, std::byte *at) {
  const Place place = std::exchange(places[page], Place::L1);
  if (place == Place::Zero)
    std::memset(at, 0, pageBytes);
  else if (place == Place::Host)
    hostRows->read(page * pageBytes / hostRows->shardBytes, pageBytes / hostRows->shardBytes, at);
}

std::byte *Ring::hostBytes(uint32_t offset, uint64_t bytes, size_t rowBytes, bool written) {
  if (!hostRows || rowBytes != hostRows->shardBytes || isResult != written || offset % pageBytes || bytes % pageBytes)
    return nullptr;
  const uint64_t row = offset / rowBytes;
  const auto first = places.begin() + offset / pageBytes, end = first + static_cast<int64_t>(bytes / pageBytes);
  if (!hostRows->hasAll(row, bytes / rowBytes) || std::find(first, end, Place::L1) != end)
    return nullptr;
  if (written)
    std::fill(first, end, Place::Host);
  return hostRows->row(row);
}

void Ring::settle(const L1 &l1, CoreIndex index) {
  for (uint64_t page = 0; page < places.size(); ++page) {
    std::byte *const at = l1.at(index, address + static_cast<uint32_t>(page) * pageBytes);
    if (places[page] == Place::Zero)
      fill(page, at);
    if (isResult && hostRows && places[page] == Place::L1)
      hostRows->write(page * pageBytes / hostRows->shardBytes, pageBytes / hostRows->shardBytes, at);
  }
  places.clear();
  hostRows.reset();
}

std::byte *KernelRun::ringBytes(Ring &ring, uint32_t offset, uint64_t bytes, bool written) const {
  std::byte *const first = core.l1.at(core.index, ring.address), *const begin = first + offset;
  if (ring.places.empty() || !bytes)
    return begin;
  std::byte *const end = begin + bytes;
  for (uint64_t page = offset / ring.pageBytes; page <= (offset + bytes - 1) / ring.pageBytes; ++page) {
    std::byte *const from = first + page * ring.pageBytes, *const to = from + ring.pageBytes;
    if (ring.places[page] == Ring::Place::L1)
      continue;
    if (!written || (ring.places[page] == Ring::Place::Host && (from < begin || to > end))) {
      ring.fill(page, from);
      continue;
    }
    if (from < begin)
      std::memset(from, 0, static_cast<size_t>(begin - from));
    if (to > end)
      std::memset(end, 0, static_cast<size_t>(to - end));
    ring.places[page] = Ring::Place::L1;
  }
  return begin;
}

const std::byte *KernelRun::frontTile(uint32_t cb, uint32_t tile, std::string_view function) const {
  Ring &ring = this->ring(cb, function);
  const size_t bytes = sim::tileBytes(ring.dtype);
  if (tile >= ring.waited)
    fail(function, "tile " + std::to_string(tile) + " of port " + std::to_string(cb) + " is not there: cb_wait_front " +
                       "has waited for " + pages(ring.waited));
  if (ring.pageBytes < bytes)
    fail(function, "a page of port " + std::to_string(cb) + " has " + std::to_string(ring.pageBytes) +
                       " bytes, a tile of " + std::string(toString(ring.dtype)) + " " + std::to_string(bytes));
  return ringBytes(ring, offsetOf(*this, ring, ring.popped, tile, bytes, function), bytes, false);
}

std::byte *KernelRun::backTile(uint32_t cb, uint32_t page, std::string_view function, bool written) const {
  Ring &ring = this->ring(cb, function);
  const size_t bytes = sim::tileBytes(ring.dtype);
  if (page >= ring.reserved)
    fail(function, "there is no room for tile " + std::to_string(page) + " in port " + std::to_string(cb) +
                       ": cb_reserve_back has reserved " + pages(ring.reserved));
  if (ring.pageBytes < bytes)
    fail(function, "a page of port " + std::to_string(cb) + " has " + std::to_string(ring.pageBytes) +
                       " bytes, a tile of " + std::string(toString(ring.dtype)) + " " + std::to_string(bytes));
  return ringBytes(ring, offsetOf(*this, ring, ring.pushed, page, bytes, function), bytes, written);
}

KernelRun::ElementRows KernelRun::frontRows(uint32_t cb, uint64_t bytes, size_t rowBytes,
                                            std::string_view function) const {
  Ring &ring = this->ring(cb, function);
  if (bytes > uint64_t(ring.waited) * ring.pageBytes)
    fail(function, "reads " + std::to_string(bytes) + " bytes of port " + std::to_string(cb) +
                       ", but cb_wait_front has waited for " + pages(ring.waited) + " of " +
                       std::to_string(ring.pageBytes));
  const uint32_t offset = offsetOf(*this, ring, ring.popped, 0, bytes, function);
  if (std::byte *const rows = ring.hostBytes(offset, bytes, rowBytes, false))
    return {rows, ring.hostRows->stride};
  return {ringBytes(ring, offset, bytes, false), rowBytes};
}

KernelRun::ElementRows KernelRun::backRows(uint32_t cb, uint64_t bytes, size_t rowBytes, std::string_view function) {
  Ring &ring = this->ring(cb, function);
  const uint64_t first = uint64_t(ring.packed) * ring.pageBytes;
  if (first + bytes > uint64_t(ring.reserved) * ring.pageBytes)
    fail(function, "writes " + std::to_string(bytes) + " bytes to port " + std::to_string(cb) +
                       ", but cb_reserve_back has reserved " + pages(ring.reserved) + " of " +
                       std::to_string(ring.pageBytes) + ", of which " + std::to_string(ring.packed) + " are written");
  const uint32_t offset = offsetOf(*this, ring, ring.pushed, ring.packed, bytes, function);
  ring.packed += static_cast<uint32_t>((bytes + ring.pageBytes - 1) / ring.pageBytes);
  if (std::byte *const rows = ring.hostBytes(offset, bytes, rowBytes, true))
    return {rows, ring.hostRows->stride};
  return {ringBytes(ring, offset, bytes, true), rowBytes};
}

} // namespace tt::metal
