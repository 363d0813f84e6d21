//===- execute.cpp - run a prepared program -------------------------------===//

#include "executable.h"
#include "tt/sim/host.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace tt::runtime {
namespace {

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// A shared buffer may be given for every shard.
size_t shardOf(const Tensor &tensor, uint32_t shard) { return tensor.shards() == 1 ? 0 : shard; }

/// What a hook sees of a run. It may be kept longer than the run lasts.
class Context final : public ProgramContext {
public:
  Context(Executable &executable, const Binary &binary, size_t program, const Device &device)
      : executable(&executable), image(binary), index(program), on(device) {}
  const Binary &binary() const override { return image; }
  size_t program() const override { return index; }
  const Device &device() const override { return on; }
  std::optional<Tensor> read(uint32_t value) const override { return running().read(value); }
  void write(uint32_t value, const Tensor &tensor) override { running().write(value, tensor); }
  void end() { executable = nullptr; }

private:
  Executable &running() const {
    if (!executable)
      throw Error("program \"" + std::string(image.program(index).name) +
                  "\" has ended; its values can be read and written in hooks only");
    return *executable;
  }
  Executable *executable;
  Binary image;
  size_t index;
  Device on;
};

template <class F> class AtEnd {
public:
  explicit AtEnd(F f) : f(std::move(f)) {}
  ~AtEnd() { f(); }

private:
  F f;
};

} // namespace

std::vector<Tensor> Executable::bindInputs(const std::vector<Tensor> &inputs, std::vector<bool> &moved) const {
  if (inputs.size() != program.inputs.size())
    throw Error(name() + " takes " + std::to_string(program.inputs.size()) + " inputs and was given " +
                std::to_string(inputs.size()));
  std::vector<Tensor> bound = inputs;
  moved.assign(inputs.size(), false);
  const Device device = this->device.lock();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const uint32_t value = program.inputs[i];
    const TensorSpec &wanted = program.spec(value);
    const std::string_view label = program.values[value].name;
    const auto fail = [&](const std::string &what) {
      throw Error(name() + ": input " + std::to_string(i) + (label.empty() ? "" : " (" + std::string(label) + ")") +
                  " " + what);
    };
    if (!inputs[i])
      fail("is empty");
    inputs[i].requireAllocated("submit");
    const TensorSpec &given = inputs[i].spec();
    if (given.shape != wanted.shape)
      fail("has shape " + toString(given.shape) + "; expected " + toString(wanted.shape) +
           (wanted.distributed && program.devices() > 1 ? " on each device" : ""));
    const uint32_t devices = wanted.distributed ? program.devices() : 1;
    if (inputs[i].shards() != devices && inputs[i].shards() != 1)
      fail("has " + std::to_string(inputs[i].shards()) + " shards; expected " +
           (devices == 1 ? "1" : std::to_string(devices) + ", or 1 for all devices"));
    if (inputs[i].isOnDevice() && inputs[i].device() != device)
      throw DeviceError(name() + ": input " + std::to_string(i) + " lies on device " +
                        std::to_string(inputs[i].device()->id()) + ", but the program runs on device " +
                        std::to_string(device->id()));
    if (given.dtype != wanted.dtype) {
      // A block format has no host tensors, and booleans often come as bytes: both are rounded here as by to_layout.
      const bool blocks =
          sim::isBlockFormat(wanted.dtype) && (given.dtype == DataType::Float32 || given.dtype == DataType::BFloat16);
      const bool booleans = wanted.dtype == DataType::Bool && given.dtype == DataType::UInt8;
      if (!blocks && !booleans)
        fail("has type " + std::string(toString(given.dtype)) + "; expected " + std::string(toString(wanted.dtype)));
      bound[i] = castTensor(inputs[i], wanted.dtype);
    }
    moved[i] = wanted.memory.buffer != BufferType::SystemMemory &&
               !(inputs[i].isOnDevice() && given.memory == wanted.memory && given.layout == wanted.layout &&
                 given.dtype == wanted.dtype);
    if (!written[value])
      continue;
    // An op changes this input in place (a cache, running statistics). A tensor on the device is changed, as on the
    // chip; what came from the host is not.
    if (inputs[i].isOnDevice() && !moved[i])
      bound[i].unshare();
    else
      bound[i] = bound[i].clone();
  }
  return bound;
}

void Executable::runStep(const Step &step) const {
  if (step.mesh) {
    step.mesh->run({meshIns.data() + step.firstMeshIn, step.meshIns},
                   {meshOuts.data() + step.firstMeshOut, step.meshOuts});
    return;
  }
  for (uint32_t d = 0; d < step.devices; ++d)
    step.kernel->run({{inPointers.data() + step.firstIn + size_t(d) * step.ins, step.ins},
                      {outPointers.data() + step.firstOut + size_t(d) * step.outs, step.outs},
                      arena.get()});
}

void Executable::runSteps(RunReport *perf) const {
  if (!perf) {
    for (const Step &step : steps)
      runStep(step);
    return;
  }
  for (const Step &step : steps) {
    const int64_t start = now();
    runStep(step);
    perf->ops[step.op].hostNs = now() - start;
  }
}

std::vector<Tensor> Executable::run(const Binary &binary, const std::vector<Tensor> &inputs, const Hooks *hooks,
                                    RunReport &report) {
  const Device device = this->device.lock();
  if (running)
    throw Error(name() + " was submitted from a hook of its own run");
  running = true;
  const AtEnd ended([&] { running = false; });

  std::vector<bool> moved;
  const std::vector<Tensor> bound = bindInputs(inputs, moved);
  report.binary = binary;
  report.program = programIndex;
  report.cycles = totalDuration.cycles;
  report.deviceNs = totalDuration.ns;
  report.arenaBytes = arenaBytes;
  const bool perf = perfRecording();
  if (perf)
    report.ops = this->report().ops;

  std::vector<std::vector<std::shared_ptr<std::byte>>> shards(program.outputs.size());
  for (size_t k = 0; k < shards.size(); ++k) {
    const TensorSpec &spec = program.spec(program.outputs[k]);
    shards[k].resize(spec.distributed ? program.devices() : 1);
    for (auto &shard : shards[k])
      shard = sim::allocateHost(spec.bytes(), "an output");
  }

  std::vector<sim::Allocation> allocations;
  if (mode == Mode::Observed) {
    allocations = runObserved(binary, device, bound, moved, *hooks, report);
  } else {
    allocations = memory.run(*device, moved, report.memoryPeak);
    for (const Patch &patch : patches) {
      std::byte *data = patch.fromOutput ? shards[patch.index][patch.shard].get()
                                         : bound[patch.index].data(shardOf(bound[patch.index], patch.shard));
      if (patch.isOut)
        outPointers[patch.position] = data;
      else
        inPointers[patch.position] = data;
    }
    const int64_t start = now();
    runSteps(perf ? &report : nullptr);
    report.hostNs = now() - start;
  }

  for (const OutputCopy &copy : copies) {
    const Root &root = roots[rootOf[copy.value]];
    const size_t bytes = program.spec(copy.value).bytes();
    for (uint32_t d = 0; d < shards[copy.output].size() && bytes; ++d) {
      const std::byte *from = nullptr;
      switch (root.home) {
      case Home::Constant:
        from = root.constant;
        break;
      case Home::Arena:
        from = arenaAddress(root, root.shards == 1 ? 0 : d);
        break;
      case Home::Input:
        from = bound[root.index].data(shardOf(bound[root.index], d));
        break;
      case Home::Output:
        from = shards[root.index][d].get();
        break;
      case Home::Unset:
        break;
      }
      std::memcpy(shards[copy.output][d].get(), from, bytes);
    }
  }

  std::vector<Tensor> outputs;
  outputs.reserve(shards.size());
  for (size_t k = 0; k < shards.size(); ++k) {
    TensorSpec spec = program.spec(program.outputs[k]);
    spec.distributed = spec.distributed && program.devices() > 1;
    if (memory.outputGroups[k] != MemoryPlan::none)
      outputs.push_back(Tensor::onDevice(spec, std::move(shards[k]), device, std::move(allocations[k])));
    else
      outputs.push_back(Tensor::fromShards(spec, std::move(shards[k]),
                                           spec.distributed ? program.meshShape : std::vector<uint32_t>()));
  }
  device->addRun({1, static_cast<int64_t>(program.operations.size()), totalDuration.cycles, totalDuration.ns});
  return outputs;
}

std::vector<sim::Allocation> Executable::runObserved(const Binary &binary, const Device &device,
                                                     const std::vector<Tensor> &inputs, const std::vector<bool> &moved,
                                                     const Hooks &hooks, RunReport &report) {
  auto context = std::make_shared<Context>(*this, binary, programIndex, device);
  MemoryPlan::Blocks blocks;
  blocks.of.resize(memory.groups.size());
  int64_t peaksBefore[sim::memoryCount];
  device->withMemories([&](sim::Memories &memories) {
    blocks.generation = memories.generation();
    for (size_t i = 0; i < sim::memoryCount; ++i) {
      auto &bank = memories[static_cast<sim::Memory>(i)];
      peaksBefore[i] = bank.peak();
      bank.resetPeak();
    }
  });
  const AtEnd ended([&] {
    context->end();
    memory.abandon(*device, blocks);
    device->withMemories([&](sim::Memories &memories) {
      for (size_t i = 0; i < sim::memoryCount; ++i) {
        auto &bank = memories[static_cast<sim::Memory>(i)];
        report.memoryPeak[i] = bank.peak();
        bank.raisePeak(peaksBefore[i]);
      }
    });
  });

  std::fill(alive.begin(), alive.end(), 0);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const uint32_t value = program.inputs[i];
    const Root &root = roots[value];
    for (uint32_t d = 0; d < root.shards && inputs[i].bytes(); ++d)
      std::memcpy(arenaAddress(root, d), inputs[i].data(shardOf(inputs[i], d)), inputs[i].bytes());
    alive[value] = 1;
  }

  size_t next = 0;
  if (hooks.beforeProgram)
    hooks.beforeProgram(context);
  auto step = steps.begin();
  for (uint32_t op = 0; op < program.operations.size(); ++op) {
    const Operation &operation = program.operations[op];
    const OpContext opContext{binary, programIndex, op};
    if (hooks.beforeOp)
      hooks.beforeOp(context, opContext);
    memory.step(*device, moved, op, next, blocks);
    for (; step != steps.end() && step->op == op; ++step) {
      const int64_t start = now();
      runStep(*step);
      const int64_t took = now() - start;
      report.hostNs += took;
      if (!report.ops.empty())
        report.ops[op].hostNs = took;
    }
    for (uint32_t out : operation.outs)
      alive[out] = 1;
    if (hooks.afterOp)
      hooks.afterOp(context, opContext);
    if (operation.info->name == "ttnn.deallocate")
      for (uint32_t in : operation.ins)
        if (in != absentOperand)
          alive[in] = 0;
  }
  if (hooks.afterProgram)
    hooks.afterProgram(context);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Root &root = roots[program.inputs[i]];
    if (written[program.inputs[i]])
      for (uint32_t d = 0; d < inputs[i].shards() && inputs[i].bytes(); ++d)
        std::memcpy(inputs[i].data(d), arenaAddress(root, d), inputs[i].bytes());
  }
  memory.step(*device, moved, static_cast<uint32_t>(program.operations.size()), next, blocks);
  return memory.finish(*device, blocks);
}

std::optional<Tensor> Executable::read(uint32_t value) const {
  if (value >= alive.size())
    throw Error(name() + " has no value " + std::to_string(value) + "; it has " + std::to_string(alive.size()));
  if (!alive[value])
    return std::nullopt;
  TensorSpec spec = program.spec(value);
  spec.distributed = spec.distributed && program.devices() > 1;
  Tensor copy = Tensor::onHost(spec, spec.distributed ? program.meshShape : std::vector<uint32_t>());
  for (uint32_t d = 0; d < roots[value].shards && copy.bytes(); ++d)
    std::memcpy(copy.data(d), arenaAddress(roots[value], d), copy.bytes());
  return copy;
}

void Executable::write(uint32_t value, const Tensor &tensor) {
  if (value >= alive.size() || !alive[value])
    throw Error(name() + ": value " + std::to_string(value) + " cannot be replaced: it is not alive");
  tensor.requireAllocated("update_tensor_in_pool");
  const TensorSpec &spec = program.spec(value);
  if (tensor.shape() != spec.shape)
    throw Error(name() + ": value " + std::to_string(value) + " has shape " + toString(spec.shape) +
                "; it cannot be replaced by a tensor of shape " + toString(tensor.shape()));
  if (tensor.shards() != 1 && tensor.shards() != roots[value].shards)
    throw Error(name() + ": value " + std::to_string(value) + " has " + std::to_string(roots[value].shards) +
                " shards; it cannot be replaced by a tensor of " + std::to_string(tensor.shards()));
  const Tensor rounded = castTensor(tensor, spec.dtype);
  for (uint32_t d = 0; d < roots[value].shards && rounded.bytes(); ++d)
    std::memcpy(arenaAddress(roots[value], d), rounded.data(shardOf(rounded, d)), rounded.bytes());
}

RunReport Executable::report() const {
  RunReport report;
  report.program = programIndex;
  report.cycles = totalDuration.cycles;
  report.deviceNs = totalDuration.ns;
  report.arenaBytes = arenaBytes;
  report.ops.resize(program.operations.size());
  int64_t resident[sim::memoryCount] = {};
  size_t next = 0;
  for (uint32_t op = 0; op < report.ops.size(); ++op) {
    const Operation &operation = program.operations[op];
    report.ops[op] = {op, operation.info->name, operation.loc, 0, durations[op].cycles, durations[op].ns, costs[op]};
    memory.addResident(op, next, resident);
    std::copy(std::begin(resident), std::end(resident), report.ops[op].resident);
  }
  return report;
}

std::shared_ptr<Executable> prepare(const Binary &binary, size_t program, const Device &device, Mode mode) {
  ExecutableCache &cache = binary.impl().cache;
  const uint64_t epoch = device->programCacheEpoch();
  {
    std::lock_guard lock(cache.mutex);
    // Programs for devices that are gone go here: nobody else looks at them.
    cache.entries.remove_if([&](const ExecutableCache::Entry &entry) {
      const Device owner = entry.owner.lock();
      return !owner || !owner->isOpen() || entry.epoch != owner->programCacheEpoch();
    });
    for (const auto &entry : cache.entries)
      if (entry.device == device->id() && entry.program == program && entry.mode == mode)
        return entry.executable;
  }
  // Made outside of the lock: other devices need not wait. The device's own run mutex keeps a second thread from making
  // the same.
  auto executable = std::make_shared<Executable>(binary.impl(), program, device, mode);
  if (device->options().programCache) {
    std::lock_guard lock(cache.mutex);
    cache.entries.push_back({device->id(), device, epoch, program, mode, executable});
  }
  return executable;
}

} // namespace tt::runtime
