//===- Indexing.td - StableHLO ops at computed positions ---*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_STABLEHLO_IR_INDEXING_TD
#define TTMLIR_DIALECT_STABLEHLO_IR_INDEXING_TD

include "ttmlir/Dialect/StableHLO/IR/StableHLOOpBase.td"

def StableHLO_GatherOp : StableHLO_InferredOp<"gather", [Pure, TT_MovesValues, TT_LinearInFirst, TT_Factors<"::mlir::stablehlo::gatherFactors">]> {
  let summary = "Slices of one size at computed starts, each moved so that it lies inside the operand.";
  let description = [{
    Each vector of `start_indices` along `index_vector_dim` is the start of a slice of `slice_sizes`, in the dimensions
    of `start_index_map`. The result has the other dimensions of `start_indices`, and at `offset_dims` those of the
    slices, without `collapsed_slice_dims` and `operand_batching_dims`, which have size 1.
  }];
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_IntTensor:$start_indices,
                       StableHLO_GatherDimensionNumbers:$dimension_numbers, DenseI64ArrayAttr:$slice_sizes,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted);
  let results = (outs StableHLO_Tensor);
}

def StableHLO_ScatterOp
    : StableHLO_InferredOp<"scatter", [TT_AppliesRegion, TT_Factors<"::mlir::stablehlo::scatterFactors">, RecursiveMemoryEffects, RecursivelySpeculatable, SameVariadicOperandSize,
                                       SingleBlockImplicitTerminator<"ReturnOp">], "compatibleShapes"> {
  let summary = "The inputs, with slices at computed starts combined with updates.";
  let description = [{
    Each vector of `scatter_indices` along `index_vector_dim` is the start of a slice, in the dimensions of
    `scatter_dims_to_operand_dims`. The region takes an element of each input and one of each update, and gives the new
    elements; elements outside of the inputs are left out. The order of updates of one element is not fixed.
  }];
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs, StableHLO_IntTensor:$scatter_indices,
                       Variadic<StableHLO_Tensor>:$updates,
                       StableHLO_ScatterDimensionNumbers:$scatter_dimension_numbers,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$unique_indices);
  let results = (outs Variadic<StableHLO_Tensor>);
  let regions = (region SizedRegion<1>:$update_computation);
  let hasRegionVerifier = 1;
}

def StableHLO_TorchIndexSelectOp : StableHLO_Op<"torch_index_select", [Pure, TT_MovesValues]> {
  let summary = "The slices of a dimension that an index names.";
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_IntTensor:$index, I64Attr:$dim, I64Attr:$batch_dims);
  let results = (outs StableHLO_Tensor);
  let hasVerifier = 1;
}

#endif // TTMLIR_DIALECT_STABLEHLO_IR_INDEXING_TD
