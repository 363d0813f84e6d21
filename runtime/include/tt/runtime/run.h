//===- run.h - run arguments and reports ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What both back ends (programs of TTNN ops, and of TTMetal commands) take and
// give. tt/runtime/runtime.h has the functions that open devices and run
// programs.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/runtime/binary.h"
#include "tt/sim/device.h"
#include "tt/ttnn/tensor.h"

#include <functional>
#include <optional>
#include <span>

namespace tt::metal {
struct CoreActivity; // tt/metal/activity.h
}

namespace tt::runtime {

using Device = std::shared_ptr<sim::MeshDevice>;
using Tensor = ttnn::Tensor;
using Tensors = ttnn::Tensors;

/// Converts to another data type; rounds to nearest even. Throws RangeError for an integer that another type of
/// integers cannot hold.
Tensor castTensor(const Tensor &tensor, DataType dtype);

//===- Reports ------------------------------------------------------------===//

/// The cost of an op.
struct OpPerf {
  uint32_t op = 0;
  std::string_view name, loc;
  int64_t hostNs = 0;
  int64_t cycles = 0; // on the chip, estimated
  double deviceNs = 0;
  ttnn::Cost cost;
  sim::Bound bound = sim::Bound::None;     // what the time on the chip is mostly due to
  int64_t circularBytes = 0;               // of the circular buffers of its kernels, on each core
  int64_t resident[sim::memoryCount] = {}; // bytes per bank of the program's tensors during the op, by sim::Memory
  double uncertaintyNs = 0;                // of deviceNs: one standard deviation
  std::shared_ptr<const metal::CoreActivity> activity = nullptr; // of a program of kernels, when recording is on
};

/// The cost of a stage of a pipeline, for all micro-batches.
struct StagePerf {
  std::string_view name; // of its program
  size_t program = 0;
  sim::Rectangle place;
  int64_t hostNs = 0;
  double computeNs = 0, sendNs = 0;          // of its chips: running the program, sending results on
  double firstNs = 0, lastNs = 0;            // when they begin and end, from the beginning of the run
  int64_t sentBytes = 0;                     // to chips of other stages
  int64_t memoryPeak[sim::memoryCount] = {}; // as in RunReport, of its chips
  std::vector<OpPerf> ops;                   // when recording is on
};

/// The cost of a run.
struct RunReport {
  Binary binary;
  size_t program = 0;
  int64_t hostNs = 0; // the ops, without checking inputs and creating outputs
  int64_t cycles = 0;
  double deviceNs = 0;
  int64_t memoryPeak[sim::memoryCount] = {}; // most bytes per bank that were allocated during the run, by sim::Memory
  size_t arenaBytes = 0;                     // host memory for intermediate values
  std::vector<OpPerf> ops;                   // when recording is on
  uint32_t microBatches = 1;
  std::vector<StagePerf> stages; // of a program that has stages, which has no ops
  double bubble = 0;             // the part of the time of their chips in which these do nothing
};

/// Records per-op host times from now on; costs two clock readings per op.
void setPerfRecording(bool on);
bool perfRecording();
//===- Hooks --------------------------------------------------------------===//

/// An op of a program that is being run. Valid for ever.
struct OpContext {
  Binary binary;
  size_t program = 0;
  uint32_t index = 0;
  const Operation &operation() const { return binary.program(program).operations[index]; }
};

/// A value of a program.
struct TensorRef {
  Binary binary;
  size_t program = 0;
  uint32_t value = 0;
  const TensorSpec &spec() const { return binary.program(program).spec(value); }
};

/// A program that is being run. Reading and writing its values works until the run ends, and throws Error later.
class ProgramContext {
public:
  virtual ~ProgramContext() = default;
  virtual const Binary &binary() const = 0;
  virtual size_t program() const = 0;
  virtual const Device &device() const = 0;
  /// Returns the bytes of the circular buffers of an op's kernels, on each core.
  virtual int64_t circularBytes(uint32_t op) const = 0;
  /// A copy of a value on the host, or nothing when it is not alive.
  virtual std::optional<Tensor> read(uint32_t value) const = 0;
  /// Replaces a value for all ops that follow, rounded to its data type. Throws Error when it is not alive, or the
  /// shape differs.
  virtual void write(uint32_t value, const Tensor &tensor) = 0;
};
using ProgramContextPtr = std::shared_ptr<ProgramContext>;

/// Called in the thread that submits. An exception ends the run and leaves submit().
struct Hooks {
  std::function<void(const ProgramContextPtr &, const OpContext &)> beforeOp, afterOp;
  std::function<void(const ProgramContextPtr &)> beforeProgram, afterProgram;
};
} // namespace tt::runtime
