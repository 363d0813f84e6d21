//===- fabric.cpp - what chips send to each other in an op ----------------===//
// SPDX-License-Identifier: Apache-2.0

#include "tt/ttnn/fabric.h"
#include "core/mesh.h"

#include <algorithm>
#include <array>
#include <map>

namespace tt::ttnn {
namespace {

/// What each chip of a ring of `n` sends to the next one in all.
using RingBytes = int64_t (*)(const OpCall &call, int64_t n);

int64_t operandBytes(const OpCall &call) { return static_cast<int64_t>(sim::deviceBytes(operand(call, 0))); }

/// Its own part, then those that come from behind.
int64_t gatherBytes(const OpCall &call, int64_t n) { return operandBytes(call) * (n - 1); }

/// A part of n of the sum, which grows on its way past all others.
int64_t scatterBytes(const OpCall &call, int64_t n) { return operandBytes(call) / n * (n - 1); }

/// The sums are scattered, and their parts gathered again.
int64_t reduceBytes(const OpCall &call, int64_t n) { return 2 * scatterBytes(call, n); }

/// Tiles of the sums of the rows.
int64_t rowSumsBytes(const OpCall &call, int64_t n) {
  TensorSpec sums = operand(call, 0);
  if (sums.shape.empty())
    return 0;
  sums.shape.back() = (call.name == "ttnn.distributed_layer_norm" ? 2 : 1) * sim::tileWidth;
  return static_cast<int64_t>(sums.bytes()) * (n - 1);
}

/// Every token to every device, which is the most that it may be: who needs it is known when the op runs.
int64_t dispatchBytes(const OpCall &call, int64_t n) {
  int64_t bytes = 0;
  for (size_t i = 0; i < call.outs.size(); ++i)
    bytes += static_cast<int64_t>(operand(call, i).bytes());
  return bytes * (n - 1);
}

/// An equal part of the result from each device, by the shorter way.
int64_t combineBytes(const OpCall &call, int64_t n) {
  return static_cast<int64_t>(result(call).bytes()) * (n / 2) * ((n + 1) / 2) / n;
}

/// The ops that go around the rings along 'cluster_axis'.
struct RingOp {
  std::string_view name;
  RingBytes bytes;
  int rounds = 1;
};
constexpr std::array ringOps = {
    RingOp{"ttnn.all_gather", gatherBytes},
    RingOp{"ttnn.all_to_all_combine", combineBytes},
    RingOp{"ttnn.all_to_all_dispatch", dispatchBytes},
    RingOp{"ttnn.all_to_all_dispatch_metadata", dispatchBytes},
    RingOp{"ttnn.all_reduce", reduceBytes, 2},
    RingOp{"ttnn.all_reduce_async", reduceBytes, 2},
    RingOp{"ttnn.moe_compute", combineBytes},
    RingOp{"ttnn.reduce_scatter", scatterBytes},
    RingOp{"ttnn.distributed_layer_norm", rowSumsBytes},
    RingOp{"ttnn.distributed_rms_norm", rowSumsBytes},
};

std::vector<Send> ringSends(const OpCall &call, RingBytes bytesOf) {
  std::vector<Send> sends;
  for (const auto &ring : groupsOf(call, call.attributes.get<int64_t>("cluster_axis"))) {
    const int64_t bytes = bytesOf(call, static_cast<int64_t>(ring.size()));
    for (size_t i = 0; i < ring.size() && bytes > 0; ++i)
      sends.push_back({{static_cast<uint32_t>(ring[i]), static_cast<uint32_t>(ring[(i + 1) % ring.size()])}, bytes});
  }
  return sends;
}

void addSend(std::vector<Send> &sends, const OpCall &call, size_t from, size_t to, int64_t bytes) {
  if (from != to && bytes > 0)
    sends.push_back({routeBetween(static_cast<uint32_t>(from), static_cast<uint32_t>(to), call.meshShape[1]), bytes});
}

std::vector<Send> pointToPointSends(const OpCall &call) {
  const auto from = integers(call, "sender_coord", 2, 0), to = integers(call, "receiver_coord", 2, 0);
  for (const auto &[name, coordinate] : {std::pair("sender_coord", from), std::pair("receiver_coord", to)})
    if (coordinate[0] >= call.meshShape[0] || coordinate[1] >= call.meshShape[1])
      fail(call, "attribute '" + std::string(name) + "' is " + quoted(coordinate) + ", outside of the mesh");
  const auto chip = [&](const std::vector<int64_t> &at) {
    return static_cast<size_t>(at[0] * call.meshShape[1] + at[1]);
  };
  std::vector<Send> sends;
  addSend(sends, call, chip(from), chip(to), operandBytes(call));
  return sends;
}

std::vector<Send> permuteSends(const OpCall &call) {
  std::vector<Send> sends;
  for (const auto &pair : rowsOf(call, "source_target_pairs", 2))
    addSend(sends, call, pair[0], pair[1], operandBytes(call));
  return sends;
}

/// An equal part from each chip of a group to each other one.
std::vector<Send> exchangeSends(const OpCall &call) {
  const auto parts = call.attributes.get<int64_t>("split_count");
  std::vector<Send> sends;
  for (const auto &group : rowsOf(call, "replica_groups", parts))
    for (size_t from : group)
      for (size_t to : group)
        addSend(sends, call, from, to, operandBytes(call) / parts);
  return sends;
}

/// The ops that name chips.
struct NamingOp {
  std::string_view name;
  std::vector<Send> (*sends)(const OpCall &call);
};
constexpr std::array namingOps = {
    NamingOp{"ttnn.point_to_point", pointToPointSends},
    NamingOp{"ttnn.collective_permute", permuteSends},
    NamingOp{"ttnn.all_to_all", exchangeSends},
};

} // namespace

std::vector<uint32_t> routeBetween(uint32_t from, uint32_t to, uint32_t columns) {
  std::vector<uint32_t> route = {from};
  const auto go = [&](uint32_t step, uint32_t now, uint32_t requested) {
    for (; now != requested; now += now < requested ? 1 : -1)
      route.push_back(now < requested ? route.back() + step : route.back() - step);
  };
  go(1, from % columns, to % columns);
  go(columns, from / columns, to / columns);
  return route;
}

std::vector<Send> sendsOf(const OpCall &call) {
  for (const NamingOp &row : namingOps)
    if (row.name == call.name)
      return row.sends(call);
  for (const RingOp &row : ringOps)
    if (row.name == call.name)
      return ringSends(call, row.bytes);
  return {};
}

int64_t fabricBytes(std::span<const Send> sends) {
  std::map<uint32_t, int64_t> bySender;
  int64_t most = 0;
  for (const Send &send : sends)
    most = std::max(most, bySender[send.route.front()] += send.bytes * send.hops());
  return most;
}

Cost costOf(std::span<const Send> sends) {
  Cost cost;
  cost.fabricBytes = fabricBytes(sends);
  for (const Send &send : sends)
    cost.fabricHops = std::max(cost.fabricHops, send.hops());
  return cost;
}

void addFabric(Cost &cost, const OpCall &call) {
  const std::vector<Send> sends = sendsOf(call);
  if (sends.empty())
    return;
  const Cost sent = costOf(sends);
  cost.fabricBytes = sent.fabricBytes;
  for (const RingOp &row : ringOps)
    if (row.name == call.name) {
      const auto chips = static_cast<int64_t>(groupsOf(call, call.attributes.get<int64_t>("cluster_axis"))[0].size());
      cost.fabricSteps = row.rounds * (chips / 2);
      return;
    }
  cost.fabricHops = sent.fabricHops;
}

} // namespace tt::ttnn
