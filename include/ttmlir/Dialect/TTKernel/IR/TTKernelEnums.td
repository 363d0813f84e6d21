//===- TTKernelEnums.td - enums of the TTKernel dialect ----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_TTKERNEL_IR_TTKERNELENUMS_TD
#define TTMLIR_DIALECT_TTKERNEL_IR_TTKERNELENUMS_TD

include "mlir/IR/EnumAttr.td"

def TTKernel_ReduceDim : I32EnumAttr<"ReduceDim", "The dimension of a tile that is reduced.", [
    I32EnumAttrCase<"Row", 0, "reduce_row">, I32EnumAttrCase<"Col", 1, "reduce_col">,
    I32EnumAttrCase<"Scalar", 2, "reduce_scalar">]> {
  let cppNamespace = "::mlir::tt::ttkernel";
}
def TTKernel_ReduceType : I32EnumAttr<"ReduceType", "The operation that joins the values of a tile.", [
    I32EnumAttrCase<"Sum", 0, "reduce_sum">, I32EnumAttrCase<"Max", 1, "reduce_max">,
    I32EnumAttrCase<"Avg", 2, "reduce_avg">]> {
  let cppNamespace = "::mlir::tt::ttkernel";
}

def TTKernel_BcastType : I32EnumAttr<"BcastType", "The part of a tile that is repeated.", [
    I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Col", 1, "col">, I32EnumAttrCase<"Row", 2, "row">,
    I32EnumAttrCase<"Scalar", 3, "scalar">]> {
  let cppNamespace = "::mlir::tt::ttkernel";
}

#endif // TTMLIR_DIALECT_TTKERNEL_IR_TTKERNELENUMS_TD
