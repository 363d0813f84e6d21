//===- profiler.h - runs of programs for JAX's profiler ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "client.h"
#include "tt/runtime/run.h"

namespace tt::pjrt {

/// Nanoseconds since 1970.
int64_t wallClock();
/// Whether a profile is being taken.
bool profiling();
/// Adds a run that began at `start` and has ended.
void recordRun(const PJRT_Device &device, const std::string &program, int64_t start,
               std::shared_ptr<const runtime::RunReport> report);
/// Returns the extension that JAX finds in the table of functions.
PJRT_Extension_Base *profilerExtension();

} // namespace tt::pjrt
