//===- execute.cpp - the commands of a metal program ----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "metal/execute.h"
#include "metal/core.h"
#include "metal/library.h"
#include "tt/interrupt.h"
#include "tt/metal/exact.h"
#include "tt/sim/clock.h"
#include "tt/sim/host.h"
#include "tt/sim/published.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>

namespace tt::metal {
namespace {

using runtime::OpPerf;
using runtime::Tensor;

int64_t nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// A memory of a chip from one run to the next: its pages are there already.
template <class Memory> std::unique_ptr<Memory> take(runtime::BinaryImage &image, std::unique_ptr<Memory> Kept::*of) {
  Kept &kept = image.kept<Kept>();
  {
    std::lock_guard lock(kept.mutex);
    if (kept.*of)
      return std::move(kept.*of);
  }
  return std::make_unique<Memory>(*image.metal->chip);
}
template <class Memory>
void keep(runtime::BinaryImage &image, std::unique_ptr<Memory> Kept::*of, std::unique_ptr<Memory> memory) {
  Kept &kept = image.kept<Kept>();
  std::lock_guard lock(kept.mutex);
  kept.*of = std::move(memory);
}

/// The memories of a chip that a program uses.
struct ChipMemory {
  const L1 &l1;
  const Dram *dram; // or null, of a program without buffers there

  /// The shard of a buffer with this number.
  std::byte *shard(const Buffer &buffer, size_t number) const {
    if (!buffer.inDram)
      return l1.at(buffer.cores[number], buffer.address);
    const auto channels = static_cast<size_t>(l1.chip.dramChannels);
    return dram->at(static_cast<uint32_t>(number % channels),
                    buffer.address + number / channels * uint64_t(buffer.bytesPerCore));
  }
};

/// The device memory of a run, which goes when the run ends.
class DeviceMemory {
public:
  DeviceMemory(const runtime::Device &device, std::string_view program) : device(device), program(program) {}

  void create(const Buffer &buffer, size_t index) {
    const int64_t alignment = buffer.inDram ? device->chip().dramAlignment : device->chip().l1Alignment;
    const auto bytes = static_cast<int64_t>(buffer.bytesPerBank);
    const sim::Block block{buffer.address, (bytes + alignment - 1) / alignment * alignment};
    const sim::Memory memory = memoryOf(buffer);
    const auto place = static_cast<size_t>(memory);
    const std::string name = "metal buffer " + std::to_string(buffer.id) + " of program " + std::string(program);
    device->withMemories([&](sim::Memories &memories) {
      sim::BankAllocator &bank = memories[memory];
      if (!bank.allocateAt(block, name))
        occupied(bank, block, name, buffer.inDram);
      held.emplace(index, device->adopt(memory, block, memories.generation()));
      resident[place] += block.bytes;
      peak[place] = std::max(peak[place], bank.allocated());
    });
  }
  void deallocate(const Buffer &buffer, size_t index) {
    const auto found = held.find(index);
    resident[static_cast<size_t>(memoryOf(buffer))] -= found->second.bytesPerBank();
    held.erase(found);
  }
  void checkReset() const { sim::checkReset(*device); }

  // Bytes per bank: of the program; of everything.
  std::array<int64_t, sim::memoryCount> resident{}, peak{};

private:
  static sim::Memory memoryOf(const Buffer &buffer) { return buffer.inDram ? sim::Memory::DRAM : sim::Memory::L1; }
  [[noreturn]] void occupied(const sim::BankAllocator &bank, sim::Block block, const std::string &name,
                             bool inDram) const {
    std::string text = std::string("out of ") + (inDram ? "dram" : "l1") + " on device " +
                       std::to_string(device->id()) + ": " + name + " needs " + std::to_string(block.bytes) +
                       " bytes per " + (inDram ? "channel" : "core") + " at address " + std::to_string(block.address);
    for (const auto &[other, label] : bank.residents())
      if (other.address < block.address + block.bytes && block.address < other.address + other.bytes)
        throw OutOfMemoryError(text + ", where " + label + " lies (" + std::to_string(other.bytes) + " bytes at " +
                               std::to_string(other.address) + "); deallocate it before" +
                               (inDram ? "" : ", or move it to DRAM"));
    throw OutOfMemoryError(text + ", which is not in the range that is allocated from");
  }
  const runtime::Device &device;
  const std::string_view program;
  std::map<size_t, sim::Allocation> held; // by buffer
};

/// Calls f(shard's bytes, offset of the host's bytes, n) for the parts of rows of a host buffer that lie on one core.
template <class F> void forEachRow(const ChipMemory &chip, const Buffer &host, const Buffer &buffer, F f) {
  const auto size = static_cast<int64_t>(storageBytes(buffer.dtype));
  const int64_t rows = host.rows(), columns = host.columns();
  for (size_t k = 0; k < buffer.cores.size(); ++k) {
    const auto place = static_cast<int64_t>(k);
    const int64_t row = place / buffer.gridColumns * buffer.shardRows;
    const int64_t column = place % buffer.gridColumns * buffer.shardColumns;
    const int64_t width = std::min(buffer.shardColumns, columns - column);
    std::byte *shard = chip.shard(buffer, k);
    for (int64_t r = 0; r < buffer.shardRows && row + r < rows && width > 0; ++r)
      f(shard + r * buffer.shardColumns * size, ((row + r) * columns + column) * size,
        static_cast<size_t>(width * size));
  }
}

void zero(const ChipMemory &chip, const Buffer &buffer) {
  if (buffer.inDram) {
    const auto channels = static_cast<uint64_t>(chip.l1.chip.dramChannels);
    for (uint32_t bank = 0; bank < std::min<uint64_t>(channels, buffer.cores.size()); ++bank)
      chip.dram->clear(bank, buffer.address, buffer.bytesPerBank);
    return;
  }
  Cores cores = buffer.cores;
  if (buffer.ring)
    cores.insert(cores.end(), buffer.ring->cores.begin(), buffer.ring->cores.end());
  for (CoreIndex core : cores)
    std::memset(chip.l1.at(core, buffer.address), 0, buffer.bytesPerCore);
}

/// One run on one device of the mesh.
class Run {
public:
  Run(const runtime::BinaryImage &image, size_t index, const ChipMemory &chip, const CompiledKernels *kernels,
      DeviceMemory *memory, bool exact)
      : program(image.metal->programs[index]), name(image.programs[index].name), chip(chip), kernels(kernels),
        memory(memory), exact(exact), host(program.buffers.size()) {}

  void bind(size_t input, std::shared_ptr<std::byte> values) { host[program.inputs[input]] = std::move(values); }
  std::shared_ptr<std::byte> output(size_t index) const { return host[program.outputs[index]]; }
  std::set<std::string> roundedOnly; // see ProgramWork

  /// Adds to the report; what took how long when `recording`.
  void commands(runtime::RunReport &report, bool recording) {
    for (uint32_t i = 0; i < program.commands.size(); ++i) {
      checkInterrupt();
      if (memory)
        memory->checkReset();
      const Command &command = program.commands[i];
      OpPerf perf;
      perf.cost.launched = false; // but for programs of kernels
      const int64_t begin = recording ? nanoseconds() : 0;
      std::visit([&](const auto &what) { run(what, perf); }, command.what);
      report.cycles += perf.cycles;
      report.deviceNs += perf.deviceNs;
      if (!recording)
        continue;
      perf.op = i;
      perf.name = command.name();
      perf.loc = command.loc;
      perf.hostNs = nanoseconds() - begin;
      if (memory)
        std::ranges::copy(memory->resident, std::begin(perf.resident));
      report.ops.push_back(perf);
    }
  }

private:
  void run(const HostAlloc &command, OpPerf &) {
    const Buffer &buffer = program.buffers[command.buffer];
    auto values = sim::allocateHost(buffer.hostBytes(), "a host buffer of a metal program");
    if (buffer.constant.empty())
      std::memset(values.get(), 0, buffer.hostBytes());
    else
      std::memcpy(values.get(), buffer.constant.data(), buffer.constant.size());
    host[command.buffer] = std::move(values);
  }
  void run(const CreateBuffer &command, OpPerf &) {
    if (memory)
      memory->create(program.buffers[command.buffer], command.buffer);
    zero(chip, program.buffers[command.buffer]);
  }
  void run(const DeallocateBuffer &command, OpPerf &) {
    if (memory)
      memory->deallocate(program.buffers[command.buffer], command.buffer);
  }
  void run(const WriteBuffer &command, OpPerf &perf) {
    const Buffer &to = program.buffers[command.to];
    const std::byte *from = host[command.from].get();
    const auto bytes = static_cast<size_t>(to.shardRows * to.shardColumns) * storageBytes(to.dtype);
    if (to.inDram)
      zero(chip, to);
    else
      for (CoreIndex core : to.cores)
        std::memset(chip.l1.at(core, to.address), 0, bytes);
    forEachRow(chip, program.buffers[command.from], to,
               [&](std::byte *at, int64_t offset, size_t n) { std::memcpy(at, from + offset, n); });
    (to.inDram ? perf.cost.dramBytes : perf.cost.l1Bytes) = static_cast<int64_t>(bytes * to.cores.size());
  }
  void run(const ReadBuffer &command, OpPerf &perf) {
    const Buffer &from = program.buffers[command.from];
    std::byte *to = host[command.to].get();
    forEachRow(chip, program.buffers[command.to], from,
               [&](const std::byte *at, int64_t offset, size_t n) { std::memcpy(to + offset, at, n); });
    (from.inDram ? perf.cost.dramBytes : perf.cost.l1Bytes) =
        static_cast<int64_t>(program.buffers[command.to].hostBytes());
  }
  /// Shows what kernels have printed, also where they fail.
  struct Written {
    const std::string &text;
    ~Written() { std::fwrite(text.data(), 1, text.size(), stdout), text.empty() ? 0 : std::fflush(stdout); }
  };
  void run(const EnqueueProgram &command, OpPerf &perf) {
    std::string printed;
    const Written onEnd{printed};
    const ProgramWork work = runKernels(
        chip.l1, command, name, [&](uint32_t entry) { return kernels->entry(entry); }, chip.dram, &printed, exact);
    roundedOnly.insert(work.roundedOnly.begin(), work.roundedOnly.end());
    const ttmlir::cost::Speed &speed = chip.l1.chip.speed;
    perf.deviceNs = static_cast<double>(work.cycles) / speed.clockGHz + speed.launchNs;
    perf.cycles = static_cast<int64_t>(std::ceil(perf.deviceNs * speed.clockGHz));
    perf.uncertaintyNs = perf.deviceNs * ttmlir::cost::rowOf(perf.cost.kind).uncertainty;
    perf.bound = speed.launchNs > perf.deviceNs / 2 ? sim::Bound::Dispatch : work.bound;
    perf.cost.launched = true;
    perf.cost.matmulTiles = work.total.matmulTiles;
    perf.cost.fpuTiles = work.total.fpuTiles;
    perf.cost.sfpuTiles = work.total.sfpuTiles;
    perf.cost.l1Bytes = work.total.movedBytes;
  }
  void run(const Return &, OpPerf &) {}
  void run(const Finish &, OpPerf &) {}

  const Program &program;
  const std::string_view name;
  const ChipMemory chip;
  const CompiledKernels *kernels;
  DeviceMemory *memory; // of the first device: all are allocated in lockstep
  const bool exact;
  std::vector<std::shared_ptr<std::byte>> host; // by buffer
};

bool hasKernels(const Program &program) {
  return std::ranges::any_of(program.commands, [](const Command &command) {
    const auto *enqueue = std::get_if<EnqueueProgram>(&command.what);
    return enqueue && !enqueue->kernels.empty();
  });
}

bool usesDram(const Program &program) {
  return std::ranges::any_of(program.buffers, [](const Buffer &buffer) { return buffer.inDram; });
}

/// Whether a program reads a device buffer into this host buffer.
bool writes(const Program &program, uint32_t buffer) {
  return std::ranges::any_of(program.commands, [&](const Command &command) {
    const auto *read = std::get_if<ReadBuffer>(&command.what);
    return read && read->to == buffer;
  });
}

/// Host values of the inputs as the program takes them.
std::vector<Tensor> bound(const runtime::Device &device, const runtime::Binary &binary, const runtime::Program &program,
                          std::span<const Tensor> inputs) {
  const std::string name = binary.fileName() + ": program \"" + std::string(program.name) + "\"";
  if (inputs.size() != program.inputs.size())
    throw Error(name + " takes " + std::to_string(program.inputs.size()) + " inputs and was given " +
                std::to_string(inputs.size()));
  std::vector<Tensor> result(inputs.begin(), inputs.end());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorSpec &expected = program.spec(program.inputs[i]);
    const auto fail = [&](const std::string &what) { throw Error(name + ": input " + std::to_string(i) + " " + what); };
    if (!inputs[i])
      fail("is empty");
    inputs[i].requireAllocated("submit");
    if (inputs[i].shape() != expected.shape)
      fail("has shape " + toString(inputs[i].shape()) + "; expected " + toString(expected.shape));
    result[i] = inputs[i].gathered(name.c_str()); // every rank runs the whole program
    const uint32_t devices = expected.distributed ? program.devices() : 1;
    if (inputs[i].shards() != devices && inputs[i].shards() != 1) {
      if (devices != 1 || inputs[i].shards() != program.devices())
        fail("has " + std::to_string(inputs[i].shards()) + " shards; expected " + std::to_string(program.devices()));
      result[i] = inputs[i].single((name + ": input " + std::to_string(i)).c_str());
    }
    if (inputs[i].isOnDevice() && inputs[i].device() != device)
      throw DeviceError(name + ": input " + std::to_string(i) + " lies on device " +
                        std::to_string(inputs[i].device()->id()) + ", but the program runs on device " +
                        std::to_string(device->id()));
    // Booleans often come as bytes, and the other way round.
    const auto byte = [](DataType type) { return type == DataType::Bool || type == DataType::UInt8; };
    if (inputs[i].dtype() != expected.dtype) {
      if (!byte(inputs[i].dtype()) || !byte(expected.dtype))
        fail("has data type " + std::string(toString(inputs[i].dtype())) + "; expected " +
             std::string(toString(expected.dtype)));
      result[i] = runtime::castTensor(result[i], expected.dtype);
    }
  }
  return result;
}

} // namespace

std::set<std::string> roundedOnly(const runtime::Binary &binary) {
  if (!binary.impl().metal)
    return {};
  Kept &kept = binary.impl().kept<Kept>();
  std::lock_guard lock(kept.mutex);
  return kept.roundedOnly;
}

runtime::Tensors run(const runtime::Device &device, const runtime::Binary &binary, size_t index,
                     std::span<const Tensor> given, runtime::RunReport &report) {
  runtime::BinaryImage &image = binary.impl();
  const Image &metal = *image.metal;
  const runtime::Program &program = image.programs[index];
  const std::vector<Tensor> inputs = bound(device, binary, program, given);
  // The caller sees what the program writes to an input; other tensors that share its values do not.
  for (size_t i = 0; i < inputs.size(); ++i)
    if (writes(metal.programs[index], metal.programs[index].inputs[i]))
      Tensor(inputs[i]).unshare();
  const auto kernels = hasKernels(metal.programs[index]) ? compiledKernels(image) : nullptr;
  std::unique_ptr<L1> l1 = take(image, &Kept::l1);
  std::unique_ptr<Dram> dram = usesDram(metal.programs[index]) ? take(image, &Kept::dram) : nullptr;
  report.binary = binary;
  report.program = index;
  const int64_t begin = nanoseconds();
  std::vector<Tensor::Shards> outputs(program.outputs.size());
  for (uint32_t d = 0; d < program.devices(); ++d) {
    DeviceMemory memory(device, program.name);
    Run run(image, index, {*l1, dram.get()}, kernels.get(), d ? nullptr : &memory, device->options().exact);
    for (size_t i = 0; i < inputs.size(); ++i)
      run.bind(i, inputs[i].share(inputs[i].shards() > 1 ? d : 0));
    // All devices do the same at the same time: the first one's time is that of all.
    runtime::RunReport others;
    run.commands(d ? others : report, !d && runtime::perfRecording());
    if (!d && device->options().exact) {
      Kept &kept = image.kept<Kept>();
      std::lock_guard lock(kept.mutex);
      kept.roundedOnly = std::move(run.roundedOnly);
    }
    if (!d)
      std::ranges::copy(memory.peak, std::begin(report.memoryPeak));
    for (size_t i = 0; i < outputs.size(); ++i)
      if (!d || program.spec(program.outputs[i]).distributed)
        outputs[i].push_back(run.output(i));
  }
  for (size_t i = 0; i < inputs.size(); ++i)
    if (writes(metal.programs[index], metal.programs[index].inputs[i]))
      inputs[i].markWritten();
  report.hostNs = nanoseconds() - begin;
  keep(image, &Kept::l1, std::move(l1));
  if (dram)
    keep(image, &Kept::dram, std::move(dram));
  device->addRun({1, static_cast<int64_t>(metal.programs[index].commands.size()), report.cycles, report.deviceNs});
  runtime::Tensors result;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const TensorSpec &spec = program.spec(program.outputs[i]);
    // An output that is an input or another output is values of its own: callers may write them.
    Tensor tensor =
        Tensor::fromShards(spec, std::move(outputs[i]), spec.distributed ? program.meshShape : std::vector<uint32_t>());
    const auto &buffer = metal.programs[index].outputs;
    const bool shared = std::ranges::count(metal.programs[index].inputs, buffer[i]) ||
                        std::ranges::count(buffer.begin(), buffer.begin() + static_cast<int64_t>(i), buffer[i]);
    result.push_back(shared ? tensor.clone() : std::move(tensor));
  }
  return result;
}

} // namespace tt::metal
