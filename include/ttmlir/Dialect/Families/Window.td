//===- Window.td - convolution and pooling ---------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// TTIR states sizes as one number or an array, and padding as one number, [height, width] or [top, left, bottom,
// right]. TTNN states padding as [height, width] or [top, bottom, left, right], and works on the flattened shape 1 x 1
// x (batch * height * width) x channels, so it has batch, height, width and channels as attributes.
//
//===----------------------------------------------------------------------===//

#ifndef TTMLIR_DIALECT_FAMILIES_WINDOW_TD
#define TTMLIR_DIALECT_FAMILIES_WINDOW_TD

include "ttmlir/Dialect/Families/Base.td"
include "ttmlir/Dialect/TTIR/IR/TTIRAttrs.td"

defvar TT_ConvOperands = (ins AnyRankedTensor:$input, AnyRankedTensor:$weight, Optional<AnyRankedTensor>:$bias);

def TTIR_Conv2dOp : TT_PureOp<TTIR_Dialect, "conv2d", TT_ConvOperands,
    (ins TT_IntOrInts:$stride, TT_IntOrInts:$padding, TT_IntOrInts:$dilation, I32Attr:$groups, TT_I64<"0">:$batch_dim,
         TT_I64<"1">:$height_dim, TT_I64<"2">:$width_dim, TT_I64<"3">:$channel_dim,
         OptionalAttr<TTIR_FlattenedCompatInfoAttr>:$flattened_compat_info),
    "Convolution of images with a weight [out channels, in channels / groups, kernel height, kernel width].",
    "convolution2d", [TT_SumsProducts, TT_Convolves, TT_TakesWeight]>;

def TTIR_ConvTranspose2dOp : TT_PureOp<TTIR_Dialect, "conv_transpose2d", TT_ConvOperands,
    (ins TT_IntOrInts:$stride, TT_IntOrInts:$padding, TT_IntOrInts:$output_padding, TT_IntOrInts:$dilation,
         I32Attr:$groups, TT_I64<"0">:$batch_dim, TT_I64<"1">:$height_dim, TT_I64<"2">:$width_dim,
         TT_I64<"3">:$channel_dim, OptionalAttr<TTIR_FlattenedCompatInfoAttr>:$flattened_compat_info),
    "Transposed convolution with a weight [in channels, out channels / groups, kernel height, kernel width].",
    "transposedConvolution2d", [TT_SumsProducts, TT_Convolves, TT_TakesWeight]>;

def TTIR_Conv1dOp : TT_PureOp<TTIR_Dialect, "conv1d", TT_ConvOperands,
    (ins TT_IntOrInts:$stride, TT_IntOrInts:$padding, TT_IntOrInts:$dilation, I32Attr:$groups, TT_I64<"0">:$batch_dim,
         TT_I64<"1">:$length_dim, TT_I64<"2">:$channel_dim),
    "Convolution of sequences with a weight [out channels, in channels / groups, kernel length].",
    "convolution1d", [TT_SumsProducts, TT_Convolves]>;

def TTIR_Conv3dOp : TT_PureOp<TTIR_Dialect, "conv3d", TT_ConvOperands,
    (ins TT_IntOrInts:$stride, TT_IntOrInts:$padding, OptionalAttr<TT_IntOrInts>:$dilation, I32Attr:$groups,
         TT_I64<"0">:$batch_dim, TT_I64<"1">:$depth_dim, TT_I64<"2">:$height_dim, TT_I64<"3">:$width_dim,
         TT_I64<"4">:$channel_dim, DefaultValuedAttr<StrAttr, "\"zeros\"">:$padding_mode),
    "Convolution of volumes with a weight [out channels, in channels / groups, kernel depth, height, width]; without "
    "`dilation` the places of the kernel are neighbours.",
    "convolution3d", [TT_SumsProducts, TT_Convolves]>;

def TTIR_ConvTranspose3dOp : TT_PureOp<TTIR_Dialect, "conv_transpose3d", TT_ConvOperands,
    (ins TT_IntOrInts:$stride, TT_IntOrInts:$padding, TT_IntOrInts:$output_padding, TT_IntOrInts:$dilation,
         I32Attr:$groups, TT_I64<"0">:$batch_dim, TT_I64<"1">:$depth_dim, TT_I64<"2">:$height_dim,
         TT_I64<"3">:$width_dim, TT_I64<"4">:$channel_dim),
    "Transposed convolution of volumes with a weight [in channels, out channels / groups, kernel depth, height, width].",
    "transposedConvolution3d", [TT_SumsProducts, TT_Convolves]>;

defvar TTIR_PoolSizes = (ins TT_IntOrInts:$kernel, TT_IntOrInts:$stride, TT_IntOrInts:$dilation, TT_IntOrInts:$padding,
                             BoolAttr:$ceil_mode);

class TTIR_PoolOp<string mnemonic, string text, list<Trait> traits, dag extra = (ins), dag outputs = (ins),
                  string rule = "pooling2d">
    : TT_PureOp<TTIR_Dialect, mnemonic, !con(TT_Unary, outputs),
                !con(TTIR_PoolSizes, extra, (ins OptionalAttr<TTIR_FlattenedCompatInfoAttr>:$flattened_compat_info)),
                text, rule, traits, "input i32"> {
  let description = [{
    A window of `kernel` places slides over height and width of an NHWC tensor. `padding` is of both sides, or top, left,
    bottom, right; with `ceil_mode` the last window may begin where it is not whole. Padding does not win a maximum.
  }];
}

class TTIR_Pool3dOp<string mnemonic, string text, list<Trait> traits, dag extra = (ins), string rule = "pooling3d">
    : TT_PureOp<TTIR_Dialect, mnemonic, TT_Unary, !con(TTIR_PoolSizes, extra), text, rule, traits, "input i32"> {
  let description = [{
    A window of `kernel` places slides over depth, height and width of an NDHWC tensor. `padding` is of both sides, for
    all dimensions or for each, or front, top, left, back, bottom, right; with `ceil_mode` the last window may begin
    where it is not whole. Padding does not win a maximum.
  }];
}

let hasFolder = 1 in {
def TTIR_MaxPool2dOp : TTIR_PoolOp<"max_pool2d", "Greatest value of each window of an NHWC tensor.", [TT_KeepsRange]>;
def TTIR_MaxPool3dOp : TTIR_Pool3dOp<"max_pool3d", "Greatest value of each window of an NDHWC tensor.",
    [TT_KeepsRange]>;
}
def TTIR_AvgPool2dOp : TTIR_PoolOp<"avg_pool2d",
    "Mean of each window of an NHWC tensor, the padding counted or not.", [], (ins TT_Bool<"true">:$count_include_pad)>;
def TTIR_AvgPool3dOp : TTIR_Pool3dOp<"avg_pool3d",
    "Mean of each window of an NDHWC tensor, the padding counted or not.", [],
    (ins TT_Bool<"true">:$count_include_pad)>;
let results = (outs AnyRankedTensor:$result, AnyRankedTensor:$result_indices) in {
def TTIR_MaxPool2dWithIndicesOp : TTIR_PoolOp<"max_pool2d_with_indices",
    "Greatest value of each window of an NHWC tensor, and its position in height * width.", [], (ins),
    (ins Variadic<AnyRankedTensor>:$output), "pooling2dWithIndices">;
def TTIR_MaxPool3dWithIndicesOp : TTIR_Pool3dOp<"max_pool3d_with_indices",
    "Greatest value of each window of an NDHWC tensor, and its position in depth * height * width.", [],
    (ins), "pooling3dWithIndices">;
}
defm GlobalAvgPool2d : TT_Both<"global_avg_pool2d", TT_Unary, (ins), "Mean over height and width of an NHWC tensor.",
    "globalPool2d">;

#endif // TTMLIR_DIALECT_FAMILIES_WINDOW_TD
