//===- DataMovement.td - data movement ops -----------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_FAMILIES_DATAMOVEMENT_TD
#define TTMLIR_DIALECT_FAMILIES_DATAMOVEMENT_TD

include "ttmlir/Dialect/Families/Base.td"

class TT_PermuteOp<Dialect dialect, dag extra = (ins)>
    : TT_PureOp<dialect, "permute", TT_Unary, !con((ins DenseI64ArrayAttr:$permutation), extra),
                "Dimension i of the result is dimension permutation[i] of the input.",
                "permute", [TT_MovesValues, TT_Rearranges]> {
  let hasFolder = 1;
}

class TT_PadOp<Dialect dialect, string more, string rule, dag extra = (ins)>
    : TT_PureOp<dialect, "pad", TT_Unary, !con((ins DenseI32ArrayAttr:$padding, F32Attr:$value), extra),
                "`value` around the input: `padding` has a number before and one after, for each dimension" # more,
                rule, [TT_MovesValues, TT_FillsValues]> {
  let hasFolder = 1;
}

class TT_UpsampleOp<Dialect dialect, string mnemonic>
    : TT_PureOp<dialect, mnemonic, TT_Unary,
                (ins TT_ScaleFactor:$scale_factor, DefaultValuedAttr<StrAttr, "\"nearest\"">:$mode),
                "Height and width of an NHWC tensor multiplied, `nearest` or `bilinear`.",
                "upsample"> {
  let hasFolder = 1;
}

class TT_GatherOp<Dialect dialect, Attr dimension>
    : TT_PureOp<dialect, "gather", (ins AnyRankedTensor:$input, AnyRankedTensor:$index), (ins dimension:$dim),
                "The values of the input at the positions `index` along `dim`.",
                "gather", [TT_MovesValues]>;

class TT_ScatterOp<Dialect dialect, Attr dimension> : TT_PureOp<dialect, "scatter",
    (ins AnyRankedTensor:$input, AnyRankedTensor:$index, AnyRankedTensor:$source),
    (ins dimension:$dim, TTCore_ReduceTypeAttr:$scatter_reduce_type),
    "The input with the values of `source` written to, or combined with, the positions `index` along `dim`.",
    "scatter">;

let hasFolder = 1 in
defm Concat : TT_Both<"concat", (ins Variadic<AnyRankedTensor>:$inputs), (ins SI32Attr:$dim),
    "The inputs one after another along `dim`.", "concat", [TT_MovesValues]>;
let hasFolder = 1 in
defm Transpose : TT_Both<"transpose", TT_Unary, (ins SI32Attr:$dim0, SI32Attr:$dim1),
    "Two dimensions exchanged.", "transpose", [TT_MovesValues, TT_Rearranges]>;
let hasFolder = 1 in
defm SliceStatic : TT_Both<"slice_static", TT_Unary,
    (ins I32ArrayAttr:$begins, I32ArrayAttr:$ends, I32ArrayAttr:$step),
    "Every `step`-th value from `begins` to, not including, `ends`; negative positions count from the end, and negative "
    "steps go backward.",
    "slice", [TT_MovesValues]>;
let hasFolder = 1 in
defm RepeatInterleave : TT_Both<"repeat_interleave", TT_Unary, (ins UI32Attr:$repeats, SI32Attr:$dim),
    "Each value along `dim` `repeats` times in a row.",
    "repeatInterleave", [TT_MovesValues, TT_Repeats]>;
defm Roll : TT_Both<"roll", TT_Unary, (ins DenseI64ArrayAttr:$shifts, DenseI64ArrayAttr:$dims),
    "Moves values along `dims` by `shifts` places; those that leave at the end come in at the front.",
    "roll", [TT_MovesValues]>;
defm Embedding : TT_Both<"embedding", (ins AnyRankedTensor:$input, AnyRankedTensor:$weight), (ins),
    "The rows of `weight` that `input` names.", "embedding", [TT_MovesValues], "weight">;
let hasFolder = 1 in
defm Reshape : TT_Both<"reshape", TT_Unary, (ins I32ArrayAttr:$shape), "The same values, row-major, in another shape.",
    "reshape", [TT_MovesValues, TT_Rearranges, TT_KeepsOrder]>;

// Begins and ends are values, so the declared result determines its size.
class TT_SliceDynamicOp<Dialect dialect> : Op<dialect, "slice_dynamic", [
    Pure, TT_MovesValues,
    TT_InferShape<(ins AnyRankedTensor:$input, AnyRankedTensor:$begins, AnyRankedTensor:$ends), "sliceDynamic">]> {
  let summary = "Slices as `slice_static` does, with begins and ends that are known only at run time.";
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$begins, AnyRankedTensor:$ends,
                       OptionalAttr<I32ArrayAttr>:$step);
  let results = (outs AnyRankedTensor:$result);
}

def TTIR_SliceDynamicOp : TT_SliceDynamicOp<TTIR_Dialect>;
def TTNN_SliceDynamicOp : TT_SliceDynamicOp<TTNN_Dialect>;
def TTIR_PermuteOp : TT_PermuteOp<TTIR_Dialect>;
def TTIR_PadOp : TT_PadOp<TTIR_Dialect, "; a negative number takes elements away.", "padOrCrop">;
def TTIR_GatherOp : TT_GatherOp<TTIR_Dialect, I32Attr>;
def TTNN_GatherOp : TT_GatherOp<TTNN_Dialect, SI32Attr>;
def TTIR_ScatterOp : TT_ScatterOp<TTIR_Dialect, I32Attr>;
def TTNN_ScatterOp : TT_ScatterOp<TTNN_Dialect, SI32Attr>;
def TTIR_Upsample2dOp : TT_UpsampleOp<TTIR_Dialect, "upsample2d">;
def TTNN_UpsampleOp : TT_UpsampleOp<TTNN_Dialect, "upsample">;

def TTIR_BroadcastOp : TT_PureOp<TTIR_Dialect, "broadcast", TT_Unary, (ins DenseI64ArrayAttr:$broadcast_dimensions),
    "Each dimension of size 1 repeated as often as `broadcast_dimensions` says.",
    "broadcastTo", [TT_MovesValues, TT_Repeats]> {
  let hasFolder = 1;
}
def TTIR_RepeatOp : TT_PureOp<TTIR_Dialect, "repeat", TT_Unary, (ins DenseI64ArrayAttr:$repeat_dimensions),
    "The whole input repeated along each dimension.",
    "repeatDimensions", [TT_MovesValues, TT_Repeats]> {
  let hasFolder = 1;
}
def TTIR_ReverseOp : TT_PureOp<TTIR_Dialect, "reverse", TT_Unary, (ins DenseI64ArrayAttr:$dimensions),
    "The order along `dimensions` reversed.", "reverse", [TT_MovesValues]> {
  let hasFolder = 1;
}
def TTIR_SqueezeOp : TT_PureOp<TTIR_Dialect, "squeeze", TT_Unary, (ins SI32Attr:$dim),
    "Without the dimension `dim`, whose size is 1.", "squeeze", [TT_MovesValues, TT_Rearranges, TT_KeepsOrder]> {
  let hasFolder = 1;
}
def TTIR_UnsqueezeOp : TT_PureOp<TTIR_Dialect, "unsqueeze", TT_Unary, (ins SI32Attr:$dim),
    "A further dimension of size 1, before `dim`.", "unsqueeze",
    [TT_MovesValues, TT_Rearranges, TT_KeepsOrder]> {
  let hasFolder = 1;
}
def TTIR_RearrangeOp : TT_PureOp<TTIR_Dialect, "rearrange", TT_Unary, (ins StrAttr:$pattern),
    "Dimensions reordered and combined by a pattern of names, such as `b h w c -> b (h w) c`.", "rearrange",
    [TT_MovesValues, TT_Rearranges]> {
  let description = [{
    The left side of `pattern` names the dimensions of the input, the right side the dimensions of the result; every name
    is on both, once. Names in parentheses are one dimension, of the product of their sizes. `1` and `()` are a dimension of
    size 1, on either side, and `...` is any number of dimensions. A product on the left is an error: the op does not say
    the sizes of its factors.
  }];
}
def TTIR_IndexOp : TT_PureOp<TTIR_Dialect, "index", TT_Unary,
    (ins I32Attr:$dim, I32Attr:$begin, I32Attr:$end, I32Attr:$step),
    "Every `step`-th value along `dim` from `begin` up to, not including, `end`.",
    "index", [TT_MovesValues]> {
  let hasFolder = 1;
}
def TTIR_IndexSelectOp : TT_PureOp<TTIR_Dialect, "index_select", TT_Unary,
    (ins SI32Attr:$dim, SI32Attr:$begin, SI32Attr:$length, DefaultValuedOptionalAttr<SI32Attr, "0">:$stride),
    "`length` values along `dim` from `begin`, and again every `stride` values; a stride of 0 takes them once.",
    "indexSelect", [TT_MovesValues]>;
def TTIR_GetDimensionSizeOp : TT_PureOp<TTIR_Dialect, "get_dimension_size", (ins AnyRankedTensor:$operand),
    (ins I32Attr:$dimension), "The size of a dimension, as a scalar.",
    "dimensionSize", [], "i32"> {
  let hasFolder = 1;
}
def TTIR_EmbeddingBackwardOp : TT_PureOp<TTIR_Dialect, "embedding_backward",
    (ins AnyRankedTensor:$input, AnyRankedTensor:$weight, AnyRankedTensor:$in_gradient), (ins),
    "Gradient of `embedding` with respect to `weight`.",
    "embeddingBackward", [], "weight">;
def TTNN_EmbeddingBackwardOp : TT_PureOp<TTNN_Dialect, "embedding_bw",
    (ins AnyRankedTensor:$input, AnyRankedTensor:$weight, AnyRankedTensor:$in_gradient), (ins),
    "Gradient of `embedding` with respect to `weight`.",
    "embeddingBackward", [], "weight">;

#endif // TTMLIR_DIALECT_FAMILIES_DATAMOVEMENT_TD
