//===- PrecompiledTTIR.h - what the TTIR dialect includes -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Not to be included: see lib/CMakeLists.txt.
//
//===----------------------------------------------------------------------===//

#include "PrecompiledIR.h"

#include "ttmlir/Dialect/TTIR/IR/TTIR.h"
