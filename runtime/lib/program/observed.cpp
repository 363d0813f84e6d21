//===- observed.cpp - run a prepared program op by op, with hooks ---------===//
// SPDX-License-Identifier: Apache-2.0

#include "core/host_clock.h"
#include "program/executable.h"
#include "program/inputs.h"
#include "program/scope_exit.h"
#include "tt/interrupt.h"
#include "tt/sim/host.h"
#include "tt/sim/published.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace tt::runtime {
namespace {

/// The view of a run that a hook gets. It may be kept longer than the run lasts.
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

} // namespace

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
      const int64_t start = hostNow();
      runStep(*step, report.ops.empty() ? nullptr : &report.ops[op]);
      const int64_t took = hostNow() - start;
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
    callee.beyondPlan = {};
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

} // namespace tt::runtime
