// SPDX-License-Identifier: Apache-2.0
// Entry point of mlir-tblgen for the Python classes of the stablehlo dialect.
include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.td"
