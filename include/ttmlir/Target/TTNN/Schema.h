//===- Schema.h - versions of the flatbuffer schemas ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The constants that the writer (lib/Target) and the reader (runtime) must
// agree on.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>

namespace tt::target {
/// Raised with every change of binary.fbs; a reader takes no other version.
inline constexpr uint32_t schemaVersion = 1;
/// The same of TTMetal/metal.fbs.
inline constexpr uint32_t metalSchemaVersion = 1;
} // namespace tt::target
