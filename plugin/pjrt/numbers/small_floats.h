//===- small_floats.h - floats of 4 and 8 bits on the host ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TT_PJRT_SMALL_FLOATS_H
#define TT_PJRT_SMALL_FLOATS_H

#include "common.h"

#include <cstddef>

namespace tt::pjrt {

/// The bytes of elements of a type of less than 16 bits as f32, which has all its values.
void expandSmallFloats(PJRT_Buffer_Type type, const std::byte *from, std::byte *to, size_t count);
/// The reverse; programs return values that the type has.
void packSmallFloats(PJRT_Buffer_Type type, const std::byte *from, std::byte *to, size_t count);

} // namespace tt::pjrt

#endif // TT_PJRT_SMALL_FLOATS_H
