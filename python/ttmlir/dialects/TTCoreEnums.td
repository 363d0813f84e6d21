// SPDX-License-Identifier: Apache-2.0
// Entry point of mlir-tblgen for the Python enums of the ttcore dialect, and the builders of their attributes.
include "ttmlir/Dialect/TTCore/IR/TTCoreAttrs.td"
