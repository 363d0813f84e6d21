//===- host_call.h - functions of the host that programs call ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// `debug.host_call` names a function. Whoever runs programs that have such
// calls says what is behind the names, once for the process.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/types.h"

#include <cstddef>
#include <functional>
#include <span>
#include <string>

namespace tt::ttnn {

/// An operand or result of a call, row-major.
struct HostArray {
  const TensorSpec *spec;
  std::byte *data; // of an operand only to be read
};

/// Computes the results of one call. Throws Error; it runs in the thread that runs the program, which waits for it.
using HostCaller =
    std::function<void(const std::string &function, std::span<const HostArray> ins, std::span<const HostArray> outs)>;

/// Takes the place of the one before. Safe while programs run: calls that have begun end with the old one.
void setHostCaller(HostCaller caller);

} // namespace tt::ttnn
