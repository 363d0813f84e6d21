//===- TTIROpsPart0.cpp - generated code of TTIR ops, part 0 --------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTIR/IR/TTIR.h"

#define GET_OP_DEFS_0
#include "ttmlir/Dialect/TTIR/IR/TTIROps0.cpp.inc"
