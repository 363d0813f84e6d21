//===- plan.h - how a program runs on a device --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Everything that does not depend on the values of the inputs: kernels, prepared constants, a place in host memory for
// every value, and device memory as a list of events. The planner creates it; nothing changes it afterwards.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "binary/image.h"
#include "kernels/elementwise/elementwise.h"
#include "program/prepared.h"
#include "tt/runtime/memory_map.h"
#include "tt/runtime/run.h"
#include "tt/sim/clock.h"
#include "tt/sim/host.h"

#include <array>
#include <map>

namespace tt::runtime {

/// `bytes` rounded to the size of a place that others follow.
constexpr size_t alignUp(size_t bytes) {
  return (bytes + sim::hostAlignment - 1) / sim::hostAlignment * sim::hostAlignment;
}

enum class Mode : uint8_t {
  Fast,      // values share memory, constants are used where they lie, elementwise ops run in chains
  Observed,  // every value has memory of its own until it is deallocated: hooks may read and replace it
  Estimated, // not to be run: what calls of other programs give is not known
};

/// An input whose values are known when a program is prepared.
struct Argument {
  Shards shards;
  bool constant = false; // the same whenever the program runs
};

/// The results of a run.
struct Results {
  std::vector<Tensor::Shards> shards;       // by output
  std::vector<sim::Allocation> allocations; // by output; empty ones for host tensors
};

struct Plan;

/// The purpose of a piece of a program's device memory. The text is built only for messages: plans for changing sizes
/// have hundreds of groups, and are replaced with the next sizes.
struct Purpose {
  enum class Of : uint8_t { Input, Output, Result, Circular, Callees };
  const Plan *plan; // outlives it
  Of of;
  uint32_t index; // of the input, output or op
  uint32_t value; // whose description is a part of the text; not of circular buffers and callees

  std::string text() const;
};

/// Device memory of a program as a list of allocations and frees, and the resulting state.
class MemoryPlan {
public:
  static constexpr uint32_t none = ~0u;
  struct Group { // one buffer, of one value or of several that are views of each other
    sim::Footprint footprint;
    Purpose label;
    int32_t input = -1;     // its number, when the group is for an input that has to be moved to the device
    uint32_t output = none; // its number, when the group stays when the run ends
    bool cached = false;    // the result of a call, which stays on the device between runs
    /// Not a buffer: the circular buffers of an op, which require the L1 above its base to be free.
    bool circular = false;
  };
  struct Event {
    uint32_t op; // before which it happens; the number of ops for the end
    bool allocate;
    uint32_t group;
    bool operator==(const Event &) const = default;
  };

  /// Whether all allocations fit empty memories together, without any free: then each finds a place.
  bool surelyFits(const sim::Memories &empty, int64_t alignment) const;

  std::vector<Group> groups;
  std::vector<Event> events;            // in order
  std::vector<uint32_t> outputGroups;   // per output; none for a host tensor
  std::vector<sim::Label> outputLabels; // per output, which may stay longer than the plan
  bool cachedIsResident = false;        // the groups that are cached have been allocated by another program

  struct Blocks {
    std::vector<std::optional<sim::Block>> of; // per group
    uint64_t generation = 0;                   // of the device's memories, when the run began
  };

  /// The results of earlier runs: one that begins in the same state has the same. There are several because the outputs
  /// of the previous run may or may not still exist.
  struct History {
    struct Known {
      bool valid = false;
      uint64_t fingerprint = 0;
      std::vector<bool> moved;
      std::vector<sim::Block> outputs;
      int64_t peaks[sim::memoryCount] = {};
    };
    std::array<Known, 4> known;
    Blocks walked; // of the current run
    size_t next = 0;
  };
  /// Whether the histories of both are the same: they allocate and free equal amounts in the same order.
  bool runsLike(const MemoryPlan &other) const;

  /// Adds to `bytes` (per bank, by sim::Memory) the allocations and frees of the events before op `op`, from position
  /// `next` on, which is advanced.
  void addResident(uint32_t op, size_t &next, int64_t (&bytes)[sim::memoryCount]) const;
  /// Raises each peak to the maximum that the program takes in addition to its inputs.
  void addWorking(sim::Memories &memories, int64_t (&peaks)[sim::memoryCount]) const;
  /// All allocations, with every input moved, in temporary memories. Throws OutOfMemoryError.
  void simulate(sim::Memories &memories) const;
  /// Simulates the allocations, and returns the address and the lifetime of each group. groupOf: per value.
  std::vector<BufferLife> lives(sim::Memories &memories, std::span<const uint32_t> groupOf) const;
  /// Everything from start to end; only outputs stay allocated. `moved[i]`: input i needs memory. `history`: that of
  /// previous runs.
  void run(sim::MeshDevice &device, const std::vector<bool> &moved, int64_t (&peaks)[sim::memoryCount],
           std::vector<sim::Allocation> &outputs, History &history) const;
  /// Step by step, for observed runs: the events before op `op`, from position `next` on, which is advanced.
  void step(sim::MeshDevice &device, const std::vector<bool> &moved, uint32_t op, size_t &next, Blocks &blocks) const;
  /// Frees everything except the outputs, which are returned.
  std::vector<sim::Allocation> finish(sim::MeshDevice &device, Blocks &blocks) const;
  /// Frees everything.
  void abandon(sim::MeshDevice &device, Blocks &blocks) const;

private:
  bool relevant(const Event &event, const std::vector<bool> &moved) const {
    const Group &group = groups[event.group];
    return group.cached ? !cachedIsResident : group.input < 0 || moved[static_cast<size_t>(group.input)];
  }
  /// named: blocks and errors have the text of their group.
  void apply(sim::Memories &memories, const Event &event, Blocks &blocks, bool named = true) const;
  /// All events. Blocks of outputs have their labels, others none.
  void walk(sim::Memories &memories, const std::vector<bool> &moved, Blocks &blocks) const;
  void keepOutputs(sim::MeshDevice &device, sim::Memories &memories, Blocks &blocks,
                   std::vector<sim::Allocation> &outputs) const;
};

/// A program prepared for a device.
struct Plan {
  /// The input of the program from which the results of ttcore.load_cached were computed.
  struct Parameter {
    uint32_t input;
    DataType dtype;
    uint64_t contents, version;
    std::optional<uint64_t> hash; // of the values, where writes to them are not reported
  };

  /// The location of the values of a root. A root is a value that is not a view of another.
  enum class Home : uint8_t { Unset, Constant, Input, Arena, Output };
  struct Root {
    Home home = Home::Unset;
    uint32_t index = 0; // of the input or output
    Shards constant;    // one for all devices, or one for each; null once no kernel reads it any more
    size_t offset = 0;  // in the arena
    size_t stride = 0;  // from shard to shard
    uint32_t shards = 1;
    uint32_t first = 0, held = 1; // shards that this process has: of its own chips
    uint32_t last() const { return first + held; }
    /// Returns the offset of a shard's memory in the arena.
    size_t offsetOf(uint32_t shard) const { return offset + (shard - first) * stride; }
    uint32_t firstOp = 0, lastOp = 0; // where it is alive
  };
  /// A pointer into the arena.
  struct Place {
    bool isOut;
    uint32_t position; // in inPointers or outPointers
    size_t offset;     // bytes
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
  struct Pointers { // of all devices, in inPointers or outPointers
    uint32_t first, count;
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
    uint32_t firstMeshIn = 0, meshIns = 0, firstMeshOut = 0, meshOuts = 0; // spans, when isMesh
    bool control = false;                                                  // runs the callees of its op
    bool callsHost = false;                                                // which a chip that rests does not do
    bool isMeasured = false;                                               // the kernel is a MeasuredKernel
    uint32_t exchange = none;                                              // what ranks exchange before it
    uint32_t own = none; // in ownKernels: of kernels that keep forms of what devices have different
    static constexpr uint32_t none = ~0u;
    bool isMesh() const { return mesh || control; }
  };
  /// The data that a mesh step needs from chips of other ranks, and they from this one. Received data is stored in the
  /// arena.
  struct Exchange {
    struct Part {
      uint32_t rank, meshIn, chip; // meshIn: operand of the step
      size_t bytes;
    };
    std::vector<Part> sends, receives;
    size_t offset = 0, arenaBytes = 0; // of what is received
    std::string label;                 // for messages, the same on all ranks
  };
  /// The memory of a result of a call.
  struct CachedMemory {
    uint32_t op;
    std::shared_ptr<const sim::Allocation> allocation;
  };
  /// A weight of an op that would keep a form of it if the program runs again.
  struct Deferred {
    uint32_t op;
    std::span<const std::byte> values;
  };
  /// Programs that an op runs whenever it runs itself.
  using Callees = std::vector<std::shared_ptr<const Plan>>;

  Plan(const BinaryImage &image, size_t programIndex, Mode mode)
      : image(image), programIndex(programIndex), program(image.programs[programIndex]), mode(mode) {}
  std::string name() const { return "program \"" + std::string(program.name) + "\""; }

  const BinaryImage &image;
  const size_t programIndex;
  const Program &program;
  const Mode mode;

  /// The kernel of a step with several ops.
  struct ChainKernel {
    uint32_t op; // the last one
    std::vector<ttnn::Link> links;
    std::shared_ptr<const ttnn::Kernel> kernel;
  };
  /// The properties of values that do not depend on sizes.
  struct Uses {
    std::vector<uint32_t> last;       // per value: the last op that uses it
    std::vector<uint32_t> computedBy; // per value: the op; their number for inputs
    std::vector<uint32_t> constants;  // ops that give one from the file
  };

  std::vector<std::shared_ptr<const ttnn::Kernel>>
      kernelOf;                                             // per op, one for all chips: plans for other sizes share it
  std::vector<std::shared_ptr<const ttnn::Kernel>> kernels; // others
  std::vector<ChainKernel> chains;                          // by op
  std::shared_ptr<const Uses> uses;
  std::vector<std::unique_ptr<ttnn::MeshKernel>> meshKernels;
  std::vector<std::vector<const ttnn::Kernel *>> ownKernels; // by chip of this process
  std::vector<uint32_t> rootOf;                              // per value
  std::vector<size_t> viewBytes;                             // per value: where it begins in its root
  std::vector<Root> roots;                                   // per value; only those of roots are used
  std::vector<uint32_t> replaced;                            // per value: in the place of which other it is computed
  std::vector<Step> steps;
  std::vector<Exchange> exchanges;
  std::vector<uint32_t> chainOps;
  std::vector<Parameter> parameters;
  std::vector<CachedMemory> cachedMemory;    // by op
  std::vector<Deferred> deferred;            // by op
  bool isFirst = true;                       // created without an earlier plan
  std::shared_ptr<const void> weights;       // those of others that the program has (PreparedForms::enter)
  std::map<uint32_t, Callees> callees;       // by op; of ttcore.load_cached in an observed run only
  std::vector<const std::byte *> inPointers; // of constants; null where a run has others
  uint32_t outPointers = 0;
  std::vector<Pointers> meshIns, meshOuts;
  std::vector<Place> places;
  std::vector<Patch> patches;
  std::vector<OutputCopy> copies;
  std::vector<bool> outputIsHome; // its kernel writes it
  std::vector<std::shared_ptr<const Tensor::Description>> outputDescriptions;
  size_t arenaBytes = 0, scratchBytes = 0;
  MemoryPlan memory;
  std::vector<sim::Duration> durations; // per op
  std::vector<int64_t> circular;        // bytes of each op's circular buffers on a core
  std::vector<bool> isEstimated;        // per op: the duration is that of its cost
  std::vector<int> aliases;             // per op: the operand whose buffer the result may share, or -1
  std::vector<uint32_t> circularGroups; // per op, of device memory; none without circular buffers
  sim::Duration totalDuration;
  std::vector<uint32_t> groupOf; // per value, of device memory
  std::vector<bool> written;     // per value: an op changes it in place
  sim::Chips chips;              // whose shards of distributed values this process has

  /// A constant of an op, or a device's shard of it. An address alone may later belong to another one.
  struct Constant {
    uint32_t root, shard;
    size_t offset, bytes;
    auto operator<=>(const Constant &) const = default;
  };
  std::map<Constant, Identity> identities; // of those whose values were hashed
};

/// `inputs` are those of the first run; results of ttcore.load_cached are computed from them, now. Without them, and
/// for a program that another one calls, see Mode::Estimated and `arguments`. Throws OpError naming program and op if
/// an op does not take its operands, OutOfMemoryError. `previous`: of the same program and device, whose inputs fit,
/// for other sizes, or of a program that runs again; equal parts are reused.
std::shared_ptr<const Plan> makePlan(const BinaryImage &image, size_t programIndex, const Device &device, Mode mode,
                                     std::span<const Tensor> inputs = {}, std::span<const Argument> arguments = {},
                                     const Plan *previous = nullptr);

/// Whether values that were computed ahead from inputs are valid for these.
bool fits(const Plan &plan, const Device &device, std::span<const Tensor> inputs);

} // namespace tt::runtime
