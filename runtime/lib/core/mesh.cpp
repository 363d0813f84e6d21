//===- mesh.cpp - helpers of mesh ops -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "core/mesh.h"

#include <set>

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

std::vector<std::vector<size_t>> rowsOf(const OpCall &call, std::string_view name, int64_t columns) {
  const auto &numbers = call.attributes.get<std::vector<int64_t>>(name);
  const int64_t devices = int64_t(call.meshShape[0]) * call.meshShape[1];
  if (columns < 1 || numbers.size() % static_cast<size_t>(columns) != 0)
    fail(call, "attribute '" + std::string(name) + "' has " + std::to_string(numbers.size()) +
                   " numbers; expected rows of " + std::to_string(columns));
  std::vector<std::vector<size_t>> rows;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] < 0 || numbers[i] >= devices)
      fail(call, "attribute '" + std::string(name) + "' has " + std::to_string(numbers[i]) +
                     "; the mesh has devices 0 to " + std::to_string(devices - 1));
    if (i % static_cast<size_t>(columns) == 0)
      rows.emplace_back();
    rows.back().push_back(static_cast<size_t>(numbers[i]));
  }
  return rows;
}

std::vector<MeshKernel::Need> needsOf(const std::vector<std::vector<size_t>> &groups, uint32_t operand) {
  std::vector<MeshKernel::Need> needs;
  for (const auto &group : groups)
    for (size_t to : group)
      for (size_t from : group)
        needs.push_back({operand, from, to});
  return needs;
}

int64_t partOf(const OpCall &call, int64_t dim, int64_t size, int64_t parts) {
  if (size % parts != 0)
    fail(call, "dimension " + std::to_string(dim) + " of size " + std::to_string(size) + " does not divide among " +
                   std::to_string(parts) + " devices");
  return size / parts;
}

ExchangePlan planExchange(std::span<const MeshKernel::Need> needs, const sim::Partition &partition,
                          const std::function<bool(uint32_t)> &isSpread) {
  const uint32_t size = partition.ranks().size(), self = partition.ranks().rank();
  std::set<ExchangePlan::Part> sends, receives;
  for (const auto &[operand, chip, device] : needs) {
    if (!isSpread(operand))
      continue;
    const auto from = static_cast<uint32_t>(chip);
    const uint32_t owner = partition.owner(from);
    const bool isExpected = device == MeshKernel::everywhere;
    for (uint32_t rank = 0; rank < size; ++rank) {
      if (rank == owner || !(isExpected || partition.of(rank).has(device)))
        continue;
      if (owner == self)
        sends.insert({operand, from, rank});
      if (rank == self)
        receives.insert({operand, from, owner});
    }
  }
  return {{sends.begin(), sends.end()}, {receives.begin(), receives.end()}};
}

int64_t groupSize(const OpCall &call) {
  return static_cast<int64_t>(groupsOf(call, call.attributes.get<int64_t>("cluster_axis"))[0].size());
}

} // namespace tt::ttnn
