//===- Words.h - 64-bit integers as two words of 32 bits --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_CONVERSION_STABLEHLOTOTTIR_EXPAND_WORDS_H
#define TTMLIR_LIB_CONVERSION_STABLEHLOTOTTIR_EXPAND_WORDS_H

#include "Expressions.h"

namespace mlir::tt::hlo {

inline Type wordType(ImplicitLocOpBuilder &builder) { return builder.getIntegerType(32, /*isSigned=*/false); }

/// Two words of 32 bits as one number of 64.
struct Wide {
  Expr low, high;
};

inline Wide add(Wide a, Expr low) {
  Expr sum = a.low + low;
  return {sum, a.high + (sum < low).convert(low.element())};
}

/// All 64 bits of a product of two words, by halves: a device has products of 32 bits.
inline Wide product(Expr a, Expr b) {
  Expr a0 = a & 0xffff, a1 = a.shr(16), b0 = b & 0xffff, b1 = b.shr(16);
  Expr low = a0 * b0, left = a1 * b0, right = a0 * b1, high = a1 * b1;
  Expr middle = low.shr(16) + (left & 0xffff) + (right & 0xffff);
  return {(low & 0xffff) | middle.shl(16), high + left.shr(16) + right.shr(16) + middle.shr(16)};
}

/// Adds the expansions that remove masks of bits which a narrower type does not have.
void addMaskExpansions(RewritePatternSet &patterns);

} // namespace mlir::tt::hlo

#endif // TTMLIR_LIB_CONVERSION_STABLEHLOTOTTIR_EXPAND_WORDS_H
