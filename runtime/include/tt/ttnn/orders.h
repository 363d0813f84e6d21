//===- orders.h - how often weights are brought into an order -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tt::ttnn {

/// Constant weights that were brought into the order that the kernel library wants for the sizes of a convolution or
/// product, and those that were there in it already, in this process. A program whose sizes are open keeps the orders.
struct WeightOrderCounts {
  uint64_t made = 0, reused = 0;
};
WeightOrderCounts weightOrderCounts() noexcept;

} // namespace tt::ttnn
