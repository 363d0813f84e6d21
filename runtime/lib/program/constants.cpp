//===- constants.cpp - preparation of constants ---------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "program/executable.h"
#include "program/planner.h"
#include "tt/recycle.h"
#include "tt/sim/formats.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tt::runtime {
namespace {

/// A constant that a run may change, or that is observed.
class ConstantKernel final : public ttnn::Kernel {
public:
  ConstantKernel(std::shared_ptr<const std::byte> values, size_t bytes) : values(std::move(values)), bytes(bytes) {}
  void run(const ttnn::Buffers &buffers) const override {
    if (bytes)
      std::memcpy(buffers.outs[0], values.get(), bytes);
  }

private:
  std::shared_ptr<const std::byte> values;
  size_t bytes;
};

/// The values of a constant in the device's form.
std::shared_ptr<const std::byte> quantised(const TensorSpec &spec, std::span<const std::byte> bytes) {
  auto copy = sim::allocateHostOnce(bytes.size(), "a constant");
  if (!bytes.empty()) {
    std::memcpy(copy.get(), bytes.data(), bytes.size());
    const auto columns = static_cast<size_t>(spec.shape.empty() ? 1 : spec.shape.back());
    sim::quantiseRows(spec.dtype, reinterpret_cast<uint16_t *>(copy.get()), bytes.size() / 2 / columns, columns);
  }
  return copy;
}

/// `values` from `offset` on, with the same owner.
std::shared_ptr<const std::byte> piece(const std::shared_ptr<const std::byte> &values, size_t offset) {
  return values ? std::shared_ptr<const std::byte>(values, values.get() + offset) : nullptr;
}

} // namespace

const std::byte *Planner::constantBytes(uint32_t value) const {
  const Plan::Root &root = rootOf(value);
  return isOneForAll(root) ? root.constant.front().get() + created.viewBytes[value] : nullptr;
}

const std::byte *Planner::constantBytes(uint32_t value, uint32_t device) const {
  const auto &shard = rootOf(value).constant[device];
  return shard ? shard.get() + created.viewBytes[value] : nullptr;
}

bool Planner::isOneForAll(const Plan::Root &root) {
  // Other ranks have none, so that all ranks decide alike.
  return root.home == Plan::Home::Constant && !root.constant.empty() &&
         std::ranges::all_of(root.constant,
                             [&](const auto &shard) { return shard && shard.get() == root.constant.front().get(); });
}

/// Whether the program alone owns the memory of a constant that is the same on all devices; values in the file have no
/// owner.
bool Planner::isOwnedAlone(const Plan::Root &root) {
  return root.constant.front().use_count() == static_cast<long>(root.constant.size());
}

void Planner::shareEqual(Shards &shards, size_t bytes) {
  for (size_t d = 1; d < shards.size() && bytes; ++d)
    for (size_t other = 0; other < d && shards[d]; ++other)
      if (shards[other] == shards[d])
        break; // the first that has them
      else if (shards[other] && std::memcmp(shards[other].get(), shards[d].get(), bytes) == 0) {
        shards[d] = shards[other];
        break;
      }
}

bool Planner::isSplitConstant(uint32_t value) const {
  return value != absentOperand && shards(value) > 1 && rootOf(value).home == Plan::Home::Constant &&
         !isOneForAll(rootOf(value));
}

bool Planner::addOwnStep(ttnn::OpCall &call) {
  const auto &ins = operation().ins;
  if (!hasSplitConstants())
    return false;
  const auto isSplit = [&](uint32_t in) { return isSplitConstant(in); };
  std::map<std::vector<const std::byte *>, const ttnn::Kernel *> known;
  std::vector<std::shared_ptr<const ttnn::Kernel>> kernels;
  std::vector<const ttnn::Kernel *> own;
  const std::vector<const std::byte *> all = call.constantIns;
  const auto keepsForm = [&](const ttnn::Kernel &kernel) {
    for (size_t i = 0; i < ins.size(); ++i)
      if (isSplit(ins[i]) && !kernel.reads(i))
        return true;
    return false;
  };
  for (uint32_t device = created.chips.first; device < created.chips.last; ++device) {
    for (size_t i = 0; i < ins.size(); ++i)
      if (isSplit(ins[i]))
        call.constantIns[i] = constantBytes(ins[i], device);
    const ttnn::Kernel *&kernel = known[call.constantIns];
    if (!kernel) {
      kernels.push_back(ttnn::makeKernel(*operation().info, call));
      kernel = kernels.back().get();
    }
    if (own.empty() && !keepsForm(*kernel)) {
      call.constantIns = all;
      return false;
    }
    own.push_back(kernel);
  }
  call.constantIns = all;
  for (const auto &kernel : kernels)
    for (size_t i = 0; i < ins.size(); ++i)
      if (ins[i] != absentOperand && kernel->reads(i))
        isRead[created.rootOf[ins[i]]] = true;
  // The step is that of one of them; those of the others are adjacent.
  addStep(std::move(kernels.front()));
  for (size_t k = 1; k < kernels.size(); ++k) {
    created.scratchBytes = std::max(created.scratchBytes, kernels[k]->scratchBytes());
    created.kernels.push_back(std::move(kernels[k]));
  }
  created.steps.back().own = static_cast<uint32_t>(created.ownKernels.size());
  created.ownKernels.push_back(std::move(own));
  return true;
}

/// ttnn.constant needs no kernel: its values are used in the file.
bool Planner::planConstant() {
  if (operation().info->name != "ttnn.constant" || operation().outs.size() != 1)
    return false;
  const ttnn::ConstantAttribute *constant = nullptr;
  for (const auto &[name, attribute] : operation().attributes.all())
    if (const auto *found = std::get_if<ttnn::ConstantAttribute>(&attribute.value))
      constant = found;
  if (!constant)
    return false;
  const uint32_t value = operation().outs[0];
  const TensorSpec &spec = program.spec(value);
  std::shared_ptr<const std::byte> values(std::shared_ptr<void>(), constant->bytes.data());
  if (sim::isBlockFormat(spec.dtype))
    values = quantised(spec, constant->bytes);
  if (!observed && !created.written[value]) {
    created.roots[value].home = Plan::Home::Constant;
    created.roots[value].constant.assign(created.roots[value].shards, values);
    isSame[value] = previous && operation().attributes.isCopyOf(previous->program.operations[op].attributes) &&
                    spec == previous->program.spec(value);
    return true;
  }
  addStep(std::make_unique<ConstantKernel>(std::move(values), spec.bytes()));
  return true;
}

void Planner::planControl() {
  const Operation &operation = this->operation();
  const bool isLoop = operation.call == Operation::Call::While;
  const size_t first = operation.call == Operation::Call::Case ? 1 : 0; // operand that is the callees' first input
  restoreConstants();
  std::vector<Argument> given;
  for (size_t i = first; i < operation.ins.size(); ++i) {
    const uint32_t value = operation.ins[i];
    const Plan::Root &root = rootOf(value);
    Argument &argument = given.emplace_back();
    // A loop-carried value begins with a constant, and continues with another value.
    if (observed || root.home != Plan::Home::Constant || (isLoop && i < operation.outs.size()))
      continue;
    argument.constant = true;
    for (const auto &shard : root.constant)
      argument.shards.push_back(piece(shard, created.viewBytes[value]));
  }
  Plan::Callees &callees = created.callees[op];
  for (uint32_t callee : operation.callees)
    callees.push_back(makePlan(created.image, callee, device, created.mode, {}, given));
  for (size_t i = 0; i < operation.ins.size(); ++i) {
    const auto knows = [&](const std::shared_ptr<const Plan> &callee) {
      return callee->roots[callee->program.inputs[i - first]].home == Plan::Home::Constant;
    };
    if (i < first || !std::ranges::all_of(callees, knows))
      isRead[created.rootOf[operation.ins[i]]] = true;
  }
  for (uint32_t out : operation.outs)
    addGroup(resultOf(out), op, sim::footprint(chip, program.spec(out)));
  if (!observed)
    addWorkingMemory(callees);

  // Once through a loop, or the longest branch; a run determines more.
  sim::Duration &duration = created.durations[op];
  for (const auto &callee : callees)
    if (isLoop) {
      duration.cycles += callee->totalDuration.cycles;
      duration.ns += callee->totalDuration.ns;
      duration.uncertaintyNs += callee->totalDuration.uncertaintyNs;
    } else if (callee->totalDuration.cycles > duration.cycles) {
      duration = callee->totalDuration;
    }
  created.totalDuration.cycles += duration.cycles;
  created.totalDuration.ns += duration.ns;
  created.totalDuration.uncertaintyNs += duration.uncertaintyNs;

  Plan::Step step;
  step.control = true;
  step.op = op;
  created.steps.push_back(step);
  operands.push_back({operation.ins, operation.outs});
}

/// Adds the device memory of the programs that an op runs.
void Planner::addWorkingMemory(const Plan::Callees &callees) {
  int64_t peaks[sim::memoryCount] = {};
  for (const auto &callee : callees) {
    sim::Memories empty(chip, device->options(), device->id());
    callee->memory.addWorking(empty, peaks);
  }
  for (const BufferType buffer : {BufferType::DRAM, BufferType::L1}) {
    const int64_t bytes = peaks[static_cast<size_t>(sim::memoryOf(buffer))];
    if (bytes == 0)
      continue;
    const auto group = static_cast<uint32_t>(created.memory.groups.size());
    created.memory.groups.push_back(
        {{buffer, bytes, 1, 1, bytes}, {&created, Purpose::Of::Callees, op, absentOperand}});
    created.memory.events.push_back({op, true, group});
    created.memory.events.push_back({op + 1, false, group});
    references.push_back(1);
  }
}

/// The values of an operand of a call.
Argument Planner::argumentOf(uint32_t value, size_t index) const {
  const Plan::Root &root = rootOf(value);
  const std::string name = "operand " + std::to_string(index);
  if (created.written[created.rootOf[value]])
    throw OpError(name + " is changed in place by the program; its values cannot be kept");
  Argument argument;
  const Shards *shards = nullptr;
  if (root.home == Plan::Home::Constant) {
    argument.constant = true;
    shards = &root.constant;
  } else if (root.home == Plan::Home::Input && root.index < knownArguments().size()) {
    shards = &knownArguments()[root.index].shards;
    if (std::ranges::find(created.parameters, root.index, &Plan::Parameter::input) == created.parameters.end())
      created.parameters.push_back({root.index, {}, 0, 0, {}});
  } else {
    throw OpError(name + " is computed by the program; expected an input, a constant, or the result of another " +
                  std::string(operation().info->name));
  }
  if (shards->empty())
    throw OpError(name + " is not known before the program runs; expected a constant");
  for (const auto &shard : *shards)
    argument.shards.push_back(piece(shard, created.viewBytes[value]));
  return argument;
}

bool Planner::isReproducible() const {
  std::vector<TensorSpec> results;
  for (uint32_t out : operation().outs) {
    if (created.written[out])
      return false;
    results.push_back(program.spec(out));
    // A kernel of one device computes the same from the same operands on all of them.
    results.back().distributed = false;
  }
  return ttnn::isReproducible(*operation().info, results);
}

size_t Planner::foldedBytes() const {
  size_t bytes = 0;
  for (uint32_t out : operation().outs)
    bytes += program.spec(out).bytes();
  return bytes;
}

bool Planner::hasSplitConstants() const {
  return std::ranges::any_of(operation().ins, [&](uint32_t in) { return isSplitConstant(in); });
}

/// Runs an op of constants now: once, or once for each different value that devices have.
void Planner::fold(const ttnn::Kernel &kernel, const ttnn::OpCall &call) {
  const auto &ins = operation().ins;
  const auto &results = operation().outs;
  const auto scratch = sim::allocateHostOnce(kernel.scratchBytes(), "a kernel's scratch memory");
  const auto computed = [&](std::span<const std::byte *const> operands, bool isLast) {
    std::vector<std::shared_ptr<std::byte>> values;
    std::vector<std::byte *> outs;
    for (const TensorSpec &spec : call.outs) {
      values.push_back(sim::allocateHostOnce(spec.bytes(), "a prepared constant"));
      outs.push_back(values.back().get());
    }
    if (isLast)
      kernel.runOnce({operands, outs, scratch.get()}, *this);
    else
      kernel.run({operands, outs, scratch.get()});
    preparedBytes += foldedBytes();
    return values;
  };
  std::vector<Shards> shards(results.size());
  if (!hasSplitConstants()) {
    const auto values = computed(call.constantIns, /*isLast=*/true);
    for (size_t i = 0; i < results.size(); ++i)
      shards[i].assign(created.roots[results[i]].shards, values[i]);
  } else {
    std::map<std::vector<const std::byte *>, std::vector<std::shared_ptr<std::byte>>> known;
    for (size_t i = 0; i < results.size(); ++i)
      shards[i].resize(created.roots[results[i]].shards);
    for (uint32_t device = created.chips.first; device < created.chips.last; ++device) {
      std::vector<const std::byte *> operands = call.constantIns;
      for (size_t i = 0; i < ins.size(); ++i)
        if (isSplitConstant(ins[i]))
          operands[i] = constantBytes(ins[i], device);
      auto &values = known[operands];
      if (values.empty())
        values = computed(operands, /*isLast=*/false);
      for (size_t i = 0; i < results.size(); ++i)
        shards[i][device] = values[i];
    }
  }
  for (size_t i = 0; i < results.size(); ++i) {
    Plan::Root &root = created.roots[results[i]];
    root.home = Plan::Home::Constant;
    root.constant = std::move(shards[i]);
  }
}

void Planner::findDispensable() {
  dispensable.clear();
  const auto &ins = operation().ins;
  // Several kernels are created that all need them.
  if (hasSplitConstants())
    return;
  for (uint32_t in : ins) {
    if (in == absentOperand)
      continue;
    const uint32_t value = created.rootOf[in];
    const Plan::Root &root = created.roots[value];
    const auto isSame = [&](uint32_t other) { return other != absentOperand && created.rootOf[other] == value; };
    // While more is still needed than is held twice, memory does not exceed the final amount.
    if (isOneForAll(root) && isOwnedAlone(root) && !keepsForOtherSizes(value) &&
        program.spec(value).bytes() > constantsAfter[op] && lastUse[value] == op && !isRead[value] &&
        std::ranges::count_if(ins, isSame) == 1)
      dispensable.push_back({root.constant.front().get(), program.spec(value).bytes()});
  }
  if (!dispensable.empty())
    created.image.settle(); // this is where most memory is in use
}

void Planner::release(std::span<const std::byte> values) const {
  created.image.release(values);
  for (const auto &constant : dispensable)
    if (values.data() >= constant.data() && values.data() + values.size() <= constant.data() + constant.size())
      emptyFresh(const_cast<std::byte *>(values.data()), values.size());
}

bool Planner::areOthers(std::span<const std::byte> values) const {
  const auto isOwned = [&](uint32_t in) {
    return in != absentOperand && constantBytes(in) == values.data() &&
           (isOwnedAlone(rootOf(in)) || created.uses->computedBy[created.rootOf[in]] != opCount);
  };
  return !created.image.holds(values) && std::ranges::none_of(operation().ins, isOwned);
}

bool Planner::affords(std::span<const std::byte> values, size_t bytes) const {
  return !areOthers(values) || PreparedForms::ofProcess().affords(bytes);
}

bool Planner::defers(std::span<const std::byte> values) const {
  // Callers prepare the programs that they call, each time again; all ranks have the same plan.
  const bool isCalled = inputs.empty();
  if (isCalled || !device->options().programCache || device->partition() || !areOthers(values) ||
      (previous && !PreparedForms::ofProcess().isInPlace(values)))
    return false;
  created.deferred.push_back({op, values});
  return true;
}

bool Planner::gives(std::span<const std::byte> values) const { return !areOthers(values); }

void Planner::readInPlace(std::span<const std::byte> values) const { PreparedForms::ofProcess().markInPlace(values); }

void Planner::enterWeights() {
  if (previous && previous->weights) {
    created.weights = previous->weights; // which fit
    return;
  }
  std::vector<std::span<const std::byte>> weights;
  const std::vector<Argument> &known = knownArguments();
  for (size_t i = 0; i < known.size(); ++i)
    for (const auto &shard : known[i].shards)
      if (shard)
        weights.push_back({shard.get(), program.spec(program.inputs[i]).bytes()});
  if (!weights.empty())
    created.weights = PreparedForms::ofProcess().enter(std::move(weights));
}

std::optional<Planner::Constant> Planner::constantAt(const std::byte *operand) const {
  for (uint32_t in : operation().ins) {
    if (in == absentOperand || !operand)
      continue;
    const auto found = [&](uint32_t shard) {
      return Constant{created.rootOf[in], shard, created.viewBytes[in], program.spec(in).bytes()};
    };
    if (constantBytes(in) == operand)
      return found(0);
    if (isSplitConstant(in))
      for (uint32_t device = created.chips.first; device < created.chips.last; ++device)
        if (constantBytes(in, device) == operand)
          return found(device);
  }
  return std::nullopt;
}

std::optional<Identity> Planner::identityOf(const Constant &constant, const std::byte *values) const {
  constexpr size_t least = size_t(1) << 16;
  if (constant.bytes < least)
    return std::nullopt;
  const auto [found, isNew] = created.identities.try_emplace(constant);
  if (!isNew)
    return found->second;
  if (isSame[constant.root])
    if (const auto known = previous->identities.find(constant); known != previous->identities.end())
      return found->second = known->second;
  return found->second = runtime::identityOf({values, constant.bytes});
}

std::shared_ptr<std::byte> Planner::sharedForm(const std::byte *operand, const Form &form) const {
  const auto constant = constantAt(operand);
  if (!constant)
    return nullptr;
  if (const auto found = sharedForms.find({*constant, form}); found != sharedForms.end())
    if (auto mine = found->second.lock())
      return mine;
  const auto identity = identityOf(*constant, operand);
  return identity ? PreparedForms::ofProcess().find(*identity, form) : nullptr;
}

void Planner::shareForm(const std::byte *operand, Form form, const std::shared_ptr<std::byte> &created) const {
  const auto constant = constantAt(operand);
  if (!constant)
    return;
  sharedForms[{*constant, form}] = created;
  // Values that were released meanwhile are not read: they were read when the form was looked up.
  if (const auto known = plan->identities.find(*constant); known != plan->identities.end())
    PreparedForms::ofProcess().keep(known->second, std::move(form), created, areOthers({operand, constant->bytes}));
}

bool Planner::keepsForOtherSizes(uint32_t value) const {
  constexpr size_t most = size_t(64) << 20;
  const Plan::Root &root = created.roots[value];
  if (created.image.boundOf.expired() || created.uses->computedBy[value] == opCount || !isOneForAll(root) ||
      root.constant.front().use_count() == 0 || keptBytes + program.spec(value).bytes() > most)
    return false;
  // The operands of other constants are not needed again.
  const auto isConstant = [&](uint32_t in) { return in == absentOperand || rootOf(in).home == Plan::Home::Constant; };
  return !std::ranges::all_of(operation().ins, isConstant);
}

void Planner::releaseConstants() {
  for (uint32_t in : operation().ins) {
    if (in == absentOperand)
      continue;
    const uint32_t value = created.rootOf[in];
    Plan::Root &root = created.roots[value];
    if (root.home != Plan::Home::Constant)
      continue;
    const bool isDone = lastUse[value] == op && !isRead[value];
    if (isDone && keepsForOtherSizes(value)) {
      keptBytes += program.spec(value).bytes();
      continue;
    }
    const std::byte *last = nullptr; // devices may have the same ones
    for (auto &shard : root.constant) {
      if (!shard)
        continue; // let go, or of another rank
      const bool isNext = std::exchange(last, shard.get()) != shard.get();
      if (shard.use_count() == 0) {
        if (isNext)
          created.image.release({shard.get(), program.spec(value).bytes()});
      } else if (isDone) {
        if (isNext)
          preparedBytes -= std::min(preparedBytes, program.spec(value).bytes());
        shard.reset();
      }
    }
  }
}

/// Small constants that kernels read in the file each time get their own memory: around each of them, the system would
/// keep many times its size of the file.
void Planner::keepSmallConstants() {
  constexpr size_t small = size_t(1) << 18;
  const auto isKept = [&](uint32_t value) {
    const Plan::Root &root = created.roots[value];
    return root.home == Plan::Home::Constant && created.rootOf[value] == value && isRead[value] &&
           root.shards == root.constant.size() && root.constant.front().use_count() == 0 &&
           program.spec(value).bytes() <= small &&
           std::ranges::count(root.constant, root.constant.front()) == static_cast<ptrdiff_t>(root.shards) &&
           created.image.holds({root.constant.front().get(), program.spec(value).bytes()});
  };
  size_t bytes = 0;
  for (uint32_t value = 0; value < program.values.size(); ++value)
    if (isKept(value))
      bytes += alignUp(program.spec(value).bytes());
  if (!created.image.isMapped || !bytes)
    return;
  const auto memory = sim::allocateHostOnce(bytes, "the small constants of a program");
  size_t at = 0;
  for (uint32_t value = 0; value < program.values.size(); ++value) {
    if (!isKept(value))
      continue;
    Plan::Root &root = created.roots[value];
    const size_t size = program.spec(value).bytes();
    std::memcpy(memory.get() + at, root.constant.front().get(), size);
    created.image.release({root.constant.front().get(), size});
    root.constant.assign(root.shards, piece(memory, at));
    at += alignUp(size);
  }
}

} // namespace tt::runtime
