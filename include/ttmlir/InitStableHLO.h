//===- InitStableHLO.h - registration of StableHLO --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_INITSTABLEHLO_H
#define TTMLIR_INITSTABLEHLO_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::tt {

// A third of the toolchain. A build without it (TTMLIR_BUILD_STABLEHLO=OFF) links TTMLIRWithoutStableHLO in place of
// TTMLIRStableHLO: programs that need it get an error that says so.

/// StableHLO, CHLO and VHLO.
void registerStableHLODialects(DialectRegistry &registry);
/// Their passes, Shardy's, and the pipelines made of them.
void registerStableHLOPasses();

} // namespace mlir::tt

#endif // TTMLIR_INITSTABLEHLO_H
