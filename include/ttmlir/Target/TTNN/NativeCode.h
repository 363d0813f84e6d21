//===- NativeCode.h - functions of the host as machine code -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_TARGET_TTNN_NATIVECODE_H
#define TTMLIR_TARGET_TTNN_NATIVECODE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::tt::ttnn {

/// What a `ttcore.cpu_module` is compiled to.
struct NativeCode {
  std::string triple;
  uint64_t hash = 0;
  SmallVector<char> library; // a shared object
  llvm::StringSet<> functions;
  /// How a flatbuffer names one of them.
  std::string nameOf(StringRef function) const {
    return ("native:" + llvm::utohexstr(hash, /*LowerCase=*/true) + ":" + function).str();
  }
};

/// The code of the `ttcore.cpu_module` in `module`; nothing where there is none, or no function in it.
FailureOr<std::optional<NativeCode>> compileHostFunctions(ModuleOp module);

} // namespace mlir::tt::ttnn

#endif // TTMLIR_TARGET_TTNN_NATIVECODE_H
