//===- Inline.h - a function's body in the place of a call -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_TTCORE_TRANSFORMS_INLINE_H
#define TTMLIR_DIALECT_TTCORE_TRANSFORMS_INLINE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::tt::ttcore {

/// A longer chain of calls is treated as a mistake: every call adds its location to those of inlined ops.
inline constexpr unsigned maxCallDepth = 1000;

/// Replaces `call` by a copy of the body of `callee`, which has one block, and erases the call. The returned copies
/// have the call's location around their own.
SmallVector<Operation *> inlineCall(func::CallOp call, func::FuncOp callee);

} // namespace mlir::tt::ttcore

#endif // TTMLIR_DIALECT_TTCORE_TRANSFORMS_INLINE_H
