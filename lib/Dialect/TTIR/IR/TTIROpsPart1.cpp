//===- TTIROpsPart1.cpp - generated code of TTIR ops, part 1 --------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTIR/IR/TTIR.h"

#define GET_OP_DEFS_1
#include "ttmlir/Dialect/TTIR/IR/TTIROps1.cpp.inc"
