//===- Axes.h - the algebra of axes and their parts -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_SDY_IR_AXES_H
#define TTMLIR_DIALECT_SDY_IR_AXES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace mlir::sdy {

/// The maximum number of devices of a mesh: more than any system has, and few enough to list.
inline constexpr int64_t maxMeshDevices = 1 << 16;

/// An axis of a mesh, by its index there, or a part of it: the middle of the axis split as [pre, size, rest]. The whole
/// axis is the part with pre 1 and the size of the axis, and all relations below hold for it as for any other part.
struct Axis {
  int32_t index = 0;
  int64_t pre = 1, size = 1;

  int64_t next() const { return pre * size; }
  bool operator==(const Axis &other) const = default;
  /// The order in a mesh.
  auto operator<=>(const Axis &other) const = default;
};

using Axes = llvm::SmallVector<Axis, 2>;
using AxesRef = llvm::ArrayRef<Axis>;

bool contains(Axis a, Axis b);
bool isPrefix(Axis a, Axis of);
bool overlaps(Axis a, Axis b);
/// Whether one split of the axis has both parts.
bool canCoexist(Axis a, Axis b);
std::optional<Axis> overlap(Axis a, Axis b);

/// The front (the rest) of `a` that does not overlap `b`; nothing if it is empty, or if the two cannot coexist.
std::optional<Axis> prefixWithout(Axis a, Axis b);
std::optional<Axis> prefixWithout(Axis a, AxesRef others);
std::optional<Axis> suffixWithout(Axis a, Axis b);

std::optional<Axis> commonPrefix(Axis a, Axis b);
Axes commonPrefix(AxesRef a, AxesRef b);
/// Whether `a` is a prefix of `of`, whose part at the last axis of `a` may be larger.
bool isPrefix(AxesRef a, AxesRef of);
bool isStrictPrefix(AxesRef a, AxesRef of);

/// The parts of an axis follow one another.
bool canMerge(Axis a, Axis b);
void addOrMerge(Axes &axes, Axis axis);
void addOrMerge(Axes &axes, AxesRef added);
/// Sorts in the order of the mesh and merges neighbors.
void sortAndMerge(Axes &axes);

/// The parts of `a` that no axis of `b` contains, in the order of `a`.
Axes difference(AxesRef a, AxesRef b);
bool overlapsAny(Axis a, AxesRef others);

/// The number of parts into which these axes split a dimension.
int64_t product(AxesRef axes);

} // namespace mlir::sdy

#endif // TTMLIR_DIALECT_SDY_IR_AXES_H
