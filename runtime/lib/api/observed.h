//===- observed.h - calls that are observed ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "binary/json.h"
#include "tt/runtime/calls.h"

#include <atomic>

namespace tt::ttnn {

/// Whether somebody is told of calls.
inline std::atomic<bool> callsAreObserved{false};

/// A call from before it begins, when all of its operands are there, until it has returned.
class ObservedCall {
public:
  explicit ObservedCall(std::span<const Tensor> operands);
  /// attributes: all of them. device: the operands' or that of the results.
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
