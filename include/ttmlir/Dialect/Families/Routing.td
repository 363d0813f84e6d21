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
    "One of the candidates of each user, drawn from the k likeliest whose probabilities reach p.", "sampling", [],
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
                "Products of matrices and experts where `sparsity` is not 0, zeros elsewhere.", "sparseMatmul"> {
  let description = [{
    b is [1, experts, K, N]. With b sparse alone, a is [A, B, M, K], and the result [A, B, 1, experts, M, N]; with both,
    a is [1, experts, M, K] and the result [1, experts, M, N]; with a alone, a is [A, experts, M, K] and the result
    [A, experts, M, N]. `sparsity` has a value for each product. `nnz`, how many of them are not 0, is a hint to the
    chip; 0 means that it is not known.
  }];
}
def TTIR_SparseMatmulOp : TT_SparseMatmulOp<TTIR_Dialect>;

#endif // TTMLIR_DIALECT_FAMILIES_ROUTING_TD
