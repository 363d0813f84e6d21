//===- generic.h - the kernels of ttnn.generic --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tt/ttnn/kernel.h"

namespace tt::runtime {

/// The C++ sources of the kernels of a `ttnn.generic`, one behind the other: the code that must be allowed.
std::string kernelCodeOf(const ttnn::Attributes &generic);
/// Allows the kernels to be compiled and run in this process.
void allowKernels(const ttnn::Attributes &generic);
/// Throws OpError if they are not allowed.
void requireAllowed(const ttnn::Attributes &generic);

} // namespace tt::runtime
