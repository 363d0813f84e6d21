//===- execute.cpp - run a prepared program -------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "core/host_clock.h"
#include "core/selector.h"
#include "program/executable.h"
#include "program/inputs.h"
#include "program/scope_exit.h"
#include "run/measured.h"
#include "tt/interrupt.h"
#include "tt/recycle.h"
#include "tt/sim/host.h"
#include "tt/sim/published.h"

#include <algorithm>
#include <cstring>

namespace tt::runtime {

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
  // Hashed values may differ on one rank alone, and all ranks must decide alike.
  const bool isShared = device->partition() && program.devices() > 1 && !plan.parameters.empty();
  return isShared ? device->partition()->ranks().all(fits, "inputs that " + plan.name() + " was prepared for") : fits;
}

void Executable::runStep(const Step &step, OpPerf *perf) {
  const sim::Duration before = beyondPlan;
  runKernels(step, perf);
  if (!perf)
    return;
  perf->cycles += beyondPlan.cycles - before.cycles;
  perf->deviceNs += beyondPlan.ns - before.ns;
}

void Executable::runKernels(const Step &step, OpPerf *perf) {
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
  std::optional<OpPerf> slowest; // of a measured step
  if (step.isMeasured)
    slowest.emplace();
  for (uint32_t d = 0; d < step.devices; ++d) {
    const ttnn::Kernel *kernel = step.own == Step::none ? step.kernel : plan.ownKernels[step.own][d];
    poison(arena.memory.get(), plan.scratchBytes);
    const ttnn::Buffers buffers{{inPointers.data() + step.firstIn + size_t(d) * step.ins, step.ins},
                                {outPointers.data() + step.firstOut + size_t(d) * step.outs, step.outs},
                                arena.memory.get()};
    if (step.callsHost && !resting.empty() && rests(step, d))
      clearResults(step, buffers);
    else if (slowest) {
      OpPerf own;
      if (perf)
        own.cost = perf->cost;
      dynamic_cast<const MeasuredKernel *>(kernel)->runMeasured(buffers, own);
      if (own.deviceNs >= slowest->deviceNs)
        slowest = std::move(own);
    } else {
      kernel->run(buffers);
    }
  }
  if (slowest)
    takeMeasured(step, *slowest, perf);
}

void Executable::takeMeasured(const Step &step, const OpPerf &slowest, OpPerf *perf) {
  beyondPlan.cycles += slowest.cycles - plan.durations[step.op].cycles;
  beyondPlan.ns += slowest.deviceNs - plan.durations[step.op].ns;
  if (!perf)
    return;
  perf->bound = slowest.bound;
  perf->cost = slowest.cost;
  perf->uncertaintyNs = slowest.uncertaintyNs;
  perf->activity = slowest.activity;
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
      runStep(step, nullptr);
    }
    return;
  }
  for (const Step &step : plan.steps) {
    checkInterrupt();
    sim::checkReset(*on);
    const int64_t start = hostNow();
    runStep(step, &perf->ops[step.op]);
    attribute(step, hostNow() - start, *perf);
  }
}

/// The time of a chain is divided among its ops by their estimated times on the chip.
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

/// The address of the values of an output that no kernel writes to its place.
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
      // chip; a tensor from the host is not.
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
  beyondPlan = {};
  if (plan.mode == Mode::Observed) {
    results.allocations = runObserved(binary, device, moved, *hooks, report);
  } else {
    plan.memory.run(*device, moved, report.memoryPeak, results.allocations, *history);
    bindPatches(results);
    const int64_t start = hostNow();
    runSteps(perf ? &report : nullptr);
    report.hostNs = hostNow() - start;
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

Results Executable::evaluate(std::span<const Argument> arguments, bool isOnDevice) {
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
  beyondPlan = {};
  Results results;
  createOutputs(results, true);
  if (isOnDevice) {
    int64_t peaks[sim::memoryCount];
    plan.memory.run(*device, std::vector<bool>(arguments.size(), false), peaks, results.allocations, *history);
  }
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
      std::shared_ptr<const std::byte> owner; // of values that never change
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
  if (isOnDevice)
    device->addRun({0, static_cast<int64_t>(program.operations.size()), taken().cycles, taken().ns});
  return results;
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
