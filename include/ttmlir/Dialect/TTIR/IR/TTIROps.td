//===- TTIROps.td - the ops of the TTIR dialect ----------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_TTIR_IR_TTIROPS_TD
#define TTMLIR_DIALECT_TTIR_IR_TTIROPS_TD

include "ttmlir/Dialect/Families/Attention.td"
include "ttmlir/Dialect/Families/Collective.td"
include "ttmlir/Dialect/Families/Creation.td"
include "ttmlir/Dialect/Families/DataMovement.td"
include "ttmlir/Dialect/Families/Elementwise.td"
include "ttmlir/Dialect/Families/Matmul.td"
include "ttmlir/Dialect/Families/Normalization.td"
include "ttmlir/Dialect/Families/Reduction.td"
include "ttmlir/Dialect/Families/Routing.td"
include "ttmlir/Dialect/Families/Training.td"
include "ttmlir/Dialect/Families/Window.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"

// Result types follow from operands; the op's own verifier compares the declared ones.
def TTIR_InferWritten : DeclareOpInterfaceMethods<InferTypeOpInterface, ["refineReturnTypes"]>;

def TTIR_ToLayoutOp : Op<TTIR_Dialect, "to_layout", [
    TT_MovesValues, DestinationStyleOpInterface, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, TTIR_InferWritten]> {
  let summary = "The input in the layout of `output`.";
  let arguments = (ins TT_TensorOrMemRef:$input, TT_TensorOrMemRef:$output,
                       OptionalAttr<TTCore_MetalLayoutAttr>:$layout);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $input `,` $output `:` type($input) `into` type($output) (`hostInfo` `=` $layout^)? attr-dict
    (`->` type($results)^)?
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutputMutable(); }
  }];
}

def TTIR_AllocOp : Op<TTIR_Dialect, "alloc"> {
  let summary = "A tensor at a given address.";
  let arguments = (ins I64Attr:$address, I64Attr:$size, TTCore_MemorySpaceAttr:$memory_space);
  let results = (outs TT_FreshTensor:$result);
  let hasVerifier = 1;
}

def TTIR_DeallocOp : Op<TTIR_Dialect, "dealloc", [MemoryEffects<[MemFree]>]> {
  let summary = "Ends the life of a tensor.";
  let arguments = (ins AnyRankedTensor:$result);
}

class TTIR_QuantizationOp<string mnemonic, string text>
    : TT_PureOp<TTIR_Dialect, mnemonic, TT_Unary, (ins), text, mnemonic # "ByType", [TT_ChangesQuantization]> {
  let description = [{
    quantized = round(value / scale) + zero_point, saturated to the storage type; both parameters are of the quantized type.
  }];
}

def TTIR_QuantizeOp : TTIR_QuantizationOp<"quantize", "Values as integers, by the quantized type of the result.">;
def TTIR_DequantizeOp : TTIR_QuantizationOp<"dequantize", "Integers as values, by the quantized type of the input.">;
def TTIR_RequantizeOp : TTIR_QuantizationOp<"requantize", "Integers of one quantized type as those of another.">;

class TTIR_UnrolledQuantizationOp<string rule, dag parameters, string text>
    : TT_PureOp<TTIR_Dialect, rule # "_unrolled", !con(TT_Unary, parameters), (ins OptionalAttr<I32Attr>:$axis), text,
                rule, [TT_ChangesQuantization]> {
  let description = [{
    quantized = round(value / scale) + zero_point with the parameters as tensors: one value, or one per index of `axis`.
  }];
}

def TTIR_QuantizeUnrolledOp : TTIR_UnrolledQuantizationOp<"quantize",
    (ins AnyRankedTensor:$scale, AnyRankedTensor:$zero_point), "round(input / scale) + zero_point.">;
def TTIR_DequantizeUnrolledOp : TTIR_UnrolledQuantizationOp<"dequantize",
    (ins AnyRankedTensor:$scale, AnyRankedTensor:$zero_point), "(input - zero_point) * scale.">;
def TTIR_RequantizeUnrolledOp : TTIR_UnrolledQuantizationOp<"requantize",
    (ins AnyRankedTensor:$in_scale, AnyRankedTensor:$in_zero_point, AnyRankedTensor:$out_scale,
         AnyRankedTensor:$out_zero_point),
    "dequantize with the `in` parameters, then quantize with the `out` parameters.">;

def TTIR_TTLangOp : Op<TTIR_Dialect, "tt_lang_op", [TTIR_InferWritten]> {
  let summary = "Runs a kernel of its own language; each input is read, written or both, as `arg_roles` says.";
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, StrAttr:$kernel_id, StrAttr:$version_tag, StrAttr:$arg_roles,
                       DefaultValuedAttr<StrAttr, "\"\"">:$shard_spec);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = "`(` $inputs `)` attr-dict `:` `(` type($inputs) `)` `->` `(` type($results) `)`";
  let hasVerifier = 1;
}

def TTIR_TTNNMetalLayoutCastOp : Op<TTIR_Dialect, "ttnn_metal_layout_cast", [Pure, TT_MovesValues]> {
  let summary = "The same memory seen with a layout of TTNN or of metal.";
  let arguments = (ins TT_TensorOrMemRef:$input, OptionalAttr<AffineMapAttr>:$virtual_grid_inverse_mapping,
                       OptionalAttr<AffineMapAttr>:$virtual_grid_forward_mapping);
  let results = (outs TT_TensorOrMemRef:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}

#endif // TTMLIR_DIALECT_TTIR_IR_TTIROPS_TD
