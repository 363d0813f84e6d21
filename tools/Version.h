//===- Version.h - what --version says --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_TOOLS_VERSION_H
#define TTMLIR_TOOLS_VERSION_H

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

namespace ttmlir::tools {

/// `--version` prints the tool's own version, and that of the LLVM libraries.
inline void setVersion(const char *tool) {
  llvm::cl::SetVersionPrinter([tool](llvm::raw_ostream &os) {
    os << tool << ' ' << TTMLIR_VERSION << " (LLVM " << LLVM_VERSION_STRING << ")\n";
  });
}

} // namespace ttmlir::tools

#endif // TTMLIR_TOOLS_VERSION_H
