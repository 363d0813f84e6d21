//===- Training.td - steps of optimizers, attention and its gradients -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_FAMILIES_TRAINING_TD
#define TTMLIR_DIALECT_FAMILIES_TRAINING_TD

include "ttmlir/Dialect/Families/Base.td"

defvar TT_AdamWOperands = (ins AnyRankedTensor:$param, AnyRankedTensor:$grad, AnyRankedTensor:$exp_avg,
                               AnyRankedTensor:$exp_avg_sq, Optional<AnyRankedTensor>:$max_exp_avg_sq);
defvar TT_AdamWAttributes = (ins F32Attr:$lr, F32Attr:$beta1, F32Attr:$beta2, F32Attr:$beta1_pow, F32Attr:$beta2_pow,
                                 F32Attr:$epsilon, F32Attr:$weight_decay, TT_Bool<"false">:$stochastic_rounding);
defvar TT_AdamWText = "A step of AdamW; `beta1_pow` and `beta2_pow` are the powers of beta1 and beta2 up to this step.";

// TTIR's op is pure. TTNN's op writes its state in place.
def TTIR_AdamWOp : TT_PureOp<TTIR_Dialect, "adamw", TT_AdamWOperands, TT_AdamWAttributes, TT_AdamWText, "adamw", [],
                             "param exp_avg exp_avg_sq max_exp_avg_sq"> {
  let description = [{
    exp_avg_out = beta1 * exp_avg + (1 - beta1) * grad; exp_avg_sq_out = beta2 * exp_avg_sq + (1 - beta2) * grad^2;
    param_out = param * (1 - lr * weight_decay) - lr * (exp_avg_out / (1 - beta1_pow)) /
    (sqrt(v / (1 - beta2_pow)) + epsilon), where v is exp_avg_sq_out, or, with `max_exp_avg_sq`, the larger of the two,
    which then is a result, too (AMSGrad). With `stochastic_rounding` a parameter in bf16 is rounded up as often as
    what is cut off says; the random bits follow from the element's number and value.
  }];
  let results = (outs AnyRankedTensor:$param_out, AnyRankedTensor:$exp_avg_out, AnyRankedTensor:$exp_avg_sq_out,
                      Optional<AnyRankedTensor>:$max_exp_avg_sq_out);
}
def TTNN_AdamWOp : Op<TTNN_Dialect, "adamw", [
    MemoryEffects<[MemWrite]>, TT_CheckShape<TT_AdamWOperands, "adamwInPlace">]> {
  let summary = TT_AdamWText;
  let description = "Computes `ttir.adamw` in place: writes to param, exp_avg, exp_avg_sq and max_exp_avg_sq.";
  let arguments = !con(TT_AdamWOperands, TT_AdamWAttributes);
}

class TT_AttentionMask<string kind>
    : DefaultValuedAttr<TTCore_AttentionMaskTypeAttr, "::mlir::tt::ttcore::AttentionMaskType::" # kind>;

let results = (outs AnyRankedTensor:$output, Optional<AnyRankedTensor>:$intermediates),
    description = [{
    softmax(query * key^T / sqrt(size)) * value over [batch, heads, positions, size]; query heads share key heads in
    groups. `mask_type` says which keys a row sees: all, those up to its own place (causal), or those where
    `attention_mask` is 1 and not 0 (arbitrary; (mask - 1) * 1e9 is added to scores). Intermediates are 64 columns for
    each row: the largest score in column 0, the reciprocal of the sum of exponentials below it in column 32, else 0.
    `dropout_probability` must be 0.
  }] in
defm SDPAForward : TT_Both<"sdpa_fw",
    (ins AnyRankedTensor:$query, AnyRankedTensor:$key, AnyRankedTensor:$value, Optional<AnyRankedTensor>:$attention_mask),
    (ins TT_AttentionMask<"Causal">:$mask_type, TT_F32<"0.0">:$dropout_probability,
         TT_Bool<"false">:$return_intermediates),
    "Attention of a training step; `return_intermediates` adds the values that `sdpa_bw` needs.",
    "attentionForward", [],
    "query f32">;
let results = (outs AnyRankedTensor:$grad_query, AnyRankedTensor:$grad_key, AnyRankedTensor:$grad_value) in
defm SDPABackward : TT_Both<"sdpa_bw",
    (ins AnyRankedTensor:$grad_output, AnyRankedTensor:$attn_output, AnyRankedTensor:$query, AnyRankedTensor:$key,
         AnyRankedTensor:$value, AnyRankedTensor:$intermediates, Optional<AnyRankedTensor>:$attention_mask),
    (ins TT_AttentionMask<"Arbitrary">:$mask_type, TT_F32<"0.0">:$dropout_probability),
    "Gradients of `sdpa_fw` with respect to query, key and value.", "attentionBackward", [], "query key value">;

#endif // TTMLIR_DIALECT_FAMILIES_TRAINING_TD
