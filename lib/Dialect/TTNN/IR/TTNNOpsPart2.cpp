//===- TTNNOpsPart2.cpp - generated code of TTNN ops, part 2 --------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTNN/IR/TTNN.h"

#define GET_OP_DEFS_2
#include "ttmlir/Dialect/TTNN/IR/TTNNOps2.cpp.inc"
