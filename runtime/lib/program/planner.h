//===- planner.h - prepares a program for a device ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Op by op: kernels (planner.cpp) and values computed ahead (constants.cpp). Then, for the program as a whole: chains
// of elementwise ops (fusion.cpp), a place in memory for every value, and the pointers of every step (placement.cpp).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "program/plan.h"
#include "tt/interrupt.h"
#include "tt/sim/host.h"

#include <deque>
#include <map>
#include <optional>

namespace tt::runtime {

/// Constants are computed ahead up to this many bytes per program; beyond, recomputing is better than using the memory.
inline constexpr size_t maxPreparedBytes = size_t(4) << 30;

class Planner : ttnn::ConstantStore {
public:
  Planner(const BinaryImage &image, size_t programIndex, const Device &device, Mode mode,
          std::span<const Tensor> inputs, std::span<const Argument> arguments, const Plan *previous)
      : plan(std::make_shared<Plan>(image, programIndex, mode)), created(*plan), program(created.program),
        device(device), inputs(inputs), arguments(arguments.begin(), arguments.end()), previous(previous),
        chip(device->chip()), observed(mode == Mode::Observed),
        opCount(static_cast<uint32_t>(program.operations.size())) {}

  std::shared_ptr<const Plan> make();

private:
  //===- Ops (planner.cpp) --------------------------------------------------===//

  const Operation &operation() const { return program.operations[op]; }
  uint32_t shards(uint32_t value) const { return program.spec(value).distributed ? program.devices() : 1; }
  /// Determines which shards of a new value exist, and which of them are here.
  void setShards(Plan::Root &root, uint32_t value) const;
  Plan::Root &rootOf(uint32_t value) { return created.roots[created.rootOf[value]]; }
  const Plan::Root &rootOf(uint32_t value) const { return created.roots[created.rootOf[value]]; }
  [[noreturn]] void fail(const std::string &message) const;
  /// Calls f and adds program and op to its errors.
  template <class F> auto located(F f) const;
  /// Values that an op changes in place share their memory with no other.
  void findWritten();
  void findUses();
  /// Counts the bytes of the file's constants whose last use is in a later op.
  void addConstants();
  /// Reserves as much as the previous plan has.
  void reserve();
  /// Throws OutOfMemoryError for an input, or a result of the op, that exceeds the limit of host memory.
  void checkSize(uint32_t value) const;
  void planInputs();
  /// The values of the inputs if they are known; requested at their first use.
  const std::vector<Argument> &knownArguments() const;
  void planOperation();
  /// Prefetches ops that come soon: the previous run has left none of them in the caches.
  void fetchAhead() const;
  void planDeallocation();
  /// The op with its operands and results in a kernel's order; built at its first use.
  ttnn::OpCall &call();
  int makeKernel();
  uint32_t viewedOperand(const ttnn::Kernel &kernel) const;
  void checkDistribution() const;
  void addStep(std::shared_ptr<const ttnn::Kernel> kernel);
  /// A step of kernels that keep forms of constants that differ between devices, such as split weights. False if one
  /// kernel for all devices is as good.
  bool addOwnStep(ttnn::OpCall &call);
  void addGroup(const Purpose &purpose, uint32_t at, const sim::Footprint &footprint, int32_t input = -1);
  /// Returns the purpose of a result of the op.
  Purpose resultOf(uint32_t value) const { return {&created, Purpose::Of::Result, op, value}; }
  /// The label of an output, that of the previous plan if it is equal.
  sim::Label outputLabel(uint32_t output) const;
  /// Gives a result the space that it has in the previous plan.
  void repeatGroup(uint32_t value);
  void planDeviceMemory(int alias);
  /// Plans the exchange of ranks before the mesh step that was added last.
  void planExchange();
  void planOutputs();
  void describeOutputs();
  /// Records the state of inputs for results that were computed from them.
  void describeParameters();
  void checkMemory() const;
  /// The value is needed at op `at`.
  void extend(uint32_t value, uint32_t at);

  //===- Calls of programs that run once (calls.cpp) ------------------------===//

  void planCall();
  /// Evaluates the calls, as yet put off, whose results the op uses.
  void evaluatePending();
  void evaluatePending(uint32_t value);
  /// Takes the results of the call from a program that has them, or runs the program that it names, and keeps its
  /// results.
  void evaluateCall();
  /// Identifies what the call computes for all programs of the process; none if equal calls may give other values, or
  /// this program changes a result.
  std::optional<Identity> identityOfCall(std::span<const Argument> given) const;
  /// Gives the results of the program's calls to others.
  void shareResults() const;

  //===- What is computed ahead (constants.cpp) -----------------------------===//

  bool planConstant();
  /// Prepares the programs that the op runs each time. Constants here are constants there.
  void planControl();
  void addWorkingMemory(const Plan::Callees &callees);
  Argument argumentOf(uint32_t value, size_t index) const;
  /// The values of a constant that is the same on all devices, or nullptr.
  const std::byte *constantBytes(uint32_t value) const;
  /// Returns the bytes of a constant on a device.
  const std::byte *constantBytes(uint32_t value, uint32_t device) const;
  /// A constant whose values have the same address for all devices.
  static bool isOneForAll(const Plan::Root &root);
  static bool isOwnedAlone(const Plan::Root &root);
  /// A constant whose values differ between devices.
  bool isSplitConstant(uint32_t value) const;
  /// Whether the op has a constant operand that is split.
  bool hasSplitConstants() const;
  /// Devices that have the same values have them once.
  static void shareEqual(Shards &shards, size_t bytes);
  bool isReproducible() const;
  size_t foldedBytes() const;
  void fold(const ttnn::Kernel &kernel, const ttnn::OpCall &call);
  /// Frees the memory of constants whose last user was this op, and that no kernel reads.
  void releaseConstants();
  void keepSmallConstants();
  /// Finds the values that were computed ahead for this op alone.
  void findDispensable();
  void release(std::span<const std::byte> values) const override;
  bool affords(std::span<const std::byte> values, size_t bytes) const override;
  bool defers(std::span<const std::byte> values) const override;
  bool gives(std::span<const std::byte> values) const override;
  void readInPlace(std::span<const std::byte> values) const override;
  std::shared_ptr<std::byte> sharedForm(const std::byte *operand, const Form &form) const override;
  void shareForm(const std::byte *operand, Form form, const std::shared_ptr<std::byte> &created) const override;
  using Constant = Plan::Constant;
  std::optional<Constant> constantAt(const std::byte *operand) const;
  /// Identifies the values for all programs of the process; none if they are too few to be shared.
  std::optional<Identity> identityOf(const Constant &constant, const std::byte *values) const;
  /// Whether another owner keeps the values in memory as long as the program: a form of them is a second copy.
  bool areOthers(std::span<const std::byte> values) const;
  /// Counts the weights that the program was given.
  void enterWeights();

  //===- Reuse of the plan for other sizes (reuse.cpp) ----------------------===//

  /// An earlier op whose kernel, created for this plan, the op shares: layers of a model have the same ops.
  std::optional<uint32_t> findEqual() const;
  /// Whether the kernel of the op depends on shapes and attributes alone.
  bool mayBeEqual() const;
  /// Returns whether the op has the operands, results and attributes that it has in the previous plan, and constants
  /// where that has the same.
  bool compare() const;
  /// Whether a value is a constant with the values that it has in the previous plan.
  bool isSameConstant(uint32_t value) const;
  /// Reuses the results of an op of constants, or of a call. False if the previous plan did not compute them ahead.
  bool takeResults();
  /// The kernel of the op, or nullptr.
  std::shared_ptr<const ttnn::Kernel> kernelBefore() const;
  /// Recomputes constants of the op that the previous plan has released.
  void restoreConstants();
  void restore(uint32_t value);
  /// Whether a computed constant that kernels have in their own forms stays for plans of other sizes, whose kernels may
  /// need another form: up to 64 MiB in a program with open sizes.
  bool keepsForOtherSizes(uint32_t value) const;

  //===- Chains (fusion.cpp) ------------------------------------------------===//

  /// The values that a step reads and writes, in the order of its kernel's operands: of its op, or of a chain.
  struct Operands {
    std::span<const uint32_t> ins, outs;
  };
  /// Steps that will be one, in order.
  struct Chain {
    std::vector<uint32_t> steps;
    size_t elements;
    uint32_t devices;
    size_t slots;
    bool open = true; // more can follow
  };
  std::vector<Chain> findChains() const;
  void fuseChains();
  /// The kernel of links: that of the previous plan, or of an equal chain of this one, if there is one.
  std::shared_ptr<const ttnn::Kernel> chainKernel(uint32_t at, const std::vector<ttnn::Link> &links) const;

  //===- Memory and pointers (placement.cpp) --------------------------------===//

  void placeValues();
  /// Returns, for each value that is computed in the place of another whose lifetime ends there, that one; else
  /// absentOperand.
  std::vector<uint32_t> findReplaced() const;
  bool isReplaceable(uint32_t value, uint32_t by, uint32_t at) const;
  /// Reuses the places of the previous plan if the same values live as long and are as large. False otherwise.
  bool repeatPlaces();
  void bindSteps();
  void bindStep(Plan::Step &step, const Operands &operands);
  void bindMeshStep(Plan::Step &step, const Operands &operands);
  void addIn(uint32_t value, uint32_t device);
  void bindReceived(const Plan::Step &step);
  void addOut(uint32_t value, uint32_t device);
  const std::byte *place(uint32_t value, uint32_t device, bool isOut, size_t position);

  const std::shared_ptr<Plan> plan;
  Plan &created;
  const Program &program;
  const Device &device;
  const std::span<const Tensor> inputs;
  mutable std::vector<Argument> arguments; // see knownArguments(); empty where none is known
  bool knowsInputs = false;                // they are those of `inputs`
  std::vector<bool> stays;                 // per input: its values are the same in each run
  const Plan *const previous;              // or nullptr
  const sim::ChipDesc &chip;
  const bool observed;
  const uint32_t opCount;
  uint32_t op = 0;
  bool isAsBefore = false;                                  // the op is as in the plan before
  std::optional<uint32_t> equal;                            // see findEqual()
  std::vector<uint32_t> newOps;                             // ops that others may be equal to
  std::optional<ttnn::OpCall> called;                       // see call()
  std::vector<Operands> operands;                           // per step
  std::deque<std::vector<uint32_t>> ofChains;               // their operands
  std::vector<uint32_t> groupOf;                            // per value, of device memory
  std::vector<uint32_t> references;                         // per group
  int64_t l1Taken = 0;                                      // bytes of each bank, of existing groups
  std::vector<uint32_t> lastUse;                            // per root: the last op that uses it
  std::vector<size_t> constantsAfter;                       // per op: bytes of constants that later ops use last
  std::vector<bool> isRead;                                 // per root: a kernel looks at it when it runs
  std::vector<std::pair<uint32_t, uint32_t>> deallocatedAt; // value, op
  size_t preparedBytes = 0;
  size_t keptBytes = 0;        // of constants for other sizes
  std::vector<bool> isSame;    // per root: a constant of the plan before
  std::vector<bool> isPending; // per root: the result of a call that is evaluated at its first use
  /// A call whose results programs may share.
  struct Call {
    Identity identity;
    bool areOwn; // its values have memory that belongs to plans alone
  };
  std::map<uint32_t, Call> calls; // by op
  // Values of other programs. More programs may find them meanwhile, so this one is not their only owner and does not
  // empty them when it has packed them.
  std::vector<std::shared_ptr<const std::byte>> taken;
  mutable std::map<std::pair<Constant, Form>, std::weak_ptr<std::byte>> sharedForms;
  std::vector<std::span<const std::byte>> dispensable; // prepared constants that are not needed after the current op
};

template <class F> auto Planner::located(F f) const {
  try {
    return f();
  } catch (const OutOfMemoryError &) {
    throw;
  } catch (const Interrupted &) {
    throw;
  } catch (const Error &error) {
    fail(error.what());
  } catch (const std::bad_alloc &) {
    throw OutOfMemoryError(created.name() + ": out of host memory while preparing op " + std::to_string(op) + " (" +
                           std::string(operation().info->name) + ")");
  } catch (const std::exception &error) {
    fail(error.what());
  }
}

} // namespace tt::runtime
