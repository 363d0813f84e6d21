//===- Fusing.h - fusion of TTNN ops ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_DIALECT_TTNN_TRANSFORMS_FUSING_H
#define TTMLIR_LIB_DIALECT_TTNN_TRANSFORMS_FUSING_H

#include "ttmlir/Dialect/TTCore/Transforms/Fusion.h"
#include "ttmlir/Dialect/TTNN/IR/TTNN.h"

namespace mlir::tt::ttnn {

/// Whether a product or convolution can compute an activation in addition to what it already computes.
bool takesActivation(Operation *op);

/// An op of the source that was lowered to `op`, at `loc`, no longer has a value: no op that prepared the operands may
/// be taken for it.
void forgetSource(RewriterBase &rewriter, Operation *op, Location loc);
/// Changes the location of an op, and notifies listeners.
void setLocation(RewriterBase &rewriter, Operation *op, Location loc);

void populateActivationFusions(RewritePatternSet &patterns, ttcore::FusionState &state);
void populateGeluFusions(RewritePatternSet &patterns, ttcore::FusionState &state);
void populateRopeFusions(RewritePatternSet &patterns, ttcore::FusionState &state);

} // namespace mlir::tt::ttnn

#endif // TTMLIR_LIB_DIALECT_TTNN_TRANSFORMS_FUSING_H
