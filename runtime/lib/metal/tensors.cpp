//===- tensors.cpp - kernels written by hand, on tensors of ttnn ----------===//
// SPDX-License-Identifier: Apache-2.0

#include "tt/metal/tensors.h"
#include "tt/sim/formats.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

namespace tt::metal {
namespace {

std::string named(size_t index) { return "tensor " + std::to_string(index); }

/// Calls f(bytes of the machine, offset in the tensor) for each page of a sharded tensor.
template <class F> void forEachPage(const Machine &machine, const Pages &pages, uint64_t address, size_t count, F f) {
  const uint32_t across = (pages.columns + pages.shardColumns - 1) / pages.shardColumns;
  for (size_t page = 0; page < count; ++page) {
    const auto row = static_cast<uint32_t>(page / pages.columns), column = static_cast<uint32_t>(page % pages.columns);
    const size_t shard = size_t(row / pages.shardRows) * across + column / pages.shardColumns;
    if (shard >= pages.cores.size())
      throw Error("a tensor has more shards than the " + std::to_string(pages.cores.size()) + " cores it lies on");
    const uint64_t within = uint64_t(row % pages.shardRows) * pages.shardColumns + column % pages.shardColumns;
    f(machine.l1(pages.cores[shard], address + within * pages.bytes, pages.bytes), page * pages.bytes);
  }
}

/// A tensor in the memory of a chip.
class OnChip {
public:
  OnChip(Machine &machine, const TensorSpec &spec, const Pages &pages, uint64_t address, size_t index)
      : machine(machine), spec(spec), pages(pages), bytes(sim::deviceBytes(spec)) {
    const size_t count = bytes.size() / std::max(1u, pages.bytes);
    if (!pages.bytes || count * pages.bytes != bytes.size())
      throw Error(named(index) + " has " + std::to_string(bytes.size()) + " bytes, no multiple of its page of " +
                  std::to_string(pages.bytes));
    buffer = {spec.memory.buffer, address, pages.bytes, static_cast<uint32_t>(count)};
  }
  void write(std::span<const std::byte> values) {
    sim::encode(spec, values, bytes);
    if (pages.cores.empty())
      machine.write(buffer, bytes);
    else
      forEachPage(machine, pages, buffer.address, buffer.pages, [&](std::span<std::byte> to, size_t from) {
        std::memcpy(to.data(), bytes.data() + from, to.size());
      });
  }
  /// Returns the bytes if kernels have changed them.
  std::optional<std::vector<std::byte>> changed() const {
    std::vector<std::byte> found(bytes.size());
    if (pages.cores.empty())
      machine.read(buffer, found);
    else
      forEachPage(machine, pages, buffer.address, buffer.pages, [&](std::span<std::byte> from, size_t to) {
        std::memcpy(found.data() + to, from.data(), from.size());
      });
    return found == bytes ? std::nullopt : std::optional(std::move(found));
  }

private:
  Machine &machine;
  const TensorSpec &spec;
  const Pages &pages;
  std::vector<std::byte> bytes;
  InterleavedBuffer buffer;
};

/// The values of a tensor on a chip.
size_t shardOf(const ttnn::Tensor &tensor, size_t index, uint32_t chip) {
  const size_t shard = tensor.shards() > 1 ? chip : 0;
  if (shard >= tensor.shards() || !tensor.has(shard))
    throw Error(named(index) + " has no values of chip " + std::to_string(chip));
  return shard;
}

/// Takes changed bytes back. For one chip of several, a tensor with one value for all gets one for each.
void takeBack(const ttnn::Tensor &tensor, size_t index, uint32_t chip, const std::vector<std::byte> &found,
              bool ofOneChip) {
  ttnn::Tensor written = tensor;
  if (ofOneChip)
    written.spread();
  written.unshare();
  sim::decode(written.spec(), found, {written.data(shardOf(written, index, chip)), written.bytes()});
  written.markWritten();
}

} // namespace

int64_t addCircularBuffers(HostProgram &program, const std::vector<CircularGroup> &groups, const sim::ChipDesc &chip,
                           const std::vector<std::pair<BufferType, uint64_t>> &tensors) {
  const auto base = static_cast<uint64_t>(chip.l1UnreservedBase), unit = static_cast<uint64_t>(chip.l1Alignment);
  uint64_t next = base, end = static_cast<uint64_t>(chip.l1Size);
  for (const CircularGroup &group : groups) {
    uint64_t bytes = 0;
    for (HostCircularBuffer buffer : group) {
      bytes = std::max(bytes, uint64_t(buffer.pageBytes) * buffer.pages);
      buffer.address = group.front().address.value_or(static_cast<uint32_t>(std::min<uint64_t>(next, UINT32_MAX)));
      program.buffers.push_back(std::move(buffer));
    }
    if (!group.empty() && !group.front().address)
      next = std::min<uint64_t>(next + (bytes + unit - 1) / unit * unit, uint64_t(1) << 40);
  }
  std::string lowest;
  for (size_t i = 0; i < tensors.size(); ++i)
    if (const auto [memory, address] = tensors[i]; memory == BufferType::L1 && address < end) {
      end = address;
      lowest = " below " + named(i);
    }
  if (next > end)
    throw Error("circular buffers need " + std::to_string(next - base) + " bytes of L1 on each core, which has " +
                std::to_string(std::max(end, base) - base) + " of " +
                std::to_string(chip.l1Size - chip.l1UnreservedBase) + " for them" + lowest +
                "; use smaller ones, put tensors into DRAM, or spread them over more cores");
  return static_cast<int64_t>(next - base);
}

Pages pagesOf(const TensorSpec &spec) {
  const MemoryConfig &memory = spec.memory;
  const auto number = [](int64_t value) { return static_cast<uint32_t>(std::clamp<int64_t>(value, 1, UINT32_MAX)); };
  const bool isTiled = spec.layout == Layout::Tile;
  const auto tile = static_cast<uint32_t>(sim::tileBytes(spec.dtype)), element = tile / 1024;
  const int64_t width = spec.shape.empty() ? 1 : spec.shape.back();
  Pages pages{isTiled ? tile : number(width) * element};
  if (memory.shardShape.size() != 2)
    return pages;
  const int64_t height = memory.shardShape[0], across = memory.shardShape[1];
  if (isTiled) {
    pages.columns = number((width + 31) / 32);
    pages.shardRows = number((height + 31) / 32);
    pages.shardColumns = number((across + 31) / 32);
  } else {
    pages.bytes = number(across) * element;
    pages.columns = number((width + across - 1) / std::max<int64_t>(1, across));
    pages.shardRows = number(height);
  }
  auto ranges = memory.cores;
  if (ranges.empty()) {
    int64_t rows = memory.grid.empty() ? 1 : memory.grid[0], columns = memory.grid.size() < 2 ? 1 : memory.grid[1];
    if (memory.byColumns && memory.layout == MemoryLayout::BlockSharded)
      std::swap(rows, columns);
    ranges = {{0, 0, columns - 1, rows - 1}};
  }
  for (const auto &[left, top, right, bottom] : ranges) {
    const auto coord = [](int64_t value) { return static_cast<uint32_t>(std::clamp<int64_t>(value, 0, UINT32_MAX)); };
    const std::vector<CoreCoord> cores = coreRange({coord(left), coord(top)}, {coord(right), coord(bottom)});
    pages.cores.insert(pages.cores.end(), cores.begin(), cores.end());
  }
  return pages;
}

KernelReport runOnValues(Machine &machine, const std::vector<PagedValues> &values, const HostProgram &program,
                         const ProgramKernels &kernels) {
  std::vector<OnChip> tensors;
  for (size_t i = 0; i < values.size(); ++i) {
    tensors.emplace_back(machine, *values[i].spec, values[i].pages, values[i].address, i);
    tensors.back().write({values[i].values, values[i].spec->bytes()});
  }
  KernelReport report = machine.run(program, kernels);
  for (size_t i = 0; i < values.size(); ++i) {
    const auto found = tensors[i].changed();
    if (found && !values[i].written)
      throw Error("kernels wrote to tensor " + std::to_string(i) + "; expected writes to the last one alone");
    if (found)
      sim::decode(*values[i].spec, *found, {values[i].values, values[i].spec->bytes()});
  }
  return report;
}

KernelReport runOnTensors(const std::vector<PagedTensor> &tensors, HostProgram program,
                          const std::vector<CircularGroup> &groups, const std::vector<uint32_t> &chips) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    const ttnn::Tensor &tensor = tensors[i].tensor;
    tensor.requireAllocated("run kernels on");
    if (!tensor.isOnDevice())
      throw Error(named(i) + " lies on the host; expected one on a device");
    if (tensor.device() != tensors.front().tensor.device())
      throw Error(named(i) + " lies on device " + std::to_string(tensor.device()->id()) + ", and tensor 0 on device " +
                  std::to_string(tensors.front().tensor.device()->id()));
  }
  if (tensors.empty())
    throw Error("there is no tensor; expected at least the result");
  const std::shared_ptr<sim::MeshDevice> device = tensors.front().tensor.device();
  std::vector<std::pair<BufferType, uint64_t>> places;
  for (const PagedTensor &each : tensors)
    places.emplace_back(each.tensor.memory_config().buffer, static_cast<uint64_t>(each.tensor.address()));
  addCircularBuffers(program, groups, device->chip(), places);
  program.exact = device->options().exact;
  Machine machine(device->chip());
  KernelReport report;
  const auto isWhole = [](const PagedTensor &each) { return each.tensor.shards() == 1; };
  // A run on all chips with equal tensors is the same on each: one stands for all.
  const bool alike = chips.size() == device->devices() && std::ranges::all_of(tensors, isWhole);
  for (const uint32_t chip : alike ? std::vector<uint32_t>{0} : chips) {
    if (!alike && !device->chips().has(chip))
      continue; // of another rank
    std::vector<OnChip> paged;
    for (size_t i = 0; i < tensors.size(); ++i) {
      const ttnn::Tensor &tensor = tensors[i].tensor;
      paged.emplace_back(machine, tensor.spec(), tensors[i].pages, static_cast<uint64_t>(tensor.address()), i);
      paged.back().write({tensor.data(shardOf(tensor, i, chip)), tensor.bytes()});
    }
    KernelReport own = machine.run(program, &report.printed);
    for (size_t i = 0; i < tensors.size(); ++i)
      if (const auto found = paged[i].changed())
        takeBack(tensors[i].tensor, i, chip, *found, !alike);
    if (own.cycles >= report.cycles)
      report = std::move(own);
  }
  // Chips work at the same time.
  const auto cycles = static_cast<int64_t>(std::ceil(report.deviceNs * device->chip().speed.clockGHz));
  device->addRun({1, 1, cycles, report.deviceNs});
  return report;
}

} // namespace tt::metal
