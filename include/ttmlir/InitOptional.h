//===- InitOptional.h - registration of optional parts ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_INITOPTIONAL_H
#define TTMLIR_INITOPTIONAL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::tt {

// The parts that compiling TTIR to TTNN flatbuffers does not need, nearly half of the toolchain. A build without them
// (TTMLIR_BUILD_OPTIONAL=OFF) links TTMLIRWithoutOptional in place of TTMLIROptional; programs that need them get an
// error that says so.

/// The dialects of StableHLO, CHLO, VHLO and Shardy; of D2M, TTKernel and TTMetal; EmitPy; and those of MLIR through
/// which host functions are lowered.
void registerOptionalDialects(DialectRegistry &registry);
/// Their passes, the passes of host functions, and the pipelines that consist of them.
void registerOptionalPasses();
/// Registers the translations of TTMetal programs and of emitted programs.
void registerOptionalTranslations(void (*dialects)(DialectRegistry &));

} // namespace mlir::tt

#endif // TTMLIR_INITOPTIONAL_H
