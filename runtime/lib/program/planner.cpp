//===- planner.cpp - prepare a program for a device -----------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "program/planner.h"
#include "core/deferred.h"
#include "core/mesh.h"
#include "core/op.h"
#include "core/plan.h"
#include "program/inputs.h"
#include "run/measured.h"

#include <algorithm>

namespace tt::runtime {

/// The label of outputs that take no device memory.
static const sim::Label noLabel = "nothing";

static bool onHost(const TensorSpec &spec) { return spec.memory.buffer == BufferType::SystemMemory; }

static bool callsOthers(const Program &program) {
  return std::ranges::any_of(program.operations,
                             [](const Operation &operation) { return operation.call == Operation::Call::Cached; });
}

std::shared_ptr<const Plan> Planner::make() {
  const size_t values = program.values.size();
  ttnn::DeferredWork work;
  created.isFirst = !previous;
  created.chips = program.devices() > 1 ? device->chips() : sim::Chips{0, 1};
  created.rootOf.resize(values);
  for (uint32_t value = 0; value < values; ++value)
    created.rootOf[value] = value;
  created.viewBytes.assign(values, 0);
  created.roots.resize(values);
  groupOf.assign(values, MemoryPlan::none);
  isRead.assign(values, false);
  isSame.assign(values, false);
  isPending.assign(values, false);
  created.kernelOf.resize(opCount);
  created.durations.resize(opCount);
  created.circular.resize(opCount);
  created.aliases.assign(opCount, -1);
  created.circularGroups.assign(opCount, MemoryPlan::none);
  created.isEstimated.assign(opCount, false);
  findWritten();
  const auto isParameter = [](const Tensor &input) { return input && input.parameter(); };
  stays.assign(program.inputs.size(), false);
  knowsInputs = created.mode == Mode::Fast && arguments.empty() &&
                (callsOthers(program) || std::ranges::any_of(inputs, isParameter));
  for (size_t i = 0; i < std::min(arguments.size(), stays.size()); ++i)
    stays[i] = arguments[i].constant;
  for (uint32_t i = 0; knowsInputs && i < inputs.size(); ++i)
    if (isParameter(inputs[i]) && !created.written[program.inputs[i]]) {
      stays[i] = true;
      created.parameters.push_back({i, {}, 0, 0, {}});
    }
  if (created.mode == Mode::Fast)
    enterWeights();
  findUses();
  addConstants();
  reserve();
  planInputs();
  for (op = 0; op < opCount; ++op) {
    fetchAhead();
    planOperation();
  }
  for (uint32_t value = 0; value < program.values.size(); ++value)
    evaluatePending(value);
  planOutputs();
  checkMemory();
  // Results of calls were allocated when they were computed, or are allocated by the observed run of the call.
  created.memory.cachedIsResident = created.mode != Mode::Estimated;
  if (created.mode == Mode::Fast) {
    fuseChains();
    keepSmallConstants();
  }
  placeValues();
  bindSteps();
  describeOutputs();
  describeParameters();
  created.groupOf = std::move(groupOf);
  shareResults();
  work.finish();
  return plan;
}

void Planner::fail(const std::string &message) const {
  std::string text = created.name() + ": op " + std::to_string(op) + " (" + std::string(operation().info->name) + ")";
  if (!operation().loc.empty())
    text += " at " + std::string(operation().loc);
  throw OpError(text + ": " + message);
}

void Planner::reserve() {
  if (!previous)
    return;
  created.chains.reserve(previous->chains.size());
  created.steps.reserve(opCount);
  operands.reserve(opCount);
  created.memory.groups.reserve(previous->memory.groups.size());
  created.memory.events.reserve(previous->memory.events.size());
  references.reserve(previous->memory.groups.size());
}

void Planner::findWritten() {
  if (previous) {
    created.written = previous->written;
    return;
  }
  created.written.assign(program.values.size(), false);
  for (const Operation &operation : program.operations)
    for (int index : operation.info->writes) {
      // Of any number of operands, the last one.
      const size_t written = index < 0 ? operation.ins.size() - 1 : static_cast<size_t>(index);
      if (written < operation.ins.size() && operation.ins[written] != absentOperand)
        created.written[operation.ins[written]] = true;
    }
}

void Planner::findUses() {
  if (previous) {
    created.uses = previous->uses;
    lastUse = created.uses->last;
    return;
  }
  Plan::Uses uses;
  uses.last.assign(program.values.size(), 0);
  uses.computedBy.assign(program.values.size(), opCount);
  for (uint32_t i = 0; i < opCount; ++i) {
    const Operation &operation = program.operations[i];
    for (const uint32_t out : operation.outs)
      uses.computedBy[out] = i;
    if (operation.info->name == "ttnn.constant" && operation.outs.size() == 1)
      uses.constants.push_back(i);
    if (operation.info->name == "ttnn.deallocate")
      continue;
    for (const uint32_t in : operation.ins)
      if (in != absentOperand)
        uses.last[in] = i;
  }
  for (const uint32_t output : program.outputs)
    uses.last[output] = opCount;
  lastUse = uses.last;
  created.uses = std::make_shared<const Plan::Uses>(std::move(uses));
}

void Planner::addConstants() {
  std::vector<size_t> lastUsed(opCount + 1, 0); // bytes of constants, per op
  for (const uint32_t i : created.uses->constants) {
    const uint32_t value = program.operations[i].outs[0];
    lastUsed[lastUse[value]] += program.spec(value).bytes();
  }
  constantsAfter.assign(opCount + 1, 0);
  for (uint32_t i = opCount; i-- > 0;)
    constantsAfter[i] = constantsAfter[i + 1] + lastUsed[i + 1];
}

const std::vector<Argument> &Planner::knownArguments() const {
  if (arguments.empty() && knowsInputs)
    arguments = argumentsOf(program, device, created.written, inputs);
  return arguments;
}

void Planner::checkSize(uint32_t value) const {
  const size_t bytes = program.spec(value).bytes() * (shards(value) > 1 ? created.chips.count() : 1);
  if (created.mode == Mode::Estimated || bytes <= sim::hostMemoryLimit())
    return;
  const auto input = std::ranges::find(program.inputs, value);
  throw OutOfMemoryError(
      created.name() + ": " +
      (input != program.inputs.end()
           ? "input " + std::to_string(input - program.inputs.begin()) + " of " + created.name()
           : "result of op " + std::to_string(op) + " (" + std::string(operation().info->name) + ")") +
      " of shape " + toString(program.spec(value).shape) + " has " + std::to_string(bytes) +
      " bytes; the limit of host memory is " + std::to_string(sim::hostMemoryLimit()));
}

void Planner::planInputs() {
  for (uint32_t i = 0; i < program.inputs.size(); ++i) {
    const uint32_t value = program.inputs[i];
    checkSize(value);
    Plan::Root &root = created.roots[value];
    root.home = observed ? Plan::Home::Arena : Plan::Home::Input;
    root.index = i;
    setShards(root, value);
    if (stays[i] && !created.written[value]) {
      root.home = Plan::Home::Constant;
      isSame[value] = previous && previous->roots[value].home == Plan::Home::Constant &&
                      previous->program.spec(previous->program.inputs[i]) == program.spec(value);
      if (isSame[value] && knowsInputs)
        root.constant = previous->roots[value].constant;
      // The plan before may have let go of them.
      if (root.constant.empty() ||
          !std::ranges::all_of(root.constant, [](const auto &shard) { return shard != nullptr; })) {
        root.constant = knownArguments()[i].shards;
        root.constant.resize(root.shards, root.constant.front());
        shareEqual(root.constant, program.spec(value).bytes());
      }
    }
    const bool isKnown = previous && previous->program.spec(value) == program.spec(value);
    const uint32_t before = isKnown ? previous->groupOf[value] : MemoryPlan::none;
    addGroup({&created, Purpose::Of::Input, i, value}, 0,
             before == MemoryPlan::none ? sim::footprint(chip, program.spec(value))
                                        : previous->memory.groups[before].footprint,
             static_cast<int32_t>(i));
  }
}

sim::Label Planner::outputLabel(uint32_t output) const {
  const Purpose &purpose = created.memory.groups[created.memory.outputGroups[output]].label;
  if (previous && previous->memory.outputGroups[output] != MemoryPlan::none) {
    const Purpose &before = previous->memory.groups[previous->memory.outputGroups[output]].label;
    if (before.of == purpose.of && before.index == purpose.index && before.value == purpose.value &&
        previous->program.spec(before.value) == program.spec(purpose.value))
      return previous->memory.outputLabels[output];
  }
  return purpose.text();
}

void Planner::repeatGroup(uint32_t value) {
  const uint32_t group = previous->groupOf[value];
  if (group != MemoryPlan::none)
    addGroup(resultOf(value), op, previous->memory.groups[group].footprint);
}

void Planner::addGroup(const Purpose &purpose, uint32_t at, const sim::Footprint &footprint, int32_t input) {
  if (footprint.buffer == BufferType::SystemMemory)
    return;
  const auto group = groupOf[purpose.value] = static_cast<uint32_t>(created.memory.groups.size());
  // First, as the footprint may be that of another group, which moves.
  l1Taken += footprint.buffer == BufferType::L1 ? footprint.bytesPerBank : 0;
  created.memory.groups.push_back({footprint, purpose, input});
  created.memory.events.push_back({at, true, group});
  references.push_back(1);
}

void Planner::fetchAhead() const {
  constexpr uint32_t far = 24, near = 12;
  if (op + far >= opCount)
    return;
  const auto *const later = reinterpret_cast<const std::byte *>(&program.operations[op + far]);
  for (size_t at = 0; at < sizeof(Operation); at += 64)
    __builtin_prefetch(later + at);
  const Operation &soon = program.operations[op + near];
  __builtin_prefetch(soon.ins.data());
  __builtin_prefetch(soon.outs.data());
  if (previous)
    __builtin_prefetch(previous->kernelOf[op + near].get());
}

void Planner::planOperation() {
  checkInterrupt();
  const Operation &operation = this->operation();
  if (operation.info->name == "ttnn.deallocate") {
    planDeallocation();
    return;
  }
  called.reset();
  equal.reset();
  evaluatePending();
  isAsBefore = compare();
  for (uint32_t out : operation.outs) {
    if (!isAsBefore)
      checkSize(out);
    Plan::Root &root = created.roots[out];
    root.home = Plan::Home::Arena;
    setShards(root, out);
    root.firstOp = root.lastOp = op;
  }
  for (uint32_t in : operation.ins)
    if (in != absentOperand)
      extend(in, op);
  if (operation.call == Operation::Call::Cached) {
    located([&] { planCall(); });
  } else if (operation.isControl()) {
    located([&] { planControl(); });
  } else {
    int alias = -1;
    if (!planConstant())
      alias = takeResults() ? previous->aliases[op] : located([&] { return makeKernel(); });
    created.aliases[op] = alias;
    planDeviceMemory(alias);
  }
  const bool isPut = !operation.outs.empty() && isPending[operation.outs.front()];
  if (!observed && !isPut)
    releaseConstants();
}

ttnn::OpCall &Planner::call() {
  if (!called) {
    called = program.call(operation());
    if (device->options().exact)
      called->exact = ttnn::Origin::Program;
  }
  return *called;
}

void Planner::setShards(Plan::Root &root, uint32_t value) const {
  root.shards = shards(value);
  root.first = root.shards > 1 ? created.chips.first : 0;
  root.held = root.shards > 1 ? created.chips.count() : 1;
}

void Planner::extend(uint32_t value, uint32_t at) {
  Plan::Root &root = rootOf(value);
  root.lastOp = std::max(root.lastOp, at);
}

void Planner::planDeallocation() {
  if (operation().ins.empty() || operation().ins[0] == absentOperand)
    return;
  const uint32_t value = operation().ins[0];
  if (observed)
    deallocatedAt.emplace_back(value, op);
  const uint32_t group = groupOf[value];
  if (group != MemoryPlan::none && !created.memory.groups[group].cached && --references[group] == 0) {
    created.memory.events.push_back({op, false, group});
    const sim::Footprint &footprint = created.memory.groups[group].footprint;
    l1Taken -= footprint.buffer == BufferType::L1 ? footprint.bytesPerBank : 0;
  }
}

/// The step of an op, if it needs one. Returns the operand of which the result is a view also on the device, or -1.
int Planner::makeKernel() {
  const ttnn::OpInfo &info = *operation().info;
  const auto &ins = operation().ins;
  const auto &outs = operation().outs;
  if (!info.make && !info.makeMesh)
    throw OpError("this op cannot be run by this runtime");
  if (!info.make) {
    created.meshKernels.push_back(info.makeMesh(call()));
    Plan::Step step;
    step.mesh = created.meshKernels.back().get();
    step.op = op;
    created.steps.push_back(step);
    operands.push_back({ins, outs});
    planExchange();
    for (uint32_t in : ins)
      if (in != absentOperand)
        isRead[created.rootOf[in]] = true;
    return -1;
  }
  std::shared_ptr<const ttnn::Kernel> kernel = kernelBefore();
  if (!kernel && (equal = findEqual()))
    kernel = created.kernelOf[*equal];
  const bool isNew = !kernel;
  if (isNew)
    restoreConstants();
  const bool allConstant = !observed && isNew && std::ranges::all_of(ins, [&](uint32_t in) {
    return in == absentOperand || constantBytes(in) || isSplitConstant(in);
  });
  if (!observed && isNew) {
    for (uint32_t in : ins)
      call().constantIns.push_back(in == absentOperand ? nullptr : constantBytes(in));
    call().constants = this;
    findDispensable();
  }
  if (isNew) {
    kernel = ttnn::makeKernel(info, call());
    checkDistribution();
  }
  const uint32_t viewed = viewedOperand(*kernel);
  const bool whole = viewed != absentOperand && program.spec(viewed).bytes() == program.spec(outs[0]).bytes();
  const int alias = whole ? kernel->alias() : -1;
  if (viewed != absentOperand && !observed && shards(viewed) == shards(outs[0]) && !created.written[viewed] &&
      !created.written[outs[0]]) {
    // No step: the result is an alias of the operand, or of a piece of it.
    created.rootOf[outs[0]] = created.rootOf[viewed];
    created.viewBytes[outs[0]] = created.viewBytes[viewed] + kernel->aliasOffset();
    created.kernelOf[op] = std::move(kernel);
    lastUse[created.rootOf[viewed]] = std::max(lastUse[created.rootOf[viewed]], lastUse[outs[0]]);
    return alias;
  }
  const auto times = [&] { return hasSplitConstants() ? size_t(created.chips.count()) : 1; }; // at most
  if (allConstant && isReproducible() && times() * foldedBytes() + preparedBytes <= maxPreparedBytes) {
    fold(*kernel, call());
    return alias;
  }
  if (!observed && isNew && addOwnStep(call()))
    return alias;
  for (size_t i = 0; i < ins.size(); ++i)
    if (ins[i] != absentOperand && kernel->reads(i))
      isRead[created.rootOf[ins[i]]] = true;
  if (isNew && mayBeEqual())
    newOps.push_back(op);
  created.kernelOf[op] = kernel;
  addStep(std::move(kernel));
  return alias;
}

void Planner::planExchange() {
  const auto &partition = device->partition();
  if (!partition || program.devices() == 1)
    return;
  const auto &ins = operation().ins;
  const auto [sends, receives] =
      ttnn::planExchange(created.steps.back().mesh->needs(), *partition, [&](uint32_t operand) {
        return operand < ins.size() && ins[operand] != absentOperand && shards(ins[operand]) > 1;
      });
  Plan::Exchange exchange;
  const auto parts = [&](std::span<const ttnn::ExchangePlan::Part> from, std::vector<Plan::Exchange::Part> &to) {
    for (const auto &[operand, chip, rank] : from)
      if (const size_t bytes = program.spec(ins[operand]).bytes())
        to.push_back({rank, operand, chip, bytes});
  };
  parts(sends, exchange.sends);
  parts(receives, exchange.receives);
  for (const auto &part : exchange.receives)
    exchange.arenaBytes += alignUp(part.bytes);
  exchange.label = "op " + std::to_string(op) + " (" + std::string(operation().info->name) + ") of " + created.name();
  created.steps.back().exchange = static_cast<uint32_t>(created.exchanges.size());
  created.exchanges.push_back(std::move(exchange));
}

/// The value of which the only result is a piece with unchanged bytes, or absentOperand.
uint32_t Planner::viewedOperand(const ttnn::Kernel &kernel) const {
  const auto &ins = operation().ins;
  const int alias = kernel.alias();
  if (alias < 0 || static_cast<size_t>(alias) >= ins.size() || operation().outs.size() != 1)
    return absentOperand;
  const auto index = static_cast<size_t>(alias);
  return ins[index] != absentOperand &&
                 kernel.aliasOffset() + program.spec(operation().outs[0]).bytes() <= program.spec(ins[index]).bytes()
             ? ins[index]
             : absentOperand;
}

/// A kernel of one device sees one shard of each operand.
void Planner::checkDistribution() const {
  uint32_t in = 1, least = ~0u, most = 1;
  for (uint32_t value : operation().ins)
    if (value != absentOperand)
      in = std::max(in, shards(value));
  for (uint32_t value : operation().outs) {
    least = std::min(least, shards(value));
    most = std::max(most, shards(value));
  }
  if (!operation().outs.empty() && (least != most || in > most))
    throw OpError("operands have " + std::to_string(in) + " shards and results " + std::to_string(least) +
                  (least != most ? " and " + std::to_string(most) : "") +
                  "; an op that is not a collective keeps the distribution of its operands");
}

void Planner::addStep(std::shared_ptr<const ttnn::Kernel> kernel) {
  Plan::Step step;
  step.kernel = kernel.get();
  step.op = op;
  for (uint32_t out : operation().outs)
    step.devices = std::max(step.devices, shards(out));
  // An op without results (it only has an effect) still runs for each shard of its operands.
  if (operation().outs.empty())
    for (uint32_t in : operation().ins)
      if (in != absentOperand)
        step.devices = std::max(step.devices, shards(in));
  step.callsHost = operation().info->name == "debug.host_call";
  step.isMeasured = dynamic_cast<const MeasuredKernel *>(kernel.get()) != nullptr;
  created.scratchBytes = std::max(created.scratchBytes, kernel->scratchBytes());
  if (created.kernelOf[op] != kernel)
    created.kernels.push_back(std::move(kernel));
  created.steps.push_back(step);
  operands.push_back({operation().ins, operation().outs});
}

/// Space on the device for the results, and the op's time there.
void Planner::planDeviceMemory(int alias) {
  const Operation &operation = this->operation();
  bool works = false;
  for (const uint32_t out : operation.outs) {
    const TensorSpec &spec = program.spec(out);
    works = works || !onHost(spec);
    if (isAsBefore && alias < 0) {
      repeatGroup(out);
      continue;
    }
    const sim::Footprint footprint = located([&] { return sim::footprint(chip, spec); });
    // A view that the device can also have: same placement, same pages.
    if (alias >= 0) {
      const uint32_t in = operation.ins[static_cast<size_t>(alias)];
      const TensorSpec &from = program.spec(in);
      if (groupOf[in] != MemoryPlan::none && from.memory == spec.memory && from.layout == spec.layout &&
          from.dtype == spec.dtype && references[groupOf[in]] > 0 &&
          sim::footprint(chip, from).bytesPerBank == footprint.bytesPerBank) {
        groupOf[out] = groupOf[in];
        ++references[groupOf[out]];
        continue;
      }
    }
    addGroup(resultOf(out), op, footprint);
  }
  for (const uint32_t in : operation.ins)
    works = works || (in != absentOperand && !onHost(program.spec(in)));
  // Marks of the debug dialect are for observers; the chip does not see them.
  if (!works || operation.info->name == "ttnn.constant" || operation.info->name.starts_with("debug."))
    return;
  created.isEstimated[op] = true;
  if (isAsBefore) {
    created.durations[op] = previous->durations[op];
    created.circular[op] = previous->circular[op];
  } else if (equal) {
    created.durations[op] = created.durations[*equal];
    created.circular[op] = created.circular[*equal];
  } else {
    created.durations[op] =
        located([&] { return ttnn::estimateOf(chip, *operation.info, call(), ttnn::Origin::Program).duration; });
    created.circular[op] = located([&] { return ttnn::circularBytes(chip, *operation.info, call()); });
  }
  // Kernels of the library use only the memory that tensors leave, if possible.
  if (const auto *own = dynamic_cast<const ttnn::OwnCircularBuffers *>(created.kernelOf[op].get()))
    created.circular[op] = own->circularBytes();
  else if (l1Taken > 0 && created.circular[op] > chip.l1Size - chip.l1UnreservedBase - l1Taken)
    created.circular[op] = located([&] { return ttnn::circularBytesWith(chip, *operation.info, call(), l1Taken); });
  if (created.circular[op]) {
    sim::Footprint footprint;
    footprint.bytesPerBank = created.circular[op];
    created.circularGroups[op] = static_cast<uint32_t>(created.memory.groups.size());
    created.memory.groups.push_back({footprint, {&created, Purpose::Of::Circular, op, absentOperand}});
    created.memory.groups.back().circular = true;
    created.memory.events.push_back({op, true, created.circularGroups[op]});
    references.push_back(0);
  }
  created.totalDuration.cycles += created.durations[op].cycles;
  created.totalDuration.ns += created.durations[op].ns;
  created.totalDuration.uncertaintyNs += created.durations[op].uncertaintyNs;
}

void Planner::planOutputs() {
  const auto outputs = static_cast<uint32_t>(program.outputs.size());
  created.outputIsHome.assign(outputs, false);
  created.memory.outputGroups.assign(outputs, MemoryPlan::none);
  created.memory.outputLabels.assign(outputs, noLabel);
  std::vector<bool> taken(created.memory.groups.size(), false);
  for (uint32_t k = 0; k < outputs; ++k) {
    const uint32_t value = program.outputs[k];
    extend(value, opCount);
    Plan::Root &root = rootOf(value);
    if (!observed && root.home == Plan::Home::Arena &&
        program.spec(value).bytes() == program.spec(created.rootOf[value]).bytes()) {
      root.home = Plan::Home::Output;
      root.index = k;
      created.outputIsHome[k] = true;
    } else {
      created.copies.push_back({k, value});
    }
    const uint32_t group = groupOf[value];
    if (group == MemoryPlan::none)
      continue;
    if (created.memory.groups[group].input < 0 && !created.memory.groups[group].cached && !taken[group]) {
      taken[group] = true;
      created.memory.outputGroups[k] = group;
    } else {
      // An input, the result of a call, or an earlier output: the caller gets a separate buffer.
      addGroup({&created, Purpose::Of::Output, k, value}, opCount, created.memory.groups[group].footprint);
      created.memory.outputGroups[k] = groupOf[value];
      taken.push_back(true);
      groupOf[value] = group;
    }
    created.memory.groups[created.memory.outputGroups[k]].output = k;
    created.memory.outputLabels[k] = outputLabel(k);
  }
}

/// A program that does not fit an empty device is refused before host memory is allocated for it.
void Planner::checkMemory() const {
  sim::Memories empty(chip, device->options(), device->id());
  if (!created.memory.surelyFits(empty, std::max(chip.dramAlignment, chip.l1Alignment)))
    created.memory.simulate(empty);
}

void Planner::describeOutputs() {
  for (size_t k = 0; k < program.outputs.size(); ++k) {
    TensorSpec spec = program.spec(program.outputs[k]);
    if (created.memory.outputGroups[k] == MemoryPlan::none)
      spec.memory = {};
    const bool isSpread = spec.distributed && program.devices() > 1;
    created.outputDescriptions.push_back(Tensor::describe(std::move(spec),
                                                          isSpread ? program.meshShape : std::vector<uint32_t>(),
                                                          isSpread ? device->partition() : nullptr));
  }
}

void Planner::describeParameters() {
  for (Plan::Parameter &parameter : created.parameters) {
    const Tensor &tensor = inputs[parameter.input];
    const ttnn::Contents &contents = tensor.contents();
    parameter.dtype = tensor.dtype();
    parameter.contents = contents.id;
    parameter.version = contents.version;
    if (!contents.tracked)
      parameter.hash = hashOf(tensor);
  }
}

std::shared_ptr<const Plan> makePlan(const BinaryImage &image, size_t programIndex, const Device &device, Mode mode,
                                     std::span<const Tensor> inputs, std::span<const Argument> arguments,
                                     const Plan *previous) {
  return Planner(image, programIndex, device, mode, inputs, arguments, previous).make();
}

} // namespace tt::runtime
