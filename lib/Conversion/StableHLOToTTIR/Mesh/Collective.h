//===- Collective.h - groups of devices of a mesh --------------*- C++ -*--===//
// SPDX-License-Identifier: Apache-2.0
//
// StableHLO's collectives name groups of devices; those of TTIR work along an axis of the mesh. Devices are numbered
// row by row.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_LIB_CONVERSION_STABLEHLOTOTTIR_COLLECTIVE_H
#define TTMLIR_LIB_CONVERSION_STABLEHLOTOTTIR_COLLECTIVE_H

#include "../Patterns.h"

namespace mlir::tt::hlo {

// Axes of a mesh and dimensions, as attributes of TTIR's collectives.
inline IntegerAttr ui32(Builder &builder, uint32_t value) {
  return IntegerAttr::get(builder.getIntegerType(32, /*isSigned=*/false), value);
}
inline IntegerAttr si32(Builder &builder, int64_t value) {
  return IntegerAttr::get(builder.getIntegerType(32, /*isSigned=*/true), value);
}

struct DeviceGroups {
  int64_t rows = 1, columns = 1;
  SmallVector<SmallVector<int64_t>> groups;

  int64_t devices() const { return rows * columns; }
  /// Returns the number of devices of each group.
  int64_t size() const { return groups.empty() ? 1 : static_cast<int64_t>(groups.front().size()); }
  /// The axes along which the groups are arranged, the slowest-varying one first: members of a group are in this order.
  /// No axes mean groups of one device; nothing means that there are no such axes.
  std::optional<SmallVector<uint32_t>> axes() const;
  /// The axes if the order of members does not matter.
  std::optional<SmallVector<uint32_t>> unorderedAxes() const;
};

/// The groups of a collective; every device of the module's mesh must be in one of them, and all must be equally large.
/// Otherwise `reason` describes the error.
FailureOr<DeviceGroups> deviceGroups(Operation *op, Attribute groups, std::string &reason);

/// Returns why the channel of a collective does not connect devices; empty if it does.
std::string checkChannel(std::optional<stablehlo::ChannelHandleAttr> channel);

/// The reduction of TTIR for a computation, if any.
std::optional<ttcore::ReduceType> reduceTypeOf(Region &computation);

} // namespace mlir::tt::hlo

#endif // TTMLIR_LIB_CONVERSION_STABLEHLOTOTTIR_COLLECTIVE_H
