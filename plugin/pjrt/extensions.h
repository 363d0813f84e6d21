//===- extensions.h - what the plugin offers beyond the C header --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// JAX asks an executable for its layouts and shardings. Without these functions, jaxlib derives them from the optimized
// program, which it converts to HLO each time: a third of the time that a small program takes to compile.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "common.h"

#include <vector>

namespace tt::pjrt {

/// The functions of the header, and those that later versions added after them.
struct Api : PJRT_Api {
  void *deviceGetAttributes; // 0.92
};
void addLaterFunctions(Api &api);

/// Returns the layout that jaxlib gets for an array of `rank` dimensions; it is never freed.
const void *layoutOf(const std::vector<int64_t> &order, size_t rank);

/// Layouts of arrays, and the shardings of programs, before `next`.
PJRT_Extension_Base *arrayExtensions(PJRT_Extension_Base *next);

} // namespace tt::pjrt
