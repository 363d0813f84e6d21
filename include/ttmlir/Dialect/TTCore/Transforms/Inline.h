//===- Inline.h - a function's body in the place of a call -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_TTCORE_TRANSFORMS_INLINE_H
#define TTMLIR_DIALECT_TTCORE_TRANSFORMS_INLINE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::tt::ttcore {

/// A chain of calls longer than this is taken for a mistake: every call adds its location to those of inlined ops.
inline constexpr unsigned maxCallDepth = 1000;

/// Puts a copy of the body of `callee`, which has one block, in the place of `call`, and erases the call. The copies,
/// which are returned, have the call's location around theirs.
SmallVector<Operation *> inlineCall(func::CallOp call, func::FuncOp callee);

} // namespace mlir::tt::ttcore

#endif // TTMLIR_DIALECT_TTCORE_TRANSFORMS_INLINE_H
