//===- TranslateToPython.h - emitpy as text ---------------------*- C++ -*-===//
#ifndef TTMLIR_TARGET_PYTHON_TRANSLATETOPYTHON_H
#define TTMLIR_TARGET_PYTHON_TRANSLATETOPYTHON_H

#include "mlir/IR/Operation.h"

namespace mlir::tt::emitpy {

/// Prints a module of the emitpy and func dialects as a Python module: formatted, no line longer than it needs to be,
/// variables named by the locations of their ops. Reports what has no form in Python.
LogicalResult translateToPython(Operation *module, llvm::raw_ostream &os);

/// Registers --mlir-to-python.
void registerTranslateToPython();

} // namespace mlir::tt::emitpy

#endif // TTMLIR_TARGET_PYTHON_TRANSLATETOPYTHON_H
