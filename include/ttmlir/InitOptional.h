//===- InitOptional.h - registration of optional parts ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_INITOPTIONAL_H
#define TTMLIR_INITOPTIONAL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::tt {

// What compiling TTIR to TTNN flatbuffers does without, nearly half of the toolchain. A build without these parts
// (TTMLIR_BUILD_OPTIONAL=OFF) links TTMLIRWithoutOptional in place of TTMLIROptional: programs that need them get an
// error that says so.

/// StableHLO, CHLO, VHLO and Shardy's; D2M, TTKernel and TTMetal; EmitPy; those of MLIR that functions of the host go
/// through.
void registerOptionalDialects(DialectRegistry &registry);
/// Their passes, those of functions of the host, and the pipelines that consist of them.
void registerOptionalPasses();
/// Registers the translations of TTMetal programs and of emitted programs.
void registerOptionalTranslations(void (*dialects)(DialectRegistry &));

} // namespace mlir::tt

#endif // TTMLIR_INITOPTIONAL_H
