//===- calls.h - what calls of ops by hand took -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tt/runtime/run.h"
#include "tt/ttnn/call.h"

namespace tt::runtime {

/// A call of a library function (tt/ttnn/call.h) that has returned.
struct CallRecord {
  ttnn::Device device; // nullptr for a call on the host
  /// JSON with name, ins, outs, attributes and plan. A tensor has the `id` of its values, its `desc`, and the `address`
  /// of its buffer if it is on a device. The plan lists the programs of the library (ttmlir/costs/Plans.h).
  std::string json;
  OpPerf perf;         // `op` and `resident` are 0
  int64_t startNs = 0; // of std::chrono::steady_clock
};

/// Runs an observer after every call from now on, in the calling thread, and returns its number. Exceptions of the
/// observer propagate to the caller.
uint64_t observeCalls(std::function<void(const CallRecord &)> observer);
/// The plan of each op of a program, as in CallRecord::json, without running it. Throws Error for a TTMetal file.
std::vector<std::string> plans(const Binary &binary, size_t program, Arch arch);
/// Removes an observer. Throws Error if there is none of this number.
void endObservingCalls(uint64_t number);

} // namespace tt::runtime
