//===- trace.h - what calls tell the traces that record them -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tt/ttnn/trace.h"

#include <atomic>

namespace tt::ttnn {

/// The connection between calls and the traces that are recorded.
struct Recorder {
  /// Whether anybody records calls on the device.
  static bool records(const Device &device) {
    return open.load(std::memory_order_relaxed) && device && recordsOn(*device);
  }
  /// Adds a call that has run to the trace of its device.
  static void add(const Callable &callable, std::span<const Tensor> operands,
                  std::span<const NamedAttribute> attributes, std::span<const Output> outputs, const Device &device,
                  std::span<const Tensor> results);

  static std::atomic<int> open; // recordings
  static bool recordsOn(const sim::MeshDevice &device);
};

} // namespace tt::ttnn
