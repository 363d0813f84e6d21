// SPDX-License-Identifier: Apache-2.0
// Operations that Python holds, and notifications of their erasure.
//
// MLIR 22.1's bindings do not know which of their objects refer to an operation that a pass, a pattern or the end of
// the enclosing operation erases: using one reads freed memory. IRCore.cpp, Pass.cpp and Rewrite.cpp, as
// cmake/MLIRPython.cmake changes them, call these functions, so that it raises an error.
#ifndef PYTHON_MLIR_HELDOPERATIONS_H
#define PYTHON_MLIR_HELDOPERATIONS_H

#include "mlir-c/IR.h"
#include "mlir/Bindings/Python/IRCore.h"
#include <vector>

namespace mlir::python::MLIR_BINDINGS_PYTHON_DOMAIN {

void operationHeld(MlirOperation operation, PyOperation &object);
void operationReleased(MlirOperation operation, PyOperation &object);

/// `operation` is about to be erased, with everything inside of it.
void invalidate(MlirOperation operation);

/// While it exists, operations inside of `root` may be erased. At its end, objects of erased ones are invalid.
class MLIR_PYTHON_API_EXPORTED ErasingInside {
public:
  explicit ErasingInside(MlirOperation root);
  ErasingInside(const ErasingInside &) = delete;
  ErasingInside &operator=(const ErasingInside &) = delete;
  ~ErasingInside();

private:
  struct Held {
    MlirOperation operation;
    MlirIdentifier name; // memory of an operation that went may hold another one
    PyOperation *object;
  };
  MlirOperation root;
  std::vector<Held> inside;
};

} // namespace mlir::python::MLIR_BINDINGS_PYTHON_DOMAIN

#endif // PYTHON_MLIR_HELDOPERATIONS_H
