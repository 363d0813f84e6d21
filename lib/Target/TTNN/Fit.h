//===- Fit.h - numbers as expressions of sizes ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_TARGET_TTNN_FIT_H
#define TTMLIR_LIB_TARGET_TTNN_FIT_H

#include "ttmlir/shapes/Expression.h"

#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace mlir::tt::ttnn {

/// The values of a number at the sample points.
using Series = llvm::SmallVector<int64_t, 6>;

/// The period with which quotients of a number repeat: points with all remainders of the sizes modulo `modulus`
/// distinguish the number from its other possible quotients. 1: no quotient. Products of strided sizes, for example,
/// have an unknown period.
struct Period {
  int64_t modulus = 1;
  bool isKnown = true;
  int64_t rise = 1; // divides by how much the number rises where sizes rise by `modulus`

  bool isPlain() const { return modulus == 1 && isKnown; }
  /// Returns the period of a number that depends on two others.
  Period with(const Period &other) const;
  /// Returns the period of a quotient by `divisor`.
  Period over(int64_t divisor) const;
  Period times(int64_t factor) const;
};

/// An operand of expressions: an open size, or a dimension of an operand of the op.
struct Leaf {
  ::tt::shapes::Code code;
  Series series;
  Period period;
};

/// An expression, and its period.
struct Fitted {
  ::tt::shapes::Code code;
  Period period;
  bool isOnly = false; // no quotient has these values, too
};

/// Finds the simplest expression of `leaves` that has the values of `series` at all sample points. Tries, in order:
/// factor * leaf + constant; factor * product of two or three leaves; factor * such a product + constant; leaf + factor
/// * leaf + constant; factor * product of up to eight leaves; factor * leaf divided by a constant, shifted; the padding
/// of a leaf to a multiple, and the remainder. If quotients by several divisors, or of several leaves, have these
/// values, the period is that of all.
std::optional<Fitted> fit(llvm::ArrayRef<int64_t> series, llvm::ArrayRef<Leaf> leaves);

} // namespace mlir::tt::ttnn

#endif // TTMLIR_LIB_TARGET_TTNN_FIT_H
