//===- Model.h - the time and memory of shardings ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_DIALECT_STABLEHLO_TRANSFORMS_AUTO_MODEL_H
#define TTMLIR_LIB_DIALECT_STABLEHLO_TRANSFORMS_AUTO_MODEL_H

#include "../../../Sdy/Transforms/Common/Factors.h"
#include "../../../Sdy/Transforms/Export/Planner.h"
#include "ttmlir/Dialect/TTCore/IR/TTCore.h"
#include "ttmlir/costs/CostModel.h"

#include <map>

namespace mlir::tt::shlo::autosharding {

/// The axes that split each dimension of a tensor.
using Dims = SmallVector<sdy::Axes, 4>;

/// Times in nanoseconds. Overlapping work is counted in each part, and once in the total.
struct Time {
  double total = 0, compute = 0, memory = 0, collectives = 0;

  Time &operator+=(const Time &other) {
    total += other.total, compute += other.compute, memory += other.memory, collectives += other.collectives;
    return *this;
  }
};

/// The work of one chip in an op.
using ::ttmlir::cost::Work;

/// Estimates the time and the memory of a chip.
class Model {
public:
  Model(ttcore::ChipDescAttr chip, sdy::MeshAttr mesh);

  /// The op on these parts of its operands, then its results.
  Time timeOf(Operation *op, ArrayRef<Dims> tensors) const;
  /// The time to combine partial results of devices along the axes; each device gets all of it or, if `isScattered`,
  /// its part.
  Time timeOfReduction(RankedTensorType type, const Dims &dims, sdy::AxesRef axes, bool isScattered) const;
  /// The time to receive the data that a part of the tensor along `dim` needs from its neighbors, and to concatenate it
  /// with that of the device.
  Time timeOfExchange(RankedTensorType type, const Dims &dims, int64_t dim, const stablehlo::Footprint &print) const;
  /// Devices receive the data of those at the mirrored position along the axes.
  Time timeOfMirroring(RankedTensorType type, const Dims &dims, int64_t dim) const;
  /// The time to reshard a tensor by the planner of reshards.
  Time timeOfReshard(RankedTensorType type, const Dims &from, const Dims &to);

  /// Returns the bytes of one chip's part, in tiles.
  int64_t bytesOf(RankedTensorType type, const Dims &dims) const;
  int64_t dramBytes() const { return dram; }
  ArrayRef<int64_t> axisSizes() const { return sizes; }

private:
  Time timeOf(const Work &work) const;
  Time timeOfSending(RankedTensorType type, int64_t bytes, int64_t bytesTimesHops, int64_t hops) const;

  const ::ttmlir::cost::Speed &speed;
  double cores;
  int64_t dram;
  SmallVector<int64_t> sizes;
  std::map<std::pair<const void *, std::vector<int64_t>>, Time> reshards;
};

} // namespace mlir::tt::shlo::autosharding

#endif // TTMLIR_LIB_DIALECT_STABLEHLO_TRANSFORMS_AUTO_MODEL_H
