//===- executable.h - a program prepared for a device ------------*- C++ -*-===//
//
// Preparing does everything that does not depend on the values of the inputs:
// kernels are made, constants prepared, every value gets its place in host
// memory, and device memory its list of events. A run then binds inputs and
// outputs and calls the kernels one after another.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "image.h"
#include "tt/runtime/runtime.h"
#include "tt/sim/clock.h"

#include <array>

namespace tt::runtime {

enum class Mode : uint8_t {
  Fast,     // values share memory, constants are used where they lie
  Observed, // every value has memory of its own until it is deallocated: hooks may read and replace it
};

/// Device memory of a program as a list of allocations and frees, and the state it leads to.
class MemoryPlan {
public:
  struct Group { // one buffer, of one value or of several that are views of each other
    sim::Footprint footprint;
    std::string label;
    int32_t input = -1; // its number, when the group is for an input that has to be moved to the device
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
  std::vector<sim::Allocation> run(sim::MeshDevice &device, const std::vector<bool> &moved,
                                   int64_t (&peaks)[sim::memoryCount]);
  /// Step by step, for observed runs: the events before op `op`, from position `next` on, which is advanced.
  void step(sim::MeshDevice &device, const std::vector<bool> &moved, uint32_t op, size_t &next, Blocks &blocks) const;
  /// Frees what is left but the outputs, which are returned.
  std::vector<sim::Allocation> finish(sim::MeshDevice &device, Blocks &blocks) const;
  /// Frees everything.
  void abandon(sim::MeshDevice &device, Blocks &blocks) const;

private:
  bool relevant(const Event &event, const std::vector<bool> &moved) const {
    const int32_t input = groups[event.group].input;
    return input < 0 || moved[static_cast<size_t>(input)];
  }
  void apply(sim::Memories &memories, const Event &event, Blocks &blocks) const;
  std::vector<sim::Allocation> keepOutputs(sim::MeshDevice &device, sim::Memories &memories, Blocks &blocks) const;

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
  size_t nextKnown = 0;
};

class Executable {
public:
  /// Throws OpError naming program and op where an op does not take its operands, OutOfMemoryError.
  Executable(const BinaryImage &image, size_t programIndex, const Device &device, Mode mode);

  /// The device's run mutex is held by the caller.
  std::vector<Tensor> run(const Binary &binary, const std::vector<Tensor> &inputs, const Hooks *hooks,
                          RunReport &report);

  /// Estimated time of all ops on the chip.
  sim::Duration duration() const { return totalDuration; }
  /// Times and costs op by op, without host times.
  RunReport report() const;

  /// The device memory a run would take at most, per bank, with every input moved to the device.
  void memoryPeaks(sim::MeshDevice &device, int64_t (&peaks)[sim::memoryCount]) {
    (void)memory.run(device, std::vector<bool>(program.inputs.size(), true), peaks);
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
    const std::byte *constant = nullptr;
    size_t offset = 0; // in the arena
    size_t stride = 0; // from shard to shard
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
  };
  struct Step {
    const ttnn::Kernel *kernel = nullptr;
    const ttnn::MeshKernel *mesh = nullptr;
    uint32_t op = 0;
    uint32_t devices = 1;                                                  // times the kernel runs
    uint32_t firstIn = 0, ins = 0, firstOut = 0, outs = 0;                 // pointers; of the first device
    uint32_t firstMeshIn = 0, meshIns = 0, firstMeshOut = 0, meshOuts = 0; // spans, when mesh
  };

  void runStep(const Step &step) const;
  void runSteps(RunReport *perf) const;
  std::vector<sim::Allocation> runObserved(const Binary &binary, const Device &device,
                                           const std::vector<Tensor> &inputs, const std::vector<bool> &moved,
                                           const Hooks &hooks, RunReport &report);
  std::vector<Tensor> bindInputs(const std::vector<Tensor> &inputs, std::vector<bool> &moved) const;
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
  std::vector<std::shared_ptr<std::byte>> prepared; // constants computed when the program was prepared
  std::vector<uint32_t> rootOf;                     // per value
  std::vector<Root> roots;                          // per value; only those of roots are used
  std::vector<Step> steps;
  std::vector<const std::byte *> inPointers;
  std::vector<std::byte *> outPointers;
  std::vector<std::span<const std::byte *const>> meshIns;
  std::vector<std::span<std::byte *const>> meshOuts;
  std::vector<Patch> patches;
  struct OutputCopy { // an output that is an input, a constant, or the same value as another output
    uint32_t output;
    uint32_t value;
  };
  std::vector<OutputCopy> copies;
  std::vector<bool> outputIsHome; // its kernel writes it
  std::shared_ptr<std::byte> arena;
  size_t arenaBytes = 0, scratchBytes = 0;
  MemoryPlan memory;
  std::vector<sim::Duration> durations; // per op
  std::vector<ttnn::Cost> costs;        // per op
  sim::Duration totalDuration;
  std::vector<bool> written;  // per value: an op changes it in place
  std::vector<uint8_t> alive; // per value, in an observed run
  bool running = false;
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
std::shared_ptr<Executable> prepare(const Binary &binary, size_t program, const Device &device, Mode mode);

} // namespace tt::runtime
