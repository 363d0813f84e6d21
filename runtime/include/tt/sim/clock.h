//===- clock.h - the cost model ---------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// An estimate, not a measurement: the work an op reports over the throughput of
// the chip. docs/cost-model.md has the model and its constants.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/sim/chip.h"

namespace tt::sim {

/// The cost of an op on the chip: the input of the cost model.
using Cost = ttmlir::cost::Work;
using ttmlir::cost::Bound;

struct Duration {
  int64_t cycles = 0;
  double ns = 0;
  Bound bound = Bound::None;
  double uncertaintyNs = 0; // one standard deviation
};

/// "compute", "DRAM", "L1", "fabric", "dispatch", or nothing for what takes no time.
std::string_view nameOf(Bound bound);

/// Time of one op on one chip.
Duration estimate(const ChipDesc &chip, const Cost &cost);

} // namespace tt::sim
