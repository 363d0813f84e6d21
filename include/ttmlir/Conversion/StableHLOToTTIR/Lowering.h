//===- Lowering.h - what becomes of ops of StableHLO ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_CONVERSION_STABLEHLOTOTTIR_LOWERING_H
#define TTMLIR_CONVERSION_STABLEHLOTOTTIR_LOWERING_H

#include "mlir/Support/LLVM.h"

#include <string>

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace mlir::tt {

/// Returns the name of the op that replaces the StableHLO op of this name, "rule" if that depends on the op, and "" for
/// an op that is not lowered. The dialects must be loaded.
std::string stableHLOLowering(StringRef op, MLIRContext *context);

} // namespace mlir::tt

#endif // TTMLIR_CONVERSION_STABLEHLOTOTTIR_LOWERING_H
