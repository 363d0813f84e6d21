//===- StableHLOAttrs.td - attributes of the StableHLO dialect -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_STABLEHLO_IR_STABLEHLOATTRS_TD
#define TTMLIR_DIALECT_STABLEHLO_IR_STABLEHLOATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/CommonAttrConstraints.td"
include "ttmlir/Dialect/StableHLO/IR/StableHLOBase.td"
include "ttmlir/Dialect/StableHLO/IR/StableHLOEnums.td"

class StableHLO_Attr<string name, string attrMnemonic> : AttrDef<Stablehlo_Dialect, name> {
  let mnemonic = attrMnemonic;
}

//===----------------------------------------------------------------------===//
// Enums
//===----------------------------------------------------------------------===//

def StableHLO_ComparisonDirectionAttr
    : EnumAttr<Stablehlo_Dialect, StableHLO_ComparisonDirection, "comparison_direction">;
def StableHLO_ComparisonTypeAttr : EnumAttr<Stablehlo_Dialect, StableHLO_ComparisonType, "comparison_type">;
def StableHLO_PrecisionAttr : EnumAttr<Stablehlo_Dialect, StableHLO_Precision, "precision">;
def StableHLO_ResultAccuracyModeAttr
    : EnumAttr<Stablehlo_Dialect, StableHLO_ResultAccuracyMode, "result_accuracy_mode"> {
  let assemblyFormat = "`<` $value `>`";
}

def StableHLO_FftTypeAttr : EnumAttr<Stablehlo_Dialect, StableHLO_FftType, "fft_type">;
def StableHLO_RngAlgorithmAttr : EnumAttr<Stablehlo_Dialect, StableHLO_RngAlgorithm, "rng_algorithm">;
def StableHLO_RngDistributionAttr : EnumAttr<Stablehlo_Dialect, StableHLO_RngDistribution, "rng_distribution">;
def StableHLO_TransposeAttr : EnumAttr<Stablehlo_Dialect, StableHLO_Transpose, "transpose">;
/// Written as a number: `api_version = 1 : i32`.
def StableHLO_CustomCallApiVersionAttr : ConfinedAttr<I32Attr, [IntMinValue<0>, IntMaxValue<4>]>;

def StableHLO_PrecisionConfigAttr : TypedArrayAttrBase<StableHLO_PrecisionAttr, "precision of each operand">;

//===----------------------------------------------------------------------===//
// Structs
//===----------------------------------------------------------------------===//

def StableHLO_ResultAccuracyAttr : StableHLO_Attr<"ResultAccuracy", "result_accuracy"> {
  let summary = "The error an implementation of a transcendental function may make.";
  let description = [{
    Tolerances are given when, and only when, the mode is TOLERANCE:
    `#stablehlo.result_accuracy<ulps = 4, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>`.
  }];
  let parameters = (ins "::llvm::APFloat":$atol, "::llvm::APFloat":$rtol, "int64_t":$ulps,
                        "ResultAccuracyModeAttr":$mode);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  // The default of an op is written as the mode alone.
  let returnType = "::mlir::stablehlo::ResultAccuracyAttr";
  let constBuilderCall = [{::mlir::stablehlo::ResultAccuracyAttr::get(
      $_builder.getContext(), ::llvm::APFloat(0.0), ::llvm::APFloat(0.0), 0,
      ::mlir::stablehlo::ResultAccuracyModeAttr::get($_builder.getContext(), $0))}];
}

def StableHLO_DotDimensionNumbers : StableHLO_Attr<"DotDimensionNumbers", "dot"> {
  let summary = "The dimensions of two operands that are paired as batches, and those that are summed over.";
  let parameters = (ins ArrayRefParameter<"int64_t">:$lhsBatchingDimensions,
                        ArrayRefParameter<"int64_t">:$rhsBatchingDimensions,
                        ArrayRefParameter<"int64_t">:$lhsContractingDimensions,
                        ArrayRefParameter<"int64_t">:$rhsContractingDimensions);
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_DotAlgorithm : StableHLO_Attr<"DotAlgorithm", "dot_algorithm"> {
  let summary = "The algorithm of a product: rounding of the operands, type and number of the partial sums.";
  let parameters = (ins "::mlir::Type":$lhsPrecisionType, "::mlir::Type":$rhsPrecisionType,
                        "::mlir::Type":$accumulationType, "int64_t":$lhsComponentCount, "int64_t":$rhsComponentCount,
                        "int64_t":$numPrimitiveOperations, "bool":$allowImpreciseAccumulation);
  let assemblyFormat = [{
    `<` `lhs_precision_type` `=` $lhsPrecisionType `,` `rhs_precision_type` `=` $rhsPrecisionType `,`
        `accumulation_type` `=` $accumulationType `,` `lhs_component_count` `=` $lhsComponentCount `,`
        `rhs_component_count` `=` $rhsComponentCount `,` `num_primitive_operations` `=` $numPrimitiveOperations `,`
        `allow_imprecise_accumulation` `=` $allowImpreciseAccumulation `>`
  }];
  let genVerifyDecl = 1;
}

def StableHLO_ConvDimensionNumbers : StableHLO_Attr<"ConvDimensionNumbers", "conv"> {
  let summary = "The roles of the dimensions of the operands and the result of a convolution.";
  let description = "Written as `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`: position is the tensor's dimension.";
  let parameters = (ins "int64_t":$inputBatchDimension, "int64_t":$inputFeatureDimension,
                        ArrayRefParameter<"int64_t">:$inputSpatialDimensions, "int64_t":$kernelInputFeatureDimension,
                        "int64_t":$kernelOutputFeatureDimension, ArrayRefParameter<"int64_t">:$kernelSpatialDimensions,
                        "int64_t":$outputBatchDimension, "int64_t":$outputFeatureDimension,
                        ArrayRefParameter<"int64_t">:$outputSpatialDimensions);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def StableHLO_GatherDimensionNumbers : StableHLO_Attr<"GatherDimensionNumbers", "gather"> {
  let summary = "The roles of the dimensions of the operands and the result of a gather.";
  let parameters = (ins ArrayRefParameter<"int64_t">:$offsetDims, ArrayRefParameter<"int64_t">:$collapsedSliceDims,
                        ArrayRefParameter<"int64_t">:$operandBatchingDims,
                        ArrayRefParameter<"int64_t">:$startIndicesBatchingDims,
                        ArrayRefParameter<"int64_t">:$startIndexMap, "int64_t":$indexVectorDim);
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_ScatterDimensionNumbers : StableHLO_Attr<"ScatterDimensionNumbers", "scatter"> {
  let summary = "The roles of the dimensions of the inputs, the indices and the updates of a scatter.";
  let parameters = (ins ArrayRefParameter<"int64_t">:$updateWindowDims, ArrayRefParameter<"int64_t">:$insertedWindowDims,
                        ArrayRefParameter<"int64_t">:$inputBatchingDims,
                        ArrayRefParameter<"int64_t">:$scatterIndicesBatchingDims,
                        ArrayRefParameter<"int64_t">:$scatterDimsToOperandDims, "int64_t":$indexVectorDim);
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_ChannelHandle : StableHLO_Attr<"ChannelHandle", "channel_handle"> {
  let summary = "Names the channel that a collective runs over.";
  let parameters = (ins "int64_t":$handle, "int64_t":$type);
  let assemblyFormat = "`<` struct(params) `>`";
}
def StableHLO_OutputOperandAlias : StableHLO_Attr<"OutputOperandAlias", "output_operand_alias"> {
  let summary = "A result of a custom call that is one of its operands.";
  let parameters = (ins ArrayRefParameter<"int64_t">:$outputTupleIndices, "int64_t":$operandIndex,
                        ArrayRefParameter<"int64_t">:$operandTupleIndices);
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_SubAxisInfo : StableHLO_Attr<"SubAxisInfo", "sub_axis_info"> {
  let summary = "A part of an axis of a mesh.";
  let parameters = (ins "int64_t":$preSize, "int64_t":$size);
  let assemblyFormat = "`(` $preSize `)` `` $size";
}

def StableHLO_AxisRef : StableHLO_Attr<"AxisRef", "axis_ref"> {
  let summary = "An axis of a mesh, or a part of one.";
  let parameters = (ins StringRefParameter<"">:$name, OptionalParameter<"SubAxisInfoAttr">:$sub_axis_info);
  let assemblyFormat = "`<` struct(params) `>`";
}

def StableHLO_ReplicaGroupMeshAxesAttr : StableHLO_Attr<"ReplicaGroupMeshAxes", "replica_group_mesh_axes"> {
  let summary = "Groups of devices along axes of a mesh.";
  let parameters = (ins "::mlir::Attribute":$mesh, "::mlir::ArrayAttr":$axes);
  let assemblyFormat = "`<` struct(params) `>`";
}

def StableHLO_TypeExtensions : StableHLO_Attr<"TypeExtensions", "type_extensions"> {
  let summary = "Upper bounds of dynamic sizes, as the encoding of a tensor.";
  let parameters = (ins ArrayRefParameter<"int64_t">:$bounds);
  let hasCustomAssemblyFormat = 1;
}

#endif // TTMLIR_DIALECT_STABLEHLO_IR_STABLEHLOATTRS_TD
