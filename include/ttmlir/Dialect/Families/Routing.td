//===- Routing.td - choices of tokens and experts ---------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_FAMILIES_ROUTING_TD
#define TTMLIR_DIALECT_FAMILIES_ROUTING_TD

include "ttmlir/Dialect/Families/Base.td"

let description = [{
    Values and indices are [users, candidates], or [1, 1, users, candidates]; k, p and temp have one value for each
    user. Probabilities are softmax(values * temp), so temp is the reciprocal of a temperature. Of the k likeliest
    candidates those are kept that it takes to reach the sum p, at least one; one of them is drawn, and its index is the
    result. Without a `seed`, or with 0, every run draws others.
  }] in
defm Sampling : TT_Both<"sampling",
    (ins AnyRankedTensor:$input_values, AnyRankedTensor:$input_indices, AnyRankedTensor:$k, AnyRankedTensor:$p,
         AnyRankedTensor:$temp),
    (ins OptionalAttr<UI32Attr>:$seed),
    "One of the candidates of each user, drawn from the k likeliest whose probabilities reach p.", "sampling", [TT_DrawsValues],
    "input_indices">;

let results = (outs AnyRankedTensor:$expert_indices, AnyRankedTensor:$expert_weights) in
defm TopKRouterGpt : TT_Both<"topk_router_gpt",
    (ins AnyRankedTensor:$input, AnyRankedTensor:$weight, AnyRankedTensor:$bias),
    (ins I32Attr:$k, I32Attr:$num_experts),
    "The k experts of each token with the largest input * weight + bias, and the softmax of these.", "topKRouter", [],
    "i32 input">;

class TT_SparseMatmulOp<Dialect dialect, dag extra = (ins)>
    : TT_PureOp<dialect, "sparse_matmul",
                (ins AnyRankedTensor:$a, AnyRankedTensor:$b, AnyRankedTensor:$sparsity),
                !con((ins TT_Bool<"false">:$is_input_a_sparse, TT_Bool<"true">:$is_input_b_sparse,
                          OptionalAttr<I64Attr>:$nnz), extra),
                "Products of matrices and experts where `sparsity` is not 0, zeros elsewhere.", "sparseMatmul",
                [TT_SumsProducts]> {
  let description = [{
    b is [1, experts, K, N]. With b sparse alone, a is [A, B, M, K], and the result [A, B, 1, experts, M, N]; with both,
    a is [1, experts, M, K] and the result [1, experts, M, N]; with a alone, a is [A, experts, M, K] and the result
    [A, experts, M, N]. `sparsity` has a value for each product. `nnz`, how many of them are not 0, is a hint to the
    chip; 0 means that it is not known.
  }];
}
def TTIR_SparseMatmulOp : TT_SparseMatmulOp<TTIR_Dialect>;

//===----------------------------------------------------------------------===//
// Experts on the devices of a mesh
//===----------------------------------------------------------------------===//

// expert_mapping [1, 1, experts, devices] is 1 if a device, counted row by row over the mesh, has an expert, else 0.
// Tokens are split over the `num_devices` devices along `cluster_axis`. A device's experts are numbered in their order.
defvar TT_Dispatched = (ins AnyRankedTensor:$input_tensor, AnyRankedTensor:$expert_indices);
defvar TT_AlongAxis = (ins I64Attr:$num_devices, I64Attr:$cluster_axis);
defvar TT_DispatchText = "Sends each token to the devices that have one of its experts.";
let results = (outs AnyRankedTensor:$dispatched, AnyRankedTensor:$metadata),
    description = [{
    Of tokens [batch, sequence, 1, size] or [batch, 1, sequence, size], and the numbers of their experts in the same
    places, each device of a group gets [1, batch * num_devices, sequence, size]: the tokens that chose an expert of its
    own, and zeros in place of the others. `metadata` has the numbers of all tokens.
  }] in
defm AllToAllDispatch : TT_Both<"all_to_all_dispatch", !con(TT_Dispatched, (ins AnyRankedTensor:$expert_mapping)),
    TT_AlongAxis, TT_DispatchText, "dispatchTokens",
    [TT_CollectiveTrait, TT_MovesValues, TT_FillsValues], "input_tensor expert_indices">;

class TT_DispatchMetadataOp<Dialect dialect, dag more = (ins), list<Trait> traits = []>
    : TT_PureOp<dialect, "all_to_all_dispatch_metadata",
                !con(TT_Dispatched, (ins AnyRankedTensor:$expert_scores, AnyRankedTensor:$expert_mapping), more),
                TT_AlongAxis, TT_DispatchText, "dispatchTokens",
                !listconcat([TT_CollectiveTrait, TT_MovesValues, TT_FillsValues], traits),
                "input_tensor expert_indices expert_scores"> {
  let description = [{
    Dispatches as all_to_all_dispatch does; the `scores` of each token's experts are gathered like their indices. The
    results have batch and sequence in one dimension: [1, batch * num_devices * sequence, size] and, of indices and
    scores, [1, batch * num_devices * sequence, experts of a token].
  }];
  let results = (outs AnyRankedTensor:$dispatched, AnyRankedTensor:$indices, AnyRankedTensor:$scores);
}
def TTIR_AllToAllDispatchMetadataOp : TT_DispatchMetadataOp<TTIR_Dialect>;

let description = [{
    The inverse of all_to_all_dispatch: of [experts of a device, batch, sequence, size], each device gets
    [num_experts_per_tok, ...] of its own part of batch (`output_shard_dim` 1) or sequence (2): row k of a token is what
    the device with its expert k computed, or zeros when no device along `cluster_axis` has that expert.
  }] in
defm AllToAllCombine : TT_Both<"all_to_all_combine",
    (ins AnyRankedTensor:$input_tensor, AnyRankedTensor:$expert_metadata, AnyRankedTensor:$expert_mapping),
    !con(TT_AlongAxis, (ins I64Attr:$num_experts_per_tok, TT_I64<"2">:$output_shard_dim)),
    "Returns the results of experts to the devices of the tokens.", "combineTokens",
    [TT_CollectiveTrait, TT_MovesValues, TT_FillsValues]>;

let results = (outs AnyRankedTensor:$mapping, AnyRankedTensor:$reduced),
    description = [{
    Of scores [1, batch, sequence, experts] and the numbers of each token's experts [1, batch, sequence, k], `mapping`
    has the scores of the device's own experts [1, batch, sequence, experts / devices] where a token chose them, else
    zeros. `reduced` [1, 1, tokens / reduction_size rounded up, experts / devices] is 1 where a token of that many chose
    the expert.
  }] in
defm MoeExpertTokenRemap : TT_Both<"moe_expert_token_remap",
    (ins AnyRankedTensor:$topk_tensor, AnyRankedTensor:$expert_mapping, AnyRankedTensor:$expert_metadata),
    (ins I64Attr:$reduction_size),
    "Scores and presence of a device's own experts.", "remapTokens", [TT_CollectiveTrait], "topk_tensor ui16">;

// Experts that are computed and combined in one op. Operands have the names of the ecosystem, whose kernel first
// converts tokens to tiles.
defvar TT_FusedTokens = (ins AnyRankedTensor:$tilize_input_tensor, AnyRankedTensor:$tilize_expert_indices_tensor,
                             AnyRankedTensor:$tilize_expert_scores_tensor,
                             AnyRankedTensor:$tilize_expert_mapping_tensor);
defvar TT_FusedSizes = (ins UI32Attr:$layer_id, UI32Attr:$output_height_shard_dim, UI32Attr:$intermediate_size);
defvar TT_FusedActivation = (ins
    DefaultValuedAttr<TTCore_MoEActivationFunctionAttr, "::mlir::tt::ttcore::MoEActivationFunction::Silu">
        :$activation_function, UI32Attr:$cluster_axis);
class TT_MoeComputeOp<Dialect dialect, dag weights, dag attributes>
    : TT_PureOp<dialect, "moe_compute", !con(TT_FusedTokens, weights), attributes,
                "Dispatched tokens through the experts of each device, and back to the devices that they are of.",
                "computeExperts", [TT_CollectiveTrait, TT_SumsProducts, AttrSizedOperandSegments]> {
  let results = (outs AnyRankedTensor:$combine_output);
  let description = [{
    Tokens [..., size] of all devices along `cluster_axis`, one device after the other as all_to_all_dispatch leaves
    them, and the numbers of each token's experts [..., k]. Each device gets [k, tokens / devices, size] of its own: row
    k of a token is what its expert k makes of the token in the device that has the expert, or zeros when none along the
    axis has it. An expert makes of x
      (activation(x w0 + bias_0) * (x w1 + bias_1)) w2 + bias_2
    with w0 and w1 [layers, experts of a device, size, intermediate_size], of which `layer_id` is taken, and w2 the other
    way round; biases have no dimension of the input. silu(g) * u is the activation, or with swiglu, of g and u clamped to
    7 from above and u to -7 from below, g * sigmoid(1.702 g) * (u + 1). Scores weigh nothing: they are for the caller to
    multiply by. The mapping is [1, 1, experts, devices], 1 where a device has an expert, or [rows, experts], whose first
    row has the number of the device of each. `output_height_shard_dim` says how many cores the chip's kernel gives the
    rows of the result.
  }];
}
def TTIR_MoeComputeOp : TT_MoeComputeOp<TTIR_Dialect,
    (ins AnyRankedTensor:$w0, AnyRankedTensor:$w1, AnyRankedTensor:$w2, Optional<AnyRankedTensor>:$bias_0,
         Optional<AnyRankedTensor>:$bias_1, Optional<AnyRankedTensor>:$bias_2),
    !con(TT_FusedSizes, TT_FusedActivation)>;

// Ops of a fused kernel whose token records have contradictory public descriptions (docs/differences.md). They are read
// and written, and refused by name if they would have to run.
defvar TT_FusedText = [{
    Read, checked and written; refused by name where it would have to run. moe_compute, or all_to_all_dispatch,
    moe_expert_token_remap, sparse_matmul and all_to_all_combine, compute the same.
  }];
class TT_FusedExpertsOp<Dialect dialect, string mnemonic, dag operands, dag attributes, list<Trait> traits = []>
    : Op<dialect, mnemonic, !listconcat([Pure, TT_UnpublishedTrait], traits)> {
  let description = TT_FusedText;
  let arguments = !con(operands, attributes);
  let results = (outs AnyRankedTensor:$result);
}

class TT_MoeGptOp<Dialect dialect> : TT_FusedExpertsOp<dialect, "moe_gpt",
    (ins AnyRankedTensor:$input_tensor, AnyRankedTensor:$expert_indices, AnyRankedTensor:$expert_scores,
         AnyRankedTensor:$expert_mapping, AnyRankedTensor:$w0_w1_tensor, AnyRankedTensor:$w2_tensor),
    (ins DefaultValuedAttr<UI32Attr, "4">:$output_height_shard_dim,
         DefaultValuedAttr<UI32Attr, "3">:$output_width_shard_dim, DefaultValuedAttr<UI32Attr, "2880">:$hidden_size,
         OptionalAttr<UI32Attr>:$cluster_axis)> {
  let summary = "Experts of a device over its tokens, and records of who chose them; not run: their layout is not known.";
  let results = (outs AnyRankedTensor:$token_counts, AnyRankedTensor:$activation_records,
                      AnyRankedTensor:$token_indices, AnyRankedTensor:$tilize_out, AnyRankedTensor:$tilize_out_rm);
}
def TTIR_MoeGptOp : TT_MoeGptOp<TTIR_Dialect>;
def TTNN_MoeGptOp : TT_MoeGptOp<TTNN_Dialect>;

class TT_SelectiveReduceCombineOp<Dialect dialect> : TT_FusedExpertsOp<dialect, "selective_reduce_combine",
    (ins AnyRankedTensor:$dense_input_tensor, AnyRankedTensor:$dense_activations_tensor,
         AnyRankedTensor:$dense_token_maps_tensor, AnyRankedTensor:$dense_token_counts_tensor),
    (ins UI32Attr:$hidden_size, UI32Attr:$batch_size, UI32Attr:$seq_size, UI32Attr:$select_experts_k,
         UI32Attr:$experts)> {
  let summary = "Results of moe_gpt, back at the devices of their tokens; not run, as moe_gpt is not.";
}
def TTIR_SelectiveReduceCombineOp : TT_SelectiveReduceCombineOp<TTIR_Dialect>;
def TTNN_SelectiveReduceCombineOp : TT_SelectiveReduceCombineOp<TTNN_Dialect>;

#endif // TTMLIR_DIALECT_FAMILIES_ROUTING_TD
