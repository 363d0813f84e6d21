//===- control.cpp - loops and branches -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// An op that runs other programs of the binary passes its operands in place and has them write directly to its results.
// A loop writes alternately to its results and to separate memory.
//
//===----------------------------------------------------------------------===//

#include "program/executable.h"
#include "program/loop_limit.h"
#include "tt/interrupt.h"
#include "tt/sim/host.h"

#include <algorithm>
#include <cstring>

namespace tt::runtime {

void Executable::bindOperands(ConstPointers ins) {
  inputData.resize(ins.size());
  copiesOfWritten.resize(ins.size());
  for (size_t i = 0; i < ins.size(); ++i) {
    const uint32_t value = program.inputs[i];
    inputData[i].resize(plan.roots[value].shards);
    for (uint32_t d = plan.roots[value].first; d < plan.roots[value].last(); ++d) {
      inputData[i][d] = const_cast<std::byte *>(ins[i][ins[i].size() == 1 ? 0 : d]); // only read, unless it is a copy
      const size_t bytes = program.spec(value).bytes();
      if (!plan.written[value] || !bytes)
        continue;
      copiesOfWritten[i].resize(inputData[i].size());
      auto &copy = copiesOfWritten[i][d];
      if (!copy)
        copy = sim::allocateHost(bytes, "an input that is changed in place");
      std::memcpy(copy.get(), inputData[i][d], bytes);
      inputData[i][d] = copy.get();
    }
  }
}

bool Executable::rests(const Step &step, uint32_t d) const {
  return step.devices == plan.chips.count() ? resting[plan.chips.first + d] != 0
                                            : std::ranges::find(resting, 0) == resting.end();
}

void Executable::clearResults(const Step &step, const ttnn::Buffers &buffers) const {
  const std::vector<uint32_t> &outs = program.operations[step.op].outs;
  for (size_t i = 0; i < outs.size(); ++i)
    if (const size_t bytes = program.spec(outs[i]).bytes())
      std::memset(buffers.outs[i], 0, bytes);
}

void Executable::runWith(ConstPointers ins, Pointers outs) {
  bindOperands(ins);
  results.shards.resize(outs.size());
  for (size_t k = 0; k < outs.size(); ++k) {
    results.shards[k].resize(outs[k].size());
    for (size_t d = 0; d < outs[k].size(); ++d)
      results.shards[k][d] = {std::shared_ptr<void>(), outs[k][d]};
  }
  beyondPlan = {};
  bindPatches(results);
  runSteps(nullptr);
  copyOutputs(results);
}

void Executable::runControl(uint32_t op, ConstPointers ins, Pointers outs, const Runner &run) {
  try {
    const Operation::Call call = program.operations[op].call;
    const auto runFunction = [&] {
      Executable &callee = *callees.at(op).programs[0];
      callee.rest(resting);
      return run(callee, ins, outs);
    };
    const sim::Duration took = call == Operation::Call::While  ? runWhile(op, ins, outs, run)
                               : call == Operation::Call::Case ? runCase(op, ins, outs, run)
                                                               : runFunction();
    beyondPlan.cycles += took.cycles - plan.durations[op].cycles;
    beyondPlan.ns += took.ns - plan.durations[op].ns;
  } catch (const OpError &error) {
    throw OpError(name() + ": op " + std::to_string(op) + " (" + std::string(program.operations[op].info->name) +
                  "): " + error.what());
  }
}

/// Space for the results of an op on the chips of this process.
static std::vector<std::vector<std::byte *>> roomFor(std::span<const std::span<std::byte *const>> outs,
                                                     std::span<const size_t> bytes,
                                                     std::vector<std::shared_ptr<std::byte>> &owners) {
  std::vector<std::vector<std::byte *>> room(outs.size());
  for (size_t k = 0; k < outs.size(); ++k)
    for (size_t d = 0; d < outs[k].size(); ++d) {
      if (!outs[k][d]) {
        room[k].push_back(nullptr);
        continue;
      }
      owners.push_back(sim::allocateHost(bytes[k], "the results of another branch"));
      room[k].push_back(owners.back().get());
    }
  return room;
}

/// Runs the branches that chips take: all chips run a branch that any takes, and each keeps its own result.
sim::Duration Executable::runCase(uint32_t op, ConstPointers ins, Pointers outs, const Runner &run) {
  auto &branches = callees.at(op).programs;
  const auto branchOf = [&](double number) {
    // StableHLO: a number without a branch selects the last one.
    const bool isOne = number >= 0 && number < static_cast<double>(branches.size());
    return isOne ? static_cast<size_t>(number) : branches.size() - 1;
  };
  const std::vector<double> numbers =
      selectorsOf(program.spec(program.operations[op].ins[0]), ins[0], "the number of the branch");
  std::vector<size_t> taken(numbers.size());
  std::ranges::transform(numbers, taken.begin(), branchOf);
  if (taken.size() == resting.size()) {
    // A chip that rests does what the others do.
    const auto active = static_cast<size_t>(std::ranges::find(resting, 0) - resting.begin());
    for (size_t d = 0; d < taken.size() && active < taken.size(); ++d)
      if (resting[d])
        taken[d] = taken[active];
  }
  const auto runFor = [&](size_t branch, Pointers to) {
    std::vector<uint8_t> others = resting;
    if (taken.size() > 1) {
      others.resize(taken.size());
      for (size_t d = 0; d < taken.size(); ++d)
        others[d] |= taken[d] != branch;
    }
    branches[branch]->rest(others);
    return run(*branches[branch], ins.subspan(1), to);
  };
  sim::Duration took = runFor(taken.front(), outs);
  if (std::ranges::all_of(taken, [&](size_t branch) { return branch == taken.front(); }))
    return took;
  std::vector<size_t> bytes;
  for (uint32_t out : program.operations[op].outs)
    bytes.push_back(program.spec(out).bytes());
  for (size_t k = 0; k < outs.size(); ++k)
    if (outs[k].size() != taken.size())
      throw OpError("the number of the branch differs from chip to chip, and result " + std::to_string(k) +
                    " is one for all; expected a shard for each chip");
  std::vector<std::shared_ptr<std::byte>> owners;
  const auto room = roomFor(outs, bytes, owners);
  const std::vector<std::span<std::byte *const>> other(room.begin(), room.end());
  for (size_t branch = 0; branch < branches.size(); ++branch) {
    if (branch == taken.front() || std::ranges::find(taken, branch) == taken.end())
      continue;
    const sim::Duration more = runFor(branch, other);
    took.cycles = std::max(took.cycles, more.cycles), took.ns = std::max(took.ns, more.ns);
    for (size_t k = 0; k < outs.size(); ++k)
      for (size_t d = 0; d < taken.size(); ++d)
        if (taken[d] == branch && bytes[k] && outs[k][d])
          std::memcpy(outs[k][d], room[k][d], bytes[k]);
  }
  return took;
}

/// A chip whose condition is false keeps its values until the others have finished.
sim::Duration Executable::runWhile(uint32_t op, ConstPointers ins, Pointers outs, const Runner &run) {
  Callees &own = callees.at(op);
  Executable &condition = *own.programs[0], &body = *own.programs[1];
  const std::vector<std::span<std::byte *const>> carried(own.carriedData.begin(), own.carriedData.end());
  const Pointers others = Pointers(carried).first(outs.size()), selector = Pointers(carried).last(1);
  const TensorSpec &selectorSpec = condition.program.spec(condition.program.outputs[0]);
  std::vector<std::span<const std::byte *const>> current(ins.begin(), ins.end());
  std::vector<uint8_t> finished(selector[0].size(), 0); // by chip
  if (finished.size() == resting.size())
    finished = resting;
  sim::Duration took;
  const auto step = [&](Executable &callee, Pointers to) {
    callee.rest(finished.size() > 1 ? finished : resting);
    const sim::Duration more = run(callee, current, to);
    took.cycles += more.cycles;
    took.ns += more.ns;
  };
  /// Keeps the current values of the chips that `takes` names.
  const auto keep = [&](Pointers to, auto &&takes) {
    for (size_t k = 0; k < to.size(); ++k)
      for (size_t d = 0; d < to[k].size(); ++d)
        if (const size_t bytes = program.spec(program.operations[op].outs[k]).bytes(); bytes && to[k][d] && takes(k, d))
          std::memcpy(to[k][d], current[k][current[k].size() == 1 ? 0 : d], bytes);
  };
  for (bool inOuts = false;; inOuts = !inOuts) {
    checkInterrupt();
    step(condition, selector);
    const std::vector<double> goesOn = selectorsOf(selectorSpec, selector[0], "the condition");
    for (size_t d = 0; d < finished.size(); ++d)
      finished[d] |= goesOn[goesOn.size() == 1 ? 0 : d] == 0;
    if (std::ranges::find(finished, 0) == finished.end()) {
      if (!inOuts)
        keep(outs, [](size_t, size_t) { return true; });
      return took;
    }
    LoopLimit::count();
    const Pointers next = inOuts ? others : outs;
    step(body, next);
    if (std::ranges::find(finished, 1) != finished.end()) {
      const bool differs = finished != resting; // among chips that take part
      for (size_t k = 0; k < next.size(); ++k)
        if (differs && next[k].size() != finished.size())
          throw OpError("the condition differs from chip to chip, and value " + std::to_string(k) +
                        " is one for all; expected a shard for each chip");
      keep(next, [&](size_t k, size_t d) { return next[k].size() == finished.size() && finished[d] != 0; });
    }
    std::ranges::copy(next, current.begin());
  }
}

} // namespace tt::runtime
