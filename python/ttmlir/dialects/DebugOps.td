// SPDX-License-Identifier: Apache-2.0
// Entry point of mlir-tblgen for the Python classes of the debug dialect.
include "ttmlir/Dialect/Debug/IR/DebugOps.td"
