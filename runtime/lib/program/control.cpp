//===- control.cpp - loops and branches -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// An op that runs other programs of the binary gives them its operands where
// they lie and has them write where its results belong. A loop writes in turns
// to its results and to memory of its own.
//
//===----------------------------------------------------------------------===//

#include "core/selector.h"
#include "program/executable.h"
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
    for (uint32_t d = 0; d < inputData[i].size(); ++d) {
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

void Executable::runWith(ConstPointers ins, Pointers outs) {
  bindOperands(ins);
  results.shards.resize(outs.size());
  for (size_t k = 0; k < outs.size(); ++k) {
    results.shards[k].resize(outs[k].size());
    for (size_t d = 0; d < outs[k].size(); ++d)
      results.shards[k][d] = {std::shared_ptr<void>(), outs[k][d]};
  }
  inCallees = {};
  bindPatches(results);
  runSteps(nullptr);
  copyOutputs(results);
}

void Executable::runControl(uint32_t op, ConstPointers ins, Pointers outs, const Runner &run) {
  try {
    const sim::Duration took = program.operations[op].call == Operation::Call::While ? runWhile(op, ins, outs, run)
                                                                                     : runCase(op, ins, outs, run);
    inCallees.cycles += took.cycles - plan.durations[op].cycles;
    inCallees.ns += took.ns - plan.durations[op].ns;
  } catch (const OpError &error) {
    throw OpError(name() + ": op " + std::to_string(op) + " (" + std::string(program.operations[op].info->name) +
                  "): " + error.what());
  }
}

sim::Duration Executable::runCase(uint32_t op, ConstPointers ins, Pointers outs, const Runner &run) {
  auto &branches = callees.at(op).programs;
  const double number =
      ttnn::selectorOf(program.spec(program.operations[op].ins[0]), ins[0], "the number of the branch");
  // StableHLO: what is no branch's number stands for the last.
  const bool isOne = number >= 0 && number < static_cast<double>(branches.size());
  return run(*branches[isOne ? static_cast<size_t>(number) : branches.size() - 1], ins.subspan(1), outs);
}

sim::Duration Executable::runWhile(uint32_t op, ConstPointers ins, Pointers outs, const Runner &run) {
  Callees &own = callees.at(op);
  Executable &condition = *own.programs[0], &body = *own.programs[1];
  const std::vector<std::span<std::byte *const>> carried(own.carriedData.begin(), own.carriedData.end());
  const Pointers others = Pointers(carried).first(outs.size()), selector = Pointers(carried).last(1);
  const TensorSpec &selectorSpec = condition.program.spec(condition.program.outputs[0]);
  std::vector<std::span<const std::byte *const>> current(ins.begin(), ins.end());
  sim::Duration took;
  const auto step = [&](Executable &callee, Pointers to) {
    const sim::Duration more = run(callee, current, to);
    took.cycles += more.cycles;
    took.ns += more.ns;
  };
  for (bool inOuts = false;; inOuts = !inOuts) {
    checkInterrupt();
    step(condition, selector);
    if (ttnn::selectorOf(selectorSpec, selector[0], "the condition") == 0) {
      for (size_t k = 0; k < outs.size() && !inOuts; ++k)
        for (size_t d = 0; d < outs[k].size(); ++d)
          if (const size_t bytes = program.spec(program.operations[op].outs[k]).bytes())
            std::memcpy(outs[k][d], current[k][current[k].size() == 1 ? 0 : d], bytes);
      return took;
    }
    const Pointers next = inOuts ? others : outs;
    step(body, next);
    std::ranges::copy(next, current.begin());
  }
}

} // namespace tt::runtime
