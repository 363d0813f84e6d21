//===- TTNNTypes.td - types of the TTNN dialect ------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_TTNN_IR_TTNNTYPES_TD
#define TTMLIR_DIALECT_TTNN_IR_TTNNTYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "ttmlir/Dialect/TTNN/IR/TTNNBase.td"

def TTNN_Device : TypeDef<TTNN_Dialect, "Device"> {
  let mnemonic = "device";
  let summary = "A mesh of devices that tensors live on.";
}

def TTNN_GlobalSemaphore : TypeDef<TTNN_Dialect, "GlobalSemaphore"> {
  let mnemonic = "global_semaphore";
  let summary = "A semaphore that programs on several devices share.";
}

#endif // TTMLIR_DIALECT_TTNN_IR_TTNNTYPES_TD
