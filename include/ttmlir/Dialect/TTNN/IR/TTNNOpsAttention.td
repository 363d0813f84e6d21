//===- TTNNOpsAttention.td - attention, positions, heads --------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_TTNN_IR_TTNNOPSATTENTION_TD
#define TTMLIR_DIALECT_TTNN_IR_TTNNOPSATTENTION_TD

include "ttmlir/Dialect/Families/Attention.td"
include "ttmlir/Dialect/TTNN/IR/TTNNAttrs.td"
include "ttmlir/Dialect/TTNN/IR/TTNNOpsCompute.td"
include "ttmlir/Dialect/TTNN/IR/TTNNTypes.td"

defvar TTNN_AttentionExtras = (ins Optional<AnyRankedTensor>:$attention_mask, Optional<AnyRankedTensor>:$cur_pos_tensor,
                                   Optional<AnyRankedTensor>:$attention_sink);
defvar TTNN_DecodeAttributes = (ins TT_Bool<"true">:$is_causal, OptionalAttr<F32Attr>:$scale,
                                    OptionalAttr<UI32Attr>:$sliding_window_size,
                                    OptionalAttr<TTNN_SDPAProgramConfigAttr>:$program_config);

def TTNN_ScaledDotProductAttentionDecodeOp : TT_PureOp<TTNN_Dialect, "scaled_dot_product_attention_decode",
    !con(TT_QueryKeyValue, TTNN_AttentionExtras), TTNN_DecodeAttributes, TT_DecodeText, "attentionDecode",
    [AttrSizedOperandSegments, TT_SumsProducts]>;
def TTNN_PagedScaledDotProductAttentionDecodeOp : TT_PureOp<TTNN_Dialect,
    "paged_scaled_dot_product_attention_decode",
    !con(TT_QueryKeyValue, (ins AnyRankedTensor:$page_table), TTNN_AttentionExtras), TTNN_DecodeAttributes,
    TT_DecodeText, "pagedAttentionDecode", [AttrSizedOperandSegments, TT_SumsProducts]>;
def TTNN_ChunkedScaledDotProductAttentionOp : TT_PureOp<TTNN_Dialect, "chunked_scaled_dot_product_attention",
    !con(TT_QueryKeyValue, TT_Paged),
    (ins OptionalAttr<F32Attr>:$scale, OptionalAttr<TTNN_SDPAProgramConfigAttr>:$program_config),
    "Attention of a chunk of positions to a paged cache.", "chunkedAttention", [TT_SumsProducts]>;

def TTNN_FlashMlaPrefillOp : TT_LatentAttentionOp<TTNN_Dialect, "flash_mla_prefill",
    (ins Optional<AnyRankedTensor>:$attention_mask),
    "Attention over [batch, heads, positions, size] to keys whose beginnings are the values.",
    "latentAttention">;

class TTNN_RotaryOp<string mnemonic, dag operands, dag attributes, string rule>
    : TT_PureOp<TTNN_Dialect, mnemonic,
                !con((ins AnyRankedTensor:$input, AnyRankedTensor:$cos_cache, AnyRankedTensor:$sin_cache), operands),
                !con(attributes, TTNN_ComputeConfig), "The input turned by angles that its positions give.",
                rule>;
def TTNN_RotaryEmbeddingOp : TTNN_RotaryOp<"rotary_embedding", (ins), (ins OptionalAttr<UI32Attr>:$token_index),
    "rotary">;
def TTNN_RotaryEmbeddingLlamaOp : TTNN_RotaryOp<"rotary_embedding_llama", (ins AnyRankedTensor:$trans_mat),
    (ins TT_Bool<"false">:$is_decode_mode), "rotaryLlama">;

def TTNN_NLPConcatHeadsOp : TT_PureOp<TTNN_Dialect, "nlp_concat_heads", TT_Unary, (ins),
    "[batch, heads, positions, size] as [batch, 1, positions, heads * size].",
    "nlpConcatHeads", [TT_MovesValues]>;
def TTNN_NLPConcatHeadsDecodeOp : TT_PureOp<TTNN_Dialect, "nlp_concat_heads_decode", TT_Unary,
    (ins UI32Attr:$num_heads),
    "The first `num_heads` of [1, users, heads, size] as [1, 1, users, num_heads * size].",
    "joinDecodedHeads", [TT_MovesValues]>;
def TTNN_NLPCreateQKVHeadsDecodeOp : TT_PureOp<TTNN_Dialect, "nlp_create_qkv_heads_decode",
    !con(TT_Unary, (ins Optional<AnyRankedTensor>:$batch_offset)),
    (ins UI32Attr:$num_heads, OptionalAttr<UI32Attr>:$num_kv_heads, OptionalAttr<BoolAttr>:$overlap_qk_coregrid,
         OptionalAttr<UI32Attr>:$slice_size),
    "[1, 1, users, heads * size] of query, key and value side by side as three of [1, users, heads, size]; of "
    "`slice_size` users from the one that `batch_offset` holds.",
    "decodedHeads", [TT_MovesValues]> {
  let results = (outs AnyRankedTensor:$query, AnyRankedTensor:$key, AnyRankedTensor:$value);
}

defvar TTNN_NormProgramConfig = (ins OptionalAttr<TTNN_LayerNormShardedMultiCoreProgramConfigAttr>:$program_config);

class TTNN_DistributedNormOp<string mnemonic, dag parameters, dag attributes, string text>
    : TT_PureOp<TTNN_Dialect, mnemonic, !con(TT_Unary, parameters, (ins TTNN_Device:$device)), attributes, text,
                "distributedNorm",
                [AttrSizedOperandSegments]>;
def TTNN_DistributedLayerNormOp : TTNN_DistributedNormOp<"distributed_layer_norm",
    (ins Optional<AnyRankedTensor>:$weight, Optional<AnyRankedTensor>:$bias, Optional<AnyRankedTensor>:$residual),
    (ins UI32Attr:$cluster_axis, TT_F32<"1e-05">:$epsilon),
    "layer_norm of input + residual over a last dimension that lies on the chips along `cluster_axis`.">;
def TTNN_DistributedRMSNormOp : TTNN_DistributedNormOp<"distributed_rms_norm",
    (ins Optional<AnyRankedTensor>:$weight, Optional<AnyRankedTensor>:$residual, Optional<AnyRankedTensor>:$stats,
         Optional<TTNN_GlobalSemaphore>:$semaphore),
    !con((ins UI32Attr:$cluster_axis, TT_F32<"1e-12">:$epsilon), TTNN_FabricConfig, TTNN_ComputeConfig,
         TTNN_NormProgramConfig),
    "rms_norm of input + residual over a last dimension that lies on the chips along `cluster_axis`.">;

// A norm of rows that are split over chips, in steps: sums of each chip's part of the rows, which are gathered, then
// the norm of the part. Sums are in the first column of a tile each, and those of the squares come first.
class TTNN_PreAllGatherOp<string mnemonic, dag more, dag attributes, string rule, string text,
                          list<Trait> traits = []>
    : TT_PureOp<TTNN_Dialect, mnemonic, !con(TT_Unary, more),
                !con(TTNN_ComputeConfig, TTNN_NormProgramConfig, attributes), text,
                rule, traits>;
def TTNN_RMSNormPreAllGatherOp : TTNN_PreAllGatherOp<"rms_norm_pre_all_gather",
    (ins Optional<AnyRankedTensor>:$residual), (ins OptionalAttr<BoolAttr>:$use_2d_core_grid), "rowSquares",
    "Sums of the squares of input + residual over the last dimension, in the first of 32 columns.">;
def TTNN_LayerNormPreAllGatherOp : TTNN_PreAllGatherOp<"layer_norm_pre_all_gather",
    (ins Optional<AnyRankedTensor>:$residual_input, Optional<AnyRankedTensor>:$recip), (ins), "rowMoments",
    "Sums of the squares and of the elements of input + residual over the last dimension, in columns 0 and 32 of 64.",
    [AttrSizedOperandSegments]>;
def TTNN_LayerNormPostAllGatherOp : TT_PureOp<TTNN_Dialect, "layer_norm_post_all_gather",
    (ins AnyRankedTensor:$input, AnyRankedTensor:$stats, Optional<AnyRankedTensor>:$weight,
         Optional<AnyRankedTensor>:$bias),
    !con((ins TT_F32<"1e-12">:$epsilon), TTNN_ComputeConfig, TTNN_NormProgramConfig),
    "layer_norm of rows whose sums over all chips, 64 columns a chip, are `stats`.",
    "normOfSums",
    [AttrSizedOperandSegments]>;

def TTNN_DitRMSNormUnaryFusedOp : TT_PureOp<TTNN_Dialect, "dit_rms_norm_unary_fused",
    (ins AnyRankedTensor:$input, Optional<AnyRankedTensor>:$weight, Optional<AnyRankedTensor>:$bias,
         Optional<AnyRankedTensor>:$residual_input),
    !con((ins TT_F32<"1e-5">:$epsilon, OptionalAttr<StrAttr>:$activation,
              OptionalAttr<TTNN_MemoryConfigAttr>:$memory_config), TTNN_ComputeConfig),
    "activation(rms_norm(input + residual_input) * weight + bias), over the last dimension.",
    "residualNorm",
    [AttrSizedOperandSegments]>;

#endif // TTMLIR_DIALECT_TTNN_IR_TTNNOPSATTENTION_TD
