// SPDX-License-Identifier: Apache-2.0
// Entry point of mlir-tblgen for the Python classes of the d2m dialect.
include "ttmlir/Dialect/D2M/IR/D2MOps.td"
