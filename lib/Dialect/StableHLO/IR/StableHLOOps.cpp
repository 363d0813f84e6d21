//===- StableHLOOps.cpp - generated parts of the StableHLO ops ------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Shape.h"
#include "Syntax.h"

using namespace mlir;
using namespace mlir::stablehlo;

#define GET_OP_CLASSES
#include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.cpp.inc"
