//===- TTNNOpsAttention.td - attention, positions, heads --------*- tablegen -*-===//

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

def TTNN_ScaledDotProductAttentionDecodeOp : TT_QueryAttentionOp<TTNN_Dialect, "scaled_dot_product_attention_decode",
    !con(TT_QueryKeyValue, TTNN_AttentionExtras), TTNN_DecodeAttributes, TT_DecodeText, [AttrSizedOperandSegments]>;
def TTNN_PagedScaledDotProductAttentionDecodeOp : TT_QueryAttentionOp<TTNN_Dialect,
    "paged_scaled_dot_product_attention_decode",
    !con(TT_QueryKeyValue, (ins AnyRankedTensor:$page_table), TTNN_AttentionExtras), TTNN_DecodeAttributes,
    TT_DecodeText, [AttrSizedOperandSegments]>;
def TTNN_ChunkedScaledDotProductAttentionOp : TT_QueryAttentionOp<TTNN_Dialect, "chunked_scaled_dot_product_attention",
    !con(TT_QueryKeyValue, TT_Paged),
    (ins OptionalAttr<F32Attr>:$scale, OptionalAttr<TTNN_SDPAProgramConfigAttr>:$program_config),
    "Attention of a chunk of positions to a paged cache.">;

class TTNN_RotaryOp<string mnemonic, dag operands, dag attributes>
    : TT_PureOp<TTNN_Dialect, mnemonic,
                !con((ins AnyRankedTensor:$input, AnyRankedTensor:$cos_cache, AnyRankedTensor:$sin_cache), operands),
                !con(attributes, TTNN_ComputeConfig), "The input turned by angles that its positions give.",
                "same(report, op.getInput(), results)">;
def TTNN_RotaryEmbeddingOp : TTNN_RotaryOp<"rotary_embedding", (ins), (ins OptionalAttr<UI32Attr>:$token_index)>;
def TTNN_RotaryEmbeddingLlamaOp : TTNN_RotaryOp<"rotary_embedding_llama", (ins AnyRankedTensor:$trans_mat),
    (ins TT_Bool<"false">:$is_decode_mode)>;

def TTNN_NLPConcatHeadsOp : TT_PureOp<TTNN_Dialect, "nlp_concat_heads", TT_Unary, (ins),
    "[batch, heads, positions, size] as [batch, 1, positions, heads * size].",
    "joinHeads(report, op.getInput(), results)">;

class TTNN_DistributedNormOp<string mnemonic, dag parameters, dag attributes, string text>
    : TT_PureOp<TTNN_Dialect, mnemonic, !con(TT_Unary, parameters, (ins TTNN_Device:$device)), attributes, text,
                "same(report, op.getInput(), results)", [AttrSizedOperandSegments]>;
def TTNN_DistributedLayerNormOp : TTNN_DistributedNormOp<"distributed_layer_norm",
    (ins Optional<AnyRankedTensor>:$weight, Optional<AnyRankedTensor>:$bias, Optional<AnyRankedTensor>:$residual),
    (ins UI32Attr:$cluster_axis, TT_F32<"1e-05">:$epsilon),
    "layer_norm of input + residual over a last dimension that lies on the chips along `cluster_axis`.">;
def TTNN_DistributedRMSNormOp : TTNN_DistributedNormOp<"distributed_rms_norm",
    (ins Optional<AnyRankedTensor>:$weight, Optional<AnyRankedTensor>:$residual, Optional<AnyRankedTensor>:$stats,
         Optional<TTNN_GlobalSemaphore>:$semaphore),
    !con((ins UI32Attr:$cluster_axis, TT_F32<"1e-12">:$epsilon), TTNN_FabricConfig, TTNN_ComputeConfig,
         (ins OptionalAttr<TTNN_LayerNormShardedMultiCoreProgramConfigAttr>:$program_config)),
    "rms_norm of input + residual over a last dimension that lies on the chips along `cluster_axis`.">;

#endif // TTMLIR_DIALECT_TTNN_IR_TTNNOPSATTENTION_TD
