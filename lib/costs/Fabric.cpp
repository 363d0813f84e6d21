//===- Fabric.cpp - what chips send to each other -------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Rules.h"

#include <cstdlib>
#include <map>

namespace ttmlir::cost {

//===----------------------------------------------------------------------===//
// Work by sizes
//===----------------------------------------------------------------------===//

int64_t ringBytes(Ring ring, int64_t bytes, int64_t chips) {
  switch (ring) {
  case Ring::Gather:
    return bytes * (chips - 1);
  case Ring::Scatter:
    return bytes / chips * (chips - 1);
  case Ring::Reduce:
    break;
  }
  return 2 * ringBytes(Ring::Scatter, bytes, chips);
}

int64_t ringSteps(Ring ring, int64_t chips) { return (ring == Ring::Reduce ? 2 : 1) * (chips / 2); }

void addRing(Work &work, Ring ring, int64_t bytes, int64_t chips) {
  work.fabricBytes += ringBytes(ring, bytes, chips);
  work.fabricSteps += ringSteps(ring, chips);
}

int64_t lineBytes(int64_t part, int64_t chips) { return part * (chips * (chips - 1) / 2); }

void addWays(Work &work, int64_t bytesTimesHops, int64_t hops) {
  work.fabricBytes += bytesTimesHops;
  work.fabricHops = std::max(work.fabricHops, hops);
}

//===----------------------------------------------------------------------===//
// Sends of an op
//===----------------------------------------------------------------------===//

int64_t hopsBetween(int64_t from, int64_t to, int64_t columns) {
  return std::abs(from % columns - to % columns) + std::abs(from / columns - to / columns);
}

Sends sendsOf(const Rule &rule, const Op &op) {
  Sends sends;
  if (rule.sends && op.mesh[0] > 0 && op.mesh[1] > 0)
    rule.sends(op, sends);
  return sends;
}

void addSends(Work &work, const Sends &sends) {
  std::map<int64_t, int64_t> bySender;
  int64_t most = 0, hops = 0;
  for (const Send &send : sends.all) {
    most = std::max(most, bySender[send.from] += send.bytes * send.hops);
    hops = std::max(hops, send.hops);
  }
  addWays(work, most, sends.ringSteps ? 0 : hops);
  work.fabricSteps += sends.ringSteps;
}

static int64_t chipsOf(const Op &op) { return op.mesh[0] * op.mesh[1]; }

static void addSend(const Op &op, Sends &sends, int64_t from, int64_t to, int64_t bytes) {
  if (from != to && bytes > 0 && std::min(from, to) >= 0 && std::max(from, to) < chipsOf(op))
    sends.all.push_back({from, to, bytes, hopsBetween(from, to, op.mesh[1])});
}

/// Each chip of the rings along 'cluster_axis' sends `bytes` to the next one.
static void addRings(const Op &op, Sends &sends, int64_t bytes, int64_t steps) {
  const int64_t axis = number(op, "cluster_axis", -1);
  if ((axis != 0 && axis != 1) || bytes <= 0)
    return;
  const auto [rows, columns] = op.mesh;
  for (int64_t chip = 0; chip < chipsOf(op); ++chip) {
    const int64_t row = chip / columns, column = chip % columns;
    const int64_t next = axis == 0 ? (row + 1) % rows * columns + column : row * columns + (column + 1) % columns;
    sends.all.push_back({chip, next, bytes, 1});
  }
  sends.ringSteps = steps;
}

static int64_t chipsAlongAxis(const Op &op) { return op.mesh[number(op, "cluster_axis") == 1 ? 1 : 0]; }
static int64_t elementsBytes(const PlacedTensor &tensor) {
  return tensor.elements() * tensor.tileBytes / (tileSide * tileSide);
}

template <Ring ring> static void ringSends(const Op &op, Sends &sends) {
  const int64_t chips = chipsAlongAxis(op);
  if (const PlacedTensor *in = op.in(0))
    addRings(op, sends, ringBytes(ring, in->bytes, chips), ringSteps(ring, chips));
}
void gatherSends(const Op &op, Sends &sends) { ringSends<Ring::Gather>(op, sends); }
void scatterSends(const Op &op, Sends &sends) { ringSends<Ring::Scatter>(op, sends); }
void reduceSends(const Op &op, Sends &sends) { ringSends<Ring::Reduce>(op, sends); }

void statisticsSends(const Op &op, Sends &sends) {
  const PlacedTensor *in = op.in(0);
  if (!in || in->shape.empty())
    return;
  // A tile column for each statistic: the sum of squares, and for a layer norm the sum.
  PlacedTensor sums = *in;
  sums.columns = (op.name == "ttnn.distributed_layer_norm" ? 2 : 1) * tileSide;
  const int64_t chips = chipsAlongAxis(op);
  addRings(op, sends, ringBytes(Ring::Gather, elementsBytes(sums), chips), ringSteps(Ring::Gather, chips));
}

void dispatchSends(const Op &op, Sends &sends) {
  int64_t bytes = 0;
  for (size_t i = 0; i < op.outs.size(); ++i)
    bytes += op.in(i) ? elementsBytes(*op.in(i)) : 0;
  const int64_t chips = chipsAlongAxis(op);
  addRings(op, sends, ringBytes(Ring::Gather, bytes, chips), ringSteps(Ring::Gather, chips));
}

void combineSends(const Op &op, Sends &sends) {
  if (op.outs.empty())
    return;
  const int64_t chips = chipsAlongAxis(op), bytes = elementsBytes(op.outs[0]);
  addRings(op, sends, bytes * (chips / 2) * ((chips + 1) / 2) / chips, ringSteps(Ring::Gather, chips));
}

void pointSends(const Op &op, Sends &sends) {
  const auto from = numbers(op, "sender_coord"), to = numbers(op, "receiver_coord");
  if (from.size() == 2 && to.size() == 2 && op.in(0))
    addSend(op, sends, from[0] * op.mesh[1] + from[1], to[0] * op.mesh[1] + to[1], op.in(0)->bytes);
}

void permuteSends(const Op &op, Sends &sends) {
  const auto pairs = numbers(op, "source_target_pairs");
  for (size_t i = 0; i + 1 < pairs.size() && op.in(0); i += 2)
    addSend(op, sends, pairs[i], pairs[i + 1], op.in(0)->bytes);
}

void exchangeSends(const Op &op, Sends &sends) {
  const auto groups = numbers(op, "replica_groups");
  const int64_t parts = number(op, "split_count");
  if (parts < 1 || !op.in(0))
    return;
  for (size_t first = 0; first + static_cast<size_t>(parts) <= groups.size(); first += static_cast<size_t>(parts))
    for (size_t from = first; from < first + static_cast<size_t>(parts); ++from)
      for (size_t to = first; to < first + static_cast<size_t>(parts); ++to)
        addSend(op, sends, groups[from], groups[to], op.in(0)->bytes / parts);
}

} // namespace ttmlir::cost
