//===- TTIROpsPart3.cpp - generated code of TTIR ops, part 3 --------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTIR/IR/TTIR.h"

#define GET_OP_DEFS_3
#include "ttmlir/Dialect/TTIR/IR/TTIROps3.cpp.inc"
