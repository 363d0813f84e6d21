//===- host.cpp - kernels written by hand ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "tt/metal/host.h"
#include "metal/library.h"
#include "metal/report.h"
#include "tt/runtime/run.h"
#include "tt/sim/allocator.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

namespace tt::metal {
namespace {

uint64_t rounded(uint64_t bytes, int64_t alignment) {
  const auto unit = static_cast<uint64_t>(alignment);
  return (bytes + unit - 1) / unit * unit;
}

std::string text(CoreCoord core) { return "(y=" + std::to_string(core.y) + ", x=" + std::to_string(core.x) + ")"; }

} // namespace

std::vector<CoreCoord> coreRange(CoreCoord first, CoreCoord last) {
  constexpr uint32_t most = 1 << 10; // rows or columns of any chip
  for (const CoreCoord &core : {first, last})
    if (core.x >= most || core.y >= most)
      throw Error("a range of cores from " + text(first) + " to " + text(last) + ": expected numbers below " +
                  std::to_string(most));
  std::vector<CoreCoord> cores;
  for (uint32_t y = first.y; y <= last.y; ++y)
    for (uint32_t x = first.x; x <= last.x; ++x)
      cores.push_back({x, y});
  return cores;
}

struct Machine::State {
  explicit State(const sim::ChipDesc &chip)
      : chip(chip), l1(chip, true), dram(chip),
        l1Free(chip.l1UnreservedBase, chip.l1Size, chip.l1Alignment, sim::Fit::Highest),
        dramFree(chip.dramUnreservedBase, chip.dramUnreservedEnd, chip.dramAlignment, sim::Fit::Lowest) {}

  const sim::ChipDesc chip;
  const L1 l1;
  const Dram dram;
  sim::BankAllocator l1Free, dramFree;
  std::map<std::string, std::shared_ptr<const CompiledKernels>> compiled; // by source

  bool isDram(BufferType memory) const {
    if (memory != BufferType::DRAM && memory != BufferType::L1)
      throw Error("kernels see buffers in DRAM and L1; found one in " + std::string(toString(memory)));
    return memory == BufferType::DRAM;
  }
  uint64_t banks(bool inDram) const { return static_cast<uint64_t>(inDram ? chip.dramChannels : chip.cores()); }
  uint64_t bytesPerBank(const InterleavedBuffer &buffer) const {
    const bool inDram = isDram(buffer.memory);
    return (buffer.pages + banks(inDram) - 1) / banks(inDram) *
           rounded(buffer.pageBytes, inDram ? chip.dramAlignment : chip.l1Alignment);
  }
  std::byte *page(const InterleavedBuffer &buffer, uint32_t index) const {
    const bool inDram = isDram(buffer.memory);
    const auto bank = static_cast<uint32_t>(index % banks(inDram));
    const uint64_t address =
        buffer.address +
        index / banks(inDram) * rounded(buffer.pageBytes, inDram ? chip.dramAlignment : chip.l1Alignment);
    return inDram ? dram.at(bank, address) : l1.at(bank, static_cast<uint32_t>(address));
  }
  void check(const InterleavedBuffer &buffer, uint64_t bytes, const char *what) const {
    const uint64_t expected = uint64_t(buffer.pageBytes) * buffer.pages;
    if (bytes != expected)
      throw Error(std::string(what) + " a buffer of " + std::to_string(buffer.pages) + " pages of " +
                  std::to_string(buffer.pageBytes) + " bytes: expected " + std::to_string(expected) + " bytes, found " +
                  std::to_string(bytes));
    const bool inDram = isDram(buffer.memory);
    const auto size = static_cast<uint64_t>(inDram ? chip.dramChannelSize : chip.l1Size), needed = bytesPerBank(buffer);
    if (buffer.address > size || needed > size - buffer.address)
      throw Error(std::string(what) + " a buffer at address " + std::to_string(buffer.address) + " of " +
                  (inDram ? "DRAM" : "L1") + ": " + std::to_string(needed) + " bytes of each bank are not inside of " +
                  std::to_string(size));
  }

  CoreIndex index(CoreCoord core, const std::string &what) const {
    if (core.x >= static_cast<uint64_t>(chip.gridColumns) || core.y >= static_cast<uint64_t>(chip.gridRows))
      throw Error(what + ": there is no core " + text(core) + "; the grid has " + std::to_string(chip.gridRows) + "x" +
                  std::to_string(chip.gridColumns) + " cores");
    return static_cast<CoreIndex>(core.y * static_cast<uint32_t>(chip.gridColumns) + core.x);
  }
  Cores indices(const std::vector<CoreCoord> &cores, const std::string &what) const {
    Cores result;
    for (CoreCoord core : cores)
      result.push_back(index(core, what));
    Cores sorted = result;
    std::ranges::sort(sorted);
    if (result.empty())
      throw Error(what + " has no cores");
    if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
      throw Error(what + " has core " + coreText(chip, *twice) + " twice");
    return result;
  }

  CircularBuffer ring(const HostCircularBuffer &buffer, uint64_t &next, std::set<std::pair<uint32_t, CoreIndex>> &taken,
                      const std::string &program) const;
  Kernel kernel(const HostKernel &kernel, std::map<std::pair<int, CoreIndex>, std::string> &threads,
                const std::string &program) const;
  /// Checks a program. Its kernels are numbered in their order.
  EnqueueProgram checked(const HostProgram &given) const;
  KernelReport run(const HostProgram &given, const EnqueueProgram &program, const ProgramKernels &kernels,
                   std::string *printed) const;
};

CircularBuffer Machine::State::ring(const HostCircularBuffer &buffer, uint64_t &next,
                                    std::set<std::pair<uint32_t, CoreIndex>> &taken, const std::string &program) const {
  const std::string what = program + ": circular buffer " + std::to_string(buffer.port);
  if (buffer.port >= maxPorts)
    throw Error(what + ": expected a number below " + std::to_string(maxPorts));
  if (!buffer.pageBytes || !buffer.pages)
    throw Error(what + " has " + std::to_string(buffer.pages) + " pages of " + std::to_string(buffer.pageBytes) +
                " bytes; expected at least 1 of each");
  const uint64_t bytes = uint64_t(buffer.pageBytes) * buffer.pages;
  const auto base = static_cast<uint64_t>(chip.l1UnreservedBase), size = static_cast<uint64_t>(chip.l1Size);
  const uint64_t address = buffer.address.value_or(next);
  if (address < base || address > size || bytes > size - address)
    throw Error(what + ": " + std::to_string(bytes) + " bytes at address " + std::to_string(address) +
                " are not in L1, from " + std::to_string(base) + " to " + std::to_string(size));
  if (!buffer.address) {
    next = rounded(address + bytes, chip.l1Alignment);
    if (const auto lowest = static_cast<uint64_t>(l1Free.lowest()); address + bytes > lowest)
      throw Error(what + ": circular buffers reach address " + std::to_string(address + bytes) +
                  ", and a buffer in L1 begins at " + std::to_string(lowest));
  }
  CircularBuffer result{buffer.port,
                        buffer.dtype,
                        static_cast<uint32_t>(address),
                        {indices(buffer.cores, what), buffer.pageBytes, buffer.pages}};
  for (CoreIndex core : result.ring.cores)
    if (!taken.emplace(buffer.port, core).second)
      throw Error(what + " is there twice on core " + coreText(chip, core));
  return result;
}

Kernel Machine::State::kernel(const HostKernel &given, std::map<std::pair<int, CoreIndex>, std::string> &threads,
                              const std::string &program) const {
  const std::string what = program + ": kernel " + given.name;
  if (given.noc > 1)
    throw Error(what + ": expected NOC 0 or 1, found " + std::to_string(given.noc));
  if (given.fidelityPhases < 1 || given.fidelityPhases > 4)
    throw Error(what + ": expected 1 to 4 fidelity phases, found " + std::to_string(given.fidelityPhases));
  for (uint32_t port : given.unpackToDestFp32)
    if (port >= maxPorts)
      throw Error(what + ": unpack_to_dest_fp32 names circular buffer " + std::to_string(port) +
                  "; expected a number below " + std::to_string(maxPorts));
  Kernel kernel;
  for (uint32_t port : given.unpackToDestFp32)
    kernel.f32Ports |= uint32_t(1) << port;
  kernel.approximate = given.mathApprox;
  kernel.packPrecise = given.bfp8PackPrecise;
  kernel.symbol = given.name;
  kernel.cores = indices(given.cores, what);
  kernel.compute = given.compute;
  kernel.f32Dst = given.fp32DestAcc;
  kernel.fullDst = given.dstFull;
  kernel.noc = given.noc;
  kernel.fidelityPhases = static_cast<int>(given.fidelityPhases);
  kernel.compileTimeArgs = given.compileTimeArgs;
  kernel.runtimeArgs = given.commonArgs;
  for (CoreCoord core : given.cores) {
    const auto found = given.args.find(core);
    kernel.coreArgs.push_back(found == given.args.end() ? std::vector<uint32_t>() : found->second);
  }
  for (const auto &[core, args] : given.args)
    if (std::ranges::find(given.cores, core) == given.cores.end())
      throw Error(what + " has arguments for core " + text(core) + ", where it does not run");
  // A core has two processors that move data, and one that computes.
  const int thread = given.compute ? 2 : static_cast<int>(given.noc);
  for (CoreIndex core : kernel.cores)
    if (const auto [other, isNew] = threads.emplace(std::pair(thread, core), given.name); !isNew)
      throw Error(what + ": core " + coreText(chip, core) + " has " +
                  (given.compute ? "a compute kernel" : "a data movement kernel on NOC " + std::to_string(given.noc)) +
                  " already: " + other->second);
  return kernel;
}

Machine::Machine(const sim::ChipDesc &chip) : state(std::make_unique<State>(chip)) {}
Machine::~Machine() = default;
const sim::ChipDesc &Machine::chip() const { return state->chip; }

InterleavedBuffer Machine::allocate(BufferType memory, uint32_t pageBytes, uint32_t pages) {
  InterleavedBuffer result{memory, 0, pageBytes, pages};
  sim::BankAllocator &from = state->isDram(memory) ? state->dramFree : state->l1Free;
  const uint64_t bytes = state->bytesPerBank(result);
  const auto block = bytes <= static_cast<uint64_t>(from.capacity())
                         ? from.allocate(static_cast<int64_t>(bytes), "a buffer of kernels")
                         : std::nullopt;
  if (!block)
    throw OutOfMemoryError("no room for " + std::to_string(pages) + " pages of " + std::to_string(pageBytes) +
                           " bytes in " + std::string(toString(memory)) + ": " + std::to_string(bytes) +
                           " bytes of each bank; free are " + std::to_string(from.free()) + " bytes, " +
                           std::to_string(from.largestFree()) + " in one piece");
  result.address = static_cast<uint64_t>(block->address);
  return result;
}

void Machine::deallocate(const InterleavedBuffer &buffer) {
  (state->isDram(buffer.memory) ? state->dramFree : state->l1Free).deallocate(static_cast<int64_t>(buffer.address));
}

void Machine::write(const InterleavedBuffer &buffer, std::span<const std::byte> bytes) {
  state->check(buffer, bytes.size(), "write to");
  for (uint32_t i = 0; i < buffer.pages; ++i)
    std::memcpy(state->page(buffer, i), bytes.data() + size_t(i) * buffer.pageBytes, buffer.pageBytes);
}

void Machine::read(const InterleavedBuffer &buffer, std::span<std::byte> bytes) const {
  state->check(buffer, bytes.size(), "read from");
  for (uint32_t i = 0; i < buffer.pages; ++i)
    std::memcpy(bytes.data() + size_t(i) * buffer.pageBytes, state->page(buffer, i), buffer.pageBytes);
}

std::span<std::byte> Machine::l1(CoreCoord core, uint64_t address, uint64_t bytes) const {
  const CoreIndex index = state->index(core, "L1");
  const auto size = static_cast<uint64_t>(state->chip.l1Size);
  if (address > size || bytes > size - address)
    throw Error(std::to_string(bytes) + " bytes at address " + std::to_string(address) + " are not in L1, which has " +
                std::to_string(size));
  return {state->l1.at(index, static_cast<uint32_t>(address)), bytes};
}

std::span<std::byte> Machine::dram(uint32_t bank, uint64_t address, uint64_t bytes) const {
  const auto size = static_cast<uint64_t>(state->chip.dramChannelSize);
  if (bank >= state->banks(true))
    throw Error("there is no bank " + std::to_string(bank) + " of DRAM; there are " +
                std::to_string(state->banks(true)));
  if (address > size || bytes > size - address)
    throw Error(std::to_string(bytes) + " bytes at address " + std::to_string(address) +
                " are not in a bank of DRAM, which has " + std::to_string(size));
  return {state->dram.at(bank, address), bytes};
}

EnqueueProgram Machine::State::checked(const HostProgram &given) const {
  const std::string name = "program \"" + given.name + "\"";
  if (given.exact && chip.arch != Arch::WormholeB0)
    throw DeviceError(name + ": exact: the arithmetic of " + std::string(toString(chip.arch)) +
                      " is not published; expected wormhole_b0");
  EnqueueProgram program;
  auto next = static_cast<uint64_t>(chip.l1UnreservedBase);
  std::set<std::pair<uint32_t, CoreIndex>> taken;
  for (const HostCircularBuffer &buffer : given.buffers)
    program.rings.push_back(ring(buffer, next, taken, name));
  for (const HostSemaphore &semaphore : given.semaphores) {
    const std::string what = name + ": semaphore " + std::to_string(semaphore.id);
    if (semaphore.id >= maxSemaphores)
      throw Error(what + ": expected a number below " + std::to_string(maxSemaphores));
    program.semaphores.push_back({semaphore.id, semaphore.value, indices(semaphore.cores, what)});
  }
  std::map<std::pair<int, CoreIndex>, std::string> threads;
  for (const HostKernel &each : given.kernels) {
    program.kernels.push_back(kernel(each, threads, name));
    program.kernels.back().entry = static_cast<uint32_t>(program.kernels.size() - 1);
  }
  return program;
}

KernelReport Machine::run(const HostProgram &given, std::string *printed) {
  const EnqueueProgram program = state->checked(given);
  const HostProgram *const alone = &given;
  JoinedPrograms joined = joinedPrograms({&alone, 1});
  auto &compiled = state->compiled[joined.sources.text];
  if (!compiled)
    compiled = std::make_shared<const CompiledKernels>(joined.sources, "program \"" + given.name + "\"");
  return state->run(given, program, ProgramKernels(compiled, std::move(joined.entries.front())), printed);
}

KernelReport Machine::run(const HostProgram &given, const ProgramKernels &kernels) {
  return state->run(given, state->checked(given), kernels, nullptr);
}

KernelReport Machine::State::run(const HostProgram &given, const EnqueueProgram &program, const ProgramKernels &kernels,
                                 std::string *printed) const {
  std::string lines;
  const auto keep = [&] {
    if (printed)
      *printed = lines;
  };
  ProgramWork work;
  try {
    work = runKernels(
        l1, program, given.name, [&](uint32_t kernel) { return kernels.entry(kernel); }, &dram, &lines,
        Mesh{.chips = {}, .exact = given.exact}, runtime::perfRecording());
  } catch (...) {
    keep();
    throw;
  }
  keep();
  KernelReport report = reportOf(chip, std::move(work));
  report.printed = std::move(lines);
  return report;
}

} // namespace tt::metal
