//===- Formats.h - floats of 4, 6 and 8 bits in f32 -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_CONVERSION_STABLEHLOTOTTIR_SMALLFLOATS_FORMATS_H
#define TTMLIR_LIB_CONVERSION_STABLEHLOTOTTIR_SMALLFLOATS_FORMATS_H

#include "../Expand/Expressions.h"

namespace mlir::tt::hlo {

/// A float type of less than 16 bits; null for other types, and for tensors of them.
FloatType smallFloatOf(Type type);

/// The nearest value of `format`, ties to even, for each element of an f32 tensor; the result is f32.
Expr roundTo(FloatType format, Expr x);
/// The bits of values that `format` has, f32 -> ui8, and back.
Expr encode(FloatType format, Expr x);
Expr decode(FloatType format, Expr codes);

} // namespace mlir::tt::hlo

#endif // TTMLIR_LIB_CONVERSION_STABLEHLOTOTTIR_SMALLFLOATS_FORMATS_H
