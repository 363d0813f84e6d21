//===- Layout.h - whether bytecode can be read safely -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_LIB_DIALECT_VHLO_TRANSFORMS_LAYOUT_H
#define TTMLIR_LIB_DIALECT_VHLO_TRANSFORMS_LAYOUT_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace mlir::vhlo {

/// A number of bytecode, taken from the front; nothing if it is cut off.
std::optional<uint64_t> takeVarInt(llvm::StringRef &bytes);

/// Returns the error in the sections of a file, if any. MLIR's reader trusts the counts of a damaged file, allocates
/// for them, and writes out of bounds.
std::optional<std::string> checkLayout(llvm::StringRef bytes);

} // namespace mlir::vhlo

#endif // TTMLIR_LIB_DIALECT_VHLO_TRANSFORMS_LAYOUT_H
