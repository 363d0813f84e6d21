//===- Normalization.td - softmax and norms --------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_FAMILIES_NORMALIZATION_TD
#define TTMLIR_DIALECT_FAMILIES_NORMALIZATION_TD

include "ttmlir/Dialect/Families/Base.td"

class TT_SoftmaxOp<Dialect dialect, dag extra = (ins)>
    : TT_PureOp<dialect, "softmax", TT_Unary,
                !con((ins SI32Attr:$dimension, TT_Bool<"false">:$numericStable), extra),
                "e^input divided by its sum along `dimension`; `numericStable` subtracts the maximum first.",
                "softmax">;

defvar TT_NormOperands =
    (ins AnyRankedTensor:$input, Optional<AnyRankedTensor>:$weight, Optional<AnyRankedTensor>:$bias);

class TTIR_NormOp<string mnemonic, string text>
    : TT_PureOp<TTIR_Dialect, mnemonic, TT_NormOperands,
                (ins DenseI64ArrayAttr:$normalized_shape, TT_F32<"1e-05">:$epsilon), text,
                "layerNorm",
                [AttrSizedOperandSegments]>;

class TTNN_NormOp<string mnemonic, string text, dag extra = (ins)>
    : TT_PureOp<TTNN_Dialect, mnemonic, TT_NormOperands, !con((ins TT_F32<"1e-12">:$epsilon), extra), text,
                "layerNormLastDim",
                [AttrSizedOperandSegments]>;

class TT_GroupNormOp<Dialect dialect, dag extra>
    : TT_PureOp<dialect, "group_norm",
                (ins AnyRankedTensor:$input, Optional<AnyRankedTensor>:$input_mask, Optional<AnyRankedTensor>:$weight,
                     Optional<AnyRankedTensor>:$bias),
                !con((ins I64Attr:$num_groups, TT_F32<"1e-12">:$epsilon), extra),
                "Normalizes each group of channels to mean 0 and variance 1, times weight, plus bias.",
                "groupNorm", [AttrSizedOperandSegments]> {
  let description = [{
    Mean and variance are taken over the elements of one sample and one group of channels; weight and bias are per channel.
  }];
}

defvar TT_LayerNormText = "(input - mean) / sqrt(variance + epsilon) * weight + bias, over the last dimensions.";
defvar TT_RMSNormText = "input / sqrt(mean(input^2) + epsilon) * weight + bias, over the last dimensions.";

def TTIR_SoftmaxOp : TT_SoftmaxOp<TTIR_Dialect>;
def TTIR_LayerNormOp : TTIR_NormOp<"layer_norm", TT_LayerNormText>;
def TTIR_RMSNormOp : TTIR_NormOp<"rms_norm", TT_RMSNormText>;
def TTNN_LayerNormOp : TTNN_NormOp<"layer_norm", TT_LayerNormText>;
def TTIR_GroupNormOp : TT_GroupNormOp<TTIR_Dialect, (ins TT_I64<"3">:$channel_dim)>;
def TTNN_GroupNormOp : TT_GroupNormOp<TTNN_Dialect, (ins)>;

def TTIR_BatchNormInferenceOp : TT_PureOp<TTIR_Dialect, "batch_norm_inference",
    (ins AnyRankedTensor:$operand, AnyRankedTensor:$scale, AnyRankedTensor:$offset, AnyRankedTensor:$mean,
         AnyRankedTensor:$variance),
    (ins F32Attr:$epsilon, I32Attr:$dimension),
    "(operand - mean) / sqrt(variance + epsilon) * scale + offset, per index of `dimension`.", "batchNorm">;

def TTIR_BatchNormTrainingOp : TT_PureOp<TTIR_Dialect, "batch_norm_training",
    (ins AnyRankedTensor:$operand, AnyRankedTensor:$scale, AnyRankedTensor:$offset, AnyRankedTensor:$running_mean,
         AnyRankedTensor:$running_variance),
    (ins F32Attr:$epsilon, I32Attr:$dimension, F32Attr:$momentum),
    "The operand normalized by its own mean and variance per index of `dimension`, "
    "and the updated running mean and variance.",
    "batchNormTraining", [], "operand running_mean running_variance"> {
  let results = (outs AnyRankedTensor:$result, AnyRankedTensor:$batch_mean, AnyRankedTensor:$batch_variance);
}

class TTIR_DistributedNormOp<string mnemonic, dag parameters, string text>
    : TT_PureOp<TTIR_Dialect, mnemonic, !con(TT_Unary, parameters),
                (ins UI32Attr:$cluster_axis, TT_F32<"1e-05">:$epsilon), text,
                "distributedNorm",
                [AttrSizedOperandSegments, TT_CollectiveTrait]>;

def TTIR_DistributedLayerNormOp : TTIR_DistributedNormOp<"distributed_layer_norm",
    (ins Optional<AnyRankedTensor>:$weight, Optional<AnyRankedTensor>:$bias, Optional<AnyRankedTensor>:$residual),
    "layer_norm of input + residual over a last dimension that lies on the chips along `cluster_axis`.">;
def TTIR_DistributedRMSNormOp : TTIR_DistributedNormOp<"distributed_rms_norm",
    (ins Optional<AnyRankedTensor>:$weight, Optional<AnyRankedTensor>:$residual),
    "rms_norm of input + residual over a last dimension that lies on the chips along `cluster_axis`.">;

#endif // TTMLIR_DIALECT_FAMILIES_NORMALIZATION_TD
