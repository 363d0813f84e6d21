//===- Complement.h - complements of booleans -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_CONVERSION_COMPLEMENT_H
#define TTMLIR_LIB_CONVERSION_COMPLEMENT_H

#include "ttmlir/Dialect/TTIR/IR/Ops/BitwiseNotOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/LogicalNotOp.h"

#include "mlir/IR/PatternMatch.h"

namespace mlir::tt {

/// The complement of a boolean, which devices hold in a byte, is its negation.
struct NegateBoolean : OpRewritePattern<ttir::BitwiseNotOp> {
  explicit NegateBoolean(MLIRContext *context) : OpRewritePattern(context, /*benefit=*/2) {}
  LogicalResult matchAndRewrite(ttir::BitwiseNotOp op, PatternRewriter &rewriter) const override {
    if (!op.getType().getElementType().isInteger(1))
      return failure();
    rewriter.replaceOpWithNewOp<ttir::LogicalNotOp>(op, op.getType(), op.getInput());
    return success();
  }
};

} // namespace mlir::tt

#endif // TTMLIR_LIB_CONVERSION_COMPLEMENT_H
