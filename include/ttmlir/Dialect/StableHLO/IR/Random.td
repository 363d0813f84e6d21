//===- Random.td - StableHLO random numbers ----------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_STABLEHLO_IR_RANDOM_TD
#define TTMLIR_DIALECT_STABLEHLO_IR_RANDOM_TD

include "ttmlir/Dialect/StableHLO/IR/StableHLOOpBase.td"

def StableHLO_RngOp : StableHLO_Op<"rng", [TT_DependsOnPlace, AllElementTypesMatch<["a", "b", "result"]>]> {
  let summary = "Random numbers of a distribution.";
  let arguments = (ins StableHLO_ScalarTensor:$a, StableHLO_ScalarTensor:$b, StableHLO_ShapeTensor:$shape,
                       StableHLO_RngDistributionAttr:$rng_distribution);
  let results = (outs StableHLO_PlainTensor:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $shape `,` `distribution` `=` $rng_distribution attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def StableHLO_RngBitGeneratorOp : StableHLO_Op<"rng_bit_generator", [Pure, TT_DependsOnPlace, TT_Factors<"::mlir::stablehlo::rngBitGeneratorFactors">]> {
  let summary = "Random bits of an algorithm, and its next state.";
  let arguments = (ins StableHLO_PlainTensor:$initial_state, StableHLO_RngAlgorithmAttr:$rng_algorithm);
  let results = (outs StableHLO_PlainTensor:$output_state, StableHLO_StaticTensor:$output);
  let assemblyFormat = [{
    $initial_state `,` `algorithm` `=` $rng_algorithm attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // TTMLIR_DIALECT_STABLEHLO_IR_RANDOM_TD
