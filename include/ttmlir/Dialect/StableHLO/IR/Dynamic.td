//===- Dynamic.td - StableHLO ops with computed shapes -----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_STABLEHLO_IR_DYNAMIC_TD
#define TTMLIR_DIALECT_STABLEHLO_IR_DYNAMIC_TD

include "ttmlir/Dialect/StableHLO/IR/StableHLOOpBase.td"

/// The shape of the result is computed. If it is constant, the op is canonicalized to its static form.
class StableHLO_DynamicOp<string mnemonic, string text, list<Trait> traits = []>
    : StableHLO_Op<mnemonic, !listconcat([Pure, TT_ReplacedEarly], traits)> {
  let summary = text;
  let results = (outs StableHLO_Tensor:$result);
  let hasVerifier = 1;
}

def StableHLO_DynamicBroadcastInDimOp
    : StableHLO_DynamicOp<"dynamic_broadcast_in_dim", "broadcast_in_dim to a computed shape.", [TT_MovesValues]> {
  let arguments = (ins StableHLO_AnyTensor:$operand, StableHLO_ShapeTensor:$output_dimensions,
                       DenseI64ArrayAttr:$broadcast_dimensions,
                       OptionalAttr<DenseI64ArrayAttr>:$known_expanding_dimensions,
                       OptionalAttr<DenseI64ArrayAttr>:$known_nonexpanding_dimensions);
  let assemblyFormat = [{
    $operand `,` $output_dimensions `,` `dims` `=` $broadcast_dimensions attr-dict `:`
    functional-type(operands, results)
  }];
  let hasCanonicalizeMethod = 1;
}

def StableHLO_DynamicGatherOp
    : StableHLO_DynamicOp<"dynamic_gather", "gather with computed slice sizes.", [TT_MovesValues]> {
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_IntTensor:$start_indices,
                       StableHLO_ShapeTensor:$slice_sizes, StableHLO_GatherDimensionNumbers:$dimension_numbers,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted);
  let hasCanonicalizeMethod = 1;
}

def StableHLO_DynamicIotaOp : StableHLO_DynamicOp<"dynamic_iota", "iota of a computed shape."> {
  let arguments = (ins StableHLO_ShapeTensor:$output_shape, ConfinedAttr<I64Attr, [IntNonNegative]>:$iota_dimension);
  let assemblyFormat = [{
    $output_shape `,` `dim` `=` $iota_dimension attr-dict `:` functional-type(operands, results)
  }];
  let hasCanonicalizeMethod = 1;
}

def StableHLO_DynamicPadOp : StableHLO_DynamicOp<"dynamic_pad", "pad by computed amounts.", [TT_MovesValues]> {
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_ScalarTensor:$padding_value,
                       StableHLO_ShapeTensor:$edge_padding_low, StableHLO_ShapeTensor:$edge_padding_high,
                       StableHLO_ShapeTensor:$interior_padding);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasCanonicalizeMethod = 1;
}

def StableHLO_DynamicReshapeOp
    : StableHLO_DynamicOp<"dynamic_reshape", "reshape to a computed shape.", [TT_MovesValues]> {
  let arguments = (ins StableHLO_AnyTensor:$operand, StableHLO_ShapeTensor:$output_shape);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasCanonicalizeMethod = 1;
}

def StableHLO_DynamicConvOp : StableHLO_DynamicOp<"dynamic_conv", "convolution with computed padding."> {
  let arguments = (ins StableHLO_Tensor:$lhs, StableHLO_Tensor:$rhs, StableHLO_IntTensor:$padding,
                       OptionalAttr<DenseI64ArrayAttr>:$window_strides, OptionalAttr<DenseI64ArrayAttr>:$lhs_dilation,
                       OptionalAttr<DenseI64ArrayAttr>:$rhs_dilation,
                       OptionalAttr<DenseBoolArrayAttr>:$window_reversal,
                       StableHLO_ConvDimensionNumbers:$dimension_numbers,
                       ConfinedAttr<I64Attr, [IntPositive]>:$feature_group_count,
                       ConfinedAttr<I64Attr, [IntPositive]>:$batch_group_count,
                       OptionalAttr<StableHLO_PrecisionConfigAttr>:$precision_config);
  let hasCanonicalizeMethod = 1;
}

def StableHLO_RealDynamicSliceOp
    : StableHLO_DynamicOp<"real_dynamic_slice", "slice with computed limits.", [TT_MovesValues]> {
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_ShapeTensor:$start_indices,
                       StableHLO_ShapeTensor:$limit_indices, StableHLO_ShapeTensor:$strides);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasCanonicalizeMethod = 1;
}

def StableHLO_GetDimensionSizeOp : StableHLO_Op<"get_dimension_size", [Pure, TT_ReplacedEarly]> {
  let summary = "The size of a dimension.";
  let arguments = (ins StableHLO_AnyTensor:$operand, ConfinedAttr<I64Attr, [IntNonNegative]>:$dimension);
  let results = (outs StableHLO_I32ScalarTensor);
  let assemblyFormat = "$operand `,` `dim` `=` $dimension attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def StableHLO_SetDimensionSizeOp : StableHLO_Op<"set_dimension_size", [Pure]> {
  let summary = "The operand with a dimension of which only the first elements count.";
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_I32ScalarTensor:$size,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$dimension);
  let results = (outs StableHLO_Tensor);
  let assemblyFormat = "$operand `,` $size `,` `dim` `=` $dimension attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif // TTMLIR_DIALECT_STABLEHLO_IR_DYNAMIC_TD
