//===- observed.h - calls that are observed ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "binary/json.h"
#include "tt/runtime/calls.h"

#include <atomic>

namespace tt::ttnn {

/// Whether an observer is set.
inline std::atomic<bool> callsAreObserved{false};

/// Describes the operands before a call, which may deallocate them, and reports the call when it has returned.
class ObservedCall {
public:
  explicit ObservedCall(std::span<const Tensor> operands);
  /// attributes: with defaults. device: that of the operands or the results.
  void finish(const Callable &callable, const Attributes &attributes, const Device &device,
              std::span<const Tensor> results) const;

private:
  struct Seen {
    TensorSpec spec;
    uint64_t id;
    std::optional<int64_t> address;
  };
  static std::optional<Seen> seen(const Tensor &tensor);
  static void write(runtime::Json &json, std::span<const std::optional<Seen>> tensors);

  std::vector<std::optional<Seen>> ins;
  int64_t startNs;
};

} // namespace tt::ttnn
