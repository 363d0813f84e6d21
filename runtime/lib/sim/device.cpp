//===- device.cpp - a simulated mesh of chips -----------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "tt/sim/device.h"
#include "tt/sim/published.h"
#include "tt/units.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <utility>

namespace tt::sim {
namespace {

std::atomic<uint32_t> nextNumber{0};

/// "1,474,560": people read numbers of bytes.
std::string grouped(int64_t number) {
  std::string digits = std::to_string(number);
  for (int64_t i = static_cast<int64_t>(digits.size()) - 3; i > (number < 0 ? 1 : 0); i -= 3)
    digits.insert(static_cast<size_t>(i), ",");
  return digits;
}

constexpr size_t residentsShown = 5;

} // namespace

MeshOptions meshOptions(std::string_view preset) {
  const MeshPreset &found = meshPreset(preset);
  MeshOptions options;
  options.arch = found.arch;
  options.rows = found.rows;
  options.columns = found.columns;
  return options;
}

std::string_view toString(Memory memory) {
  constexpr std::array<std::string_view, memoryCount> names = {"DRAM", "L1", "L1_SMALL", "TRACE"};
  return names[static_cast<size_t>(memory)];
}

Memory memoryOf(BufferType type) {
  switch (type) {
  case BufferType::DRAM:
    return Memory::DRAM;
  case BufferType::L1:
    return Memory::L1;
  case BufferType::L1Small:
    return Memory::L1Small;
  case BufferType::Trace:
    return Memory::Trace;
  case BufferType::SystemMemory:
    break;
  }
  throw Error("system memory is not a memory of the device");
}

Memories::Memories(const ChipDesc &chip, const MeshOptions &options, uint32_t device) : chip(chip), device(device) {
  // Both regions are at the end of their memory; the trace region is spread over all channels.
  const int64_t smallBase = chip.l1Size - options.l1SmallSize;
  const int64_t tracePerBank = (options.traceRegionSize + chip.dramChannels - 1) / chip.dramChannels;
  const int64_t traceBase = chip.dramUnreservedEnd - tracePerBank;
  banks.reserve(memoryCount);
  banks.emplace_back(chip.dramUnreservedBase, traceBase, chip.dramAlignment, Fit::Lowest);
  banks.emplace_back(chip.l1UnreservedBase, smallBase, chip.l1Alignment, Fit::Highest);
  banks.emplace_back(smallBase, chip.l1Size, chip.l1Alignment, Fit::Highest);
  banks.emplace_back(traceBase, chip.dramUnreservedEnd, chip.dramAlignment, Fit::Lowest);
}

int64_t Memories::bankCount(Memory memory) const {
  return memory == Memory::DRAM || memory == Memory::Trace ? chip.dramChannels : chip.cores();
}

Block Memories::allocate(const Footprint &footprint, const Label &label) {
  const Memory memory = memoryOf(footprint.buffer);
  if (auto block = (*this)[memory].allocate(footprint.bytesPerBank, label))
    return *block;
  outOfMemory(footprint, memory, label);
}

void Memories::requireCircular(int64_t bytes, const Label &label) const {
  const BankAllocator &l1 = (*this)[Memory::L1];
  const int64_t end = l1.begin() + bytes;
  if (end <= l1.lowest())
    return;
  std::string text = "out of L1 on device " + std::to_string(device) + " (" + std::string(toString(chip.arch)) +
                     "): the circular buffers of " + label.text() + " take " + grouped(bytes) +
                     " bytes of each core, from " + grouped(l1.begin()) + " to " + grouped(end);
  if (end > chip.l1Size)
    throw OutOfMemoryError(text + "; L1 ends at " + grouped(chip.l1Size));
  const auto residents = l1.residents();
  const std::string other = residents.empty() ? "a buffer of a sub-mesh" : residents.front().label;
  throw OutOfMemoryError(text + ", and clash with " + other + " at " + grouped(l1.lowest()) +
                         "; use smaller blocks, or put tensors into DRAM");
}

void Memories::clear() {
  generationNumber.fetch_add(1, std::memory_order_release);
  for (BankAllocator &bank : banks)
    bank.clear();
}

void Memories::attach(Memories &part) {
  for (size_t i = 0; i < banks.size(); ++i)
    banks[i].attach(part.banks[i]);
}

void Memories::detach(Memories &part) {
  for (size_t i = 0; i < banks.size(); ++i)
    banks[i].detach(part.banks[i]);
}

uint64_t Memories::fingerprint() const {
  uint64_t result = generation();
  for (const BankAllocator &bank : banks)
    result = result * 0x9e3779b97f4a7c15u + bank.fingerprint();
  return result;
}

void Memories::outOfMemory(const Footprint &footprint, Memory memory, const Label &label) const {
  const BankAllocator &bank = (*this)[memory];
  std::string text = "out of " + std::string(toString(memory)) + " on device " + std::to_string(device) + " (" +
                     std::string(toString(chip.arch)) + "): " + label.text() + " needs " +
                     grouped(footprint.totalBytes()) + " bytes in total, " + grouped(footprint.bytesPerBank) +
                     " per bank on " + std::to_string(footprint.banks) + " of " + std::to_string(bankCount(memory)) +
                     " banks; free per bank are " + grouped(bank.free()) + " of " + grouped(bank.capacity()) +
                     " bytes, the largest piece " + grouped(bank.largestFree());
  // Buffers of one origin are listed together: outputs of many runs that the caller keeps, for example.
  struct Origin {
    int64_t buffers = 0, bytes = 0;
  };
  std::map<std::string, Origin> origins;
  for (const auto &[block, origin] : bank.residents()) {
    ++origins[origin].buffers;
    origins[origin].bytes += block.bytes;
  }
  if (origins.empty())
    throw OutOfMemoryError(text + "; nothing else is resident");
  std::vector<std::pair<std::string, Origin>> largest(origins.begin(), origins.end());
  const size_t shown = std::min(largest.size(), residentsShown);
  std::partial_sort(largest.begin(), largest.begin() + static_cast<int64_t>(shown), largest.end(),
                    [](const auto &a, const auto &b) { return a.second.bytes > b.second.bytes; });
  text += "; the largest that are resident: ";
  for (size_t i = 0; i < shown; ++i) {
    const auto &[name, origin] = largest[i];
    text += (i ? ", " : "") + name + " (" + grouped(origin.bytes) +
            (origin.buffers > 1 ? " in " + grouped(origin.buffers) + " buffers)" : ")");
  }
  throw OutOfMemoryError(text);
}

Allocation &Allocation::operator=(Allocation &&other) noexcept {
  if (this != &other) {
    release();
    device = std::move(other.device);
    memory = other.memory;
    block = std::exchange(other.block, {});
    generation = other.generation;
  }
  return *this;
}

bool Allocation::valid() const {
  const auto owner = device.lock();
  return owner && validOn(*owner);
}

bool Allocation::validOn(const MeshDevice &owner) const {
  return block.bytes && owner.isOpen() && generation == owner.memories.generation();
}

void Allocation::release() noexcept {
  if (!block.bytes)
    return;
  if (const auto owner = device.lock()) {
    try {
      std::lock_guard lock(owner->memoryMutex());
      // After deallocateAll the address may belong to another buffer.
      if (generation == owner->memories.generation()) {
        owner->memories[memory].deallocate(block.address);
        published::noteMemory(owner->number, memory, owner->memories, owner->whole ? &owner->whole->memories : nullptr);
      }
    } catch (const Error &) { // in a forked child, where nothing can be allocated on this device any more
    }
  }
  block = {};
  device.reset();
}

namespace {

/// Checks that settings are the same on all ranks, so that all compute the same bits.
void agree(Ranks &ranks, const MeshOptions &options) {
  const auto number = [](auto value) { return std::to_string(value); };
  ranks.agree("the version of the runtime", runtimeBuild());
  ranks.agree("the vector units of the processor (see TTRT_UNITS)", tt::toString(units()));
  ranks.agree("mesh_shape", number(options.rows) + "x" + number(options.columns));
  ranks.agree("arch", toString(options.arch));
  ranks.agree("l1_small_size", number(options.l1SmallSize));
  ranks.agree("trace_region_size", number(options.traceRegionSize));
  ranks.agree("program_cache", options.programCache ? "on" : "off");
  ranks.agree("exact", options.exact ? "on" : "off");
  ranks.agree("strict", options.strict ? "on" : "off");
  ranks.agree("library_memory", options.libraryMemory ? "on" : "off");
}

const ChipDesc &chipOf(const MeshOptions &options) {
  return options.libraryMemory ? libraryChip(options.arch) : sim::chip(options.arch);
}

} // namespace

std::shared_ptr<MeshDevice> MeshDevice::open(const MeshOptions &options, std::shared_ptr<Ranks> ranks) {
  if (ranks)
    agree(*ranks, options);
  const uint64_t chips = uint64_t(options.rows) * options.columns;
  if (chips == 0 || chips > maxChips)
    throw DeviceError("a mesh of " + std::to_string(options.rows) + "x" + std::to_string(options.columns) +
                      " chips cannot be opened; expected 1 to " + std::to_string(maxChips) + " chips");
  if (options.exact && options.arch != Arch::WormholeB0)
    throw DeviceError("exact: the arithmetic of " + std::string(toString(options.arch)) +
                      " is not published; expected wormhole_b0");
  const ChipDesc &desc = chipOf(options);
  const int64_t l1 = desc.l1Size - desc.l1UnreservedBase;
  if (options.l1SmallSize < 0 || options.l1SmallSize > l1)
    throw DeviceError("l1_small_size is " + std::to_string(options.l1SmallSize) + " bytes, but a core has " +
                      std::to_string(l1));
  const int64_t dram = (desc.dramUnreservedEnd - desc.dramUnreservedBase) * desc.dramChannels;
  if (options.traceRegionSize < 0 || options.traceRegionSize > dram)
    throw DeviceError("trace_region_size is " + std::to_string(options.traceRegionSize) + " bytes, but a chip has " +
                      std::to_string(dram) + " bytes of DRAM");
  return std::shared_ptr<MeshDevice>(new MeshDevice(options, chips > 1 ? std::move(ranks) : nullptr));
}

MeshDevice::MeshDevice(const MeshOptions &options, std::shared_ptr<Ranks> ranks, std::shared_ptr<MeshDevice> whole,
                       const Rectangle &placed, Holder holder)
    : number(nextNumber.fetch_add(1)), desc(chipOf(options)), settings(options), whole(whole.get()), placed(placed),
      holder(holder), keepsWhole(holder == Holder::User ? std::move(whole) : nullptr),
      shared(ranks ? std::make_shared<const Partition>(ranks, options.rows * options.columns) : nullptr),
      memories(desc, options, number) {}

MeshDevice::~MeshDevice() {
  // Parts that belong to programs are kept with the programs, which may be kept with this.
  for (const auto &known : parts)
    if (const auto part = known.lock()) {
      if (part->isOpen())
        part->close();
      part->whole = nullptr;
    }
  published::withdraw(*this);
  if (whole && isOpen()) {
    std::lock_guard lock(whole->mutex);
    whole->memories.detach(memories);
  }
}

std::string toString(const Rectangle &rectangle) {
  return std::to_string(rectangle.rows) + "x" + std::to_string(rectangle.columns) + " chips at [" +
         std::to_string(rectangle.firstRow) + ", " + std::to_string(rectangle.firstColumn) + "]";
}

std::shared_ptr<MeshDevice> MeshDevice::createSubMesh(const Rectangle &rectangle, Holder holder) {
  requireOpen("create a sub-mesh");
  const std::string what = "a sub-mesh of " + toString(rectangle);
  const std::string mesh =
      "device " + std::to_string(number) + " (" + std::to_string(rows()) + "x" + std::to_string(columns()) + ")";
  if (whole)
    throw DeviceError(what + ": " + mesh + " is a sub-mesh itself; divide device " + std::to_string(whole->number) +
                      " instead");
  if (shared)
    throw DeviceError(what + ": " + mesh + " is shared by " + std::to_string(shared->ranks().size()) +
                      " processes, and sub-meshes need a mesh of one");
  if (!rectangle.rows || !rectangle.columns || rectangle.firstRow >= rows() || rectangle.firstColumn >= columns() ||
      rectangle.rows > rows() - rectangle.firstRow || rectangle.columns > columns() - rectangle.firstColumn)
    throw DeviceError(what + " is no part of " + mesh);
  std::lock_guard running(this->running);
  for (const auto &part : subMeshes()) {
    if (!part->placed.overlaps(rectangle))
      continue;
    if (part->holder == Holder::User)
      throw DeviceError(what + " overlaps with device " + std::to_string(part->number) + ", a sub-mesh of " +
                        toString(part->placed) + "; release it first");
    part->close();
  }
  MeshOptions options = settings;
  options.rows = rectangle.rows;
  options.columns = rectangle.columns;
  std::shared_ptr<MeshDevice> part(new MeshDevice(options, nullptr, shared_from_this(), rectangle, holder));
  {
    std::lock_guard lock(mutex);
    memories.attach(part->memories);
    inParts.resize(devices());
    std::erase_if(parts, [](const std::weak_ptr<MeshDevice> &known) { return known.expired(); });
    parts.push_back(part);
  }
  publish(*part);
  return part;
}

std::vector<std::shared_ptr<MeshDevice>> MeshDevice::subMeshes(std::optional<Holder> owner) const {
  std::vector<std::shared_ptr<MeshDevice>> open;
  std::lock_guard lock(mutex);
  for (const auto &known : parts)
    if (auto part = known.lock(); part && part->isOpen() && part->holder == owner.value_or(part->holder))
      open.push_back(std::move(part));
  return open;
}

void MeshDevice::requireOpen(const char *action) const {
  if (!isOpen())
    throw DeviceError(std::string(action) + ": device " + std::to_string(number) + " (" +
                      std::to_string(settings.rows) + "x" + std::to_string(settings.columns) + " " +
                      std::string(toString(desc.arch)) + ") is closed" +
                      published::closedBy(whole ? whole->number : number));
}

void MeshDevice::close() {
  requireOpen("close");
  std::lock_guard running(runMutex()); // waits for a run that is under way
  for (const auto &part : subMeshes())
    part->close();
  deallocateAll();
  opened.store(false, std::memory_order_release);
  if (whole) {
    std::lock_guard lock(whole->mutex);
    whole->memories.detach(memories);
  }
  published::withdraw(*this);
}

void MeshDevice::reshape(uint32_t rows, uint32_t columns) {
  requireOpen("reshape");
  if (uint64_t(rows) * columns != devices())
    throw DeviceError("a mesh of " + std::to_string(devices()) + " chips cannot become " + std::to_string(rows) + "x" +
                      std::to_string(columns));
  std::lock_guard running(runMutex());
  if (const auto open = subMeshes(); !open.empty())
    throw DeviceError("reshape: device " + std::to_string(number) + " has a sub-mesh of " +
                      toString(open.front()->placed) + ", device " + std::to_string(open.front()->number) +
                      "; release it first");
  settings.rows = rows;
  settings.columns = columns;
  published::noteShape(number, rows, columns);
  clearProgramCache();
}

Allocation MeshDevice::allocate(const Footprint &footprint, const Label &label) {
  if (footprint.buffer == BufferType::SystemMemory)
    return {};
  requireOpen("allocate");
  return withMemories([&](Memories &memories) {
    Allocation created = adopt(memoryOf(footprint.buffer), memories.allocate(footprint, label), memories.generation());
    published::noteMemory(number, memoryOf(footprint.buffer), memories, whole ? &whole->memories : nullptr);
    return created;
  });
}

void MeshDevice::deallocateAll() {
  withMemories([this](Memories &memories) {
    memories.clear();
    published::noteMemories(number, memories, whole ? &whole->memories : nullptr);
  });
  for (const auto &part : subMeshes()) // its chips are this mesh's
    part->deallocateAll();
}

MemoryView MeshDevice::memoryView(Memory memory) const {
  return withMemories([&](const Memories &memories) {
    const BankAllocator &bank = memories[memory];
    // A region of L1 without bytes has no banks; one of DRAM has, as in the library.
    const bool absent = memory == Memory::L1Small && bank.capacity() == 0;
    return MemoryView{absent ? 0 : memories.bankCount(memory),
                      bank.capacity(),
                      bank.allocated(),
                      bank.free(),
                      bank.largestFree(),
                      bank.peak(),
                      bank.residents(),
                      bank.freeBlocks()};
  });
}

std::string MeshDevice::memoryReport() const {
  std::string text = "device " + std::to_string(number) + ": " + std::to_string(settings.rows) + "x" +
                     std::to_string(settings.columns) + " " + std::string(toString(desc.arch)) + "\n";
  for (size_t i = 0; i < memoryCount; ++i) {
    const auto memory = static_cast<Memory>(i);
    const MemoryView view = memoryView(memory);
    if (!view.total)
      continue;
    text += std::string(toString(memory)) + ": " + std::to_string(view.banks) + " banks of " + grouped(view.total) +
            " bytes; per bank " + grouped(view.allocated) + " allocated, " + grouped(view.free) +
            " free, largest piece " + grouped(view.largestFree) + ", high-water mark " + grouped(view.peak) + "\n";
    for (const auto &[block, label] : view.blocks) {
      char line[64];
      std::snprintf(line, sizeof line, "  0x%010llx %14s  ", static_cast<unsigned long long>(block.address),
                    grouped(block.bytes).c_str());
      text += line + label + "\n";
    }
  }
  return text;
}

void MeshDevice::resetPeaks() {
  withMemories([](Memories &memories) {
    for (size_t i = 0; i < memoryCount; ++i)
      memories[static_cast<Memory>(i)].resetPeak();
  });
}

RunTotals MeshDevice::totals() const {
  std::lock_guard lock(memoryMutex());
  RunTotals result = total;
  ChipTime longest;
  for (const ChipTime &time : inParts)
    longest = {std::max(longest.cycles, time.cycles), std::max(longest.ns, time.ns)};
  result.cycles += longest.cycles;
  result.ns += longest.ns;
  return result;
}

void MeshDevice::addRun(const RunTotals &run) {
  std::lock_guard lock(memoryMutex());
  const auto add = [&](RunTotals &to) {
    to.programs += run.programs;
    to.ops += run.ops;
  };
  published::noteRun(number, run);
  if (run.programs) // a call alone has allocated by allocate()
    published::noteMemories(number, memories, whole ? &whole->memories : nullptr);
  add(total);
  total.cycles += run.cycles;
  total.ns += run.ns;
  if (!whole)
    return;
  add(whole->total);
  for (uint32_t row = placed.firstRow; row < placed.firstRow + placed.rows; ++row)
    for (uint32_t column = placed.firstColumn; column < placed.firstColumn + placed.columns; ++column) {
      ChipTime &time = whole->inParts[row * whole->columns() + column];
      time.cycles += run.cycles;
      time.ns += run.ns;
    }
}

} // namespace tt::sim
