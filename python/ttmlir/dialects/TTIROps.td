// SPDX-License-Identifier: Apache-2.0
// Entry point of mlir-tblgen for the Python classes of the ttir dialect.
include "ttmlir/Dialect/TTIR/IR/TTIROps.td"
