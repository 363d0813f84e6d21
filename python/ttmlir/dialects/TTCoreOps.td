// SPDX-License-Identifier: Apache-2.0
// Entry point of mlir-tblgen for the Python classes of the ttcore dialect.
include "ttmlir/Dialect/TTCore/IR/TTCoreOps.td"
