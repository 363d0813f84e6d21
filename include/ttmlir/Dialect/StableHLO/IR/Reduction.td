//===- Reduction.td - StableHLO ops with reduction regions -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_STABLEHLO_IR_REDUCTION_TD
#define TTMLIR_DIALECT_STABLEHLO_IR_REDUCTION_TD

include "ttmlir/Dialect/StableHLO/IR/StableHLOOpBase.td"

def StableHLO_ReturnOp : StableHLO_Op<"return", [Pure, Terminator]> {
  let summary = "Ends the region of an op and gives its results.";
  let arguments = (ins Variadic<StableHLO_TensorOrToken>:$results);
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
  let assemblyFormat = "$results attr-dict (`:` type($results)^)?";
}

/// Several tensors of one shape and an initial value for each, combined by the region, which takes two values per
/// tensor.
class StableHLO_Reduction<string mnemonic, Trait factors>
    : StableHLO_InferredOp<mnemonic, [TT_AppliesRegion, factors, RecursiveMemoryEffects, RecursivelySpeculatable, SameVariadicOperandSize,
                                      SingleBlockImplicitTerminator<"ReturnOp">],
                            "compatibleShapes"> {
  let results = (outs Variadic<StableHLO_Tensor>);
  let regions = (region SizedRegion<1>:$body);
  let hasRegionVerifier = 1;
}

def StableHLO_ReduceOp : StableHLO_Reduction<"reduce", TT_Factors<"::mlir::stablehlo::reduceFactors">> {
  let summary = "Combines all elements along some dimensions.";
  let description = [{
    `stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1]
    : (tensor<7x11xf32>, tensor<f32>) -> tensor<7xf32>`; a region of several ops is written after `reducer`.
  }];
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs, Variadic<StableHLO_Tensor>:$init_values,
                       DenseI64ArrayAttr:$dimensions);
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_ReduceWindowOp : StableHLO_Reduction<"reduce_window", TT_Factors<"::mlir::stablehlo::reduceWindowFactors">> {
  let summary = "Combines the elements under a window that slides over all dimensions.";
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs, Variadic<StableHLO_Tensor>:$init_values,
                       DenseI64ArrayAttr:$window_dimensions, OptionalAttr<DenseI64ArrayAttr>:$window_strides,
                       OptionalAttr<DenseI64ArrayAttr>:$base_dilations,
                       OptionalAttr<DenseI64ArrayAttr>:$window_dilations, OptionalAttr<I64ElementsAttr>:$padding);
}

def StableHLO_SelectAndScatterOp
    : StableHLO_Op<"select_and_scatter", [TT_AppliesRegion, Pure, TT_Factors<"::mlir::stablehlo::selectAndScatterFactors">]> {
  let summary = "Adds each source element where a window selects it: the gradient of a pool.";
  let description = [{
    `select` takes two elements of the operand and says whether the first stays selected; `scatter` combines what is at
    the selected place with the source element.
  }];
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_Tensor:$source, StableHLO_ScalarTensor:$init_value,
                       OptionalAttr<DenseI64ArrayAttr>:$window_dimensions,
                       OptionalAttr<DenseI64ArrayAttr>:$window_strides, OptionalAttr<I64ElementsAttr>:$padding);
  let results = (outs StableHLO_Tensor);
  let regions = (region SizedRegion<1>:$select, SizedRegion<1>:$scatter);
  let hasRegionVerifier = 1;
}

#endif // TTMLIR_DIALECT_STABLEHLO_IR_REDUCTION_TD
