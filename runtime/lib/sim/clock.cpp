//===- clock.cpp - the cost model -----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "tt/sim/clock.h"

#include <cmath>

namespace tt::sim {

std::string_view nameOf(Bound bound) { return ttmlir::cost::boundName(bound); }

Duration estimate(const ChipDesc &chip, const Cost &cost) {
  const ttmlir::cost::Times times = ttmlir::cost::timesOf(chip.speed, static_cast<double>(chip.cores()), cost);
  const double ns = times.total();
  return {static_cast<int64_t>(std::ceil(ns * chip.speed.clockGHz)), ns, times.bound(),
          ns * ttmlir::cost::rowOf(cost.kind).uncertainty};
}

} // namespace tt::sim
