//===- PrecompiledTTNN.h - what the TTNN dialect includes -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Not to be included: see lib/CMakeLists.txt.
//
//===----------------------------------------------------------------------===//

#include "PrecompiledIR.h"

#include "ttmlir/Dialect/TTNN/IR/TTNN.h"
