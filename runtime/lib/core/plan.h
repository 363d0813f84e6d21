//===- plan.h - how the library runs a call ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tt/ttnn/kernel.h"
#include "ttmlir/costs/Plans.h"

namespace tt::ttnn {

/// The programs of a call, in order (lib/costs/plans); none if no rule covers it.
std::vector<ttmlir::plan::Step> planOf(const sim::ChipDesc &chip, const OpCall &call);
/// The blocks of a product under a compute config; nothing if the library's choice is not known.
std::optional<ttmlir::plan::Blocks> blocksOf(const sim::ChipDesc &chip, const OpCall &call,
                                             const ttmlir::plan::Compute &compute);
/// The compute config of a call of the library; nothing if no rule covers it.
std::optional<ttmlir::plan::Compute> planComputeOf(const OpCall &call);

/// The bytes of circular buffers of each core if tensors take this many bytes of its L1.
int64_t circularBytesWith(const sim::ChipDesc &chip, const OpInfo &info, const OpCall &call, int64_t tensors);

/// A kernel that says itself which circular buffers it has, in place of the rule of its op.
class OwnCircularBuffers {
public:
  virtual ~OwnCircularBuffers() = default;
  /// Returns their bytes in the L1 of each core.
  virtual int64_t circularBytes() const = 0;
};

} // namespace tt::ttnn
