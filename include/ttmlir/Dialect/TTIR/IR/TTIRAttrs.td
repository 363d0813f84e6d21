//===- TTIRAttrs.td - attributes of the TTIR dialect -----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_TTIR_IR_TTIRATTRS_TD
#define TTMLIR_DIALECT_TTIR_IR_TTIRATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "ttmlir/Dialect/TTIR/IR/TTIRBase.td"

class TTIR_Attr<string name, string attrMnemonic> : AttrDef<TTIR_Dialect, name> {
  let mnemonic = attrMnemonic;
}

class TTIR_I32Enum<string name, string text, list<I32EnumAttrCase> cases> : I32EnumAttr<name, text, cases> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::mlir::tt::ttir";
}

def TTIR_ReduceDim : TTIR_I32Enum<"ReduceDim", "Dimensions of a tile that are reduced.", [
    I32EnumAttrCase<"R", 0, "R">, I32EnumAttrCase<"C", 1, "C">, I32EnumAttrCase<"RC", 2, "RC">]>;

def TTIR_ThreadType : TTIR_I32Enum<"ThreadType", "The task of a thread of a core.", [
    I32EnumAttrCase<"Compute", 0, "compute">, I32EnumAttrCase<"Datamovement", 1, "datamovement">]>;

def TTIR_ReduceDimAttr : EnumAttr<TTIR_Dialect, TTIR_ReduceDim, "reduce_dim"> {
  let assemblyFormat = "$value";
}

def TTIR_ThreadAttr : TTIR_Attr<"Thread", "thread"> {
  let summary = "A thread and its kernel.";
  let parameters = (ins EnumParameter<TTIR_ThreadType>:$threadType,
                        OptionalParameter<"::mlir::SymbolRefAttr">:$kernelSymbol);
  let assemblyFormat = "`<` $threadType (`,` $kernelSymbol^)? `>`";
}

def TTIR_ShouldHoistAttr : TTIR_Attr<"ShouldHoist", "should_hoist"> {
  let summary = "Marks an op that runs on the host.";
  let extraClassDeclaration = [{
    static constexpr llvm::StringLiteral attrName = "ttir.should_hoist";
  }];
}

def TTIR_CPUHoistedCallAttr : TTIR_Attr<"CPUHoistedCall", "cpu_hoisted_call"> {
  let summary = "Marks a call of a function that runs on the host.";
}

def TTIR_FlattenedCompatInfoAttr : TTIR_Attr<"FlattenedCompatInfo", "flattened_compat"> {
  let summary = "The image shape of an input flattened to 1 x 1 x (batch * height * width) x channels.";
  let parameters = (ins "int64_t":$batchSize, "int64_t":$inputHeight, "int64_t":$inputWidth);
  let assemblyFormat = [{
    `batch_size` `=` $batchSize `,` `input_height` `=` $inputHeight `,` `input_width` `=` $inputWidth
  }];
}

def TTIR_ConvolutionLayoutAttr : TTIR_Attr<"ConvolutionLayout", "convolution_layout"> {
  let summary = "The batch, feature and spatial dimensions of input, kernel and result.";
  let parameters = (ins "int64_t":$inputBatchDimension, "int64_t":$inputFeatureDimension,
                        ArrayRefParameter<"int64_t">:$inputSpatialDimensions, "int64_t":$kernelOutputFeatureDimension,
                        "int64_t":$kernelInputFeatureDimension, ArrayRefParameter<"int64_t">:$kernelSpatialDimensions,
                        "int64_t":$outputBatchDimension, "int64_t":$outputFeatureDimension,
                        ArrayRefParameter<"int64_t">:$outputSpatialDimensions);
  let assemblyFormat = [{
    `input_batch` `=` $inputBatchDimension `,` `input_feature` `=` $inputFeatureDimension `,`
    `input_spatial_dimensions` `=` custom<DimensionList>($inputSpatialDimensions) `,`
    `kernel_output_feature` `=` $kernelOutputFeatureDimension `,`
    `kernel_input_feature` `=` $kernelInputFeatureDimension `,`
    `kernel_spatial_dimensions` `=` custom<DimensionList>($kernelSpatialDimensions) `,`
    `output_batch` `=` $outputBatchDimension `,` `output_feature` `=` $outputFeatureDimension `,`
    `output_spatial_dimensions` `=` custom<DimensionList>($outputSpatialDimensions)
  }];
}

#endif // TTMLIR_DIALECT_TTIR_IR_TTIRATTRS_TD
