//===- report.h - work of programs of kernels --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "metal/core.h"
#include "tt/runtime/run.h"

namespace tt::metal {

/// The work of a program, with its time from the launch on.
KernelReport reportOf(const sim::ChipDesc &chip, ProgramWork work);
/// The same as the time and the work of an op, with the activity of its cores when recording is on.
void takeReport(KernelReport report, const sim::ChipDesc &chip, runtime::OpPerf &perf);

} // namespace tt::metal
