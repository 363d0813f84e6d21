//===- execute.cpp - run a prepared program -------------------------------===//

#include "program/executable.h"
#include "tt/interrupt.h"
#include "tt/recycle.h"
#include "tt/sim/host.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iterator>

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

void Executable::checkInputs(std::span<const Tensor> inputs) const {
  std::vector<Tensor> bound;
  std::vector<bool> moved;
  bindInputs(inputs, bound, moved);
}

/// `bound`: the inputs with the program's data types; `moved[i]`: input i takes memory on the device during the run.
void Executable::bindInputs(std::span<const Tensor> inputs, std::vector<Tensor> &bound,
                            std::vector<bool> &moved) const {
  if (inputs.size() != program.inputs.size())
    throw Error(name() + " takes " + std::to_string(program.inputs.size()) + " inputs and was given " +
                std::to_string(inputs.size()));
  bound.assign(inputs.begin(), inputs.end());
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
    if (inputs[i].shards() != devices && inputs[i].shards() != 1) {
      // What the program wants once, every chip may have.
      if (devices != 1 || inputs[i].shards() != program.devices())
        fail("has " + std::to_string(inputs[i].shards()) + " shards; expected " +
             (program.devices() == 1 ? "1" : std::to_string(program.devices()) + ", or 1 for all devices"));
      if (written[value])
        fail("has " + std::to_string(inputs[i].shards()) + " shards and is changed in place; expected 1");
      bound[i] = inputs[i].single((name() + ": input " + std::to_string(i)).c_str());
    }
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
      bound[i] = castTensor(bound[i], wanted.dtype);
    }
    moved[i] = wanted.memory.buffer != BufferType::SystemMemory &&
               !(inputs[i].isOnDevice() && given.memory == wanted.memory && given.layout == wanted.layout &&
                 given.dtype == wanted.dtype);
  }
}

/// The inputs as what calls of other programs are computed from.
std::vector<Argument> Executable::argumentsOf(std::span<const Tensor> inputs) const {
  std::vector<Tensor> bound;
  std::vector<bool> moved;
  bindInputs(inputs, bound, moved);
  std::vector<Argument> arguments(bound.size());
  for (size_t i = 0; i < bound.size(); ++i) {
    const uint32_t shards = program.spec(program.inputs[i]).distributed ? program.devices() : 1;
    for (uint32_t d = 0; d < shards; ++d) {
      // Values that their owner may free or write when the run is over are not shared with what is kept.
      std::shared_ptr<const std::byte> values = bound[i].share(shardOf(bound[i], d));
      if (!bound[i].contents().tracked)
        values = {std::shared_ptr<void>(), values.get()};
      arguments[i].shards.push_back(std::move(values));
    }
  }
  return arguments;
}

bool Executable::fits(std::span<const Tensor> inputs) const {
  if (!std::ranges::all_of(cachedMemory, &sim::Allocation::valid))
    return false;
  return std::ranges::all_of(parameters, [&](const Parameter &parameter) {
    if (parameter.input >= inputs.size() || !inputs[parameter.input] || !inputs[parameter.input].isAllocated())
      return false;
    const Tensor &tensor = inputs[parameter.input];
    if (tensor.dtype() != parameter.dtype)
      return false;
    if (!tensor.contents().tracked)
      return parameter.hash && tensor.shape() == program.spec(program.inputs[parameter.input]).shape &&
             *parameter.hash == hashOf(tensor);
    return tensor.contents().id == parameter.contents && tensor.contents().version == parameter.version;
  });
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
    for (const Step &step : steps) {
      checkInterrupt();
      runStep(step);
    }
    return;
  }
  for (const Step &step : steps) {
    checkInterrupt();
    const int64_t start = now();
    runStep(step);
    attribute(step, now() - start, *perf);
  }
}

/// The time of a chain is shared out among its ops by what they take on the chip.
void Executable::attribute(const Step &step, int64_t ns, RunReport &report) const {
  if (!step.members) {
    report.ops[step.op].hostNs = ns;
    return;
  }
  const std::span<const uint32_t> members(chainOps.data() + step.firstMember, step.members);
  int64_t cycles = 0;
  for (uint32_t op : members)
    cycles += durations[op].cycles;
  for (uint32_t op : members)
    report.ops[op].hostNs = cycles ? ns * durations[op].cycles / cycles : ns / step.members;
}

void Executable::bindPatches(const Results &results) {
  for (const Patch &patch : patches) {
    std::byte *data =
        (patch.fromOutput ? results.shards[patch.index][patch.shard].get() : inputData[patch.index][patch.shard]) +
        patch.offset;
    if (patch.isOut)
      outPointers[patch.position] = data;
    else
      inPointers[patch.position] = data;
  }
}

/// Where the values of an output lie that no kernel writes to its place.
const std::byte *Executable::copied(const OutputCopy &copy, const Results &results, uint32_t shard) const {
  const Root &root = roots[rootOf[copy.value]];
  const size_t offset = viewBytes[copy.value];
  const uint32_t own = root.shards == 1 ? 0 : shard;
  switch (root.home) {
  case Home::Constant:
    return root.constant[own].get() + offset;
  case Home::Arena:
    return arenaAddress(root, own) + offset;
  case Home::Input:
    return inputData[root.index][own] + offset;
  case Home::Output:
    return results.shards[root.index][own].get() + offset;
  case Home::Unset:
    break;
  }
  throw Error(name() + ": output " + std::to_string(copy.output) + " has no value");
}

void Executable::describeOutputs() {
  for (size_t k = 0; k < program.outputs.size(); ++k) {
    TensorSpec spec = program.spec(program.outputs[k]);
    if (memory.outputGroups[k] == MemoryPlan::none)
      spec.memory = {};
    const bool isSpread = spec.distributed && program.devices() > 1;
    outputDescriptions.push_back(
        Tensor::describe(std::move(spec), isSpread ? program.meshShape : std::vector<uint32_t>()));
  }
}

/// Memory for the outputs; with `shareable`, for those that a kernel writes.
void Executable::createOutputs(Results &results, bool shareable) const {
  results.shards.resize(program.outputs.size());
  for (size_t k = 0; k < results.shards.size(); ++k) {
    const TensorSpec &spec = program.spec(program.outputs[k]);
    results.shards[k].resize(spec.distributed ? program.devices() : 1);
    if (!shareable || outputIsHome[k])
      for (auto &shard : results.shards[k])
        shard = shareable ? sim::allocateHostOnce(spec.bytes(), "the result of a call")
                          : sim::allocateHost(spec.bytes(), "an output");
  }
}

Tensors Executable::run(const Binary &binary, std::span<const Tensor> inputs, const Hooks *hooks, RunReport &report) {
  const Device device = this->device.lock();
  if (running)
    throw Error(name() + " was submitted from a hook of its own run");
  running = true;
  const AtEnd ended([&] {
    running = false;
    bound.clear();
    results.shards.clear();
    results.allocations.clear();
  });

  bindInputs(inputs, bound, moved);
  inputData.resize(bound.size());
  for (size_t i = 0; i < bound.size(); ++i) {
    const uint32_t value = program.inputs[i];
    if (written[value]) {
      // An op changes this input in place (a cache, running statistics). A tensor on the device is changed, as on the
      // chip; what came from the host is not.
      if (inputs[i].isOnDevice() && !moved[i])
        bound[i].unshare();
      else
        bound[i] = bound[i].clone();
    }
    inputData[i].resize(roots[value].shards);
    for (uint32_t d = 0; d < inputData[i].size(); ++d)
      inputData[i][d] = bound[i].data(shardOf(bound[i], d));
  }
  report.binary = binary;
  report.program = programIndex;
  report.cycles = totalDuration.cycles;
  report.deviceNs = totalDuration.ns;
  report.arenaBytes = arenaBytes;
  const bool perf = perfRecording();
  if (perf)
    report.ops = this->report().ops;

  createOutputs(results, false);
  if (mode == Mode::Observed) {
    results.allocations = runObserved(binary, device, moved, *hooks, report);
  } else {
    memory.run(*device, moved, report.memoryPeak, results.allocations);
    bindPatches(results);
    const int64_t start = now();
    runSteps(perf ? &report : nullptr);
    report.hostNs = now() - start;
  }
  for (const OutputCopy &copy : copies) {
    const size_t bytes = program.spec(copy.value).bytes();
    for (uint32_t d = 0; d < results.shards[copy.output].size() && bytes; ++d)
      std::memcpy(results.shards[copy.output][d].get(), copied(copy, results, d), bytes);
  }

  Tensors outputs;
  outputs.reserve(results.shards.size());
  for (size_t k = 0; k < results.shards.size(); ++k)
    outputs.push_back(memory.outputGroups[k] != MemoryPlan::none
                          ? Tensor::fromShards(outputDescriptions[k], std::move(results.shards[k]), device,
                                               std::move(results.allocations[k]))
                          : Tensor::fromShards(outputDescriptions[k], std::move(results.shards[k])));
  device->addRun({1, static_cast<int64_t>(program.operations.size()), totalDuration.cycles, totalDuration.ns});
  return outputs;
}

Results Executable::evaluate(std::span<const Argument> arguments) {
  const Device device = this->device.lock();
  std::vector<std::shared_ptr<std::byte>> copiesOfWritten;
  inputData.resize(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const uint32_t value = program.inputs[i];
    inputData[i].resize(roots[value].shards);
    for (uint32_t d = 0; d < inputData[i].size(); ++d) {
      const auto &shards = arguments[i].shards;
      const std::byte *given = shards[shards.size() == 1 ? 0 : d].get();
      inputData[i][d] = const_cast<std::byte *>(given); // only read, unless it is a copy
      if (const size_t bytes = program.spec(value).bytes(); written[value] && bytes) {
        copiesOfWritten.push_back(sim::allocateHost(bytes, "an input that is changed in place"));
        inputData[i][d] = copiesOfWritten.back().get();
        std::memcpy(inputData[i][d], given, bytes);
      }
    }
  }
  Results results;
  createOutputs(results, true);
  int64_t peaks[sim::memoryCount];
  memory.run(*device, std::vector<bool>(arguments.size(), false), peaks, results.allocations);
  bindPatches(results);
  runSteps(nullptr);
  for (const OutputCopy &copy : copies) {
    const uint32_t value = rootOf[copy.value];
    const Root &root = roots[value];
    const size_t bytes = program.spec(copy.value).bytes();
    for (uint32_t d = 0; d < results.shards[copy.output].size(); ++d) {
      auto &shard = results.shards[copy.output][d];
      std::shared_ptr<const std::byte> owner; // of values that nobody changes
      if (root.home == Home::Constant)
        owner = root.constant[root.shards == 1 ? 0 : d];
      else if (root.home == Home::Input && !written[value])
        owner = arguments[root.index].shards[arguments[root.index].shards.size() == 1 ? 0 : d];
      const std::byte *values = copied(copy, results, d);
      if (owner && (owner.use_count() > 0 || root.home == Home::Constant)) {
        shard = {std::const_pointer_cast<std::byte>(owner), const_cast<std::byte *>(values)};
        continue;
      }
      shard = sim::allocateHostOnce(bytes, "the result of a call");
      if (bytes)
        std::memcpy(shard.get(), values, bytes);
    }
  }
  device->addRun({0, static_cast<int64_t>(program.operations.size()), totalDuration.cycles, totalDuration.ns});
  return results;
}

std::vector<sim::Allocation> Executable::runObserved(const Binary &binary, const Device &device,
                                                     const std::vector<bool> &moved, const Hooks &hooks,
                                                     RunReport &report) {
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
  for (size_t i = 0; i < inputData.size(); ++i) {
    const uint32_t value = program.inputs[i];
    const Root &root = roots[value];
    const size_t bytes = program.spec(value).bytes();
    for (uint32_t d = 0; d < root.shards && bytes; ++d)
      std::memcpy(arenaAddress(root, d), inputData[i][d], bytes);
    alive[value] = 1;
  }

  size_t next = 0;
  std::vector<sim::Allocation> ofCallees; // for the length of the run
  if (hooks.beforeProgram)
    hooks.beforeProgram(context);
  auto step = steps.begin();
  for (uint32_t op = 0; op < program.operations.size(); ++op) {
    const Operation &operation = program.operations[op];
    const OpContext opContext{binary, programIndex, op};
    checkInterrupt();
    if (hooks.beforeOp)
      hooks.beforeOp(context, opContext);
    memory.step(*device, moved, op, next, blocks);
    if (operation.callee != Operation::noCallee)
      runCallee(binary, device, op, hooks, report, ofCallees);
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
  for (size_t i = 0; i < inputData.size(); ++i) {
    const uint32_t value = program.inputs[i];
    const size_t bytes = program.spec(value).bytes();
    for (uint32_t d = 0; written[value] && d < inputData[i].size() && bytes; ++d)
      std::memcpy(inputData[i][d], arenaAddress(roots[value], d), bytes);
  }
  memory.step(*device, moved, static_cast<uint32_t>(program.operations.size()), next, blocks);
  return memory.finish(*device, blocks);
}

/// Runs the program that an op of an observed run names, observed as well.
void Executable::runCallee(const Binary &binary, const Device &device, uint32_t op, const Hooks &hooks,
                           RunReport &report, std::vector<sim::Allocation> &allocations) {
  Executable &callee = *callees.at(op);
  const Operation &operation = program.operations[op];
  callee.inputData.resize(operation.ins.size());
  for (size_t i = 0; i < operation.ins.size(); ++i) {
    const Root &root = roots[operation.ins[i]];
    callee.inputData[i].resize(root.shards);
    for (uint32_t d = 0; d < root.shards; ++d)
      callee.inputData[i][d] = arenaAddress(root, d);
  }
  const Hooks ofOps{hooks.beforeOp, hooks.afterOp, nullptr, nullptr};
  RunReport inner;
  auto kept = callee.runObserved(binary, device, std::vector<bool>(operation.ins.size(), false), ofOps, inner);
  std::ranges::move(kept, std::back_inserter(allocations));
  report.hostNs += inner.hostNs;
  if (!report.ops.empty())
    report.ops[op].hostNs = inner.hostNs;
  for (size_t k = 0; k < operation.outs.size(); ++k) {
    const Root &from = callee.roots[callee.program.outputs[k]], &to = roots[operation.outs[k]];
    const size_t bytes = program.spec(operation.outs[k]).bytes();
    for (uint32_t d = 0; d < to.shards && bytes; ++d)
      std::memcpy(arenaAddress(to, d), callee.arenaAddress(from, d), bytes);
  }
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
  if (tensor.shards() != 1 && roots[value].shards != 1 && tensor.shards() != roots[value].shards)
    throw Error(name() + ": value " + std::to_string(value) + " has " + std::to_string(roots[value].shards) +
                " shards; it cannot be replaced by a tensor of " + std::to_string(tensor.shards()));
  const bool isOne = roots[value].shards == 1;
  const Tensor rounded = castTensor(isOne ? tensor.single("update_tensor_in_pool") : tensor, spec.dtype);
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

std::shared_ptr<Executable> prepare(const Binary &binary, size_t program, const Device &device, Mode mode,
                                    std::span<const Tensor> inputs) {
  ExecutableCache &cache = binary.impl().cache;
  const uint64_t epoch = device->programCacheEpoch();
  std::shared_ptr<Executable> old;
  {
    std::lock_guard lock(cache.mutex);
    // Programs for devices that are gone go here: nobody else looks at them.
    cache.entries.remove_if([&](const ExecutableCache::Entry &entry) {
      const Device owner = entry.owner.lock();
      return !owner || !owner->isOpen() || entry.epoch != owner->programCacheEpoch();
    });
    for (const auto &entry : cache.entries)
      if (entry.device == device->id() && entry.program == program && entry.mode == mode)
        old = entry.executable;
  }
  // What follows is done outside of the lock: other devices need not wait. The device's own run mutex keeps a second
  // thread from making the same.
  if (old && old->fits(inputs))
    return old;
  if (old) {
    // What was computed from other inputs goes before what takes its place is made, unless these are wrong anyway.
    old->checkInputs(inputs);
    std::lock_guard lock(cache.mutex);
    cache.entries.remove_if([&](const ExecutableCache::Entry &entry) { return entry.executable == old; });
    old.reset();
  }
  auto executable = std::make_shared<Executable>(binary.impl(), program, device, mode, inputs);
  binary.impl().settle();
  settleLasting();
  if (device->options().programCache) {
    std::lock_guard lock(cache.mutex);
    cache.entries.push_back({device->id(), device, epoch, program, mode, executable});
  }
  return executable;
}

} // namespace tt::runtime
