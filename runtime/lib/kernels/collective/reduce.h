//===- reduce.h - values of several devices combined ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/op.h"

namespace tt::ttnn {

/// all_reduce, reduce_scatter.
std::vector<OpInfo> reducingCollectiveOps();

} // namespace tt::ttnn
