//===- TTMLIRPythonCAPI.cpp - anchor of the shared MLIR library -----------===//
//
// All code of this library comes from the archives it links whole.
//
//===----------------------------------------------------------------------===//

#include "ttmlir/InitAll.h"
