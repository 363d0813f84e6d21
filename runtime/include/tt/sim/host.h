//===- host.h - host memory that holds the values ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The values of tensors lie in host memory, aligned for the vector units, and
// recycled (see tt/recycle.h).
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <memory>

namespace tt::sim {

inline constexpr size_t hostAlignment = 64;

/// Allocates at least `bytes` bytes, aligned to 64, uninitialized. Freed with the last owner. Throws OutOfMemoryError
/// when the limit or the machine's memory does not allow it; the message names `purpose`.
std::shared_ptr<std::byte> allocateHost(size_t bytes, const char *purpose);
/// Likewise for the preparation of a program: the memory is not recycled, but returned to the system.
std::shared_ptr<std::byte> allocateHostOnce(size_t bytes, const char *purpose);

/// The most that one buffer may take: physical memory, unless a lower limit was set (0 removes it).
size_t hostMemoryLimit();
void setHostMemoryLimit(size_t bytes);

/// Gives the buffers kept for reuse back to the operating system.
void trimHostMemory();

} // namespace tt::sim
