//===- TTNNOpsPart0.cpp - generated code of TTNN ops, part 0 --------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTNN/IR/TTNN.h"

#define GET_OP_DEFS_0
#include "ttmlir/Dialect/TTNN/IR/TTNNOps0.cpp.inc"
