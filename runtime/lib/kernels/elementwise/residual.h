//===- residual.h - sums of a result and another tensor ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Networks add the result of a product or convolution to a tensor that bypasses it. The kernel of the product can add
// it while a block of its result is in registers or in cache.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/sums.h"

namespace tt::ttnn {

/// A kernel with one result that can add a residual to it.
class AddsResidual {
public:
  virtual ~AddsResidual() = default;
  /// Whether it can add one of the type of its result, which is this.
  virtual bool addsResidual(DataType type) const = 0;
  virtual void runAdding(const Buffers &buffers, const Residual &residual) const = 0;
};

/// The kernel of `inner` and of what follows it, a sum of its result (operand `place` of `sum`) and another operand,
/// or a relu of that: its operands are those of `inner`, `insOfInner` many, and the other. nullptr if these are other
/// kernels. The result has the same bits.
std::unique_ptr<Kernel> addingResidual(std::shared_ptr<const Kernel> inner, size_t insOfInner, const Kernel &sum,
                                       size_t place);

} // namespace tt::ttnn
