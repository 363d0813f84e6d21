//===- control.cpp - loops and branches -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// An op that runs other programs of the binary gives them its operands where
// they lie and has them write where its results belong. A loop writes in turns
// to its results and to memory of its own.
//
//===----------------------------------------------------------------------===//

#include "program/executable.h"
#include "tt/interrupt.h"
#include "tt/sim/host.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace tt::runtime {
namespace {

template <class T> T load(const std::byte *at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

/// The one number of a tensor.
double numberOf(DataType dtype, const std::byte *at) {
  switch (dtype) {
  case DataType::Float32:
    return load<float>(at);
  case DataType::BFloat16:
    return std::bit_cast<float>(static_cast<uint32_t>(load<uint16_t>(at)) << 16);
  case DataType::Int32:
    return load<int32_t>(at);
  case DataType::UInt32:
    return load<uint32_t>(at);
  case DataType::UInt16:
    return load<uint16_t>(at);
  case DataType::UInt8:
  case DataType::Bool:
    return load<uint8_t>(at);
  default: // the reader of binaries lets no other pass
    throw OpError("what selects a program is of type " + std::string(toString(dtype)));
  }
}

/// What says how to go on, the same on all chips: they run one program.
double selectorOf(const TensorSpec &spec, std::span<const std::byte *const> shards, const char *what) {
  for (const std::byte *shard : shards)
    if (std::memcmp(shard, shards[0], spec.bytes()) != 0)
      throw OpError(std::string(what) + " differs from chip to chip; expected one value on all");
  return numberOf(spec.dtype, shards[0]);
}

} // namespace

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
  const double number = selectorOf(program.spec(program.operations[op].ins[0]), ins[0], "the number of the branch");
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
    if (selectorOf(selectorSpec, selector[0], "the condition") == 0) {
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
