//===- InitStableHLO.h - registration of StableHLO --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_INITSTABLEHLO_H
#define TTMLIR_INITSTABLEHLO_H

#include "mlir/Support/LLVM.h"

#include <string>

namespace mlir {
class DialectRegistry;
class MLIRContext;
} // namespace mlir

namespace mlir::tt {

// A third of the toolchain. A build without it (TTMLIR_BUILD_STABLEHLO=OFF) links TTMLIRWithoutStableHLO in place of
// TTMLIRStableHLO: programs that need it get an error that says so.

/// StableHLO, CHLO and VHLO.
void registerStableHLODialects(DialectRegistry &registry);
/// Their passes, Shardy's, and the pipelines made of them.
void registerStableHLOPasses();

/// The op that takes the place of the StableHLO op of this name, "rule" where that depends on the op, and "" for an op
/// that is not lowered. The dialects must be loaded.
std::string stableHLOLowering(StringRef op, MLIRContext *context);

} // namespace mlir::tt

#endif // TTMLIR_INITSTABLEHLO_H
