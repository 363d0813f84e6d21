//===- AllOps.td - every op of our dialects --------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// What tools/opgen describes.
//
//===----------------------------------------------------------------------===//

include "ttmlir/Dialect/Chlo/IR/ChloOps.td"
include "ttmlir/Dialect/D2M/IR/D2MOps.td"
include "ttmlir/Dialect/Debug/IR/DebugOps.td"
include "ttmlir/Dialect/Sdy/IR/SdyOps.td"
include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.td"
include "ttmlir/Dialect/TTCore/IR/TTCoreOps.td"
include "ttmlir/Dialect/TTIR/IR/TTIROps.td"
include "ttmlir/Dialect/TTNN/IR/TTNNOps.td"
