//===- clock.h - the cost model ---------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// An estimate, not a measurement: the work an op reports over the throughput of
// the chip. docs/runtime.md has the model and its constants.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/sim/chip.h"

namespace tt::sim {

/// What an op costs on the chip: the input of the cost model.
struct Cost {
  int64_t matmulTiles = 0; // 32x32x32 tile products
  int64_t sfpuTiles = 0;   // tiles through the vector unit
  int64_t fpuTiles = 0;    // tiles through the matrix unit elementwise
  int64_t dramBytes = 0;   // read and written
  int64_t l1Bytes = 0;     // read and written
  int64_t fabricBytes = 0; // sent to other chips, times hops
};

struct Duration {
  int64_t cycles = 0;
  double ns = 0;
};

/// Passes of the matrix unit over a product of this type: 1 (bfp4, bfp2, 8-bit), 2 (bfp8) or 4 (16 and 32 bit).
int fidelityPhases(DataType type);

/// Time of one op on one chip: the larger of computing and moving data, which overlap, and the launch.
Duration estimate(const ChipDesc &chip, const Cost &cost, DataType mathType);

} // namespace tt::sim
