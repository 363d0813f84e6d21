//===- Fusing.h - fusion of activations into TTNN ops -----------*- C++ -*-===//
#ifndef TTMLIR_LIB_DIALECT_TTNN_TRANSFORMS_FUSING_H
#define TTMLIR_LIB_DIALECT_TTNN_TRANSFORMS_FUSING_H

#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"
#include "ttmlir/Dialect/TTNN/IR/TTNN.h"

namespace mlir::tt::ttnn {

/// Whether a product or convolution can compute an activation besides what it computes already.
bool takesActivation(Operation *op);

/// An op of the source that was lowered to `op`, at `loc`, has no value any more: none of what prepared the operands
/// may pass for it.
void forgetSource(Operation *op, Location loc);

/// If `multiply` ends gelu in its tanh form of a product of matrices, the product computes that.
bool fuseGelu(Operation *multiply, const ttcore::ObservedSources &observed);

} // namespace mlir::tt::ttnn

#endif // TTMLIR_LIB_DIALECT_TTNN_TRANSFORMS_FUSING_H
