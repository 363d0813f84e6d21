//===- Passes.td - conversions of other dialects to TTIR -------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_CONVERSION_TOTTIR_PASSES_TD
#define TTMLIR_CONVERSION_TOTTIR_PASSES_TD

include "mlir/Pass/PassBase.td"

// Passes on modules, as in the ecosystem: both also report ops outside of functions.
def ConvertTosaToTTIR : Pass<"convert-tosa-to-ttir", "::mlir::ModuleOp"> {
  let summary = "Convert TOSA to TTIR";
  let description = [{
    Elementwise ops, reductions, data movement, products, convolutions and pools of tensors of static shape. Zero points
    and shifts must be constants of 0, shapes constants. Every op that is left is named with the reason.

    Before:
    ```mlir
    %0 = tosa.sub %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %1 = tosa.reduce_max %0 {axis = 1 : i32} : (tensor<4x8xf32>) -> tensor<4x1xf32>
    ```
    After:
    ```mlir
    %0 = "ttir.subtract"(%a, %b) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %1 = "ttir.max"(%0) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<4x8xf32>) -> tensor<4x1xf32>
    ```
  }];
  let dependentDialects = ["::mlir::tt::ttir::TTIRDialect"];
}

def ConvertTTNNToTTIR : Pass<"convert-ttnn-to-ttir", "::mlir::ModuleOp"> {
  let summary = "Convert TTNN back to TTIR";
  let description = [{
    The opposite of convert-ttir-to-ttnn for ops that have a counterpart of the same operands: tensors keep their layouts,
    devices are dropped, and with them configs, which say how and not what is computed; an activation of a product is an
    op behind it. Every op that is left is named with the reason.

    Before:
    ```mlir
    %0 = "ttnn.divide"(%a, %b) : (tensor<64x96xf32, #l>, tensor<64x96xf32, #l>) -> tensor<64x96xf32, #l>
    ```
    After:
    ```mlir
    %0 = "ttir.div"(%a, %b) : (tensor<64x96xf32, #l>, tensor<64x96xf32, #l>) -> tensor<64x96xf32, #l>
    ```
  }];
  let dependentDialects = ["::mlir::tt::ttir::TTIRDialect"];
}

#endif // TTMLIR_CONVERSION_TOTTIR_PASSES_TD
