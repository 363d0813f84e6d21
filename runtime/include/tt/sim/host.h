//===- host.h - host memory that holds the values ----------------*- C++ -*-===//
//
// The values of tensors lie in host memory, aligned for the vector units. Large
// buffers that come and go with every run are kept and given out again, because
// fresh pages from the operating system cost more than most ops.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <memory>

namespace tt::sim {

inline constexpr size_t hostAlignment = 64;

/// At least `bytes` bytes, aligned to 64, not initialised. Freed with the last owner. Throws OutOfMemoryError when the
/// limit or the machine's memory does not allow it; the message names `purpose`.
std::shared_ptr<std::byte> allocateHost(size_t bytes, const char *purpose);

/// The most that one buffer may take: physical memory, unless a lower limit was set (0 removes it).
size_t hostMemoryLimit();
void setHostMemoryLimit(size_t bytes);

/// Gives the buffers kept for reuse back to the operating system.
void trimHostMemory();

} // namespace tt::sim
