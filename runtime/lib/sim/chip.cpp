//===- chip.cpp - models of the simulated chips ---------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "tt/sim/chip.h"

#include <algorithm>
#include <array>

namespace tt::sim {
namespace {

// Sizes: the default system descriptor of the compiler. Speeds: docs/cost-model.md.
constexpr std::array<ChipDesc, 2> chips = {{
    {Arch::WormholeB0, 8, 8, 1499136, 103712, 16, 12, 1073741824, 1024, 1073741824, 32, ttmlir::cost::wormhole},
    {Arch::Blackhole, 10, 13, 1572864, 98304, 16, 8, 4278190080, 64, 4276383744, 64, ttmlir::cost::blackhole},
}};

/// A chip whose memory begins and ends elsewhere.
constexpr ChipDesc moved(ChipDesc chip, int64_t l1Base, int64_t dramBase, int64_t dramEnd) {
  chip.l1UnreservedBase = l1Base;
  chip.dramUnreservedBase = dramBase;
  chip.dramUnreservedEnd = dramEnd;
  return chip;
}
constexpr std::array<ChipDesc, 2> libraryChips = {{
    moved(chips[0], 105824, 0x100040, chips[0].dramChannelSize),
    moved(chips[1], 111744, 0x100080, chips[1].dramChannelSize),
}};

const ChipDesc &find(std::span<const ChipDesc> rows, Arch arch) {
  for (const ChipDesc &desc : rows)
    if (desc.arch == arch)
      return desc;
  throw DeviceError("architecture " + std::string(toString(arch)) +
                    " is not simulated; there are wormhole_b0 and blackhole");
}

constexpr std::array<MeshPreset, 8> presets = {{
    {"n150", Arch::WormholeB0, 1, 1},
    {"n300", Arch::WormholeB0, 1, 2},
    {"llmbox", Arch::WormholeB0, 2, 4},
    {"box", Arch::WormholeB0, 2, 4},
    {"tg", Arch::WormholeB0, 8, 4},
    {"galaxy", Arch::WormholeB0, 8, 4},
    {"p150", Arch::Blackhole, 1, 1},
    {"p300", Arch::Blackhole, 1, 2},
}};

template <class Rows> std::string names(const Rows &rows) {
  std::string text;
  for (const auto &row : rows)
    text += (text.empty() ? "" : ", ") + std::string(row.name);
  return text;
}

int64_t multiply(int64_t a, int64_t b, const TensorSpec &spec) {
  int64_t result;
  if (__builtin_mul_overflow(a, b, &result))
    throw Error("a tensor of shape " + toString(spec.shape) + " has more than 2^63 bytes on the device");
  return result;
}

int64_t ceilDiv(int64_t a, int64_t b) { return a / b + (a % b != 0); }

int64_t alignUp(int64_t bytes, int64_t alignment, const TensorSpec &spec) {
  return multiply(ceilDiv(bytes, alignment), alignment, spec);
}

/// Rows and columns of the tensor with all dimensions but the last folded into the rows; in tile layout in tiles, with
/// every matrix of the batch padded separately.
struct Matrix {
  int64_t rows, columns;
};

Matrix fold(const TensorSpec &spec, bool tiled) {
  const size_t rank = spec.shape.size();
  Matrix matrix{1, rank ? spec.shape[rank - 1] : 1};
  int64_t height = rank > 1 ? spec.shape[rank - 2] : 1;
  if (tiled) {
    matrix.columns = ceilDiv(matrix.columns, tileWidth);
    height = ceilDiv(height, tileHeight);
  }
  matrix.rows = height;
  for (size_t i = 0; i + 2 < rank; ++i)
    matrix.rows = multiply(matrix.rows, spec.shape[i], spec);
  return matrix;
}

/// Throws for shards that a card refuses: HEIGHT and BLOCK shards split the rows among the cores (rows of the grid),
/// WIDTH and BLOCK shards the columns, and a core holds one. ND shards are distributed round-robin over the cores.
void checkShards(const TensorSpec &spec, const Matrix &shards) {
  const MemoryConfig &memory = spec.memory;
  const int64_t rows = memory.grid.empty() ? 1 : memory.grid.front(),
                columns = memory.grid.empty() ? 1 : memory.grid.back();
  auto refuse = [&](std::string_view what, int64_t has, std::string_view of, int64_t room) {
    throw Error("a tensor of shape " + toString(spec.shape) + " has " + std::to_string(has) + " shards of " +
                toString(memory.shardShape) + " along its " + std::string(what) + "; expected at most " +
                std::to_string(room) + ", one for each " + std::string(of) + " of the grid " + toString(memory.grid));
  };
  const int64_t cores = rows * columns;
  switch (memory.layout) {
  case MemoryLayout::HeightSharded:
  case MemoryLayout::WidthSharded: {
    const bool height = memory.layout == MemoryLayout::HeightSharded;
    if (height ? shards.columns > 1 : shards.rows > 1)
      refuse(height ? "columns" : "rows", height ? shards.columns : shards.rows, "tensor", 1);
    if (const int64_t count = height ? shards.rows : shards.columns; count > cores)
      refuse(height ? "rows" : "columns", count, "core", cores);
    return;
  }
  case MemoryLayout::BlockSharded:
    if (shards.rows > rows)
      refuse("rows", shards.rows, "row", rows);
    if (shards.columns > columns)
      refuse("columns", shards.columns, "column", columns);
    return;
  default:
    return;
  }
}

} // namespace

const ChipDesc &chip(Arch arch) { return find(chips, arch); }

const ChipDesc &libraryChip(Arch arch) { return find(libraryChips, arch); }

std::span<const ChipDesc> allChips() { return chips; }

Arch parseArch(std::string_view name) {
  for (const ChipDesc &desc : chips)
    if (toString(desc.arch) == name)
      return desc.arch;
  throw DeviceError("architecture \"" + std::string(name) + "\" is not simulated; there are wormhole_b0 and blackhole");
}

std::span<const MeshPreset> meshPresets() { return presets; }

const MeshPreset &meshPreset(std::string_view name) {
  for (const MeshPreset &preset : presets)
    if (preset.name == name)
      return preset;
  throw DeviceError("no system named \"" + std::string(name) + "\"; there are " + names(presets));
}

int64_t elementBytes(DataType type) {
  // A block format exists in tiles only; elsewhere it is stored as bf16.
  return isBlockFormat(type) ? 2 : static_cast<int64_t>(tileBytes(type)) / (tileHeight * tileWidth);
}

Footprint footprint(const ChipDesc &chip, const TensorSpec &spec) {
  Footprint result;
  result.buffer = spec.memory.buffer;
  if (result.buffer == BufferType::SystemMemory)
    return result;
  const bool dram = result.buffer == BufferType::DRAM || result.buffer == BufferType::Trace;
  const int64_t alignment = dram ? chip.dramAlignment : chip.l1Alignment;
  const bool tiled = spec.layout == Layout::Tile;
  const Matrix matrix = fold(spec, tiled);
  const MemoryConfig &memory = spec.memory;
  const bool sharded = memory.layout != MemoryLayout::Interleaved && memory.layout != MemoryLayout::Unset &&
                       memory.shardShape.size() >= 2;
  if (!sharded) {
    // A page is a tile or a row; pages go round-robin over all banks.
    const int64_t page =
        tiled ? static_cast<int64_t>(tileBytes(spec.dtype)) : multiply(matrix.columns, elementBytes(spec.dtype), spec);
    const int64_t banks = dram ? chip.dramChannels : chip.cores();
    // Copies between DRAM and L1 have the larger alignment in both.
    result.pageBytes = alignUp(page, chip.dramAlignment, spec);
    result.pages = tiled ? multiply(matrix.rows, matrix.columns, spec) : matrix.rows;
    if (page == 0)
      result.pages = 0;
    result.banks = std::min(banks, result.pages);
    result.bytesPerBank = multiply(ceilDiv(result.pages, banks), result.pageBytes, spec);
    (void)multiply(result.pageBytes, result.pages, spec);
    return result;
  }
  // A page is a shard; every core of the grid holds one, or several if there are more shards than cores.
  Matrix shard{1, memory.shardShape.back()};
  for (size_t i = 0; i + 1 < memory.shardShape.size(); ++i)
    shard.rows = multiply(shard.rows, memory.shardShape[i], spec);
  if (shard.rows <= 0 || shard.columns <= 0)
    throw Error("shard shape " + toString(memory.shardShape) + " of a tensor of shape " + toString(spec.shape) +
                " has no elements");
  if (tiled && (shard.rows % tileHeight || shard.columns % tileWidth))
    throw Error("shard shape " + toString(memory.shardShape) + " of a tensor of shape " + toString(spec.shape) +
                " in tile layout; expected multiples of the tile, 32x32");
  if (tiled)
    shard = {shard.rows / tileHeight, shard.columns / tileWidth};
  if (memory.layout != MemoryLayout::NDSharded)
    checkShards(spec, {ceilDiv(matrix.rows, shard.rows), ceilDiv(matrix.columns, shard.columns)});
  int64_t cores = 1;
  for (int64_t dim : memory.grid)
    cores = multiply(cores, dim, spec);
  const int64_t banks = dram ? chip.dramChannels : chip.cores();
  if (cores < 1 || cores > banks)
    throw Error("a tensor of shape " + toString(spec.shape) + " is sharded over a grid " + toString(memory.grid) +
                ", but " + std::string(toString(chip.arch)) + " has " + std::to_string(banks) +
                (dram ? " DRAM channels" : " cores"));
  // Each row of a row-major shard is aligned.
  const int64_t row = tiled ? multiply(shard.columns, static_cast<int64_t>(tileBytes(spec.dtype)), spec)
                            : alignUp(multiply(shard.columns, elementBytes(spec.dtype), spec), alignment, spec);
  result.pageBytes = alignUp(multiply(shard.rows, row, spec), alignment, spec);
  result.pages = multiply(ceilDiv(matrix.rows, shard.rows), ceilDiv(matrix.columns, shard.columns), spec);
  result.banks = std::min(cores, result.pages);
  result.bytesPerBank = multiply(ceilDiv(result.pages, cores), result.pageBytes, spec);
  (void)multiply(result.pageBytes, result.pages, spec);
  return result;
}

} // namespace tt::sim
