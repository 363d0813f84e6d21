//===- CostModel.h - the time that work takes on a chip ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What the runtime's clock counts and the compiler compares shardings by.
// docs/runtime.md, "The clock", names the source of each figure.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_TARGET_COSTMODEL_H
#define TTMLIR_TARGET_COSTMODEL_H

#include <algorithm>

namespace ttmlir::cost {

/// Throughput and bandwidth of a chip: of one core where a unit is in cycles, except for memory and fabric.
struct Speed {
  double clockGHz, matmulTileCycles, fpuTileCycles, sfpuTileCycles, dramBytesPerSecond, l1BytesPerCycle,
      fabricBytesPerSecond, fabricHopNs, launchNs;
};

inline constexpr Speed wormhole = {1.0, 16, 32, 128, 288e9, 64, 25e9, 500, 1000};
inline constexpr Speed blackhole = {1.35, 16, 32, 128, 512e9, 128, 100e9, 500, 1000};

/// What overlaps while an op runs.
struct Times {
  double computeNs, l1Ns, dramNs, fabricNs, launchNs;
  double total() const { return std::max({computeNs, l1Ns, dramNs, fabricNs}) + launchNs; }
};

/// `Work` counts tiles and bytes as tt::sim::Cost does; `phases` are the passes of the matrix unit over a product.
template <class Speed, class Work> Times timesOf(const Speed &speed, double cores, const Work &work, int phases) {
  const double matrixCycles = (static_cast<double>(work.matmulTiles) * speed.matmulTileCycles * phases +
                               static_cast<double>(work.fpuTiles) * speed.fpuTileCycles) /
                              cores;
  const double vectorCycles = static_cast<double>(work.sfpuTiles) * speed.sfpuTileCycles / cores;
  // Matrix and vector unit of a core work on the same tile one after the other; data movement has its own processors.
  return {(matrixCycles + vectorCycles) / speed.clockGHz,
          static_cast<double>(work.l1Bytes) / (cores * speed.l1BytesPerCycle) / speed.clockGHz,
          static_cast<double>(work.dramBytes) / speed.dramBytesPerSecond * 1e9,
          work.fabricBytes
              ? static_cast<double>(work.fabricBytes) / speed.fabricBytesPerSecond * 1e9 + speed.fabricHopNs
              : 0,
          speed.launchNs};
}

} // namespace ttmlir::cost

#endif // TTMLIR_TARGET_COSTMODEL_H
