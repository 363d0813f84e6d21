//===- pipeline.cpp - programs that run as stages -------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "program/pipeline.h"
#include "program/executable.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tt::runtime {
namespace {

/// The number in the whole mesh of chip `index` of a part.
uint32_t chipOf(const sim::Rectangle &place, uint32_t index, uint32_t columns) {
  return (place.firstRow + index / place.columns) * columns + place.firstColumn + index % place.columns;
}

/// The start and end times of stages, from the duration of each micro-batch.
class Schedule {
public:
  Schedule(const Binary &binary, size_t index, const Device &device, RunReport &report)
      : pipeline(*binary.program(index).pipeline), chip(device->chip()), sendNs(pipeline.stages.size()),
        done(pipeline.stages.size(), std::vector<double>(pipeline.microBatches)), report(report) {
    report.binary = binary;
    report.program = index;
    report.microBatches = pipeline.microBatches;
    for (const Stage &stage : pipeline.stages) {
      StagePerf &perf = report.stages.emplace_back();
      perf.name = binary.program(stage.program).name;
      perf.program = stage.program;
      perf.place = stage.place;
    }
    for (const StageTransfer &transfer : transfersOf(binary, binary.program(index), chip)) {
      sendNs[transfer.from] += transfer.ns;
      for (const ttnn::Send &send : transfer.sends)
        report.stages[transfer.from].sentBytes += send.bytes * pipeline.microBatches;
    }
  }

  /// Micro-batches of a stage are processed in order, and after those of the stages from which it takes values.
  void add(uint32_t stage, uint32_t microBatch, RunReport &run) {
    StagePerf &perf = report.stages[stage];
    double begin = microBatch ? perf.lastNs : 0;
    for (const StageValue &value : pipeline.stages[stage].inputs)
      if (!value.isInput())
        begin = std::max(begin, done[value.stage][microBatch]);
    if (!microBatch)
      perf.firstNs = begin;
    perf.lastNs = done[stage][microBatch] = begin + run.deviceNs + sendNs[stage];
    perf.computeNs += run.deviceNs;
    perf.sendNs += sendNs[stage];
    perf.hostNs += run.hostNs;
    report.hostNs += run.hostNs;
    for (size_t i = 0; i < sim::memoryCount; ++i) {
      perf.memoryPeak[i] = std::max(perf.memoryPeak[i], run.memoryPeak[i]);
      report.memoryPeak[i] = std::max(report.memoryPeak[i], run.memoryPeak[i]);
    }
    if (!microBatch) {
      report.arenaBytes += run.arenaBytes;
      perf.ops = std::move(run.ops);
      return;
    }
    for (size_t op = 0; op < perf.ops.size(); ++op) {
      const OpPerf &more = run.ops[op];
      OpPerf &sum = perf.ops[op];
      sum.hostNs += more.hostNs;
      sum.cycles += more.cycles;
      sum.deviceNs += more.deviceNs;
      sum.uncertaintyNs += more.uncertaintyNs;
      for (int64_t ttnn::Cost::*figure : {&ttnn::Cost::matmulTiles, &ttnn::Cost::sfpuTiles, &ttnn::Cost::fpuTiles,
                                          &ttnn::Cost::dramBytes, &ttnn::Cost::l1Bytes, &ttnn::Cost::fabricBytes})
        sum.cost.*figure += more.cost.*figure;
    }
  }

  void finish() {
    double busy = 0, chips = 0;
    for (const StagePerf &perf : report.stages) {
      const double count = double(perf.place.rows) * perf.place.columns;
      report.deviceNs = std::max(report.deviceNs, perf.lastNs);
      busy += count * (perf.computeNs + perf.sendNs);
      chips += count;
    }
    report.cycles = static_cast<int64_t>(std::ceil(report.deviceNs * chip.speed.clockGHz));
    report.bubble = report.deviceNs > 0 ? std::max(0.0, 1 - busy / (chips * report.deviceNs)) : 0;
  }

private:
  const Pipeline &pipeline;
  const sim::ChipDesc &chip;
  std::vector<double> sendNs;            // per stage, of one micro-batch
  std::vector<std::vector<double>> done; // by stage and micro-batch: results have arrived
  RunReport &report;
};

/// The sub-meshes of a program's stages, which stay open with the binary.
std::vector<Device> stageDevices(const Binary &binary, size_t index, const Device &device) {
  const Program &program = binary.program(index);
  ExecutableCache &cache = binary.impl().kept<ExecutableCache>();
  std::vector<Device> devices;
  {
    std::lock_guard lock(cache.mutex);
    std::erase_if(cache.stages, [](const ExecutableCache::Stages &known) {
      return !std::ranges::all_of(known.devices, [](const Device &part) { return part->isOpen(); });
    });
    for (const ExecutableCache::Stages &known : cache.stages)
      if (known.program == index && known.devices.front()->parent() == device)
        return known.devices;
  }
  for (size_t i = 0; i < program.pipeline->stages.size(); ++i)
    try {
      devices.push_back(device->createSubMesh(program.pipeline->stages[i].place, sim::MeshDevice::Holder::Program));
    } catch (const DeviceError &error) {
      throw DeviceError("program \"" + std::string(program.name) + "\", stage " + std::to_string(i) + ": " +
                        error.what());
    }
  std::lock_guard lock(cache.mutex);
  cache.stages.push_back({index, devices});
  return devices;
}

/// The values on the host, shared: results of a stage are on its own chips.
Tensor onHost(const Tensor &tensor) {
  if (!tensor.isOnDevice())
    return tensor;
  if (tensor.shards() == 1)
    return tensor.shard(0);
  Tensor::Shards shards;
  for (size_t i = 0; i < tensor.shards(); ++i)
    shards.push_back(tensor.share(i));
  TensorSpec spec = tensor.spec();
  spec.memory = {};
  return Tensor::fromShards(std::move(spec), std::move(shards), tensor.meshShape());
}

class PipelineRun {
public:
  PipelineRun(const Binary &binary, size_t index, const Device &device, std::span<const Tensor> inputs)
      : binary(binary), program(binary.program(index)), pipeline(*program.pipeline),
        devices(stageDevices(binary, index, device)), lastUse(pipeline.stages.size()),
        given(pipeline.stages.size(), std::vector<Tensors>(pipeline.microBatches)), outputs(program.outputs.size()) {
    checkInputs(inputs, device);
    for (uint32_t s = 0; s < pipeline.stages.size(); ++s) {
      lastUse[s] = s;
      for (const StageValue &value : pipeline.stages[s].inputs)
        if (!value.isInput())
          lastUse[value.stage] = s;
    }
  }

  void run(uint32_t s, uint32_t microBatch, const Hooks *hooks, RunReport &report) {
    const Stage &stage = pipeline.stages[s];
    const Program &callee = binary.program(stage.program);
    std::vector<Tensor> arguments;
    for (size_t i = 0; i < stage.inputs.size(); ++i) {
      const StageValue &value = stage.inputs[i];
      arguments.push_back(value.isInput() ? part(value.index, callee.spec(callee.inputs[i]), microBatch)
                                          : onHost(given[value.stage][microBatch][value.index]));
    }
    const auto executable = prepare(binary, stage.program, devices[s], hooks ? Mode::Observed : Mode::Fast, arguments);
    given[s][microBatch] = executable->run(binary, arguments, hooks, report);
    for (size_t k = 0; k < pipeline.outputs.size(); ++k)
      if (pipeline.outputs[k].stage == s)
        collect(k, given[s][microBatch][pipeline.outputs[k].index], microBatch);
    for (uint32_t before = 0; before <= s; ++before)
      if (lastUse[before] == s)
        given[before][microBatch].clear();
  }

  Tensors results() { return std::move(outputs); }

private:
  void checkInputs(std::span<const Tensor> from, const Device &device) {
    const std::string name = "program \"" + std::string(program.name) + "\"";
    if (from.size() != program.inputs.size())
      throw Error(name + " takes " + std::to_string(program.inputs.size()) + " inputs and was given " +
                  std::to_string(from.size()));
    for (size_t i = 0; i < from.size(); ++i) {
      const TensorSpec &expected = program.spec(program.inputs[i]);
      const std::string input = name + ": input " + std::to_string(i);
      if (!from[i])
        throw Error(input + " is empty");
      from[i].requireAllocated("submit");
      if (from[i].shape() != expected.shape)
        throw Error(input + " has shape " + toString(from[i].shape()) + "; expected " + toString(expected.shape));
      if (from[i].isOnDevice() && from[i].device() != device)
        throw DeviceError(input + " lies on device " + std::to_string(from[i].device()->id()) +
                          ", but the program runs on device " + std::to_string(device->id()));
      inputs.push_back(onHost(from[i]));
    }
  }

  /// A micro-batch of an input, or all of it.
  Tensor part(uint32_t input, const TensorSpec &expected, uint32_t microBatch) const {
    const Tensor &whole = inputs[input];
    if (whole.shape() == expected.shape)
      return whole;
    TensorSpec spec = whole.spec();
    spec.shape = expected.shape;
    const size_t bytes = spec.bytes();
    return whole.view(std::move(spec), bytes * microBatch);
  }

  void collect(size_t k, const Tensor &tensor, uint32_t microBatch) {
    const TensorSpec &expected = program.spec(program.outputs[k]);
    Tensor &whole = outputs[k];
    if (!whole) {
      TensorSpec spec = tensor.spec();
      spec.shape = expected.shape;
      whole = Tensor::onHost(std::move(spec), tensor.meshShape());
    }
    const size_t offset = tensor.shape() == expected.shape ? 0 : tensor.bytes() * microBatch;
    for (size_t shard = 0; shard < tensor.shards() && tensor.bytes(); ++shard)
      std::memcpy(whole.data(shard) + offset, tensor.data(shard), tensor.bytes());
  }

  const Binary &binary;
  const Program &program;
  const Pipeline &pipeline;
  const std::vector<Device> devices;
  std::vector<uint32_t> lastUse;           // per stage: the last one that takes what it gives
  std::vector<std::vector<Tensors>> given; // by stage and micro-batch, as long as a stage takes it
  std::vector<Tensor> inputs;
  Tensors outputs;
};

/// Calls f(stage, micro-batch) for all of them; those that run at the same time follow one another: later stages first,
/// which makes room for results of earlier ones.
template <class F> void inOrder(const Pipeline &pipeline, F f) {
  const auto stages = static_cast<uint32_t>(pipeline.stages.size());
  for (uint32_t step = 0; step < pipeline.microBatches + stages - 1; ++step)
    for (uint32_t s = std::min(step + 1, stages); s-- > 0;)
      if (step - s < pipeline.microBatches)
        f(s, step - s);
}

} // namespace

std::vector<StageTransfer> transfersOf(const Binary &binary, const Program &program, const sim::ChipDesc &chip) {
  std::vector<StageTransfer> transfers;
  const std::vector<Stage> &stages = program.pipeline->stages;
  for (uint32_t to = 0; to < stages.size(); ++to) {
    std::vector<StageValue> sent;
    for (const StageValue &value : stages[to].inputs) {
      const auto isSame = [&](const StageValue &other) {
        return other.stage == value.stage && other.index == value.index;
      };
      if (value.isInput() || std::ranges::any_of(sent, isSame))
        continue;
      sent.push_back(value);
      const sim::Rectangle &source = stages[value.stage].place, &target = stages[to].place;
      const Program &producer = binary.program(stages[value.stage].program);
      const TensorSpec &spec = producer.spec(producer.outputs[value.index]);
      StageTransfer transfer{value.stage, to, value.index, {}, 0};
      // Each chip receives from the one with its number; if there are fewer senders, numbering starts again.
      const uint32_t columns = program.meshShape[1], senders = source.rows * source.columns;
      const auto bytes = static_cast<int64_t>(sim::deviceBytes(spec));
      for (uint32_t i = 0; bytes && i < target.rows * target.columns; ++i)
        transfer.sends.push_back(
            {ttnn::routeBetween(chipOf(source, i % senders, columns), chipOf(target, i, columns), columns), bytes});
      if (transfer.sends.empty())
        continue;
      transfer.ns = sim::estimate(chip, ttnn::costOf(transfer.sends)).ns;
      transfers.push_back(std::move(transfer));
    }
  }
  return transfers;
}

Tensors runPipeline(const Binary &binary, size_t program, const Device &device, std::span<const Tensor> inputs,
                    const Hooks *hooks, RunReport &report) {
  report = RunReport();
  PipelineRun run(binary, program, device, inputs);
  Schedule schedule(binary, program, device, report);
  inOrder(*binary.program(program).pipeline, [&](uint32_t stage, uint32_t microBatch) {
    RunReport inner;
    run.run(stage, microBatch, hooks, inner);
    schedule.add(stage, microBatch, inner);
  });
  schedule.finish();
  return run.results();
}

RunReport estimatePipeline(const Binary &binary, size_t program, const Device &device) {
  RunReport report;
  Schedule schedule(binary, program, device, report);
  const Pipeline &pipeline = *binary.program(program).pipeline;
  std::vector<RunReport> stages;
  for (const Stage &stage : pipeline.stages) {
    sim::MeshOptions options = device->options();
    options.rows = stage.place.rows;
    options.columns = stage.place.columns;
    const Device part = sim::MeshDevice::open(options);
    Executable executable(makePlan(binary.impl(), stage.program, part, Mode::Estimated), part);
    stages.push_back(executable.report());
    executable.memoryPeaks(*part, stages.back().memoryPeak);
  }
  inOrder(pipeline, [&](uint32_t stage, uint32_t microBatch) {
    RunReport run = stages[stage];
    schedule.add(stage, microBatch, run);
  });
  schedule.finish();
  return report;
}

} // namespace tt::runtime
