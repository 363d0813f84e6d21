//===- NativeCode.h - functions of the host as machine code -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_TARGET_TTNN_NATIVECODE_H
#define TTMLIR_TARGET_TTNN_NATIVECODE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::tt::ttnn {

/// The machine code of a `ttcore.cpu_module`.
struct NativeCode {
  std::string triple;
  uint64_t hash = 0;
  SmallVector<char> library; // a shared object
  llvm::StringSet<> functions;
  /// Returns the name of a function in a flatbuffer.
  std::string nameOf(StringRef function) const {
    return ("native:" + llvm::utohexstr(hash, /*LowerCase=*/true) + ":" + function).str();
  }
};

/// The code of the `ttcore.cpu_module` in `module`; nothing if there is none, or if it has no function.
FailureOr<std::optional<NativeCode>> compileHostFunctions(ModuleOp module);

} // namespace mlir::tt::ttnn

#endif // TTMLIR_TARGET_TTNN_NATIVECODE_H
