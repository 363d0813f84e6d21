//===- CostModel.h - the time that work takes on a chip ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What the runtime's clock counts and the compiler compares shardings by.
// docs/cost-model.md names the source of each figure, and which are fitted.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_TARGET_COSTMODEL_H
#define TTMLIR_TARGET_COSTMODEL_H

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace ttmlir::cost {

/// Throughput and bandwidth of a chip: of one core where a unit is in cycles, except for memory and fabric.
struct Speed {
  double clockGHz;
  double matmulTileCycles; // a 32x32x32 tile product in one fidelity phase, at the peak of the matrix unit
  double matmulShare;      // of that peak, that kernels reach
  double fpuTileCycles;    // a tile through the matrix unit elementwise
  double sfpuTileCycles;   // a tile through the vector unit, for functions without a figure of their own
  double l1BytesPerCycle;
  // DRAM: what comes in long bursts, and pages of interleaved tensors, each of which a channel takes so long for.
  double dramBytesPerSecond, dramChannels, dramPageCycles, dramPageBytesPerCycle;
  double linkBytesPerSecond; // to a neighbour
  double ringBytesPerSecond; // of a ring of neighbours, both ways
  double ringStepNs;         // a step of a ring, with its synchronisation
  double hopNs;              // past one chip, on a way of its own
  double launchNs;           // from one op to the next
};

inline constexpr Speed wormhole = {1.0, 16, 0.75, 32, 128, 64, 267e9, 12, 35, 36.6, 12e9, 20.8e9, 2500, 711, 4000};
inline constexpr Speed blackhole = {1.35, 16, 0.75, 32, 128, 128, 475e9, 8, 35, 36.6, 48e9, 83e9, 2500, 515, 4000};

/// The work of an op on one chip.
struct Work {
  int64_t matmulTiles = 0; // 32x32x32 tile products
  int64_t sfpuTiles = 0;   // tiles through the vector unit
  int64_t sfpuCycles = 0;  // of all of them, where it is known
  int64_t fpuTiles = 0;    // tiles through the matrix unit elementwise
  int64_t dramBytes = 0;   // read and written
  int64_t dramPages = 0;   // of interleaved tensors
  int64_t l1Bytes = 0;     // read and written
  int64_t fabricBytes = 0; // sent to other chips, times hops
  int64_t fabricSteps = 0; // of rings, one after the other
  int64_t fabricHops = 0;  // of the longest way that is no ring's
  int phases = 4;          // of the matrix unit: LoFi 1 to HiFi4 4
  int64_t cores = 0;       // among which it is divided evenly; 0: all of the chip
  bool launched = true;    // false: another name for what lies there already
  /// What lies in DRAM is fetched, and computed on, by turns.
  bool fetchesByTurns = false;
};

/// What an op's time is mostly due to.
enum class Bound : uint8_t { None, Compute, DRAM, L1, Fabric, Dispatch };

inline constexpr std::string_view boundName(Bound bound) {
  constexpr std::string_view names[] = {"", "compute", "DRAM", "L1", "fabric", "dispatch"};
  return names[static_cast<size_t>(bound)];
}

struct Times {
  double computeNs = 0, l1Ns = 0, dramNs = 0, fabricNs = 0, launchNs = 0;
  bool byTurns = false;

  /// Computing and moving data overlap, but where they go by turns; the launch overlaps with nothing.
  double total() const {
    return std::max({byTurns ? computeNs + dramNs : std::max(computeNs, dramNs), l1Ns, fabricNs}) + launchNs;
  }
  Bound bound() const {
    const double most = std::max({computeNs, l1Ns, dramNs, fabricNs, launchNs});
    return most == 0           ? Bound::None
           : most == launchNs  ? Bound::Dispatch
           : most == computeNs ? Bound::Compute
           : most == dramNs    ? Bound::DRAM
           : most == l1Ns      ? Bound::L1
                               : Bound::Fabric;
  }
};

inline Times timesOf(const Speed &speed, double cores, const Work &work) {
  if (!work.launched)
    return {};
  if (work.cores)
    cores = std::min(cores, static_cast<double>(work.cores));
  const auto number = [](int64_t count) { return static_cast<double>(count); };
  const double matrixCycles = number(work.matmulTiles) * speed.matmulTileCycles / speed.matmulShare * work.phases +
                              number(work.fpuTiles) * speed.fpuTileCycles;
  const double vectorCycles = work.sfpuCycles ? number(work.sfpuCycles) : number(work.sfpuTiles) * speed.sfpuTileCycles;
  const double pageCycles = (number(work.dramPages) * speed.dramPageCycles +
                             (work.dramPages ? number(work.dramBytes) / speed.dramPageBytesPerCycle : 0)) /
                            speed.dramChannels;
  // Matrix and vector unit of a core work on the same tile one after the other; data movement has its own processors.
  return {(matrixCycles + vectorCycles) / cores / speed.clockGHz,
          number(work.l1Bytes) / (cores * speed.l1BytesPerCycle) / speed.clockGHz,
          std::max(number(work.dramBytes) / speed.dramBytesPerSecond * 1e9, pageCycles / speed.clockGHz),
          number(work.fabricBytes) / (work.fabricSteps ? speed.ringBytesPerSecond : speed.linkBytesPerSecond) * 1e9 +
              number(work.fabricSteps) * speed.ringStepNs + number(work.fabricHops) * speed.hopNs,
          speed.launchNs,
          work.fetchesByTurns};
}

} // namespace ttmlir::cost

#endif // TTMLIR_TARGET_COSTMODEL_H
