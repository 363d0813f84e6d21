//===- cost.cpp - what ops cost on the chip -------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "core/op.h"

#include <algorithm>

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

std::vector<PlacedTensor> operandsOf(const OpCall &call) {
  std::vector<PlacedTensor> operands;
  for (const auto &in : call.ins)
    if (in)
      operands.push_back(placedTensor(*in));
  return operands;
}

Cost trafficOf(const OpCall &call, bool moves) {
  Cost cost;
  const std::vector<PlacedTensor> operands = operandsOf(call);
  if (call.outs.empty()) {
    for (const PlacedTensor &operand : operands)
      addTransfer(cost, operand);
    return cost;
  }
  addTraffic(cost, operands, placedTensor(call.outs[0]), moves);
  for (size_t i = 1; i < call.outs.size(); ++i)
    addTransfer(cost, placedTensor(call.outs[i]));
  return cost;
}

int phasesOf(const OpCall &call, Origin origin) {
  if (const Attribute *fidelity = field(call, "compute_config", "math_fidelity"))
    if (const auto *value = std::get_if<EnumAttribute>(&fidelity->value))
      return static_cast<int>(std::clamp<int64_t>(value->value, 1, 4)); // LoFi is 0
  if (origin == Origin::Program || call.ins.empty() || !call.ins[0])
    return 4;
  switch (call.ins[0]->dtype) {
  case DataType::BFloat16:
    return 2;
  case DataType::BFP_BFloat8:
  case DataType::BFP_BFloat4:
  case DataType::BFP_BFloat2:
  case DataType::BFP_Float8:
  case DataType::BFP_Float4:
  case DataType::BFP_Float2:
    return 1;
  default:
    return 4;
  }
}

} // namespace

int64_t tiles(const TensorSpec &spec) {
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
  result.bytes = static_cast<int64_t>(sim::deviceBytes(spec));
  const bool isEmpty = !spec.shape.empty() && spec.shape.back() == 0;
  result.columns = spec.shape.empty() ? 1 : spec.shape.back();
  result.rows = spec.shape.empty() || isEmpty ? 1 : volume(spec.shape) / spec.shape.back();
  result.tiles = tiles(spec);
  result.tileBytes = static_cast<int64_t>(sim::tileBytes(spec.dtype));
  if (result.shards != Shards::None && memory.shardShape.size() == 2 && !memory.grid.empty()) {
    result.gridRows = memory.grid.front();
    result.gridColumns = memory.grid.back();
    result.shardRows = memory.shardShape.front();
    result.shardColumns = memory.shardShape.back();
  }
  return result;
}

Cost traffic(const OpCall &call) { return trafficOf(call, /*moves=*/true); }

Cost trafficOfShards(const OpCall &call) { return trafficOf(call, /*moves=*/false); }

Cost vectorCost(const OpCall &call) {
  Cost cost = trafficOfShards(call);
  for (const TensorSpec &out : call.outs)
    addVectorPass(cost, call.name, placedTensor(out), out.dtype == DataType::Float32);
  return cost;
}

Cost noCost(const OpCall &) {
  Cost cost;
  cost.launched = false;
  return cost;
}

Cost defaultCost(const OpCall &call) {
  Cost cost = traffic(call);
  for (const TensorSpec &out : call.outs)
    if (out.memory.buffer != BufferType::SystemMemory)
      cost.fpuTiles += tiles(out);
  return cost;
}

void takeChunks(const OpCall &call, ttmlir::cost::Attended &attended) {
  auto take = [&](std::string_view name, int64_t &chunk) {
    const Attribute *found = field(call, "program_config", name);
    const int64_t *size = found ? std::get_if<int64_t>(&found->value) : nullptr;
    if (size && *size > 0)
      chunk = *size;
  };
  take("q_chunk_size", attended.rowChunk);
  take("k_chunk_size", attended.columnChunk);
}

bool fetchesByTurns(const OpCall &call) {
  return std::ranges::any_of(call.ins, [](const auto &in) { return in && placedTensor(*in).isInterleavedInDram(); });
}

Estimate estimateOf(const sim::ChipDesc &chip, const OpInfo &info, const OpCall &call, Origin origin) {
  Cost cost = info.cost ? info.cost(call) : defaultCost(call);
  cost.phases = phasesOf(call, origin);
  if (!call.outs.empty() && !cost.cores)
    cost.cores = ttmlir::cost::busyCores(placedTensor(call.outs[0]));
  return {cost, sim::estimate(chip, cost)};
}

} // namespace tt::ttnn
