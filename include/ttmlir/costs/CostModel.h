//===- CostModel.h - the time that work takes on a chip ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The quantities that the runtime's clock counts and by which the compiler compares shardings. docs/cost-model.md names
// the source of each figure, and which are fitted.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_COSTS_COSTMODEL_H
#define TTMLIR_COSTS_COSTMODEL_H

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace ttmlir::cost {

/// Throughput and bandwidth of a chip: per core for units in cycles, except for memory and fabric.
struct Speed {
  double clockGHz;
  double matmulTileCycles; // a 32x32x32 tile product in one fidelity phase, at the peak of the matrix unit
  double matmulShare;      // of that peak, that kernels reach
  double fpuTileCycles;    // a tile through the matrix unit elementwise
  double sfpuTileCycles;   // a tile through the vector unit, for functions without a figure of their own
  double tilizeTileCycles; // a tile of 16-bit values that the unpacker makes of rows, or the packer makes rows of
  double l1BytesPerCycle;
  // Data that a data movement processor copies out of L1 piece by piece: it takes the longer of the time of its pieces
  // and that of its bytes.
  double pieceCycles, pieceBytesPerCycle;
  // DRAM: data in long bursts, and pages of interleaved tensors, each of which takes a channel this long.
  double dramBytesPerSecond, dramChannels, dramPageCycles, dramPageBytesPerCycle;
  double castBytesPerCycle; // of DRAM, that one core reads and sends on to the others
  double blockNs;           // until the cores of a product have passed a block of operands on
  double rowTileNs; // of a change between rows and tiles in pages: what a core takes in addition to the DRAM's time
  double linkBytesPerSecond; // to a neighbour
  double ringBytesPerSecond; // of a ring of neighbours, both ways
  double ringStepNs;         // a step of a ring, with its synchronisation
  double hopNs;              // past one chip, on a way of its own
  double launchNs;           // from one program of kernels to the next, in a trace
  double hostNs;             // of the host, for a program without a trace
};

inline constexpr Speed wormhole = {
    .clockGHz = 1.0,
    .matmulTileCycles = 16,
    .matmulShare = 0.75,
    .fpuTileCycles = 55,
    .sfpuTileCycles = 128,
    .tilizeTileCycles = 75,
    .l1BytesPerCycle = 64,
    .pieceCycles = 37,
    .pieceBytesPerCycle = 27.7,
    .dramBytesPerSecond = 267e9,
    .dramChannels = 12,
    .dramPageCycles = 35,
    .dramPageBytesPerCycle = 36.6,
    .castBytesPerCycle = 16,
    .blockNs = 600,
    .rowTileNs = 650,
    .linkBytesPerSecond = 12e9,
    .ringBytesPerSecond = 20.8e9,
    .ringStepNs = 2500,
    .hopNs = 711,
    .launchNs = 6000,
    .hostNs = 46000,
};
inline constexpr Speed blackhole = [] {
  Speed speed = wormhole;
  speed.clockGHz = 1.35;
  speed.l1BytesPerCycle = 128;
  speed.pieceCycles = 57;
  speed.pieceBytesPerCycle = 35.9;
  speed.dramBytesPerSecond = 475e9;
  speed.dramChannels = 8;
  speed.castBytesPerCycle = 32;
  speed.linkBytesPerSecond = 48e9;
  speed.ringBytesPerSecond = 83e9;
  speed.hopNs = 515;
  return speed;
}();

/// Kinds of ops whose estimates are equally accurate.
enum class Kind : uint8_t { Other, Product, Convolution, Attention, Layout };

struct KindRow {
  std::string_view name;
  /// The uncertainty of an estimate: root mean square of the relative differences from the times to which the constants
  /// were fitted, or with which they were checked (docs/cost-model.md). Ops without a kind of their own have twice the
  /// largest.
  double uncertainty;
};
inline constexpr KindRow kinds[] = {
    {"other", 0.39}, {"matmul", 0.07}, {"convolution", 0.195}, {"attention", 0.14}, {"layout", 0.14},
};
inline constexpr const KindRow &rowOf(Kind kind) { return kinds[static_cast<size_t>(kind)]; }

/// The work of an op on one chip.
struct Work {
  int64_t matmulTiles = 0; // 32x32x32 tile products
  int64_t sfpuTiles = 0;   // tiles through the vector unit
  int64_t sfpuCycles = 0;  // of all of them, where it is known
  int64_t fpuTiles = 0;    // tiles through the matrix unit elementwise
  int64_t tilizeTiles = 0; // tiles tilized from rows, or untilized to rows
  int64_t pieces = 0;      // of L1, that data movement processors copy one by one
  int64_t pieceBytes = 0;  // of all of them
  int64_t copiers = 1;     // data movement processors of a core that do
  int64_t dramBytes = 0;   // read and written
  int64_t dramPages = 0;   // of interleaved tensors
  int64_t castBytes = 0;   // of DRAM, that few cores read for all
  int64_t casters = 1;     // such cores
  int64_t l1Bytes = 0;     // read and written
  int64_t fabricBytes = 0; // sent to other chips, times hops
  int64_t fabricSteps = 0; // of rings, one after the other
  int64_t fabricHops = 0;  // of the longest way that is no ring's
  int phases = 4;          // of the matrix unit: LoFi 1 to HiFi4 4
  int64_t cores = 0;       // among which it is divided evenly; 0: all of the chip
  /// Units of work that cannot be shared by cores, dimension by dimension: the first dimension gets cores first, the
  /// next one the remaining cores.
  std::array<int64_t, 3> units = {1, 1, 1};
  bool isDividedByUnits = false;
  int64_t blocks = 0;   // of operands, that cores of a product pass on one after the other
  int64_t rowTiles = 0; // of a change between rows and tiles that lie in pages
  int64_t programs = 1; // of kernels, one after the other
  Kind kind = Kind::Other;
  bool launched = true; // false: another name for what lies there already
  /// Fetching from DRAM and computing alternate.
  bool fetchesByTurns = false;
};

/// The resource that bounds an op's time.
enum class Bound : uint8_t { None, Compute, DRAM, L1, Fabric, Dispatch };

inline constexpr std::string_view boundName(Bound bound) {
  constexpr std::string_view names[] = {"", "compute", "DRAM", "L1", "fabric", "dispatch"};
  return names[static_cast<size_t>(bound)];
}

struct Times {
  double computeNs = 0, l1Ns = 0, dramNs = 0, fabricNs = 0, launchNs = 0;
  bool byTurns = false;

  /// Computing and moving data overlap, except where they alternate; the launch overlaps with nothing.
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

/// The number of cores that have as much work as the one with most units.
inline double busyOf(const Work &work, double cores) {
  int64_t left = std::max<int64_t>(1, static_cast<int64_t>(cores));
  double all = 1, most = 1;
  for (int64_t units : work.units) {
    const int64_t count = std::max<int64_t>(1, units), given = std::min(count, left);
    left /= given;
    all *= static_cast<double>(count);
    most *= static_cast<double>((count + given - 1) / given);
  }
  return std::min(cores, all / most);
}

/// Returns the number of cores, of `cores` available ones, that evenly divided work would keep busy for the same time.
inline double coresOf(const Work &work, double cores) {
  if (work.cores)
    return std::min(cores, static_cast<double>(work.cores));
  return work.isDividedByUnits ? busyOf(work, cores) : cores;
}

inline Times timesOf(const Speed &speed, double cores, const Work &work) {
  if (!work.launched)
    return {};
  cores = coresOf(work, cores);
  const auto number = [](int64_t count) { return static_cast<double>(count); };
  const double matrixCycles = number(work.matmulTiles) * speed.matmulTileCycles / speed.matmulShare * work.phases +
                              number(work.fpuTiles) * speed.fpuTileCycles +
                              number(work.tilizeTiles) * speed.tilizeTileCycles;
  const double vectorCycles = work.sfpuCycles ? number(work.sfpuCycles) : number(work.sfpuTiles) * speed.sfpuTileCycles;
  const double pageCycles = (number(work.dramPages) * speed.dramPageCycles +
                             (work.dramPages ? number(work.dramBytes) / speed.dramPageBytesPerCycle : 0)) /
                            speed.dramChannels;
  const double pieceCycles =
      std::max(number(work.pieces) * speed.pieceCycles, number(work.pieceBytes) / speed.pieceBytesPerCycle) /
      (cores * number(std::max<int64_t>(1, work.copiers)));
  const double castCycles =
      number(work.castBytes) / (number(std::max<int64_t>(1, work.casters)) * speed.castBytesPerCycle);
  const double rowsNs = number(work.rowTiles) * speed.rowTileNs / cores;
  Times times;
  // The matrix unit and the vector unit of a core work on the same tile one after the other; data movement has its own
  // processors.
  times.computeNs = (matrixCycles + vectorCycles) / cores / speed.clockGHz;
  times.l1Ns = std::max(number(work.l1Bytes) / (cores * speed.l1BytesPerCycle), pieceCycles) / speed.clockGHz;
  times.dramNs = std::max({number(work.dramBytes) / speed.dramBytesPerSecond * 1e9, pageCycles / speed.clockGHz,
                           castCycles / speed.clockGHz}) +
                 number(work.blocks) * speed.blockNs;
  (work.dramBytes ? times.dramNs : times.l1Ns) += rowsNs;
  times.fabricNs =
      number(work.fabricBytes) / (work.fabricSteps ? speed.ringBytesPerSecond : speed.linkBytesPerSecond) * 1e9 +
      number(work.fabricSteps) * speed.ringStepNs + number(work.fabricHops) * speed.hopNs;
  times.launchNs = number(work.programs) * speed.launchNs;
  times.byTurns = work.fetchesByTurns;
  return times;
}

} // namespace ttmlir::cost

#endif // TTMLIR_COSTS_COSTMODEL_H
