// SPDX-License-Identifier: Apache-2.0
// Entry point of mlir-tblgen for the Python classes of the ttnn dialect.
include "ttmlir/Dialect/TTNN/IR/TTNNOps.td"
