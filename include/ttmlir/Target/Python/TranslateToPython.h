//===- TranslateToPython.h - printing of the emitpy dialect as Python -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_TARGET_PYTHON_TRANSLATETOPYTHON_H
#define TTMLIR_TARGET_PYTHON_TRANSLATETOPYTHON_H

#include "mlir/IR/Operation.h"

namespace mlir::tt::emitpy {

/// Prints a module of the emitpy and func dialects as a Python module: formatted, with line breaks as needed, and with
/// variables named by the locations of their ops. Reports ops that have no form in Python. If the module has several
/// files, `id` names the one to print.
LogicalResult translateToPython(Operation *module, llvm::raw_ostream &os, llvm::StringRef id = "");

/// The ids of a module's files; none if it is one file.
SmallVector<llvm::StringRef> fileIds(Operation *module);

/// Registers --mlir-to-python, which reads modules of `dialects` and refuses by name those that it cannot print.
void registerTranslateToPython(void (*dialects)(DialectRegistry &));

} // namespace mlir::tt::emitpy

#endif // TTMLIR_TARGET_PYTHON_TRANSLATETOPYTHON_H
