//===- clock.cpp - the cost model -----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "tt/sim/clock.h"

#include <algorithm>
#include <cmath>

namespace tt::sim {

int fidelityPhases(DataType type) {
  switch (type) {
  case DataType::BFP_Float4:
  case DataType::BFP_BFloat4:
  case DataType::BFP_Float2:
  case DataType::BFP_BFloat2:
  case DataType::UInt8:
  case DataType::Bool:
    return 1;
  case DataType::BFP_Float8:
  case DataType::BFP_BFloat8:
    return 2;
  default:
    return 4;
  }
}

Duration estimate(const ChipDesc &chip, const Cost &cost, DataType mathType) {
  const ChipSpeed &speed = chip.speed;
  const auto cores = static_cast<double>(chip.cores());
  const double matrixCycles =
      (static_cast<double>(cost.matmulTiles) * speed.matmulTileCycles * fidelityPhases(mathType) +
       static_cast<double>(cost.fpuTiles) * speed.fpuTileCycles) /
      cores;
  const double vectorCycles = static_cast<double>(cost.sfpuTiles) * speed.sfpuTileCycles / cores;
  const double l1Cycles = static_cast<double>(cost.l1Bytes) / (cores * speed.l1BytesPerCycle);
  const double dramNs = static_cast<double>(cost.dramBytes) / speed.dramBytesPerSecond * 1e9;
  const double fabricNs =
      cost.fabricBytes ? static_cast<double>(cost.fabricBytes) / speed.fabricBytesPerSecond * 1e9 + speed.fabricHopNs
                       : 0;
  // Matrix and vector unit of a core work on the same tile one after the other; data movement has its own processors.
  const double computeNs = (matrixCycles + vectorCycles) / speed.clockGHz;
  const double ns = std::max({computeNs, l1Cycles / speed.clockGHz, dramNs, fabricNs}) + speed.launchNs;
  return {static_cast<int64_t>(std::ceil(ns * speed.clockGHz)), ns};
}

} // namespace tt::sim
