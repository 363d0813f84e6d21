//===- Schema.h - version of the TTNN flatbuffer schema ---------*- C++ -*-===//
//
// The one constant that the writer (lib/Target) and the reader (runtime) must
// agree on.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>

namespace tt::target {
/// Raised with every change of binary.fbs; a reader takes no other version.
inline constexpr uint32_t schemaVersion = 1;
} // namespace tt::target
