//===- Schema.h - versions of the flatbuffer schemas ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The constants that the writer (lib/Target) and the reader (runtime) must share.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <cstdint>

namespace tt::target {
/// Increased with every change of binary.fbs; a reader refuses every other version.
inline constexpr uint32_t schemaVersion = 3;
/// The same of TTMetal/metal.fbs.
inline constexpr uint32_t metalSchemaVersion = 2;

/// The suffix of the list that accompanies a function of native code: the number of its operands and results, and the
/// bytes of each, as uint64_t.
inline constexpr const char *codeSizesSuffix = "_sizes";

/// Hashes native code (FNV-1a). The hash names code and detects damage; it does not prove where code comes from.
inline uint64_t hashOfCode(const void *code, size_t bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (size_t i = 0; i < bytes; ++i)
    hash = (hash ^ static_cast<const unsigned char *>(code)[i]) * 0x100000001b3;
  return hash;
}
} // namespace tt::target
