//===- Normalization.td - StableHLO batch norms ------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_STABLEHLO_IR_NORMALIZATION_TD
#define TTMLIR_DIALECT_STABLEHLO_IR_NORMALIZATION_TD

include "ttmlir/Dialect/StableHLO/IR/StableHLOOpBase.td"

def StableHLO_Feature : 1DTensorOf<[StableHLO_Float, StableHLO_Quantized]>;

/// Tensors of the operand's shape, and vectors with one value for each index of `feature_index`.
class StableHLO_BatchNorm<string mnemonic, string text, dag operands, string factors>
    : StableHLO_InferredOp<mnemonic, [Pure, TT_Factors<"::mlir::stablehlo::" # factors>]> {
  let summary = text;
  let arguments = !con(operands, (ins F32Attr:$epsilon, ConfinedAttr<I64Attr, [IntNonNegative]>:$feature_index));
}

def StableHLO_BatchNormInferenceOp : StableHLO_BatchNorm<"batch_norm_inference",
    "(operand - mean) / sqrt(variance + epsilon) * scale + offset, per index of `feature_index`.",
    (ins StableHLO_FloatOrQuantizedTensor:$operand, StableHLO_Feature:$scale, StableHLO_Feature:$offset, StableHLO_Feature:$mean,
         StableHLO_Feature:$variance), "featureFactors"> {
  let results = (outs StableHLO_FloatOrQuantizedTensor:$result);
}

def StableHLO_BatchNormTrainingOp : StableHLO_BatchNorm<"batch_norm_training",
    "The operand normalized by its own mean and variance per index of `feature_index`, and these.",
    (ins StableHLO_FloatOrQuantizedTensor:$operand, StableHLO_Feature:$scale, StableHLO_Feature:$offset),
    "statisticsFactors"> {
  let results = (outs StableHLO_FloatOrQuantizedTensor:$output, StableHLO_Feature:$batch_mean, StableHLO_Feature:$batch_var);
}

def StableHLO_BatchNormGradOp : StableHLO_BatchNorm<"batch_norm_grad",
    "Gradients of `batch_norm_training` with respect to operand, scale and offset.",
    (ins StableHLO_FloatOrQuantizedTensor:$operand, StableHLO_Feature:$scale, StableHLO_Feature:$mean,
         StableHLO_Feature:$variance, StableHLO_FloatOrQuantizedTensor:$grad_output), "statisticsFactors"> {
  let results = (outs StableHLO_FloatOrQuantizedTensor:$grad_operand, StableHLO_Feature:$grad_scale,
                      StableHLO_Feature:$grad_offset);
}

#endif // TTMLIR_DIALECT_STABLEHLO_IR_NORMALIZATION_TD
