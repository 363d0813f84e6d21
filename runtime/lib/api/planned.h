//===- planned.h - plans as JSON --------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "binary/json.h"
#include "core/plan.h"

namespace tt::runtime {

/// Writes the programs of a call as a list.
void writePlan(Json &json, std::span<const ttmlir::plan::Step> plan);

} // namespace tt::runtime
