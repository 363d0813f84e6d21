//===- exact.h - exact arithmetic of kernels --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tt/runtime/binary.h"

#include <set>
#include <string>

namespace tt::metal {

/// Returns the functions of the kernel API that the last run of a TTMetal
/// program of the binary on an exact device called with floats, and whose
/// arithmetic is not published: they compute as by default, and are rounded as
/// the registers and the packer do.
std::set<std::string> roundedOnly(const runtime::Binary &binary);

} // namespace tt::metal
