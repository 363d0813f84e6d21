//===- Fit.h - numbers as expressions of sizes ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_TARGET_TTNN_FIT_H
#define TTMLIR_LIB_TARGET_TTNN_FIT_H

#include "ttmlir/shapes/Expression.h"

#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace mlir::tt::ttnn {

/// A number at each point.
using Series = llvm::SmallVector<int64_t, 6>;

/// What numbers are made of: open sizes, and dimensions of operands.
struct Leaf {
  ::tt::shapes::Code code;
  Series series;
};

/// The plainest expression of leaves that has these values at all points, or nothing: a leaf, a multiple of one plus a
/// constant, a multiple of a product of two or three, a sum of two, a quotient, what pads a size to a multiple.
std::optional<::tt::shapes::Code> fit(llvm::ArrayRef<int64_t> series, llvm::ArrayRef<Leaf> leaves);

} // namespace mlir::tt::ttnn

#endif // TTMLIR_LIB_TARGET_TTNN_FIT_H
