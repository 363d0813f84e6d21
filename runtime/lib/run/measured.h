//===- measured.h - kernels that take as long as they do --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tt/runtime/run.h"
#include "tt/ttnn/kernel.h"

namespace tt::runtime {

/// A kernel whose time on the chip is known once it has run.
class MeasuredKernel {
public:
  virtual ~MeasuredKernel() = default;
  /// Runs, and says of time, work and activity what they were. `perf` has the kind of work.
  virtual void runMeasured(const ttnn::Buffers &buffers, OpPerf &perf) const = 0;
};

} // namespace tt::runtime
