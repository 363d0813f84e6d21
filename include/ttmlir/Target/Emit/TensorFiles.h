//===- TensorFiles.h - tensor files of emitted programs ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_TARGET_EMIT_TENSORFILES_H
#define TTMLIR_TARGET_EMIT_TENSORFILES_H

#include "mlir/IR/Operation.h"

namespace mlir::tt::emit {

/// Writes the constants of an emitted program (see `tensorFilesAttr`) into `folder`, which is created if there are any.
/// A file is there whole or not at all.
LogicalResult writeTensorFiles(Operation *module, llvm::StringRef folder);

/// Adds --tensor-directory to the options of a tool.
void registerTensorDirectoryOption();

/// Likewise into the folder of ttmlir-translate's --tensor-directory. A program with constants and no folder for them
/// is reported.
LogicalResult writeTensorFilesOfOption(Operation *module);

} // namespace mlir::tt::emit

#endif // TTMLIR_TARGET_EMIT_TENSORFILES_H
