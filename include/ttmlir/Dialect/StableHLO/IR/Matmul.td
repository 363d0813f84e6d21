//===- Matmul.td - StableHLO matrix products ---------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_STABLEHLO_IR_MATMUL_TD
#define TTMLIR_DIALECT_STABLEHLO_IR_MATMUL_TD

include "ttmlir/Dialect/StableHLO/IR/StableHLOOpBase.td"

def StableHLO_DotOp
    : StableHLO_InferredOp<"dot", [Pure, TT_SumsProducts, TT_LinearInEach, TT_Factors<"::mlir::stablehlo::dotFactors">],
                           "compatibleShapes"> {
  let summary = "Product of vectors or matrices: the last dimension of lhs with the first of rhs.";
  let arguments = (ins StableHLO_Tensor:$lhs, StableHLO_AnyTensor:$rhs,
                       OptionalAttr<StableHLO_PrecisionConfigAttr>:$precision_config);
  let results = (outs StableHLO_AnyTensor);
  let assemblyFormat = [{
    $lhs `,` $rhs `` custom<PrecisionConfig>($precision_config) attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def StableHLO_DotGeneralOp
    : StableHLO_InferredOp<"dot_general", [Pure, TT_SumsProducts, TT_LinearInEach,
                                           TT_Factors<"::mlir::stablehlo::dotGeneralFactors">], "compatibleShapes"> {
  let summary = "Product of tensors with paired batch dimensions, summed over paired contracting dimensions.";
  let description = [{
    The result has the batch dimensions, then the other dimensions of lhs, then those of rhs:
    `stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1]
    : (tensor<3x8x20xf32>, tensor<3x20x5xf32>) -> tensor<3x8x5xf32>`.
  }];
  let arguments = (ins StableHLO_Tensor:$lhs, StableHLO_AnyTensor:$rhs,
                       StableHLO_DotDimensionNumbers:$dot_dimension_numbers,
                       OptionalAttr<StableHLO_PrecisionConfigAttr>:$precision_config,
                       OptionalAttr<StableHLO_DotAlgorithm>:$algorithm);
  let results = (outs StableHLO_AnyTensor);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` custom<DotDimensionNumbers>($dot_dimension_numbers) ``
    custom<PrecisionConfigAndAlgorithm>($precision_config, $algorithm) attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // TTMLIR_DIALECT_STABLEHLO_IR_MATMUL_TD
