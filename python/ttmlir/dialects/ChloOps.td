// SPDX-License-Identifier: Apache-2.0
// Entry point of mlir-tblgen for the Python classes of the CHLO dialect.
include "ttmlir/Dialect/Chlo/IR/ChloOps.td"
