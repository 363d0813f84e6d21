//===- TTNNOpsPart3.cpp - generated code of TTNN ops, part 3 --------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ttmlir/Dialect/TTNN/IR/TTNN.h"

#define GET_OP_DEFS_3
#include "ttmlir/Dialect/TTNN/IR/TTNNOps3.cpp.inc"
