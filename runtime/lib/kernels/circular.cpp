//===- circular.cpp - circular buffers of the card's kernels --------------===//
// SPDX-License-Identifier: Apache-2.0
//
// What the kernels of a program of tt-metal keep in the L1 of a core while they
// run, by the rules of its program factories: of matmul (multicast), unary and
// binary elementwise ops, softmax, layer norm, and tilize. docs/runtime.md has
// them in words. Other families have no rule here and count nothing.
//
//===----------------------------------------------------------------------===//

#include "core/op.h"

#include <algorithm>
#include <set>

namespace tt::ttnn {
namespace {

constexpr int64_t bf16Tile = 2048, f32Tile = 4096;

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t tileBytesOf(const TensorSpec &spec) { return static_cast<int64_t>(sim::tileBytes(spec.dtype)); }

bool isOnDevice(const TensorSpec &spec) { return spec.memory.buffer != BufferType::SystemMemory; }

/// A shard in L1 is the buffer itself.
bool isShardInL1(const TensorSpec &spec) {
  return spec.memory.buffer == BufferType::L1 && spec.memory.layout != MemoryLayout::Interleaved &&
         spec.memory.layout != MemoryLayout::Unset;
}

/// So many tiles of a tensor.
int64_t room(const TensorSpec &spec, int64_t tiles) {
  return isOnDevice(spec) && !isShardInL1(spec) ? tiles * tileBytesOf(spec) : 0;
}

const TensorSpec *operandOf(const OpCall &call, size_t index) {
  return index < call.ins.size() && call.ins[index] ? &*call.ins[index] : nullptr;
}

bool accumulatesF32(const OpCall &call) {
  const Attribute *found = field(call, "compute_config", "fp32_dest_acc_en");
  const bool *value = found ? std::get_if<bool>(&found->value) : nullptr;
  return value ? *value : call.outs[0].dtype == DataType::Float32;
}

int64_t widthTiles(const TensorSpec &spec) {
  return spec.shape.empty() ? 1 : ceilDiv(spec.shape.back(), sim::tileWidth);
}

int64_t numberOf(const StructAttribute &config, std::string_view name) {
  const Attribute *found = field(config, name);
  const int64_t *value = found ? std::get_if<int64_t>(&found->value) : nullptr;
  return value ? *value : 0;
}

/// Two tiles of each operand and result.
int64_t elementwise(const OpCall &call, int64_t) {
  int64_t bytes = 0;
  for (const auto &in : call.ins)
    bytes += in ? room(*in, 2) : 0;
  for (const TensorSpec &out : call.outs)
    bytes += room(out, 2);
  return bytes;
}

/// Of a multicast program config; what the library chooses without one is not known.
int64_t product(const OpCall &call, int64_t) {
  const auto *config = call.attributes.find<StructAttribute>("matmul_program_config");
  const TensorSpec *a = operandOf(call, 0), *b = operandOf(call, 1), *bias = operandOf(call, 2);
  if (!config || !a || !b)
    return 0;
  // A core works on a block of its part of the result at a time.
  auto block = [&](std::string_view name, std::string_view part) {
    const int64_t size = numberOf(*config, name);
    return size > 0 ? std::min(size, numberOf(*config, part)) : numberOf(*config, part);
  };
  const int64_t inner = numberOf(*config, "in0_block_w"), rows = block("out_block_h", "per_core_m"),
                columns = block("out_block_w", "per_core_n");
  const TensorSpec &out = call.outs[0];
  const int64_t partialTile = accumulatesF32(call) ? f32Tile : std::max(bf16Tile, tileBytesOf(out));
  // Partial sums have the room of the result when they have its format.
  const int64_t results = room(out, rows * columns), partials = rows * columns * partialTile;
  return room(*a, 2 * inner * rows) + room(*b, 2 * inner * columns) +
         (partialTile == tileBytesOf(out) ? std::max(results, partials) : results + partials) +
         (bias ? room(*bias, columns) : 0);
}

/// Over the last dimension of an interleaved tensor.
int64_t softmax(const OpCall &call, int64_t usable) {
  const TensorSpec *in = operandOf(call, 0);
  if (!in || isShardInL1(*in))
    return 0;
  const bool f32 = accumulatesF32(call);
  const bool *stable = call.attributes.find<bool>("numeric_stable");
  const int64_t width = widthTiles(*in), im = f32 ? f32Tile : bf16Tile;
  int64_t block = f32 ? 4 : 8;
  while (width % block)
    --block;
  auto sum = [&](int64_t row) {
    int64_t bytes =
        room(*in, stable && *stable ? row : 2 * block) + room(call.outs[0], 2 * block) + row * im + im + bf16Tile;
    if (stable && *stable)
      bytes += im + row * im;
    return bytes;
  };
  const int64_t whole = sum(width);
  // Rows that are too long are streamed, 80 tiles at a time.
  return whole * 10 > usable * 9 ? sum(80) + 3 * im : whole;
}

int64_t norm(const OpCall &call, int64_t usable) {
  const TensorSpec *in = operandOf(call, 0);
  if (!in || isShardInL1(*in))
    return 0;
  const bool f32 = accumulatesF32(call);
  const int64_t im = f32 ? f32Tile : bf16Tile, block = f32 ? 4 : 8;
  const bool weighted = operandOf(call, 1);
  auto sum = [&](int64_t row) {
    int64_t bytes = room(*in, row) + room(call.outs[0], 2 * block) + 2 * row * im + 12 * im + 4 * bf16Tile;
    for (size_t i = 1; i < call.ins.size(); ++i)
      if (const TensorSpec *given = operandOf(call, i))
        bytes += room(*given, row);
    return bytes + (weighted ? 2 * block * im : 0);
  };
  const int64_t whole = sum(ceilDiv(widthTiles(*in), block) * block);
  return whole <= usable ? whole : sum(weighted || in->dtype == DataType::Float32 ? 56 : 112);
}

/// A row of tiles in and out.
int64_t tilize(const OpCall &call, int64_t) {
  const TensorSpec *in = operandOf(call, 0);
  if (!in || in->layout != Layout::RowMajor || call.outs[0].layout != Layout::Tile || !isOnDevice(*in))
    return 0;
  return room(*in, widthTiles(*in)) + room(call.outs[0], widthTiles(*in));
}

struct Rule {
  std::string_view op;
  int64_t (*bytes)(const OpCall &call, int64_t usable);
};
constexpr Rule rules[] = {
    {"ttnn.layer_norm", norm}, {"ttnn.linear", product},  {"ttnn.matmul", product},
    {"ttnn.rms_norm", norm},   {"ttnn.softmax", softmax}, {"ttnn.to_layout", tilize},
};

bool isElementwise(std::string_view name) {
  static const std::set<std::string_view> names = [] {
    std::set<std::string_view> found;
    for (const OpInfo &info : elementwiseOps())
      found.insert(info.name);
    return found;
  }();
  return names.contains(name);
}

} // namespace

int64_t circularBytes(const sim::ChipDesc &chip, const OpCall &call) {
  if (call.outs.empty() || !isOnDevice(call.outs[0]))
    return 0;
  if (const Rule *rule = std::ranges::find(rules, std::string_view(call.name), &Rule::op); rule != std::end(rules))
    return rule->bytes(call, chip.l1Size - chip.l1UnreservedBase);
  return isElementwise(call.name) ? elementwise(call, 0) : 0;
}

} // namespace tt::ttnn
