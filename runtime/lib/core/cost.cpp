//===- cost.cpp - calls as the cost rules see them ------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// The rules are in lib/costs; each op's row in the registry has its rule.
//
//===----------------------------------------------------------------------===//

#include "core/mesh.h"
#include "core/plan.h"
#include "core/shapes.h"
#include "tt/ttnn/fabric.h"
#include "ttmlir/costs/Fabric.h"

namespace tt::ttnn {
namespace {

using ttmlir::cost::PlacedTensor, ttmlir::cost::Memory, ttmlir::cost::Shards;

Shards shardsOf(const MemoryConfig &memory) {
  switch (memory.layout) {
  case MemoryLayout::Interleaved:
  case MemoryLayout::Unset:
    return Shards::None;
  case MemoryLayout::HeightSharded:
    return Shards::Height;
  case MemoryLayout::WidthSharded:
    return Shards::Width;
  case MemoryLayout::BlockSharded:
    return Shards::Block;
  case MemoryLayout::NDSharded:
    break;
  }
  return Shards::Other;
}

/// 32x32 tiles of a tensor.
int64_t tilesOf(const TensorSpec &spec) {
  TensorSpec tiled = spec;
  tiled.layout = Layout::Tile;
  return static_cast<int64_t>(sim::deviceBytes(tiled) / sim::tileBytes(spec.dtype));
}

PlacedTensor placedTensor(const TensorSpec &spec) {
  PlacedTensor result;
  const MemoryConfig &memory = spec.memory;
  result.memory = memory.buffer == BufferType::SystemMemory ? Memory::Host
                  : memory.buffer == BufferType::DRAM       ? Memory::DRAM
                                                            : Memory::L1;
  result.shards = shardsOf(memory);
  result.tiled = spec.layout == Layout::Tile;
  result.isF32 = spec.dtype == DataType::Float32;
  result.bytes = static_cast<int64_t>(sim::deviceBytes(spec));
  const bool isEmpty = !spec.shape.empty() && spec.shape.back() == 0;
  result.columns = spec.shape.empty() ? 1 : spec.shape.back();
  result.rows = spec.shape.empty() || isEmpty ? 1 : volume(spec.shape) / spec.shape.back();
  result.tiles = tilesOf(spec);
  result.tileBytes = static_cast<int64_t>(sim::tileBytes(spec.dtype));
  result.shape = spec.shape;
  if (result.shards != Shards::None && memory.shardShape.size() == 2 && !memory.grid.empty()) {
    result.gridRows = memory.grid.front();
    result.gridColumns = memory.grid.back();
    result.shardRows = memory.shardShape.front();
    result.shardColumns = memory.shardShape.back();
  }
  return result;
}

/// A call with the placements of its operands and results.
class PlacedCall final : public ttmlir::cost::Op {
public:
  explicit PlacedCall(const OpCall &call) : attributes(call.attributes) {
    operands.reserve(call.ins.size());
    for (const auto &in : call.ins)
      operands.push_back(in ? std::optional(placedTensor(*in)) : std::nullopt);
    results.reserve(call.outs.size());
    for (const TensorSpec &out : call.outs)
      results.push_back(placedTensor(out));
    name = call.name;
    mesh = {call.meshShape[0], call.meshShape[1]};
    ins = operands;
    outs = results;
  }
  PlacedCall(const PlacedCall &) = delete;

  shapes::Attribute attribute(std::string_view name) const override { return attributeOf(attributes, name); }

private:
  const Attributes &attributes;
  std::vector<std::optional<PlacedTensor>> operands;
  std::vector<PlacedTensor> results;
};

} // namespace

/// Returns the chip with the memory that the call's tensors in L1 leave to its kernels.
static ttmlir::cost::Chip leftBy(const OpCall &call, const sim::ChipDesc &chip) {
  int64_t usable = chip.l1Size - chip.l1UnreservedBase;
  const auto take = [&](const TensorSpec &spec) {
    if (spec.memory.buffer == BufferType::L1)
      usable -= static_cast<int64_t>(sim::footprint(chip, spec).bytesPerBank);
  };
  for (const auto &in : call.ins)
    if (in)
      take(*in);
  for (const TensorSpec &out : call.outs)
    take(out);
  return {chip.gridRows, chip.gridColumns, usable};
}

/// Fails if attributes name chips that the mesh lacks.
static void checkChips(const OpCall &call) {
  const Attributes &attributes = call.attributes;
  if (const auto *axis = attributes.find<int64_t>("cluster_axis"))
    groupsOf(call, *axis);
  for (const std::string_view name : {"sender_coord", "receiver_coord"})
    if (attributes.find<std::vector<int64_t>>(name)) {
      const std::vector<int64_t> coordinate = integers(call, name, 2, 0);
      if (coordinate[0] >= call.meshShape[0] || coordinate[1] >= call.meshShape[1])
        fail(call, "attribute '" + std::string(name) + "' is " + quoted(coordinate) + ", outside of the mesh");
    }
  if (attributes.find<std::vector<int64_t>>("source_target_pairs"))
    rowsOf(call, "source_target_pairs", 2);
  if (attributes.find<std::vector<int64_t>>("replica_groups"))
    rowsOf(call, "replica_groups", attributes.get<int64_t>("split_count"));
}

std::vector<Send> sendsOf(const OpCall &call) {
  const ttmlir::cost::Rule *rule = ttmlir::cost::findRule(call.name);
  std::vector<Send> sends;
  if (!rule || !rule->sends)
    return sends;
  checkChips(call);
  const ttmlir::cost::Sends found = ttmlir::cost::sendsOf(*rule, PlacedCall(call));
  for (const ttmlir::cost::Send &send : found.all) {
    const auto from = static_cast<uint32_t>(send.from), to = static_cast<uint32_t>(send.to);
    // The last chip of a ring has a link to the first.
    sends.push_back({found.ringSteps ? std::vector{from, to} : routeBetween(from, to, call.meshShape[1]), send.bytes});
  }
  return sends;
}

Cost fabricCostOf(const OpCall &call) {
  Cost cost;
  if (const ttmlir::cost::Rule *rule = ttmlir::cost::findRule(call.name)) {
    checkChips(call);
    addSends(cost, ttmlir::cost::sendsOf(*rule, PlacedCall(call)));
  }
  return cost;
}

Estimate estimateOf(const sim::ChipDesc &chip, const OpInfo &info, const OpCall &call, Origin origin) {
  PlacedCall op(call);
  if (origin != Origin::Program)
    if (const auto compute = ttmlir::plan::computeOf(op))
      op.phases = compute->phases;
  if (info.rule->sends)
    checkChips(call);
  const Cost cost = workOf(*info.rule, op);
  return {cost, sim::estimate(chip, cost)};
}

int64_t circularBytes(const sim::ChipDesc &chip, const OpInfo &info, const OpCall &call) {
  return circularBytes(*info.rule, PlacedCall(call), leftBy(call, chip));
}

int64_t circularBytesWith(const sim::ChipDesc &chip, const OpInfo &info, const OpCall &call, int64_t tensors) {
  return circularBytes(*info.rule, PlacedCall(call),
                       {chip.gridRows, chip.gridColumns, chip.l1Size - chip.l1UnreservedBase - tensors});
}

std::vector<ttmlir::plan::Step> planOf(const sim::ChipDesc &chip, const OpCall &call) {
  return ttmlir::plan::planOf(PlacedCall(call), leftBy(call, chip));
}

std::optional<ttmlir::plan::Blocks> blocksOf(const sim::ChipDesc &chip, const OpCall &call,
                                             const ttmlir::plan::Compute &compute) {
  return ttmlir::plan::blocksOf(PlacedCall(call), compute, leftBy(call, chip));
}

std::optional<ttmlir::plan::Compute> planComputeOf(const OpCall &call) {
  return ttmlir::plan::computeOf(PlacedCall(call));
}

} // namespace tt::ttnn
