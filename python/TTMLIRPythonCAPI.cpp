//===- TTMLIRPythonCAPI.cpp - anchor of the shared MLIR library -----------===//
// SPDX-License-Identifier: Apache-2.0
//
// All code of this library comes from the archives that it links whole.
//
//===----------------------------------------------------------------------===//

#include "ttmlir/InitAll.h"
