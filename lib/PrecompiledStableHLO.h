//===- PrecompiledStableHLO.h - what StableHLO includes ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Not to be included: see lib/CMakeLists.txt.
//
//===----------------------------------------------------------------------===//

#include "PrecompiledIR.h"

#include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.h"
