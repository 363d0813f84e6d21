//===- selector.h - what loops and branches go by ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tt/types.h"

#include <span>
#include <vector>

namespace tt::ttnn {

/// The single number that each chip has of a tensor; one if all have the same. `what` names it in errors. Throws
/// OpError.
std::vector<double> selectorsOf(const TensorSpec &spec, std::span<const std::byte *const> shards, const char *what);

/// The single number of a tensor, the same on all chips: they run one program. `what` names it in errors. Throws
/// OpError.
double selectorOf(const TensorSpec &spec, std::span<const std::byte *const> shards, const char *what);

} // namespace tt::ttnn
