//===- trace.h - results in place, and recorded calls ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Calls whose results go into tensors that are there already, and traces: calls,
// programs and kernels on a device that are recorded once and run again, into
// the same tensors and so at the same addresses. Safe for threads, as calls are.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/ttnn/call.h"

#include <functional>
#include <string_view>

namespace tt::ttnn {

/// Runs an op as call() does and writes its results to `into`, one tensor for each. What `outputs` leaves open is as
/// in these tensors; a tensor of another shape, data type, layout or memory is an OpError that names `parameter`.
/// A tensor may be one of the operands. Returns `into`.
std::vector<Tensor> callInto(const Callable &op, std::span<const Tensor> into, std::string_view parameter,
                             std::span<const Tensor> operands, std::vector<NamedAttribute> attributes,
                             std::span<const Output> outputs = {}, const Device &device = nullptr);

/// Writes the values of one tensor to another of the same shape and data type. Throws OpError that names `function`.
void copyValues(const Tensor &from, const Tensor &to, std::string_view function);

/// Calls on a device, in order, with their operands and results, which it keeps.
class Trace {
public:
  /// Records the calls on `device` from now on. Their results are as of any call; what is deallocated meanwhile stays
  /// until the trace goes. Throws DeviceError where the device records already.
  static std::shared_ptr<Trace> begin(const Device &device);
  Trace();
  ~Trace();
  Trace(const Trace &) = delete;
  Trace &operator=(const Trace &) = delete;

  /// Ends the recording. Throws DeviceError for one that has ended, or of another device.
  void end(const Device &device);
  /// Runs the calls again: their operands are read, their results written, where they lie. Throws DeviceError for a
  /// trace that is still recorded, was released, or is of another device, and what calls throw.
  void execute(const Device &device);
  /// Lets go of all that it keeps.
  void release(const Device &device);
  size_t calls() const;
  /// Whether the calls on `device` are recorded. Throws DeviceError for a closed one.
  static bool recordsOn(const Device &device);
  /// Adds work on `device` other than a call, such as a program or kernels, that has run: `again` does it again, with
  /// the same tensors. Does nothing where nobody records.
  static void record(const Device &device, std::function<void()> again);

private:
  friend struct Recorder;
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace tt::ttnn
