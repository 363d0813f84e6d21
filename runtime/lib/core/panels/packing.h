//===- packing.h - kernels that pack an operand ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

namespace tt::ttnn {

/// A kernel that packs an operand into an order of its own. If it is created for constant values, it keeps the form.
class PacksOperand {
public:
  struct Packing {
    size_t operand;
    size_t bytes; // that it would keep
  };
  /// The operand that it packs in every run, if it does.
  virtual std::optional<Packing> packsInEveryRun() const = 0;

protected:
  ~PacksOperand() = default;
};

} // namespace tt::ttnn
