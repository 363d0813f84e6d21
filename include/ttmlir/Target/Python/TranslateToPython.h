//===- TranslateToPython.h - printing of the emitpy dialect as Python -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_TARGET_PYTHON_TRANSLATETOPYTHON_H
#define TTMLIR_TARGET_PYTHON_TRANSLATETOPYTHON_H

#include "mlir/IR/Operation.h"

namespace mlir::tt::emitpy {

/// Prints a module of the emitpy and func dialects as a Python module: formatted, no line longer than it needs to be,
/// variables named by the locations of their ops. Reports what has no form in Python. Of a module of several files
/// `id` names the one to print.
LogicalResult translateToPython(Operation *module, llvm::raw_ostream &os, llvm::StringRef id = "");

/// The ids of a module's files; none when it is one file.
SmallVector<llvm::StringRef> fileIds(Operation *module);

/// Registers --mlir-to-python, which reads modules of `dialects` (those that it cannot print are refused by name).
void registerTranslateToPython(void (*dialects)(DialectRegistry &));

} // namespace mlir::tt::emitpy

#endif // TTMLIR_TARGET_PYTHON_TRANSLATETOPYTHON_H
