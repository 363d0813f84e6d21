//===- TTNNOps.td - the ops of the TTNN dialect ----------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Ops that TTIR has in the same form are rows of include/ttmlir/Dialect/Families. Ops with operands or attributes that
// only TTNN has are in this folder.
//
//===----------------------------------------------------------------------===//

#ifndef TTMLIR_DIALECT_TTNN_IR_TTNNOPS_TD
#define TTMLIR_DIALECT_TTNN_IR_TTNNOPS_TD

include "ttmlir/Dialect/Families/Attention.td"
include "ttmlir/Dialect/Families/Collective.td"
include "ttmlir/Dialect/Families/Creation.td"
include "ttmlir/Dialect/Families/DataMovement.td"
include "ttmlir/Dialect/Families/Elementwise.td"
include "ttmlir/Dialect/Families/Matmul.td"
include "ttmlir/Dialect/Families/Normalization.td"
include "ttmlir/Dialect/Families/Reduction.td"
include "ttmlir/Dialect/Families/Routing.td"
include "ttmlir/Dialect/Families/Training.td"
include "ttmlir/Dialect/Families/Window.td"
include "ttmlir/Dialect/TTNN/IR/TTNNOpsAttention.td"
include "ttmlir/Dialect/TTNN/IR/TTNNOpsCompute.td"
include "ttmlir/Dialect/TTNN/IR/TTNNOpsDevice.td"
include "ttmlir/Dialect/TTNN/IR/TTNNOpsWindow.td"

#endif // TTMLIR_DIALECT_TTNN_IR_TTNNOPS_TD
