//===- Fusing.h - fusion of TTIR ops ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_DIALECT_TTIR_TRANSFORMS_FUSING_H
#define TTMLIR_LIB_DIALECT_TTIR_TRANSFORMS_FUSING_H

#include "ttmlir/Dialect/TTCore/Transforms/Fusion.h"
#include "ttmlir/Dialect/TTIR/IR/TTIR.h"
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h"

namespace mlir::tt::ttir {

struct FusionState : ttcore::FusionState {
  FusionState(Operation *op, const TTIRFusingOptions &options) : ttcore::FusionState(op), options(options) {}
  TTIRFusingOptions options;
};

/// A fusion of the group that ends with an `Op`.
template <class Op> struct Fusion : OpRewritePattern<Op> {
  Fusion(MLIRContext *context, FusionState &state) : OpRewritePattern<Op>(context), state(state) {}
  FusionState &state;
};

void populateActivationFusions(RewritePatternSet &patterns, FusionState &state);
void populateMatmulFusions(RewritePatternSet &patterns, FusionState &state);
void populateConvolutionFusions(RewritePatternSet &patterns, FusionState &state);

inline RankedTensorType tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }
/// Shape, element type and encoding are those of the other.
inline bool haveSameType(Value lhs, Value rhs) { return lhs.getType() == rhs.getType(); }

/// The value in another shape, on the way to the op that replaces `root`.
Value reshape(OpBuilder &builder, Operation *root, Value value, ArrayRef<int64_t> shape);

} // namespace mlir::tt::ttir

#endif // TTMLIR_LIB_DIALECT_TTIR_TRANSFORMS_FUSING_H
