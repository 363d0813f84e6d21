//===- execute.cpp - the commands of a metal program ----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "metal/execute.h"
#include "metal/core.h"
#include "metal/library.h"
#include "metal/report.h"
#include "tt/interrupt.h"
#include "tt/metal/exact.h"
#include "tt/metal/watch.h"
#include "tt/parallel.h"
#include "tt/sim/clock.h"
#include "tt/sim/host.h"
#include "tt/sim/published.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace tt::metal {
namespace {

using runtime::OpPerf;
using runtime::Tensor;

int64_t nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Memories of so many chips, which are kept from one run to the next, unless it ends with an error.
template <class Memory> class Memories {
public:
  using Owners = std::vector<std::unique_ptr<Memory>>;
  Memories(
      runtime::BinaryImage &image, Owners Kept::*of, size_t count,
      std::unique_ptr<Memory> (*make)(const sim::ChipDesc &) =
          [](const sim::ChipDesc &chip) { return std::make_unique<Memory>(chip); })
      : kept(image.kept<Kept>()), of(of), exceptions(std::uncaught_exceptions()) {
    {
      std::lock_guard lock(kept.mutex);
      auto &there = kept.*of;
      const size_t taken = std::min(count, there.size());
      owners.assign(std::move_iterator(there.end() - static_cast<int64_t>(taken)), std::move_iterator(there.end()));
      there.resize(there.size() - taken);
    }
    while (owners.size() < count)
      owners.push_back(make(*image.metal->chip));
  }
  Memories(const Memories &) = delete;
  Memories &operator=(const Memories &) = delete;
  ~Memories() {
    if (std::uncaught_exceptions() > exceptions || owners.empty())
      return;
    std::lock_guard lock(kept.mutex);
    std::ranges::move(owners, std::back_inserter(kept.*of));
    if ((kept.*of).size() > sim::maxChips)
      (kept.*of).resize(sim::maxChips);
  }
  const Memory *operator[](size_t chip) const { return owners.empty() ? nullptr : owners[chip].get(); }

private:
  Kept &kept;
  Owners Kept::*of;
  Owners owners;
  const int exceptions;
};

/// The shard of a buffer with this number.
std::byte *shardOf(const ChipMemory &chip, const Buffer &buffer, size_t number) {
  if (!buffer.inDram)
    return chip.l1->at(buffer.cores[number], buffer.address);
  const auto channels = static_cast<size_t>(chip.l1->chip.dramChannels);
  return chip.dram->at(static_cast<uint32_t>(number % channels),
                       buffer.address + number / channels * uint64_t(buffer.bytesPerCore));
}

/// The device memory of a run, which is freed at its end.
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

/// The part of a host buffer with these values that the shard of a buffer holds.
HostRows rowsOf(const Buffer &host, std::byte *values, const Buffer &buffer, size_t number) {
  const auto size = static_cast<int64_t>(storageBytes(buffer.dtype));
  const auto place = static_cast<int64_t>(number);
  const int64_t row = place / buffer.gridColumns * buffer.shardRows;
  const int64_t column = place % buffer.gridColumns * buffer.shardColumns;
  const int64_t rows = std::min(buffer.shardRows, host.rows() - row);
  const int64_t width = std::min(buffer.shardColumns, host.columns() - column);
  HostRows part{.stride = static_cast<size_t>(host.columns() * size),
                .shardBytes = static_cast<size_t>(buffer.shardColumns * size)};
  if (rows <= 0 || width <= 0)
    return part;
  part.at = values + (row * host.columns() + column) * size;
  part.bytes = static_cast<size_t>(width * size);
  part.rows = static_cast<uint64_t>(rows);
  return part;
}

size_t shardBytes(const Buffer &buffer) {
  return static_cast<size_t>(buffer.shardRows * buffer.shardColumns) * storageBytes(buffer.dtype);
}

/// Writes a shard: what the host buffer does not have is 0.
void writeShard(const ChipMemory &chip, const Buffer &host, const Buffer &buffer, size_t number, std::byte *from) {
  rowsOf(host, from, buffer, number).read(0, static_cast<uint64_t>(buffer.shardRows), shardOf(chip, buffer, number));
}

void readShard(const ChipMemory &chip, const Buffer &host, const Buffer &buffer, size_t number, std::byte *to) {
  rowsOf(host, to, buffer, number).write(0, static_cast<uint64_t>(buffer.shardRows), shardOf(chip, buffer, number));
}

/// Calls f(shard) for all shards of a buffer, from all threads.
template <class F> void forEachShard(const Buffer &buffer, F f) {
  constexpr size_t least = 65536; // bytes of a thread
  const auto count = static_cast<int64_t>(buffer.cores.size());
  const size_t bytes = std::max<size_t>(shardBytes(buffer), 1);
  parallelFor(count, static_cast<int64_t>((least + bytes - 1) / bytes), [&](int64_t begin, int64_t end) {
    for (int64_t number = begin; number < end; ++number)
      f(static_cast<size_t>(number));
  });
}

void zeroDram(const ChipMemory &chip, const Buffer &buffer) {
  const auto channels = static_cast<uint64_t>(chip.l1->chip.dramChannels);
  for (uint32_t bank = 0; bank < std::min<uint64_t>(channels, buffer.cores.size()); ++bank)
    chip.dram->clear(bank, buffer.address, buffer.bytesPerBank);
}

//===- Commands of cores --------------------------------------------------===//

// What a core does in commands that no other core has a part in, it does in one go: its L1 stays in the cache of a
// thread.

/// A program whose kernels stay on their cores.
struct LaunchStep {
  const EnqueueProgram *program;
  OpPerf *perf;
  std::vector<CoreWork> works = {}; // by core
};
struct ReadStep {
  const Buffer *from, *host;
  std::shared_ptr<std::byte> to;
};
/// A new buffer in L1 is 0, but for the first bytes, which the next command writes.
struct ZeroStep {
  const Buffer *buffer;
  size_t written = 0;                 // of a shard
  const LaunchStep *launch = nullptr; // the program that uses it next; may be null
  const ReadStep *read = nullptr;     // after which nothing uses it
};
struct WriteStep {
  const Buffer *host, *to;
  std::shared_ptr<std::byte> from;
  const LaunchStep *launch = nullptr; // after which nothing uses it
};
struct FreeStep {
  const Buffer *buffer;
};
using Step = std::variant<ZeroStep, WriteStep, ReadStep, LaunchStep, FreeStep>;

bool overlap(const CircularBuffer &ring, const Buffer &buffer) {
  const uint64_t ringEnd = ring.address + uint64_t(ring.ring.pageBytes) * ring.ring.pages;
  return buffer.address < ringEnd && ring.address < uint64_t(buffer.address) + buffer.bytesPerCore;
}

/// The ring that is all of the buffer on this core, unless another ring overlaps it; or null.
const CircularBuffer *ringOf(const EnqueueProgram &program, const Buffer &buffer, CoreIndex core) {
  const CircularBuffer *found = nullptr;
  for (const CircularBuffer &ring : program.rings) {
    if (!overlap(ring, buffer) || !placeIn(ring.ring.cores, core))
      continue;
    if (found || ring.address != buffer.address ||
        uint64_t(ring.ring.pageBytes) * ring.ring.pages != buffer.bytesPerCore)
      return nullptr;
    found = &ring;
  }
  return found;
}

/// Whether the pages of a ring that is all of the buffer consist of rows of a shard.
bool hasRows(const CircularBuffer &ring, const Buffer &buffer) {
  const size_t row = static_cast<size_t>(buffer.shardColumns) * storageBytes(buffer.dtype);
  return !buffer.tiled && row && ring.ring.pageBytes % row == 0 && shardBytes(buffer) == buffer.bytesPerCore;
}

bool runsOn(const EnqueueProgram &program, CoreIndex core) {
  return std::ranges::any_of(program.kernels,
                             [&](const Kernel &kernel) { return placeIn(kernel.cores, core).has_value(); });
}

/// Whether a step has a part in a buffer that exists.
bool hasPart(const Step &step, const Buffer &buffer) {
  return std::visit(
      [&]<class T>(const T &of) {
        if constexpr (std::is_same_v<T, WriteStep>)
          return of.to == &buffer;
        else if constexpr (std::is_same_v<T, ReadStep>)
          return of.from == &buffer;
        else if constexpr (std::is_same_v<T, LaunchStep>)
          return std::ranges::any_of(of.program->rings,
                                     [&](const CircularBuffer &ring) { return overlap(ring, buffer); });
        else
          return of.buffer == &buffer;
      },
      step);
}

template <class T> T *stepAt(std::vector<Step> &steps, size_t i) {
  return i < steps.size() ? std::get_if<T>(&steps[i]) : nullptr;
}

/// Finds the buffers that only exist between a transfer and a program: kernels may use the rows of the host in their
/// place.
void joinTransfers(std::vector<Step> &steps) {
  const auto after = [&](size_t i, const Buffer &buffer) {
    while (++i < steps.size() && !hasPart(steps[i], buffer))
      ;
    return i;
  };
  for (size_t i = 0; i < steps.size(); ++i)
    if (auto *write = stepAt<WriteStep>(steps, i)) {
      const size_t next = after(i, *write->to);
      if (stepAt<LaunchStep>(steps, next) && stepAt<FreeStep>(steps, after(next, *write->to)))
        write->launch = stepAt<LaunchStep>(steps, next);
    } else if (auto *zero = stepAt<ZeroStep>(steps, i)) {
      const size_t next = after(i, *zero->buffer), last = after(next, *zero->buffer);
      zero->launch = stepAt<LaunchStep>(steps, next);
      if (zero->launch && stepAt<FreeStep>(steps, after(last, *zero->buffer)))
        zero->read = stepAt<ReadStep>(steps, last);
    }
}

/// One run on one device of the mesh.
class Run {
public:
  /// `memory`: null but of the first device.
  Run(runtime::BinaryImage &image, size_t index, const Mesh &mesh, const CompiledKernels *kernels, DeviceMemory *memory)
      : image(image), program(image.metal->programs[index]), name(image.programs[index].name), mesh(mesh),
        chip(mesh.chips[mesh.own]), kernels(kernels), memory(memory), host(program.buffers.size()) {}

  void bind(size_t input, std::shared_ptr<std::byte> values) { host[program.inputs[input]] = std::move(values); }
  std::shared_ptr<std::byte> output(size_t index) { return values(program.outputs[index]); }

  /// Runs a command, or puts off the steps of its cores. `perf` is complete after finish().
  void command(const Command &command, OpPerf &perf) {
    std::visit([&](const auto &what) { run(what, perf); }, command.what);
  }
  /// Whether a program has no part for other chips and cores, so that command() puts it off.
  bool putsOff(const EnqueueProgram &command) const { return !runtime::perfRecording() && kernels->alone(command); }
  /// Runs what was put off. Throws the error of the first of these commands that has one.
  void finish() {
    if (steps.empty())
      return;
    std::vector<Step> now = std::exchange(steps, {});
    const Interruptible *const interruptible = Interruptible::current();
    for (Step &step : now)
      if (auto *launch = std::get_if<LaunchStep>(&step))
        launch->works.resize(static_cast<size_t>(chip.l1->chip.cores()));
    joinTransfers(now);
    // If no buffer outlives these steps, all cores of a thread take turns in one memory: it stays in the thread's
    // cache.
    const bool contained = std::exchange(fresh, buffers == 0) && fresh;
    parallelFor(chip.l1->chip.cores(), 1, [&](int64_t begin, int64_t end) {
      const Memories<L1> shared(image, &Kept::oneCore, contained ? 1 : 0, &L1::ofOneCore);
      const ChipMemory memory{contained ? shared[0] : chip.l1, nullptr};
      for (int64_t core = begin; core < end; ++core)
        runCore(memory, static_cast<CoreIndex>(core), now, interruptible);
    });
    for (Step &step : now)
      if (auto *launch = std::get_if<LaunchStep>(&step)) {
        std::string printed;
        const Written onEnd{printed};
        count(joined(launch->works, chip.l1->chip, name, &printed), *launch->perf);
      }
  }
  std::shared_ptr<std::byte> &values(uint32_t buffer) {
    finish();
    return given(buffer);
  }
  std::set<std::string> roundedOnly; // functions that exact arithmetic does not cover and that got floats

private:
  /// Takes the steps of a core.
  void runCore(const ChipMemory &chip, CoreIndex core, std::vector<Step> &all, const Interruptible *interruptible) {
    std::multimap<const LaunchStep *, StartingRing> starting;
    std::set<const ReadStep *> written; // by kernels
    const auto ringIn = [&](const LaunchStep *launch, const Buffer &buffer) {
      return launch && runsOn(*launch->program, core) ? ringOf(*launch->program, buffer, core) : nullptr;
    };
    for (Step &step : all) {
      if (const auto *zero = std::get_if<ZeroStep>(&step)) {
        const Buffer &buffer = *zero->buffer;
        const auto number = placeIn(buffer.cores, core);
        if (!number && !(buffer.ring && placeIn(buffer.ring->cores, core)))
          continue;
        if (const CircularBuffer *ring = ringIn(zero->launch, buffer)) {
          StartingRing start{ring->port};
          if (const ReadStep *read = zero->read; read && number && hasRows(*ring, buffer)) {
            start.rows = rowsOf(*read->host, read->to.get(), buffer, *number);
            start.isResult = true;
            written.insert(read);
          }
          starting.emplace(zero->launch, start);
          continue;
        }
        const size_t behind = number ? zero->written : 0;
        std::memset(chip.l1->at(core, buffer.address) + behind, 0, buffer.bytesPerCore - behind);
      } else if (const auto *write = std::get_if<WriteStep>(&step)) {
        const auto number = placeIn(write->to->cores, core);
        if (!number)
          continue;
        if (const CircularBuffer *ring = ringIn(write->launch, *write->to); ring && hasRows(*ring, *write->to))
          starting.emplace(write->launch,
                           StartingRing{ring->port, rowsOf(*write->host, write->from.get(), *write->to, *number)});
        else
          writeShard(chip, *write->host, *write->to, *number, write->from.get());
      } else if (const auto *read = std::get_if<ReadStep>(&step)) {
        if (const auto number = placeIn(read->from->cores, core); number && !written.contains(read))
          readShard(chip, *read->host, *read->from, *number, read->to.get());
      } else if (auto *launch = std::get_if<LaunchStep>(&step); launch && runsOn(*launch->program, core)) {
        std::vector<StartingRing> rings;
        for (auto [at, end] = starting.equal_range(launch); at != end; ++at)
          rings.push_back(at->second);
        launch->works[core] = runAlone(
            *chip.l1, core, *launch->program, name, [&](uint32_t entry) { return kernels->entry(entry); }, mesh,
            interruptible, rings);
        if (launch->works[core].error || !launch->works[core].ended)
          return;
      }
    }
  }
  void count(ProgramWork work, OpPerf &perf) {
    roundedOnly.insert(work.roundedOnly.begin(), work.roundedOnly.end());
    takeReport(reportOf(chip.l1->chip, std::move(work)), chip.l1->chip, perf);
  }

  /// A host buffer, of which what no command has written is 0.
  std::shared_ptr<std::byte> &given(uint32_t buffer) {
    if (blankHost.erase(buffer))
      std::memset(host[buffer].get(), 0, program.buffers[buffer].hostBytes());
    return host[buffer];
  }
  /// The same before commands of cores write all of it.
  std::shared_ptr<std::byte> &overwritten(uint32_t buffer) {
    blankHost.erase(buffer);
    return host[buffer];
  }

  /// Whether a core's step that was put off writes a host buffer, or reads it with `reads`: another core's next step
  /// may have the same bytes.
  bool uses(uint32_t buffer, bool reads) const {
    return std::ranges::any_of(steps, [&](const Step &step) {
      const auto *read = std::get_if<ReadStep>(&step);
      const auto *write = std::get_if<WriteStep>(&step);
      return (read && read->to == host[buffer]) || (reads && write && write->from == host[buffer]);
    });
  }

  void run(const MeshShard &, OpPerf &) { finish(); } // of all devices together
  void run(const HostAlloc &command, OpPerf &) {
    const Buffer &buffer = program.buffers[command.buffer];
    auto values = sim::allocateHost(buffer.hostBytes(), "a host buffer of a metal program");
    blankHost.erase(command.buffer);
    if (buffer.constant.empty())
      blankHost.insert(command.buffer);
    else
      std::memcpy(values.get(), buffer.constant.data(), buffer.constant.size());
    host[command.buffer] = std::move(values);
  }
  void run(const CreateBuffer &command, OpPerf &) {
    const Buffer &buffer = program.buffers[command.buffer];
    if (memory)
      memory->create(buffer, command.buffer);
    if (!buffer.inDram) {
      ++buffers;
      return void(steps.push_back(ZeroStep{&buffer}));
    }
    finish();
    zeroDram(chip, buffer);
  }
  void run(const DeallocateBuffer &command, OpPerf &) {
    const Buffer &buffer = program.buffers[command.buffer];
    if (memory)
      memory->deallocate(buffer, command.buffer);
    if (buffer.inDram)
      return;
    --buffers;
    if (!steps.empty())
      steps.push_back(FreeStep{&buffer});
  }
  void run(const WriteBuffer &command, OpPerf &perf) {
    const Buffer &to = program.buffers[command.to], &from = program.buffers[command.from];
    (to.inDram ? perf.cost.dramBytes : perf.cost.l1Bytes) = static_cast<int64_t>(shardBytes(to) * to.cores.size());
    if (to.inDram || uses(command.from, false))
      finish();
    if (to.inDram) {
      std::byte *const values = given(command.from).get();
      return forEachShard(to, [&](size_t number) { writeShard(chip, from, to, number, values); });
    }
    if (!steps.empty())
      if (auto *zero = std::get_if<ZeroStep>(&steps.back()); zero && zero->buffer == &to)
        zero->written = shardBytes(to);
    steps.push_back(WriteStep{&from, &to, given(command.from)});
  }
  void run(const ReadBuffer &command, OpPerf &perf) {
    const Buffer &from = program.buffers[command.from], &to = program.buffers[command.to];
    const bool all =
        from.gridRows * from.shardRows >= to.rows() && from.gridColumns * from.shardColumns >= to.columns();
    (from.inDram ? perf.cost.dramBytes : perf.cost.l1Bytes) = static_cast<int64_t>(to.hostBytes());
    if (uses(command.to, true))
      finish();
    if (!from.inDram)
      return void(steps.push_back(ReadStep{&from, &to, all ? overwritten(command.to) : given(command.to)}));
    finish();
    std::byte *const values = (all ? overwritten(command.to) : given(command.to)).get();
    forEachShard(from, [&](size_t number) { readShard(chip, to, from, number, values); });
  }
  /// Shows the output of kernels, also if they fail.
  struct Written {
    const std::string &text;
    ~Written() { std::fwrite(text.data(), 1, text.size(), stdout), text.empty() ? 0 : std::fflush(stdout); }
  };
  void run(const EnqueueProgram &command, OpPerf &perf) {
    if (putsOff(command))
      return void(steps.push_back(LaunchStep{&command, &perf}));
    finish();
    std::string printed;
    const Written onEnd{printed};
    count(runKernels(
              *chip.l1, command, name, [&](uint32_t entry) { return kernels->entry(entry); }, chip.dram, &printed, mesh,
              runtime::perfRecording()),
          perf);
  }
  void run(const Return &, OpPerf &) { finish(); }
  void run(const Finish &, OpPerf &) { finish(); }

  runtime::BinaryImage &image;
  const Program &program;
  const std::string_view name;
  const Mesh mesh;
  const ChipMemory chip;
  const CompiledKernels *kernels;
  DeviceMemory *memory;                         // of the first device: all are allocated in lockstep
  std::vector<std::shared_ptr<std::byte>> host; // by buffer
  std::set<uint32_t> blankHost;                 // buffers whose values are 0, though memory holds something else
  std::vector<Step> steps;                      // put off
  int64_t buffers = 0;                          // in L1, now
  bool fresh = true;                            // there was none when the first of the steps was put off
};

/// Where the part of a device begins in the whole: of several axes that divide a dimension, the outer one comes first.
std::vector<int64_t> startOf(const MeshShard &shard, int64_t device, const Shape &part) {
  std::vector<int64_t> start(part.size());
  for (size_t axis = 0; axis < shard.mesh.size(); ++axis) {
    const int64_t inner = volume(Shape(shard.mesh.begin() + static_cast<int64_t>(axis) + 1, shard.mesh.end()));
    if (shard.dims[axis] >= 0) {
      int64_t &at = start[static_cast<size_t>(shard.dims[axis])];
      at = at * shard.mesh[axis] + device / inner % shard.mesh[axis];
    }
  }
  for (size_t dim = 0; dim < part.size(); ++dim)
    start[dim] *= part[dim];
  return start;
}

/// The first of the devices that have the same part as this one.
int64_t firstOf(const MeshShard &shard, int64_t device) {
  int64_t first = device;
  for (size_t axis = 0; axis < shard.mesh.size(); ++axis) {
    const int64_t inner = volume(Shape(shard.mesh.begin() + static_cast<int64_t>(axis) + 1, shard.mesh.end()));
    if (shard.dims[axis] < 0)
      first -= device / inner % shard.mesh[axis] * inner;
  }
  return first;
}

/// Calls f(offset of a row in the part, offset in the whole, bytes) for the rows of the part of a device.
template <class F>
void forEachPartRow(const Shape &part, const Shape &whole, const std::vector<int64_t> &start, int64_t bytes, F f) {
  const int64_t width = part.empty() ? 1 : part.back();
  const int64_t rows = width ? volume(part) / width : 0;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t at = part.empty() ? 0 : start.back(), rest = row, stride = whole.empty() ? 1 : whole.back();
    for (size_t dim = part.size() - std::min<size_t>(1, part.size()); dim-- > 0; rest /= part[dim]) {
      at += (start[dim] + rest % part[dim]) * stride;
      stride *= whole[dim];
    }
    f(row * width * bytes, at * bytes, static_cast<size_t>(width * bytes));
  }
}

void shard(const MeshShard &command, const Program &program, std::vector<Run> &runs) {
  const Buffer &from = program.buffers[command.from], &to = program.buffers[command.to];
  const Buffer &part = command.joins ? from : to, &whole = command.joins ? to : from;
  const auto bytes = static_cast<int64_t>(storageBytes(to.dtype));
  const bool cuts = std::ranges::any_of(command.dims, [](int64_t dim) { return dim >= 0; });
  std::shared_ptr<std::byte> joined;
  if (command.joins)
    joined = sim::allocateHost(to.hostBytes(), "a host buffer of a metal program");
  for (size_t device = 0; device < runs.size(); ++device) {
    const auto number = static_cast<int64_t>(device);
    const std::vector<int64_t> start = startOf(command, number, part.shape);
    const std::byte *source = runs[device].values(command.from).get();
    if (!command.joins) {
      if (!cuts) {
        runs[device].values(command.to) = runs[device].values(command.from);
        continue;
      }
      auto values = sim::allocateHost(to.hostBytes(), "a host buffer of a metal program");
      forEachPartRow(part.shape, whole.shape, start, bytes,
                     [&](int64_t own, int64_t there, size_t n) { std::memcpy(values.get() + own, source + there, n); });
      runs[device].values(command.to) = std::move(values);
      continue;
    }
    if (const auto first = static_cast<size_t>(firstOf(command, number)); first == device)
      forEachPartRow(part.shape, whole.shape, start, bytes,
                     [&](int64_t own, int64_t there, size_t n) { std::memcpy(joined.get() + there, source + own, n); });
    else if (std::memcmp(source, runs[first].values(command.from).get(), from.hostBytes()) != 0)
      throw Error("MeshShardCommand: the value of chip " + std::to_string(first) + " is taken for that of chip " +
                  std::to_string(device) + ", which differs from it");
  }
  if (command.joins)
    for (Run &run : runs)
      run.values(command.to) = joined;
}

//===- Watched buffers ----------------------------------------------------===//

struct Watch {
  std::mutex mutex;
  std::set<uint32_t> ids;
  std::function<void(const BufferChange &)> observer;
};
Watch &watch() {
  static Watch instance;
  return instance;
}

/// The values of a device buffer, row by row.
std::vector<double> valuesOf(const ChipMemory &chip, const Buffer &buffer) {
  const int64_t columns = buffer.gridColumns * buffer.shardColumns;
  std::vector<double> values(static_cast<size_t>(buffer.gridRows * buffer.shardRows * columns));
  const auto rows = static_cast<uint32_t>(buffer.shardRows), width = static_cast<uint32_t>(buffer.shardColumns);
  const size_t count = size_t(rows) * width;
  for (size_t k = 0; k < buffer.cores.size(); ++k) {
    const std::byte *shard = shardOf(chip, buffer, k);
    std::vector<double> own(count);
    if (!buffer.tiled && ttnn::isFloat(buffer.dtype)) {
      std::vector<float> floats(count);
      ttnn::loader<float>(buffer.dtype)(shard, floats.data(), count);
      std::ranges::copy(floats, own.begin());
    } else if (!buffer.tiled) {
      std::vector<int64_t> integers(count);
      ttnn::loader<int64_t>(buffer.dtype)(shard, integers.data(), count);
      std::ranges::copy(integers, own.begin());
    } else {
      const std::span tiles(shard, count / 1024 * sim::tileBytes(buffer.dtype));
      if (ttnn::isFloat(buffer.dtype))
        std::ranges::copy(floatsFromTiles(tiles, rows, width, buffer.dtype), own.begin());
      else
        std::ranges::copy(integersFromTiles(tiles, rows, width, buffer.dtype), own.begin());
    }
    const auto place = static_cast<int64_t>(k);
    const int64_t first =
        place / buffer.gridColumns * buffer.shardRows * columns + place % buffer.gridColumns * buffer.shardColumns;
    for (int64_t r = 0; r < buffer.shardRows; ++r)
      std::copy_n(own.begin() + r * buffer.shardColumns, buffer.shardColumns, values.begin() + first + r * columns);
  }
  return values;
}

/// Looks at the watched buffers after each command.
class Watcher {
public:
  Watcher(const Program &program, std::string_view name, const ChipMemory &chip)
      : program(program), name(name), chip(chip) {
    std::lock_guard lock(watch().mutex);
    if (watch().observer)
      ids = watch().ids, observer = watch().observer;
  }
  bool looks() const { return observer != nullptr; }
  void look(uint32_t number, const Command &command) {
    if (const auto *create = std::get_if<CreateBuffer>(&command.what); create && observer)
      if (ids.contains(program.buffers[create->buffer].id))
        known.emplace(create->buffer, valuesOf(chip, program.buffers[create->buffer]));
    if (const auto *dropped = std::get_if<DeallocateBuffer>(&command.what))
      known.erase(dropped->buffer);
    for (auto &[index, before] : known) {
      const Buffer &buffer = program.buffers[index];
      std::vector<double> now = valuesOf(chip, buffer);
      int64_t changed = 0;
      for (size_t i = 0; i < now.size(); ++i)
        changed += std::memcmp(&now[i], &before[i], sizeof now[i]) != 0;
      if (!changed)
        continue;
      before = now;
      observer({std::string(name), std::string(command.name()), std::string(command.loc), number, buffer.id,
                buffer.dtype, buffer.gridRows * buffer.shardRows, buffer.gridColumns * buffer.shardColumns, changed,
                std::move(now)});
    }
  }

private:
  const Program &program;
  const std::string_view name;
  const ChipMemory chip;
  std::set<uint32_t> ids;
  std::function<void(const BufferChange &)> observer;
  std::map<uint32_t, std::vector<double>> known; // by buffer
};

/// Runs the commands on all devices; the slowest device counts. Adds to the report, and when `recording` what took how
/// long: then, and if buffers are watched, a command ends before the next one begins.
void runCommands(const Program &program, std::vector<Run> &runs, const DeviceMemory &memory, runtime::RunReport &report,
                 bool recording, Watcher &watcher) {
  std::vector<std::vector<OpPerf>> perfs(runs.size(), std::vector<OpPerf>(program.commands.size()));
  for (auto &ofRun : perfs)
    for (OpPerf &perf : ofRun)
      perf.cost.launched = false; // but for programs of kernels
  const auto finish = [&] {
    for (Run &run : runs)
      run.finish();
  };
  const auto step = [&](uint32_t i) {
    checkInterrupt();
    memory.checkReset();
    const Command &command = program.commands[i];
    // Its kernels may write to other chips.
    if (const auto *enqueue = std::get_if<EnqueueProgram>(&command.what); enqueue && !runs.front().putsOff(*enqueue))
      finish();
    for (size_t device = 0; device < runs.size(); ++device)
      runs[device].command(command, perfs[device][i]);
    if (const auto *what = std::get_if<MeshShard>(&command.what))
      shard(*what, program, runs);
  };
  for (uint32_t i = 0; i < program.commands.size(); ++i) {
    const int64_t begin = recording ? nanoseconds() : 0;
    try {
      step(i);
    } catch (const Interrupted &) {
      throw;
    } catch (...) {
      finish(); // an earlier command's error comes first
      throw;
    }
    if (recording || watcher.looks()) {
      finish();
      watcher.look(i, program.commands[i]);
    }
    if (!recording)
      continue;
    OpPerf &perf = perfs.front()[i];
    perf.hostNs = nanoseconds() - begin;
    std::ranges::copy(memory.resident, std::begin(perf.resident));
  }
  finish();
  for (uint32_t i = 0; i < program.commands.size(); ++i) {
    OpPerf slowest = perfs.front()[i];
    for (const auto &ofRun : perfs)
      if (ofRun[i].deviceNs > slowest.deviceNs)
        slowest = ofRun[i];
    report.cycles += slowest.cycles;
    report.deviceNs += slowest.deviceNs;
    if (!recording)
      continue;
    slowest.op = i;
    slowest.name = program.commands[i].name();
    slowest.loc = program.commands[i].loc;
    slowest.hostNs = perfs.front()[i].hostNs;
    std::ranges::copy(perfs.front()[i].resident, std::begin(slowest.resident));
    report.ops.push_back(slowest);
  }
}

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

/// Host values of the inputs in the program's form.
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
    // Booleans are often passed as bytes, and vice versa.
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

void watchBuffers(std::set<uint32_t> ids, std::function<void(const BufferChange &)> observer) {
  std::lock_guard lock(watch().mutex);
  watch().ids = std::move(ids);
  watch().observer = std::move(observer);
}

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
  // The caller sees the values that the program writes to an input; other tensors that share its values do not.
  for (size_t i = 0; i < inputs.size(); ++i)
    if (writes(metal.programs[index], metal.programs[index].inputs[i]))
      Tensor(inputs[i]).unshare();
  const auto kernels = hasKernels(metal.programs[index]) ? compiledKernels(image) : nullptr;
  const size_t devices = program.devices();
  const Memories<L1> l1(image, &Kept::l1, devices);
  const Memories<Dram> dram(image, &Kept::dram, usesDram(metal.programs[index]) ? devices : 0);
  std::vector<ChipMemory> chips;
  for (size_t d = 0; d < devices; ++d)
    chips.push_back({l1[d], dram[d]});
  report.binary = binary;
  report.program = index;
  const int64_t begin = nanoseconds();
  std::vector<Tensor::Shards> outputs(program.outputs.size());
  DeviceMemory memory(device, program.name);
  std::vector<Run> runs;
  for (uint32_t d = 0; d < devices; ++d) {
    Run &run = runs.emplace_back(image, index, Mesh{chips, program.meshShape.back(), d, device->options().exact},
                                 kernels.get(), d ? nullptr : &memory);
    for (size_t i = 0; i < inputs.size(); ++i)
      run.bind(i, inputs[i].share(inputs[i].shards() > 1 ? d : 0));
  }
  Watcher watcher(metal.programs[index], program.name, chips.front());
  runCommands(metal.programs[index], runs, memory, report, runtime::perfRecording(), watcher);
  std::ranges::copy(memory.peak, std::begin(report.memoryPeak));
  if (device->options().exact) {
    Kept &kept = image.kept<Kept>();
    std::lock_guard lock(kept.mutex);
    kept.roundedOnly = std::move(runs.front().roundedOnly);
  }
  for (size_t i = 0; i < outputs.size(); ++i)
    for (size_t d = 0; d < (program.spec(program.outputs[i]).distributed ? devices : 1); ++d)
      outputs[i].push_back(runs[d].output(i));
  for (size_t i = 0; i < inputs.size(); ++i)
    if (writes(metal.programs[index], metal.programs[index].inputs[i]))
      inputs[i].markWritten();
  report.hostNs = nanoseconds() - begin;
  device->addRun({1, static_cast<int64_t>(metal.programs[index].commands.size()), report.cycles, report.deviceNs});
  // An output that is an input, another output or the same on several devices is values of its own: callers may write
  // them.
  std::set<const std::byte *> known;
  for (const Tensor &input : inputs)
    for (size_t d = 0; d < input.shards(); ++d)
      known.insert(input.share(d).get());
  runtime::Tensors result;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const TensorSpec &spec = program.spec(program.outputs[i]);
    bool shared = false;
    for (const auto &values : outputs[i])
      shared |= !known.insert(values.get()).second;
    Tensor tensor =
        Tensor::fromShards(spec, std::move(outputs[i]), spec.distributed ? program.meshShape : std::vector<uint32_t>());
    result.push_back(shared ? tensor.clone() : std::move(tensor));
  }
  return result;
}

} // namespace tt::metal
