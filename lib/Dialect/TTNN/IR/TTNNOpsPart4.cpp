//===- TTNNOpsPart4.cpp - generated code of TTNN ops, part 4 --------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTNN/IR/TTNN.h"

#define GET_OP_DEFS_4
#include "ttmlir/Dialect/TTNN/IR/TTNNOps4.cpp.inc"
