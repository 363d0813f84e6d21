//===- DataMovement.td - StableHLO data movement ops -------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_STABLEHLO_IR_DATAMOVEMENT_TD
#define TTMLIR_DIALECT_STABLEHLO_IR_DATAMOVEMENT_TD

include "ttmlir/Dialect/StableHLO/IR/StableHLOOpBase.td"

def StableHLO_BitcastConvertOp : StableHLO_Op<"bitcast_convert", [Pure, TT_ReadsBits, TT_Factors<"::mlir::stablehlo::bitcastConvertFactors">]> {
  let summary = "Reads the bits of the elements as another element type.";
  let description = [{
    Elements of the same size keep the shape; otherwise the side with the smaller elements has one more dimension at the
    end, which holds the parts of a larger element: (tensor<4xf32>) -> tensor<4x2xbf16>.
  }];
  let arguments = (ins StableHLO_AnyTensor:$operand);
  let results = (outs StableHLO_AnyTensor);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def StableHLO_BroadcastOp
    : StableHLO_InferredOp<"broadcast", [Pure, TT_MovesValues, TT_Repeats,
                                         TT_Factors<"::mlir::stablehlo::broadcastFactors">]> {
  let summary = "Copies the operand along new leading dimensions.";
  let arguments = (ins StableHLO_Tensor:$operand, DenseI64ArrayAttr:$broadcast_sizes);
  let results = (outs StableHLO_AnyTensor);
  let assemblyFormat = [{
    $operand `,` `sizes` `=` $broadcast_sizes attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_BroadcastInDimOp
    : StableHLO_Op<"broadcast_in_dim", [Pure, TT_MovesValues, TT_Repeats, TT_KeepsConstants, TT_LinearInFirst,
                                        TT_Factors<"::mlir::stablehlo::broadcastInDimFactors">]> {
  let summary = "Places the dimensions of the operand in the result and copies along all others.";
  let arguments = (ins StableHLO_AnyTensor:$operand, DenseI64ArrayAttr:$broadcast_dimensions);
  let results = (outs StableHLO_StaticTensor);
  let assemblyFormat = [{
    $operand `,` `dims` `=` $broadcast_dimensions attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def StableHLO_ConcatenateOp : StableHLO_InferredOp<"concatenate", [Pure, TT_MovesValues, TT_Linear, TT_Factors<"::mlir::stablehlo::concatenateFactors">]> {
  let summary = "The operands one after another along a dimension.";
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs, ConfinedAttr<I64Attr, [IntNonNegative]>:$dimension);
  let results = (outs StableHLO_Tensor);
  let assemblyFormat = [{
    custom<VariadicOperandWithAttribute>($inputs) `dim` `=` $dimension attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_DynamicSliceOp
    : StableHLO_InferredOp<"dynamic_slice", [Pure, TT_MovesValues, TT_TakesStart, TT_LinearInFirst,
                                             TT_Factors<"::mlir::stablehlo::dynamicSliceFactors">]> {
  let summary = "A block of given size at a computed start, moved so that it lies inside the operand.";
  let arguments = (ins StableHLO_Tensor:$operand, Variadic<StableHLO_ScalarIntTensor>:$start_indices,
                       DenseI64ArrayAttr:$slice_sizes);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` custom<VariadicOperandWithAttribute>($start_indices) `sizes` `=` $slice_sizes attr-dict `:`
    functional-type(operands, results)
  }];
}

def StableHLO_DynamicUpdateSliceOp
    : StableHLO_InferredOp<"dynamic_update_slice", [Pure, TT_MovesValues, TT_TakesStart,
                                                    TT_Factors<"::mlir::stablehlo::dynamicUpdateSliceFactors">]> {
  let summary = "The operand with a block at a computed start replaced.";
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_Tensor:$update,
                       Variadic<StableHLO_ScalarIntTensor>:$start_indices);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def StableHLO_PadOp : StableHLO_InferredOp<"pad", [Pure, TT_MovesValues, TT_Factors<"::mlir::stablehlo::resizeFactors">]> {
  let summary = "Padding at both ends of and between the elements of each dimension; negative edges cut off.";
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_ScalarTensor:$padding_value,
                       DenseI64ArrayAttr:$edge_padding_low, DenseI64ArrayAttr:$edge_padding_high,
                       DenseI64ArrayAttr:$interior_padding);
  let results = (outs StableHLO_Tensor);
  let assemblyFormat = [{
    $operand `,` $padding_value `,` `low` `=` $edge_padding_low `,` `high` `=` $edge_padding_high `,`
    `interior` `=` $interior_padding attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_ReshapeOp
    : StableHLO_Op<"reshape", [Pure, TT_MovesValues, TT_Rearranges, TT_KeepsOrder, TT_KeepsConstants, TT_LinearInFirst,
                               TT_Factors<"::mlir::stablehlo::reshapeFactors">]> {
  let summary = "The same elements in the same row-major order, in another shape.";
  let arguments = (ins StableHLO_AnyTensor:$operand);
  let results = (outs StableHLO_StaticTensor);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def StableHLO_ReverseOp : StableHLO_InferredOp<"reverse", [Pure, TT_MovesValues, TT_LinearInFirst, TT_Factors<"::mlir::stablehlo::reverseFactors">]> {
  let summary = "Elements in reverse order along some dimensions.";
  let arguments = (ins StableHLO_Tensor:$operand, DenseI64ArrayAttr:$dimensions);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` `dims` `=` $dimensions attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))
  }];
}

def StableHLO_SliceOp
    : StableHLO_InferredOp<"slice", [Pure, TT_MovesValues, TT_KeepsConstants, TT_LinearInFirst,
                                     TT_Factors<"::mlir::stablehlo::resizeFactors">]> {
  let summary = "A block of the operand at a fixed start, with strides.";
  let description = "Written as `stablehlo.slice %x [1:7:2, 0:4] : (tensor<7x6xf32>) -> tensor<3x4xf32>`.";
  let arguments = (ins StableHLO_Tensor:$operand, DenseI64ArrayAttr:$start_indices, DenseI64ArrayAttr:$limit_indices,
                       DenseI64ArrayAttr:$strides);
  let results = (outs StableHLO_Tensor);
  let assemblyFormat = [{
    $operand custom<SliceRanges>($start_indices, $limit_indices, $strides) attr-dict `:`
    functional-type(operands, results)
  }];
}

def StableHLO_TransposeOp
    : StableHLO_InferredOp<"transpose", [Pure, TT_MovesValues, TT_Rearranges, TT_LinearInFirst,
                                         TT_Factors<"::mlir::stablehlo::transposeFactors">]> {
  let summary = "Dimension i of the result is dimension permutation[i] of the operand.";
  let arguments = (ins StableHLO_AnyTensor:$operand, DenseI64ArrayAttr:$permutation);
  let results = (outs StableHLO_AnyTensor:$result);
  let assemblyFormat = "$operand `,` `dims` `=` $permutation attr-dict `:` functional-type(operands, results)";
}

#endif // TTMLIR_DIALECT_STABLEHLO_IR_DATAMOVEMENT_TD
