//===- executable.h - executable programs -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A plan with its own memory: a run binds inputs and outputs and calls the kernels in sequence.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "core/orders.h"
#include "program/plan.h"

#include <functional>
#include <list>

namespace tt::runtime {

/// Memory for intermediate values and scratch.
struct Arena {
  /// Returns the arena of a plan. `shared`: the arena of plans for other sizes of the program, reused if it is large
  /// enough; nullptr for a program that another one calls.
  static Arena of(const Plan &plan, const Arena *shared);

  std::shared_ptr<std::byte> memory;
  size_t bytes = 0;
};

/// The state that an executable shares with those for other sizes of its program, which never run at the same time.
struct Legacy {
  std::shared_ptr<const Plan> plan;
  Arena arena;
  std::shared_ptr<MemoryPlan::History> history;
};

class Executable {
public:
  /// shared: its memory is reused if it is large enough, its history if device memory is used alike. nullptr: for a
  /// program that another one calls.
  Executable(std::shared_ptr<const Plan> plan, const Device &device, const Legacy *shared = nullptr);

  /// Throws Error or DeviceError that states which input the program does not take.
  void checkInputs(std::span<const Tensor> inputs) const;
  /// Whether values that were computed ahead from inputs are valid for these.
  bool fits(std::span<const Tensor> inputs) const;

  /// The device's run mutex is held by the caller.
  Tensors run(const Binary &binary, std::span<const Tensor> inputs, const Hooks *hooks, RunReport &report);
  /// Runs a program that another one calls. Results may be the arguments or constants themselves. `isOnDevice`: false
  /// where the device has the results, and only their values are missing; then it does not run.
  Results evaluate(std::span<const Argument> arguments, bool isOnDevice = true);

  std::shared_ptr<const Plan> planned() const { return owner; }
  Legacy legacy() const { return {owner, arena, history}; }
  /// Requested when the program runs again: whether a new plan would keep forms that the first one deferred. True only
  /// once.
  bool wouldKeepMore();
  /// Times and costs op by op, without host times.
  RunReport report();

  /// The maximum device memory of a run, per bank, with every input moved to the device.
  void memoryPeaks(sim::MeshDevice &device, int64_t (&peaks)[sim::memoryCount]) {
    std::vector<sim::Allocation> outputs;
    plan.memory.run(device, std::vector<bool>(program.inputs.size(), true), peaks, outputs, *history);
  }

  std::optional<Tensor> read(uint32_t value) const;
  void write(uint32_t value, const Tensor &tensor);
  int64_t circularBytes(uint32_t op) const;

private:
  using Home = Plan::Home;
  using OutputCopy = Plan::OutputCopy;
  using Root = Plan::Root;
  using Step = Plan::Step;

  /// Runs a step. `perf`: of its op, or null; it gets the time beyond the plan.
  void runStep(const Step &step, OpPerf *perf);
  void runKernels(const Step &step, OpPerf *perf);
  /// Counts what the slowest chip took to run a measured step, instead of what the plan says.
  void takeMeasured(const Step &step, const OpPerf &slowest, OpPerf *perf);
  void runSteps(RunReport *perf);
  std::vector<sim::Allocation> runObserved(const Binary &binary, const Device &device, const std::vector<bool> &moved,
                                           const Hooks &hooks, RunReport &report);
  //===- Programs that ops run (control.cpp) --------------------------------===//

  /// Values of inputs or outputs, by shard.
  using Pointers = std::span<const std::span<std::byte *const>>;
  using ConstPointers = std::span<const std::span<const std::byte *const>>;
  /// Runs a program whose values are in memory of its caller; `ins` and `outs` do not overlap. Returns its time on the
  /// chip.
  using Runner = std::function<sim::Duration(Executable &callee, ConstPointers ins, Pointers outs)>;
  void runControl(uint32_t op, ConstPointers ins, Pointers outs, const Runner &run);
  sim::Duration runWhile(uint32_t op, ConstPointers ins, Pointers outs, const Runner &run);
  sim::Duration runCase(uint32_t op, ConstPointers ins, Pointers outs, const Runner &run);
  /// Tells a called program which chips do not take part: they have finished a loop, or took another branch. By chip;
  /// empty if all do.
  void rest(std::span<const uint8_t> chips) { resting.assign(chips.begin(), chips.end()); }
  bool rests(const Step &step, uint32_t d) const;
  /// Zeros for a chip that rests: nothing reads them.
  void clearResults(const Step &step, const ttnn::Buffers &buffers) const;
  void bindOperands(ConstPointers ins);
  void runWith(ConstPointers ins, Pointers outs);
  void runCallees(const Binary &binary, const Device &device, uint32_t op, const Hooks &hooks, RunReport &report,
                  std::vector<sim::Allocation> &allocations);
  /// Returns the time of the last run on the chip.
  sim::Duration taken() const {
    return {plan.totalDuration.cycles + beyondPlan.cycles, plan.totalDuration.ns + beyondPlan.ns};
  }

  /// Sends the data that chips of other ranks need for a mesh step, and receives.
  void exchange(const Step &step);
  /// Returns the values on which a loop or branch depends, of all chips: ranks exchange theirs. All ranks decide the
  /// same.
  std::vector<double> selectorsOf(const TensorSpec &spec, std::span<const std::byte *const> shards,
                                  const char *what) const;
  void attribute(const Step &step, int64_t ns, RunReport &report) const;
  void createOutputs(Results &results, bool shareable) const;
  void bindPatches(const Results &results);
  void copyOutputs(const Results &results) const;
  const std::byte *copied(const OutputCopy &copy, const Results &results, uint32_t shard) const;
  std::byte *arenaAddress(const Root &root, uint32_t shard) const { return arena.memory.get() + root.offsetOf(shard); }
  std::string name() const { return plan.name(); }

  const std::shared_ptr<const Plan> owner;
  const Plan &plan;
  const Program &program;
  const std::weak_ptr<sim::MeshDevice> device;

  const Arena arena;
  std::vector<const std::byte *> inPointers;
  std::vector<std::byte *> outPointers;
  std::vector<std::span<const std::byte *const>> meshIns;
  std::vector<std::span<std::byte *const>> meshOuts;
  /// Programs that an op runs, and space for the values that a loop carries and for its condition.
  struct Callees {
    std::vector<std::unique_ptr<Executable>> programs;
    std::vector<std::vector<std::shared_ptr<std::byte>>> carried; // by value and shard
    std::vector<std::vector<std::byte *>> carriedData;
  };
  std::map<uint32_t, Callees> callees; // by op, those of Plan::callees
  sim::Duration beyondPlan;            // of the last run: what such programs and kernels took beyond what the plan says
  const std::shared_ptr<MemoryPlan::History> history;
  std::vector<ttnn::Cost> costs; // per op, of reports
  std::vector<uint8_t> alive;    // per value, in an observed run
  std::vector<uint8_t> resting;  // by chip, or empty: see rest()
  bool running = false;
  bool runsAgain = false;

  std::vector<sim::Ranks::Send> sends; // of exchanges
  std::vector<sim::Ranks::Receive> receives;

  // Of the current run; kept so that the next one allocates nothing.
  std::vector<Tensor> bound;
  std::vector<bool> moved;
  std::vector<std::vector<std::byte *>> inputData;                      // by input and shard
  std::vector<std::vector<std::shared_ptr<std::byte>>> copiesOfWritten; // of a called program, by input and shard
  Results results;
};

/// Programs prepared for a device, kept with their binary.
struct ExecutableCache {
  struct Entry {
    uint32_t device;
    std::weak_ptr<sim::MeshDevice> owner;
    uint64_t epoch;
    size_t program;
    Mode mode;
    std::shared_ptr<Executable> executable;
  };
  /// Sub-meshes on which the stages of a program run.
  struct Stages {
    size_t program;
    std::vector<Device> devices;
  };
  /// The last plan of a program whose sizes are open, with the binary for its sizes, kept with the open one.
  struct Latest {
    uint32_t device;
    uint64_t epoch;
    size_t program;
    Mode mode;
    Binary bound;
    Legacy left;
  };
  ForkAware<std::mutex> mutex;
  std::list<Entry> entries;
  std::list<Latest> latest;
  ttnn::WeightOrders orders; // of a program whose sizes are open
  std::list<Stages> stages;
};

/// The program prepared for the device, from the binary's cache or prepared again.
std::shared_ptr<Executable> prepare(const Binary &binary, size_t program, const Device &device, Mode mode,
                                    std::span<const Tensor> inputs);

} // namespace tt::runtime
