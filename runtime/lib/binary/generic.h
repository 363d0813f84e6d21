//===- generic.h - the kernels of ttnn.generic --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tt/ttnn/kernel.h"

#include <functional>

namespace tt::runtime {

/// Calls f(kernel, its C++ source) for the kernels of a `ttnn.generic`.
void forEachKernel(const ttnn::Attributes &generic,
                   const std::function<void(const ttnn::StructAttribute &, const std::string &)> &f);
/// The C++ sources of the kernels of a `ttnn.generic`, one behind the other: the code that must be allowed.
std::string kernelCodeOf(const ttnn::Attributes &generic);
/// Allows the kernels to be compiled and run in this process.
void allowKernels(const ttnn::Attributes &generic);
bool areAllowed(const ttnn::Attributes &generic);
/// Throws OpError if they are not allowed.
void requireAllowed(const ttnn::Attributes &generic);

} // namespace tt::runtime
