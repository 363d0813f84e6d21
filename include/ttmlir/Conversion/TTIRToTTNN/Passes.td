//===- Passes.td - the lowering of TTIR to TTNN ------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_CONVERSION_TTIRTOTTNN_PASSES_TD
#define TTMLIR_CONVERSION_TTIRTOTTNN_PASSES_TD

include "mlir/Pass/PassBase.td"

// A pass on modules: also reports ops outside of functions.
def ConvertTTIRToTTNN : Pass<"convert-ttir-to-ttnn", "::mlir::ModuleOp"> {
  let summary = "Lower TTIR to calls of the TTNN library";
  let description = [{
    An op becomes the TTNN op of its name, with the same operands and attributes, unless a row says otherwise. The
    irregular ones: convolutions and pools work on 1 x 1 x (batch * height * width) x channels, so that reshapes (and,
    for other dimension orders, permutes) go around them; ops that make tensors get a device; mesh_shard becomes
    distribute_tensor or aggregate_tensor. Every op that is left is named with the reason.

    Before:
    ```mlir
    %0 = "ttir.div"(%a, %b) : (tensor<64x96xf32, #l>, tensor<64x96xf32, #l>) -> tensor<64x96xf32, #l>
    ```
    After:
    ```mlir
    %0 = "ttnn.divide"(%a, %b) : (tensor<64x96xf32, #l>, tensor<64x96xf32, #l>) -> tensor<64x96xf32, #l>
    ```
  }];
  let dependentDialects = ["::mlir::tt::ttnn::TTNNDialect"];
}

#endif // TTMLIR_CONVERSION_TTIRTOTTNN_PASSES_TD
