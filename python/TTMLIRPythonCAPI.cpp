//===- TTMLIRPythonCAPI.cpp - anchor of the library that holds MLIR -------===//
//
// All code of this library comes from the archives it links whole.
//
//===----------------------------------------------------------------------===//

#include "ttmlir/InitAll.h"
