//===- TensorFiles.h - tensor files of emitted programs ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_TARGET_EMIT_TENSORFILES_H
#define TTMLIR_TARGET_EMIT_TENSORFILES_H

#include "mlir/IR/Operation.h"

namespace mlir::tt::emit {

/// Writes the constants of an emitted program (see `tensorFilesAttr`) into `folder`, which is created if there are any.
/// Each file is written completely or not at all.
LogicalResult writeTensorFiles(Operation *module, llvm::StringRef folder);

/// Adds --tensor-directory to the options of a tool.
void registerTensorDirectoryOption();

/// The same for the folder of ttmlir-translate's --tensor-directory. A program that has constants and no folder is an
/// error.
LogicalResult writeTensorFilesOfOption(Operation *module);

} // namespace mlir::tt::emit

#endif // TTMLIR_TARGET_EMIT_TENSORFILES_H
