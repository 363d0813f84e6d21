//===- DataMovementOps.h - TTIR's ops that only move values -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_TTIR_IR_DATAMOVEMENTOPS_H
#define TTMLIR_DIALECT_TTIR_IR_DATAMOVEMENTOPS_H

#include "ttmlir/Dialect/Families/DataMovement.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/PermuteOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReshapeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SqueezeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/TransposeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/UnsqueezeOp.h"
#include "ttmlir/Dialect/TTIR/IR/TTIR.h"

namespace mlir::tt::ttir {

struct DataMovementOps {
  using PermuteOp = ttir::PermuteOp;
  using TransposeOp = ttir::TransposeOp;
  using ReshapeOp = ttir::ReshapeOp;
  static bool changesShape(Operation *op) { return isa<SqueezeOp, UnsqueezeOp>(op); }
  static bool isPlain(PermuteOp) { return true; }
  static bool agree(RankedTensorType from, RankedTensorType to) { return from.getEncoding() == to.getEncoding(); }
};

inline std::optional<Movement> movementOf(Operation *op) { return tt::movementOf<DataMovementOps>(op); }
/// The moved value; the value itself if it is unchanged.
inline Value move(OpBuilder &builder, Location loc, const Movement &movement, Value value) {
  if (movement.isIdentity())
    return value;
  Type type = cast<RankedTensorType>(value.getType()).clone(movement.to);
  return createMovement<DataMovementOps>(builder, loc, movement, value, type)->getResult(0);
}

} // namespace mlir::tt::ttir

#endif // TTMLIR_DIALECT_TTIR_IR_DATAMOVEMENTOPS_H
