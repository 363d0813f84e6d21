//===- mesh.cpp - helpers of mesh ops -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "core/mesh.h"

namespace tt::ttnn {

std::vector<std::vector<size_t>> groupsOf(const OpCall &call, int64_t axis) {
  const size_t rows = call.meshShape[0], columns = call.meshShape[1];
  if (axis != 0 && axis != 1)
    fail(call, "attribute 'cluster_axis' is " + std::to_string(axis) + "; expected 0 (rows vary) or 1 (columns vary)");
  std::vector<std::vector<size_t>> groups(axis == 0 ? columns : rows);
  for (size_t device = 0; device < rows * columns; ++device)
    groups[axis == 0 ? device % columns : device / columns].push_back(device);
  return groups;
}

int64_t groupSize(const OpCall &call) {
  return static_cast<int64_t>(groupsOf(call, call.attributes.get<int64_t>("cluster_axis"))[0].size());
}

} // namespace tt::ttnn
