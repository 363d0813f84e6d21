//===- ttmlir-opt.cpp - runs passes over modules --------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "../Version.h"

#include "ttmlir/InitAll.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

/// Errors come without the op that they are at, which may be a module with all its weights, unless
/// --mlir-print-op-on-diagnostic asks for it.
static void keepDiagnosticsShort() {
  mlir::registerMLIRContextCLOptions();
  auto &options = llvm::cl::getRegisteredOptions();
  if (auto found = options.find("mlir-print-op-on-diagnostic"); found != options.end())
    static_cast<llvm::cl::opt<bool> *>(found->second)->setInitialValue(false);
}

/// A flatbuffer among the arguments would be printed as the line that cannot be read.
static bool refuseFlatbuffers(llvm::ArrayRef<char *> arguments) {
  bool isOutput = false;
  for (llvm::StringRef path : arguments) {
    bool skipped = isOutput || path.starts_with("-") || !llvm::sys::fs::is_regular_file(path);
    isOutput = path == "-o";
    if (skipped)
      continue;
    auto head = llvm::MemoryBuffer::getFileSlice(path, /*MapSize=*/12, /*Offset=*/0);
    // The identifier stands behind the size of the file and the place of the root.
    if (!head || (*head)->getBuffer().substr(8) != "TTNN")
      continue;
    llvm::errs() << path
                 << ": is a flatbuffer, not a module; `ttrt read --section mlir` prints the one it was made of\n";
    return true;
  }
  return false;
}

int main(int argc, char **argv) {
  ttmlir::tools::setVersion("ttmlir-opt");
  if (refuseFlatbuffers(llvm::ArrayRef(argv + 1, argc > 0 ? argc - 1 : 0)))
    return 1;
  keepDiagnosticsShort();
  mlir::DialectRegistry registry;
  mlir::tt::registerAllDialects(registry);
  mlir::tt::registerAllPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "optimizer and pass driver of the TT dialects\n", registry));
}
