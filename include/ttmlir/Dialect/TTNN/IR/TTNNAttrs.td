//===- TTNNAttrs.td - attributes of the TTNN dialect -------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_TTNN_IR_TTNNATTRS_TD
#define TTMLIR_DIALECT_TTNN_IR_TTNNATTRS_TD

include "ttmlir/Dialect/TTNN/IR/TTNNConfigAttrs.td"
include "ttmlir/Dialect/TTNN/IR/TTNNKernelAttrs.td"
include "ttmlir/Dialect/TTNN/IR/TTNNLayoutAttrs.td"

#endif // TTMLIR_DIALECT_TTNN_IR_TTNNATTRS_TD
