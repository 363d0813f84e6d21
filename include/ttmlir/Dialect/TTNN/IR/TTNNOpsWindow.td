//===- TTNNOpsWindow.td - TTNN's convolution and pooling --------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Images and sequences are flattened: 1 x 1 x (batch * height * width) x channels (see Families/Window.td). Volumes are
// batch x depth x height x width x channels.
//
//===----------------------------------------------------------------------===//

#ifndef TTMLIR_DIALECT_TTNN_IR_TTNNOPSWINDOW_TD
#define TTMLIR_DIALECT_TTNN_IR_TTNNOPSWINDOW_TD

include "ttmlir/Dialect/Families/Window.td"
include "ttmlir/Dialect/TTNN/IR/TTNNAttrs.td"
include "ttmlir/Dialect/TTNN/IR/TTNNTypes.td"

defvar TTNN_ConvOperands = !con(TT_ConvOperands, (ins TTNN_Device:$device));
defvar TTNN_ConvInput = (ins I32Attr:$in_channels, I32Attr:$out_channels, I32Attr:$batch_size, I32Attr:$input_height,
                             I32Attr:$input_width, DenseI32ArrayAttr:$kernel_size, DenseI32ArrayAttr:$stride,
                             DenseI32ArrayAttr:$padding);
defvar TTNN_ConvConfig = (ins TT_DType:$dtype, OptionalAttr<TTNN_Conv2dConfigAttr>:$conv2d_config,
                              OptionalAttr<TTNN_DeviceComputeKernelConfig>:$compute_config,
                              OptionalAttr<TTNN_Conv2dSliceConfigAttr>:$conv2d_slice_config);

// The bias is optional and the device is not, so three operands are never ambiguous.
class TTNN_ConvOp<string mnemonic, dag extra, string text, string rule>
    : TT_PureOp<TTNN_Dialect, mnemonic, TTNN_ConvOperands,
                !con(TTNN_ConvInput, extra, (ins DenseI32ArrayAttr:$dilation, I32Attr:$groups), TTNN_ConvConfig), text, rule,
                [TT_SumsProducts, TT_Convolves, TT_TakesWeight]> {
  let description = [{
    The input is NHWC with batch, height and width in one dimension ([1, 1, N * H * W, C]); the sizes are attributes. The
    weight is [out, in / groups, kernel height, kernel width]. `padding` is [height, width] or [top, bottom, left, right].
  }];
}

def TTNN_Conv2dOp : TTNN_ConvOp<"conv2d", (ins),
    "Convolution; the weight is [out channels, in channels / groups, height, width] or prepared.", "conv2d">;
def TTNN_ConvTranspose2dOp : TTNN_ConvOp<"conv_transpose2d", (ins DenseI32ArrayAttr:$output_padding),
    "Transposed convolution; the weight is [in channels, out channels / groups, height, width] or prepared.",
    "convTranspose2d">;

def TTNN_Conv1dOp : TT_PureOp<TTNN_Dialect, "conv1d", TTNN_ConvOperands,
    (ins I32Attr:$in_channels, I32Attr:$out_channels, I32Attr:$batch_size, I32Attr:$input_length, I32Attr:$kernel_size,
         I32Attr:$stride, DenseI32ArrayAttr:$padding, I32Attr:$dilation, I32Attr:$groups,
         OptionalAttr<TTNN_Conv2dConfigAttr>:$conv2d_config,
         OptionalAttr<TTNN_DeviceComputeKernelConfig>:$compute_config,
         OptionalAttr<TTNN_Conv2dSliceConfigAttr>:$conv2d_slice_config),
    "Convolution of sequences; the weight is [out channels, in channels / groups, length], or prepared.", "conv1d",
    [TT_SumsProducts, TT_Convolves]>;

def TTNN_Conv3dOp : TT_PureOp<TTNN_Dialect, "conv3d", TTNN_ConvOperands,
    (ins I32Attr:$in_channels, I32Attr:$out_channels, I32Attr:$batch_size, I32Attr:$input_depth, I32Attr:$input_height,
         I32Attr:$input_width, DenseI32ArrayAttr:$kernel_size, DenseI32ArrayAttr:$stride, DenseI32ArrayAttr:$padding,
         OptionalAttr<DenseI32ArrayAttr>:$dilation, DefaultValuedAttr<StrAttr, "\"zeros\"">:$padding_mode, I32Attr:$groups,
         OptionalAttr<TTNN_Conv3dConfigAttr>:$conv3d_config,
         OptionalAttr<TTNN_DeviceComputeKernelConfig>:$compute_config),
    "Convolution of volumes; the weight is [out channels, in channels / groups, depth, height, width], or prepared in "
    "blocks of `conv3d_config`'s channels. `padding_mode` is 'zeros', or 'replicate' for the nearest element.", "conv3d",
    [TT_SumsProducts, TT_Convolves]>;

def TTNN_ConvTranspose3dOp : TT_PureOp<TTNN_Dialect, "conv_transpose3d", TTNN_ConvOperands,
    (ins I32Attr:$in_channels, I32Attr:$out_channels, I32Attr:$batch_size, I32Attr:$input_depth, I32Attr:$input_height,
         I32Attr:$input_width, DenseI32ArrayAttr:$kernel_size, DenseI32ArrayAttr:$stride, DenseI32ArrayAttr:$padding,
         DenseI32ArrayAttr:$output_padding, DenseI32ArrayAttr:$dilation, I32Attr:$groups,
         OptionalAttr<TTNN_DeviceComputeKernelConfig>:$compute_config),
    "Transposed convolution of volumes; the weight is [in channels, out channels / groups, depth, height, width].",
    "convTranspose3d", [TT_SumsProducts, TT_Convolves]>;

def TTNN_PrepareConv3dWeightsOp : TT_PureOp<TTNN_Dialect, "prepare_conv3d_weights",
    (ins AnyRankedTensor:$weight_tensor, TTNN_Device:$device),
    (ins I32Attr:$groups, I32Attr:$c_in_block, I32Attr:$alignment),
    "A weight as conv3d reads it: a matrix [rows, out channels] whose rows are blocks of `c_in_block` channels (0: one "
    "block of all), in each the places of the window, at each place the channels; filled up with zeros to `alignment`.",
    "prepareVolumes", [TT_MovesValues, TT_FillsValues]>;

// The result has the order that the convolution reads fastest; the library determines its shape.
class TTNN_PrepareOp<string mnemonic, string operand, dag format, dag window, dag bias, dag extra, string text>
    : Op<TTNN_Dialect, mnemonic, [
          Pure, TT_MovesValues, TT_FillsValues,
          TT_CheckShape<!con(!dag(ins, [AnyRankedTensor], [operand]), (ins TTNN_Device:$device)), mnemonic>]> {
  let description = [{
    Brings a weight or bias into the form that the convolution with these attributes takes, so that it is done once.
  }];
  let summary = text;
  let arguments = !con(!dag(ins, [AnyRankedTensor], [operand]), (ins TTNN_Device:$device,
                       TTNN_MemoryConfigAttr:$input_memory_config, TTNN_LayoutAttr:$input_tensor_layout), format,
                       TTNN_ConvInput, window, (ins DenseI32ArrayAttr:$dilation), bias,
                       (ins I32Attr:$groups, TTCore_DataTypeAttr:$input_dtype,
                            OptionalAttr<TTCore_DataTypeAttr>:$output_dtype,
                            OptionalAttr<TTNN_Conv2dConfigAttr>:$conv2d_config,
                            OptionalAttr<TTNN_DeviceComputeKernelConfig>:$compute_config,
                            OptionalAttr<TTNN_Conv2dSliceConfigAttr>:$conv2d_slice_config), extra);
  let results = (outs AnyRankedTensor:$result);
}
defvar TTNN_WeightFormat = (ins StrAttr:$weights_format);
defvar TTNN_HasBias = (ins BoolAttr:$has_bias);

def TTNN_PrepareConv2dWeightsOp : TTNN_PrepareOp<"prepare_conv2d_weights", "weight_tensor", TTNN_WeightFormat, (ins),
    TTNN_HasBias, (ins), "A weight as conv2d reads it.">;
def TTNN_PrepareConv2dBiasOp : TTNN_PrepareOp<"prepare_conv2d_bias", "bias_tensor", (ins), (ins), (ins), (ins),
    "A bias as conv2d reads it.">;
def TTNN_PrepareConvTranspose2dWeightsOp : TTNN_PrepareOp<"prepare_conv_transpose2d_weights", "weight_tensor",
    TTNN_WeightFormat, (ins DefaultValuedAttr<DenseI32ArrayAttr, "{0, 0}">:$output_padding), TTNN_HasBias,
    (ins TT_Bool<"true">:$mirror_kernel), "A weight as conv_transpose2d reads it.">;
def TTNN_PrepareConvTranspose2dBiasOp : TTNN_PrepareOp<"prepare_conv_transpose2d_bias", "bias_tensor", (ins), (ins),
    (ins), (ins), "A bias as conv_transpose2d reads it.">;

class TTNN_PoolOp<string mnemonic, string text, dag extra = (ins), string rule = "pool2d">
    : TT_PureOp<TTNN_Dialect, mnemonic, TT_Unary,
                !con((ins SI32Attr:$batch_size, SI32Attr:$input_height, SI32Attr:$input_width, SI32Attr:$channels,
                          DenseI32ArrayAttr:$kernel_size, DenseI32ArrayAttr:$stride, DenseI32ArrayAttr:$padding,
                          DenseI32ArrayAttr:$dilation, OptionalAttr<TTNN_TensorMemoryLayoutAttr>:$applied_shard_scheme,
                          BoolAttr:$ceil_mode, TT_Bool<"true">:$reallocate_halo_output), extra,
                     (ins OptionalAttr<BoolAttr>:$config_tensors_in_dram)), text, rule, [], "input i32"> {
  let description = [{
    The input is NHWC with batch, height and width in one dimension ([1, 1, N * H * W, C]); the sizes are attributes. Padding
    does not win a maximum.
  }];
}

def TTNN_MaxPool2dOp : TTNN_PoolOp<"max_pool2d", "Greatest value of each window.">;
def TTNN_AvgPool2dOp : TTNN_PoolOp<"avg_pool2d", "Mean of each window, the padding counted or not.",
    (ins TT_Bool<"true">:$count_include_pad)>;
def TTNN_MaxPool2dWithIndicesOp : TTNN_PoolOp<"max_pool2d_with_indices",
    "Greatest value of each window, and its position in height * width.", (ins), "pool2dWithIndices"> {
  let results = (outs AnyRankedTensor:$result, AnyRankedTensor:$result_indices);
}

#endif // TTMLIR_DIALECT_TTNN_IR_TTNNOPSWINDOW_TD
