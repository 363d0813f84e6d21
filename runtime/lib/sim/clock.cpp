//===- clock.cpp - the cost model -----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "tt/sim/clock.h"

#include "ttmlir/Target/CostModel.h"

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
  const double ns =
      ttmlir::cost::timesOf(chip.speed, static_cast<double>(chip.cores()), cost, fidelityPhases(mathType)).total();
  return {static_cast<int64_t>(std::ceil(ns * chip.speed.clockGHz)), ns};
}

} // namespace tt::sim
