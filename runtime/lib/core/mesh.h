//===- mesh.h - helpers of mesh ops -----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/op.h"

namespace tt::ttnn {

using DeviceIns = std::span<const std::span<const std::byte *const>>;
using DeviceOuts = std::span<const std::span<std::byte *const>>;

/// The devices of each group along a mesh axis, in order.
std::vector<std::vector<size_t>> groupsOf(const OpCall &call, int64_t axis);
/// Devices of a group along the axis that 'cluster_axis' names.
int64_t groupSize(const OpCall &call);

/// A dimension of size `size` in `parts` equal parts.
int64_t partOf(const OpCall &call, int64_t dim, int64_t size, int64_t parts);
/// The devices of an attribute in rows of as many: 'replica_groups', 'source_target_pairs'.
std::vector<std::vector<size_t>> rowsOf(const OpCall &call, std::string_view name, int64_t columns);

/// Returns the data that every device of a group needs from the others: an operand.
std::vector<MeshKernel::Need> needsOf(const std::vector<std::vector<size_t>> &groups, uint32_t operand = 0);

/// A value that is not distributed is the same on every device.
inline const std::byte *on(std::span<const std::byte *const> values, size_t device) {
  return values[values.size() == 1 ? 0 : device];
}

} // namespace tt::ttnn
