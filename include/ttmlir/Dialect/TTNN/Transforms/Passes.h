//===- Passes.h - passes on TTNN --------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_TTNN_TRANSFORMS_PASSES_H
#define TTMLIR_DIALECT_TTNN_TRANSFORMS_PASSES_H

#include "ttmlir/Dialect/TTNN/IR/TTNN.h"
#include "ttmlir/Dialect/TTNN/Transforms/Options.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::tt::ttnn {

/// The replacement of a composite: an op or its decomposition.
enum class CompositeResolution { Auto, Inline, Validate, ForcePromote };

#define GEN_PASS_DECL
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "ttmlir/Dialect/TTNN/Transforms/Passes.h.inc"

} // namespace mlir::tt::ttnn

#endif // TTMLIR_DIALECT_TTNN_TRANSFORMS_PASSES_H
