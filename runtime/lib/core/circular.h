//===- circular.h - kernels with circular buffers of their own ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tt::ttnn {

/// A kernel that says itself which circular buffers it has, in place of the rule of its op.
class OwnCircularBuffers {
public:
  virtual ~OwnCircularBuffers() = default;
  /// Returns their bytes in the L1 of each core.
  virtual int64_t circularBytes() const = 0;
};

} // namespace tt::ttnn
