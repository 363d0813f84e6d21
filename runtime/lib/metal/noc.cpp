//===- noc.cpp - transfers and semaphores of a kernel ---------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "metal/core.h"
#include "tt/metal/kernel_api.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace tt::metal {
namespace {

constexpr uint64_t coordinateMask = (uint64_t(1) << noc_coordinate_bits) - 1;
constexpr uint64_t addressMask = (uint64_t(1) << noc_address_bits) - 1;

/// Coordinate `number` of an address: x and y of a core, or of the last core of a rectangle, then those of its first.
uint64_t coordinateOf(uint64_t address, uint32_t number) {
  return address >> (noc_address_bits + number * noc_coordinate_bits) & coordinateMask;
}

/// A coordinate in the grid of worker cores, of that or of what worker_core_from_logical_core returns on Wormhole. The
/// coordinates of Blackhole's network are those of other cores in its grid, too.
uint64_t inGrid(const sim::ChipDesc &chip, uint64_t coordinate) {
  constexpr uint64_t first = 18;
  return chip.arch == Arch::WormholeB0 && coordinate >= first ? coordinate - first : coordinate;
}

/// A NOC address of cores with all coordinates in the grid.
uint64_t inGridAddress(const sim::ChipDesc &chip, uint64_t address) {
  uint64_t result = address & addressMask;
  for (uint32_t number = 0; number < 4; ++number)
    result |= inGrid(chip, coordinateOf(address, number)) << (noc_address_bits + number * noc_coordinate_bits);
  return result;
}

std::atomic_ref<uint32_t> word(const std::byte *at) {
  return std::atomic_ref(*reinterpret_cast<uint32_t *>(const_cast<std::byte *>(at)));
}

} // namespace

uint32_t loadSemaphore(const std::byte *at) { return word(at).load(std::memory_order_acquire); }

//===- Places -------------------------------------------------------------===//

void KernelRun::requireOthers(std::string_view function) const {
  if (core.alone)
    fail(function, "reaches memory outside of the core, and the kernel's source shows no such function");
}

CoreIndex KernelRun::coreAt(uint64_t x, uint64_t y, std::string_view function) const {
  requireOthers(function);
  const sim::ChipDesc &chip = core.l1.chip;
  const uint64_t column = inGrid(chip, x), row = inGrid(chip, y);
  if (column >= static_cast<uint64_t>(chip.gridColumns) || row >= static_cast<uint64_t>(chip.gridRows))
    fail(function, "the NOC address is of core (y=" + std::to_string(y) + ", x=" + std::to_string(x) +
                       "); the grid has " + std::to_string(chip.gridRows) + "x" + std::to_string(chip.gridColumns) +
                       " cores");
  return static_cast<CoreIndex>(row * static_cast<uint64_t>(chip.gridColumns) + column);
}

std::byte *KernelRun::coreBytes(CoreIndex index, uint64_t address, uint32_t bytes, std::string_view function) const {
  return coreBytes(core.l1, index, address, bytes, function);
}

std::byte *KernelRun::coreBytes(const L1 &l1, CoreIndex index, uint64_t address, uint32_t bytes,
                                std::string_view function) const {
  address = core.l1.plain(address);
  const sim::ChipDesc &chip = core.l1.chip;
  const auto base = static_cast<uint64_t>(chip.l1UnreservedBase), end = static_cast<uint64_t>(chip.l1Size);
  if (address < base || address > end || bytes > end - address)
    fail(function, std::to_string(bytes) + " bytes at address " + std::to_string(address) + " of core " +
                       coreText(chip, index) + " are not in its L1, from " + std::to_string(base) + " to " +
                       std::to_string(end));
  return l1.at(index, static_cast<uint32_t>(address));
}

uint32_t KernelRun::bankCount(bool dram) const {
  return static_cast<uint32_t>(dram ? core.l1.chip.dramChannels : core.l1.chip.cores());
}

uint32_t KernelRun::bankAlignment(bool dram) const {
  return static_cast<uint32_t>(dram ? core.l1.chip.dramAlignment : core.l1.chip.l1Alignment);
}

uint64_t KernelRun::bankAddress(bool dram, uint32_t bank, uint64_t address) const {
  if (bank >= bankCount(dram))
    fail("get_noc_addr_from_bank_id", "there is no bank " + std::to_string(bank) + " of " + (dram ? "DRAM" : "L1") +
                                          "; there are " + std::to_string(bankCount(dram)));
  if (address > addressMask)
    fail("get_noc_addr_from_bank_id",
         "address " + std::to_string(address) + " has more than " + std::to_string(noc_address_bits) + " bits");
  if (dram)
    return noc_dram_bit | uint64_t(bank) << noc_address_bits | address;
  const auto columns = static_cast<uint32_t>(core.l1.chip.gridColumns);
  return uint64_t(bank / columns) << (noc_address_bits + noc_coordinate_bits) |
         uint64_t(bank % columns) << noc_address_bits | address;
}

std::byte *KernelRun::dramBytes(const Dram *dram, uint64_t address, uint32_t bytes, std::string_view function) const {
  requireOthers(function);
  const sim::ChipDesc &chip = core.l1.chip;
  const uint64_t bank = coordinateOf(address, 0), at = address & addressMask;
  const auto size = static_cast<uint64_t>(chip.dramChannelSize);
  if (!dram || address & ~(noc_dram_bit | addressMask | coordinateMask << noc_address_bits) ||
      bank >= static_cast<uint64_t>(chip.dramChannels))
    fail(function, "the NOC address is of no bank of DRAM; there are " + std::to_string(dram ? chip.dramChannels : 0));
  if (at > size || bytes > size - at)
    fail(function, std::to_string(bytes) + " bytes at address " + std::to_string(at) + " are not in bank " +
                       std::to_string(bank) + " of DRAM, which has " + std::to_string(size));
  return dram->at(static_cast<uint32_t>(bank), at);
}

std::byte *KernelRun::nocBytes(uint64_t address, uint32_t bytes, std::string_view function) const {
  return nocBytes({&core.l1, core.dram}, address, bytes, function);
}

std::byte *KernelRun::nocBytes(const ChipMemory &chip, uint64_t address, uint32_t bytes,
                               std::string_view function) const {
  if (address & noc_dram_bit)
    return dramBytes(chip.dram, address, bytes, function);
  if (coordinateOf(address, 2) || coordinateOf(address, 3))
    fail(function, "the NOC address is of a rectangle of cores; expected one core");
  return coreBytes(*chip.l1, coreAt(coordinateOf(address, 0), coordinateOf(address, 1), function),
                   address & addressMask, bytes, function);
}

void KernelRun::checkUnread(CoreIndex index, uint64_t address, uint32_t bytes, std::string_view function) const {
  address = core.l1.plain(address);
  const Core *target = index < core.all.size() ? core.all[index] : nullptr;
  if (!target)
    return;
  for (const auto &ring : target->rings) {
    if (!ring || address + bytes <= ring->address || address >= ring->address + uint64_t(ring->pages) * ring->pageBytes)
      continue;
    const uint64_t popped = ring->poppedNow(), pushed = ring->pushedNow();
    const uint64_t first = address <= ring->address ? 0 : (address - ring->address) / ring->pageBytes;
    const uint64_t last = std::min<uint64_t>((address + bytes - 1 - ring->address) / ring->pageBytes, ring->pages - 1);
    for (uint64_t page = popped; page < pushed; ++page)
      if (page % ring->pages >= first && page % ring->pages <= last)
        fail(function, "a race: it writes page " + std::to_string(page % ring->pages) + " of port " +
                           std::to_string(ring->port) + " of core " + coreText(core.l1.chip, index) +
                           ", which was pushed and is not popped yet");
  }
}

void KernelRun::checkUnread(uint64_t to, uint32_t bytes, std::string_view function) const {
  if (!(to & noc_dram_bit))
    checkUnread(coreAt(coordinateOf(to, 0), coordinateOf(to, 1), function), to & addressMask, bytes, function);
}

void KernelRun::countTransfer(uint64_t address, uint32_t bytes, TransferKind kind) {
  const auto columns = static_cast<uint64_t>(core.l1.chip.gridColumns);
  uint64_t hops = 1; // to a bank of DRAM
  if (!(address & noc_dram_bit)) {
    address = inGridAddress(core.l1.chip, address);
    const auto away = [](uint64_t a, uint64_t b) { return a > b ? a - b : b - a; };
    hops = away(coordinateOf(address, 0), core.index % columns) + away(coordinateOf(address, 1), core.index / columns);
  }
  work.movedBytes += bytes;
  clock.move(bytes, hops, core.l1.chip.speed);
  if (recording)
    recording->flows[{address & ~addressMask, kind}] += bytes;
}

//===- Transfers ----------------------------------------------------------===//

void KernelRun::nocRead(uint64_t from, uint32_t to, uint32_t bytes) {
  const std::byte *source = nocBytes(from, bytes, "noc_async_read");
  std::byte *target = coreBytes(core.index, to, bytes, "noc_async_read");
  checkUnread(core.index, to, bytes, "noc_async_read");
  std::memmove(target, source, bytes);
  countTransfer(from, bytes, TransferKind::Read);
}

void KernelRun::nocWrite(uint32_t from, uint64_t to, uint32_t bytes) {
  pauses = 0;
  const std::byte *source = coreBytes(core.index, from, bytes, "noc_async_write");
  std::byte *target = nocBytes(to, bytes, "noc_async_write");
  checkUnread(to, bytes, "noc_async_write");
  std::memmove(target, source, bytes);
  countTransfer(to, bytes);
}

void KernelRun::nocWriteWord(uint64_t to, uint32_t value) {
  pauses = 0;
  constexpr std::string_view function = "noc_inline_dw_write";
  std::byte *target = nocBytes(to, sizeof value, function);
  if (reinterpret_cast<uintptr_t>(target) % sizeof value)
    fail(function, "address " + std::to_string(to & addressMask) + " is no multiple of 4");
  checkUnread(to, sizeof value, function);
  word(target).store(value, std::memory_order_release);
  countTransfer(to, sizeof value);
}

uint32_t KernelRun::loadWord(uint32_t address) const {
  constexpr std::string_view function = "load_from_l1";
  const std::byte *from = coreBytes(core.index, address, sizeof(uint32_t), function);
  if (reinterpret_cast<uintptr_t>(from) % sizeof(uint32_t))
    fail(function, "address " + std::to_string(address) + " is no multiple of 4");
  return word(from).load(std::memory_order_relaxed);
}

void KernelRun::fabricWrite(uint32_t device, uint64_t to, uint32_t from, uint32_t bytes) {
  constexpr std::string_view function = "fabric_fast_write_any_len";
  const Mesh &mesh = core.mesh;
  const size_t chips = std::max<size_t>(mesh.chips.size(), 1);
  if (device >= chips)
    fail(function, "there is no chip " + std::to_string(device) + "; the mesh has " + std::to_string(chips));
  if (device == mesh.own)
    return nocWrite(from, to, bytes);
  pauses = 0;
  const std::byte *source = coreBytes(core.index, from, bytes, function);
  std::memcpy(nocBytes(mesh.chips[device], to, bytes, function), source, bytes);
  // Along the row of the mesh, then along its column.
  const auto away = [](int64_t a, int64_t b) { return a > b ? a - b : b - a; };
  const int64_t hops =
      away(device % mesh.columns, mesh.own % mesh.columns) + away(device / mesh.columns, mesh.own / mesh.columns);
  work.fabricBytes += hops * bytes;
  work.fabricHops = std::max(work.fabricHops, hops);
  countTransfer(bankAddress(false, core.index, 0), bytes); // to the core of the link
}

std::vector<CoreIndex> KernelRun::receivers(uint64_t address, uint32_t count, bool own,
                                            std::string_view function) const {
  if (address & noc_dram_bit)
    fail(function, "the NOC address is of a bank of DRAM; expected a rectangle of cores");
  const uint64_t xEnd = coordinateOf(address, 0), yEnd = coordinateOf(address, 1), xStart = coordinateOf(address, 2),
                 yStart = coordinateOf(address, 3);
  if (xStart > xEnd || yStart > yEnd)
    fail(function, "the rectangle from (y=" + std::to_string(yStart) + ", x=" + std::to_string(xStart) +
                       ") to (y=" + std::to_string(yEnd) + ", x=" + std::to_string(xEnd) + ") has no cores");
  std::vector<CoreIndex> result;
  for (uint64_t y = yStart; y <= yEnd; ++y)
    for (uint64_t x = xStart; x <= xEnd; ++x)
      if (const CoreIndex index = coreAt(x, y, function); own || index != core.index)
        result.push_back(index);
  if (result.size() != count)
    fail(function, "waits for " + std::to_string(count) + " receivers; the rectangle has " +
                       std::to_string(result.size()) + (own ? "" : " besides the sender"));
  return result;
}

void KernelRun::nocMulticast(uint32_t from, uint64_t to, uint32_t bytes, uint32_t count, bool own) {
  pauses = 0;
  const std::string_view function = own ? "noc_async_write_multicast_loopback_src" : "noc_async_write_multicast";
  const std::byte *source = coreBytes(core.index, from, bytes, function);
  for (CoreIndex index : receivers(to, count, own, function)) {
    std::byte *target = coreBytes(index, to & addressMask, bytes, function);
    if (index != core.index)
      checkUnread(index, to & addressMask, bytes, function);
    std::memmove(target, source, bytes);
  }
  countTransfer(to, bytes, TransferKind::Multicast);
}

//===- Semaphores ---------------------------------------------------------===//

uint32_t KernelRun::semaphoreAddress(uint32_t id) const {
  if (id >= maxSemaphores)
    fail("get_semaphore",
         "there is no semaphore " + std::to_string(id) + "; there are " + std::to_string(maxSemaphores));
  return core.l1.pointer(core.index,
                         static_cast<uint32_t>(core.l1.chip.l1UnreservedBase) - (maxSemaphores - id) * semaphoreBytes);
}

std::byte *KernelRun::semaphoreAt(CoreIndex index, uint64_t address, std::string_view function) const {
  address = core.l1.plain(address);
  const auto end = static_cast<uint64_t>(core.l1.chip.l1UnreservedBase);
  const uint64_t begin = end - maxSemaphores * semaphoreBytes;
  if (address >= end && core.l1.hasPointers() && address % sizeof(uint32_t) == 0) // in a buffer
    return coreBytes(index, address, sizeof(uint32_t), function);
  if (address < begin || address >= end || (address - begin) % semaphoreBytes)
    fail(function, "there is no semaphore at address " + std::to_string(address) + "; get_semaphore gives addresses");
  return core.l1.at(index, static_cast<uint32_t>(address));
}

void KernelRun::stampSemaphore(CoreIndex index, uint64_t address) {
  pauses = 0;
  const auto end = static_cast<uint64_t>(core.l1.chip.l1UnreservedBase);
  const uint64_t plain = core.l1.plain(address), begin = end - maxSemaphores * semaphoreBytes;
  Core *target = index < core.all.size() ? core.all[index] : nullptr;
  if (!target || plain < begin || plain >= end)
    return;
  const auto columns = static_cast<int64_t>(core.l1.chip.gridColumns);
  const int64_t from = core.index, to = index;
  const auto hops = std::abs(from / columns - to / columns) + std::abs(from % columns - to % columns);
  settleClock();
  target->semaphoreTimes[(plain - begin) / semaphoreBytes].changed(std::max(clock.now, clock.landed) +
                                                                   static_cast<double>(hops) * hopCycles);
}

void KernelRun::semaphoreIncrease(uint64_t to, uint32_t value) {
  if (to >> (noc_address_bits + 2 * noc_coordinate_bits))
    fail("noc_semaphore_inc", "the NOC address is of DRAM or of a rectangle of cores; expected one core");
  const CoreIndex index = coreAt(coordinateOf(to, 0), coordinateOf(to, 1), "noc_semaphore_inc");
  stampSemaphore(index, to & addressMask);
  word(semaphoreAt(index, to & addressMask, "noc_semaphore_inc")).fetch_add(value, std::memory_order_acq_rel);
}

void KernelRun::semaphoreSet(uint32_t address, uint32_t value) {
  stampSemaphore(core.index, address);
  word(semaphoreAt(core.index, address, "noc_semaphore_set")).store(value, std::memory_order_release);
}

void KernelRun::semaphoreMulticast(uint32_t from, uint64_t to, uint32_t count, bool own) {
  constexpr std::string_view function = "noc_semaphore_set_multicast";
  const uint32_t value = loadSemaphore(semaphoreAt(core.index, from, function));
  for (CoreIndex index : receivers(to, count, own, function)) {
    stampSemaphore(index, to & addressMask);
    word(semaphoreAt(index, to & addressMask, function)).store(value, std::memory_order_release);
  }
}

void KernelRun::semaphoreWait(uint32_t address, uint32_t value, bool orMore) {
  Wait what;
  what.semaphore = semaphoreAt(core.index, address, orMore ? "noc_semaphore_wait_min" : "noc_semaphore_wait");
  const auto plain = static_cast<uint32_t>(core.l1.plain(address));
  const uint32_t first = static_cast<uint32_t>(core.l1.chip.l1UnreservedBase) - maxSemaphores * semaphoreBytes;
  what.id = (plain - first) / semaphoreBytes;
  what.address = what.id < maxSemaphores ? 0 : plain;
  what.value = value;
  what.orMore = orMore;
  waitFor(what);
  settleClock();
  if (what.id < maxSemaphores)
    clock.waitUntil(core.semaphoreTimes[what.id].at(), {Awaited::Kind::Semaphore, what.id});
}

} // namespace tt::metal
