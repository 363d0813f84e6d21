//===- Creation.td - StableHLO creation ops ----------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_STABLEHLO_IR_CREATION_TD
#define TTMLIR_DIALECT_STABLEHLO_IR_CREATION_TD

include "mlir/IR/OpAsmInterface.td"
include "ttmlir/Dialect/StableHLO/IR/StableHLOOpBase.td"

def StableHLO_ConstantOp
    : StableHLO_InferredOp<"constant",
                           [Pure, ConstantLike, TT_Creates,
                            DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>],
                           "compatibleConstants"> {
  let summary = "A tensor known at compile time.";
  let description = [{
    Written as `stablehlo.constant dense<[1, 2]> : tensor<2xi32>`. The value of a quantized one is what is stored:
    `stablehlo.constant() {value = dense<[1, 2]> : tensor<2xi8>} : () -> tensor<2x!quant.uniform<i8:f32, 0.5>>`.
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs StableHLO_StaticTensor:$output);
  let hasCustomAssemblyFormat = 1;
  let hasFolder = 1;
}

def StableHLO_IotaOp : StableHLO_Op<"iota", [Pure, TT_Creates]> {
  let summary = "Every element is its own index along one dimension.";
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$iota_dimension);
  let results = (outs StableHLO_StaticNumberTensor:$output);
  let assemblyFormat = "`dim` `=` $iota_dimension attr-dict `:` type($output)";
  let hasVerifier = 1;
}

#endif // TTMLIR_DIALECT_STABLEHLO_IR_CREATION_TD
