//===- QuantizedMovement.h - ops that quantised numbers pass ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_DIALECT_TTIR_TRANSFORMS_QUANTIZEDMOVEMENT_H
#define TTMLIR_LIB_DIALECT_TTIR_TRANSFORMS_QUANTIZEDMOVEMENT_H

#include "ttmlir/Dialect/TTIR/IR/Ops/BroadcastOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConcatOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/PermuteOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/RepeatOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReshapeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SliceStaticOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SqueezeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/TransposeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/UnsqueezeOp.h"

namespace mlir::tt::ttir {

/// Ops whose result holds elements of their operands, and nothing else.
inline bool holdsOnlyOperands(Operation *op) {
  return isa<BroadcastOp, ConcatOp, PermuteOp, RepeatOp, ReshapeOp, SliceStaticOp, SqueezeOp, TransposeOp, UnsqueezeOp>(
      op);
}

} // namespace mlir::tt::ttir

#endif // TTMLIR_LIB_DIALECT_TTIR_TRANSFORMS_QUANTIZEDMOVEMENT_H
