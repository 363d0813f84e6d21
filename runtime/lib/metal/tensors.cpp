//===- tensors.cpp - kernels written by hand, on tensors of ttnn ----------===//
// SPDX-License-Identifier: Apache-2.0

#include "tt/metal/tensors.h"
#include "tt/sim/formats.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tt::metal {
namespace {

std::string named(size_t index) { return "tensor " + std::to_string(index); }

/// Calls f(bytes of the machine, offset in the tensor) for each page of a sharded tensor.
template <class F> void forEachPage(const Machine &machine, const PagedTensor &paged, size_t pages, F f) {
  const uint32_t across = (paged.columns + paged.shardColumns - 1) / paged.shardColumns;
  for (size_t page = 0; page < pages; ++page) {
    const auto row = static_cast<uint32_t>(page / paged.columns), column = static_cast<uint32_t>(page % paged.columns);
    const size_t shard = size_t(row / paged.shardRows) * across + column / paged.shardColumns;
    if (shard >= paged.cores.size())
      throw Error("a tensor has more shards than the " + std::to_string(paged.cores.size()) + " cores it lies on");
    const uint64_t within = uint64_t(row % paged.shardRows) * paged.shardColumns + column % paged.shardColumns;
    f(machine.l1(paged.cores[shard], static_cast<uint64_t>(paged.tensor.address()) + within * paged.pageBytes,
                 paged.pageBytes),
      page * paged.pageBytes);
  }
}

/// A tensor in the memory of a chip.
class OnChip {
public:
  OnChip(Machine &machine, const PagedTensor &paged, size_t index, uint32_t chip)
      : machine(machine), paged(paged), chip(chip), bytes(sim::deviceBytes(paged.tensor.spec())) {
    const size_t pages = bytes.size() / std::max(1u, paged.pageBytes);
    if (!paged.pageBytes || pages * paged.pageBytes != bytes.size())
      throw Error(named(index) + " has " + std::to_string(bytes.size()) + " bytes, no multiple of its page of " +
                  std::to_string(paged.pageBytes));
    if (shard() >= paged.tensor.shards() || !paged.tensor.has(shard()))
      throw Error(named(index) + " has no values of chip " + std::to_string(chip));
    buffer = {paged.tensor.memory_config().buffer, static_cast<uint64_t>(paged.tensor.address()), paged.pageBytes,
              static_cast<uint32_t>(pages)};
  }
  void write() {
    sim::encode(paged.tensor.spec(), values(), bytes);
    if (paged.cores.empty())
      machine.write(buffer, bytes);
    else
      forEachPage(machine, paged, buffer.pages, [&](std::span<std::byte> to, size_t from) {
        std::memcpy(to.data(), bytes.data() + from, to.size());
      });
  }
  /// Takes the bytes back where kernels have changed them. For one chip of several, a tensor with one value for all
  /// gets one for each.
  void read(bool ofOneChip) {
    std::vector<std::byte> found(bytes.size());
    if (paged.cores.empty())
      machine.read(buffer, found);
    else
      forEachPage(machine, paged, buffer.pages, [&](std::span<std::byte> from, size_t to) {
        std::memcpy(found.data() + to, from.data(), from.size());
      });
    if (found == bytes)
      return;
    ttnn::Tensor written = paged.tensor;
    if (ofOneChip)
      written.spread();
    written.unshare();
    sim::decode(written.spec(), found, {written.data(shard()), written.bytes()});
    written.markWritten();
  }

private:
  size_t shard() const { return paged.tensor.shards() > 1 ? chip : 0; }
  std::span<const std::byte> values() const { return {paged.tensor.data(shard()), paged.tensor.bytes()}; }

  Machine &machine;
  const PagedTensor &paged;
  uint32_t chip;
  std::vector<std::byte> bytes;
  InterleavedBuffer buffer;
};

/// Gives circular buffers their addresses.
void place(HostProgram &program, const std::vector<CircularGroup> &groups, const sim::ChipDesc &chip,
           const std::vector<PagedTensor> &tensors) {
  auto next = static_cast<uint64_t>(chip.l1UnreservedBase);
  const auto unit = static_cast<uint64_t>(chip.l1Alignment);
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
  for (size_t i = 0; i < tensors.size(); ++i)
    if (const ttnn::Tensor &tensor = tensors[i].tensor;
        tensor.memory_config().buffer == BufferType::L1 && next > static_cast<uint64_t>(tensor.address()))
      throw Error("circular buffers reach address " + std::to_string(next) + " of L1, and " + named(i) + " begins at " +
                  std::to_string(tensor.address()));
}

} // namespace

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
  place(program, groups, device->chip(), tensors);
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
    for (size_t i = 0; i < tensors.size(); ++i)
      paged.emplace_back(machine, tensors[i], i, chip);
    for (OnChip &each : paged)
      each.write();
    KernelReport own = machine.run(program, &report.printed);
    for (OnChip &each : paged)
      each.read(!alike);
    if (own.cycles >= report.cycles)
      report = std::move(own);
  }
  // Chips work at the same time.
  const auto cycles = static_cast<int64_t>(std::ceil(report.deviceNs * device->chip().speed.clockGHz));
  device->addRun({1, 1, cycles, report.deviceNs});
  return report;
}

} // namespace tt::metal
