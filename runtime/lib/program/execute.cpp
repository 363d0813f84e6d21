//===- execute.cpp - run a prepared program -------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "core/selector.h"
#include "program/executable.h"
#include "program/inputs.h"
#include "tt/interrupt.h"
#include "tt/recycle.h"
#include "tt/sim/host.h"
#include "tt/sim/published.h"

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

/// What a hook sees of a run. It may be kept longer than the run lasts.
class Context final : public ProgramContext {
public:
  Context(Executable &executable, const Binary &binary, size_t program, const Device &device)
      : executable(&executable), image(binary), index(program), on(device) {}
  const Binary &binary() const override { return image; }
  size_t program() const override { return index; }
  const Device &device() const override { return on; }
  int64_t circularBytes(uint32_t op) const override { return running().circularBytes(op); }
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

template <class F> class ScopeExit {
public:
  explicit ScopeExit(F f) : f(std::move(f)) {}
  ~ScopeExit() { f(); }

private:
  F f;
};

} // namespace

static std::shared_ptr<MemoryPlan::History> historyOf(const Plan &plan, const Legacy *shared) {
  return shared && shared->history && plan.memory.runsLike(shared->plan->memory)
             ? shared->history
             : std::make_shared<MemoryPlan::History>();
}

Executable::Executable(std::shared_ptr<const Plan> planned, const Device &device, const Legacy *shared)
    : owner(std::move(planned)), plan(*owner), program(plan.program), device(device),
      arena(Arena::of(plan, shared ? &shared->arena : nullptr)), inPointers(plan.inPointers),
      outPointers(plan.outPointers), history(historyOf(plan, shared)), alive(program.values.size()) {
  if (arena.memory)
    for (const Plan::Place &place : plan.places) {
      std::byte *data = arena.memory.get() + place.offset;
      if (place.isOut)
        outPointers[place.position] = data;
      else
        inPointers[place.position] = data;
    }
  for (const Plan::Pointers &in : plan.meshIns)
    meshIns.emplace_back(inPointers.data() + in.first, in.count);
  for (const Plan::Pointers &out : plan.meshOuts)
    meshOuts.emplace_back(outPointers.data() + out.first, out.count);
  for (const auto &[op, programs] : plan.callees) {
    Callees &own = callees[op];
    for (const auto &callee : programs)
      own.programs.push_back(std::make_unique<Executable>(callee, device));
    const Operation &operation = program.operations[op];
    if (operation.call != Operation::Call::While || plan.mode == Mode::Estimated)
      continue;
    const auto allocate = [&](const TensorSpec &spec) {
      auto &shards = own.carried.emplace_back(spec.distributed ? program.devices() : 1);
      auto &data = own.carriedData.emplace_back();
      for (size_t d = 0; d < shards.size(); ++d) {
        if (shards.size() == 1 || plan.chips.has(d))
          shards[d] = sim::allocateHost(spec.bytes(), "a value that a loop carries");
        data.push_back(shards[d].get());
      }
    };
    for (uint32_t out : operation.outs)
      allocate(program.spec(out));
    const Program &condition = programs[0]->program;
    allocate(condition.spec(condition.outputs[0])); // the last one
  }
}

void Executable::checkInputs(std::span<const Tensor> inputs) const {
  std::vector<Tensor> bound;
  std::vector<bool> moved;
  bindInputs(program, device.lock(), plan.written, inputs, bound, moved);
}

bool Executable::fits(std::span<const Tensor> inputs) const {
  const Device on = device.lock();
  return on && runtime::fits(plan, on, inputs);
}

bool Executable::wouldKeepMore() {
  if (std::exchange(runsAgain, true) || !plan.isFirst)
    return false;
  return !std::ranges::all_of(plan.deferred, [](const Plan::Deferred &deferred) {
    return PreparedForms::ofProcess().isInPlace(deferred.values);
  });
}

bool fits(const Plan &plan, const Device &device, std::span<const Tensor> inputs) {
  const Program &program = plan.program;
  if (!std::ranges::all_of(plan.cachedMemory, [](const auto &memory) { return memory.allocation->valid(); }))
    return false;
  const auto isAsBefore = [&](const Plan::Parameter &parameter) {
    if (parameter.input >= inputs.size() || !inputs[parameter.input] || !inputs[parameter.input].isAllocated())
      return false;
    const Tensor &tensor = inputs[parameter.input];
    if (tensor.dtype() != parameter.dtype)
      return false;
    if (!tensor.contents().tracked)
      return parameter.hash && tensor.shape() == program.spec(program.inputs[parameter.input]).shape &&
             *parameter.hash == hashOf(tensor);
    return tensor.contents().id == parameter.contents && tensor.contents().version == parameter.version;
  };
  const bool fits = std::ranges::all_of(plan.parameters, isAsBefore);
  // Values that were hashed may differ on one rank alone, and all must make the same of it.
  const bool isShared = device->partition() && program.devices() > 1 && !plan.parameters.empty();
  return isShared ? device->partition()->ranks().all(fits, "inputs that " + plan.name() + " was prepared for") : fits;
}

void Executable::runStep(const Step &step) {
  if (step.isMesh()) {
    const ConstPointers ins(meshIns.data() + step.firstMeshIn, step.meshIns);
    const Pointers outs(meshOuts.data() + step.firstMeshOut, step.meshOuts);
    if (step.exchange != Step::none)
      exchange(step);
    if (step.mesh)
      step.mesh->run(ins, outs, plan.chips);
    else
      runControl(step.op, ins, outs, [](Executable &callee, ConstPointers from, Pointers to) {
        callee.runWith(from, to);
        return callee.taken();
      });
    return;
  }
  for (uint32_t d = 0; d < step.devices; ++d) {
    const ttnn::Kernel *kernel = step.own == Step::none ? step.kernel : plan.ownKernels[step.own][d];
    poison(arena.memory.get(), plan.scratchBytes);
    const ttnn::Buffers buffers{{inPointers.data() + step.firstIn + size_t(d) * step.ins, step.ins},
                                {outPointers.data() + step.firstOut + size_t(d) * step.outs, step.outs},
                                arena.memory.get()};
    if (step.callsHost && !resting.empty() && rests(step, d))
      clearResults(step, buffers);
    else
      kernel->run(buffers);
  }
}

void Executable::exchange(const Step &step) {
  const Plan::Exchange &exchange = plan.exchanges[step.exchange];
  const auto device = this->device.lock();
  sends.clear();
  receives.clear();
  for (const auto &[rank, operand, chip, bytes] : exchange.sends)
    sends.push_back({rank, {meshIns[step.firstMeshIn + operand][chip], bytes}});
  size_t offset = exchange.offset;
  for (const auto &part : exchange.receives) {
    receives.push_back({part.rank, {arena.memory.get() + offset, part.bytes}});
    offset += alignUp(part.bytes);
  }
  device->partition()->ranks().exchange(sends, receives, exchange.label);
}

std::vector<double> Executable::selectorsOf(const TensorSpec &spec, std::span<const std::byte *const> shards,
                                            const char *what) const {
  const Device device = this->device.lock();
  const auto &partition = device->partition();
  if (!partition || shards.size() == 1)
    return ttnn::selectorsOf(spec, shards, what);
  const size_t bytes = spec.bytes();
  std::vector<std::byte> values(bytes * shards.size());
  std::vector<std::byte *> places;
  for (size_t d = 0; d < shards.size(); ++d) {
    places.push_back(values.data() + d * bytes);
    if (plan.chips.has(d) && bytes)
      std::memcpy(places[d], shards[d], bytes);
  }
  partition->gather(places, bytes, what);
  return ttnn::selectorsOf(spec, {places.begin(), places.end()}, what);
}

void Executable::runSteps(RunReport *perf) {
  const Device on = device.lock();
  if (!perf) {
    for (const Step &step : plan.steps) {
      checkInterrupt();
      sim::checkReset(*on);
      runStep(step);
    }
    return;
  }
  for (const Step &step : plan.steps) {
    checkInterrupt();
    sim::checkReset(*on);
    const int64_t start = now();
    const sim::Duration before = inCallees;
    runStep(step);
    attribute(step, now() - start, *perf);
    perf->ops[step.op].cycles += inCallees.cycles - before.cycles;
    perf->ops[step.op].deviceNs += inCallees.ns - before.ns;
  }
}

/// The time of a chain is shared out among its ops by what they take on the chip.
void Executable::attribute(const Step &step, int64_t ns, RunReport &report) const {
  if (!step.members) {
    report.ops[step.op].hostNs = ns;
    return;
  }
  const std::span<const uint32_t> members(plan.chainOps.data() + step.firstMember, step.members);
  int64_t cycles = 0;
  for (uint32_t op : members)
    cycles += plan.durations[op].cycles;
  for (uint32_t op : members)
    report.ops[op].hostNs = cycles ? ns * plan.durations[op].cycles / cycles : ns / step.members;
}

void Executable::bindPatches(const Results &results) {
  for (const Plan::Patch &patch : plan.patches) {
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
  const Root &root = plan.roots[plan.rootOf[copy.value]];
  const size_t offset = plan.viewBytes[copy.value];
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

void Executable::copyOutputs(const Results &results) const {
  for (const OutputCopy &copy : plan.copies) {
    const size_t bytes = program.spec(copy.value).bytes();
    for (uint32_t d = 0; d < results.shards[copy.output].size() && bytes; ++d)
      if (std::byte *to = results.shards[copy.output][d].get())
        std::memcpy(to, copied(copy, results, d), bytes);
  }
}

/// Memory for the outputs; with `shareable`, for those that a kernel writes.
void Executable::createOutputs(Results &results, bool shareable) const {
  results.shards.resize(program.outputs.size());
  for (size_t k = 0; k < results.shards.size(); ++k) {
    const TensorSpec &spec = program.spec(program.outputs[k]);
    results.shards[k].resize(spec.distributed ? program.devices() : 1);
    if (!shareable || plan.outputIsHome[k])
      for (size_t d = 0; d < results.shards[k].size(); ++d)
        if (results.shards[k].size() == 1 || plan.chips.has(d))
          results.shards[k][d] = shareable ? sim::allocateHostOnce(spec.bytes(), "the result of a call")
                                           : sim::allocateHost(spec.bytes(), "an output");
  }
}

Tensors Executable::run(const Binary &binary, std::span<const Tensor> inputs, const Hooks *hooks, RunReport &report) {
  const Device device = this->device.lock();
  if (running)
    throw Error(name() + " was submitted from a hook of its own run");
  running = true;
  const ScopeExit ended([&] {
    running = false;
    bound.clear();
    results.shards.clear();
    results.allocations.clear();
  });

  bindInputs(program, device, plan.written, inputs, bound, moved);
  inputData.resize(bound.size());
  for (size_t i = 0; i < bound.size(); ++i) {
    const uint32_t value = program.inputs[i];
    if (plan.written[value]) {
      // An op changes this input in place (a cache, running statistics). A tensor on the device is changed, as on the
      // chip; what came from the host is not.
      if (inputs[i].isOnDevice() && !moved[i])
        bound[i].unshare();
      else
        bound[i] = bound[i].clone();
    }
    inputData[i].resize(plan.roots[value].shards);
    for (uint32_t d = plan.roots[value].first; d < plan.roots[value].last(); ++d)
      inputData[i][d] = bound[i].data(shardOf(bound[i], d));
  }
  report.binary = binary;
  report.program = plan.programIndex;
  report.cycles = plan.totalDuration.cycles;
  report.deviceNs = plan.totalDuration.ns;
  report.arenaBytes = plan.arenaBytes;
  const bool perf = perfRecording();
  if (perf)
    report.ops = this->report().ops;

  createOutputs(results, false);
  inCallees = {};
  if (plan.mode == Mode::Observed) {
    results.allocations = runObserved(binary, device, moved, *hooks, report);
  } else {
    plan.memory.run(*device, moved, report.memoryPeak, results.allocations, *history);
    bindPatches(results);
    const int64_t start = now();
    runSteps(perf ? &report : nullptr);
    report.hostNs = now() - start;
  }
  report.cycles = taken().cycles;
  report.deviceNs = taken().ns;
  copyOutputs(results);

  Tensors outputs;
  outputs.reserve(results.shards.size());
  for (size_t k = 0; k < results.shards.size(); ++k)
    outputs.push_back(plan.memory.outputGroups[k] != MemoryPlan::none
                          ? Tensor::fromShards(plan.outputDescriptions[k], std::move(results.shards[k]), device,
                                               std::move(results.allocations[k]))
                          : Tensor::fromShards(plan.outputDescriptions[k], std::move(results.shards[k])));
  device->addRun({1, static_cast<int64_t>(program.operations.size()), taken().cycles, taken().ns});
  return outputs;
}

Results Executable::evaluate(std::span<const Argument> arguments) {
  const Device device = this->device.lock();
  std::vector<std::shared_ptr<std::byte>> copiesOfWritten;
  inputData.resize(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const uint32_t value = program.inputs[i];
    inputData[i].resize(plan.roots[value].shards);
    for (uint32_t d = plan.roots[value].first; d < plan.roots[value].last(); ++d) {
      const auto &shards = arguments[i].shards;
      const std::byte *given = shards[shards.size() == 1 ? 0 : d].get();
      inputData[i][d] = const_cast<std::byte *>(given); // only read, unless it is a copy
      if (const size_t bytes = program.spec(value).bytes(); plan.written[value] && bytes) {
        copiesOfWritten.push_back(sim::allocateHost(bytes, "an input that is changed in place"));
        inputData[i][d] = copiesOfWritten.back().get();
        std::memcpy(inputData[i][d], given, bytes);
      }
    }
  }
  inCallees = {};
  Results results;
  createOutputs(results, true);
  int64_t peaks[sim::memoryCount];
  plan.memory.run(*device, std::vector<bool>(arguments.size(), false), peaks, results.allocations, *history);
  bindPatches(results);
  runSteps(nullptr);
  for (const OutputCopy &copy : plan.copies) {
    const uint32_t value = plan.rootOf[copy.value];
    const Root &root = plan.roots[value];
    const size_t bytes = program.spec(copy.value).bytes();
    for (uint32_t d = 0; d < results.shards[copy.output].size(); ++d) {
      if (results.shards[copy.output].size() > 1 && !plan.chips.has(d))
        continue;
      auto &shard = results.shards[copy.output][d];
      std::shared_ptr<const std::byte> owner; // of values that nobody changes
      if (root.home == Home::Constant)
        owner = root.constant[root.shards == 1 ? 0 : d];
      else if (root.home == Home::Input && !plan.written[value])
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
  device->addRun({0, static_cast<int64_t>(program.operations.size()), taken().cycles, taken().ns});
  return results;
}

std::vector<sim::Allocation> Executable::runObserved(const Binary &binary, const Device &device,
                                                     const std::vector<bool> &moved, const Hooks &hooks,
                                                     RunReport &report) {
  auto context = std::make_shared<Context>(*this, binary, plan.programIndex, device);
  MemoryPlan::Blocks blocks;
  blocks.of.resize(plan.memory.groups.size());
  int64_t peaksBefore[sim::memoryCount];
  device->withMemories([&](sim::Memories &memories) {
    blocks.generation = memories.generation();
    for (size_t i = 0; i < sim::memoryCount; ++i) {
      auto &bank = memories[static_cast<sim::Memory>(i)];
      peaksBefore[i] = bank.peak();
      bank.resetPeak();
    }
  });
  const ScopeExit ended([&] {
    context->end();
    plan.memory.abandon(*device, blocks);
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
    const Root &root = plan.roots[value];
    const size_t bytes = program.spec(value).bytes();
    for (uint32_t d = root.first; d < root.last() && bytes; ++d)
      std::memcpy(arenaAddress(root, d), inputData[i][d], bytes);
    alive[value] = 1;
  }

  size_t next = 0;
  std::vector<sim::Allocation> ofCallees; // for the length of the run
  if (hooks.beforeProgram)
    hooks.beforeProgram(context);
  auto step = plan.steps.begin();
  for (uint32_t op = 0; op < program.operations.size(); ++op) {
    const Operation &operation = program.operations[op];
    const OpContext opContext{binary, plan.programIndex, op};
    checkInterrupt();
    sim::checkReset(*device);
    if (hooks.beforeOp)
      hooks.beforeOp(context, opContext);
    plan.memory.step(*device, moved, op, next, blocks);
    if (operation.call != Operation::Call::None)
      runCallees(binary, device, op, hooks, report, ofCallees);
    for (; step != plan.steps.end() && step->op == op; ++step) {
      if (step->control)
        continue; // its programs are observed, too
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
    const Root &root = plan.roots[value];
    for (uint32_t d = root.first; plan.written[value] && d < root.last() && bytes; ++d)
      std::memcpy(inputData[i][d], arenaAddress(root, d), bytes);
  }
  plan.memory.step(*device, moved, static_cast<uint32_t>(program.operations.size()), next, blocks);
  return plan.memory.finish(*device, blocks);
}

/// Runs the programs that an op of an observed run names, observed as well.
void Executable::runCallees(const Binary &binary, const Device &device, uint32_t op, const Hooks &hooks,
                            RunReport &report, std::vector<sim::Allocation> &allocations) {
  const Operation &operation = program.operations[op];
  const Hooks ofOps{hooks.beforeOp, hooks.afterOp, nullptr, nullptr};
  int64_t hostNs = 0;
  const auto run = [&](Executable &callee, ConstPointers ins, Pointers outs) {
    callee.bindOperands(ins);
    callee.inCallees = {};
    RunReport inner;
    auto kept = callee.runObserved(binary, device, std::vector<bool>(ins.size(), false), ofOps, inner);
    if (operation.call == Operation::Call::Cached)
      std::ranges::move(kept, std::back_inserter(allocations));
    hostNs += inner.hostNs;
    for (size_t k = 0; k < outs.size(); ++k) {
      const uint32_t value = callee.program.outputs[k];
      const size_t bytes = callee.program.spec(value).bytes();
      for (uint32_t d = 0; d < outs[k].size() && bytes; ++d)
        if (outs[k][d])
          std::memcpy(outs[k][d], callee.arenaAddress(callee.plan.roots[value], d), bytes);
    }
    return callee.taken();
  };
  const auto addressesOf = [&](const std::vector<uint32_t> &values) {
    std::vector<std::vector<std::byte *>> addresses;
    for (uint32_t value : values) {
      addresses.emplace_back();
      const Root &root = plan.roots[value];
      addresses.back().resize(root.shards);
      for (uint32_t d = root.first; d < root.last(); ++d)
        addresses.back()[d] = arenaAddress(root, d);
    }
    return addresses;
  };
  const auto inData = addressesOf(operation.ins), outData = addressesOf(operation.outs);
  const std::vector<std::span<const std::byte *const>> ins(inData.begin(), inData.end());
  const std::vector<std::span<std::byte *const>> outs(outData.begin(), outData.end());
  if (operation.isControl())
    runControl(op, ins, outs, run);
  else
    run(*callees.at(op).programs[0], ins, outs);
  report.hostNs += hostNs;
  if (!report.ops.empty())
    report.ops[op].hostNs = hostNs;
}

std::optional<Tensor> Executable::read(uint32_t value) const {
  if (value >= alive.size())
    throw Error(name() + " has no value " + std::to_string(value) + "; it has " + std::to_string(alive.size()));
  if (!alive[value])
    return std::nullopt;
  TensorSpec spec = program.spec(value);
  spec.distributed = spec.distributed && program.devices() > 1;
  const Device on = device.lock();
  Tensor copy = Tensor::onHost(spec, spec.distributed ? program.meshShape : std::vector<uint32_t>(),
                               spec.distributed && on ? on->partition() : nullptr);
  const Root &root = plan.roots[value];
  for (uint32_t d = root.first; d < root.last() && copy.bytes(); ++d)
    std::memcpy(copy.data(d), arenaAddress(root, d), copy.bytes());
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
  if (tensor.shards() != 1 && plan.roots[value].shards != 1 && tensor.shards() != plan.roots[value].shards)
    throw Error(name() + ": value " + std::to_string(value) + " has " + std::to_string(plan.roots[value].shards) +
                " shards; it cannot be replaced by a tensor of " + std::to_string(tensor.shards()));
  const bool isOne = plan.roots[value].shards == 1;
  const Tensor rounded = castTensor(isOne ? tensor.single("update_tensor_in_pool") : tensor, spec.dtype);
  const Root &root = plan.roots[value];
  for (uint32_t d = root.first; d < root.last() && rounded.bytes(); ++d)
    std::memcpy(arenaAddress(root, d), rounded.data(shardOf(rounded, d)), rounded.bytes());
}

int64_t Executable::circularBytes(uint32_t op) const {
  if (op >= plan.circular.size())
    throw Error(name() + " has no op " + std::to_string(op) + "; it has " + std::to_string(plan.circular.size()));
  return plan.circular[op];
}

RunReport Executable::report() {
  if (costs.empty()) {
    ttnn::Cost nothing; // of what the host does by itself
    nothing.launched = false;
    costs.resize(program.operations.size(), nothing);
    if (const Device on = device.lock())
      for (uint32_t op = 0; op < costs.size(); ++op)
        if (plan.isEstimated[op])
          costs[op] = ttnn::estimateOf(on->chip(), *program.operations[op].info, program.call(program.operations[op]),
                                       ttnn::Origin::Program)
                          .cost;
  }
  RunReport report;
  report.program = plan.programIndex;
  report.cycles = plan.totalDuration.cycles;
  report.deviceNs = plan.totalDuration.ns;
  report.arenaBytes = plan.arenaBytes;
  report.ops.resize(program.operations.size());
  int64_t resident[sim::memoryCount] = {};
  size_t next = 0;
  for (uint32_t op = 0; op < report.ops.size(); ++op) {
    const Operation &operation = program.operations[op];
    report.ops[op] = {op,        operation.info->name,      operation.loc,
                      0,         plan.durations[op].cycles, plan.durations[op].ns,
                      costs[op], plan.durations[op].bound,  plan.circular[op]};
    report.ops[op].uncertaintyNs = plan.durations[op].uncertaintyNs;
    plan.memory.addResident(op, next, resident);
    std::copy(std::begin(resident), std::end(resident), report.ops[op].resident);
  }
  return report;
}

} // namespace tt::runtime
