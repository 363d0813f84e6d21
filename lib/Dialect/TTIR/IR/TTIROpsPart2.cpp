//===- TTIROpsPart2.cpp - generated code of TTIR ops, part 2 --------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTIR/IR/TTIR.h"

#define GET_OP_DEFS_2
#include "ttmlir/Dialect/TTIR/IR/TTIROps2.cpp.inc"
