//===- InitAll.h - registration of everything -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_INITALL_H
#define TTMLIR_INITALL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::tt {

/// Our dialects, and those of MLIR that our passes read or write.
void registerAllDialects(DialectRegistry &registry);
/// Our passes and pipelines, and MLIR's general transforms.
void registerAllPasses();
/// Registers the translations of ttmlir-translate.
void registerAllTranslations();

} // namespace mlir::tt

#endif // TTMLIR_INITALL_H
