//===- chip.h - models of the simulated chips -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What is known of a chip, as a table, and how many bytes a tensor takes on it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/sim/formats.h"
#include "tt/types.h"
#include "ttmlir/costs/CostModel.h"

#include <optional>
#include <span>

namespace tt::sim {

struct ChipDesc {
  Arch arch;
  int64_t gridRows, gridColumns; // worker cores
  int64_t l1Size;                // bytes per core
  int64_t l1UnreservedBase;
  int64_t l1Alignment;
  int64_t dramChannels;
  int64_t dramChannelSize; // bytes
  int64_t dramUnreservedBase, dramUnreservedEnd;
  int64_t dramAlignment;
  ttmlir::cost::Speed speed;

  int64_t cores() const { return gridRows * gridColumns; }
};

/// Throws DeviceError for an architecture that is not simulated.
const ChipDesc &chip(Arch arch);
/// The same with the memory that Tenstorrent's library (ttnn 0.81.1) leaves to tensors.
const ChipDesc &libraryChip(Arch arch);
/// The architectures there are.
std::span<const ChipDesc> allChips();
/// "wormhole_b0", "blackhole"; throws DeviceError naming the known ones.
Arch parseArch(std::string_view name);

/// A board or box by its name in the shop: n150, n300, llmbox (box), tg (galaxy), p150, p300.
struct MeshPreset {
  std::string_view name;
  Arch arch;
  uint32_t rows, columns;
};
std::span<const MeshPreset> meshPresets();
/// Throws DeviceError naming the known ones.
const MeshPreset &meshPreset(std::string_view name);

inline constexpr int64_t tileHeight = 32, tileWidth = 32;

/// Bytes of one element on the chip in row-major layout.
int64_t elementBytes(DataType type);

/// The device memory of a tensor. A buffer has one address in all banks it touches ("lockstep"), so the bytes per bank
/// are what is allocated.
struct Footprint {
  BufferType buffer = BufferType::SystemMemory;
  int64_t pageBytes = 0; // aligned
  int64_t pages = 0;
  int64_t banks = 0; // that the tensor touches
  int64_t bytesPerBank = 0;
  int64_t totalBytes() const { return pageBytes * pages; }
};

/// The footprint of one shard (the spec's shape) on one chip; zero for a host tensor. Throws Error when a sharded
/// tensor does not fit its grid, or sizes overflow.
Footprint footprint(const ChipDesc &chip, const TensorSpec &spec);

} // namespace tt::sim
