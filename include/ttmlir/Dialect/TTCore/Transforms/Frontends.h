//===- Frontends.h - dialects that programs come in -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_TTCORE_TRANSFORMS_FRONTENDS_H
#define TTMLIR_DIALECT_TTCORE_TRANSFORMS_FRONTENDS_H

#include "llvm/ADT/StringRef.h"

namespace mlir::tt::ttcore {

/// A dialect whose ops become TTIR, and the pass or pipeline that lowers them.
struct Frontend {
  llvm::StringRef dialect, name, pass;
};

/// The row of a dialect, or none.
inline const Frontend *frontendOf(llvm::StringRef dialect) {
  static constexpr Frontend frontends[] = {
      {"stablehlo", "StableHLO", "stablehlo-to-ttir-pipeline"},
      {"chlo", "CHLO", "stablehlo-to-ttir-pipeline"},
      {"sdy", "StableHLO", "stablehlo-to-ttir-pipeline"},
      {"vhlo", "VHLO", "stablehlo-to-ttir-pipeline"},
      {"tosa", "TOSA", "convert-tosa-to-ttir"},
  };
  for (const Frontend &frontend : frontends)
    if (frontend.dialect == dialect)
      return &frontend;
  return nullptr;
}

} // namespace mlir::tt::ttcore

#endif // TTMLIR_DIALECT_TTCORE_TRANSFORMS_FRONTENDS_H
