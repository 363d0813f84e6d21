//===- Attention.td - attention, heads and caches ---------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_FAMILIES_ATTENTION_TD
#define TTMLIR_DIALECT_FAMILIES_ATTENTION_TD

include "ttmlir/Dialect/Families/Base.td"

// Writes to its first operand, a cache [batch, heads, positions, size].
class TT_CacheOp<Dialect dialect, string mnemonic, dag operands, dag attributes, string text, string rule>
    : Op<dialect, mnemonic, [MemoryEffects<[MemWrite]>, TT_WritesCache, TT_CheckShape<operands, rule>]> {
  let description = [{
    Writes to its first operand in place; the result, where there is one, is that operand after the write. Positions are
    checked when the program runs.
  }];
  let summary = text;
  let arguments = !con(operands, attributes);
}

multiclass Cache<string mnemonic, dag operands, dag attributes, string text, string rule> {
  def TTIR_#NAME#Op : TT_CacheOp<TTIR_Dialect, mnemonic, operands, attributes, text, rule>;
  def TTNN_#NAME#Op : TT_CacheOp<TTNN_Dialect, mnemonic, operands, attributes, text, rule>;
}

defm FillCache : Cache<"fill_cache", (ins AnyRankedTensor:$cache, AnyRankedTensor:$input),
    (ins I32Attr:$batch_offset), "Writes the first positions of a cache, from batch `batch_offset` on.", "fillCache">;
defm UpdateCache : Cache<"update_cache",
    (ins AnyRankedTensor:$cache, AnyRankedTensor:$input, AnyRankedTensor:$update_index),
    (ins I32Attr:$batch_offset),
    "Writes one position of a cache, that of `update_index`; the input is [1, heads, batch, size].", "updateCache">;

defm PagedFillCache : Cache<"paged_fill_cache",
    (ins AnyRankedTensor:$cache, AnyRankedTensor:$input, AnyRankedTensor:$page_table,
         Optional<AnyRankedTensor>:$batch_idx_tensor), (ins),
    "Writes the pages of a cache [pages, heads, page size, size] that belong to a batch.", "pagedFillCache">;
defm PagedUpdateCache : Cache<"paged_update_cache",
    (ins AnyRankedTensor:$cache, AnyRankedTensor:$input, AnyRankedTensor:$update_index,
         Optional<AnyRankedTensor>:$page_table), (ins TT_Bool<"false">:$share_cache),
    "Writes one position of each user of a paged cache; the input is [1, users, heads, size].", "pagedUpdateCache">;

defm ScaledDotProductAttention : TT_Both<"scaled_dot_product_attention",
    (ins AnyRankedTensor:$query, AnyRankedTensor:$key, AnyRankedTensor:$value, Optional<AnyRankedTensor>:$attention_mask,
         Optional<AnyRankedTensor>:$attention_sink),
    (ins TT_Bool<"true">:$is_causal, OptionalAttr<F32Attr>:$scale, OptionalAttr<UI32Attr>:$sliding_window_size),
    "softmax(query * key^T * scale + mask) * value over [batch, heads, positions, size]; 1/sqrt(size) without `scale`.",
    "attention",
    [AttrSizedOperandSegments, TT_SumsProducts]>;

defm ConcatenateHeads : TT_Both<"concatenate_heads", TT_Unary, (ins),
    "[batch, heads, positions, size] as [batch, positions, heads * size].",
    "concatenateHeads", [TT_MovesValues]>;

defm SplitQueryKeyValueAndSplitHeads : TT_Many<"split_query_key_value_and_split_heads",
    (ins AnyRankedTensor:$input_tensor, Optional<AnyRankedTensor>:$kv_input_tensor),
    (ins UI32Attr:$num_heads, OptionalAttr<UI32Attr>:$num_kv_heads, BoolAttr:$transpose_key),
    (outs AnyRankedTensor:$query, AnyRankedTensor:$key, AnyRankedTensor:$value),
    "[batch, positions, heads * size] of query, key and value side by side as three of [batch, heads, positions, "
    "size].",
    "splitHeads", [TT_MovesValues]>;

defvar TT_QueryKeyValue = (ins AnyRankedTensor:$query, AnyRankedTensor:$key, AnyRankedTensor:$value);
defvar TT_Paged = (ins AnyRankedTensor:$page_table, AnyRankedTensor:$chunk_start_idx);
defvar TT_DecodeText = "Attention of one position per user, [1, users, heads, size], to a cache.";

def TTIR_ScaledDotProductAttentionDecodeOp : TT_PureOp<TTIR_Dialect, "scaled_dot_product_attention_decode",
    !con(TT_QueryKeyValue, (ins Optional<AnyRankedTensor>:$attention_mask, AnyRankedTensor:$cur_pos_tensor,
                                Optional<AnyRankedTensor>:$attention_sink)),
    (ins TT_Bool<"true">:$is_causal, OptionalAttr<F32Attr>:$scale), TT_DecodeText, "attentionDecode",
    [AttrSizedOperandSegments, TT_SumsProducts]>;
def TTIR_PagedScaledDotProductAttentionDecodeOp : TT_PureOp<TTIR_Dialect,
    "paged_scaled_dot_product_attention_decode",
    !con(TT_QueryKeyValue, (ins AnyRankedTensor:$page_table, AnyRankedTensor:$output,
                                Optional<AnyRankedTensor>:$attention_mask, Optional<AnyRankedTensor>:$cur_pos_tensor,
                                Optional<AnyRankedTensor>:$attention_sink)),
    (ins TT_Bool<"true">:$is_causal, OptionalAttr<F32Attr>:$scale, OptionalAttr<UI32Attr>:$sliding_window_size),
    TT_DecodeText, "pagedAttentionDecode", [AttrSizedOperandSegments, TT_SumsProducts]>;
def TTIR_ChunkedScaledDotProductAttentionOp : TT_PureOp<TTIR_Dialect, "chunked_scaled_dot_product_attention",
    !con(TT_QueryKeyValue, TT_Paged, (ins AnyRankedTensor:$output)), (ins OptionalAttr<F32Attr>:$scale),
    "Attention of a chunk of positions to a paged cache.", "chunkedAttention", [TT_SumsProducts]>;

// Without given values, the first `head_dim_v` elements of the keys are the values.
class TT_LatentAttentionOp<Dialect dialect, string mnemonic, dag operands, string text, string rule>
    : TT_PureOp<dialect, mnemonic,
                !con((ins AnyRankedTensor:$query, AnyRankedTensor:$key, Optional<AnyRankedTensor>:$value), operands),
                (ins UI32Attr:$head_dim_v, TT_Bool<"true">:$is_causal, OptionalAttr<F32Attr>:$scale), text,
                rule, [AttrSizedOperandSegments, TT_SumsProducts]> {
  let description = [{
    Attention whose keys and values are one compressed tensor: unless values are given, they are
    the first `head_dim_v` columns of the keys.
  }];
}
multiclass LatentAttention<string mnemonic, dag operands, string text, string rule> {
  def TTIR_#NAME#Op : TT_LatentAttentionOp<TTIR_Dialect, mnemonic, operands, text, rule>;
  def TTNN_#NAME#Op : TT_LatentAttentionOp<TTNN_Dialect, mnemonic, operands, text, rule>;
}
defm PagedFlashMultiLatentAttentionDecode : LatentAttention<"paged_flash_multi_latent_attention_decode",
    (ins AnyRankedTensor:$page_table, Optional<AnyRankedTensor>:$attention_mask,
         Optional<AnyRankedTensor>:$cur_pos_tensor, Optional<AnyRankedTensor>:$attention_sink),
    "Attention of one position per user, [1, users, heads, size], to a paged cache of keys whose beginnings are the values.",
    "pagedLatentAttention">;

#endif // TTMLIR_DIALECT_FAMILIES_ATTENTION_TD
