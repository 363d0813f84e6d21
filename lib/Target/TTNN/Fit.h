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

/// An operand of expressions: an open size, or a dimension of an operand of the op.
struct Leaf {
  ::tt::shapes::Code code;
  Series series;
};

/// Finds the simplest expression of `leaves` that has the values of `series` at all sample points. Tries, in order:
/// factor * leaf + constant; factor * product of two or three leaves; factor * such a product + constant; leaf +
/// factor * leaf + constant; factor * leaf divided by a constant, shifted; the padding of a leaf to a multiple, and the
/// remainder.
std::optional<::tt::shapes::Code> fit(llvm::ArrayRef<int64_t> series, llvm::ArrayRef<Leaf> leaves);

/// Returns the largest divisor, up to `most`, by which a leaf has a quotient of these values, if there is one. `fit`
/// takes a quotient only if no other divisor is possible and the points have all remainders modulo it.
std::optional<int64_t> possibleDivisor(llvm::ArrayRef<int64_t> series, llvm::ArrayRef<Leaf> leaves, int64_t most);

} // namespace mlir::tt::ttnn

#endif // TTMLIR_LIB_TARGET_TTNN_FIT_H
