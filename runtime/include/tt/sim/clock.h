//===- clock.h - how long an op takes on the chip ----------------*- C++ -*-===//
//
// An estimate, not a measurement: the work an op reports (tt::ttnn::Cost) over
// the throughput of the chip. docs/runtime.md has the model and its constants.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/sim/chip.h"
#include "tt/ttnn/kernel.h"

namespace tt::sim {

struct Duration {
  int64_t cycles = 0;
  double ns = 0;
};

/// Passes of the matrix unit over a product of this type: 1 (bfp4, bfp2, 8-bit), 2 (bfp8) or 4 (16 and 32 bit).
int fidelityPhases(DataType type);

/// Time of one op on one chip: the larger of computing and moving data, which overlap, and the launch.
Duration estimate(const ChipDesc &chip, const ttnn::Cost &cost, DataType mathType);

/// The cost of an op that reports none: every operand read, every result written, each tile of the result once through
/// the matrix unit.
ttnn::Cost defaultCost(const ChipDesc &chip, const ttnn::OpCall &call);

} // namespace tt::sim
