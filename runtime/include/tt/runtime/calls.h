//===- calls.h - what calls of ops by hand took -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tt/runtime/run.h"
#include "tt/ttnn/call.h"

namespace tt::runtime {

/// A call of a library function (tt/ttnn/call.h) that has returned.
struct CallRecord {
  ttnn::Device device; // nullptr for a call on the host
  /// JSON with name, ins, outs and attributes. A tensor has the `id` of its values, its `desc`, and the `address` of
  /// its buffer if it is on a device.
  std::string json;
  OpPerf perf;         // `op` and `resident` are 0
  int64_t startNs = 0; // of std::chrono::steady_clock
};

/// Runs an observer after every call from now on, in the calling thread. An empty observer ends this. Exceptions of the
/// observer propagate to the caller.
void observeCalls(std::function<void(CallRecord)> observer);

} // namespace tt::runtime
