//===- InitAll.h - registration of everything -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_INITALL_H
#define TTMLIR_INITALL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::tt {

/// The dialects of this project, and those of MLIR that its passes read or write.
void registerAllDialects(DialectRegistry &registry);
/// The passes and pipelines of this project, and MLIR's general transforms.
void registerAllPasses();
/// Registers the translations of ttmlir-translate.
void registerAllTranslations();

} // namespace mlir::tt

#endif // TTMLIR_INITALL_H
