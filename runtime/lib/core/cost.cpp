//===- cost.cpp - what ops cost on the chip -------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "core/op.h"

#include <algorithm>
#include <array>

namespace tt::ttnn {
namespace {

/// Transfers of a tensor that lies in the banks page by page: tiles, or rows. What is sharded comes in long bursts.
int64_t interleavedPages(const TensorSpec &spec) {
  if (spec.memory.layout != MemoryLayout::Interleaved && spec.memory.layout != MemoryLayout::Unset)
    return 0;
  if (spec.layout == Layout::Tile)
    return tiles(spec);
  return spec.shape.empty() || spec.shape.back() == 0 ? 1 : volume(spec.shape) / spec.shape.back();
}

bool isInterleavedInDram(const TensorSpec &spec) {
  return spec.memory.buffer == BufferType::DRAM && interleavedPages(spec) > 0;
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

/// Cycles of a tile through the vector unit, by type of the result, where they are published (docs/cost-model.md).
struct VectorFunction {
  std::string_view op;
  int64_t bf16, f32;
};
constexpr std::array vectorFunctions = {
    VectorFunction{"ttnn.gelu", 256, 256},       VectorFunction{"ttnn.reciprocal", 1070, 1070},
    VectorFunction{"ttnn.rsqrt", 1008, 1008},    VectorFunction{"ttnn.sigmoid", 256, 256},
    VectorFunction{"ttnn.softplus", 1500, 1500}, VectorFunction{"ttnn.sqrt", 880, 880},
    VectorFunction{"ttnn.tanh", 530, 1601},      VectorFunction{"ttnn.typecast", 80, 80},
};

int64_t vectorCycles(std::string_view op, DataType type) {
  const auto *found = std::ranges::find(vectorFunctions, op, &VectorFunction::op);
  if (found == vectorFunctions.end())
    return 0;
  return type == DataType::Float32 ? found->f32 : found->bf16;
}

} // namespace

int64_t tiles(const TensorSpec &spec) {
  TensorSpec tiled = spec;
  tiled.layout = Layout::Tile;
  return static_cast<int64_t>(sim::deviceBytes(tiled) / sim::tileBytes(spec.dtype));
}

Cost traffic(const OpCall &call) {
  Cost cost;
  auto add = [&](const TensorSpec &spec) {
    const auto bytes = static_cast<int64_t>(sim::deviceBytes(spec));
    if (spec.memory.buffer == BufferType::DRAM) {
      cost.dramBytes += bytes;
      cost.dramPages += interleavedPages(spec);
    } else if (spec.memory.buffer != BufferType::SystemMemory) {
      cost.l1Bytes += bytes;
    }
  };
  for (const auto &in : call.ins)
    if (in)
      add(*in);
  for (const TensorSpec &out : call.outs)
    add(out);
  return cost;
}

Cost vectorCost(const OpCall &call) {
  Cost cost = traffic(call);
  for (const TensorSpec &out : call.outs) {
    cost.sfpuTiles += tiles(out);
    cost.sfpuCycles += tiles(out) * vectorCycles(call.name, out.dtype);
  }
  return cost;
}

Cost noCost(const OpCall &) { return {}; }

Cost defaultCost(const OpCall &call) {
  Cost cost = traffic(call);
  for (const TensorSpec &out : call.outs)
    if (out.memory.buffer != BufferType::SystemMemory)
      cost.fpuTiles += tiles(out);
  return cost;
}

bool fetchesByTurns(const OpCall &call) {
  return std::ranges::any_of(call.ins, [](const auto &in) { return in && isInterleavedInDram(*in); });
}

Estimate estimateOf(const sim::ChipDesc &chip, const OpInfo &info, const OpCall &call, Origin origin) {
  Cost cost = info.cost ? info.cost(call) : defaultCost(call);
  cost.phases = phasesOf(call, origin);
  return {cost, sim::estimate(chip, cost)};
}

} // namespace tt::ttnn
