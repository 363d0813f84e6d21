//===- Passes.h - the lowering of TTIR to TTNN ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_CONVERSION_TTIRTOTTNN_PASSES_H
#define TTMLIR_CONVERSION_TTIRTOTTNN_PASSES_H

#include "ttmlir/Dialect/TTNN/IR/TTNN.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::tt {

#define GEN_PASS_DECL
#include "ttmlir/Conversion/TTIRToTTNN/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "ttmlir/Conversion/TTIRToTTNN/Passes.h.inc"

namespace ttnn {
/// Returns the name of the op that replaces the TTIR op of this name ("ttir.div"), "rule" if that depends on the op,
/// and "" for an op that is not lowered. The dialects must be loaded.
std::string ttirLowering(StringRef op, MLIRContext *context);
} // namespace ttnn

} // namespace mlir::tt

#endif // TTMLIR_CONVERSION_TTIRTOTTNN_PASSES_H
