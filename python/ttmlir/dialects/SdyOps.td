// SPDX-License-Identifier: Apache-2.0
// Entry point of mlir-tblgen for the Python classes of the sdy dialect.
include "ttmlir/Dialect/Sdy/IR/SdyOps.td"
