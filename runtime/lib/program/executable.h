//===- executable.h - a program prepared for a device ------------*- C++ -*-===//
//
// Preparing does everything that does not depend on the values of the inputs:
// kernels are made, constants prepared, every value gets its place in host
// memory, and device memory its list of events. A run then binds inputs and
// outputs and calls the kernels one after another.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "binary/image.h"
#include "tt/runtime/runtime.h"
#include "tt/sim/clock.h"

#include <array>
#include <map>

namespace tt::runtime {

enum class Mode : uint8_t {
  Fast,      // values share memory, constants are used where they lie, elementwise ops run in chains
  Observed,  // every value has memory of its own until it is deallocated: hooks may read and replace it
  Estimated, // not to be run: what calls of other programs give is not known
};

/// Values of one tensor, by shard. What has no owner lies in the binary or in memory of the caller.
using Shards = std::vector<std::shared_ptr<const std::byte>>;

/// An input whose values are known when a program is prepared.
struct Argument {
  Shards shards;
  bool constant = false; // the same whenever the program runs
};

/// What a run gives.
struct Results {
  std::vector<Tensor::Shards> shards;       // by output
  std::vector<sim::Allocation> allocations; // by output; empty ones for host tensors
};

/// Device memory of a program as a list of allocations and frees, and the state it leads to.
class MemoryPlan {
public:
  struct Group { // one buffer, of one value or of several that are views of each other
    sim::Footprint footprint;
    sim::Label label;
    int32_t input = -1;  // its number, when the group is for an input that has to be moved to the device
    bool cached = false; // the result of a call, which stays on the device between runs
  };
  struct Event {
    uint32_t op; // before which it happens; the number of ops for the end
    bool allocate;
    uint32_t group;
  };
  static constexpr uint32_t none = ~0u;

  std::vector<Group> groups;
  std::vector<Event> events;          // in order
  std::vector<uint32_t> outputGroups; // per output; none for a host tensor
  bool cachedIsResident = false;      // the groups that are cached have been allocated by somebody else

  struct Blocks {
    std::vector<std::optional<sim::Block>> of; // per group
    uint64_t generation = 0;                   // of the device's memories, when the run began
  };

  /// Adds to `bytes` (per bank, by sim::Memory) what the events before op `op` allocate and free, from position `next`
  /// on, which is advanced.
  void addResident(uint32_t op, size_t &next, int64_t (&bytes)[sim::memoryCount]) const;
  /// All allocations, with every input moved, in memories that are thrown away. Throws OutOfMemoryError.
  void simulate(sim::Memories &memories) const;
  /// Everything from start to end; only outputs stay allocated. `moved[i]`: input i needs memory.
  void run(sim::MeshDevice &device, const std::vector<bool> &moved, int64_t (&peaks)[sim::memoryCount],
           std::vector<sim::Allocation> &outputs);
  /// Step by step, for observed runs: the events before op `op`, from position `next` on, which is advanced.
  void step(sim::MeshDevice &device, const std::vector<bool> &moved, uint32_t op, size_t &next, Blocks &blocks) const;
  /// Frees what is left but the outputs, which are returned.
  std::vector<sim::Allocation> finish(sim::MeshDevice &device, Blocks &blocks) const;
  /// Frees everything.
  void abandon(sim::MeshDevice &device, Blocks &blocks) const;

private:
  bool relevant(const Event &event, const std::vector<bool> &moved) const {
    const Group &group = groups[event.group];
    return group.cached ? !cachedIsResident : group.input < 0 || moved[static_cast<size_t>(group.input)];
  }
  void apply(sim::Memories &memories, const Event &event, Blocks &blocks) const;
  void keepOutputs(sim::MeshDevice &device, sim::Memories &memories, Blocks &blocks,
                   std::vector<sim::Allocation> &outputs) const;

  // The results of earlier runs: one that begins in the same state has the same. There are several because the outputs
  // of the run before may still be there, or not.
  struct Known {
    bool valid = false;
    uint64_t fingerprint = 0;
    std::vector<bool> moved;
    std::vector<sim::Block> outputs;
    int64_t peaks[sim::memoryCount] = {};
  };
  std::array<Known, 4> known;
  Blocks walked; // of the current run
  size_t nextKnown = 0;
};

class Executable {
public:
  /// What the results of ttcore.load_cached were computed from: an input of the program.
  struct Parameter {
    uint32_t input;
    DataType dtype;
    uint64_t contents, version;
    std::optional<uint64_t> hash; // of the values, when nobody tells that they were written
  };

  /// `inputs` are those of the first run; results of ttcore.load_cached are computed from them, now. Without them, and
  /// for a program that is called by another, see Mode::Estimated and `arguments`.
  /// Throws OpError naming program and op where an op does not take its operands, OutOfMemoryError.
  Executable(const BinaryImage &image, size_t programIndex, const Device &device, Mode mode,
             std::span<const Tensor> inputs = {}, std::span<const Argument> arguments = {});

  /// Throws Error or DeviceError that says which input the program does not take.
  void checkInputs(std::span<const Tensor> inputs) const;
  /// Whether what was computed ahead from inputs holds for these.
  bool fits(std::span<const Tensor> inputs) const;

  /// The device's run mutex is held by the caller.
  Tensors run(const Binary &binary, std::span<const Tensor> inputs, const Hooks *hooks, RunReport &report);
  /// Runs a program that another one calls. Results may be the arguments or constants themselves.
  Results evaluate(std::span<const Argument> arguments);

  /// Estimated time of all ops on the chip.
  sim::Duration duration() const { return totalDuration; }
  /// Times and costs op by op, without host times.
  RunReport report() const;

  /// The device memory a run would take at most, per bank, with every input moved to the device.
  void memoryPeaks(sim::MeshDevice &device, int64_t (&peaks)[sim::memoryCount]) {
    std::vector<sim::Allocation> outputs;
    memory.run(device, std::vector<bool>(program.inputs.size(), true), peaks, outputs);
  }

  std::optional<Tensor> read(uint32_t value) const;
  void write(uint32_t value, const Tensor &tensor);

private:
  friend class Planner;

  /// Where the values of a root lie. A root is a value that is not a view of another.
  enum class Home : uint8_t { Unset, Constant, Input, Arena, Output };
  struct Root {
    Home home = Home::Unset;
    uint32_t index = 0; // of the input or output
    Shards constant;    // one for all devices, or one for each; null once no kernel reads it any more
    size_t offset = 0;  // in the arena
    size_t stride = 0;  // from shard to shard
    uint32_t shards = 1;
    uint32_t firstOp = 0, lastOp = 0; // where it is alive
  };
  /// A pointer that a run has to fill in.
  struct Patch {
    bool isOut;
    uint32_t position; // in inPointers or outPointers
    bool fromOutput;
    uint32_t index; // of the input or output tensor
    uint32_t shard;
    size_t offset; // bytes
  };
  struct OutputCopy { // an output that is an input, a constant, or the same value as another output
    uint32_t output;
    uint32_t value;
  };
  struct Step {
    const ttnn::Kernel *kernel = nullptr;
    const ttnn::MeshKernel *mesh = nullptr;
    uint32_t op = 0;                                                       // the last one of a chain
    uint32_t firstMember = 0, members = 0;                                 // of a chain, in chainOps
    uint32_t devices = 1;                                                  // times the kernel runs
    uint32_t firstIn = 0, ins = 0, firstOut = 0, outs = 0;                 // pointers; of the first device
    uint32_t firstMeshIn = 0, meshIns = 0, firstMeshOut = 0, meshOuts = 0; // spans, when mesh
  };

  void runStep(const Step &step) const;
  void runSteps(RunReport *perf) const;
  std::vector<sim::Allocation> runObserved(const Binary &binary, const Device &device, const std::vector<bool> &moved,
                                           const Hooks &hooks, RunReport &report);
  void runCallee(const Binary &binary, const Device &device, uint32_t op, const Hooks &hooks, RunReport &report,
                 std::vector<sim::Allocation> &allocations);
  void attribute(const Step &step, int64_t ns, RunReport &report) const;
  void bindInputs(std::span<const Tensor> inputs, std::vector<Tensor> &bound, std::vector<bool> &moved) const;
  std::vector<Argument> argumentsOf(std::span<const Tensor> inputs) const;
  void describeOutputs();
  void createOutputs(Results &results, bool shareable) const;
  void bindPatches(const Results &results);
  const std::byte *copied(const OutputCopy &copy, const Results &results, uint32_t shard) const;
  std::byte *arenaAddress(const Root &root, uint32_t shard) const {
    return arena.get() + root.offset + shard * root.stride;
  }
  std::string name() const;

  const BinaryImage &image;
  const size_t programIndex;
  const Program &program;
  const std::weak_ptr<sim::MeshDevice> device;
  const Mode mode;

  std::vector<std::unique_ptr<ttnn::Kernel>> kernels;
  std::vector<std::unique_ptr<ttnn::MeshKernel>> meshKernels;
  std::vector<uint32_t> rootOf;  // per value
  std::vector<size_t> viewBytes; // per value: where it begins in its root
  std::vector<Root> roots;       // per value; only those of roots are used
  std::vector<Step> steps;
  std::vector<uint32_t> chainOps;
  std::vector<Parameter> parameters;
  std::vector<sim::Allocation> cachedMemory;               // of the results of calls
  std::map<uint32_t, std::unique_ptr<Executable>> callees; // by op, in an observed run
  std::vector<const std::byte *> inPointers;
  std::vector<std::byte *> outPointers;
  std::vector<std::span<const std::byte *const>> meshIns;
  std::vector<std::span<std::byte *const>> meshOuts;
  std::vector<Patch> patches;
  std::vector<OutputCopy> copies;
  std::vector<bool> outputIsHome; // its kernel writes it
  std::vector<std::shared_ptr<const Tensor::Description>> outputDescriptions;
  std::shared_ptr<std::byte> arena;
  size_t arenaBytes = 0, scratchBytes = 0;
  MemoryPlan memory;
  std::vector<sim::Duration> durations; // per op
  std::vector<ttnn::Cost> costs;        // per op
  sim::Duration totalDuration;
  std::vector<bool> written;  // per value: an op changes it in place
  std::vector<uint8_t> alive; // per value, in an observed run
  bool running = false;

  // Of the current run; kept so that the next one allocates nothing.
  std::vector<Tensor> bound;
  std::vector<bool> moved;
  std::vector<std::vector<std::byte *>> inputData; // by input and shard
  Results results;
};

struct ExecutableCache::Entry {
  uint32_t device;
  std::weak_ptr<sim::MeshDevice> owner;
  uint64_t epoch;
  size_t program;
  Mode mode;
  std::shared_ptr<Executable> executable;
};

/// The program prepared for the device, from the binary's cache or anew.
std::shared_ptr<Executable> prepare(const Binary &binary, size_t program, const Device &device, Mode mode,
                                    std::span<const Tensor> inputs);

/// A hash of the values of a tensor.
uint64_t hashOf(const Tensor &tensor);

} // namespace tt::runtime
