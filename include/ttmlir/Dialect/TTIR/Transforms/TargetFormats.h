//===- TargetFormats.h - float formats to compute in ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_DIALECT_TTIR_TRANSFORMS_TARGETFORMATS_H
#define TTMLIR_DIALECT_TTIR_TRANSFORMS_TARGETFORMATS_H

#include "llvm/ADT/StringRef.h"

namespace mlir::tt::ttir {

/// The values of target-format: the float formats of ttcore.DataType.
inline constexpr llvm::StringLiteral targetFormats[] = {"f32",     "f16",    "bf16",   "bfp_bf8", "bfp_bf4",
                                                        "bfp_bf2", "bfp_f8", "bfp_f4", "bfp_f2"};

} // namespace mlir::tt::ttir

#endif // TTMLIR_DIALECT_TTIR_TRANSFORMS_TARGETFORMATS_H
