//===- StableHLOOps.td - ops of the StableHLO dialect ------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_STABLEHLO_IR_STABLEHLOOPS_TD
#define TTMLIR_DIALECT_STABLEHLO_IR_STABLEHLOOPS_TD

include "ttmlir/Dialect/StableHLO/IR/Collective.td"
include "ttmlir/Dialect/StableHLO/IR/ControlFlow.td"
include "ttmlir/Dialect/StableHLO/IR/Convolution.td"
include "ttmlir/Dialect/StableHLO/IR/Creation.td"
include "ttmlir/Dialect/StableHLO/IR/DataMovement.td"
include "ttmlir/Dialect/StableHLO/IR/Dynamic.td"
include "ttmlir/Dialect/StableHLO/IR/Elementwise.td"
include "ttmlir/Dialect/StableHLO/IR/Indexing.td"
include "ttmlir/Dialect/StableHLO/IR/LinearAlgebra.td"
include "ttmlir/Dialect/StableHLO/IR/Matmul.td"
include "ttmlir/Dialect/StableHLO/IR/Normalization.td"
include "ttmlir/Dialect/StableHLO/IR/Ordering.td"
include "ttmlir/Dialect/StableHLO/IR/Random.td"
include "ttmlir/Dialect/StableHLO/IR/Reduction.td"

#endif // TTMLIR_DIALECT_STABLEHLO_IR_STABLEHLOOPS_TD
