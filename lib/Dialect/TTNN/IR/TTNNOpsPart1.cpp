//===- TTNNOpsPart1.cpp - generated code of TTNN ops, part 1 --------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTNN/IR/TTNN.h"

#define GET_OP_DEFS_1
#include "ttmlir/Dialect/TTNN/IR/TTNNOps1.cpp.inc"
