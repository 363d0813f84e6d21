//===- Convolution.td - StableHLO convolutions -------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_STABLEHLO_IR_CONVOLUTION_TD
#define TTMLIR_DIALECT_STABLEHLO_IR_CONVOLUTION_TD

include "ttmlir/Dialect/StableHLO/IR/StableHLOOpBase.td"

def StableHLO_ConvolutionOp
    : StableHLO_InferredOp<"convolution", [Pure, TT_SumsProducts, TT_Convolves, TT_LinearInEach,
                                           TT_Factors<"::mlir::stablehlo::convolutionFactors">], "compatibleShapes"> {
  let summary = "Slides a kernel over the spatial dimensions of the input.";
  let description = [{
    Absent window attributes mean stride 1, no padding, no dilation and no reversal:
    `stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x4x9x9xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x7x7xf32>`.
  }];
  let arguments = (ins StableHLO_Tensor:$lhs, StableHLO_AnyTensor:$rhs, OptionalAttr<DenseI64ArrayAttr>:$window_strides,
                       OptionalAttr<I64ElementsAttr>:$padding, OptionalAttr<DenseI64ArrayAttr>:$lhs_dilation,
                       OptionalAttr<DenseI64ArrayAttr>:$rhs_dilation, OptionalAttr<DenseBoolArrayAttr>:$window_reversal,
                       StableHLO_ConvDimensionNumbers:$dimension_numbers,
                       ConfinedAttr<I64Attr, [IntPositive]>:$feature_group_count,
                       ConfinedAttr<I64Attr, [IntPositive]>:$batch_group_count,
                       OptionalAttr<StableHLO_PrecisionConfigAttr>:$precision_config);
  let results = (outs StableHLO_AnyTensor);
  let assemblyFormat = [{
    `(` operands `)` `dim_numbers` `=` custom<ConvolutionDimensions>($dimension_numbers) `,` `window` `=` `{`
    custom<WindowAttributes>($window_strides, $padding, $lhs_dilation, $rhs_dilation, $window_reversal) `}` attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // TTMLIR_DIALECT_STABLEHLO_IR_CONVOLUTION_TD
