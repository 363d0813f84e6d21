//===- execute.h - run a metal program ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tt/runtime/run.h"

namespace tt::metal {

/// Runs a program of a TTMetal binary; the caller holds the device's run mutex. Throws Error: for inputs that the
/// program does not take, kernels that do not compile or that fail, and missing space in L1.
runtime::Tensors run(const runtime::Device &device, const runtime::Binary &binary, size_t program,
                     std::span<const runtime::Tensor> inputs, runtime::RunReport &report);

} // namespace tt::metal
