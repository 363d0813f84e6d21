//===- calls.h - what calls of ops by hand took -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tt/runtime/run.h"
#include "tt/ttnn/call.h"

namespace tt::runtime {

/// A call of an op by hand (tt/ttnn/call.h) that returned.
struct CallRecord {
  ttnn::Device device; // nullptr for one on the host
  /// JSON with name, ins, outs and attributes. A tensor has the `id` of its values, `desc`, and the `address` of its
  /// buffer where it has one.
  std::string json;
  OpPerf perf;         // its place in a program, and what is resident, are 0
  int64_t startNs = 0; // of std::chrono::steady_clock
};

/// Has an observer told of all calls from now on, in the threads that make them; an empty one ends that. What it throws
/// leaves the call.
void observeCalls(std::function<void(CallRecord)> observer);

} // namespace tt::runtime
