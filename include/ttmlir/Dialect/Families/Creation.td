//===- Creation.td - creation ops --------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Without a declared result, values are f32 (those of `full` have the type of the fill value).
//
//===----------------------------------------------------------------------===//

#ifndef TTMLIR_DIALECT_FAMILIES_CREATION_TD
#define TTMLIR_DIALECT_FAMILIES_CREATION_TD

include "ttmlir/Dialect/Families/Base.td"

// A tensor of its own: removed when unused, never merged with the result of an equal op.
def TT_FreshTensor : Res<AnyRankedTensor, "", [MemAlloc]>;

class TT_CreationOp<Dialect dialect, string mnemonic, dag operands, dag attributes, string text, string rule,
                    list<Trait> traits = [], string types = "f32">
    : TT_PureOp<dialect, mnemonic, operands, attributes, text, rule, !listconcat([TT_Creates], traits), types> {
  let description = [{
    Makes a tensor from attributes alone. Equal ones may be merged, and those that nothing uses are removed.
  }];
}

class TTIR_FilledOp<string mnemonic, string text>
    : TT_CreationOp<TTIR_Dialect, mnemonic, (ins), (ins DenseI32ArrayAttr:$shape), text,
                    "creation", [ConstantLike, TT_FillsValues]> {
  let hasFolder = 1;
}

def TTIR_ZerosOp : TTIR_FilledOp<"zeros", "Zeros.">;
def TTIR_OnesOp : TTIR_FilledOp<"ones", "Ones.">;
def TTIR_FullOp : TT_CreationOp<TTIR_Dialect, "full", (ins), (ins DenseI32ArrayAttr:$shape, TT_Number:$fill_value),
    "One value everywhere.",
    "creation", [ConstantLike, TT_FillsValues], "@fill_value"> {
  let hasFolder = 1;
}
def TTIR_ConstantOp : TT_CreationOp<TTIR_Dialect, "constant", (ins), (ins ElementsAttr:$value),
    "The values of an attribute.", "constant", [ConstantLike], "@value"> {
  let hasFolder = 1;
}
def TTIR_RandOp : Op<TTIR_Dialect, "rand",
    [TT_Creates, TT_DrawsValues,
     TT_InferShape<(ins), "creationOfSize", "f32">]> {
  let summary = "Values drawn evenly from [low, high); a seed of 0 gives others in every run.";
  let arguments = (ins I32ArrayAttr:$size, TT_F32<"0.0">:$low, TT_F32<"1.0">:$high,
                       DefaultValuedAttr<UI32Attr, "0">:$seed);
  let results = (outs TT_FreshTensor:$result);
}

// The other dimensions of the result repeat the sequence, so the declared result determines them.
def TTIR_ArangeOp : Op<TTIR_Dialect, "arange", [
    Pure, TT_Creates,
    TT_InferShape<(ins), "arangeAlong", "f32">]> {
  let summary = "start, start + step, ... up to, not including, end, along `arange_dimension` of the result.";
  let arguments = (ins SI64Attr:$start, SI64Attr:$end, SI64Attr:$step, I64Attr:$arange_dimension);
  let results = (outs AnyRankedTensor:$result);
}

def TTIR_EmptyOp : Op<TTIR_Dialect, "empty", [TT_Creates]> {
  let summary = "A tensor of any values, to be written.";
  let results = (outs TT_FreshTensor:$result);
  let assemblyFormat = "`(` `)` attr-dict `:` type($result)";
}

#endif // TTMLIR_DIALECT_FAMILIES_CREATION_TD
